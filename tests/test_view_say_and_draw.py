"""Day 13's view: a sentence is drawn in the page by the book's writer, decoder and CLIP."""

import re
import shutil
import time
from functools import partial
from random import Random

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE, processor_seconds, taken_since
from live import computed
from playwright.sync_api import expect
from torch import nn

from utils.data.scenes import LONGEST, VOCABULARY, words
from utils.show.views import frame, models, say_and_draw
from utils.show.views.say_and_draw import TEMPERATURE, TRIES, check
from utils.tasks.captions import as_ids
from utils.tasks.drawing import facts_for_page, painter, restored_writer, symbols_of, writer
from utils.tasks.rounded import in_int8
from utils.tasks.scenes import restored_clip
from utils.tasks.scenes_in_codes import PLACES, autoencoder, restored_autoencoder
from utils.tasks.two_bytes import restored

K, SIDE = 20, 6  # codes to choose from, and the side of their grid
SENTENCES = "a red three", "蓝色的小圆形在绿色的七的上面", "there is a yellow two"
PARTS = ["runtime", "painter"]
BOOKS = models.FOLDER  # where the book's own models are, before `made` stores others elsewhere
NAMES = WRITER, CODES, _ = "drawing_writer", "drawing_codes", "clip"


def lively(model: nn.Module, std: float) -> nn.Module:
    """With weights that have not been trained, but are large enough to tell inputs apart."""
    torch.manual_seed(0)
    for weight in model.parameters():
        nn.init.normal_(weight, std=std)
    return model.eval()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Stored models, and the same in int8: a writer, an autoencoder, and Day 12's CLIP."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(models.FOLDER / "clip.js", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        own = lively(writer(n_codes=K, width=24, n_layers=2), 0.4)
        with torch.no_grad():
            own.stack.embedding.positions.table *= 6  # so that it goes on with other codes
        drawer = lively(autoencoder(n_codes=K, width=8), 0.3)
        models.store(WRITER, in_int8(own), made_by="tests", **facts_for_page(own))
        models.store(CODES, in_int8(drawer), made_by="tests")
        restored(own, models.load(WRITER).weights)
        restored(drawer, models.load(CODES).weights)
        held = models.load("clip")
        yield folder, own, drawer, restored_clip(held.weights, held.header["temperature"])


@torch.no_grad()
def shares_of(model, sentence: str, codes: torch.Tensor, tau: float) -> torch.Tensor:
    """The probability of each code at each place, (n, 36, K), behind those codes (n, 36)."""
    symbols = symbols_of(model)
    ids = as_ids([sentence] * len(codes))[0]
    logits, _ = model(symbols.sentence_then_picture(ids, codes))
    logits = logits[:, LONGEST:-1, symbols.n_words : symbols.mark]
    return (logits / tau).softmax(dim=-1)


@torch.no_grad()
def begun(model, codes: torch.Tensor, n: int) -> torch.Tensor:
    """What the decoder draws of the first n codes, (B, 3, 24, 24): beyond them it reads 0."""
    vectors = model.codebook.vectors(codes)
    vectors[:, n:] = 0
    return model.decoder(vectors.mT.unflatten(2, (SIDE, SIDE)))


@torch.no_grad()
def similar(model, pictures: torch.Tensor, sentence: str) -> torch.Tensor:
    """CLIP's cosine of pictures (B, 3, 24, 24) and a sentence, (B,)."""
    return model.encode_images(pictures) @ model.encode_texts(*as_ids([sentence]))[0]


# What the page computes ---------------------------------------------------------------------------

painted = partial(computed, model={"writer": WRITER, "codes": CODES}, name="painter", parts=PARTS)


def numbers(n: int) -> list[list[float]]:
    chance = Random(0)
    return [[chance.random() for _ in range(PLACES)] for _ in range(n)]


