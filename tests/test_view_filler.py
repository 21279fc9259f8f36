"""Models that fill gaps, in the page: Day 10's reader, and Day 11's in fewer bits."""

import json
import re

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import PAGE
from playwright.sync_api import expect

from utils.data.libraries import NAMES
from utils.data.text import EOS
from utils.pretraining import MASK, MaskedLanguageModel
from utils.pretraining.rounded import with_rounded_weights
from utils.show import views
from utils.show.views import frame, models
from utils.show.views.fill_the_gap import SPECIAL, check
from utils.tasks import filling
from utils.tasks.pretraining import vocabulary
from utils.tasks.two_bytes import in_two_bytes, restored
from utils.transformer import TransformerConfig

SENTENCES = ["Take elements from an ___ along an axis.", "The ___ of the xyzzy is ___."]


def model_of(n_layers: int, V: int = 0) -> MaskedLanguageModel:
    """A model with random weights, large enough that all of them matter."""
    sizes = {"d_model": 16, "n_heads": 2, "d_ff": 20, "n_layers": n_layers}
    how = {"norm": "pre", "positions": "rotary", "activation": "gelu", "dropout": 0.0}
    model = MaskedLanguageModel(TransformerConfig(V or len(vocabulary()), **sizes | how))
    draw = torch.Generator().manual_seed(n_layers)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=draw)
            weight.copy_(0.4 * noise if weight.dim() > 1 else weight + 0.2 * noise)
    return model.eval()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two stored models, by their names; their folder."""
    folder, made = tmp_path_factory.mktemp("models"), {"tall": model_of(2), "low": model_of(1)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        for name, model in made.items():
            told = {"heads": 2, "words": list(vocabulary().symbols)}
            models.store(name, in_two_bytes(model), made_by="tests", **told)
    return folder, made


@pytest.fixture
def opened(phone, here, shown):
    """Open a view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(show, theme: str = "light"):
        show()
        scripts = "".join(bundle.get("text/html", "") for bundle in here)
        phone.set_content(PAGE.format(theme=theme, views=scripts + shown[-1]["text/html"]))
        return phone

    return open_in


def fill():
    views.fill_the_gap("tall", names=NAMES, sentences=SENTENCES)


def compare():
    views.fewer_bits({"teacher": "tall", "student": "low"}, names=NAMES, sentence=SENTENCES[0])


# The same numbers ---------------------------------------------------------------------------------

RUN = """([given, held, parts]) => {
    const make = new Function(`${parts} return filler(runtime(), arguments[0]);`);
    const run = make(held);
    return given.map((input) => [...run(input)][0].best);
}"""


def page_of(*parts: str) -> str:
    return "\n".join((frame.HERE / f"{part}.js").read_text(encoding="utf-8") for part in parts)


def ids_of(sentence: str) -> list[int]:
    return [*vocabulary().encode(filling.with_gaps(sentence)), EOS]


@pytest.mark.parametrize("name", ["tall", "low"])
def test_the_page_computes_what_python_computes_with_all_bits_and_with_few(chromium, made, name):
    script = (made[0] / f"{name}.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    bits = [16, 8, 4, 3]
    given = [{"ids": ids_of(said), "bits": n} for said in SENTENCES for n in bits]
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [given, held, page_of("sentence", "runtime", "filler")])
    tab.close()
    model = made[1][name]
    for input, gaps in zip(given, found, strict=True):
        exact = model if input["bits"] == 16 else with_rounded_weights(model, input["bits"])
        ids = torch.tensor([input["ids"]])
        with torch.no_grad():
            logits = exact(ids)[0][ids[0] == MASK][:, MASK + 1 :]
        wanted = logits.softmax(dim=1).topk(10)
        assert len(gaps) == len(logits)
        for best, shares, places in zip(gaps, wanted.values, wanted.indices, strict=True):
            told = [vocabulary().symbols[MASK + 1 + place] for place in places.tolist()]
            near = 2e-4 if input["bits"] == 16 else 5e-3
            assert [share for _, share in best] == pytest.approx(shares.tolist(), abs=near)
            assert len({word for word, _ in best} & set(told)) >= 9


