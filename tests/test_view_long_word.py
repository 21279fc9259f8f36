"""Day 15's view: three readers tell the parity of a word of up to a thousand bits in the page."""

import json
import re
from functools import partial

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE, processor_seconds, taken_since
from live import computed, stored_at_random
from playwright.sync_api import expect
from torch import nn

from utils import ROOT
from utils.computation import parity_rnn
from utils.data.formal import LANGUAGES
from utils.show.views import frame, long_word, models
from utils.show.views.long_word import MOST, READERS, check
from utils.tasks.formal_languages import LONGEST
from utils.tasks.long_word import facts_for_page, readers, restored_readers

NAME = "parity"
WORD = "0110100110010110100101100"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Stored readers, and the same in int8, with weights at which the RNN forgets."""
    folder = tmp_path_factory.mktemp("models")
    with stored_at_random(folder, readers(), 0.15, NAME, **facts_for_page()) as both:
        yield both


def word_of(T: int, seed: int = 0) -> str:
    return "".join(map(str, np.random.default_rng(seed).integers(2, size=T)))


@torch.no_grad()
def expected(own: nn.ModuleDict, word: str) -> torch.Tensor:
    """The logits of both networks, (2, T, 2)."""
    ids = torch.tensor([[int(bit) for bit in word]])
    return torch.cat([own[name](ids) for name in READERS[1:]])


def truth_of(word: str) -> torch.Tensor:
    parity = LANGUAGES["parity"]
    return parity.truth(parity.encode(word))[0]


# What the page computes ---------------------------------------------------------------------------

answered = partial(computed, model=NAME, name="bitReaders", parts=["runtime", "bit_readers"])


@pytest.mark.parametrize("T", [1, 2, 21, 1000])
def test_the_page_has_the_logits_of_pytorch(chromium, here, made, T):
    word = word_of(T)
    (found,) = answered(chromium, bits=[int(bit) for bit in word])
    wanted = expected(made[1], word)
    torch.testing.assert_close(torch.tensor(found["logits"]), wanted, atol=1e-4, rtol=1e-4)
    if T > 2:
        assert (wanted.std(dim=1) > 0.02).all()  # else this would compare constants


# In the browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(here, phone, shown):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light", word: str = WORD):
        long_word(NAME, word=word)
        weights = "".join(bundle.get("text/html", "") for bundle in here)
        phone.set_content(PAGE.format(theme=theme, views=weights + shown[-1]["text/html"]))
        phone.evaluate(AS_IN_JUPYTERLAB)
        settled(phone)
        return phone

    return open_in


def settled(tab) -> None:
    """Wait until what was asked last has been told."""
    expect(tab.locator(".view-answer")).to_have_attribute("aria-busy", "false")


def told(tab) -> str:
    settled(tab)
    return " ".join(tab.locator(".view-answer").inner_text().split())


def field(tab):
    return tab.get_by_role("textbox")


def bits(tab):
    return tab.get_by_role("slider", name="Your word")


def typed(tab, text: str) -> None:
    field(tab).fill(text)
    settled(tab)


def strips(tab) -> list[str]:
    """The window's bits, and each reader's answers to them."""
    return tab.locator(".view-cells").evaluate_all("all => all.map((one) => one.textContent)")


def wrong(tab) -> list[list[int]]:
    """Where each reader is marked as wrong in the window."""
    rows = tab.locator(".view-cells").evaluate_all(
        "all => all.map((one) => [...one.children].map((b) => b.hasAttribute('data-wrong')))"
    )
    return [np.flatnonzero(row).tolist() for row in rows[1:]]


def marked(tab, name: str) -> list[set[int]]:
    """The places of each reader's picture that have that mark, in rows of 50."""
    lines = [
        picture.locator(f"path.view-{name}").get_attribute("d")
        for picture in tab.locator(".view-pictures svg").all()
    ]
    found = [re.findall(r"M(\d+) ([\d.]+)h1", line) for line in lines]
    return [{int(x) + 50 * int(float(y)) for x, y in places} for places in found]