@pytest.mark.parametrize("sentence", SENTENCES[:2])
def test_the_page_draws_codes_with_the_probabilities_of_the_books_writer(
    chromium, here, made, sentence
):
    n, tau = 5, 0.8
    random = numbers(n)
    found = painted(chromium, sentence=words(sentence), random=random, temperature=tau)
    codes = torch.tensor([piece["codes"] for piece in found]).T  # (n, 36)
    assert codes.shape == (n, PLACES) and len({tuple(row) for row in codes.tolist()}) == n
    expected = shares_of(made[1], sentence, codes, tau)
    own = expected.gather(2, codes[:, :, None])[:, :, 0]
    chances = torch.tensor([piece["chances"] for piece in found]).T
    torch.testing.assert_close(chances, own, atol=1e-5, rtol=0)
    assert own.std() > 0.02  # else this would compare nothing
    ordered, order = expected.double().sort(dim=-1, descending=True, stable=True)
    sums = ordered.cumsum(dim=-1) / ordered.sum(dim=-1, keepdim=True)
    rank = torch.searchsorted(sums, torch.tensor(random).double()[:, :, None], right=True)
    assert torch.equal(order.gather(2, rank)[:, :, 0], codes)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_at_temperature_0_it_draws_the_codes_that_the_books_painter_draws(
    chromium, here, made, sentence
):
    found = painted(chromium, sentence=words(sentence), random=numbers(2), temperature=0)
    (expected,) = painter(made[1], tau=0)([sentence], 0).tolist()
    assert [piece["codes"] for piece in found] == [[code, code] for code in expected]
    assert len(set(expected)) > 2


def test_the_page_draws_pictures_of_codes_as_the_books_decoder_does(chromium, here, made):
    found = painted(chromium, sentence=["a", "red", "three"], random=numbers(3), temperature=1)
    codes = torch.tensor([piece["codes"] for piece in found]).T
    for n, piece in enumerate(found, start=1):
        assert len(piece["pictures"]) == (1 if n % SIDE else 3)  # at the end of each row all
        pictures = torch.tensor(piece["pictures"]).view(-1, 3, 24, 24)
        expected = begun(made[2], codes[: len(pictures)], n)
        torch.testing.assert_close(pictures, expected, atol=1e-5, rtol=0)
    with torch.no_grad():
        torch.testing.assert_close(pictures, made[2].decode(codes), atol=1e-5, rtol=0)
    assert (pictures[0] - pictures[1]).abs().max() > 0.01


# In the browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(here, phone, shown):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light", motion: str = "no-preference"):
        phone.emulate_media(reduced_motion=motion)
        return opened_on(phone, here, shown, theme)

    return open_in


def opened_on(tab, handed, shown, theme: str = "light"):
    say_and_draw(*NAMES, sentences=SENTENCES)
    weights = "".join(bundle.get("text/html", "") for bundle in handed)
    tab.set_content(PAGE.format(theme=theme, views=weights + shown[-1]["text/html"]))
    tab.evaluate(AS_IN_JUPYTERLAB)
    expect(told(tab)).to_have_text("Press “Draw”, or take one of the sentences.")
    return tab


def told(tab):
    return tab.locator(".view-answer p")


def pressed(tab, name: str) -> None:
    """Press a button, and wait until all pictures have been drawn and sorted."""
    tab.get_by_role("button", name=name, exact=True).click()
    drawn(tab)


def drawn(tab) -> None:
    expect(told(tab)).to_contain_text("Drawing took")
    expect(tab.locator(".view-answer")).to_have_attribute("aria-busy", "false")


def codes_of(tab) -> torch.Tensor:
    """The codes of the large picture, (36,)."""
    return torch.tensor([int(code) for code in tab.locator(".view-codes span").all_text_contents()])


def tries(tab):
    return tab.get_by_role("group", name="All pictures").get_by_role("button")


