"""Day 12's second task: scenes and the sentences that describe them, read by a small CLIP.

Shapes: pictures (B, 3, 24, 24), sentences as ids (B, T) with lengths (B,), unit vectors (B, E).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from statistics import fmean

import torch
from torch import Tensor, nn

from utils.arguments import check_choice
from utils.data.scenes import (
    COLOURS,
    FORMS,
    LONGEST,
    SHAPES,
    SIDE,
    VOCABULARY,
    Scene,
    Thing,
    choices,
    drawn,
    exchanged,
    say,
    scenes,
)
from utils.tasks.captions import PicturesAndSentences, as_ids
from utils.tasks.patches import encoder_config, optimiser_for
from utils.tasks.two_bytes import Weights, restored
from utils.training.loop import History, fit
from utils.vision import CLIP, contrastive_loss, small_clip

CHOICES = 16  # sentences to choose from
KINDS = "easy", "hard", "mixed"  # of the other sentences, see `candidates`


# Sentences to choose from -------------------------------------------------------------------------


def candidates(scene: Scene, kind: str, seed: int | Random = 0) -> list[Scene]:
    """Return sixteen scenes, the given one first, from whose sentences one is to be chosen.

    kind: "easy": other things, of any form and colour; "hard": the same form in all other colours,
        and other forms in the same colour; both for scenes of one thing. "mixed": those of
        `choices`, for any scene: words exchanged, one word changed, and others.
    Raises: ValueError if there is no such kind, or a scene of several things is to be easy or hard.
    """
    check_choice("kind", kind, KINDS)
    chance = seed if isinstance(seed, Random) else Random(seed)
    if kind == "mixed":
        found, place = choices(scene, CHOICES, chance)
        return [scene, *found[:place], *found[place + 1 :]]
    if len(scene.things) > 1:
        raise ValueError(f"{kind!r} sentences are for a scene of one thing: say 'mixed'.")
    (own,) = scene.things
    pairs = [(f, c) for f in FORMS for c in COLOURS if (f, c) != (own.form, own.colour)]
    if kind == "hard":
        colours = [pair for pair in pairs if pair[0] == own.form]
        forms = [pair for pair in pairs if pair[1] == own.colour]
        pairs = colours + chance.sample(forms, CHOICES - 1 - len(colours))
    else:
        pairs = chance.sample(pairs, CHOICES - 1)
    things = [Thing(f, c, (own.size or "small") if f in SHAPES else None) for f, c in pairs]
    return [scene, *(Scene((thing,)) for thing in things)]


# The model ----------------------------------------------------------------------------------------

P, WIDTH, TEXT_WIDTH = 4, 64, 48  # a patch's side, of the picture's encoder and the text's
E = 64  # of the space that both share
ALONE, STEPS, B, RATE = 3000, 6000, 128, 2e-2


def clip(seed: int = 0, temperature: float = 0.07) -> CLIP:
    """Return the page's CLIP, untrained: two blocks for pictures and one for sentences."""
    torch.manual_seed(seed)
    text = replace(encoder_config(TEXT_WIDTH, 1), vocab_size=len(VOCABULARY), max_len=LONGEST)
    model = small_clip(encoder_config(WIDTH, 2), text, image_size=SIDE, patch_size=P, width=E)
    with torch.no_grad():
        model.log_scale.fill_(-math.log(temperature))
    return model


def train(
    model: CLIP,
    batches: PicturesAndSentences,
    *,
    rate: float = RATE,
    loss: Callable[[Tensor, Tensor, Tensor], Tensor] = contrastive_loss,
    learn_temperature: bool = True,
    seed: int = 0,
) -> History:
    """Train a CLIP on batches that it sees once each.

    loss: called as `contrastive_loss` is.
    """
    model.log_scale.requires_grad_(learn_temperature)
    blocks = [model.image_encoder.encoder.blocks, model.text_encoder.encoder.blocks]
    optimiser, schedule = optimiser_for(model, blocks, rate, len(batches))
    return fit(
        model,
        batches,
        lambda outputs, rows: loss(*outputs),
        optimiser,
        epochs=1,
        seed=seed,
        schedule=schedule,
    )


# A model for the page -----------------------------------------------------------------------------


def encoders(model: CLIP) -> nn.ModuleDict:
    """What is stored of a CLIP in numbers of 8 bits: all but its temperature."""
    return nn.ModuleDict({"image_encoder": model.image_encoder, "text_encoder": model.text_encoder})


