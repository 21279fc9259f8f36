"""Day 14's view: a series is drawn, and the book's forecasters go on with it in the page."""

import json
import re
from functools import partial

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE
from live import computed, stored_at_random
from playwright.sync_api import expect
from torch import nn

from utils.show.views import draw_and_forecast, frame, models
from utils.show.views.draw_and_forecast import METHODS, check
from utils.tasks.drawn_series import (
    all_five,
    facts_for_page,
    forecasters,
    to_take,
)
from utils.tasks.many_sales import S, T

NAME = "forecasters"
SERIES = to_take()
FIRST = next(iter(SERIES))
NAMED = ["the naive forecast", "the seasonal naive forecast", "the linear forecast"]
NAMED += ["the LSTM", "the Transformer"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Stored forecasters, and the same in int8."""
    folder, told = tmp_path_factory.mktemp("models"), facts_for_page()
    with stored_at_random(folder, forecasters(), 0.3, NAME, **told) as both:
        yield both


def expected(own: nn.Module, past: list[float]) -> torch.Tensor:
    """What the book's forecasters go on with, (5, T, 3)."""
    found = all_five(own, torch.tensor([past], dtype=torch.float64))
    assert tuple(found) == METHODS
    return torch.cat([*found.values()])


# What the page computes ---------------------------------------------------------------------------

gone_on = partial(computed, model=NAME, name="forecasters", parts=["runtime", "forecasters"])


@pytest.mark.parametrize("name", SERIES)
def test_the_page_forecasts_as_the_books_methods_do(chromium, here, made, name):
    past = SERIES[name][:S].tolist()
    (found,) = gone_on(chromium, past=past)
    wanted = expected(made[1], past)
    torch.testing.assert_close(
        torch.tensor(found["forecasts"], dtype=torch.float64), wanted, atol=1e-3, rtol=1e-5
    )
    assert (wanted[:, :, 1].std(dim=1)[1:] > 0.1).all()  # else this would compare constants
    assert (wanted[2:, :, 1].diff(dim=0).abs().amax(dim=1) > 1).all()


def test_a_constant_is_only_moved_to_0(chromium, here, made):
    past = [30.0] * S
    (found,) = gone_on(chromium, past=past)
    wanted = expected(made[1], past)
    torch.testing.assert_close(
        torch.tensor(found["forecasts"], dtype=torch.float64), wanted, atol=1e-4, rtol=1e-5
    )


def test_a_forecast_moves_with_the_unit(chromium, here):
    past = SERIES[FIRST][:S]
    (one,), (other,) = (
        gone_on(chromium, past=given.tolist()) for given in (past, 1000 * past - 300)
    )
    one, other = (torch.tensor(found["forecasts"]).double() for found in (one, other))
    torch.testing.assert_close(other, 1000 * one - 300, atol=1, rtol=1e-4)


# In the browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(here, phone, shown):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light", motion: str = "no-preference"):
        draw_and_forecast(NAME, series=SERIES)
        phone.emulate_media(reduced_motion=motion)
        weights = "".join(bundle.get("text/html", "") for bundle in here)
        phone.set_content(PAGE.format(theme=theme, views=weights + shown[-1]["text/html"]))
        phone.evaluate(AS_IN_JUPYTERLAB)
        settled(phone)
        return phone

    return open_in


def told(tab):
    return tab.locator(".view-answer p").first


def settled(tab) -> None:
    """Wait until what was asked last has been told."""
    expect(tab.locator(".view-answer")).to_have_attribute("aria-busy", "false")


def taken(tab, name: str) -> None:
    tab.get_by_role("button", name=name, exact=True).click()
    settled(tab)


def pad(tab):
    return tab.get_by_role("slider")


def stroke(tab, points: list[tuple[float, float]]) -> None:
    """Draw with the mouse, from day to day and value to value."""
    box = pad(tab).bounding_box()
    for i, (day, value) in enumerate(points):
        x = box["x"] + (day + 0.5) / (S + T) * box["width"]
        y = box["y"] + (115 - value) / 130 * box["height"]
        tab.mouse.move(x, y)
        if i == 0:
            tab.mouse.down()
    tab.mouse.up()
    settled(tab)


def path_of(tab, name: str) -> torch.Tensor:
    """Days and values of the first line of that name in the large picture, (n, 2)."""
    line = tab.locator(f".view-series path.view-{name}").first.get_attribute("d")
    numbers = torch.tensor([float(x) for x in re.findall(r"-?[\d.]+", line)]).view(-1, 2)
    return torch.stack([numbers[:, 0] - 0.5, 115 - numbers[:, 1]], dim=1)


def past_of(tab) -> list[float]:
    return path_of(tab, "line")[:, 1].tolist()


def below(tab) -> list[str]:
    return tab.locator(".view-panels button > span").all_text_contents()


def test_what_is_taken_is_gone_on_with_and_compared_with_what_came(opened, made):
    tab = opened()
    for name, series in SERIES.items():
        taken(tab, name)
        past, came = np.round(series.numpy(), 1)[:S], np.round(series.numpy(), 1)[S:]
        np.testing.assert_allclose(past_of(tab), past, atol=0.011)
        wanted = expected(made[1], past.tolist())
        off = (wanted[:, :, 1] - torch.from_numpy(came)).abs().mean(dim=1)
        assert all(text.startswith("off by ") for text in below(tab))
        shown = torch.tensor([float(text.removeprefix("off by ")) for text in below(tab)])
        assert (shown - off).abs().max() < 0.051
        best, worst = NAMED[off.argmin()], NAMED[off.argmax()]
        low, _, high = wanted[4].unbind(dim=1)
        held = int(((torch.from_numpy(came) >= low) & (torch.from_numpy(came) <= high)).sum())
        least, most = shown.min().item(), shown.max().item()
        expect(told(tab)).to_have_text(
            f"Of the five, {best} comes closest: it is off by {least:.1f} a day, on average. The "
            f"worst, {worst}, is off by {most:.1f}. The interval of the Transformer contains "
            f"{held} of {T} days."
        )
        ahead = path_of(tab, "median")
        assert ahead[:, 0].tolist() == list(range(S - 1, S + T))


def test_the_chosen_method_is_in_front_with_its_interval(opened, made):
    tab = opened()
    past = np.round(SERIES[FIRST].numpy(), 1)[:S].tolist()
    wanted = expected(made[1], past)
    for at, name in enumerate(NAMED):
        button = tab.locator(".view-panels button").nth(at)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        assert tab.locator(".view-panels [aria-pressed=true]").count() == 1
        assert tab.locator(".view-series path.view-median").count() == len(METHODS)
        front = tab.locator(".view-series path.view-median").last
        assert front.get_attribute("data-chosen") == ""
        assert tab.locator(".view-series path.view-median[data-chosen]").count() == 1
        band = path_of(tab, "band")
        low, high = band[: T + 1, 1], band[T + 1 :, 1].flip(0)
        now = torch.tensor(past[-1:])
        for found, k in ((low, 0), (high, 2)):
            torch.testing.assert_close(
                found, torch.cat([now, wanted[at, :, k]]).float(), atol=0.02, rtol=0
            )
        expect(told(tab)).to_contain_text(f"The interval of {name} contains ")


def test_five_methods_go_on_with_what_is_drawn_by_mouse(opened, made):
    tab = opened()
    taken(tab, "Clear")
    expect(told(tab)).to_have_text("Draw a series, or take one.")
    assert below(tab) == [""] * 5
    stroke(tab, [(0, 20), (20, 60), (55, 10)])
    past = past_of(tab)
    np.testing.assert_allclose(past[:21], np.linspace(20, 60, 21), atol=1)
    np.testing.assert_allclose(past[20:], np.linspace(60, 10, 36), atol=1.5)
    wanted = expected(made[1], past)
    text = tab.locator(".view-answer p").nth(1).inner_text()
    found = re.findall(r"(−?\d+) \((−?\d+) to (−?\d+)\)", text)
    found = torch.tensor([[float(x.replace("−", "-")) for x in row] for row in found])
    assert (found - wanted[:, -1, [1, 0, 2]]).abs().max() < 0.6
    mean = round(wanted[4, :, 1].mean().item())
    expect(told(tab)).to_have_text(
        f"Over the next {T} days, the Transformer averages {mean} a day."
    )
    assert tab.locator(".view-came").count() == 0  # nobody knows what comes


def test_days_that_were_not_drawn_are_filled_and_it_says_how(opened):
    tab = opened()
    taken(tab, "Clear")
    stroke(tab, [(10, 40)])
    expect(told(tab)).to_have_text(
        "Every day is the same, and a constant has no scale that a network could read: draw a "
        "line that goes up or down."
    )
    stroke(tab, [(30, 80)])
    np.testing.assert_allclose(
        past_of(tab), [40] * 10 + np.linspace(40, 80, 21).tolist() + [80] * 25, atol=0.6
    )
    expect(told(tab)).to_contain_text(
        f"You drew 2 of {S} days: days between them lie on straight lines, and the ends repeat "
        "the nearest day."
    )
    assert path_of(tab, "dots")[:, 0].numel() == 3  # two days: "M… h0" has three numbers each
    stroke(tab, [(60, 50)])  # nothing is drawn where the forecasts are
    expect(told(tab)).to_contain_text(f"You drew 2 of {S} days")


def test_a_stroke_leaves_the_range_and_the_past_nowhere(opened):
    tab = opened()
    stroke(tab, [(50, 50), (52, 112), (66, -12)])
    past = past_of(tab)
    assert past[52] == 100 and past[55] == 0 and len(past) == S
    assert "off by" not in below(tab)[0]


# Whether a value of the first band, but for the last day that is known, has moved.
MOVED = """(before) => {
    const numbers = (line) => line.match(/-?[\\d.]+/g).slice(2, -2).map(Number);
    const now = numbers(document.querySelector(".view-series path.view-band").getAttribute("d"));
    return numbers(before).some((value, i) => Math.abs(value - now[i]) > 0.1);
}"""


def test_forecasts_follow_the_pen_before_it_rests(opened):
    tab = opened()
    box = pad(tab).bounding_box()
    before = tab.locator(".view-series path.view-band").first.get_attribute("d")
    assert not tab.evaluate(MOVED, before)
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20)
    tab.mouse.down()
    for i in range(30):
        tab.mouse.move(box["x"] + (0.5 + i / 120) * box["width"], box["y"] + 20 + i)
    tab.wait_for_function(MOVED, arg=before)
    tab.mouse.up()
    settled(tab)


