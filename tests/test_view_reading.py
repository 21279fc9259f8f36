"""The word that is read in the page: its network says and sends back what Python's does."""

import re

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from utils.data.text import Vocabulary
from utils.show import views

LETTERS = Vocabulary("adghikmnotuä")
NAMES = ["Finnish", "Spanish", "Turkish"]
D, N = 5, 24


def network(seed: int = 0) -> dict:
    """Weights of a reader that has not been trained, large enough to prefer an answer."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"letters": (len(LETTERS), D), "W_x": (N, D), "W_h": (N, N), "b": (N,)}
    shapes |= {"W_y": (len(NAMES), N), "b_y": (len(NAMES),)}
    weights = {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}
    weights["W_h"] *= 1.3 / N**0.5
    return weights


def read(net: dict, word: str, scale: float = 1.0, bent: bool = True) -> tuple:
    """Chances after the last letter, and each letter's gradient of the answer's score, relative."""
    h, states = torch.zeros(N, dtype=torch.float64), []
    net = {name: weight.double() for name, weight in net.items()}
    for id in LETTERS.encode(word):
        h = net["W_x"] @ net["letters"][id] + scale * net["W_h"] @ h + net["b"]
        states.append(h := (h.tanh() if bent else h).requires_grad_())
    scores = net["W_y"] @ h + net["b_y"]
    sizes = [g.norm().item() for g in torch.autograd.grad(scores.max(), states)]
    return scores.softmax(0).tolist(), [size / sizes[-1] for size in sizes]


def show(net: dict, **changed) -> None:
    how = {"letters": LETTERS.symbols, "answers": NAMES, "word": "huhtikuu"}
    views.reading(net, **how | changed)


def test_the_text_is_the_same_whatever_was_learned(shown):
    show(network(0))
    show(network(1))
    show(network(0), word="mai")
    texts = [bundle["text/plain"] for bundle in shown]
    assert texts[0] == texts[1] != texts[2]
    assert texts[0].startswith("View: ") and "huhtikuu" in texts[0]
    assert shown[0]["text/html"] != shown[1]["text/html"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"W_h": torch.zeros(N, D)}, r"'W_h' .*\(24, 24\)"),
        ({"b_y": torch.full((3,), torch.inf)}, "'b_y' .*finite"),
        ({"W_y": torch.zeros(4, N), "b_y": torch.zeros(4)}, " 4 answers .* 3 answers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        show(network() | change)
    assert not shown


@pytest.mark.parametrize("word", ["", "x", "mai" * 7])
def test_a_first_word_that_cannot_be_read_is_refused(shown, word):
    with pytest.raises(ValueError, match=f" 20 .*{word!r}"):
        show(network(), word=word)


@pytest.fixture
def opened(alone):
    def open_in(theme: str, **changed):
        show(network(), **changed)
        return alone(theme)

    return open_in


def bars(tab, chosen: str) -> list[tuple[str, str]]:
    rows = tab.locator(f"{chosen} li").all()
    return [tuple(part.inner_text() for part in row.locator("span").all()) for row in rows]


@pytest.mark.parametrize("word", ["huhtikuu", "domingo", "ÄITI", "t", "mxxmai"])
def test_the_page_reads_as_python_does(opened, word):
    tab = opened("light")
    tab.get_by_label("Your word").fill(word)
    chances, _ = read(network(), word.lower())
    best = max(range(3), key=chances.__getitem__)
    said = tab.locator(".view-seen").inner_text()
    assert said == f"“{word.lower()}” is {NAMES[best]}, says the network."
    for name, share in bars(tab, ".view-bars:not(.view-back)"):
        assert abs(int(share.rstrip("%")) - 100 * chances[NAMES.index(name)]) < 1
    strange = "x" in word
    assert ("It has never seen “x”." in tab.locator(".view-answer").inner_text()) == strange


@pytest.mark.parametrize(("scale", "bent"), [(1.0, True), (0.3, True), (2.4, True), (1.5, False)])
def test_the_page_sends_back_what_python_does(opened, scale, bent):
    tab = opened("light")
    tab.get_by_label("Multiply W_h by").fill(str(scale))
    if not bent:
        tab.get_by_label("nothing").check(force=True)
    _, expected = read(network(), "huhtikuu", scale, bent)
    found = bars(tab, ".view-back")
    assert [letter for letter, _ in found] == list("huhtikuu")
    for (_, size), right in zip(found, expected, strict=True):
        assert float(size) == pytest.approx(right, rel=0.06 if right >= 0.01 else 0.55)
    first = expected[0]
    what = "vanishes" if first < 0.01 else "explodes" if first > 100 else "survives"
    assert what in tab.locator(".view-said").inner_text()


def test_a_step_shows_the_state_after_its_letter(opened):
    tab = opened("light")
    assert tab.locator(".view-state span").count() == N
    tab.get_by_label("3 h").check(force=True)
    chances, _ = read(network(), "huh")
    best = NAMES[max(range(3), key=chances.__getitem__)]
    assert tab.locator(".view-seen").inner_text() == f"“huh…” is {best}, says the network."
    near = re.search(r"(\d+) of them near", tab.locator(".view-state").get_attribute("aria-label"))
    assert 0 <= int(near[1]) <= N
    tab.get_by_label("Your word").fill("")
    assert "Type a word." in tab.locator(".view-seen").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    tab.get_by_label("Multiply W_h by").focus()
    before = tab.locator(".view-said").inner_text()
    for _ in range(8):
        tab.keyboard.press("ArrowLeft")
    assert tab.locator(".view-said").inner_text() != before
