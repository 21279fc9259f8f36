"""Day 12's scenes in the page: drawn and said as in the book, read by the book's two encoders."""

import math
from random import Random

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from live import computed
from playwright.sync_api import expect

from utils.data.scenes import (
    LONGEST,
    RELATIONS,
    SIDE,
    VOCABULARY,
    WAYS,
    Box,
    Scene,
    Thing,
    drawing,
    drawn,
    exchanged,
    for_pages,
    has_room,
    relation,
    say,
    scenes,
    understand,
    words,
)
from utils.data.text import pad
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views import frame, models
from utils.show.views.which_sentence import check, which_sentence
from utils.tasks.rounded import in_int8
from utils.transformer import TransformerConfig
from utils.vision import CLIP, cosines, patches, small_clip, unpatch

HEADS = 3
HANDS = 5  # of each digit, which keeps the pages of these tests small
WORLD = for_pages(HANDS)


def plain(scene: Scene) -> dict:
    return {"things": [vars(t) for t in scene.things], "relations": list(scene.relations)}


def scene_of(found: dict) -> Scene:
    things = tuple(Thing(**thing) for thing in found["things"])
    return Scene(things, tuple(found["relations"]))


def some(n: int, **which) -> list[Scene]:
    return scenes(n, 0, pairs="all", **which)


@pytest.fixture(scope="module")
def inside(chromium):
    """Run code among the functions of the scripts: `given` is what it gets."""
    files = ("frame", "stage", "scenes")
    code = "\n".join((frame.HERE / f"{name}.js").read_text("utf-8") for name in files)
    tab = chromium.new_page()

    def run(what: str, given: object):
        script = "([code, world, given]) => new Function('world', 'given', code)(world, given)"
        return tab.evaluate(script, [f"{code}\n{what}", WORLD, given])

    yield run
    tab.close()


# As in utils.data.scenes --------------------------------------------------------------------------


@pytest.fixture
def few_hands(monkeypatch):
    """Scenes are drawn in the handwriting that the page has, too."""
    all_hands = drawing._handwriting("test")
    few = {name: inks[:HANDS] for name, inks in all_hands.items()}
    monkeypatch.setattr(drawing, "_handwriting", lambda part: few)
    return few


def hand(few: dict, picture: torch.Tensor, thing: Thing, box: Box) -> int:
    """Which ink of its form a thing was drawn with."""
    if thing.form not in few:
        return 0
    colour = torch.tensor(WORLD["colours"][thing.colour])[:, None, None]
    found = picture[:, box.top : box.bottom, box.left : box.right]
    same = [torch.equal(colour * torch.from_numpy(ink), found) for ink in few[thing.form]]
    return same.index(True)


def test_the_page_draws_things_as_the_book_does(inside, few_hands):
    described = some(60)
    pictures, boxes = drawn(described, 1, "test", need_boxes=True)
    kinds = [(form["form"], form["size"]) for form in WORLD["forms"]]
    given = [
        [
            {
                "kind": kinds.index((thing.form, thing.size)),
                "hand": hand(few_hands, picture, thing, box),
                "colour": thing.colour,
                "x": box.left,
                "y": box.top,
            }
            for thing, box in zip(scene.things, of_one, strict=True)
        ]
        for scene, picture, of_one in zip(described, pictures, boxes, strict=True)
    ]
    code = "const { pixels } = stage(world, () => {}); return given.map((all) => [...pixels(all)]);"
    found = torch.tensor(inside(code, given)).view_as(pictures)
    torch.testing.assert_close(found, pictures, atol=1e-6, rtol=0)
    assert {thing["hand"] for all in given for thing in all} == set(range(HANDS))
    assert any("inside" in scene.relations for scene in described)


