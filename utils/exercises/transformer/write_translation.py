"""Writing a translation: the most probable word, appended and read again, until all is written."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.data.text import BOS, EOS, PAD
from utils.exercises.checking import Exercise, looping


@torch.no_grad()
def write(model: Any, source: Tensor, longest: int = 14) -> Tensor:
    """Translate sources (B, S) into ids (B, longest), one word at a time.

    model.encode(source) is what the decoder needs of the source, and model.decode(ids, found) the
    logits (B, T, V) of the words that follow ids (B, T).
    """
    found, ids = model.encode(source), source.new_full((len(source), 1), BOS)
    for _ in range(longest):
        logits = model.decode(ids, found)  # (B, T, V)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, 1:]


class Counted:
    """A model whose encoder may read each of B sources once, one by one or all together."""

    def __init__(self, model: Any, B: int):
        self.model, self.left = model, B

    def encode(self, source: Tensor) -> Tensor:
        found = self.model.encode(source)
        self.left -= len(source)
        if self.left < 0:
            raise ValueError("the encoder runs again, although the source is still the same.")
        return found

    def decode(self, ids: Tensor, found: Tensor) -> Tensor:
        return self.model.decode(ids, found)

    def __call__(self, source: Tensor, ids: Tensor) -> Tensor:
        return self.decode(ids, self.encode(source))


def counted(answer: Callable) -> Callable:
    """An answer whose encoder reads each source once."""

    @functools.wraps(answer)
    def once(model, source, longest):
        return answer(Counted(model, len(source)), source, longest)

    return once


def drawn(B: int) -> tuple:
    return MODEL, torch.randint(3, 13, (B, 4)), 3


exercise = Exercise(
    write,
    gradient=False,
    runs=True,
    through=counted,
    but=looping(lambda: drawn(1), lambda: drawn(6), "sentences"),
)


# What it is tried on ------------------------------------------------------------------------------

V = 53


class Model:
    """Its next word depends on the source and on all words so far, in their order.

    A sentence has as many words as its source has; EOS follows, and then PAD.
    """

    def encode(self, source: Tensor) -> Tensor:
        if not isinstance(source, Tensor) or source.dim() != 2:
            raise ValueError("`encode` takes the sources (B, S).")
        return torch.stack([(source * source).sum(dim=1), (source != PAD).sum(dim=1)], dim=1)

    def decode(self, ids: Tensor, found: Tensor) -> Tensor:
        if not isinstance(ids, Tensor) or ids.dim() != 2 or not len(ids) == len(found):
            raise ValueError("`decode` takes the words so far, (B, T), and what `encode` returned.")
        T = ids.shape[1]
        sums, n = found[:, :1], found[:, 1:]  # (B, 1)
        place = torch.arange(T)
        mixed = ((31 * place + 7) * (ids + 11)).cumsum(dim=1) + 5 * sums  # (B, T)
        symbol = torch.arange(V)
        logits = (mixed[..., None] * (symbol + 5) + symbol**2 * (place[:, None] + 1)) % 211
        logits[..., : EOS + 1] = -1  # PAD, BOS and EOS come only at the end
        logits[..., EOS][place.expand(len(ids), T) >= n] = 1000
        logits[..., PAD][place.expand(len(ids), T) > n] = 2000
        return logits.double()


MODEL = Model()


@exercise.stage("one word")
def one_word():
    return [(MODEL, torch.tensor([[7, 4, 9, EOS]]), 1)]


@exercise.stage("several words of one sentence")
def one_sentence():
    return [(MODEL, torch.tensor([[8, 3, 5, 12, 6, 9, EOS]]), 4)]


@exercise.stage("several sentences, which end at different words")
def several_sentences():
    return [
        (MODEL, torch.tensor([[5, EOS, PAD, PAD], [9, 4, 6, EOS], [8, 8, EOS, PAD]]), 6),
        (MODEL, torch.tensor([[3, 11, 6, 7, 4, EOS], [9, EOS, PAD, PAD, PAD, PAD]]), 7),
    ]


@exercise.stage("one sentence, which ends early")
def early_end():
    return [(MODEL, torch.tensor([[6, 10, EOS]]), 6)]


# What goes wrong ----------------------------------------------------------------------------------


def written(
    model,
    source,
    longest,
    *,
    start: int = BOS,
    pick: Callable = lambda logits: logits[:, -1:].argmax(dim=-1),
    read: Callable = lambda ids: ids,
    out: Callable = lambda ids: ids[:, 1:],
    stop: Callable = lambda ids: False,
) -> Tensor:
    """Write with one thing done otherwise."""
    found, ids = model.encode(source), source.new_full((len(source), 1), start)
    for _ in range(longest):
        ids = torch.cat([ids, pick(model.decode(read(ids), found))], dim=1)
        if stop(ids):
            break
    return out(ids)


@exercise.mistake(
    "each word is predicted from BOS alone: read all words so far, and take the logits of the last "
    "position."
)
def first_position(*given):
    return written(*given, pick=lambda logits: logits[:, :1].argmax(dim=-1))


@exercise.mistake("BOS is no word of the translation: leave it out of what you return.")
def start_returned(*given):
    return written(*given, out=lambda ids: ids)


@exercise.mistake("you return BOS, and lose the last word: what was written begins after BOS.")
def start_returned_and_end_lost(*given):
    return written(*given, out=lambda ids: ids[:, :-1])


@exercise.mistake("the encoder runs at each step: the source doesn't change, so encode it once.")
@counted
def encoded_at_each_step(model, source, longest):
    ids = source.new_full((len(source), 1), BOS)
    for _ in range(longest):
        logits = model.decode(ids, model.encode(source))
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, 1:]


@exercise.mistake(
    "your decoder reads only the newest word: it has no state, so it needs all words so far."
)
def newest_word_alone(*given):
    return written(*given, read=lambda ids: ids[:, -1:])


@exercise.mistake("your decoder starts with EOS: it has learned to start with BOS.")
def started_with_the_end(*given):
    return written(*given, start=EOS)


@exercise.mistake("your decoder starts with PAD: it has learned to start with BOS.")
def started_with_padding(*given):
    return written(*given, start=PAD)


@exercise.mistake("you stop when the first sentence has ended: the others are still being written.")
def stopped_at_the_first_end(*given):
    return written(*given, stop=lambda ids: (ids == EOS).any().item())


@exercise.mistake("one word too few: `longest` words, and BOS isn't one of them.")
def one_less(model, source, longest):
    return written(model, source, longest - 1) if longest > 1 else source[:, :0]


@exercise.mistake("one word too many: `longest` words are asked for.")
def one_more(model, source, longest):
    return written(model, source, longest + 1)


@exercise.mistake("you append the smallest logit: the most probable word has the largest.")
def least_probable(*given):
    return written(*given, pick=lambda logits: logits[:, -1:].argmin(dim=-1))


@exercise.mistake("you write in front of what is written: each new word comes last.")
def written_in_front(model, source, longest):
    found, ids = model.encode(source), source.new_full((len(source), 1), BOS)
    for _ in range(longest):
        ids = torch.cat([model.decode(ids, found)[:, -1:].argmax(dim=-1), ids], dim=1)
    return ids[:, :-1]


@exercise.mistake("the decoder reads the source's ids: it reads its own words, beginning with BOS.")
def source_read(model, source, longest):
    found, ids = model.encode(source), source
    for _ in range(longest):
        ids = torch.cat([ids, model.decode(ids, found)[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, source.shape[1] :]


@exercise.mistake(
    "you append a word for every position: only the last one predicts a word that isn't there yet."
)
def all_positions_appended(*given):
    return written(*given, pick=lambda logits: logits.argmax(dim=-1))


@exercise.mistake(
    "you stop when all sentences have ended: right, and faster, but here (B, longest) is asked for."
)
def stopped_when_all_have_ended(*given):
    return written(*given, stop=lambda ids: (ids == EOS).any(dim=1).all().item())


@exercise.mistake("the new words have lost an axis: to be joined to (B, T), they need (B, 1).")
def axis_lost(*given):
    return written(*given, pick=lambda logits: logits[:, -1].argmax(dim=-1))


@exercise.mistake("that is one word for all sentences: argmax needs to know the vocabulary's axis.")
def one_word_for_all(*given):
    return written(*given, pick=lambda logits: logits[:, -1].argmax().expand(len(logits), 1))


@exercise.mistake("those are logits: return the ids of the words.")
def logits_returned(model, source, longest):
    found, ids, all = model.encode(source), source.new_full((len(source), 1), BOS), []
    for _ in range(longest):
        logits = model.decode(ids, found)[:, -1]
        all.append(logits)
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], 1)
    return torch.stack(all, 1)


@exercise.mistake(
    "your decoder also reads the empty places after the last word: the next word then comes from "
    "there."
)
def read_with_padding(model, source, longest):
    found, ids = model.encode(source), source.new_full((len(source), longest + 1), PAD)
    ids[:, 0] = BOS
    for t in range(longest):
        ids[:, t + 1] = model.decode(ids, found)[:, -1].argmax(-1)
    return ids[:, 1:]


@exercise.mistake("you write PAD over EOS, too: a translation keeps its EOS.")
def ended_by_hand(model, source, longest):
    ids = write(model, source, longest)
    return ids.masked_fill((ids == EOS).cumsum(1) > 0, PAD)


@exercise.mistake("your result is (longest, B): the batch comes first.")
def time_first(model, source, longest):
    return write(model, source, longest).T


@exercise.mistake(
    "you stop when all sentences end at the same word, as a single one does: (B, longest) is asked "
    "for."
)
def stopped_at_a_common_end(*given):
    return written(*given, stop=lambda ids: (ids[:, -1] == EOS).all().item())
