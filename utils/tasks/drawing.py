"""Day 13's task: a writer of sentences and codes draws scenes, and the parser judges.

Shapes: codes of a picture (B, 36), sentences as ids (B, T) padded behind, both in one row
(B, 27 + 1 + 36).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from utils.arguments import check_sizes
from utils.data.scenes import LONGEST, SIDE, VOCABULARY, Scene, drawn, say, shows, understand
from utils.data.text import pad
from utils.drawing import (
    SharedVocabulary,
    VQAutoencoder,
    describing_step,
    drawing_step,
    joint_loss,
    without_sentences,
)
from utils.seq2seq import BOS, EOS
from utils.tasks.captions import as_ids, said
from utils.tasks.patches import encoder_config, optimiser_for
from utils.tasks.scenes import vectors_of
from utils.tasks.scenes_in_codes import GRID, PLACES, K
from utils.tasks.two_bytes import Weights, restored
from utils.training.loop import History, fit
from utils.training.sampling import chooser, generate
from utils.transformer import DecoderOnly
from utils.vision import CLIP

Painter = Callable[[Sequence[str], int], Tensor]  # sentences and a seed to codes (n, 36)
STEPS, B, RATE, POOL = 4000, 64, 2e-2, 40_000  # of the page's writer, and scenes to learn from
TAU = 0.7  # the temperature at which it draws
TRIES = 1, 2, 4, 8, 16  # pictures of a sentence, of which one is chosen
DROPPED = 0.1  # share of the rows that are learned without their sentence


def vocabulary(n_codes: int = K) -> SharedVocabulary:
    """Return numbers for all words of the scenes, for codes, and for the mark."""
    return SharedVocabulary(len(VOCABULARY), n_codes, LONGEST, PLACES)


# A writer of sentences and codes ------------------------------------------------------------------


def writer(seed: int = 0, *, n_codes: int = K, width: int = 96, n_layers: int = 3) -> DecoderOnly:
    """Return Day 9's GPT for sentences and codes, untrained."""
    torch.manual_seed(seed)
    symbols = vocabulary(n_codes)
    config = replace(
        encoder_config(width, n_layers),
        vocab_size=len(symbols),
        max_len=symbols.context,
        tied=False,
    )
    return DecoderOnly(config)


def facts_for_page(model: DecoderOnly) -> dict[str, object]:
    """Return what a page has to know of a writer beside its weights."""
    words = list(VOCABULARY.symbols)
    return {"heads": model.config.n_heads, "words": words, "longest": LONGEST}


def restored_writer(weights: Weights) -> DecoderOnly:
    """Return the page's writer with stored weights, in evaluation mode.

    weights: as `experiments/drawing_page.py` stored them.
    Raises: ValueError if these are not the weights of such a model.
    """
    return restored(writer(), weights)


class SentencesAndCodes:
    """Batches (ids, ids) for `fit`: scenes drawn from a pool, each said in one of its ways.

    codes: (n, 36), of the scenes of the pool.
    described: share of the batches in which the picture comes first, and a sentence is written.
    """

    def __init__(
        self,
        pool: Sequence[Scene],
        codes: Tensor,
        steps: int,
        batch_size: int,
        *,
        n_codes: int = K,
        described: float = 0.0,
    ):
        check_sizes(steps=steps, batch_size=batch_size)
        if not pool:
            raise ValueError("There is no scene to learn from.")
        if len(pool) != len(codes):
            raise ValueError(f"{len(pool)} scenes need as many pictures in codes: {len(codes)}?")
        self.pool, self.codes, self.symbols = list(pool), codes, vocabulary(n_codes)
        self.steps, self.batch_size, self.described = steps, batch_size, described

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        chance = Random(int(torch.randint(2**31, ())))
        for _ in range(self.steps):
            codes, words, _ = self.batch(chance)
            if chance.random() < self.described:
                ids = self.symbols.picture_then_sentence(codes, words)
            else:
                ids = self.symbols.sentence_then_picture(without_sentences(words, DROPPED), codes)
            yield ids, ids

    def batch(self, chance: Random) -> tuple[Tensor, Tensor, Tensor]:
        """Return codes (B, 36), words (B, T) and how many these are (B,)."""
        rows = chance.choices(range(len(self.pool)), k=self.batch_size)
        words, lengths = pad([chance.choice(said(self.pool[row])) for row in rows])
        return self.codes[rows], words, lengths


def train_writer(
    model: DecoderOnly,
    batches: SentencesAndCodes,
    *,
    rate: float = RATE,
    weights: tuple[float, float] = (1 / 8, 7 / 8),
    seed: int = 0,
) -> History:
    """Train a writer on batches that it sees once each, and leave it in evaluation mode.

    weights: of words and of codes, as `joint_loss` takes them.
    """
    loss = partial(joint_loss, vocabulary=batches.symbols, weights=weights)
    optimiser, schedule = optimiser_for(model, [model.stack.blocks], rate, len(batches))
    history = fit(
        model,
        batches,
        lambda outputs, ids: loss(outputs[0], ids),
        optimiser,
        epochs=1,
        seed=seed,
        schedule=schedule,
    )
    model.eval()
    return history


# Drawing and describing ---------------------------------------------------------------------------


