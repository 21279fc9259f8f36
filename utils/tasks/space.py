"""Day 12: what the space is like that pictures and sentences share, and what misleads in it.

Shapes: unit vectors (n, E).
"""

from collections.abc import Sequence
from random import Random

import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from utils.data.scenes import (
    COLOURS,
    DIGITS,
    FORMS,
    SHAPES,
    Scene,
    Thing,
    drawn,
    say,
    scenes,
    words,
)
from utils.data.text import pad
from utils.tasks.scenes import VOCABULARY, chosen, distinct_scenes, vectors_of
from utils.vision import CLIP

ASKED = {"form": FORMS, "colour": tuple(COLOURS)}


# Two clouds ---------------------------------------------------------------------------------------


@torch.no_grad()
def clouds(
    model: CLIP, n: int = 300, *, language: str = "en", seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Return the vectors of n new pictures and those of their sentences, (n, E) each."""
    shown = distinct_scenes(n, seed, part="test")
    return model.encode_images(drawn(shown, seed, "test")), vectors_of(model, shown, language)


def gap(images: Tensor, texts: Tensor) -> dict[str, float]:
    """How far two clouds of unit vectors (n, E) are apart (Liang et al., 2022, §2.1).

    "gap": the distance of their means; "own" and "others": the mean cosine of a picture with its
    sentence, and with another's; "among pictures" and "among sentences": of two of a kind.
    """
    n = len(images)
    apart = ~torch.eye(n, dtype=torch.bool)
    across = images @ texts.T
    return {
        "gap": (images.mean(dim=0) - texts.mean(dim=0)).norm().item(),
        "own": across.diagonal().mean().item(),
        "others": across[apart].mean().item(),
        "among pictures": (images @ images.T)[apart].mean().item(),
        "among sentences": (texts @ texts.T)[apart].mean().item(),
    }


# Named by a sentence, or by a classifier on top ---------------------------------------------------


def with_another(thing: Thing, **changed: str) -> Scene:
    """A scene of the thing with another form or colour; a shape that was a digit is small."""
    form, colour = changed.get("form", thing.form), changed.get("colour", thing.colour)
    return Scene((Thing(form, colour, (thing.size or "small") if form in SHAPES else None),))


def worded(model: CLIP, what: str, n: int = 500, *, pairs: str = "all", seed: int = 0) -> float:
    """Share of n new pictures whose form, or colour, is chosen correctly by sentences: zero-shot.

    what: "form" or "colour": the sentences differ in that word alone.
    """
    shown = scenes(n, seed, n_things=(1,), part="test", pairs=pairs)
    options = [
        [with_another(scene.things[0], **{what: word}) for word in ASKED[what]] for scene in shown
    ]
    own = torch.tensor([ASKED[what].index(getattr(scene.things[0], what)) for scene in shown])
    found = chosen(model, drawn(shown, seed, "test"), options)
    return (found == own).double().mean().item()


@torch.no_grad()
def probed(
    model: CLIP,
    what: str,
    n_labels: int,
    n: int = 500,
    *,
    pairs: str = "all",
    learned: str = "all",
    seed: int = 0,
) -> float:
    """The same by a logistic regression on pictures' vectors, learned from labels: a linear probe.

    learned: the pairs that the labelled pictures show, as in `scenes`.
    """
    tables = []
    for m, part, which in ((n_labels, "train", learned), (n, "test", pairs)):
        shown = scenes(m, seed, n_things=(1,), part=part, pairs=which)
        vectors = model.encode_images(drawn(shown, seed, part))
        tables.append((vectors.numpy(), [getattr(scene.things[0], what) for scene in shown]))
    train, test = tables
    return float(LogisticRegression(C=100.0, max_iter=1000).fit(*train).score(*test))


# What misleads ------------------------------------------------------------------------------------


@torch.no_grad()
def found_by_bag(model: CLIP, n: int = 100, seed: int = 0) -> float:
    """Share of pictures that find their sentence first among n, if all words of each are shuffled.

    The scenes have two or three things.
    """
    shown = distinct_scenes(n, seed, n_things=(2, 3), part="test")
    return _found(model, shown, [_shuffled(words(say(scene)), i) for i, scene in enumerate(shown)])


@torch.no_grad()
def found_in_order(model: CLIP, n: int = 100, seed: int = 0) -> float:
    """The same with the words in their order."""
    shown = distinct_scenes(n, seed, n_things=(2, 3), part="test")
    return _found(model, shown, [words(say(scene)) for scene in shown])


def _found(model: CLIP, shown: Sequence[Scene], said: Sequence[list[str]]) -> float:
    texts = model.encode_texts(*pad([VOCABULARY.encode(sentence) for sentence in said]))
    images = model.encode_images(drawn(list(shown), 0, "test"))
    best = (images @ texts.T).argmax(dim=1)
    return (best == torch.arange(len(shown))).double().mean().item()


def _shuffled(sentence: list[str], seed: int) -> list[str]:
    return Random(seed).sample(sentence, len(sentence))


def misled(model: CLIP, n: int = 300, seed: int = 0) -> dict[str, float]:
    """Does a digit beside it change what a digit is taken for?

    Each picture shows a digit; it is asked which of ten it is, in its own colour: "a red three"?
    Returns: the share that is correct "alone", and with another digit of another colour beside it;
        and the share that is then taken for the "other" digit, in the colour of the first.
    """
    shown = [s for s in scenes(3 * n, seed, n_things=(1,), part="test") if s.things[0].size is None]
    alone, chance, beside = shown[:n], Random(seed), []
    for scene in alone:
        (own,) = scene.things
        form = chance.choice([form for form in DIGITS if form != own.form])
        colour = chance.choice([colour for colour in COLOURS if colour != own.colour])
        side = chance.choice(("left of", "right of", "above", "below"))
        beside.append(Scene((own, Thing(form, colour)), (side,)))
    options = [[with_another(s.things[0], form=form) for form in DIGITS] for s in alone]
    own, other = (torch.tensor([DIGITS.index(s.things[k].form) for s in beside]) for k in (0, 1))
    first = chosen(model, drawn(alone, seed, "test"), options)
    second = chosen(model, drawn(beside, seed, "test"), options)
    shares = {"alone": first == own, "beside another": second == own, "the other": second == other}
    return {name: share.double().mean().item() for name, share in shares.items()}