def test_the_page_says_and_understands_what_the_book_does(inside):
    ways = [(language, way) for language, n in WAYS.items() for way in range(n)]
    given = [[plain(scene), *how] for scene in some(30) for how in ways]
    code = "const { say } = sayings(world); return given.map((one) => say(...one));"
    said = inside(code, given)
    assert said == [say(scene_of(scene), way, language) for scene, language, way in given]
    typed = [
        "A RED three, left of the blue  seven!",
        "红色的三在蓝色的小圆形里",
        "a red red three",
        "",
    ]
    code = """const { understand } = sayings(world);
        return given.map((text) => understand(text)?.scene ?? null);"""
    for text, found in zip(said + typed, inside(code, said + typed), strict=True):
        assert (found and scene_of(found)) == understood(text), text


def understood(text: str) -> Scene | None:
    try:
        return understand(text)
    except ValueError:
        return None


def test_the_page_takes_relations_for_what_the_book_does(inside):
    chance, pairs = Random(0), []
    for _ in range(2000):
        sides = chance.choices((8, 14), k=2)
        pairs.append(
            [
                {"x": chance.randint(0, 24 - s), "y": chance.randint(0, 24 - s), "side": s}
                for s in sides
            ]
        )
    code = "const { relation } = sayings(world); return given.map((pair) => relation(...pair));"
    found = inside(code, pairs)
    boxes = [
        [Box(b["x"], b["y"], b["x"] + b["side"], b["y"] + b["side"]) for b in pair]
        for pair in pairs
    ]
    assert found == [relation(*pair) for pair in boxes]
    assert set(found) == {*RELATIONS, None}


def test_what_a_picture_shows_is_true_of_it_and_exchanged_it_is_not(inside):
    described = some(60)
    _, boxes = drawn(described, 2, need_boxes=True)
    placed = [
        [
            vars(thing) | {"x": box.left, "y": box.top, "side": thing.side}
            for thing, box in zip(scene.things, of_one, strict=True)
        ]
        for scene, of_one in zip(described, boxes, strict=True)
    ]
    given = [
        [[plain(scene), *map(plain, exchanged(scene))], things]
        for scene, things in zip(described, placed, strict=True)
    ]
    code = """const { holds, seen } = sayings(world);
        return given.map(([all, placed]) =>
            [all.map((scene) => holds(scene, placed)), seen(placed)]);"""
    for scene, (true, seen) in zip(described, inside(code, given), strict=True):
        assert true == [True, *[False] * (len(true) - 1)], scene
        found = [
            Thing(**{part: thing[part] for part in vars(scene.things[0])})
            for thing in seen["things"]
        ]
        assert sorted(map(repr, found)) == sorted(map(repr, scene.things))
    again = [
        [[all["scene"]], all["things"]]
        for all in (
            {
                "scene": {
                    "things": [
                        {k: t[k] for k in ("form", "colour", "size")} for t in seen["things"]
                    ],
                    "relations": seen["relations"],
                },
                "things": things,
            }
            for things, (_, seen) in zip(placed, inside(code, given), strict=True)
        )
    ]
    assert all(true == [True] for true, _ in inside(code, again))


def test_sixteen_different_sentences_of_the_grammar_with_the_exchanged_ones_first(inside):
    described = [scene for n in (1, 2, 3) for scene in some(20, n_things=(n,))]
    code = """const { among } = sayings(world);
        return given.map((scene) => among(scene, world.others[scene.things.length], 16));"""
    for scene, found in zip(described, inside(code, [*map(plain, described)]), strict=True):
        all = [scene_of(one) for one in found]
        assert len(all) == len(set(all)) == 16 and all[0] == scene
        same_words = exchanged(scene)
        assert set(all[1 : 1 + len(same_words)]) == set(same_words)
        for one in all:
            assert len(one.things) == len(scene.things)
            assert understand(say(one)) == one


# Two encoders in the page -------------------------------------------------------------------------


