"""Day 15's view: a training is planned, with the numbers of `utils.scaling`."""

import inspect
import json
import re
from math import inf, nan

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE
from playwright.sync_api import expect

from utils.scaling import BESIROGLU, GPUS, ScalingLaw, days_of, interval, six_n_d
from utils.show.views import frame, plan_a_training
from utils.show.views.plan_a_training import SHARE

OURS, THEIRS = "made up", "Besiroglu et al."
LAW = ScalingLaw(1.3, 30.0, 90.0, 0.31, 0.36)
draws = np.random.default_rng(0).uniform(0.9, 1.1, (41, 5))
LAWS = {OURS: [LAW, *(ScalingLaw(*(factors * LAW)) for factors in draws)], THEIRS: [BESIROGLU]}
SIZES = [(N, D) for N in (1e4, 1e5, 1e6) for D in (2e5, 1e6)]
POINTS = {OURS: [(N, D, float(LAW.loss(N, D)) + 0.05) for N, D in SIZES]}


def shown_view() -> None:
    plan_a_training(LAWS, POINTS, gpus=GPUS)


def operations_for(money: float, price: float, gpu: str, utilisation: float = 0.4) -> float:
    """What the hours of one GPU that money buys come to."""
    return money / price * 3600 * GPUS[gpu] * utilisation


# What the page computes ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(chromium):
    """Evaluate an expression of `growth.js` in the page."""
    tab = chromium.new_page()
    tab.set_content(f"<script>{(frame.HERE / 'growth.js').read_text('utf-8')}</script>")
    yield lambda code, *given: tab.evaluate(f"(given) => {code}", list(given))
    tab.close()


@pytest.mark.parametrize("law", [*LAWS[OURS][:3], BESIROGLU])
def test_the_page_plans_as_python_does(page, law):
    money, price, days, gpu = 3_210.0, 1.7, 13.0, "H100 (2022)"
    wanted = operations_for(money, price, gpu, 0.37)
    given = {"money": money, "price": price, "days": days}
    found = page("bought(given[0], given[1], given[2])", given, GPUS[gpu], 0.37)
    assert found["operations"] == pytest.approx(wanted, rel=1e-12)
    assert days_of(wanted, gpu, found["gpus"], 0.37) == pytest.approx(days, rel=1e-12)
    split = law.best_split(wanted)
    N = page("bestWeights(given[0], given[1])", list(law), wanted)
    assert N == pytest.approx(split.N, rel=1e-10)
    loss = page("lossOf(given[0], given[1], given[2])", list(law), *split)
    assert loss == pytest.approx(law.loss(*split), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_an_interval_ends_where_pythons_does(page, n):
    values = np.random.default_rng(n).normal(size=n).tolist()
    assert page("middleOf(given[0], given[1])", values, 0.8) == pytest.approx(interval(values, 0.8))


# In the browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(phone, shown):
    """Open the view on a phone as JupyterLab shows it."""

    def open_in(theme: str = "light"):
        shown_view()
        phone.set_content(PAGE.format(theme=theme, views=shown[-1]["text/html"]))
        phone.evaluate(AS_IN_JUPYTERLAB)
        return phone

    return open_in


def told(tab) -> str:
    return " ".join(tab.locator(".view-answer").inner_text().split())


def slide(tab, name: str, value: float) -> None:
    """Move a slider to a value, as near as its steps allow."""
    slider = tab.get_by_role("slider", name=name, exact=True)
    slider.evaluate(
        """(slider, value) => {
            slider.value = Math.log10(value);
            slider.dispatchEvent(new Event("input"));
        }""",
        value,
    )


def big(number: float) -> str:
    """Two digits and a word, as the page writes a number."""
    rounded = float(f"{number:.1e}")
    for power, name in ((12, "trillion"), (9, "billion"), (6, "million"), (3, "thousand")):
        if rounded >= 10**power:
            return f"{float(f'{rounded / 10**power:.1e}'):g} {name}"
    return f"{rounded:g}"


def powered(number: float) -> str:
    factor, power = f"{number:.1e}".split("e")
    return f"{factor}·10{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def between(laws: list, N: float, D: float) -> str:
    loss = f"{laws[0].loss(N, D):.2f}"
    if len(laws) == 1:
        return loss
    low, high = interval([law.loss(N, D) for law in laws[1:]], SHARE)
    return f"{loss} ({low:.2f} to {high:.2f})"


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("money", "price", "days", "gpu", "lasts"),
    [
        (1e4, 2.0, 32.0, "B200 (2024)", "6.5 GPUs all the time"),
        (1e8, 2.0, 100.0, "H100 (2022)", "21 thousand GPUs all the time"),
        (100.0, 1.0, 10.0, "V100 (2017)", "one GPU for 4.2 days"),
        (0.01, 2.0, 10.0, "A100 (2020)", "one GPU for 18 seconds"),
    ],
)
def test_a_plan_is_told_in_words_with_pythons_numbers(opened, name, money, price, days, gpu, lasts):
    tab = opened()
    tab.get_by_role("radio", name=name, exact=True).check()
    tab.get_by_role("radio", name=gpu, exact=True).check()
    for slider, value in (("Money", money), ("A GPU’s hour", price), ("Time", days)):
        slide(tab, slider, value)
    wanted = operations_for(money, price, gpu)
    N, D = LAWS[name][0].best_split(wanted)
    tokens = f"{big(D / N)} token{'s' * (big(D / N) != '1')}"
    assert f"you can run {lasts}: {powered(wanted)} operations altogether" in told(tab)
    assert (
        f"The best split is {big(N)} weights trained on {big(D)} tokens, which is "
        f"{tokens} for each weight. Its predicted loss is {between(LAWS[name], N, D)}." in told(tab)
    )
    assert "Your split" not in told(tab)


