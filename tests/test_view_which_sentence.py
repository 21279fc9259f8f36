"""Day 12's scenes in the page: drawn and said as in the book, and read by the book's two encoders."""

from random import Random

import pytest
import torch
from playwright.sync_api import expect

from utils.data.scenes import (
    FORMS,
    RELATIONS,
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
)
from utils.show.views import frame

HANDS = 5  # of each digit, which keeps the pages of these tests small
WORLD = for_pages(HANDS)
expect.set_options(timeout=60_000)


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
        "红色的三在小蓝色圆形里",
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
        return given.map(([all, placed]) => [all.map((scene) => holds(scene, placed)), seen(placed)]);"""
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