def test_what_was_asked_last_is_what_is_told(opened, made):
    tab = opened()
    (*_, last), names = SERIES, [*SERIES, "Clear", FIRST, "Clear", *SERIES]
    tab.evaluate(
        """(names) => {
            const buttons = [...document.querySelectorAll("button")];
            for (const name of names) buttons.find((one) => one.textContent === name).click();
        }""",
        names,
    )
    settled(tab)
    past = np.round(SERIES[last].numpy(), 1)[:S].tolist()
    band = path_of(tab, "band")[1 : T + 1, 1]
    wanted = expected(made[1], past)[4, :, 0].float()
    torch.testing.assert_close(band, wanted, atol=0.02, rtol=0)
    expect(told(tab)).to_contain_text("Of the five, ")
    tab.evaluate("() => { for (const one of document.querySelectorAll('button')) one.click(); }")
    settled(tab)  # the last ones are "Clear" and the methods
    tab.wait_for_timeout(500)
    expect(told(tab)).to_have_text("Draw a series, or take one.")
    assert tab.locator(".view-band").count() == 0


def test_nothing_wrong_is_told_before_forecasts_have_come(opened):
    tab = opened()
    said = tab.evaluate(
        """(name) => {
            const buttons = [...document.querySelectorAll("button")];
            buttons.find((one) => one.textContent === name).click();
            document.querySelector(".view-panels button").click();
            return document.querySelector(".view-answer p").textContent;
        }""",
        FIRST,
    )
    assert "Every day is the same" not in said
    settled(tab)
    expect(told(tab)).to_contain_text("The interval of the naive forecast contains ")


