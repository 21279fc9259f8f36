"""Day 9's writer: the page computes the book's model in int8, and it is for everybody."""

import json
import re

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE, as_built
from live import stored_at_random
from playwright.sync_api import expect

from utils.show.views import frame, models
from utils.show.views.writer import check, writer
from utils.show.views.writes import LONGEST
from utils.tasks import shakespeare
from utils.training.sampling import temperature, top_p

CHARACTERS = "\n !',-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
V = 4 + len(CHARACTERS)
BEGINNING = "ROMEO:\nBut soft"
CONTEXT = 16


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stored model, and the same model in int8; its context is short."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shakespeare, "CONTEXT", CONTEXT)
        model = shakespeare.writer(V, 0, d_model=24, d_ff=20, n_layers=2)
        with stored_at_random(folder, model, 0.4, heads=4, characters=CHARACTERS) as both:
            yield both


@pytest.fixture
def opened(here, live):
    """Open the writer, which reads its beginning."""

    def open_in(theme: str = "light", beginning: str = BEGINNING):
        writer("tiny", beginning=beginning)
        tab = live(theme)
        expect(answer(tab)).to_contain_text("Most likely next")
        return tab

    return open_in


def answer(tab):
    return tab.locator(".view-answer")


def text_of(tab) -> str:
    return tab.locator(".view-written").evaluate("box => box.textContent")


def begun(tab, text: str) -> None:
    """Wait until a text stands there, and perhaps more."""
    how = "(text) => document.querySelector('.view-written').textContent.startsWith(text)"
    tab.wait_for_function(how, arg=text)


# The same numbers ------------------------------------------------------------------------------

RUN = """async ([given, held, parts]) => {
    const make = new Function(`${parts} return letters(runtime(), arguments[0]);`);
    const found = [...make(held)(given)];
    const plain = (looks) => looks.map((block) => block.map((look) => [...look]));
    return found.map((piece) => ({ ...piece, looks: plain(piece.looks) }));
}"""


def computed(chromium, folder, **given) -> list[dict]:
    """What the page's model yields for a text."""
    script = (folder / "tiny.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    parts = "\n".join((frame.HERE / f"{n}.js").read_text("utf-8") for n in ("runtime", "writer"))
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [given, held, parts])
    tab.close()
    return found


