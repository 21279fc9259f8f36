"""Which word decided? Leave each out in turn, and ask again."""

import math
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from utils.exercises.checking import Exercise

Model = Callable[[Tensor], Tensor]  # ids (B, T) to logits (B, n_classes)


def leave_one_out(model: Model, text: Tensor, label: int) -> Tensor:
    """Return how much log p(label) falls when each word is deleted, (T,).

    A word that speaks for the label has a score above 0.
    model: of ids (B, T), for any T, to logits (B, n_classes). Shapes: text (T,), ids.
    """
    shorter = torch.stack([torch.cat([text[:t], text[t + 1 :]]) for t in range(len(text))])
    return log_p(model, text[None])[:, label] - log_p(model, shorter)[:, label]


def log_p(model: Model, ids: Tensor) -> Tensor:
    return model(ids).log_softmax(dim=-1)


exercise = Exercise(leave_one_out, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@cache
def voting(n_classes: int) -> Model:
    """Return a model in which each of 12 words has a vote, which counts less the later it comes."""
    generator = torch.Generator().manual_seed(n_classes)
    votes = torch.randn(12, n_classes, dtype=torch.float64, generator=generator)

    def model(ids: Tensor) -> Tensor:
        fading = 1 / torch.arange(1, ids.shape[1] + 1, dtype=votes.dtype)
        return (votes[ids] * fading[:, None]).sum(dim=1)

    return model


def drawn(T: int, n_classes: int, label: int, *, repeated: bool = False) -> tuple:
    text = torch.randperm(11)[:T] + 1
    if repeated:
        text[-1] = text[0]
    return voting(n_classes), text, label


@exercise.stage("two words")
def two_words():
    return [drawn(2, 2, 1)]


@exercise.stage("a longer text")
def longer():
    return [drawn(5, 2, 0), drawn(6, 3, 2)]


@exercise.stage("a text with the same word twice")
def twice():
    return [drawn(6, 4, 1, repeated=True), drawn(4, 4, 3, repeated=True)]


@exercise.stage("classes that the model doesn't predict")
def each_class():
    model, text, _ = drawn(5, 3, 0)
    return [(model, text, label) for label in range(3)]


# What goes wrong ----------------------------------------------------------------------------------


def deleted(text: Tensor) -> Tensor:
    """Row t of the result lacks word t."""
    T = len(text)
    return text.expand(T, T)[~torch.eye(T, dtype=torch.bool)].view(T, T - 1)


def fall(model: Model, text: Tensor, others: Tensor, label: int) -> Tensor:
    return log_p(model, text[None])[:, label] - log_p(model, others)[:, label]


@exercise.mistake("the sign is reversed: a word that speaks for the label should score above 0.")
def reversed_sign(model, text, label):
    return -leave_one_out(model, text, label)


@exercise.mistake("you subtract nothing: how sure was the model with all words?")
def no_comparison(model, text, label):
    return log_p(model, deleted(text))[:, label]


@exercise.mistake(
    "log p with all words is missing: the score is how far it falls without the word."
)
def without_the_whole(model, text, label):
    return -log_p(model, deleted(text))[:, label]


@exercise.mistake("you lose the signs: a word that speaks against the label scores below 0.")
def sizes(model, text, label):
    return leave_one_out(model, text, label).abs()


@exercise.mistake("the model reads a batch, ids (B, T): text[None] has the batch axis.")
def without_batch(model, text, label):
    return model(text)


@exercise.mistake("you compare the logits: the other classes' logits change too, so take log p.")
def logits(model, text, label):
    return model(text[None])[:, label] - model(deleted(text))[:, label]


@exercise.mistake("you compare probabilities: compare log p.")
def probabilities(model, text, label):
    return log_p(model, text[None]).exp()[:, label] - log_p(model, deleted(text)).exp()[:, label]


@exercise.mistake("you score the class that the model predicts: score the given label.")
def said_class(model, text, label):
    return leave_one_out(model, text, int(model(text[None]).argmax()))


@exercise.mistake(
    "for each shortened text you take the class that the model predicts for it: take the same "
    "label every time."
)
def said_of_each(model, text, label):
    return log_p(model, text[None])[:, label] - log_p(model, deleted(text)).max(dim=-1).values


@exercise.mistake("you replace the word by 0: delete it, so that the rest moves up.")
def padding_left(model, text, label):
    return fall(model, text, text.masked_fill(torch.eye(len(text), dtype=torch.bool), 0), label)


@exercise.mistake("you delete the word after the one that you score.")
def next_word(model, text, label):
    return leave_one_out(model, text, label).roll(-1)


@exercise.mistake("your scores are in the reverse order of the words.")
def backwards(model, text, label):
    return leave_one_out(model, text, label).flip(0)


@exercise.mistake("you keep the word and leave out all others.")
def the_word_alone(model, text, label):
    return fall(model, text, text[:, None], label)


@exercise.mistake(
    "a word that occurs twice is left out twice in yours: delete one position at a time."
)
def every_occurrence(model, text, label):
    rest = [text[text != word][None] for word in text]
    return torch.cat([fall(model, text, others, label) for others in rest])


@exercise.mistake("your softmax runs over the shortened texts, not over the classes.")
def over_the_texts(model, text, label):
    whole = log_p(model, text[None])[:, label]
    return whole - model(deleted(text)).log_softmax(dim=0)[:, label]


@exercise.mistake("your softmax runs along the batch, the first axis: the classes are the last.")
def along_the_batch(model, text, label):
    whole, others = (model(ids).log_softmax(dim=0) for ids in (text[None], deleted(text)))
    return whole[:, label] - others[:, label]


@exercise.mistake("that is in bits: take the natural logarithm, as the book does.")
def bits(model, text, label):
    return leave_one_out(model, text, label) / math.log(2)


@exercise.mistake("you return the scores of all classes: take those of the label.")
def all_classes(model, text, label):
    return log_p(model, text[None]) - log_p(model, deleted(text))


@exercise.mistake(
    "`remove` deletes the first of equal words: delete the word at the position that you score."
)
def first_occurrence(model, text, label):
    places = [text.tolist().index(word) for word in text.tolist()]
    return leave_one_out(model, text, label)[places]
