"""Scenes: what is drawn is what is said, both can be read again, and the parts share nothing."""

import re
from itertools import combinations, product
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image
from scipy import ndimage

from utils.data.pictures import digits
from utils.data.scenes import (
    COLOURS,
    DIGITS,
    FORMS,
    LONGEST,
    OPPOSITE,
    PAIRS_UNSEEN,
    RELATIONS,
    SIDE,
    VOCABULARY,
    WAYS,
    Box,
    Scene,
    Seen,
    Thing,
    choices,
    contradicts,
    described,
    draw,
    drawn,
    exchanged,
    has_room,
    paint,
    part_of,
    read,
    relation,
    say,
    scenes,
    shows,
    understand,
    words,
)
from utils.data.text import UNK

THREE, SEVEN = Thing("three", "red"), Thing("seven", "blue")
RING, DOT = Thing("circle", "green", "large"), Thing("circle", "yellow", "small")
THINGS = [
    Thing(form, colour, size)
    for form, colour in product(FORMS, COLOURS)
    for size in ([None] if form in DIGITS else ["small", "large"])
]
SAID = [(language, way) for language in WAYS for way in range(WAYS[language])]


@pytest.fixture(scope="module")
def world() -> list[Scene]:
    return scenes(400, seed=5, pairs="all")


@pytest.fixture(scope="module")
def pictures(world) -> tuple[torch.Tensor, list[list[Box]]]:
    return drawn(world, seed=5, need_boxes=True)


# What is said


@pytest.mark.parametrize(("language", "way"), SAID)
def test_every_sentence_says_its_scene_and_no_other(language, way):
    chance = Random(0)
    all_kinds = [Scene((thing,)) for thing in THINGS]
    for relations in [*product(RELATIONS), *product(RELATIONS, repeat=2)]:
        for _ in range(20):
            things = tuple(chance.choice(THINGS) for _ in range(len(relations) + 1))
            all_kinds.append(Scene(things, relations))
    sentences = [say(scene, way, language) for scene in all_kinds]
    assert [understand(sentence) for sentence in sentences] == all_kinds
    assert len(set(sentences)) == len(set(all_kinds))


def test_each_way_is_another():
    for relations in [(), *product(RELATIONS), *product(RELATIONS, repeat=2)]:
        scene = Scene((THREE, SEVEN, RING)[: len(relations) + 1], relations)
        assert len({say(scene, way, language) for language, way in SAID}) == len(SAID)


def test_sentences_are_those_that_people_say():
    left, inside = Scene((THREE, SEVEN), ("left of",)), Scene((THREE, RING), ("inside",))
    both = Scene((THREE, RING, SEVEN), ("inside", "above"))
    assert say(left) == "a red three is to the left of a blue seven"
    assert say(inside, 4) == "a large green circle with a red three inside it"
    assert say(both, 2) == (
        "a red three, around it a large green circle, and below that a blue seven"
    )
    assert say(left, 0, "zh") == "红色的三在蓝色的七的左边"
    assert say(left, 1, "zh") == "蓝色的七左边有一个红色的三"
    assert say(inside, 1, "zh") == "绿色的大圆形里有一个红色的三"
    assert say(both, 1, "zh") == "绿色大圆形里有红色的三，下面有蓝色的七"


def test_a_sentence_may_be_typed_in_other_ways():
    scene = Scene((THREE, SEVEN), ("left of",))
    for typed in (
        "The red three is left of the blue seven.",
        "there is a red three left of a blue seven!",
        "一个红色的三在蓝色的七左边。",
    ):
        assert understand(typed) == scene


def test_words_are_in_the_vocabulary_and_sentences_no_longer_than_the_constant():
    lengths = set()
    kinds = [THREE, DOT, RING, Thing("triangle", "red", "small")]
    for relations in [(), *product(RELATIONS), *product(RELATIONS, repeat=2)]:
        for things in product(kinds, repeat=len(relations) + 1):
            for language, way in SAID:
                found = words(say(Scene(things, relations), way, language))
                lengths.add(len(found))
                assert UNK not in VOCABULARY.encode(found)
    assert max(lengths) == LONGEST
    said = {
        word
        for thing in THINGS
        for relations in product(RELATIONS, repeat=2)
        for language, way in SAID
        for scene in (Scene((thing,)), Scene((thing, THREE), relations[:1]))
        + (Scene((thing, THREE, SEVEN), relations),)
        for word in words(say(scene, way, language))
    }
    assert said == set(VOCABULARY.symbols[4:])  # and each word of it is said


def test_words_are_taken_apart_in_both_languages():
    assert words("A red three, inside it!") == ["a", "red", "three", "inside", "it"]
    assert words("红色的三。") == ["红", "色", "的", "三"]


