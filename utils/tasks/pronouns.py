"""Pronouns as a task: sentences in ids, what is to be said where, and how answers are judged."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from utils.data.batches import Batches
from utils.data.pronouns import (
    FILLERS,
    FORMS,
    GAP,
    KIND,
    PRONOUNS,
    SAID_OF,
    SINGULAR,
    VERBS,
    Corpus,
    Sentence,
)
from utils.data.text import PAD, Vocabulary, pad
from utils.recurrent import GRU, Bidirectional, Embedding
from utils.training.loop import History, fit
from utils.training.recipes import rise_and_fall

VOCABULARY = Vocabulary(
    [*KIND, *SINGULAR, GAP, *FORMS, *PRONOUNS, *VERBS, *FILLERS]
    + "the near not because is are too".split()
    + [word for _, said in SAID_OF.values() for word in said]
)
V = len(VOCABULARY)


class RecurrentTagger(nn.Module):
    """Read in both directions, then say something about each symbol: ids (B, T) to (B, T, V)."""

    def __init__(self, d_model: int, hidden_size: int):
        super().__init__()
        self.embedding = Embedding(V, d_model)
        directions = (GRU(d_model, hidden_size) for _ in range(2))
        self.layer = Bidirectional(*directions)
        self.output = nn.Linear(2 * hidden_size, V)

    def forward(self, ids: Tensor) -> Tensor:
        states, _ = self.layer(self.embedding(ids), lengths=(ids != PAD).sum(dim=1))
        return self.output(states)


def as_ids(part: Sequence[Sentence]) -> tuple[Tensor, Tensor]:
    """Sentences as ids (B, T), and what is to be said where (B, T): PAD where nothing is.

    At the gap that is the verb's form, at the pronoun the noun that it means.
    """
    ids, _ = pad([VOCABULARY.encode(sentence.words, strict=True) for sentence in part])
    wanted = torch.full_like(ids, PAD)
    for row, sentence in zip(wanted, part, strict=True):
        noun = sentence.words[sentence.antecedent]
        row[sentence.gap], row[sentence.pronoun] = VOCABULARY.encode((sentence.form, noun))
    return ids, wanted


def shares_right(said: Tensor, part: Sequence[Sentence]) -> dict[str, float]:
    """How many gaps have the right form, and how many pronouns the right noun.

    Shapes: said (B, T), ids. Raises: ValueError if there are more or fewer rows than sentences.
    """
    _, wanted = as_ids(part)
    if len(said) != len(part) or said.shape[1] < wanted.shape[1]:
        raise ValueError(
            f"{len(part)} sentences need answers {tuple(wanted.shape)}, got {tuple(said.shape)}."
        )
    rows = torch.arange(len(part))
    right = said[:, : wanted.shape[1]] == wanted
    places = {name: torch.tensor([getattr(s, name) for s in part]) for name in ("gap", "pronoun")}
    return {name: right[rows, place].double().mean().item() for name, place in places.items()}


def looked_at(part: Sequence[Sentence]) -> dict[str, list[int]]:
    """The places of four words at which a pronoun may look; *because* decides nothing."""
    others = [next(noun for noun in s.nouns if noun != s.antecedent) for s in part]
    return {
        "antecedent": [s.antecedent for s in part],
        "adjective": [s.said for s in part],
        "other noun": others,
        "because": [s.words.index("because") for s in part],
    }


def without_link(part: Sequence[Sentence], queries: Sequence[int], keys: Sequence[int]) -> Tensor:
    """A mask (B, T, T), False where a sentence's word at `queries` would look at that at `keys`.

    Raises: ValueError if there is not one place of each for each sentence.
    """
    if not len(part) == len(queries) == len(keys):
        raise ValueError(
            f"{len(part)} sentences need as many queries and keys, got {len(queries)} and "
            f"{len(keys)}."
        )
    T = max(len(sentence.words) for sentence in part)
    mask = torch.ones(len(part), T, T, dtype=torch.bool)
    mask[range(len(part)), list(queries), list(keys)] = False
    return mask


def train_pronouns(
    model: nn.Module,
    loss: Callable,
    corpus: Corpus,
    *,
    epochs: int = 6,
    learning_rate: float = 1e-2,
    seed: int = 0,
) -> History:
    """Train a model of ids (B, T) to say what is wanted: logits (B, T, V), V the vocabulary's.

    loss: of logits and targets (B, T), which leaves out where the target is PAD.
    Trained with `rise_and_fall`, in batches of 64.
    """
    batches = Batches(*as_ids(corpus.train), batch_size=64, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(
        model,
        batches,
        loss,
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        validation=Batches(*as_ids(corpus.validation), batch_size=500),
    )
