"""Day 12: what the space is like that pictures and sentences share, and what misleads in it.

Shapes: unit vectors (n, E).
"""

from random import Random

import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from utils.data.scenes import (
    COLOURS,
    DIGITS,
    FORMS,
    SHAPES,
    VOCABULARY,
    Scene,
    Thing,
    drawn,
    say,
    scenes,
    words,
)
from utils.data.text import pad
from utils.tasks.scenes import chosen, distinct_scenes, vectors_of
from utils.vision import CLIP

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
    sentence, and with another's.
    """
    across = images @ texts.T
    return {
        "gap": (images.mean(dim=0) - texts.mean(dim=0)).norm().item(),
        "own": across.diagonal().mean().item(),
        "others": across[~torch.eye(len(images), dtype=torch.bool)].mean().item(),
    }


# Named by a sentence, or by a classifier on top ---------------------------------------------------


def with_another(thing: Thing, form: str) -> Scene:
    """A scene of the thing with another form; a shape that was a digit is small."""
    return Scene((Thing(form, thing.colour, (thing.size or "small") if form in SHAPES else None),))


def worded(model: CLIP, n: int = 500, *, pairs: str = "all", seed: int = 0) -> float:
    """Share of n new pictures whose form is chosen correctly by sentences: zero-shot.

    The thirteen sentences differ in that word alone.
    """
    shown = scenes(n, seed, n_things=(1,), part="test", pairs=pairs)
    options = [[with_another(scene.things[0], form) for form in FORMS] for scene in shown]
    own = torch.tensor([FORMS.index(scene.things[0].form) for scene in shown])
    found = chosen(model, drawn(shown, seed, "test"), options)
    return (found == own).double().mean().item()


@torch.no_grad()
def probed(
    model: CLIP,
    n_labels: int,
    n: int = 500,
    *,
    pairs: str = "all",
    learned: str = "all",
    seed: int = 0,
) -> float:
    """The same by a logistic regression on pictures' vectors, learned from labels: a linear probe.

    learned: the pairs that the labelled pictures show, as in `scenes`; the seed draws these.
    """
    tables = []
    for m, part, which, start in ((n_labels, "train", learned, seed), (n, "test", pairs, 0)):
        shown = scenes(m, start, n_things=(1,), part=part, pairs=which)
        vectors = model.encode_images(drawn(shown, start, part))
        tables.append((vectors.numpy(), [scene.things[0].form for scene in shown]))
    train, test = tables
    return float(LogisticRegression(C=100.0, max_iter=1000).fit(*train).score(*test))


# What misleads ------------------------------------------------------------------------------------


@torch.no_grad()
def found_first(model: CLIP, n: int = 100, *, shuffled: bool = False, seed: int = 0) -> float:
    """Share of pictures of two or three things that find their sentence first among n.

    shuffled: all words of each sentence are.
    """
    shown = distinct_scenes(n, seed, n_things=(2, 3), part="test")
    spoken = [words(say(scene)) for scene in shown]
    if shuffled:
        spoken = [Random(i).sample(sentence, len(sentence)) for i, sentence in enumerate(spoken)]
    texts = model.encode_texts(*pad([VOCABULARY.encode(sentence) for sentence in spoken]))
    best = (model.encode_images(drawn(shown, seed, "test")) @ texts.T).argmax(dim=1)
    return (best == torch.arange(n)).double().mean().item()


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
    options = [[with_another(s.things[0], form) for form in DIGITS] for s in alone]
    own, other = (torch.tensor([DIGITS.index(s.things[k].form) for s in beside]) for k in (0, 1))
    first = chosen(model, drawn(alone, seed, "test"), options)
    second = chosen(model, drawn(beside, seed, "test"), options)
    shares = {"alone": first == own, "beside another": second == own, "the other": second == other}
    return {name: share.double().mean().item() for name, share in shares.items()}