# What is exchanged, and what there is to choose from


def test_exchanged_says_something_else_with_the_same_words(world):
    assert exchanged(Scene((THREE, SEVEN), ("left of",))) == [
        Scene((Thing("three", "blue"), Thing("seven", "red")), ("left of",)),
        Scene((SEVEN, THREE), ("left of",)),
    ]
    assert exchanged(Scene((THREE,))) == []
    for scene in world:
        others = exchanged(scene)
        assert len(others) >= len(scene.relations)
        for other in others:
            assert contradicts(scene, other)
            for language, way in SAID:
                if {t.size for t in scene.things} == {None} and "inside" not in scene.relations:
                    mine, its = (sorted(words(say(s, way, language))) for s in (scene, other))
                    assert mine == its


def test_no_picture_shows_what_contradicts_it(world, pictures):
    for scene, picture in zip(world[:40], pictures[0], strict=False):
        candidates, place = choices(scene, 16, seed=1)
        assert [shows(picture, other) for other in candidates] == [i == place for i in range(16)]


def test_choices_are_different_and_their_place_is_drawn(world):
    places = set()
    for seed, scene in enumerate(world):
        candidates, place = choices(scene, 16, seed)
        assert len(set(candidates)) == 16 and candidates[place] == scene
        assert set(exchanged(scene)) <= set(candidates)
        places.add(place)
    assert places == set(range(16))
    assert choices(world[0], 1, 0) == ([world[0]], 0)


# What is drawn at random


def test_the_same_seed_gives_the_same_scenes_and_pictures():
    assert scenes(50, 1) == scenes(50, 1) != scenes(50, 2)
    there = scenes(50, 1)
    assert drawn(there, 3).equal(drawn(there, 3))
    assert not drawn(there, 3).equal(drawn(there, 4))
    assert draw(there[0], 3).equal(drawn(there[:1], 3)[0])
    going_on = Random(3)
    assert not drawn(there, going_on).equal(drawn(there, going_on))


def test_each_form_lacks_one_colour_and_each_colour_two_or_three_forms():
    assert sorted(form for form, _ in PAIRS_UNSEEN) == sorted(FORMS)
    for colour in COLOURS:
        assert sum(pair[1] == colour for pair in PAIRS_UNSEEN) in (2, 3)


def test_held_out_pairs_are_never_in_training():
    def unseen(scene: Scene) -> bool:
        return any((thing.form, thing.colour) in PAIRS_UNSEEN for thing in scene.things)

    assert not any(map(unseen, scenes(2_000, 0)))
    assert all(map(unseen, scenes(500, 0, pairs="unseen")))
    assert len(set(map(unseen, scenes(100, 0, pairs="all")))) == 2
    shown = {(t.form, t.colour) for s in scenes(2_000, 0) for t in s.things}
    assert shown == set(product(FORMS, COLOURS)) - PAIRS_UNSEEN


def test_the_parts_share_no_scene_however_it_is_said():
    def turned(scene: Scene) -> Scene:
        relations = tuple(OPPOSITE[name] for name in scene.relations[::-1])
        return Scene(scene.things[::-1], relations)

    for part in ("train", "validation", "test"):
        found = scenes(500, 0, n_things=(2, 3), part=part)
        assert {part_of(scene) for scene in found} == {part}
        same = [turned(scene) for scene in found if "inside" not in scene.relations]
        assert {part_of(scene) for scene in same} == {part}


def test_scenes_have_the_numbers_of_things_that_are_asked_for():
    found = scenes(300, 0)
    counts = [sum(len(scene.things) == n for scene in found) for n in (1, 2, 3)]
    assert min(counts) > 60  # 100 expected, standard deviation 8
    assert {len(scene.things) for scene in scenes(50, 0, n_things=(2,))} == {2}
    for scene in found:
        assert has_room(scene) and len({t.colour for t in scene.things}) == len(scene.things)


def test_every_relation_and_every_thing_occurs():
    found = scenes(3_000, 0, pairs="all")
    assert {thing for scene in found for thing in scene.things} == set(THINGS)
    said = [name for scene in found for name in scene.relations]
    assert all(said.count(name) > 0.1 * len(said) for name in RELATIONS)


# What is drawn


def test_relations_are_true_in_the_pixels(world, pictures):
    for scene, picture in zip(world, pictures[0], strict=True):
        edges = []
        for thing in scene.things:
            rgb = torch.tensor(COLOURS[thing.colour])
            ink = torch.linalg.cross(picture, rgb[:, None, None].expand_as(picture), dim=0)
            mine = (ink.abs().sum(0) < 1e-6) & (picture.sum(0) > 0)  # parallel to its colour
            assert mine.sum() >= 10
            y, x = mine.nonzero().T
            edges.append((x.min(), y.min(), x.max(), y.max()))
        for a, b, name in zip(edges, edges[1:], scene.relations, strict=False):
            holds = {
                "left of": a[2] < b[0],
                "right of": b[2] < a[0],
                "above": a[3] < b[1],
                "below": b[3] < a[1],
                "inside": a[0] > b[0] and a[1] > b[1] and a[2] < b[2] and a[3] < b[3],
            }
            assert holds[name]


