"""Day 10's pictures show what they say: sides, stations, dice, losses, passages, a student."""

import math

import pytest
import torch
from drawings import arrows, leads, near, numbers, places, texts

from utils.pretraining import IGNORE, MASK, Dice, every_second, mask_words
from utils.show.mechanisms import pretraining as mechanisms

pytestmark = pytest.mark.usefixtures("closed")
SENTENCE = mechanisms.SENTENCE


def test_gpt_guesses_from_the_past_and_today_from_both_sides():
    ax, at = mechanisms.both_sides(), mechanisms.AT
    assert len(arrows(ax)) == at + len(SENTENCE) - 1
    above, below = sorted(places(ax, "?"), key=lambda place: place[1])
    ends = [arrow._posA_posB for arrow in arrows(ax)]
    for (x, y), n_left, n_right in ((above, at, 0), (below, at, len(SENTENCE) - 1 - at)):
        here = [start[0] < x for start, end in ends if abs(end[1] - y) < 1 and start[1] == end[1]]
        assert (here.count(True), here.count(False)) == (n_left, n_right)
    later = set(SENTENCE[at + 1 :]) - set(SENTENCE[:at])
    assert all(y == below[1] for word in later for _, y in places(ax, word))


@pytest.mark.parametrize(("lit", "name"), [(1, "1. pre-train"), (2, "2. fine-tune")])
def test_a_station_is_framed(lit, name):
    ax = mechanisms.road(lit)
    (frame,) = (patch for patch in ax.patches if patch.get_linewidth() == 2.6)
    ends = ax.transData.inverted().transform(frame.get_window_extent())
    x, _ = places(ax, name)[0]
    assert ends[0][0] < x < ends[1][0] and ends[1][0] - ends[0][0] < 5


def test_what_is_learned_first_goes_on_to_the_second_station():
    ax = mechanisms.road()
    first, second = (places(ax, name)[0][0] for name in ("1. pre-train", "2. fine-tune"))
    assert first < second and texts(ax).count("block") == 4
    (level,) = (
        arrow._posA_posB for arrow in arrows(ax) if arrow._posA_posB[0][1] == arrow._posA_posB[1][1]
    )
    assert first < level[0][0] < level[1][0] < second


def test_one_word_is_changed_and_nothing_else():
    ax = mechanisms.swapped()
    shown = texts(ax)
    assert shown.count(mechanisms.HIDDEN) == 2 and shown.count("a") == 1
    assert shown.count("an") == 3 and len(arrows(ax)) == 2


DICE = (
    [0.81, 0.12, 0.55, 0.93, 0.06, 0.38, 0.09, 0.70],
    [0.10, 0.93, 0.20, 0.10, 0.41, 0.50, 0.85, 0.60],
    "color draw axis same file not is size".split(),
)
EDGES = ([0.25, 0.1, 0.2, 0.25, 0.1, 0.0, 0.3, 0.2], [0.3, 0.8, 0.9, 0.95, 0.3, 0.0, 0.1, 0.9])


@pytest.mark.parametrize(
    ("hides", "how", "share"), [(*DICE[:2], 0.15), (*DICE[:2], 0.6), (*EDGES, 0.25)]
)
def test_words_are_hidden_as_the_book_hides_them(hides, how, share):
    ax = mechanisms.hiding(hides, how, DICE[2], share)
    numbered = {word: MASK + 1 + i for i, word in enumerate(dict.fromkeys([*SENTENCE, *DICE[2]]))}
    named = {number: word for word, number in numbered.items()} | {MASK: "[MASK]", IGNORE: ""}
    ids, words = (torch.tensor([[numbered[word] for word in of]]) for of in (SENTENCE, DICE[2]))
    hidden, target = mask_words(ids, Dice(torch.tensor([hides]), torch.tensor([how]), words), share)
    rows = {name: places(ax, name)[0][1] for name in ("text", "hides", "how", "read", "target")}

    def row(name: str) -> list[str]:
        there = [t for t in ax.texts if t.get_position()[1] == pytest.approx(rows[name])]
        there = sorted(there, key=lambda text: text.get_position()[0])
        return [text.get_text() for text in there if text.get_text() not in ("", name)]

    asked = target[0] != IGNORE
    assert row("text") == list(SENTENCE)
    assert row("read") == [named[number] for number in hidden[0].tolist()]
    assert row("target") == [named[number] for number in target[0][asked].tolist()]
    assert row("hides") == [f"{die:.2f}" for die in hides]
    assert row("how") == [
        f"{die:.2f}" for die, is_asked in zip(how, asked, strict=True) if is_asked
    ]