@torch.no_grad()
def expected(model, text: str) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Logits of the next letter, its attention (L, h, T), and where reading began."""
    half, n = CONTEXT // 2, len(text)
    begin = 0 if n <= CONTEXT else -(-(n - CONTEXT) // half) * half
    ids = torch.tensor([[4 + CHARACTERS.index(letter) for letter in text[begin:]]])
    logits, _, looks = super(shakespeare.NextLetter, model).forward(ids, need_weights=True)
    return logits[0, -1, 4:], looks[0, :, :, -1], begin


@pytest.mark.parametrize("tau, p", [(1.0, 1.0), (0.7, 0.8)])
def test_the_page_computes_the_books_model_in_int8(chromium, made, tau, p):
    text = "The king, my lord, is dead"
    for n in (1, 2, 3, CONTEXT, CONTEXT + 1, len(text)):
        given = {"text": text[:n], "length": 0, "temperature": tau, "p": p}
        (piece,) = computed(chromium, made[0], **given)
        logits, looks, begin = expected(made[1], text[:n])
        wanted = temperature(logits, tau).softmax(0)
        shares = {letter: share for letter, share, _ in piece["next"]}
        found = torch.tensor([shares[letter] for letter in CHARACTERS])
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)
        seen = torch.tensor(piece["looks"], dtype=torch.float32)
        torch.testing.assert_close(seen, looks, atol=1e-4, rtol=0)
        kept = {letter for letter, _, is_kept in piece["next"] if is_kept}
        left = top_p(temperature(logits, tau), p).isfinite()
        assert kept == {letter for letter, stays in zip(CHARACTERS, left, strict=True) if stays}
        assert piece["from"] == begin
        assert [share for _, share, _ in piece["next"]] == sorted(shares.values(), reverse=True)


def test_it_writes_what_the_model_writes_beyond_its_context(chromium, made):
    found = computed(chromium, made[0], text="To be", length=60, temperature=0, p=1)
    text = "To be"
    for piece in found[1:]:
        logits, _, _ = expected(made[1], text)
        assert piece["letter"] == CHARACTERS[logits.argmax()]
        text += piece["letter"]
    assert len(text) == 65 and found[0]["letter"] is None
    assert {piece["from"] for piece in found} == set(range(0, 57, CONTEXT // 2))


def test_a_letter_is_drawn_from_what_top_p_leaves(chromium, made):
    found = computed(chromium, made[0], text="O", length=40, temperature=1.2, p=0.5)
    for before, after in zip(found[:-1], found[1:], strict=True):
        assert after["letter"] in [letter for letter, _, kept in before["next"] if kept]
    assert len({piece["letter"] for piece in found[1:]}) > 3


# On the page ------------------------------------------------------------------------------------


def test_it_goes_on_when_one_types_and_stops_when_it_is_told(opened, made, monkeypatch):
    monkeypatch.setattr("utils.show.views.writes.LONGEST", 4000)
    tab = opened()
    logits, _, _ = expected(made[1], BEGINNING)
    best = CHARACTERS[(logits / 0.8).softmax(0).argmax()]
    shown = {" ": "␣", "\n": "↵"}.get(best, best)
    assert f"Most likely next: “{shown}”" in answer(tab).inner_text()
    assert text_of(tab) == BEGINNING
    field = tab.get_by_label("Begin a text")
    field.fill("My lord, ")
    stop = tab.get_by_role("button", name="Stop")
    stop.wait_for()
    tab.wait_for_function("document.querySelector('.view-written').textContent.length > 30")
    stop.press("Enter")
    expect(answer(tab)).to_contain_text("It has written")
    written = text_of(tab)
    assert written.startswith("My lord, ") and len(written) < 4000
    forgotten = tab.locator(".view-forgotten").evaluate("part => part.textContent")
    assert expected(made[1], written)[2] == len(forgotten) > 0
    tab.wait_for_timeout(300)
    assert text_of(tab) == written
    tab.get_by_role("button", name="Back to the beginning").click()
    tab.wait_for_function("document.querySelector('.view-written').textContent === 'My lord, '")


def test_typing_on_ends_a_run(opened):
    tab = opened()
    field = tab.get_by_label("Begin a text")
    field.fill("One")
    begun(tab, "One")
    field.fill("Two")
    begun(tab, "Two")
    assert "One" not in text_of(tab)


def test_empty_long_and_foreign_beginnings(opened, made):
    tab = opened(beginning="")
    assert text_of(tab) == "\n" and "beginning of a line" in tab.locator("form").inner_text()
    field = tab.get_by_label("Begin a text")
    long = "A long beginning. " * 30
    field.fill(long)
    begun(tab, long[:LONGEST])
    field.fill("Zoë said ’yes’")
    begun(tab, "Zo  said 'yes'")
    assert "never seen “ë” and reads a space there" in tab.locator("form").inner_text()


def test_a_head_is_chosen_and_its_looks_are_shaded(opened, made):
    tab = opened()
    _, looks, _ = expected(made[1], BEGINNING)
    for block, head in ((1, 1), (2, 3)):
        for name, number in (("Block", block), ("Head", head)):
            group = tab.get_by_role("radiogroup", name=name)
            group.get_by_label(str(number), exact=True).check(force=True)
        shades = tab.locator(".view-written > :not(.view-forgotten)").evaluate_all(
            "all => all.map((one) => parseInt(one.style.getPropertyValue('--look')))"
        )
        look = looks[block - 1, head - 1]
        assert np.abs(np.array(shades) - 100 * (look / look.max()).numpy()).max() < 0.6
        best = look.argmax().item()
        shown = BEGINNING[best].replace(" ", "␣").replace("\n", "↵")
        share = f"{100 * look[best]:.{0 if look[best] >= 0.0995 else 1}f}%"
        said = f"Block {block}, head {head} attends most to “{shown}”, {share}, "
        assert f"{said}letter {len(look) - best} from the end." in answer(tab).inner_text()


def test_sliders_change_what_is_left(opened):
    tab = opened()
    cut = tab.locator(".view-next-letters li[data-cut]")
    tab.get_by_label("top-p").fill("0.05")
    expect(cut).to_have_count(7)
    tab.get_by_label("top-p").fill("1")
    expect(cut).to_have_count(0)
    tab.get_by_label("temperature").fill("0")
    expect(cut).to_have_count(7)
    assert "100%" in tab.locator(".view-next-letters li").first.inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme, monkeypatch):
    monkeypatch.setattr("utils.show.views.writes.LONGEST", 4000)
    tab = opened(theme)
    tab.evaluate(AS_IN_JUPYTERLAB)
    tab.get_by_label("Begin a text").focus()
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.type("x")
    begun(tab, f"{BEGINNING[:-1]}x{BEGINNING[-1]}")
    tab.wait_for_function("document.querySelector('.view-forgotten').textContent !== ''")
    tab.get_by_role("button", name="Stop").press("Enter")
    expect(answer(tab)).to_contain_text("It has written")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


# Where the weights are --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["whole", "missing", "cut short", "another"])
def test_a_built_page_loads_its_model_also_from_disk(chromium, here, shown, made, tmp_path, kind):
    writer("tiny", beginning=BEGINNING)
    script = (made[0] / "tiny.js").read_text("ascii")
    scripts = {
        "whole": script,
        "missing": None,
        "cut short": script[:-900],
        "another": re.sub(r'"sha256":"\w{4}', '"sha256":"0000', script),
    }
    tab = chromium.new_page()
    tab.goto(as_built(tmp_path / "book", shown[-1]["text/html"], "tiny", scripts[kind]))
    said = "Most likely next" if kind == "whole" else "missing or damaged: load this page again"
    expect(answer(tab)).to_contain_text(said)
    tab.close()


def test_a_saved_notebook_says_what_to_do(chromium, here, shown):
    writer("tiny", beginning=BEGINNING)
    tab = chromium.new_page()
    tab.set_content(PAGE.format(theme="light", views=shown[-1]["text/html"]))
    expect(answer(tab)).to_contain_text("run this cell to open it")
    tab.close()


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    writer("tiny", beginning=BEGINNING)
    (bundle,) = shown
    assert bundle["text/plain"] == f"View: it writes as you type. {BEGINNING}"
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 40_000
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


@pytest.mark.parametrize("file", ["runtime", "live", "typed", "writer"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("beginning", ["é", "a" * (LONGEST + 1)])
def test_beginnings_that_can_not_be_read_are_refused(here, shown, beginning):
    with pytest.raises(ValueError, match=" 400 letters"):
        writer("tiny", beginning=beginning)
    assert shown == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stack.norm.weight": (np.zeros(3, np.float32),)}, "stack.norm.weight"),
        ({"stack.norm.bias": (np.zeros(24, np.float32),)}, "stack.norm.bias"),
        ({"heads": 5}, "heads, characters or context"),
        ({"characters": ""}, "heads, characters or context"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load("tiny")
    held = models.Stored(header | change, weights | change)
    if "heads" in change or "characters" in change:
        held = held._replace(weights=weights)
    with pytest.raises(ValueError, match=said):
        check(held)


def test_a_model_without_blocks_is_refused(here):
    header, weights = models.load("tiny")
    rest = {name: parts for name, parts in weights.items() if "blocks" not in name}
    with pytest.raises(ValueError, match="computes models of"):
        check(models.Stored(header, rest))