def all_codes(tab) -> torch.Tensor:
    """The codes of all pictures, best first, (16, 36)."""
    found = []
    for i in range(TRIES):
        tries(tab).nth(i).click()
        expect(tries(tab).nth(i)).to_have_attribute("aria-pressed", "true")
        found.append(codes_of(tab))
    return torch.stack(found)


PIXELS = """all => all.map((canvas) => {
    const { width, height } = canvas;
    return [...canvas.getContext("2d").getImageData(0, 0, width, height).data];
})"""


def pixels(canvases) -> torch.Tensor:
    """What canvases show, (n, 4, 24, 24), in 0..255."""
    return torch.tensor(canvases.evaluate_all(PIXELS)).view(-1, 24, 24, 4).permute(0, 3, 1, 2)


def test_sixteen_pictures_are_drawn_and_sorted_by_clip(opened, made):
    tab = opened()
    pressed(tab, "Draw")
    small = pixels(tab.locator(".view-tries canvas"))
    codes = all_codes(tab)
    assert len(codes.unique(dim=0)) == TRIES
    with torch.no_grad():
        pictures = made[2].decode(codes)
    cosines = similar(made[3], pictures, SENTENCES[0])
    assert (cosines.diff() < 1e-6).all()  # best first
    assert cosines[0] - cosines[-1] > 0.02
    scores = [f"{cosine:.2f}".replace("-", "−") for cosine in cosines.tolist()]
    assert tab.locator(".view-tries span").all_text_contents() == scores
    assert (small[:, :3] - 255 * pictures).abs().max() < 0.51 and (small[:, 3] == 255).all()
    assert torch.equal(pixels(tab.locator(".view-drawn canvas")), small[-1:])
    label = tab.locator(".view-drawn .view-label").first
    expect(label).to_have_text(f"Picture 16 of 16: similarity {scores[-1]}")
    expect(told(tab)).to_contain_text(
        f"CLIP finds that the first picture fits “{SENTENCES[0]}” best: their similarity is "
        f"{scores[0]}, and that of the last picture is {scores[-1]}. All 16 pictures are different."
    )


def test_the_books_own_models_draw_in_seconds(phone, shown, handed, monkeypatch):
    """All sixteen pictures, in the best of three tries."""
    monkeypatch.setattr(models, "FOLDER", BOOKS)
    tab, taken = opened_on(phone, handed, shown), []
    for name in ("Draw", "Again", "Again"):
        before, begun = processor_seconds(), time.monotonic()
        pressed(tab, name)
        (said,) = re.findall(r"Drawing took (\d+\.\d) s\.", told(tab).text_content())
        assert PLACES * 0.01 < float(said) < time.monotonic() - begun + 0.1  # 15 ms between codes
        taken.append(taken_since(before))
    assert 0 < min(taken) < 8, taken  # one and a half on a quick machine, three on a slow one


def test_codes_are_shaded_by_their_probability(opened, made):
    tab = opened()
    pressed(tab, "Draw")
    codes = codes_of(tab)
    expected = shares_of(made[1], SENTENCES[0], codes[None], TEMPERATURE)[0]
    shades = tab.locator(".view-codes span").evaluate_all(
        "all => all.map((one) => parseInt(one.style.getPropertyValue('--share')))"
    )
    own = 100 * expected.gather(1, codes[:, None])[:, 0]
    assert (torch.tensor(shades) - own).abs().max() < 0.51 and max(shades) > min(shades) + 3


def test_codes_fill_the_grid_one_by_one_and_the_picture_grows(opened):
    tab = opened()
    tab.evaluate(
        """() => {
            const cells = document.querySelector(".view-codes");
            const canvas = document.querySelector(".view-drawn canvas");
            const often = { willReadFrequently: true };
            const copy = document.createElement("canvas").getContext("2d", often);
            globalThis.seen = [];
            new MutationObserver(() => {
                copy.clearRect(0, 0, 24, 24);
                copy.drawImage(canvas, 0, 0);
                const { data } = copy.getImageData(0, 0, 24, 24);
                const painted = data.filter((_, i) => i % 4 === 3).filter(Boolean).length;
                const all = [...cells.children], n = all.filter((one) => one.textContent).length;
                seen.push([n, painted, all.findIndex((one) => one.dataset.new === "true")]);
            }).observe(cells, { childList: true });
        }"""
    )
    pressed(tab, "Draw")
    *steps, last = [step for step in tab.evaluate("seen") if step[0]]
    assert steps == [[n, 16 * n, n - 1] for n in range(1, PLACES + 1)]
    assert last == [PLACES, 16 * PLACES, -1]