def test_one_word_is_asked_for_whatever_stands_there():
    ax, at = mechanisms.trap(), mechanisms.AT
    assert texts(ax).count("[MASK]") == texts(ax).count("color") == 1
    assert texts(ax).count(SENTENCE[at]) == 2 and f"{SENTENCE[at]}?" in texts(ax)
    assert {"8 in 10", "1 in 10", "tuned"} <= set(texts(ax))
    tuned = places(ax, "tuned")[0][1]
    assert (places(ax, SENTENCE[at])[-1][1] == pytest.approx(tuned)) and places(ax, "[MASK]")[0][
        1
    ] < tuned


@pytest.mark.parametrize("chances", [{1: 0.02, 4: 0.6, 6: 0.4}, {0: 0.5, 7: 0.25}])
def test_a_loss_is_the_mean_of_those_that_are_asked(chances):
    read = ["take", "draw", "from", "an", "[MASK]", "along", "an", "axis"]
    ax = mechanisms.asked_alone(read, chances)
    nats = [-math.log(chance) for chance in chances.values()]
    pairs = [number for pair in zip(chances.values(), nats, strict=True) for number in pair]
    assert near(numbers(ax), pairs)
    assert f"mean of {len(chances)}: {sum(nats) / len(nats):.2f}" in texts(ax)
    assert len(arrows(ax)) == len(read) + len(chances)
    for place in chances:
        asked = [where for where in places(ax, SENTENCE[place]) if where[1] < 4.2]
        assert any(x == pytest.approx(sorted(places(ax, "x"))[place][0]) for x, _ in asked)


def test_passages_are_one_sentence_neighbours_or_of_all_places():
    ax = mechanisms.passages()
    columns = {name: places(ax, name)[0][0] for name in ("one sentence", "in order", "mixed")}
    found = {}
    for name, x in columns.items():
        said = [(t.get_position()[1], t.get_text()) for t in ax.texts if t.get_position()[0] == x]
        found[name] = [int(text[-1]) for _, text in sorted(said) if text.startswith("sentence ")]
    assert found == {"one sentence": [2], "in order": [2, 3, 4, 5], "mixed": [6, 1, 7, 3]}
    assert sum(text.startswith("sentence ") for text in texts(ax)) == 8 + 1 + 4 + 4


@pytest.mark.parametrize("taus", [[1, 2], [0.5, 1, 4]])
def test_soft_targets_are_softmaxes_and_the_hard_one_is_of_the_text(taus):
    logits = torch.tensor([2.5, 5.0, 0.5, 0.0])
    ax = mechanisms.soft(list("abcd"), logits, 1, taus)
    assert near(numbers(ax), [0, 1, 0, 0], *((logits / tau).softmax(dim=0) for tau in taus))
    assert [text for text in texts(ax) if "τ" in text] == [f"teacher, τ = {tau:g}" for tau in taus]


@pytest.mark.parametrize("n", [2, 6, 12])
def test_a_student_begins_with_every_second_block(n):
    ax = mechanisms.halved([("teacher", "student", n)])
    left = {text: where for text, where in placed(ax) if where[0] < 4}
    right = {text: where for text, where in placed(ax) if where[0] > 4}
    chosen = every_second(list(range(n)))
    assert len(left) == n and len(right) == len(chosen) == len(arrows(ax))
    for j, i in enumerate(chosen):
        assert leads(ax, left[f"block {i}"], right[f"block {j}"], within=1.2)
    assert left["block 0"][1] == right["block 0"][1] > left["block 1"][1]  # the first is below


@pytest.mark.parametrize(
    ("rest", "filled"), [(0.3, {"color 0.4", "width 0.6"}), (0.1, {"map 0.4"})]
)
def test_each_gap_gets_what_is_likeliest_there(rest, filled):
    phrases = {("color", "map"): 0.4, ("line", "width"): rest, ("bar", "width"): rest}
    ax = mechanisms.each_for_itself(phrases)
    line = places(ax, "filled")[0][1]
    there = {t.get_text() for t in ax.texts if t.get_position()[1] == pytest.approx(line)}
    assert {"filled", "set", "the", "color 0.4", *filled} == there
    for row, words in enumerate(phrases):
        start, end = (sorted(places(ax, word), key=lambda at: at[1]) for word in words)
        assert leads(ax, start[0], end[max(row - 1, 0)], within=1.4)


def placed(ax) -> list[tuple[str, tuple[float, float]]]:
    """The blocks' names, and where they are written."""
    return [(t.get_text(), t.get_position()) for t in ax.texts if t.get_text().startswith("block")]
