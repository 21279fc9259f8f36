"""Day 12: scenes with a sentence for each, in batches to learn from.

Shapes: pictures (B, 3, 24, 24), sentences as ids (B, T) with lengths (B,).
"""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

import torch
from torch import Tensor

from utils.data.scenes import (
    PAIRS_UNSEEN,
    VOCABULARY,
    WAYS,
    Scene,
    drawn,
    exchanged,
    has_room,
    part_of,
    say,
    scenes,
    words,
)
from utils.data.text import pad

POOL = 20_000  # scenes to learn from


def as_ids(sentences: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Return sentences as ids (n, T) and lengths (n,).

    Raises: ValueError if they are one string, or if one is none, or has an unknown word or none.
    """
    if isinstance(sentences, str):
        raise ValueError(f"Expected a list of sentences, such as [{sentences!r}], got a string.")
    return pad([VOCABULARY.encode(words(sentence)) for sentence in sentences])


@cache
def said(scene: Scene) -> tuple[list[int], ...]:
    """All sentences that describe a scene, in both languages, as ids."""
    ways = ((way, language) for language, n in WAYS.items() for way in range(n))
    return tuple(VOCABULARY.encode(words(say(scene, *how))) for how in ways)


class PicturesAndSentences:
    """Batches (pictures, ids, lengths, rows) for `fit`: all pictures drawn anew at each pass.

    No two scenes of a batch are the same. Each is said in one of its ways, in English or Chinese.
    alone: so many steps come first with scenes of one thing, all that there are if the batch is as
        large: their sentences differ in the form or the colour alone, so forms have to be learned.
    rows: 0 to B - 1: the sentence that belongs to a picture.
    hard: how likely a scene brings another one into the batch that is said with the same words.
    """

    def __init__(
        self,
        steps: int,
        batch_size: int,
        *,
        alone: int = 0,
        hard: float = 0.0,
        seed: int = 0,
        n: int = POOL,
    ):
        self.pool = _pool(n, seed)
        self.steps, self.batch_size, self.alone, self.hard = steps, batch_size, alone, hard

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        chance = Random(int(torch.randint(2**31, ())))  # `fit` seeds torch's generator
        for step in range(self.steps):
            if step >= self.alone:
                yield told(self.batch(chance), chance)
            elif self.batch_size >= len(self.pool[1]):
                yield told(dict.fromkeys(self.pool[1]), chance)
            else:
                yield told(dict.fromkeys(chance.sample(self.pool[1], self.batch_size)), chance)

    def batch(self, chance: Random) -> dict[Scene, Scene | None]:
        """Draw the scenes of a batch, each with the one, if any, whose words it shall repeat.

        A third of them has one thing, a third two and the rest three.
        """
        found: dict[Scene, Scene | None] = {}
        third = self.batch_size // 3
        for number in (1, 2, 3):
            n = min(third, len(self.pool[number])) if number < 3 else self.batch_size - len(found)
            full = len(found) + n
            if n > len(self.pool[number]):
                raise ValueError(
                    f"A batch of {self.batch_size} needs {n} scenes of {number} things, but there "
                    f"are {len(self.pool[number])} to learn from."
                )
            for scene in chance.sample(self.pool[number], n):
                others = near(scene) if chance.random() < self.hard else []
                if len(found) < full:
                    found.setdefault(scene)
                if others and len(found) < full:
                    found.setdefault(chance.choice(others), scene)
        return found


def told(shown: dict[Scene, Scene | None], chance: Random) -> tuple[Tensor, ...]:
    """Draw scenes and take a sentence for each: pictures, ids, lengths, and rows 0 to B - 1.

    shown: a scene, and that whose way to be said and language it takes.
    """
    ways = {}
    for scene, model in shown.items():
        ways[scene] = ways[model] if model else chance.randrange(len(said(scene)))
    sentences = [said(scene)[way] for scene, way in ways.items()]
    return drawn(list(shown), chance), *pad(sentences), torch.arange(len(shown))


@cache
def near(scene: Scene) -> list[Scene]:
    """Scenes for training with the same words, without a form in a colour that is kept out."""
    kept_out = PAIRS_UNSEEN.isdisjoint
    return [
        other
        for other in exchanged(scene)
        if kept_out((thing.form, thing.colour) for thing in other.things)
        and part_of(other) == "train"
        and has_room(other)
    ]


@cache
def _pool(n: int, seed: int) -> dict[int, list[Scene]]:
    """Different scenes to learn from, n drawn, by their numbers of things."""
    found = dict.fromkeys(scenes(n, seed))
    return {number: [s for s in found if len(s.things) == number] for number in (1, 2, 3)}