def test_draw_repeats_and_again_takes_other_numbers(opened):
    tab = opened()
    pressed(tab, "Draw")
    first = codes_of(tab)
    pressed(tab, "Draw")
    assert torch.equal(codes_of(tab), first)
    pressed(tab, "Again")
    other = all_codes(tab)
    assert not (other == first).all(dim=1).any()


def test_at_temperature_0_all_are_the_same(opened, made):
    tab = opened()
    slider = tab.get_by_label("temperature")
    slider.focus()
    tab.keyboard.press("Home")
    assert tab.locator("output").inner_text() == "0.00"
    tab.wait_for_timeout(500)
    expect(told(tab)).to_have_text("Press “Draw”, or take one of the sentences.")
    tab.get_by_role("button", name=SENTENCES[1]).click()
    drawn(tab)
    (expected,) = painter(made[1], tau=0)([SENTENCES[1]], 0)
    assert torch.equal(codes_of(tab), expected)
    with torch.no_grad():
        (cosine,) = similar(made[3], made[2].decode(expected[None]), SENTENCES[1]).tolist()
    assert tab.get_by_label("Your sentence").input_value() == SENTENCES[1]
    expect(told(tab)).to_contain_text(
        "All 16 pictures are the same, because at temperature 0 each code is the most probable "
        f"one. Their similarity with “{SENTENCES[1]}” is {cosine:.2f}".replace("-", "−")
    )


def test_it_is_used_by_keyboard_alone(opened):
    tab = opened()
    field = tab.get_by_label("Your sentence")
    field.focus()
    before = told(tab).inner_text()
    field.dispatch_event("keydown", {"key": "Enter", "isComposing": True})  # chooses a character
    assert told(tab).inner_text() == before
    tab.keyboard.press("Enter")
    drawn(tab)
    expect(tab.get_by_text("sorted by")).to_contain_text(f"similarity with “{SENTENCES[0]}”")
    first = codes_of(tab)
    tab.evaluate(
        """() => {
            const told = document.querySelector(".view-answer p");
            globalThis.said = [];
            const watch = new MutationObserver(() => said.push(told.textContent));
            watch.observe(told, { childList: true });
        }"""
    )
    tab.get_by_label("temperature").focus()
    tab.keyboard.press("ArrowLeft")  # draws the same with another temperature
    expect(tab.locator("output")).to_have_text(f"{TEMPERATURE - 0.05:.2f}")
    tab.wait_for_function("said.length > 1")
    drawn(tab)
    assert tab.evaluate("said[0]") == "It is drawing."
    tries(tab).first.focus()
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tries(tab).nth(1).get_attribute("aria-pressed") == "true"
    assert tab.evaluate("document.activeElement.ariaLabel").startswith("Picture 2, similarity ")
    assert tab.locator(".view-codes").get_attribute("aria-label") == (
        f"Codes, row by row: {', '.join(str(code) for code in codes_of(tab).tolist())}"
    )
    assert len(first) == PLACES