def test_weights_and_tokens_share_one_budget(opened):
    tab = opened()
    for slider, value in (("Money", 1e4), ("A GPU’s hour", 2.0), ("Time", 10.0)):
        slide(tab, slider, value)
    C = operations_for(1e4, 2, "B200 (2024)")
    best = LAW.loss(*LAW.best_split(C))

    def split(N: float, D: float) -> str:
        assert six_n_d(N, D) == pytest.approx(C)
        assert tab.get_by_role("radio", name="mine").is_checked()
        more = f"{LAW.loss(N, D) - best:.2f}"
        return (
            f"Your split is {big(N)} weights trained on {big(D)} tokens. Its predicted loss is "
            f"{between(LAWS[OURS], N, D)}, which is {more} above the best."
        )

    slide(tab, "Weights", 1e11)
    assert split(1e11, C / 6e11) in told(tab)
    slide(tab, "Tokens", 1e14)
    assert split(C / 6e14, 1e14) in told(tab)
    tab.get_by_role("radio", name="the best", exact=True).check()
    assert "Your split" not in told(tab)
    tab.get_by_role("radio", name="mine", exact=True).check()
    assert "which is 0.00 above the best" in told(tab)
    slide(tab, "Weights", 1e9)
    slide(tab, "Money", 1e5)  # the reader's weights stay
    assert f"Your split is 1 billion weights trained on {big(10 * C / 6e9)} tokens." in told(tab)


def test_no_split_has_less_than_a_token(opened):
    tab = opened()
    slide(tab, "Money", 1e-8)
    slide(tab, "Weights", 1e14)
    assert "weights trained on 1 token." in told(tab)


def test_money_as_a_measured_training_cost_finds_it_in_the_picture(opened):
    tab = opened()
    assert "This budget is 2.7 billion times as much as the largest run" in told(tab)
    assert tab.locator("path.view-near").get_attribute("d") == ""
    for name, C in (("largest", 6e12), ("smallest", 1.2e10)):
        tab.get_by_role("button", name=f"as the {name} run measured").click()
        near = [p for p in POINTS[OURS] if 0.5 <= six_n_d(*p[:2]) / C <= 2]
        best = min(loss for *_, loss in near)
        assert (
            f"{len(near)} of 6 measured runs had about this budget; the best of them reached "
            f"a loss of {best:.2f}." in told(tab)
        )
        drawn = tab.locator("path.view-near").get_attribute("d")
        places = [float(x) for x in re.findall(r"M(\S+) ", drawn)]
        assert places == pytest.approx([100 * (np.log10(N) - 3) / 11 for N, *_ in near], abs=0.01)
        assert f"{powered(C)} operations" in told(tab)
    slide(tab, "Money", 1e-8)
    slide(tab, "A GPU’s hour", 10.0)
    assert "The smallest run that was measured used " in told(tab)
    tab.get_by_role("radio", name=THEIRS, exact=True).check()
    assert "measured" not in told(tab)
    assert tab.get_by_role("button", name="as the largest run measured").is_disabled()


def heights(tab, name: str) -> np.ndarray:
    """The points of a line of the picture, (n, 2), both from 0 to 100."""
    line = tab.locator(f"path.view-{name}").get_attribute("d")
    return np.array([float(x) for x in re.findall(r"-?[\d.]+", line)]).reshape(-1, 2)


def test_the_curve_has_equal_operations_and_its_lowest_point_is_marked(opened):
    tab = opened()
    C = operations_for(1e4, 2, "B200 (2024)")
    curve = heights(tab, "curve")
    N = 10 ** (3 + 0.11 * curve[:, 0])
    grid = tab.locator("path.view-grid").get_attribute("d")
    lines = [float(y) for y in re.findall(r"M0 (\S+?)H100", grid)]
    labels = [float(x) for x in tab.locator(".view-beside").all_inner_texts()]
    slope, offset = np.polyfit(lines, labels, 1)  # of a loss over its height
    seen = curve[:, 1] > -1000
    loss = LAW.loss(N, C / (6 * N))
    np.testing.assert_allclose((slope * curve[:, 1] + offset)[seen], loss[seen], atol=0.01)
    lowest = re.findall(r"[\d.]+", tab.locator("path.view-lowest").get_attribute("d"))
    at = 100 * (np.log10(LAW.best_split(C).N) - 3) / 11
    assert float(lowest[0]) == pytest.approx(at, abs=0.01)
    assert float(lowest[1]) >= curve[:, 1].max()  # heights grow downwards
    floor = float(re.search(r"M0 (\S+)H", tab.locator("path.view-floor").get_attribute("d"))[1])
    assert slope * floor + offset == pytest.approx(LAW.E)
    band = heights(tab, "band")
    below, above = band[: len(curve), 1], band[len(curve) :][::-1, 1]
    assert (below >= above).all() and (below > above).any()


