"""Where, when and how: each line of a table is one entry, English first."""

from utils.data.translation.lexicon import table

# where things are done
PLACES = table("""
    in~1 the~2 library=2 | 图书馆=2
    in~1 the~2 park=2 | 公园=2
    in~1 the~2 shop=2 | 商店=2
    in~1 the~2 hospital=2 | 医院=2
    at~1 the~2 station=2 | 车站=2
    at~1 home=2 | 家=2 里~2
    at~1 school=2 | 学校=2
    in~1 Beijing=2 | 北京=2
    in~1 Shanghai=2 | 上海=2
    in=3 the~2 kitchen=2 | 厨房=2 里=3
    in=3 the~2 garden=2 | 花园=2 里=3
    under=3 the~2 tree=2 | 树=2 下=3
    near=3 the~2 river=2 | 河=2 附近=3
    near=3 the~2 station=2 | 车站=2 附近=3
    behind=3 the~2 house=2 | 房子=2 后面=3
    """)

# where things are put
SPOTS = table("""
    on=1 the~2 table=2 | 桌子=2 上=1
    on=1 the~2 chair=2 | 椅子=2 上=1
    on=1 the~2 bed=2 | 床=2 上=1
    in=1 the~2 box=2 | 箱子=2 里=1
    in=1 the~2 bag=2 | 书包=2 里=1
    under=1 the~2 table=2 | 桌子=2 下=1
    under=1 the~2 bed=2 | 床=2 下=1
    under=1 the~2 tree=2 | 树=2 下=1
    """)

DESTINATIONS = table("""
    the~1 library=1 | 图书馆=1
    the~1 park=1 | 公园=1
    the~1 hospital=1 | 医院=1
    the~1 station=1 | 车站=1
    school | 学校
    Beijing | 北京
    Shanghai | 上海
    """)

VEHICLES = table("""
    by=1 train=2 | 坐=1 火车=2
    by=1 bus=2 | 坐=1 公共汽车=2
    by=1 plane=2 | 坐=1 飞机=2
    by=1 bicycle=2 | 骑=1 自行车=2
    """)

PAST_TIMES = table("""
    yesterday | 昨天
    last night | 昨晚
    last week | 上周
    last year | 去年
    this morning | 今天 早上
    yesterday morning | 昨天 早上
    on~1 Monday=1 | 星期一=1
    """)

FUTURE_TIMES = table("""
    tomorrow | 明天
    tonight | 今晚
    next week | 下周
    next year | 明年
    tomorrow morning | 明天 早上
    on~1 Monday=1 | 星期一=1
    """)

HABITS = table("""
    every day | 每天
    every week | 每周
    every morning | 每天 早上
    """)

FREQUENCIES = table("""
    often | 经常
    always | 总是
    sometimes | 有时候
    """)

MANNERS = table("""
    quietly=1 | 安静=1 地~1
    carefully=1 | 小心=1 地~1
    """)

ADVERBS = table("""
    also | 也
    finally | 终于
    """)