def test_what_can_not_be_drawn_gets_one_sentence(opened):
    tab = opened()
    field = tab.get_by_label("Your sentence")
    for text, said in (
        ("a red unicorn", "No scene is described with “unicorn”: choose other words."),
        ("a pink 马", "No scene is described with “pink” and “马”: choose other words."),
        (" . ", "Say what there is, as in “a red three”."),
        ("red " * (LONGEST + 1), f"It reads up to {LONGEST} words: say less."),
    ):
        field.fill(text)
        tab.get_by_role("button", name="Draw", exact=True).click()
        expect(told(tab)).to_have_text(said)
        assert field.get_attribute("aria-invalid") == "true"
        assert tab.locator(".view-codes").inner_text() == ""
    expect(tab.get_by_text("Words that describe no scene, such as “seven” alone,")).to_be_visible()
    field.fill("seven")
    pressed(tab, "Draw")
    field.fill("red " * LONGEST)
    pressed(tab, "Draw")
    assert field.get_attribute("aria-invalid") == "false"


def test_while_it_draws_no_other_picture_is_shown(opened):
    tab = opened()
    tab.evaluate(
        """() => {
            const label = document.querySelector(".view-drawn .view-label");
            const codes = () => document.querySelector(".view-codes").ariaLabel;
            const watch = new MutationObserver(() => {
                if (!label.textContent.includes(" 20 of 36 codes")) return;
                watch.disconnect();
                globalThis.shown = [codes()];
                document.querySelectorAll(".view-tries button")[3].click();
                shown.push(codes());
            });
            watch.observe(label, { childList: true });
        }"""
    )
    tab.get_by_role("button", name=SENTENCES[0]).click()
    drawn(tab)
    before, after = tab.evaluate("shown")
    assert before == after and re.search(r"row: \d", before)
    assert tries(tab).first.get_attribute("aria-pressed") == "true"


# When a label says so, and so many milliseconds later, press "Draw" with another sentence.
CHANGED = """([when, ms, text]) => {
    const label = document.querySelector(".view-drawn .view-label");
    const watch = new MutationObserver(() => {
        if (!label.textContent.includes(when)) return;
        watch.disconnect();
        setTimeout(() => {
            document.querySelector("input[type=text]").value = text;
            const buttons = [...document.querySelectorAll("button")];
            buttons.find((one) => one.textContent === "Draw").click();
        }, ms);
    });
    watch.observe(label, { childList: true });
}"""


@pytest.mark.parametrize(("when", "ms"), [(" 9 of 36", 0), (" 36 of 36", 0), (" 36 of 36", 40)])
def test_another_sentence_ends_the_drawing_before(opened, made, when, ms):
    tab = opened()
    tab.evaluate(CHANGED, [when, ms, "a unicorn"])
    tab.get_by_role("button", name="Draw", exact=True).click()
    expect(told(tab)).to_contain_text("unicorn")
    tab.wait_for_timeout(1500)
    expect(told(tab)).to_contain_text("unicorn")
    assert tab.locator(".view-codes").inner_text() == ""
    tab.evaluate(CHANGED, [when, ms, SENTENCES[2]])
    tab.get_by_role("button", name=SENTENCES[0]).click()
    expect(tab.get_by_label("Your sentence")).to_have_value(SENTENCES[2])
    drawn(tab)
    expect(told(tab)).to_contain_text(f"“{SENTENCES[2]}”")
    with torch.no_grad():
        pictures = made[2].decode(all_codes(tab))
    cosines = similar(made[3], pictures, SENTENCES[2]).tolist()
    shown = tab.locator(".view-tries span").all_text_contents()
    assert shown == [f"{cosine:.2f}".replace("-", "−") for cosine in cosines]


# For everybody ------------------------------------------------------------------------------------