def test_things_are_where_their_boxes_are_and_nowhere_else(world, pictures):
    for scene, picture, boxes in zip(world, *pictures, strict=True):
        outside = picture.clone()
        for a, b, name in zip(boxes, boxes[1:], scene.relations, strict=False):
            assert relation(a, b) == name
            assert relation(b, a) == (None if name == "inside" else OPPOSITE[name])
        for left, top, right, bottom in boxes:
            assert min(left, top) >= 0 and max(right, bottom) <= SIDE
            assert picture[:, top:bottom, left:right].any()
            outside[:, top:bottom, left:right] = 0
        assert not outside.any()
        for (i, a), (j, b) in combinations(enumerate(boxes), 2):
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart or (j == i + 1 and scene.relations[i] == "inside")


def test_digits_are_the_handwriting_of_their_part():
    data = digits("file order")
    for part in ("train", "test"):
        images, labels = getattr(data, part)
        for seed in range(20):
            picture, ((box,),) = drawn([Scene((THREE,))], seed, part, need_boxes=True)
            red = picture[0, 0, box.top : box.bottom, box.left : box.right]
            assert (images[labels == 3, 0] == red).all(dim=(1, 2)).any()


def test_every_place_occurs():
    _, boxes = drawn([Scene((DOT,))] * 3_000, 0, need_boxes=True)
    assert {(box.left, box.top) for (box,) in boxes} == set(product(range(17), repeat=2))


def test_things_are_painted_where_one_wants_them():
    boxes = [Box(0, 1, 8, 9), Box(10, 2, 24, 16)]
    picture = paint([DOT, RING], boxes, 0)
    assert read(picture) == [Seen(RING, boxes[1]), Seen(DOT, boxes[0])]
    three = [paint([THREE], [Box(x, 3, x + 8, 11)], seed=2)[:, 3:11, x : x + 8] for x in (0, 9)]
    assert three[0].equal(three[1])


# What is read


def worse(pictures: torch.Tensor, blur: float, noise: float) -> torch.Tensor:
    """A Gaussian blur of this many pixels, and normal noise of this standard deviation."""
    chance = np.random.default_rng(0)
    blurred = ndimage.gaussian_filter(pictures.numpy(), (0, 0, blur, blur))
    noisy = blurred + chance.normal(0, noise, blurred.shape)
    return torch.tensor(noisy, dtype=torch.float32).clip(0, 1)


def share(pictures: torch.Tensor, said: list[Scene]) -> float:
    """The share of the pictures that are read as what they show."""
    return sum(map(shows, pictures, said)) / len(said)


def test_training_handwriting_is_read_and_where_it_is(world, pictures):
    assert share(pictures[0], world) == 1
    for scene, picture, boxes in zip(world[:100], *pictures, strict=False):
        for seen in read(picture):
            box = boxes[scene.things.index(seen.thing)]
            assert np.abs(np.subtract(seen.box, box)).max() <= (2 if seen.thing.size is None else 0)


@pytest.mark.parametrize("part", ["train", "test"])
def test_shapes_are_read_exactly_in_every_relation_and_colour(part):
    shapes = [s for s in scenes(4_000, 2, pairs="all") if all(t.size for t in s.things)][:300]
    pictures = drawn(shapes, 0, part)
    assert share(pictures, shapes) == 1
    assert share(worse(pictures, 0.5, 0.02), shapes) > 0.98


def test_handwriting_never_seen_is_mostly_read():
    said = scenes(1_000, 3, n_things=(1, 2), part="test", pairs="all")
    assert share(drawn(said, 3, "test"), said) > 0.9


def test_blur_and_noise_are_no_harm(world, pictures):
    assert share(worse(pictures[0], 0.5, 0.05), world) > 0.95
    assert share(worse(pictures[0], 0.7, 0), world) > 0.93
    assert share(0.6 * pictures[0], world) > 0.95


def test_more_or_less_than_what_is_said_is_not_shown():
    scene = Scene((DOT, RING), ("inside",))
    picture = draw(scene, 0)
    assert shows(picture, scene)
    assert not shows(picture, Scene((DOT,))) and not shows(picture, Scene((RING,)))
    assert not shows(torch.zeros(3, SIDE, SIDE), scene)
    assert read(torch.zeros(3, SIDE, SIDE)) == []
    assert read(torch.ones(3, SIDE, SIDE)) is None  # one large piece, which is no thing