def test_weights_are_chosen_in_the_picture_too(opened):
    tab = opened()
    box = tab.locator(".view-plane svg").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 5 / 11, box["y"] + 30)
    assert re.search(r"Your split is (98|99|100|110) million weights", told(tab))


def test_it_is_used_by_keyboard_alone(opened):
    tab = opened()
    slider = tab.get_by_role("slider", name="Money", exact=True)
    slider.focus()
    assert slider.get_attribute("aria-valuetext") == "£10,000"
    tab.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "£11,000"
    assert told(tab).startswith("With £11,000 for 30 days")
    tab.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "£1 billion"
    tab.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "£1.0·10⁻⁸"
    tab.get_by_role("slider", name="Weights", exact=True).focus()
    tab.keyboard.press("End")
    assert tab.get_by_role("radio", name="mine").is_checked()
    names = [one.get_attribute("aria-label") for one in tab.get_by_role("radiogroup").all()]
    assert names == ["Law", "GPU", "Split"]
    tab.get_by_role("radio", name="the best").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.get_by_role("radio", name="mine").is_checked()


# For everybody ------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    for press in (None, "as the largest run measured"):
        if press:
            tab.get_by_role("button", name=press).click()
            slide(tab, "Weights", 1e5)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    for button in tab.get_by_role("button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24


def test_without_a_script_it_says_what_it_is(chromium, shown):
    shown_view()
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.set_content(PAGE.format(theme="light", views=shown[0]["text/html"]))
    expect(tab.locator("main")).to_contain_text("which needs JavaScript")
    assert tab.locator(".view-still li").all_inner_texts() == [OURS, THEIRS]
    context.close()


def test_what_is_compared_holds_no_number_and_the_data_holds_all(shown):
    shown_view()
    (bundle,) = shown
    assert bundle["text/plain"] == (
        f"View: plan a training run. Laws: {OURS}; {THEIRS}. GPUs: {', '.join(GPUS)}"
    )
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    ours, theirs = json.loads(written)["laws"]
    assert ours["law"] == list(LAW) and len(ours["others"]) == len(draws)
    np.testing.assert_allclose(ours["others"], LAWS[OURS][1:], rtol=1e-8)
    np.testing.assert_allclose(ours["points"], POINTS[OURS], rtol=1e-8)
    assert theirs["others"] == theirs["points"] == []
    assert len(bundle["text/html"]) < 60_000


def test_a_training_reaches_the_same_share_as_in_python():
    here, there = (inspect.signature(one).parameters for one in (plan_a_training, days_of))
    assert here["utilisation"].default == there["utilisation"].default


@pytest.mark.parametrize("file", ["growth", "plan_a_training"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"laws": {}, "points": {}}, "at least one law and one GPU, got 0 and 4"),
        ({"gpus": {}}, "at least one law and one GPU, got 2 and 0"),
        ({"points": {"nobody": []}}, "there is no law 'nobody'"),
        ({"laws": {OURS: []}}, "'made up' has no law"),
        ({"laws": {OURS: [LAW[:4]]}}, r"The law 'made up' needs 5 finite numbers above 0, got"),
        ({"laws": {OURS: [LAW._replace(B=0.0)]}}, "The law 'made up' needs 5 .* above 0"),
        ({"laws": {OURS: [LAW, LAW._replace(B=-1.0)]}}, "The bootstrap of .* not below 0"),
        ({"laws": {OURS: [LAW, LAW._replace(E=nan)]}}, "The bootstrap of .* not below 0"),
        ({"points": {OURS: [(1e4, 1e5)]}}, "A training of 'made up' needs 3 finite numbers"),
        ({"points": {OURS: [(1e4, 1e5, inf)]}}, "A training of 'made up' needs 3 finite numbers"),
        ({"gpus": {"abacus": 0.0}}, "The GPU 'abacus' needs 1 finite number above 0"),
        ({"utilisation": 0.0}, "a share above 0, at most 1, got 0.0"),
        ({"utilisation": 1.1}, "a share above 0, at most 1, got 1.1"),
    ],
)
def test_what_does_not_fit_is_refused(shown, change, said):
    given = {"laws": LAWS, "points": POINTS, "gpus": GPUS} | change
    with pytest.raises(ValueError, match=said):
        plan_a_training(**given)
    assert not shown


def test_a_bootstrap_in_which_something_falls_nowhere_is_not_refused(shown):
    plan_a_training({OURS: [LAW, LAW._replace(A=0.0, alpha=0.0)]}, {}, gpus=GPUS)
    assert len(shown) == 1