def test_it_is_used_by_keyboard_alone(opened, made):
    tab = opened()
    slider = pad(tab)
    slider.focus()
    assert slider.get_attribute("data-lm-suppress-shortcuts") == "true"  # else JupyterLab moves on
    values = np.round(SERIES[FIRST].numpy(), 1)
    assert slider.get_attribute("aria-valuetext") == f"day {S} of {S}: {values[S - 1]:.0f}"
    tab.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == f"day {S - 1} of {S}: {values[S - 2]:.0f}"
    tab.keyboard.press("ArrowUp")
    raised = round(values[S - 2]) + 2
    assert slider.get_attribute("aria-valuetext") == f"day {S - 1} of {S}: {raised}"
    assert slider.get_attribute("aria-valuenow") == f"{raised}"
    for key, value in (
        ("PageUp", raised + 10),
        ("ArrowDown", raised + 8),
        ("PageDown", raised - 2),
    ):
        tab.keyboard.press(key)
        assert slider.get_attribute("aria-valuenow") == f"{value}"
    for _ in range(12):
        tab.keyboard.press("PageDown")
    assert slider.get_attribute("aria-valuenow") == "0"
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext").startswith(f"day 1 of {S}: ")
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext").startswith(f"day {S} of {S}: ")
    settled(tab)
    wanted = expected(made[1], past_of(tab))
    ahead = path_of(tab, "band")
    torch.testing.assert_close(ahead[1 : T + 1, 1], wanted[4, :, 0].float(), atol=0.02, rtol=0)
    taken(tab, "Clear")
    slider.focus()
    assert slider.get_attribute("aria-valuetext") == f"day {S} of {S}: not drawn"
    tab.keyboard.press("ArrowDown")
    assert slider.get_attribute("aria-valuetext") == f"day {S} of {S}: 48"


