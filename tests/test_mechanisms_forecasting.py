"""Day 14's pictures show what fits, what is known, what leaks, and what is still hidden."""

import pytest
import torch
from drawings import arrows, leads, near, numbers, places, texts
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from utils.forecasting import hide_future, mape, rolling_origin, seasonal_naive, smape
from utils.forecasting.intervals import conformal_width
from utils.show.diagrams import tinted
from utils.show.mechanisms import forecasting
from utils.show.plotting import PAPER

pytestmark = pytest.mark.usefixtures("closed")

KNOWN, AHEAD = tinted("query"), tinted("key")


def filled(ax, colour: str) -> list[Rectangle]:
    """A sheet's rectangles of a colour."""
    return [
        patch
        for patch in ax.patches
        if isinstance(patch, Rectangle) and patch.fill and to_hex(patch.get_facecolor()) == colour
    ]


def test_a_window_is_as_much_longer_than_the_series_as_it_has_more_steps():
    ax = forecasting.parts_and_window({"training": 7, "validation": 3, "test": 2}, 15)
    parts = [filled(ax, tinted(role)) for role in ("query", "gradient", "value")]
    assert [len(part) for part in parts] == [7, 3, 2]
    (window,) = filled(ax, tinted("key", 0.25))
    assert window.get_width() == pytest.approx(15 * parts[0][0].get_width())
    (end,) = ax.lines
    last = parts[2][-1]
    assert end.get_xdata()[0] == pytest.approx(last.get_x() + last.get_width())
    assert "the series ends after 12 weeks" in texts(ax)


def test_half_and_double_are_measured_as_the_book_measures():
    ax = forecasting.half_and_double(80)
    target = torch.tensor([80.0])
    for forecast, error in ((40.0, "40"), (160.0, "80")):
        made = torch.tensor([forecast])
        (y,) = {place[1] for place in places(ax, f"{forecast:g}") if place[0] < 9} & {
            place[1] for place in places(ax, error) if place[0] > 9
        }
        told = [text.get_text() for text in ax.texts if text.get_position()[1] == y]
        assert f"{mape(target, made).item():.0%}" in told
        assert f"{smape(target, made).item():.0%}" in told
    bars = [filled(ax, KNOWN)[0], *filled(ax, AHEAD)]
    widths = [bar.get_width() for bar in bars]
    assert near(widths, [widths[0], widths[0] / 2, 2 * widths[0]])


def test_each_row_knows_what_comes_before_its_origin():
    pairs = rolling_origin(11, 4, 2, 3)
    ax = forecasting.origins(pairs, 11)
    width = filled(ax, KNOWN)[0].get_width()
    for known, ahead in pairs:
        ((_, y),) = places(ax, f"origin {known.stop}")
        for steps, colour in ((known, KNOWN), (ahead, AHEAD)):
            there = [c.get_x() for c in filled(ax, colour) if abs(c.get_y() + 0.35 - y) < 0.01]
            assert near(there, [3.0 + step * width for step in steps])


def test_a_scaler_that_leaks_reaches_over_the_future():
    ax = forecasting.two_scalers(n=10, origin=6)
    assert len(filled(ax, KNOWN)) == 12 and len(filled(ax, AHEAD)) == 8
    ends = [arrow._posA_posB[0][0] for arrow in arrows(ax)]
    border = filled(ax, AHEAD)[0].get_x()
    assert ends[0] == pytest.approx(border + 4 * filled(ax, KNOWN)[0].get_width())
    assert ends[2] == pytest.approx(border)
    (leaking,) = places(ax, "leaks")
    (honest,) = places(ax, "doesn't")
    assert leaking[1] < honest[1]


def test_the_last_season_is_repeated():
    past = [3, 1, 4, 1, 5, 9, 2]
    ax = forecasting.last_season(past, season=3, T=5)
    made = seasonal_naive(torch.tensor([past]).float(), 5, 3)[0]
    assert near(numbers(ax), torch.tensor(past).float(), made)
    assert len(arrows(ax)) == 3
    first = min(cell.get_x() for cell in filled(ax, AHEAD))
    width = filled(ax, AHEAD)[0].get_width()
    for t, arrow in enumerate(arrows(ax)):
        (start, _), (end, _) = arrow._posA_posB
        assert end - start == pytest.approx(3 * width)
        assert end == pytest.approx(first + (t + 0.5) * width)


@pytest.mark.parametrize(("n", "alpha", "k"), [(14, 0.2, 12), (9, 0.1, 9), (11, 0.5, 6)])
def test_the_interval_reaches_as_far_as_the_chosen_error(n, alpha, k):
    scores = torch.rand(n, generator=torch.Generator().manual_seed(n)) + 0.1
    ax = forecasting.width_of_scores(scores, alpha)
    (chosen,) = filled(ax, AHEAD)
    (band,) = filled(ax, tinted("key", 0.45))
    assert band.get_width() == pytest.approx(2 * chosen.get_width())
    unit = 4.2 / scores.max().item()
    assert chosen.get_width() == pytest.approx(unit * conformal_width(scores, alpha).item())
    assert len(filled(ax, KNOWN)) == k - 1 and f"number {k}" in texts(ax)


def test_what_a_network_reads_hides_the_future_and_knows_its_promotions():
    values, promoted = [5.0, 9.0, 4.0], [0, 1, 0, 1, 1]
    ax = forecasting.filled_in(values, promoted, T=2)
    read = hide_future(
        torch.tensor([values]), torch.tensor(promoted)[None, :, None].float(), 2
    )  # (1, 5, 3)
    assert near(numbers(ax), read[0].T)
    hidden = [cell for cell in ax.patches if isinstance(cell, Rectangle) and cell.get_hatch()]
    first, second = places(ax, "?")
    width = second[0] - first[0]
    assert near([cell.get_x() + width / 2 for cell in hidden], [first[0], second[0]])
    assert all(to_hex(cell.get_facecolor()) == PAPER for cell in hidden)


def test_one_model_serves_all_series_on_the_right_and_one_each_on_the_left():
    ax = forecasting.local_and_global(4)
    (model,) = places(ax, "model")
    for i in range(1, 5):
        left, right = sorted(places(ax, f"series {i}"))
        (own,) = places(ax, f"model {i}")
        assert leads(ax, (left[0] + 1.3, left[1]), (own[0] - 1.2, own[1]), within=0.1)
        assert leads(ax, (right[0] + 1.3, right[1]), (model[0] - 1.2, model[1]), within=0.2)
    assert len(arrows(ax)) == 8
    assert len({b.get_x() for b in ax.patches if isinstance(b, FancyBboxPatch)}) >= 4


def test_each_switch_flips_the_level():
    switches = [0, 1, 1, 0, 1, 0]
    ax = forecasting.switched(switches)
    x, y = ax.lines[0].get_data()
    assert len(x) == 8
    levels = [float(height < y[0]) for height in y[1:-1]]  # up on a sheet is a smaller y
    assert levels == [0, 1, 0, 0, 1, 1]
    assert sum(line.get_linestyle() == ":" for line in ax.lines) == 3