def machine(word: str, *weights: float) -> torch.Tensor:
    """What the machine of three weights answers, (T,)."""
    ids = torch.tensor([[int(bit) for bit in word]])
    return parity_rnn(*weights)(ids)[0].argmax(-1)


@pytest.mark.parametrize("T", [7, 20, 33, 1000])
def test_answers_and_what_is_wrong_are_those_of_python(opened, made, T):
    tab = opened()
    word = word_of(T, seed=T)
    typed(tab, word)
    truth = truth_of(word)
    answers = torch.cat([machine(word)[None], expected(made[1], word).argmax(-1)])
    window, *rows = strips(tab)
    assert window == word[:20]
    assert rows == ["".join(map(str, row[:20].tolist())) for row in answers]
    off = answers != truth
    assert wrong(tab) == [torch.nonzero(row[:20]).flatten().tolist() for row in off]
    assert not off[0].any() and off[1:].any()
    assert marked(tab, "wrong") == [{*torch.nonzero(row).flatten().tolist()} for row in off]
    assert marked(tab, "right") == [{*torch.nonzero(~row).flatten().tolist()} for row in off]
    n = min(T, LONGEST)
    first, rest = (~off)[1:, :n].sum(1).tolist(), (~off)[1:, n:].sum(1).tolist()
    ones = word.count("1")
    sentences = (
        f"{T:,} bits, of which {ones} {'is one' if ones == 1 else 'are ones'}. The machine of "
        f"three weights answers all of them correctly. On the first {n} bits, the RNN answers "
        f"{first[0]} correctly and the Transformer answers {first[1]} correctly."
    )
    if T > n:
        sentences += (
            f" On the other {T - n}, further than any word in training, the RNN answers "
            f"{rest[0]} correctly and the Transformer answers {rest[1]} correctly."
        )
    assert told(tab) == sentences
    shares = [f"first {n}: {100 * k / n:.0f}%" for k in (n, *first)]
    if T > n:
        shares = [
            f"{share}, the rest: {100 * k / (T - n):.0f}%"
            for share, k in zip(shares, (T - n, *rest), strict=True)
        ]
    assert tab.locator(".view-pictures span").all_inner_texts() == shares


def test_a_thousand_bits_are_answered_in_seconds(opened):
    tab = opened()
    before = processor_seconds()
    tab.locator("textarea").fill(word_of(MOST))
    expect(tab.locator(".view-answer")).to_contain_text("1,000 bits")
    expect(tab.locator(".view-answer")).to_have_attribute("aria-busy", "false")
    taken = taken_since(before)
    assert 0 < taken < 5, taken


def test_a_bit_is_flipped_by_click_and_a_click_elsewhere_chooses_it(opened):
    tab = opened()
    cells = tab.locator(".view-cells")
    cells.nth(0).locator("b").nth(4).click()
    settled(tab)
    flipped = WORD[:4] + "01"[WORD[4] == "0"] + WORD[5:]
    assert field(tab).input_value() == flipped and strips(tab)[0] == flipped[:20]
    assert "bit 5 of 25" in bits(tab).get_attribute("aria-valuetext")
    cells.nth(2).locator("b").nth(9).click()
    assert field(tab).input_value() == flipped
    assert "bit 10 of 25" in bits(tab).get_attribute("aria-valuetext")


def test_the_window_is_turned_to_the_rest_of_the_word(opened):
    tab = opened()
    after, before = (tab.get_by_role("button", name=name) for name in ("Next 20", "20 before"))
    assert [one.get_attribute("aria-disabled") for one in (before, after)] == ["true", "false"]
    after.click()
    assert [one.get_attribute("aria-disabled") for one in (before, after)] == ["false", "true"]
    assert strips(tab)[0] == WORD[20:]
    assert marked(tab, "window") == [set(range(20, 25))] * 3
    expect(tab.get_by_text("a wrong answer is marked")).to_contain_text("Bits 21 to 25 of 25;")
    before.click()
    assert strips(tab)[0] == WORD[:20]
    typed(tab, word_of(1000))
    box = tab.locator(".view-pictures svg").nth(1).bounding_box()
    tab.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.525 * box["height"])
    assert bits(tab).get_attribute("aria-valuenow") == "526"
    assert marked(tab, "window")[0] == set(range(520, 540))