def test_things_of_one_colour_are_told_apart():
    things = [
        Thing("three", "red"),
        Thing("square", "red", "small"),
        Thing("circle", "red", "large"),
    ]
    boxes = [Box(0, 0, 8, 8), Box(11, 0, 19, 8), Box(5, 10, 19, 24)]
    assert {seen.thing for seen in read(paint(things, boxes, 0))} == set(things)


def test_what_was_seen_is_described(world, pictures):
    for scene, picture in zip(world[:150], pictures[0], strict=False):
        found = described(read(picture))
        assert shows(picture, found) and not contradicts(scene, found)
        assert ("inside" in found.relations) == ("inside" in scene.relations)


def test_noise_is_answered_at_once():
    picture = torch.rand(3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))
    assert not shows(picture, Scene((THREE,)))


def test_relations_are_decided_by_the_larger_distance():
    assert relation(Box(0, 0, 8, 8), Box(9, 8, 17, 16)) == "left of"
    assert relation(Box(0, 0, 8, 8), Box(8, 9, 16, 17)) == "above"
    assert relation(Box(4, 4, 12, 12), Box(5, 0, 19, 14)) == "inside"  # one pixel over the edge
    assert relation(Box(3, 4, 11, 12), Box(5, 0, 19, 14)) == "left of"
    assert Box(0, 2, 8, 10).centre == (4, 6)


# What is not understood

BAD = {
    "no such form": (lambda: Thing("ten", "red"), "'ten'"),
    "no such colour": (lambda: Thing("two", "pink"), "'pink'"),
    "a digit with a size": (lambda: Thing("two", "red", "small"), "one size"),
    "a shape without": (lambda: Thing("circle", "red"), "small.*large"),
    "no thing": (lambda: Scene(()), "not 0"),
    "four things": (lambda: Scene((THREE,) * 4, ("above",) * 3), "not 4"),
    "no relation": (lambda: Scene((THREE, SEVEN)), "need 1"),
    "another relation": (lambda: Scene((THREE, SEVEN), ("around",)), "'around'"),
    "no such language": (lambda: say(Scene((THREE,)), 0, "de"), "'de'"),
    "no such way": (lambda: say(Scene((THREE,)), 5), "0 to 4"),
    "no word": (lambda: words(" . "), "empty"),
    "an unknown word": (lambda: understand("a red zebra"), "'zebra'"),
    "an unknown character": (lambda: understand("红色的猫"), "'猫'"),
    "a digit in figures": (lambda: words("a red 3"), "'3'"),
    "no sentence": (lambda: understand("three red a"), "'three red a'"),
    "two languages": (lambda: understand("a red 三"), "describes no scene"),
    "no size": (lambda: understand("a red circle"), "circle is.*small"),
    "no such part": (lambda: scenes(1, 0, part="dev"), "'dev'"),
    "no such pairs": (lambda: scenes(1, 0, pairs="some"), "'some'"),
    "four to draw": (lambda: scenes(1, 0, n_things=(4,)), "1, 2 or 3"),
    "nothing to choose": (lambda: choices(Scene((THREE,)), 0, 0), "at least one"),
    "no handwriting": (lambda: draw(Scene((THREE,)), 0, "dev"), "'dev'"),
    "a wrong box": (lambda: paint([THREE], [Box(0, 0, 9, 8)], 0), "8 by 8"),
    "over the edge": (lambda: paint([THREE], [Box(20, 0, 28, 8)], 0), "inside 24 by 24"),
    "inside a digit": (lambda: draw(Scene((THREE, SEVEN), ("inside",)), 0), "no room"),
    "two large ones": (lambda: draw(Scene((RING, RING), ("above",)), 0), "no room"),
    "no grid": (lambda: drawn([Scene((THREE,))], 0, grid=0), "grid.*at least 1, not 0"),
    "a grid below 0": (lambda: drawn([Scene((THREE,))], 0, grid=-1), "grid.*at least 1, not -1"),
    "no text": (lambda: understand(None), "a string, not NoneType"),
    "no picture": (lambda: read(None), "a tensor.*not NoneType"),
    "a file's picture": (lambda: read(Image.new("RGB", (24, 24))), "a tensor.*not Image"),
    "an array to judge": (lambda: shows(np.zeros((3, 24, 24)), Scene((THREE,))), "ndarray"),
    "another size": (lambda: read(torch.zeros(3, 8, 8)), r"\(3, 24, 24\)"),
    "nothing seen": (lambda: described([]), "0 were seen"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    call, says = BAD[case]
    with pytest.raises(ValueError) as error:
        call()
    text = str(error.value)
    assert re.search(says, text) and text[-1] in ".?" and ". " not in text and "\n" not in text