def network() -> CLIP:
    """Two encoders that have not been trained, with weights large enough to tell scenes apart."""
    torch.manual_seed(0)
    sizes = {"vocab_size": len(VOCABULARY), "max_len": LONGEST, "positions": "learned"}
    sizes |= {"n_heads": HEADS, "n_layers": 2, "norm": "pre", "activation": "gelu"}
    vision = TransformerConfig(d_model=24, d_ff=40, **sizes)
    text = TransformerConfig(d_model=18, d_ff=30, **sizes)
    model = small_clip(vision, text, image_size=SIDE, patch_size=6, width=16).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return model


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stored network, and the same in int8."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        model = network()
        weights = in_int8(model)
        del weights["log_scale"]
        told = {"patch_size": 6, "temperature": 0.08, "words": list(VOCABULARY.symbols)}
        models.store("tiny", weights, made_by="tests", heads=HEADS, **told)
        yield folder, with_rounded_weights(model)


@torch.no_grad()
def cosines_of(model: CLIP, pictures: torch.Tensor, sentences: list[str]) -> torch.Tensor:
    """(B, n) for pictures (B, 3, side, side)."""
    ids, lengths = pad([VOCABULARY.encode(words(sentence)) for sentence in sentences])
    return cosines(model.encode_images(pictures), model.encode_texts(ids, lengths))


@pytest.mark.parametrize("chosen", [0, 2])
def test_the_page_computes_the_books_encoders_and_hides_patches(chromium, here, made, chosen):
    scene, *others = some(6, n_things=(2,))
    (picture,) = drawn([scene], 0)
    sentences = [say(scene), say(scene, 3, "zh"), *map(say, others)]
    parts, given = ["runtime", "towers"], {"picture": picture.flatten().tolist()}
    given |= {"sentences": [words(one) for one in sentences], "chosen": chosen, "hidden": 0.5}
    whole, *hidden = computed(chromium, "tiny", "towers", parts, **given)
    expected = cosines_of(made[1], picture[None], sentences)[0]
    torch.testing.assert_close(torch.tensor(whole["cosines"]), expected, atol=1e-5, rtol=0)
    rest = patches(picture[None], 6)[0].repeat(16, 1, 1)  # (16, N, 3 · 6 · 6)
    rest[range(16), range(16)] = 0.5
    falls = (
        expected[chosen] - cosines_of(made[1], unpatch(rest, 3, SIDE, SIDE), sentences)[:, chosen]
    )
    found = torch.tensor([piece["fall"] for piece in hidden])
    torch.testing.assert_close(found, falls, atol=1e-5, rtol=0)
    assert falls.abs().max() > 1e-3  # else this would compare nothing


# In the browser -----------------------------------------------------------------------------------

START = [
    {"form": "three", "colour": "red", "size": None, "hand": 1, "x": 2, "y": 8},
    {"form": "circle", "colour": "blue", "size": "small", "hand": 0, "x": 14, "y": 9},
]
SENTENCE = "a red three is to the left of a small blue circle"


@pytest.fixture
def opened(here, live):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light"):
        which_sentence("tiny", WORLD, start=START, sentence=SENTENCE)
        tab = live(theme)
        tab.evaluate(AS_IN_JUPYTERLAB)
        settled(tab)
        return tab

    return open_in


def settled(tab) -> None:
    """Wait until all patches have been hidden in turn."""
    expect(tab.locator(".view-answer")).to_have_attribute("aria-busy", "false")
    expect(tab.locator(".view-patches")).to_have_attribute("data-done", "")


def on(tab, name: str):
    """A thing on the canvas."""
    return tab.get_by_role("group", name="Canvas").get_by_role("button", name=name)


def offered(tab, name: str):
    """A thing of the tray."""
    return tab.get_by_role("group", name="Add a thing").get_by_role("button", name=name)


def listed(tab) -> dict[str, str]:
    """The sixteen sentences, best first, each with what stands beside it."""
    rows = tab.locator(".view-sixteen li")
    names = rows.locator("button").all_text_contents()
    return dict(zip(names, rows.locator("> span:last-child").all_text_contents(), strict=True))