def test_three_weights_fail_as_soon_as_one_is_moved(opened):
    tab = opened(word=(word := word_of(60)))
    outputs = tab.locator(".view-slider output")
    expect(outputs).to_have_text(["−1.00", "1.00", "0.00"])
    for slider, value, weights in (
        ("W_x", -0.4, (-0.4, 1.0, 0.0)),
        ("W_h", 1.4, (-0.4, 1.4, 0.0)),
        ("b", 0.3, (-0.4, 1.4, 0.3)),
    ):
        moved = tab.get_by_role("slider", name=slider, exact=True)
        moved.fill(str(value))
        shown = f"{value:.2f}".replace("-", "−")
        expect(tab.locator("label", has=moved).locator("output")).to_have_text(shown)
        answers, truth = machine(word, *weights), truth_of(word)
        assert strips(tab)[1] == "".join(map(str, answers[:20].tolist()))
        n = int((answers == truth).sum())
        assert f"three weights answers {n} of 60 correctly" in told(tab) and n < 60
    state = abs(abs(-0.4 * int(word[0]) + 0.3) * 1.4 + -0.4 * int(word[1]) + 0.3)
    bits(tab).focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".view-formula")).to_contain_text(f"= {state:.2f}. That is ")
    tab.get_by_role("button", name="Set to parity").click()
    expect(outputs).to_have_text(["−1.00", "1.00", "0.00"])
    assert "three weights answers all of them correctly" in told(tab)


@pytest.mark.parametrize("weights", [(0.1, 1.9, -1.0), (-0.1, 1.8, -0.8), (-1.0, 1.0, 0.1)])
def test_the_machine_computes_in_32_bits_as_pytorch_does(opened, weights):
    """States that a last bit changes within some dozen steps."""
    tab = opened(word=(word := word_of(1000)))
    for name, value in zip(("W_x", "W_h", "b"), weights, strict=True):
        tab.get_by_role("slider", name=name, exact=True).fill(str(value))
    off = machine(word, *weights) != truth_of(word)
    assert marked(tab, "wrong")[0] == {*torch.nonzero(off).flatten().tolist()}


def test_a_machine_whose_state_overflows_has_no_answer(opened):
    """Doubled at each step, 1 is more than 32 bits can hold at the 129th."""
    tab = opened(word="0" * 1000)
    for name, value in zip(("W_x", "W_h", "b"), (0, 2, 1), strict=True):
        tab.get_by_role("slider", name=name, exact=True).fill(str(value))
    assert {*range(128, 1000)} <= marked(tab, "wrong")[0]
    assert "three weights answers 0 of 1,000 correctly" in told(tab)
    bits(tab).focus()
    tab.keyboard.press("End")
    assert strips(tab)[1] == "∞" * 20
    expect(tab.locator(".view-formula")).to_contain_text("the machine has no answer")


def test_words_are_drawn_at_random(opened):
    tab = opened()
    for name, T in (("20 at random", 20), ("100 at random", 100), ("1,000 at random", 1000)):
        tab.get_by_role("button", name=name, exact=True).click()
        word = field(tab).input_value()
        assert re.fullmatch(f"[01]{{{T}}}", word) and len(set(word)) == 2
        assert told(tab).startswith(f"{T:,} bits, of which {word.count('1')} are ones.")
    tab.get_by_role("button", name="1,000 ones").click()
    assert field(tab).input_value() == "1" * 1000


def test_what_is_no_bit_is_left_out_and_it_says_so(opened):
    tab = opened()
    said = "A word has only 0 and 1: other letters are left out."
    typed(tab, "01 1\n0")
    assert strips(tab)[0] == "0110" and tab.get_by_text(said).count() == 0
    typed(tab, "0a1<b>1")
    assert strips(tab)[0] == "011" and tab.get_by_text(said).count() == 1
    typed(tab, "")
    assert told(tab) == "Type a word of 0 and 1, or take one." and strips(tab) == [""] * 4
    assert tab.get_by_text(said).count() == 0
    for key in ("ArrowRight", "Space", "1"):  # nothing to choose, nothing breaks
        bits(tab).press(key)
    tab.locator(".view-pictures svg").first.click()
    typed(tab, "1" * 1200)
    assert told(tab).startswith("1,000 bits") and "A word has at most 1,000 bits" in (
        tab.locator("form").inner_text()
    )


