"""Day 4's reader of dates: the page computes the book's network in int8; it is for everybody."""

import json

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from live import stored_at_random
from playwright.sync_api import expect

from utils.data.text import EOS, SPECIAL, UNK, Vocabulary, pad
from utils.seq2seq import greedy_decode
from utils.show.views import frame, models
from utils.show.views.typed_date import check, typed_date
from utils.tasks.dates import MAX_LEN
from utils.tasks.typed_dates import in_ids, reader

SOURCE = Vocabulary(["<en_US>", "<de>", *"0123456789 ./,FMabehruyäz"])
TARGET = Vocabulary("0123456789-")
EXAMPLES = [("en_US", "English, USA", "Mar 5, 2004"), ("de", "German", "5. März 2004")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stored network, and the same network in int8."""
    model = reader(len(SOURCE), len(TARGET), 0, hidden_size=10)
    told = {name: list(known.symbols[len(SPECIAL) :]) for name, known in BOTH.items()}
    folder = tmp_path_factory.mktemp("models")
    with stored_at_random(folder, model, 0.7, longest=MAX_LEN, **told) as both:
        yield both


BOTH = {"source": SOURCE, "target": TARGET}


@pytest.fixture
def opened(here, live):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light"):
        typed_date("tiny", examples=EXAMPLES)
        tab = live(theme)
        expect(answer(tab)).to_contain_text("It reads ")
        return tab

    return open_in


def answer(tab):
    return tab.locator(".view-answer")


def expected(model, locale: str, text: str) -> tuple[str, torch.Tensor]:
    """What the network writes, as it is shown, and where it looks, in per cent (T, S)."""
    source, lengths = pad([in_ids([f"<{locale}>", *text], SOURCE)])
    ids, weights = greedy_decode(model, source, lengths, MAX_LEN, need_weights=True)
    written = "".join(TARGET.decode(ids[0])).replace(SPECIAL[UNK], "?")
    return written, (100 * weights[0]).round()


RUN = """([given, held, parts]) => {
    const make = new Function(`${parts} return reader(runtime(), arguments[0]);`);
    return [...make(held)(given)].map((piece) => ({ ...piece, look: [...piece.look] }));
}"""


@pytest.mark.parametrize("text", ["5/3/04", "Mar 5, 2004", "5. März 2004", "ax", "x"])
def test_the_page_computes_the_books_network_in_int8(chromium, made, text):
    script = (made[0] / "tiny.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    files = ("runtime", "typed_date")
    parts = "\n".join((frame.HERE / f"{name}.js").read_text("utf-8") for name in files)
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [["<de>", *text], held, parts])
    tab.close()
    source, lengths = pad([in_ids(["<de>", *text], SOURCE)])
    ids, weights = greedy_decode(made[1], source, lengths, MAX_LEN, need_weights=True)
    names = [TARGET.symbols[i] if i > 3 else {EOS: "EOS"}.get(i, "?") for i in ids[0].tolist()]
    assert [piece["symbol"] for piece in found] == names
    looks = torch.tensor([piece["look"] for piece in found])
    torch.testing.assert_close(looks, weights[0], atol=1e-4, rtol=0)
    assert all(0 < piece["share"] <= 1 for piece in found)


def test_it_reads_what_one_types_and_shows_where_it_looks(opened, made):
    tab = opened()
    field = tab.get_by_label("A date", exact=True)
    for text in ("Mar 5, 2004", "5/3/04", "Feb"):
        tab.mouse.move(0, 0)  # else a symbol comes to stand under it, and is shown
        tab.locator("ul.view-chips").evaluate("list => list.firstChild.dataset.before = 1")
        field.fill(text)
        expect(tab.locator("[data-before]")).to_have_count(0)  # it begins to read this one
        wrote, looks = expected(made[1], "en_US", text)
        expect(answer(tab)).to_contain_text(f"It reads {wrote}")
        radios = tab.get_by_role("radiogroup", name="What it writes").get_by_role("radio")
        expect(radios).to_have_count(len(looks))
        expect(answer(tab)).to_contain_text("While it writes")
        bars = tab.locator("ul.view-chips li").evaluate_all(
            "all => all.map((one) => parseFloat(one.style.getPropertyValue('--share')))"
        )
        assert np.abs(np.array(bars) - looks[0].numpy()).max() <= 1
        radios.last.check(force=True)
        best = looks[-1].argmax().item()
        names = ["English, USA", *text, "EOS"]
        shown = {" ": "a space"}.get(names[best], names[best])
        expect(answer(tab)).to_contain_text(f"“{shown}” ({looks[-1, best]:.0f}%)")


def test_another_country_brings_its_example_but_leaves_what_was_typed(opened, made):
    tab = opened()
    field, country = tab.get_by_label("A date", exact=True), tab.get_by_label("written in")
    country.select_option(label="German")
    assert field.input_value() == "5. März 2004"
    expect(answer(tab)).to_contain_text(f"It reads {expected(made[1], 'de', '5. März 2004')[0]}")
    field.fill("5.3.04")
    country.select_option(label="English, USA")
    assert field.input_value() == "5.3.04"
    expect(answer(tab)).to_contain_text(f"It reads {expected(made[1], 'en_US', '5.3.04')[0]}")


def test_letters_that_it_never_saw_and_an_empty_field_are_told(opened):
    tab = opened()
    field = tab.get_by_label("A date", exact=True)
    field.fill("5 q 04")
    expect(tab.locator("form")).to_contain_text("It has never seen “q”.")
    field.fill("")
    expect(answer(tab)).to_contain_text("Type a date.")
    expect(tab.locator("form")).not_to_contain_text("never seen")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    expect(answer(tab)).to_contain_text("While it writes")
    tab.evaluate(AS_IN_JUPYTERLAB)
    symbols = tab.get_by_role("radiogroup", name="What it writes")
    first = answer(tab).inner_text()
    symbols.get_by_role("radio").first.focus()
    tab.keyboard.press("ArrowRight")
    assert answer(tab).inner_text() != first
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    typed_date("tiny", examples=EXAMPLES)
    (bundle,) = shown
    assert bundle["text/plain"] == "View: it reads the date that you type."
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 40_000
    assert "5. März 2004 (German)" in bundle["text/html"]
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


@pytest.mark.parametrize("file", ["typed_date", "looks", "alignment"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


@pytest.mark.parametrize("examples", [[], [("fr", "French", "5 mars 2004")]])
def test_locales_that_the_model_does_not_know_are_refused(here, shown, examples):
    with pytest.raises(ValueError, match="locale"):
        typed_date("tiny", examples=examples)
    assert shown == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"decoder.bridge.0.bias": (np.zeros(3, np.float32),)}, "decoder.bridge.0.bias"),
        ({"decoder.C.weight": (np.zeros(10, np.float32),)}, "decoder.C.weight"),
        ({"source": ["a"]}, "encoder.embedding.weight"),
        ({"longest": 0}, "source, target or longest"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load("tiny")
    told = {"source", "longest"} & set(change)
    held = models.Stored(header | change if told else header, weights if told else weights | change)
    with pytest.raises(ValueError, match=said):
        check(held)
