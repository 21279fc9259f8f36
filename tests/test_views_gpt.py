"""Day 9's view: the next token's chances under three filters."""

import json
import math
import re
from functools import partial
from itertools import permutations

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB

from utils.show import views
from utils.training.sampling import temperature, top_k, top_p

TOKENS = [*"abcdefghijklmnopqrstuvw", " ", "\n", *(f"w{n}" for n in range(30)), "é<b>"]
V = len(TOKENS)
STARTS = [(0, 23, 1), (2, 4), (19, 7, 4)]


def tree(seed: int = 0) -> dict[tuple[int, ...], list[float]]:
    """Logits of each start, and of what follows its three likeliest tokens; in thousandths."""
    draw = torch.Generator().manual_seed(seed)
    found = {}
    for start in STARTS:
        found[start] = drawn(draw)
        for token in sorted(range(V), key=found[start].__getitem__)[-3:]:
            found[*start, token] = drawn(draw)
    return found


def drawn(draw: torch.Generator) -> list[float]:
    return ((2500 * torch.randn(V, generator=draw)).round().double() / 1000).tolist()


def show_next(**changed) -> dict:
    given = {"tokens": TOKENS, "logits": tree(), "starts": STARTS} | changed
    views.next_token(**given)
    return given


def data_of(bundle: dict) -> str:
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    return written


def test_the_text_is_the_same_whatever_was_learned(shown):
    for seed in (0, 1):
        show_next(logits=tree(seed))
    one, other = shown
    assert one["text/plain"] == other["text/plain"]
    assert one["text/html"] != other["text/html"]
    assert shown[0]["text/plain"].splitlines() == ["View: the next token.", "a b", "ce", "the"]


def test_the_still_page_says_what_is_likeliest(shown):
    show_next(tokens=["x", "yes"], logits={(0,): [0.0, math.log(3)]}, starts=[(0,)])
    assert "x: “yes”, 75%." in shown[0]["text/html"]


def test_the_largest_tree_weighs_at_most_150_kilobytes(shown):
    draw = torch.Generator().manual_seed(0)
    tokens = [chr(0x61 + n % 26) * (1 + n // 26) for n in range(100)]
    rows = {(n,): (-30 * torch.rand(100, generator=draw)).tolist() for n in range(100)}
    rows |= {(n, m): rows[m,] for n in range(100) for m in range(2)}
    rows = dict(list(rows.items())[:250])
    views.next_token(tokens, rows, [(n,) for n in range(100)])
    assert 100_000 < len(data_of(shown[0]).encode()) < 150_000
    with pytest.raises(ValueError, match="251 .* 100 .* 25000 "):
        views.next_token(tokens, rows | {(0, 2): rows[2,]}, [(n,) for n in range(100)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"starts": []}, "one start"),
        ({"tokens": ["a"], "logits": {(0,): [1.0]}, "starts": [(0,)]}, "one start"),
        ({"starts": [(0,)]}, "start 'a'"),
        ({"logits": tree() | {(2, 4): [0.0] * (V - 1)}}, f"'ce' .* {V} finite"),
        ({"logits": tree() | {(2, 4): [-math.inf] * V}}, f"'ce' .* {V} finite"),
        ({"logits": tree() | {(9, 9): [0.0] * V}}, "'jj' .*no start"),
        ({"logits": tree() | {(2, V): [0.0] * V}}, rf" {V - 1}, .*\(2, {V}\)"),
        ({"logits": tree() | {(): [0.0] * V}}, rf" {V - 1}, .*\(\)"),
    ],
)
def test_a_tree_that_does_not_fit_is_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        show_next(**change)
    assert not shown


# In the browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(alone):
    def open_in(theme: str, **changed):
        made = show_next(**changed)
        return alone(theme), made

    return open_in


def choose(tab, label: str, place: int) -> None:
    tab.get_by_label(label, exact=True).locator("input").nth(place).check(force=True)


def set_to(tab, tau: float, k: int, p: float) -> None:
    for name, value in (("temperature", tau), ("top-k", min(k, 40)), ("top-p", p)):
        tab.get_by_label(name).fill(f"{value:g}")


def left_by_python(logits: list[float], tau: float, k: int, p: float) -> torch.Tensor:
    row = temperature(torch.tensor(logits, dtype=torch.float64), tau)
    return top_p(top_k(row, k), p).softmax(-1)


def spelt(token: str) -> str:
    return token.replace(" ", "␣").replace("\n", "↵")


SETTINGS = [
    (1.0, V, 1.0),
    (0.5, V, 1.0),
    (2.0, 7, 1.0),
    (1.0, 5, 0.6),
    (0.7, 30, 0.9),
    (1.6, V, 0.5),
    (0.1, V, 0.95),
    (2.0, 39, 0.05),
    (1.0, 1, 1.0),
]


def percents(told: str) -> float:
    return 0.0005 if "<" in told else float(re.search(r"([\d.]+) ?%", told)[1]) / 100


