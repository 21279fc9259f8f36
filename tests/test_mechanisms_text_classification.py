"""The larger pictures of Day 8: the road to an answer, cuts, merges, bags and padding."""

from itertools import pairwise

import pytest
from drawings import leads, places, texts
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from utils.show.mechanisms import text_classification as mechanisms

pytestmark = pytest.mark.usefixtures("closed")
SENTENCE = "not good but funny"


def grid(ax) -> list[Rectangle]:
    """The cells, in the order in which they were drawn."""
    return [p for p in ax.patches if isinstance(p, Rectangle) and p.get_width() < 15]


def test_the_road_leads_from_each_word_through_its_vector_into_one_answer():
    ax = mechanisms.road(SENTENCE, "for it")
    (text,), (answer,) = places(ax, SENTENCE), places(ax, "for it")
    for word in SENTENCE.split():
        ((x, y),) = places(ax, word)
        assert text[1] < y < answer[1]
        assert leads(ax, (x, text[1]), (x, y)) and leads(ax, (x, y), (x, y + 1.9))
        assert any(
            abs(a[0] - x) < 0.01 and abs(b[0] - answer[0]) < 0.01 and b[1] > a[1] > y + 1.9
            for a, b in (p._posA_posB for p in ax.patches if hasattr(p, "_posA_posB"))
        )
    heights = [places(ax, stage)[0][1] for stage in mechanisms.STAGES]
    assert heights == sorted(heights)


def test_a_sentence_too_long_for_the_road_is_refused():
    with pytest.raises(ValueError, match=" 16 × 9.9, .*shape "):
        mechanisms.road(" ".join(["unbelievable"] * 9), "for it")


def test_a_piece_stands_under_its_letters():
    text = "a sad sad day"
    rows = {"letters": list(text), "words": text.split(), "pieces": ["a", "s", "ad", "sad", "day"]}
    ax = mechanisms.cuts(text, rows, unknown={"day"})
    drawn = grid(ax)
    letters, others = drawn[: len(text)], drawn[len(text) :]
    starts = [0, 2, 6, 10, 0, 2, 3, 6, 10]
    pieces = [*rows["words"], *rows["pieces"]]
    for cell, start, piece in zip(others, starts, pieces, strict=True):
        assert cell.get_x() == pytest.approx(letters[start].get_x())
        assert cell.get_width() == pytest.approx(len(piece) * letters[0].get_width())
        assert bool(cell.get_hatch()) == (piece == "day")
    assert [text for text in texts(ax) if text.isdigit()] == ["13", "4", "5"]


def test_what_was_merged_just_now_is_in_strong_colour():
    rows = [[list("ab"), list("abc")], [["ab"], ["ab", "c"]], [["ab"], ["abc"]]]
    ax = mechanisms.merging(rows)
    drawn, depth = grid(ax), []
    for cell in drawn:
        depth.append(round(1 - to_rgb(cell.get_facecolor())[2], 2))  # how far from white
    first, second, third = depth[:5], depth[5:8], depth[8:]
    assert set(first) == {0.0} and second[2] == 0.0
    assert second[0] == second[1] == third[1] > third[0] > 0
    ends = [row[-1].get_x() + row[-1].get_width() for row in (drawn[:5], drawn[5:8], drawn[8:])]
    assert ends == pytest.approx([ends[0]] * 3)
    for row in (drawn[:5], drawn[5:8], drawn[8:]):
        gaps = [b.get_x() - a.get_x() - a.get_width() for a, b in pairwise(row)]
        assert [gap > 0.3 for gap in gaps].count(True) == 1  # between the words
        assert sorted(map(abs, gaps))[:-1] == pytest.approx([0] * (len(gaps) - 1))
    assert [text for text in texts(ax) if "pieces" in text] == ["5 pieces", "3 pieces", "2 pieces"]


def test_both_sentences_lead_into_the_same_counts():
    ax = mechanisms.bags("not good not bad", "bad not not good")
    known = ["not", "good", "bad"]
    assert [text for text in texts(ax) if text.isdigit()] == ["2", "1", "1"]
    for word in known:
        spots = places(ax, word)
        (column,) = [x for x, y in spots if 4 < y < 5]
        for x, y in spots:
            if y < 2:
                assert leads(ax, (x, 1.15), (column, 3.2))
            elif y > 6:
                assert leads(ax, (x, 6.5), (column, 4.9))
    with pytest.raises(ValueError, match="'not good' .*'good good'"):
        mechanisms.bags("not good", "good good")


def test_padding_fills_each_batch_up_to_its_longest():
    ax = mechanisms.padded([3, 9, 5, 7, 4], batch_size=2)
    assert "padding: 8 of 36 positions" in texts(ax) and "padding: 3 of 31 positions" in texts(ax)
    drawn = grid(ax)
    hatched = [bool(cell.get_hatch()) for cell in drawn]
    assert len(hatched) == 36 + 31 and sum(hatched[:36]) == 8 and sum(hatched[36:]) == 3
    rows = {}
    for cell, missing in zip(drawn[:36], hatched, strict=False):
        rows.setdefault(round(cell.get_y(), 3), []).append(missing)
    assert [row.count(False) for row in rows.values()] == [3, 9, 5, 7, 4]
    assert all(row == sorted(row) for row in rows.values())  # behind what is real