def picture_of(things: list[dict]) -> torch.Tensor:
    """What the page shows, (3, side, side)."""
    picture = torch.zeros(3, SIDE, SIDE)
    for thing in sorted(things, key=lambda thing: thing["size"] == "large", reverse=True):
        (form,) = (
            one
            for one in WORLD["forms"]
            if (one["form"], one["size"]) == (thing["form"], thing["size"])
        )
        ink = torch.tensor([int(letter, 17) for letter in form["inks"][thing["hand"]]]) / 16
        ink = ink.view(math.isqrt(len(ink)), -1)
        colour = torch.tensor(WORLD["colours"][thing["colour"]])[:, None, None]
        y, x, n = thing["y"], thing["x"], len(ink)
        ground = picture[:, y : y + n, x : x + n]
        picture[:, y : y + n, x : x + n] = torch.where(ink > 0, colour * ink, ground)
    return picture


def expected(made, things: list[dict], sentences: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines of sentences and their probabilities, (16,)."""
    found = cosines_of(made[1], picture_of(things)[None], sentences)[0]
    return found, (found / 0.08).softmax(0)


def agrees(tab, made, things: list[dict], true: str | None = SENTENCE) -> None:
    """Whether the page shows what the book's encoders say of a picture, best first."""
    settled(tab)
    shown = listed(tab)
    assert len(shown) == 16
    _, shares = expected(made, things, list(shown))
    assert (shares.diff() <= 1e-5).all()
    for (sentence, number), share in zip(shown.items(), shares.tolist(), strict=True):
        assert abs(int(number.strip("✓ %")) - 100 * share) < 0.51
        assert ("✓" in number) == (sentence == true), sentence
    told = tab.locator(".view-answer p").first.inner_text()
    assert told.startswith(f"“{next(iter(shown))}” fits best of 16 (")


def test_things_are_moved_added_and_removed_by_keyboard(opened, made):
    tab = opened()
    agrees(tab, made, START)
    three = on(tab, "red three, column 3, row 9")
    three.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "ArrowDown"):
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement.ariaLabel") == "red three, column 5, row 10"
    things = [START[0] | {"x": 4, "y": 9}, START[1]]
    agrees(tab, made, things)
    for _ in range(20):
        tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")  # the edge holds it
    other = "a small blue circle is to the left of a red three"
    agrees(tab, made, [START[0] | {"x": 16, "y": 9}, START[1]], true=other)
    tab.keyboard.press("Delete")
    assert tab.locator(".view-stage button").count() == 1
    assert "column 15" in tab.evaluate("document.activeElement.ariaLabel")
    agrees(tab, made, START[1:], true=None)
    offered(tab, "large square").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.ariaLabel").startswith("blue large square, column ")
    tab.get_by_role("radio", name="green").check(force=True)
    assert on(tab, "green large square").count() == 1
    tab.get_by_role("button", name="Remove").click()
    assert tab.locator(".view-stage button").count() == 1
    for _ in range(3):
        offered(tab, "seven").click(force=True)  # the third one isn't taken
    assert tab.locator(".view-stage button").count() == 3


def test_things_are_dragged_on_the_canvas_and_from_the_tray(opened, made):
    tab = opened()
    box = tab.locator(".view-stage").bounding_box()
    pixel = box["width"] / SIDE

    def drag(node, x: float, y: float) -> None:
        start = node.bounding_box()
        tab.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        tab.mouse.down()
        for part in (0.3, 0.7, 1):  # to that pixel, by its middle
            tab.mouse.move(
                start["x"] + part * (box["x"] + x * pixel - start["x"]),
                start["y"] + part * (box["y"] + y * pixel - start["y"]),
            )
        tab.mouse.up()

    drag(on(tab, "red three"), 6, 5)
    things = [START[0] | {"x": 2, "y": 1}, START[1]]
    agrees(tab, made, things)
    drag(offered(tab, "small triangle"), 8, 20)
    things.append(
        {"form": "triangle", "colour": "red", "size": "small", "hand": 0, "x": 4, "y": 16}
    )
    agrees(tab, made, things)
    drag(offered(tab, "small square"), 8, 20)  # a fourth isn't taken
    assert tab.locator(".view-stage button").count() == 3
    assert tab.get_by_role("button", name="Another handwriting").is_disabled()
    on(tab, "red three").click()
    tab.get_by_role("button", name="Another handwriting").click()
    agrees(tab, made, [things[0] | {"hand": 2}, *things[1:]])