def test_what_was_asked_last_is_what_is_told(opened, made):
    tab = opened()
    word = word_of(40, seed=3)
    tab.evaluate(
        """(word) => {
            const field = document.querySelector("textarea");
            for (const text of ["1".repeat(1000), "0", "", word, "1".repeat(900), word]) {
                field.value = text;
                field.dispatchEvent(new Event("input"));
            }
        }""",
        word,
    )
    answers = expected(made[1], word).argmax(-1)
    assert told(tab).startswith("40 bits")
    assert strips(tab)[2:] == ["".join(map(str, row[:20].tolist())) for row in answers]


def test_it_is_used_by_keyboard_alone(opened):
    tab = opened()
    pad = bits(tab)
    pad.focus()
    assert pad.get_attribute("data-lm-suppress-shortcuts") == "true"  # else JupyterLab moves on
    for key, at in (("ArrowRight", 2), ("ArrowLeft", 1), ("End", 25), ("PageUp", 5), ("Home", 1)):
        tab.keyboard.press(key)
        assert pad.get_attribute("aria-valuenow") == f"{at}"
    word = WORD
    for key, flipped in (("Space", "1"), ("Enter", "0"), ("1", "1"), ("1", "1"), ("0", "0")):
        tab.keyboard.press(key)
        word = flipped + WORD[1:]
        assert field(tab).input_value() == word
    settled(tab)
    text = pad.get_attribute("aria-valuetext")
    assert text.startswith("bit 1 of 25: 0; odd so far: 0, three weights 0, RNN ")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "‹ 20 before"


# For everybody ------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    for word in (WORD, word_of(1000), ""):
        typed(tab, word)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    typed(tab, word_of(1000))
    for button in tab.get_by_role("button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    long_word(NAME, word=WORD)
    (bundle,) = shown
    assert bundle["text/plain"] == f"View: three readers tell the parity of a word. {WORD}"
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 60_000
    assert f"It begins with: {WORD}</p>" in bundle["text/html"]
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    assert json.loads(written)["longest"] == LONGEST
    handed, emptied = here
    assert '"bytes"' in handed["text/html"] and emptied == {}


@pytest.mark.parametrize("file", ["bit_readers", "long_word"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", "012", "1" * 1001, "0 1", "٠", "1\n"])
def test_what_is_no_word_is_refused(here, shown, word):
    with pytest.raises(ValueError, match=" 1 to 1,000 bits"):
        long_word(NAME, word=word)
    assert not shown and not here


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"RNN.output.bias": (np.zeros(1, np.float32),)}, "RNN.output.bias"),
        ({"Transformer.output.bias": (np.zeros(3, np.float32),)}, "Transformer.output.bias"),
        ({"Transformer.encoder.norm.weight": (np.zeros(3, np.float32),)}, "encoder.norm.weight"),
        ({"more": (np.zeros(3, np.float32),)}, "more"),
        ({"heads": 5}, "heads or longest"),
        ({"heads": 0}, "heads or longest"),
        ({"longest": 0}, "heads or longest"),
        ({"longest": MOST}, "heads or longest"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load(NAME)
    told = header.keys() & change.keys()
    other = models.Stored(
        header | change if told else header, weights if told else weights | change
    )
    with pytest.raises(ValueError, match=f"of `experiments/parity_page.py`.*{said}"):
        check(other)


def test_the_file_of_the_models_is_small(made):
    assert (made[0] / f"{NAME}.js").stat().st_size < 60_000


def test_the_books_own_readers_learned_parity_and_only_one_of_them_goes_on(monkeypatch):
    monkeypatch.setattr(models, "FOLDER", ROOT / "_static" / "models")
    held = models.load(NAME)
    check(held)
    found = expected(restored_readers(held.weights), word := word_of(MOST)).argmax(-1)
    right = found == truth_of(word)
    assert right[0].all()
    assert right[1, :10].all() and right[1, LONGEST:].double().mean() < 0.6