def test_nothing_moves_where_that_is_asked_for(opened):
    tab = opened(motion="reduce")
    tab.evaluate(
        """() => {
            const label = document.querySelector(".view-drawn .view-label");
            globalThis.seen = new Set();
            const watch = new MutationObserver(() => seen.add(label.textContent));
            watch.observe(label, { childList: true });
        }"""
    )
    pressed(tab, "Draw")
    first, last = tab.evaluate("[...seen]")
    assert first == "The picture" and last.startswith("Picture 1 of 16: similarity ")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    for press in (None, "Draw", "Again"):
        if press == "Again":
            tab.get_by_label("Your sentence").fill("a unicorn " * 15)
            tab.get_by_role("button", name="Draw", exact=True).click()
        elif press:
            pressed(tab, press)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    box = tries(tab).first.bounding_box()
    assert min(box["width"], box["height"]) >= 24


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    say_and_draw(*NAMES, sentences=SENTENCES)
    (bundle,) = shown
    assert bundle["text/plain"] == f"View: say a sentence, and it is drawn. {'; '.join(SENTENCES)}"
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 60_000
    assert all(f"<li>{sentence}</li>" in bundle["text/html"] for sentence in SENTENCES)
    handed = [given for given in here if given]
    assert len(handed) == len(NAMES) and len(here) == 2 * len(NAMES)
    assert all('"bytes"' in given["text/html"] for given in handed)


@pytest.mark.parametrize("file", ["painter", "say_and_draw"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


# Models -------------------------------------------------------------------------------------------


def test_models_of_the_page_come_back_from_their_files():
    own, model = lively(writer(), 0.2), lively(autoencoder(), 0.1)
    stored = {WRITER: in_int8(own), CODES: in_int8(model)}
    back = restored_writer(stored[WRITER]), restored_autoencoder(stored[CODES])
    assert not any(one.training for one in back)
    for one, found in ((own, back[0]), (model, back[1])):
        for weight, other in zip(one.parameters(), found.parameters(), strict=True):
            assert (other - weight).abs().max() < weight.abs().max() / 250
    size = sum(part.nbytes for one in stored.values() for all in one.values() for part in all)
    assert size < 0.55e6  # in base64, with CLIP's, below a megabyte
    with pytest.raises(ValueError, match="another model"):
        restored_writer(stored[CODES])
    with pytest.raises(ValueError, match="another model"):
        restored_autoencoder(stored[WRITER])


@pytest.mark.parametrize("sentences", [[], ["a red three", ""], "a red three"])
def test_there_is_a_sentence_to_begin_with(here, shown, sentences):
    with pytest.raises(ValueError, match="one sentence"):
        say_and_draw(*NAMES, sentences=sentences)
    assert not shown and not here


@pytest.mark.parametrize(
    ("of", "change", "said"),
    [
        (0, {"output.bias": (np.zeros(3, np.float32),)}, "output.bias"),
        (0, {"stack.norm.weight": (np.zeros(3, np.float32),)}, "stack.norm.weight"),
        (0, {"heads": 5}, "heads, words or longest"),
        (0, {"longest": 26}, "heads, words or longest"),  # 37 codes are no square
        (0, {"longest": 65}, "heads, words or longest"),
        (0, {"words": ["a"]}, "output.weight"),
        (1, {"decoder.5.bias": (np.zeros(1, np.float32),)}, "decoder.5.bias"),
        (1, {"decoder.7.bias": (np.zeros(1, np.float32),)}, "decoder.7.bias"),
        (2, {"heads": 5}, "heads, patch size or temperature"),
        (2, {"words": ["b", *VOCABULARY.symbols[1:]]}, "different words"),
    ],
)
def test_other_models_are_refused(here, of, change, said):
    held = [models.load(name) for name in NAMES]
    header, weights = held[of]
    told = header.keys() & change.keys()
    held[of] = models.Stored(
        header | change if told else header, weights if told else weights | change
    )
    with pytest.raises(ValueError, match=said):
        check(*held)


def test_codes_of_another_number_do_not_fit_the_writer(here):
    own, drawer, judge = (models.load(name) for name in NAMES)
    fewer = in_int8(autoencoder(n_codes=K - 1, width=8))
    weights = {name: fewer[name] for name in drawer.weights}
    with pytest.raises(ValueError, match="output.weight"):
        check(own, models.Stored(drawer.header, weights), judge)