def test_typed_sentences_are_read_in_both_languages(opened, made):
    tab = opened()
    field, told = tab.get_by_label("Your sentence"), tab.locator(".view-answer p").first
    field.fill("红色的三在蓝色的小圆形的左边")
    expect(tab.locator(".view-sixteen li[data-own]")).to_contain_text("红色的三")
    agrees(tab, made, START, true="红色的三在蓝色的小圆形的左边")
    assert all("色" in sentence for sentence in listed(tab))
    assert tab.get_by_role("radio", name="中文").is_checked()
    field.fill("a red unicorn")
    expect(told).to_have_text("No scene is described with “unicorn”.")
    assert listed(tab) == {}
    field.fill(" . ")
    expect(told).to_have_text("Say what there is, as in “a red three”.")
    field.fill("red " * (LONGEST + 1))
    expect(told).to_have_text(f"It reads up to {LONGEST} words.")
    field.fill("three three circle")  # of known words, but none of the grammar
    expect(tab.locator(".view-sixteen li")).to_have_count(16)
    agrees(tab, made, START, true=None)
    never = tab.locator(".view-answer p").last
    expect(never).to_have_text(
        "“three three circle” describes no scene in the book's grammar, so it never gets a ✓."
    )
    field.fill("I can see a red three")
    expect(tab.locator(".view-sixteen li[data-own] button")).to_have_text("I can see a red three")
    agrees(tab, made, START, true="I can see a red three")
    expect(never).to_have_text("")


def test_menus_stay_in_the_grammar(opened):
    tab, chance, said = opened(), Random(0), set()
    tab.get_by_label("other thing").select_option(label="large circle")
    tab.get_by_label("relation").select_option(label="inside")
    said.add(understand(tab.get_by_label("Your sentence").input_value()))
    for step in range(24):
        if step % 8 == 7:
            name = "中文" if step < 10 else "English"
            tab.get_by_role("radio", name=name).check(force=True)
        select = chance.choice(tab.locator(".view-sentence select:visible").all())
        options = select.locator("option").evaluate_all("all => all.map((one) => one.value)")
        select.select_option(value=chance.choice(options))
        text = tab.get_by_label("Your sentence").input_value()
        scene = understand(text)
        assert has_room(scene) and len({thing.colour for thing in scene.things}) == len(
            scene.things
        )
        said.add(scene)
    assert len(said) > 15 and {len(scene.things) for scene in said} == {1, 2}
    assert any("inside" in scene.relations for scene in said)


def test_a_sentence_is_chosen_and_its_patches_are_told(opened, made):
    tab = opened()
    why, name = tab.locator(".view-answer p").nth(1), "a red three is above a small blue circle"
    tab.get_by_role("button", name=name).click()
    expect(why).to_contain_text(f"The score of “{name}” is ")
    settled(tab)
    picture = picture_of(START)[None]
    rest = patches(picture, 6)[0].repeat(16, 1, 1)
    rest[range(16), range(16)] = 0.0
    (whole,) = cosines_of(made[1], picture, [name])[0].tolist()
    falls = whole - cosines_of(made[1], unpatch(rest, 3, SIDE, SIDE), [name])[:, 0]
    frames = tab.locator(".view-patches span")
    shares = frames.evaluate_all("all => all.map((one) => +one.style.getPropertyValue('--share'))")
    torch.testing.assert_close(
        torch.tensor(shares), falls.abs() / falls.abs().max(), atol=2e-3, rtol=0
    )
    against = frames.evaluate_all("all => all.map((one) => one.dataset.sign)")
    clear = falls.abs() > 1e-5  # where the ground is hidden, nothing changes
    assert clear.sum() > 4
    assert torch.equal(
        torch.tensor([sign == "against" for sign in against])[clear], falls[clear] < 0
    )
    assert tab.locator(".view-sixteen [aria-pressed=true]").inner_text() == name