def test_two_bytes_are_nearly_all_of_a_model():
    model = model_of(2, V=30)
    kept = in_two_bytes(model)
    again = restored(model_of(1, V=30).__class__(model.config), kept)
    for name, weight in model.named_parameters():
        other = again.get_parameter(name)
        off = (weight - other).abs().amax(dim=-1) / weight.abs().amax(dim=-1)
        assert (off < 2e-5).all(), name
    with pytest.raises(ValueError, match="another model"):
        restored(model_of(1, V=30), kept)


# What is refused ----------------------------------------------------------------------------------


def changed(held, **header):
    return held._replace(header=held.header | header)


def without(held, name):
    return held._replace(weights={n: w for n, w in held.weights.items() if n != name})


W_O = "encoder.blocks.1.self_attention.W_o.weight"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held: changed(held, heads=0), "heads or words"),
        (lambda held: changed(held, heads=3), "heads or words"),
        (lambda held: changed(held, words=[*SPECIAL, "a"]), "heads or words"),
        (lambda held: changed(held, words=held.header["words"][::-1]), "heads or words"),
        (lambda held: without(held, W_O), W_O),
        (lambda held: without(held, "head.bias"), "head.bias"),
        (
            lambda held: held._replace(weights={**held.weights, "more": (np.ones(2, "f4"),)}),
            "more",
        ),
    ],
)
def test_a_model_of_another_kind_is_refused(here, change, said):
    held = models.load("tall")
    check(held)
    with pytest.raises(ValueError, match=re.escape(said)):
        check(change(held))


@pytest.mark.parametrize("sentences", [[], "a ___", ["a " * 151]])
def test_sentences_that_do_not_fit_are_refused(here, shown, sentences):
    with pytest.raises(ValueError, match="sentence"):
        views.fill_the_gap("tall", names=NAMES, sentences=sentences)
    assert not shown and not here


# In the page --------------------------------------------------------------------------------------


def test_it_fills_the_gap_and_tells_what_it_does_not_know(opened, made):
    tab = opened(fill)
    live = tab.locator("[aria-live]")
    (best,) = filling.fill(made[1]["tall"], SENTENCES[0], n=1)
    expect(live).to_contain_text(f"It fills in “{best[0][0]}” (")
    assert tab.locator(".view-filled strong").all_inner_texts() == [best[0][0]]
    tab.get_by_label("Your sentence").fill(SENTENCES[1])
    expect(live).to_contain_text("It doesn't know “xyzzy”")
    assert tab.locator(".view-gaps ul").count() == 2
    tab.get_by_label("Your sentence").fill("the axis ")
    expect(live).to_contain_text("Leave a gap: write ___ for a word.")
    tab.get_by_label("Your sentence").press("Tab")
    tab.keyboard.press("Enter")
    assert tab.get_by_label("Your sentence").input_value() == "the axis ___"
    expect(live).to_contain_text("It fills in")
    expect(tab.get_by_text("The whole network runs in this page")).to_contain_text(" ms.")


def test_three_models_answer_and_bits_are_taken_away(opened, made):
    tab = opened(compare)
    live = tab.locator("[aria-live]")
    expect(live).to_contain_text("First guesses: ")
    firsts = [
        filling.fill(model, SENTENCES[0], n=1)[0][0][0]
        for model in (made[1]["tall"], made[1]["low"], with_rounded_weights(made[1]["low"]))
    ]
    for first in firsts:
        expect(live).to_contain_text(f"“{first}”")
    tab.get_by_label("bits for each weight").fill("2")
    expect(live).to_contain_text("with 2 bits")
    expect(tab.get_by_text("student, 2 bits: ")).to_contain_text(" kB")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("show", [fill, compare])
def test_they_are_accessible_and_fit_a_phone(opened, show, theme):
    tab = opened(show, theme)
    expect(tab.locator("[aria-live]")).to_contain_text("“")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


@pytest.mark.parametrize("file", ["filler", "fill_the_gap", "fewer_bits"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = page_of(file)
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")
