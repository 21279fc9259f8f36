"""Day 7's race: the page computes the writer in int8, in both lanes, and it is for everybody."""

import json
import re
import sys

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE, as_built
from playwright.sync_api import expect
from torch.nn import functional as F

from utils.data.text import SPECIAL
from utils.efficient import window_mask
from utils.show.views import frame, live_race, models
from utils.show.views.live_race import LENGTH, LONGEST, WINDOW, check
from utils.tasks.rounded import in_int8
from utils.tasks.writer import Writer, take_weights, vocabulary

CHARACTERS = "".join(vocabulary().symbols[len(SPECIAL) :])
BEGINNING = "The number of clusters "


def looking_back(window: int):
    """Attention to the last `window` + 1 positions, to all before if it is 0."""

    def attend(q, k, v):
        mask = window_mask(q.shape[2], window or q.shape[2], is_causal=True)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    return attend


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stored writer with random weights, and the same writer in int8."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        small = {"D": 16, "h": 2, "F": 20, "L": 2}
        torch.manual_seed(0)
        model, rounded = Writer(looking_back(0), **small), Writer(looking_back(0), **small)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.4)
        weights = in_int8(model)
        models.store("tiny", weights, made_by="tests", heads=2, characters=CHARACTERS)
        take_weights(rounded, weights)
        yield folder, rounded


@pytest.fixture
def opened(here, live):
    """Open the race, ready to write."""

    def open_in(theme: str = "light", beginning: str = BEGINNING):
        live_race("tiny", beginning=beginning)
        tab = live(theme)
        expect(button(tab, "Write")).to_be_enabled()
        return tab

    return open_in


def button(tab, name: str):
    return tab.get_by_role("button", name=name)


def answer(tab):
    return tab.locator(".view-answer")


def texts(tab) -> list[str]:
    """The text of each lane."""
    return tab.locator(".view-lane").evaluate_all("all => all.map((one) => one.textContent)")


def finish(tab) -> list[str]:
    """Write to the end; return the text of each lane."""
    button(tab, "Write").click()  # which empties the answer
    expect(answer(tab)).to_contain_text("characters took")
    expect(button(tab, "Write")).to_be_visible()
    return texts(tab)


# The same numbers ------------------------------------------------------------------------------

RUN = """async ([given, held, parts]) => {
    const make = new Function(`${parts} return racers(runtime(), arguments[0]);`);
    return [...make(held)(given)];
}"""


def computed(chromium, folder, **given) -> list[list[dict]]:
    """What the page's model yields for a text, by lane."""
    script = (folder / "tiny.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n")) | {"most": 80}
    parts = "\n".join((frame.HERE / f"{n}.js").read_text("utf-8") for n in ("runtime", "live_race"))
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [given, held, parts])
    tab.close()
    return [[piece for piece in found if piece["lane"] == lane] for lane in (0, 1)]


@torch.no_grad()
def shares(model, text: str, temperature: float, window: int) -> torch.Tensor:
    """Probabilities of the next character, in double precision."""
    ids = torch.tensor([vocabulary().encode(text)])
    logits = model.double()(ids, attend=looking_back(window))[0, -1]
    model.float()
    return (logits[len(SPECIAL) :] / temperature).softmax(0)


@pytest.mark.parametrize("window", [0, 3])
def test_each_lane_writes_what_the_model_writes(chromium, made, window):
    random = torch.rand(40, generator=torch.Generator().manual_seed(1)).tolist()
    given = {"text": "If the", "random": random, "temperature": 0.7, "window": window}
    for lane, pieces in enumerate(computed(chromium, made[0], **given)):
        text, near = "If the", 0
        assert len(pieces) == 40
        for at, piece in zip(random, pieces, strict=True):
            sums = shares(made[1], text, 0.7, window if lane else 0).cumsum(0)
            if (sums - at).abs().min() > 1e-4:
                assert piece["character"] == CHARACTERS[(sums <= at).sum()]
            else:
                near += 1
            text += piece["character"]
        assert near < 4


def test_without_a_cache_the_text_is_read_again_for_each_character(chromium, made):
    given = {"text": "If the", "random": [0.5] * 30, "temperature": 0.5, "window": 0}
    without, cached = computed(chromium, made[0], **given)
    assert [piece["read"] for piece in without] == list(range(6, 36))
    assert [piece["read"] for piece in cached] == [6] + 29 * [1]
    written = ["".join(piece["character"] for piece in lane) for lane in (without, cached)]
    assert written[0] == written[1]


# On the page ------------------------------------------------------------------------------------


def test_both_lanes_write_the_same_text_and_the_cached_one_is_ahead(opened):
    tab = opened()
    assert texts(tab) == 2 * [BEGINNING]
    for _ in range(3):  # a stall may fall into the few milliseconds of the cached lane
        one, other = finish(tab)
        assert one == other and one.startswith(BEGINNING) and len(one) == len(BEGINNING) + LENGTH
        reads = sum(range(len(BEGINNING), len(one))), len(one) - 1
        said = answer(tab).inner_text()
        assert f"The first {LENGTH} characters took " in said and "Both texts are the same." in said
        assert f"For them, the model read {reads[0]:,} characters without a cache" in said
        assert f"again, and {reads[1]} with a cache." in said
        times = float(re.search(r", which is ([\d.,]+) times as fast", said)[1].replace(",", ""))
        if times > 5:
            break
    assert times > 5
    for clock, read in zip(tab.locator(".view-clock").all_inner_texts(), reads, strict=True):
        assert re.fullmatch(rf"([\d.,]+ characters/s, )?{read:,} read", clock)