def test_two_are_exchanged_and_both_scores_told(opened, made):
    tab = opened()
    both = tab.locator(".view-answer p").nth(2)
    assert both.inner_text() == ""
    tab.get_by_role("button", name="Compare with colours exchanged").click()
    other = "a blue three is to the left of a small red circle"
    (one, two), _ = expected(made, START, [SENTENCE, other])
    told = [f"{score:.3f}".replace("-", "−") for score in (one, two)]
    verdict = "✓ The network prefers what is" if one > two else "✗ The network prefers what is not"
    assert both.inner_text() == (
        f"“{SENTENCE}” scores {told[0]}; with the colours exchanged, “{other}” scores {told[1]}. "
        f"{verdict} true of the picture."
    )
    tab.get_by_label("Your sentence").fill("a red three")
    expect(both).to_contain_text("Say two things of two colours")
    tab.get_by_role("button", name="Compare with colours exchanged").click()
    expect(both).to_have_text("")


def test_it_says_what_is_there_and_what_training_never_had(opened):
    tab = opened()
    field = tab.get_by_label("Your sentence")
    on(tab, "red three").focus()
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    for _ in range(8):
        tab.keyboard.press("ArrowDown")
    tab.get_by_role("radio", name="yellow").check(force=True)
    expect(tab.locator(".view-answer p").last).to_have_text("In training, no three was yellow.")
    tab.get_by_role("button", name="Say what is there").click()
    assert understand(field.input_value()) == Scene(
        (Thing("three", "yellow"), Thing("circle", "blue", "small")), ("left of",)
    )
    tab.get_by_role("button", name="Remove").click()
    tab.get_by_role("button", name="Remove").click()
    settled(tab)
    tab.get_by_role("button", name="Say what is there").click()
    expect(tab.locator(".view-answer p").first).to_have_text("The canvas is empty.")


# For everybody ------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    for text in (SENTENCE, "图里有一个蓝色的小圆形，它左边有一个红色的三", "a unicorn"):
        tab.get_by_label("Your sentence").fill(text)
        tab.wait_for_timeout(300)
        if text != "a unicorn":
            settled(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    sizes = tab.locator(".view-tray button").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().width)"
    )
    assert min(sizes) >= 24


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    which_sentence("tiny", for_pages(), start=START, sentence=SENTENCE)
    (bundle,) = shown
    assert bundle["text/plain"].startswith(
        "View: which sentence fits a scene. a red three, a small"
    )
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 90_000
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


@pytest.mark.parametrize("file", ["scenes", "stage", "towers", "which_sentence"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = (frame.HERE / f"{file}.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


@pytest.mark.parametrize(
    "change", [{"x": 17}, {"y": -1}, {"hand": HANDS}, {"colour": "black"}, {"size": "small"}]
)
def test_a_thing_outside_of_the_canvas_or_the_world_is_refused(here, shown, change):
    with pytest.raises(ValueError, match="canvas"):
        which_sentence("tiny", WORLD, start=[START[0] | change], sentence=SENTENCE)
    assert not shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"image_encoder.output.bias": (np.zeros(3, np.float32),)}, "image_encoder.output.bias"),
        ({"text_encoder.more": (np.zeros(3, np.float32),)}, "text_encoder.more"),
        ({"heads": 5}, "heads, patch size or temperature"),
        ({"temperature": 0}, "heads, patch size or temperature"),
        ({"patch_size": 0}, "image_encoder"),
        ({"patch_size": 4}, "image_encoder"),
        ({"words": ["a"]}, "text_encoder.encoder.embedding.symbols.weight"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load("tiny")
    told = header.keys() & change.keys()
    held = models.Stored(header | change if told else header, weights if told else weights | change)
    with pytest.raises(ValueError, match=said):
        check(held, SIDE)
