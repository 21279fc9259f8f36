"""The words: each line of a table is one entry, English forms first."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Noun:
    """A thing one can count: book books 本 书; or, with an English measure, tea: cup cups 杯 茶."""

    singular: str
    plural: str
    measure: str
    chinese: str
    kinds: frozenset[str]
    unit: tuple[str, str] | None = None  # "cup", "cups" for what is not counted itself


@dataclass(frozen=True, eq=False)
class Verb:
    """Forms (read, reads, read, reading), what may follow in English, Chinese, fitting objects."""

    base: str
    third: str
    past: str
    progressive: str
    rest: str
    chinese: str
    kinds: frozenset[str]


@dataclass(frozen=True, eq=False)
class Adjective:
    """An English adjective, its comparative ("" if it has none), and what it can be said of."""

    english: str
    comparative: str
    chinese: str
    kinds: frozenset[str]


def table(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


def noun(forms: str, chinese: str, kinds: str) -> Noun:
    singular, plural, *unit = forms.split()
    measure, word = chinese.split()
    return Noun(singular, plural, measure, word, frozenset(kinds.split()), tuple(unit) or None)


def verb(forms: str, chinese: str, kinds: str = "") -> Verb:
    base, third, past, progressive, *rest = forms.split()
    return Verb(base, third, past, progressive, " ".join(rest), chinese, frozenset(kinds.split()))


NOUNS = [
    noun(*row)
    for row in table("""
    man men | 个 男人 | person
    woman women | 个 女人 | person
    boy boys | 个 男孩 | person
    girl girls | 个 女孩 | person
    child children | 个 孩子 | person
    friend friends | 个 朋友 | person own
    teacher teachers | 位 老师 | person own job
    doctor doctors | 位 医生 | person job
    student students | 名 学生 | person job
    nurse nurses | 名 护士 | person job
    cat cats | 只 猫 | animal
    dog dogs | 只 狗 | animal
    bird birds | 只 鸟 | animal
    book books | 本 书 | text written goods movable
    letter letters | 封 信 | text written movable
    newspaper newspapers | 份 报纸 | text goods movable
    story stories | 个 故事 | text written
    apple apples | 个 苹果 | food piece goods
    egg eggs | 个 鸡蛋 | food piece cooked goods
    potato potatoes | 个 土豆 | food piece cooked
    tea tea cup cups | 杯 茶 | drink warm
    coffee coffee cup cups | 杯 咖啡 | drink warm
    soup soup bowl bowls | 碗 汤 | drink cooked warm
    car cars | 辆 汽车 | machine goods vehicle
    bicycle bicycles | 辆 自行车 | machine goods vehicle
    computer computers | 台 电脑 | machine goods
    phone phones | 部 手机 | machine goods movable
    pen pens | 支 钢笔 | goods movable
    key keys | 把 钥匙 | movable
    shirt shirts | 件 衬衫 | clothes goods movable
    hat hats | 顶 帽子 | clothes goods movable
    door doors | 扇 门 | opening
    window windows | 扇 窗户 | opening
    box boxes | 个 箱子 | opening goods movable
    room rooms | 个 房间 | room
    house houses | 座 房子 | room building
    film films | 部 电影 | show
    """)
]

KIN = table("""
    mother | 妈妈
    father | 爸爸
    brother | 哥哥
    sister | 姐姐
    """)

NAMES = table("""
    Tom | 汤姆
    Mary | 玛丽
    Anna | 安娜
    David | 大卫
    Lucy | 露西
    """)

# subject | object | possessive | Chinese | agreement
PRONOUNS = table("""
    I | me | my | 我 | I
    you | you | your | 你 | plural
    he | him | his | 他 | singular
    she | her | her | 她 | singular
    we | us | our | 我们 | plural
    they | them | their | 他们 | plural
    """)

SUBJECTS = table("""
    English | 英语
    Chinese | 汉语
    music | 音乐
    deep learning | 深度 学习
    machine learning | 机器 学习
    """)

NUMBERS = table("""
    two | 两
    three | 三
    four | 四
    five | 五
    six | 六
    """)

ADJECTIVES = [
    Adjective(english, comparative, chinese, frozenset(kinds.split()))
    for english, comparative, chinese, kinds in table("""
    new | newer | 新 | machine clothes movable
    old | older | 旧 | machine clothes movable
    old | older | 老 | job predicate
    big | bigger | 大 | animal piece vehicle room opening
    small | smaller | 小 | animal piece room opening
    good | better | 好 | job text show
    tall | taller | 高 | predicate
    young | younger | 年轻 | person
    clever | cleverer | 聪明 | person animal
    tired | | 累 | predicate
    busy | busier | 忙 | predicate
    happy | happier | 高兴 | predicate
    interesting | more interesting | 有趣 | text show
    expensive | more expensive | 贵 | goods
    cheap | cheaper | 便宜 | goods
    hot | hotter | 热 | warm
    red | | 红色 | clothes vehicle
    black | | 黑色 | clothes animal
    """)
]

# things one does to something, with the kinds of thing
EVENTS = [
    verb(*row)
    for row in table("""
    read reads read reading | 读 | text
    write writes wrote writing | 写 | written
    buy buys bought buying | 买 | goods
    sell sells sold selling | 卖 | goods
    eat eats ate eating | 吃 | food
    drink drinks drank drinking | 喝 | drink
    help helps helped helping | 帮助 | person
    draw draws drew drawing | 画 | animal building
    wash washes washed washing | 洗 | clothes vehicle
    repair repairs repaired repairing | 修理 | machine
    clean cleans cleaned cleaning | 打扫 | room
    watch watches watched watching | 看 | show
    cook cooks cooked cooking | 做 | cooked
    """)
]

# events of a moment, which can't be going on
MOMENTS = [
    verb(*row)
    for row in table("""
    see sees saw seeing | 看见 | person animal building
    find finds found finding | 找到 | animal movable
    lose loses lost losing | 丢 | movable
    meet meets met meeting | 遇到 | person
    open opens opened opening | 打开 | opening
    close closes closed closing | 关上 | opening
    """)
]

OPENING = [verb for verb in MOMENTS if "opening" in verb.kinds]

STATES = [
    verb(*row)
    for row in table("""
    like likes liked liking | 喜欢 | person animal text food drink goods show
    love loves loved loving | 爱 | animal drink food
    need needs needed needing | 需要 | goods
    know knows knew knowing | 认识 | person
    """)
]

ACTIVITIES = [
    verb(*row)
    for row in table("""
    sing sings sang singing | 唱歌
    swim swims swam swimming | 游泳
    run runs ran running | 跑步
    sleep sleeps slept sleeping | 睡觉
    wait waits waited waiting | 等 | lasting
    rest rests rested resting | 休息 | lasting
    work works worked working | 工作 | lasting
    play=1 plays=1 played=1 playing=1 football=2 | 踢=1 足球=2
    play=1 plays=1 played=1 playing=1 basketball=2 | 打=1 篮球=2
    play=1 plays=1 played=1 playing=1 the~2 piano=2 | 弹=1 钢琴=2
    listen=1 listens=1 listened=1 listening=1 to~1 music=2 | 听=1 音乐=2
    """)
]

STUDYING = [verb("study studies studied studying", "学习")]

# put something somewhere: 把 … 放 在 …
PLACING = [
    verb(*row)
    for row in table("""
    put puts put putting | 放 | movable
    leave leaves left leaving | 忘 | movable
    hide hides hid hiding | 藏 | movable
    """)
]

# give something to someone: 把 … 给 …, or 给 … 寄 …
GIVING = [
    verb(*row)
    for row in table("""
    sell sells sold selling | 卖 | goods
    lend lends lent lending | 借 | machine
    send sends sent sending | 寄 | text clothes
    """)
]

# what happens to something: participle | Chinese | kinds
SUFFERED = [
    (english, chinese, frozenset(kinds.split()))
    for english, chinese, kinds in table("""
    eaten | 吃掉 | food
    repaired | 修好 | machine
    stolen | 偷走 | movable vehicle
    found | 找到 | movable animal
    opened | 打开 | opening
    sold | 卖掉 | goods
    """)
]

# modal | its Chinese | with "not"
MODALS = table("""
    will=1 | 会=1 | will=1 not=2 | 不=2 会=1
    can=1 | 能=1 | can=1 not=2 | 不=2 能=1
    should=1 | 应该=1 | should=1 not=2 | 不=2 应该=1
    """)

WEATHER = [
    verb(*row)
    for row in table("""
    rain rains rained raining | 下雨
    snow snows snowed snowing | 下雪
    """)
]

# verbs that take a whole sentence: what someone said, 说
SAYING = table("""
    said | 说
    thinks | 认为
    knows | 知道
    """)