def restored_clip(weights: Weights, temperature: float) -> CLIP:
    """Return the page's CLIP with stored weights, in evaluation mode.

    weights, temperature: as `experiments/clip_page.py` stored them.
    Raises: ValueError if these are not the weights of such a model.
    """
    model = clip(temperature=temperature)
    restored(encoders(model), weights)
    return model.eval()


# What a model knows -------------------------------------------------------------------------------


@torch.no_grad()
def vectors_of(model: CLIP, described: Sequence[Scene], language: str = "en", way: int = 0):
    """Return the unit vectors (n, E) of the sentences that describe some scenes."""
    return model.encode_texts(*as_ids([say(scene, way, language) for scene in described]))


@torch.no_grad()
def likeness(
    model: CLIP, pictures: Tensor, options: Sequence[Sequence[Scene]], language: str = "en"
) -> Tensor:
    """Return the cosine of each picture with its scenes' sentences. options: K for each; (B, K)."""
    distinct = list(dict.fromkeys(scene for of_one in options for scene in of_one))
    place = {scene: i for i, scene in enumerate(distinct)}
    rows = torch.tensor([[place[scene] for scene in of_one] for of_one in options])  # (B, K)
    texts = vectors_of(model, distinct, language)[rows]  # (B, K, E)
    return (texts @ model.encode_images(pictures)[:, :, None])[..., 0]


def chosen(
    model: CLIP, pictures: Tensor, options: Sequence[Sequence[Scene]], language: str = "en"
) -> Tensor:
    """Return which of its scenes' sentences each picture fits best, (B,). As in `likeness`.

    Ties go to the first.
    """
    return likeness(model, pictures, options, language).argmax(dim=1)


def named(
    model: CLIP,
    n: int,
    *,
    kind: str = "mixed",
    pairs: str = "unseen",
    part: str = "test",
    n_things: Sequence[int] = (1,),
    language: str = "en",
    seed: int = 0,
) -> float:
    """Share of n new pictures whose sentence is chosen among sixteen: zero-shot naming.

    kind: of the other sentences, see `candidates`; the rest as in `scenes`.
    """
    shown = scenes(n, seed, n_things=n_things, part=part, pairs=pairs)
    options = [candidates(scene, kind, i) for i, scene in enumerate(shown)]
    found = chosen(model, drawn(shown, seed, part), options, language)
    return (found == 0).double().mean().item()


def retrieved(
    model: CLIP,
    n: int = 100,
    *,
    language: str = "en",
    pairs: str = "seen",
    part: str = "test",
    seed: int = 0,
) -> tuple[float, float]:
    """Share of pictures that find their sentence first among n, and of sentences their picture.

    The n scenes, of one to three things, are all different.
    """
    shown = distinct_scenes(n, seed, part=part, pairs=pairs)
    with torch.no_grad():
        images = model.encode_images(drawn(shown, seed, part))
    likeness = images @ vectors_of(model, shown, language).T
    rows = torch.arange(n)
    return tuple((likeness.argmax(dim=d) == rows).double().mean().item() for d in (1, 0))


def found_both_ways(model: CLIP, part: str = "validation") -> float:
    """Return the mean of both shares of `retrieved`, over three draws of scenes of a part."""
    return fmean(fmean(retrieved(model, part=part, seed=draw)) for draw in range(3))


def distinct_scenes(n: int, seed: int, **which: object) -> list[Scene]:
    """The first n different scenes that `scenes` draws; other arguments are its."""
    chance, found = Random(seed), {}
    while len(found) < n:
        found.update(dict.fromkeys(scenes(n, chance, **which)))
    return list(found)[:n]


EXCHANGES = "colours", "places"
TIE = 1e-6  # cosines closer than this are the same but for rounding


def told_from_exchanged(
    model: CLIP, n: int = 400, *, language: str = "en", part: str = "test", seed: int = 0
) -> dict[str, float]:
    """Share of pictures of two things that fit their sentence better than one in the same words.

    In the other sentence the things have exchanged their "colours" or their "places"; a bag of
    words can't tell the two sentences apart: a tie counts as half, so its share is a half.
    """
    drawn_at_random = scenes(2 * n, seed, n_things=(2,), part=part)
    shown = [scene for scene in drawn_at_random if len(exchanged(scene)) == 2][:n]
    pictures = drawn(shown, seed, part)
    found = {}
    for name, i in zip(EXCHANGES, (0, 1), strict=True):
        options = [[scene, exchanged(scene)[i]] for scene in shown]
        own, other = likeness(model, pictures, options, language).double().T
        lead = (own - other).where((own - other).abs() > TIE, 0.0)
        found[name] = ((lead.sign() + 1) / 2).mean().item()
    return found