def test_the_page_filters_as_python_does(opened):
    tab, given = opened("light")
    for place, start in enumerate(STARTS):
        choose(tab, "Beginning", place)
        logits = given["logits"][start]
        for tau, k, p in SETTINGS:
            set_to(tab, tau, k, p)
            expected = left_by_python(logits, tau, k, p)
            before = left_by_python(logits, tau, V, 1.0)
            order = sorted(range(V), key=lambda token: (-logits[token], token))
            rows = [row.inner_text().split("\n") for row in tab.locator(".view-next li").all()]
            assert [name for name, _ in rows] == [spelt(TOKENS[token]) for token in order[:12]]
            for token, (_, told) in zip(order, rows, strict=False):
                assert ("cut" in told) == (expected[token] == 0)
                share = (before if "cut" in told else expected)[token].item()
                assert percents(told) == pytest.approx(
                    share, abs=0.0051 if share > 0.0995 else 6e-4
                )
            n = int((expected > 0).sum())
            told = tab.locator(".view-answer").inner_text()
            cut = (V - min(k, V), min(k, V) - n)
            assert f"{n} of {V} tokens" in told if n < V else f"All {V} tokens are left" in told
            assert n == V or f"Top-k cut {cut[0]}, top-p {cut[1]} more." in told


def test_the_filters_come_in_the_one_order_that_python_has(opened):
    """Temperature first or second, and top-p last: in the other four orders fewer are left."""
    row = [3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0, -0.5]
    given = {"tokens": list("abcdefgh"), "logits": {(0,): row}, "starts": [(0,)]}
    tab, _ = opened("light", **given)
    tau, k, p = 2.0, 5, 0.75
    filters = (partial(temperature, tau=tau), partial(top_k, k=k), partial(top_p, p=p))
    left = []
    for order in permutations(filters):
        logits = torch.tensor(row, dtype=torch.float64)
        for each in order:
            logits = each(logits)
        left.append(int(logits.isfinite().sum()))
    right, *others = left
    assert sum(other != right for other in others) == 4
    set_to(tab, tau, k, p)
    assert tab.locator(".view-next li:not([data-cut])").count() == right


def test_equal_tokens_are_kept_in_the_order_of_their_numbers(opened):
    row = [0.0, 1.0, 1.0, 1.0]
    given = {"tokens": list("abcd"), "logits": {(0,): row}, "starts": [(0,)]}
    tab, _ = opened("light", **given)
    set_to(tab, 1.0, 2, 1.0)
    rows = tab.locator(".view-next li").all_inner_texts()
    assert [row[0] for row in rows] == ["b", "c", "d", "a"]
    assert ["cut by top-k" in row for row in rows] == [False, False, True, True]


def test_a_token_is_taken_by_keyboard_and_given_back(opened):
    tab, given = opened("light")
    tab.evaluate(AS_IN_JUPYTERLAB)
    row = given["logits"][STARTS[0]]
    best = max(range(V), key=row.__getitem__)
    text, live = tab.locator(".view-next-text"), tab.locator(".view-answer")
    assert text.inner_text() == "a b"
    assert tab.locator(".view-next button").count() == 3  # those that the tree goes on from
    first = live.inner_text()
    tab.get_by_role("button", name=f"write {spelt(TOKENS[best])}", exact=True).focus()
    tab.keyboard.press("Enter")
    assert text.inner_text() == "a b" + TOKENS[best]
    following = given["logits"][(*STARTS[0], best)]
    then = max(range(V), key=following.__getitem__)
    assert f"“{spelt(TOKENS[then])}”" in live.inner_text() != first
    assert tab.locator(".view-next button").count() == 0
    assert tab.get_by_text("next step is not stored").count() == 1
    assert tab.evaluate("document.activeElement.textContent") == "← Back one"
    tab.keyboard.press("Enter")
    assert (text.inner_text(), live.inner_text()) == ("a b", first)
    tab.get_by_label("temperature").focus()
    tab.keyboard.press("ArrowLeft")
    assert live.inner_text() != first
    assert tab.locator("output").first.inner_text() == "0.9"


def test_a_new_beginning_begins_without_what_was_taken(opened):
    tab, _ = opened("light")
    tab.locator(".view-next button").first.click()
    choose(tab, "Beginning", 1)
    assert tab.locator(".view-next-text").inner_text() == "ce"
    assert tab.get_by_role("button", name="Back one").get_attribute("aria-disabled") == "true"


def test_bars_are_as_long_as_what_is_left_is_likely(opened):
    row = [math.log(share) for share in (0.5, 0.25, 0.15, 0.1)]
    given = {"tokens": list("abcd"), "logits": {(0,): row}, "starts": [(0,)]}
    tab, _ = opened("light", **given)
    set_to(tab, 1.0, 2, 1.0)
    weights = "(rows) => rows.map((row) => row.style.getPropertyValue('--weight'))"
    assert tab.locator(".view-next li").evaluate_all(weights) == ["67%", "33%", "15%", "10%"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab, _ = opened(theme)
    for _ in range(2):
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
        set_to(tab, 1.0, 3, 1.0)  # once more, with bars that are cut
        assert tab.locator("li[data-cut]").count() == 9


def test_the_data_is_plain(shown):
    show_next()
    told = json.loads(data_of(shown[0]))
    assert told["tokens"] == TOKENS and len(told["rows"]) == 12
    assert all(min(row) == 0 for row in told["rows"].values())