def painter(
    model: DecoderOnly, *, tau: float = TAU, top_k: int | None = None, guidance: float = 1.0
) -> Painter:
    """Return what draws codes of sentences, one after another.

    Its ValueErrors say which word is unknown, or that a sentence is empty.
    """
    symbols = symbols_of(model)

    def paint(sentences: Sequence[str], seed: int) -> Tensor:
        words = symbols.padded(as_ids(sentences)[0])
        first = torch.full((len(words),), symbols.mark)
        choose = chooser(tau, top_k, generator=torch.Generator().manual_seed(seed))
        step = drawing_step(model, symbols, guidance)
        return symbols.codes_of(generate(step, words, first, symbols.n_places, choose))

    return paint


def symbols_of(model: DecoderOnly) -> SharedVocabulary:
    """Return the vocabulary of a writer."""
    return vocabulary(model.config.vocab_size - len(VOCABULARY) - 1)


def apart(model: DecoderOnly, shown: Sequence[Scene], guidance: float, seed: int = 0) -> float:
    """Return the mean share of codes in which two drawings of one sentence differ."""
    sentences, paint = [say(scene) for scene in shown], painter(model, guidance=guidance)
    return (paint(sentences, seed) != paint(sentences, seed + 1)).double().mean().item()


@torch.no_grad()
def descriptions(model: DecoderOnly, codes: Tensor) -> list[str]:
    """Return what a writer says of pictures: the likeliest words. Shapes: codes (n, 36)."""
    symbols = symbols_of(model)
    first = torch.full((len(codes),), BOS)
    step = describing_step(model, symbols)
    ids = generate(step, symbols.ids_of(codes), first, LONGEST + 1, chooser(0), end=EOS)
    said = [VOCABULARY.decode(row) for row in ids]
    return [(" " if words and words[0].isascii() else "").join(words) for words in said]


def described_rightly(said: Sequence[str], pictures: Tensor) -> float:
    """Return the share of descriptions that say what the parser reads in their pictures."""
    right = []
    for sentence, picture in zip(said, pictures, strict=True):
        try:
            right.append(shows(picture, understand(sentence)))
        except ValueError:  # it says no scene
            right.append(False)
    return sum(right) / len(right)


@torch.no_grad()
def doubts(
    model: DecoderOnly, coder: VQAutoencoder, shown: Sequence[Scene], seed: int = 0
) -> Tensor:
    """Return the mean entropy of each next code, in bits, for new pictures of scenes: (36,)."""
    symbols = symbols_of(model)
    codes = coder.encode(drawn(shown, seed, "test", grid=GRID))
    words = as_ids([say(scene) for scene in shown])[0]
    logits = model(symbols.sentence_then_picture(words, codes))[0][:, symbols.longest : -1]
    _, is_code = symbols.kinds()
    p = logits[..., is_code].softmax(dim=-1)
    return torch.special.entr(p).sum(dim=-1).mean(dim=0) / math.log(2)


@torch.no_grad()
def on_the_way(
    model: DecoderOnly,
    coder: VQAutoencoder,
    sentence: str,
    places: Sequence[int],
    *,
    tau: float = 0.7,
    seed: int = 0,
) -> Tensor:
    """Draw a sentence, and return the pictures after so many codes: (n, 3, 24, 24).

    What is not yet drawn has the code of a black patch.
    """
    codes = painter(model, tau=tau)([sentence], seed)
    black = coder.encode(torch.zeros(1, 3, SIDE, SIDE))
    known = torch.arange(PLACES) < torch.tensor(places)[:, None]
    return coder.decode(torch.where(known, codes, black))


# What is judged -----------------------------------------------------------------------------------


class Obeyed(NamedTuple):
    """Shares of sentences whose picture shows what they say."""

    chosen: list[float]  # that which CLIP chooses of the first so many, for each of `tries`
    any: float  # one of all at least
    varied: float  # different pictures among those of a sentence, a share


@torch.no_grad()
def obeyed(
    paint: Painter,
    model: VQAutoencoder,
    clip: CLIP,
    shown: Sequence[Scene],
    *,
    tries: Sequence[int] = TRIES,
    language: str = "en",
    way: int = 0,
    seed: int = 0,
) -> Obeyed:
    """Draw several pictures of each scene's sentence, and let the parser judge them.

    tries: of how many pictures one is chosen; the last number is the largest.
    clip: Day 12's, which chooses by the cosine of picture and sentence.
    """
    sentences = [say(scene, way, language) for scene in shown]
    codes = torch.stack(
        [paint(sentences, seed + i) for i in range(tries[-1])], dim=1
    )  # (n, 16, 36)
    pictures = model.decode(codes.flatten(0, 1)).unflatten(0, (len(shown), tries[-1]))
    right = torch.tensor(
        [
            [shows(picture, scene) for picture in of_scene]
            for of_scene, scene in zip(pictures, shown, strict=True)
        ]
    )
    vectors = clip.encode_images(pictures.flatten(0, 1)).unflatten(0, right.shape)
    cosines = (vectors @ vectors_of(clip, shown, language, way)[:, :, None])[:, :, 0]
    best = [cosines[:, :n].argmax(dim=1, keepdim=True) for n in tries]
    different = [len(of_scene.unique(dim=0)) for of_scene in codes]
    return Obeyed(
        chosen=[right.gather(1, one).double().mean().item() for one in best],
        any=right.any(dim=1).double().mean().item(),
        varied=sum(different) / codes[:, :, 0].numel(),
    )
