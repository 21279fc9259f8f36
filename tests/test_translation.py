"""The grammar's pairs: one Chinese for an English sentence, links by the rules, held-out sets."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import combinations

import pytest

from utils.data.translation import HELD_OUT, STRUCTURES, clauses, corpus, held_out, sentences
from utils.data.translation.lexicon import NOUNS
from utils.data.translation.rules import NOTHING, Rule, words

# what only grammar asks for: these words need no counterpart, all others have one
FUNCTION_WORDS = {
    "english": set("the a an of did does do am is are was were it that who to for in on at".split())
    | {","},
    "chinese": set(
        "的 把 了 一 在 里 那 那些 们 都 很 正在 吗 地 所以 但是 给 一起 个 的话 ，".split()
    )
    | {noun.measure for noun in NOUNS},
}

# Chinese words with the places of their English ones: =sure, ~only possible
KNOWN = """
they also met them in Shanghai last week
他们=0 上周=6,7 也=1 在~4,5 上海=5 遇到=2 了~2 他们=3
yesterday these good doctors read the letter that you wrote
昨天=0 这些=1 好=2 医生=3 读=4 了~4 你=8 写=9 的~7,9 信=6~5
the man who repaired the phone finally saw that friend
修理=3 手机=5~4 的~2,3 男人=1~0 终于=6 看见=7 了~7 那=8 个~8,9 朋友=9
the child put the box under the table
孩子=1~0 把~2 箱子=4~3 放=2 在~2,5,6,7 了~2 桌子=7~6 下=5
these three women did not leave those letters in the box
这=0 三=1 个~1,2 女人=2 没有=4~3 把~5 那些=6 信=7 忘=5 在~5,8,9,10 箱子=10~9 里=8
David lent this phone to the girl
大卫=0 把~1 这=2 部~2,3 手机=3 借=1 给~4 了~1 女孩=6~5
the apple was eaten by my mother last year
那~0 个~0,1 苹果=1~0 去年=7,8 被=4~2 我=5 妈妈=6 吃掉=3~2 了~2,3
he knows men
他=0 认识=1 男人=2
the house that they cleaned is smaller than that door
他们=3 打扫=4 的~2,4 房子=1~0 比=7 那=8 扇~8,9 门=9 小=6~5
there is an old key under the tree
树=7~6 下=5 有=0,1 一~2 把~2,4 旧=3 钥匙=4~2
did every woman write the story ?
每=1 个~1,2 女人=2 都~1,2 写=3 了~3 那~4 个~4,5 故事=5~4 吗~6 ？=6
who went to Beijing last year ?
谁=0 去年=4,5 去=1~2 了~1,2 北京=3~2 ？=6
please put the hats in the bag tomorrow
请=0 明天=7 把~1 那些~2 帽子=3~2 放=1 在~1,4,5,6 书包=6~5 里=4
you are drinking the soup because we bought three phones
因为=5 我们=6 买=7 了~7 三=8 部~8,9 手机=9 ，~5 所以~5 你=0 正在~1 喝=2 那~3 碗~3,4 汤=4~3
if it snows tomorrow , every teacher will meet the student
如果=0 明天=3 下雪=2 的话~0 ，=4 每=5 位~5,6 老师=6 都~5,6 会=7 遇到=8 学生=10~9
she ran last week when they drank the soup
他们=5 喝=6 那~7 碗~7,8 汤=8~7 的~4 时候=4 ，~4 她=0 上周=2,3 跑步=1 了~1
Mary went to the library by bicycle with their father this morning
玛丽=0 今天=10 早上=11 和=7 他们=8 爸爸=9 一起~7 骑=5 自行车=6 去=1~2 了~1,2 图书馆=4~2,3
all the girls are helping them
所有=0~1 的~0,1 女孩=2 都~0,1,2 正在~3 帮助=4 他们=5
her sister said that we should also repair six bicycles
她=0 姐姐=1 说=2~3 我们=4 也=6 应该=5 修理=7 六=8 辆~8,9 自行车=9
I can study deep learning
我=0 能=1 学习=2 深度=3 学习=4
""".strip().splitlines()
KNOWN = dict(zip(KNOWN[::2], KNOWN[1::2], strict=True))


@pytest.fixture(scope="module")
def book():
    return corpus(seed=0)


@pytest.fixture(scope="module")
def pool(book):
    return [pair for part in book for pair in part]


# Rules --------------------------------------------------------------------------------------------


def test_a_rule_links_what_bears_the_same_label():
    phrase = Rule("the~1 red=2 book=1", "红色=2 的~2 书=1")()
    assert phrase.english == ("the", "red", "book")
    assert phrase.chinese == ("红色", "的", "书")
    assert set(phrase.sure) == {(0, 1), (2, 2)}
    assert set(phrase.maybe) == {(1, 1), (2, 0)}


def test_a_rule_moves_its_slots_with_their_links():
    made = Rule("{who} read~verb {what} {when}", "{who} {when} 读~what {what}")
    phrase = made(
        who=words("Tom", "汤姆"), what=words("old books", "旧 书"), when=words("last week", "上周")
    )
    assert phrase.english == ("Tom", "read", "old", "books", "last", "week")
    assert phrase.chinese == ("汤姆", "上周", "读", "旧", "书")
    assert set(phrase.sure) == {(0, 0), (1, 4), (1, 5), (3, 2), (4, 3)}
    assert set(phrase.maybe) == {(2, 2), (2, 3)}  # 读 may stand for the words of the slot it names


def test_a_word_of_either_side_may_stand_for_the_words_of_the_slot_that_it_names():
    phrase = Rule("the~what {what}", "{what} 们~what")(what=words("old books", "旧 书"))
    assert set(phrase.sure) == {(0, 1), (1, 2)}
    assert set(phrase.maybe) == {(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)}


def test_an_empty_slot_leaves_no_trace():
    phrase = Rule("{early} Tom=1 sang=2", "汤姆=1 {early} 唱歌=2 了~early")(early=NOTHING)
    assert phrase == (("Tom", "sang"), ("汤姆", "唱歌", "了"), ((0, 0), (1, 1)), ())


def test_words_without_labels_are_linked_one_to_one_or_all_with_all():
    assert set(words("deep learning", "深度 学习").sure) == {(0, 0), (1, 1)}
    assert set(words("every day", "每天").sure) == {(0, 0), (0, 1)}


# Pairs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("english", KNOWN)
def test_known_sentences(pool, english):
    pair = next(pair for pair in pool if " ".join(pair.source) == english)
    target, sure, only_possible = [], set(), set()
    for t, item in enumerate(KNOWN[english].split()):
        linked, _, maybe = item.partition("~")
        word, _, surely = linked.partition("=")
        target.append(word)
        sure |= {(t, int(s)) for s in surely.split(",") if s}
        only_possible |= {(t, int(s)) for s in maybe.split(",") if s}
    assert pair.target == tuple(target)
    assert pair.sure == sure
    assert pair.possible - pair.sure == only_possible


def test_the_sentence_of_the_lesson_can_be_said():
    pairs = {pair.source: pair for pair in sentences(1_500, seed=4, structures=("state",))}
    pair = pairs["I", "love", "deep", "learning"]
    assert pair.target == ("我", "爱", "深度", "学习")
    assert pair.sure == pair.possible == {(0, 0), (1, 1), (2, 2), (3, 3)}


def test_translation_is_a_function(pool):
    """A stream repeats no sentence: two ways to the same words would meet between streams."""
    targets = {pair.source: pair.target for pair in pool}
    again = 0
    for seed, n, structures in [(1, 4_000, STRUCTURES), *((2, 40, (name,)) for name in STRUCTURES)]:
        for pair in sentences(n, seed, structures):
            again += pair.source in targets
            assert targets.setdefault(pair.source, pair.target) == pair.target
    assert again > 100


def test_no_sentence_comes_twice(pool):
    assert len({pair.source for pair in pool}) == len(pool)


def test_every_length_is_there(pool):
    lengths = Counter(len(pair.source) for pair in pool)
    assert set(lengths) == set(range(3, 26))
    assert min(lengths.values()) > 0.02 * len(pool)
    assert max(lengths.values()) < 0.08 * len(pool)


def test_links_join_words_that_there_are(pool):
    for pair in pool:
        assert pair.sure <= pair.possible
        assert all(0 <= t < len(pair.target) for t, _ in pair.possible)
        assert all(0 <= s < len(pair.source) for _, s in pair.possible)


def test_every_content_word_is_surely_linked(pool):
    for pair in pool:
        sides = zip((pair.target, pair.source), ("chinese", "english"), strict=True)
        for side, (sentence, language) in enumerate(sides):
            linked = {link[side] for link in pair.sure}
            alone = {word for i, word in enumerate(sentence) if i not in linked}
            assert alone <= FUNCTION_WORDS[language]


def test_words_without_a_counterpart_may_stand_for_what_calls_for_them(pool):
    possible = defaultdict(set)
    for pair in pool:
        linked = {t for t, _ in pair.possible}
        assert all(t in linked for t, word in enumerate(pair.target) if word in "，的把")
        for t, s in pair.possible:
            possible[pair.target[t]].add(pair.source[s])
    assert {"go", "goes", "went", "to"} <= possible["去"]  # to go to the station
    assert {"because", "when", ","} <= possible["，"]
    assert {"the", "book", "books"} <= possible["书"]


def test_a_word_is_surely_linked_to_few_others(pool):
    """A link too many is as wrong as one too few: Shanghai never stands for yesterday."""
    partners = defaultdict(set)
    for pair in pool:
        for t, s in pair.sure:
            partners[pair.target[t]].add(pair.source[s])
    assert partners["上海"] == {"Shanghai"}
    assert partners["两"] == {"two"}
    assert partners["书"] == {"book", "books"}
    assert partners["读"] == {"read", "reads", "reading"}
    assert partners["旧"] == {"old", "older"} == partners["老"]
    assert partners["他"] == {"he", "him", "his"}
    assert max(map(len, partners.values())) <= 7


def test_what_did_not_happen_is_not_over(pool):
    """没有 and 了 exclude each other, within a clause and outside its relative clauses."""
    for pair in pool:
        for clause in " ".join(pair.target).split("，"):
            _, negated, after = clause.partition("没有 ")
            assert not negated or "了" not in after.split() or "的" in after, clause


def test_two_is_said_as_before_measures(pool):
    assert not any("二" in pair.target for pair in pool)
    assert any({"两", "本"} <= set(pair.target) for pair in pool)


def test_articles_and_verbs_agree(pool):
    for pair in pool:
        for first, second in zip(pair.source, pair.source[1:], strict=False):
            if first in ("a", "an"):
                assert (first == "an") == (second[0] in "aeiou"), pair.source
        if pair.structure == "state present":
            if pair.source[0] in ("he", "she", "Tom", "Mary"):
                assert pair.source[1].endswith("s"), pair.source
            if pair.source[0] in ("I", "you", "we", "they"):
                assert not pair.source[1].endswith("s"), pair.source


def test_structures_can_be_chosen(pool):
    assert {pair.structure.partition("(")[0].split()[0] for pair in pool} == set(STRUCTURES)
    for structure in STRUCTURES:
        pairs = sentences(40, seed=4, structures=(structure,))
        assert {pair.structure.partition("(")[0].split()[0] for pair in pairs} == {structure}


def test_wrong_requests():
    with pytest.raises(ValueError, match=r"\['poem'\]: .*event"):
        sentences(1, 0, structures=("event", "poem"))
    with pytest.raises(ValueError, match=": .*event"):
        sentences(1, 0, structures=())
    with pytest.raises(ValueError, match=" 1000:"):
        sentences(1_000, 0, structures=("weather",))


# Corpora ------------------------------------------------------------------------------------------


def test_no_sentence_is_in_two_parts(book):
    assert [len(part) for part in book[:3]] == [24_000, 1_000, 2_300]
    assert len(book.unseen_structures) > 400
    for one, other in combinations(book, 2):
        assert not {pair.source for pair in one} & {pair.source for pair in other}


def test_every_length_can_be_tested(book):
    lengths = Counter(len(pair.source) for pair in book.test)
    assert min(lengths[length] for length in range(3, 26)) >= 20


def test_every_word_of_the_tests_is_learned(book):
    for side in ("source", "target"):
        known = {word for pair in book.train for word in getattr(pair, side)}
        for part in book[1:]:
            assert {word for pair in part for word in getattr(pair, side)} <= known


def test_unseen_structures_are_held_out(book):
    for part in book[:3]:
        assert not any(held_out(pair.structure) for pair in part)
    assert all(held_out(pair.structure) for pair in book.unseen_structures)
    seen = [set(clause) for pair in book.train for clause in clauses(pair.structure)]
    unseen = [set(clause) for p in book.unseen_structures for clause in clauses(p.structure)]
    for parts in HELD_OUT:
        assert sum(parts <= clause for clause in unseen) > 100
        assert not any(parts <= clause for clause in seen)
        for part in parts:  # the others, without it, are learned
            assert sum(parts - {part} <= clause for clause in seen) > 100


def test_held_out_looks_into_each_clause():
    assert held_out("placing past that")
    assert held_out("because(state present, placing past that time)")
    assert held_out("question(event past time place who)")
    assert not held_out("because(event past that, placing past)")
    assert not held_out("event past time place and")


def test_the_seed_alone_decides():
    script = (
        "import json; from utils.data.translation import sentences;"
        "print(json.dumps([[*map(str, p[:2]), sorted(p.sure), sorted(p.possible), p.structure]"
        " for p in sentences(300, 5)]))"
    )
    results = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", script],
                env={**os.environ, "PYTHONHASHSEED": hash_seed},
                capture_output=True,
                check=True,
            ).stdout
        )
        for hash_seed in ("1", "2")
    ]
    assert results[0] == results[1]
    assert sentences(300, 5) == sentences(300, 5)
    assert sentences(300, 5)[:100] == sentences(100, 5)
    assert sentences(300, 5) != sentences(300, 6)