def test_tab_leaves_the_series(opened):
    tab = opened()
    pad(tab).focus()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == FIRST


# For everybody ------------------------------------------------------------------------------------


def test_forecasts_are_unrolled_unless_nothing_may_move(opened):
    tab = opened()
    tab.evaluate(
        """() => {
            globalThis.moved = 0;
            const animate = Element.prototype.animate;
            Element.prototype.animate = function (...all) {
                moved++;
                return animate.apply(this, all);
            };
        }"""
    )
    taken(tab, FIRST)
    assert tab.evaluate("moved") == 1 + len(METHODS)
    stroke(tab, [(3, 30), (9, 60)])  # forecasts are there already: they only change
    assert tab.evaluate("moved") == 1 + len(METHODS)
    tab.wait_for_function("!document.getAnimations().length")


def test_nothing_moves_where_that_is_asked_for(opened):
    tab = opened(motion="reduce")
    tab.evaluate("() => { Element.prototype.animate = () => { throw Error('it moves'); }; }")
    taken(tab, FIRST)
    assert below(tab)[0].startswith("off by")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    for press in (None, "Clear", "growth"):
        if press:
            taken(tab, press)
        if press == "Clear":
            stroke(tab, [(10, 30), (30, 40)])
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    for button in tab.get_by_role("button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    draw_and_forecast(NAME, series=SERIES)
    (bundle,) = shown
    says = f"View: draw a series, and five methods go on with it. {'; '.join(SERIES)}"
    assert bundle["text/plain"] == says
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 60_000
    assert all(f"<li>{name}</li>" in bundle["text/html"] for name in SERIES)
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    assert json.loads(written)["series"][0]["values"] == np.round(SERIES[FIRST].numpy(), 1).tolist()
    handed, emptied = here
    assert '"bytes"' in handed["text/html"] and emptied == {}


@pytest.mark.parametrize("file", ["forecasters", "draw_and_forecast"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("series", "said"),
    [
        ({}, "at least one series"),
        ({"short": torch.ones(S)}, rf"'short' should have {S + T} values .* \({S},\)"),
        ({"high": torch.full((S + T,), 101.0)}, "'high' .* from 101 to 101"),
        ({"low": -torch.ones(S + T)}, "'low' .* from -1 to -1"),
        ({"none": torch.full((S + T,), torch.nan)}, "'none' .* from nan to nan"),
    ],
)
def test_series_of_another_length_or_range_are_refused(here, shown, series, said):
    with pytest.raises(ValueError, match=said):
        draw_and_forecast(NAME, series=series)
    assert not shown and not here


HALF = "Transformer.encoder.embedding.positions.table"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"linear.linear.bias": (np.zeros(3, np.float32),)}, "linear.linear.bias"),
        ({"LSTM.output.bias": (np.zeros(1, np.float32),)}, "LSTM.output.bias"),
        ({"Transformer.encoder.norm.weight": (np.zeros(3, np.float32),)}, "encoder.norm.weight"),
        ({"more": (np.zeros(3, np.float32),)}, "more"),
        ({"heads": 5}, "heads, season or alpha"),
        ({"heads": 0}, "heads, season or alpha"),
        ({"season": 0}, "heads, season or alpha"),
        ({"season": 53}, "heads, season or alpha"),  # three lags: the interval would be infinite
        ({"alpha": 0.0}, "heads, season or alpha"),
        ({"alpha": 1.0}, "heads, season or alpha"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load(NAME)
    told = header.keys() & change.keys()
    other = models.Stored(
        header | change if told else header, weights if told else weights | change
    )
    with pytest.raises(ValueError, match=said):
        check(other)


def test_the_longest_season_with_an_interval_is_not_refused(here):
    header, weights = models.load(NAME)
    assert check(models.Stored(header | {"season": 52}, weights)) == (S, T)


def test_the_file_of_the_models_is_small(made):
    assert (made[0] / f"{NAME}.js").stat().st_size < 60_000