def test_another_run_writes_another_text(opened):
    tab = opened()
    assert finish(tab) != finish(tab)


def test_a_window_writes_another_text(opened):
    tab = opened()
    tab.get_by_label(f"the last {WINDOW + 1}").check(force=True)
    one, other = finish(tab)
    different = next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    at = different - len(BEGINNING) + 1
    assert f"From character {at} on, the texts differ." in answer(tab).inner_text()
    tab.get_by_label("all characters").check(force=True)
    assert texts(tab) == 2 * [BEGINNING] and answer(tab).inner_text() == ""


def test_it_stops_when_it_is_told_and_when_one_types(opened, monkeypatch):
    monkeypatch.setattr(sys.modules["utils.show.views.live_race"], "LENGTH", 20_000)
    tab = opened()
    tab.evaluate("() => { window.requestAnimationFrame = (draw) => setTimeout(draw, 0) }")
    for stop in (
        lambda: button(tab, "Stop").press("Enter"),
        lambda: tab.get_by_label("Begin a text").press_sequentially("x"),
    ):
        button(tab, "Write").click()
        stop()
        expect(button(tab, "Write")).to_be_visible()
        before = texts(tab)
        tab.wait_for_timeout(300)
        assert texts(tab) == before
    assert before == 2 * ["x" + BEGINNING] or before == 2 * [BEGINNING + "x"]


def test_empty_long_and_foreign_beginnings(opened):
    tab = opened(beginning="")
    assert texts(tab) == 2 * ["\n"] and "beginning of a line" in tab.locator("form").inner_text()
    field = tab.get_by_label("Begin a text")
    long = "A long beginning. " * 9
    field.fill(long)
    assert all(long.startswith(text) and len(text) >= LONGEST for text in texts(tab))
    field.fill("Zoë said ’yes’")
    assert texts(tab) == 2 * ["Zo  said 'yes'"]
    assert "never seen “ë” and reads a space there" in tab.locator("form").inner_text()
    assert finish(tab)[0].startswith("Zo  said 'yes'")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    tab.evaluate(AS_IN_JUPYTERLAB)
    tab.get_by_label("Begin a text").focus()
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.type("x")
    assert texts(tab) == 2 * [f"{BEGINNING[:-1]}x{BEGINNING[-1]}"]
    finish(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


# Where the weights are --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["whole", "missing"])
def test_a_built_page_loads_its_model_also_from_disk(chromium, here, shown, made, tmp_path, kind):
    live_race("tiny", beginning=BEGINNING)
    script = (made[0] / "tiny.js").read_text("ascii") if kind == "whole" else None
    tab = chromium.new_page()
    tab.goto(as_built(tmp_path / "book", shown[-1]["text/html"], "tiny", script))
    if kind == "whole":
        assert len(set(finish(tab))) == 1
    else:
        expect(answer(tab)).to_contain_text("missing or damaged: load this page again")
    tab.close()


def test_a_saved_notebook_says_what_to_do(chromium, here, shown):
    live_race("tiny", beginning=BEGINNING)
    tab = chromium.new_page()
    tab.set_content(PAGE.format(theme="light", views=shown[-1]["text/html"]))
    expect(answer(tab)).to_contain_text("run this cell to open it")
    tab.close()


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    live_race("tiny", beginning=BEGINNING)
    (bundle,) = shown
    assert bundle["text/plain"].startswith("View: the same text without a cache and with one")
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 40_000
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


@pytest.mark.parametrize("file", ["live_race", "lanes", "typed"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("beginning", ["é", "a" * (LONGEST + 1)])
def test_beginnings_that_can_not_be_read_are_refused(here, shown, beginning):
    with pytest.raises(ValueError, match=f" {LONGEST} letters"):
        live_race("tiny", beginning=beginning)
    assert shown == []


@pytest.mark.parametrize(
    ("header", "weights", "said"),
    [
        ({}, {"norm.weight": (np.zeros(3, np.float32),)}, "norm.weight"),
        ({}, {"blocks.1.W_in.bias": (np.zeros(48, np.float32),)}, "blocks.1.W_in.bias"),
        ({"heads": 5}, {}, "heads or characters"),
        ({"heads": 16}, {}, "heads or characters"),  # rotary positions turn pairs
        ({"characters": ""}, {}, "heads or characters"),
    ],
)
def test_other_models_are_refused(here, header, weights, said):
    held = models.load("tiny")
    check(held)
    with pytest.raises(ValueError, match=f"utils.tasks.writer.Writer.*{said}"):
        check(models.Stored(held.header | header, held.weights | weights))
