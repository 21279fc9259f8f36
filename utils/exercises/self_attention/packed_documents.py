"""The mask of several documents, packed into one row."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.self_attention import causal_mask


def packed_mask(document: Tensor) -> Tensor:
    """Return the mask (B, 1, T, T), the same for all heads, True = may be attended to.

    Shapes: document (B, T): 1, 2, … is the document that a position belongs to, 0 is padding.
    """
    return (same_document(document) & real_keys(document) & past(document))[:, None]


def same_document(document: Tensor) -> Tensor:
    return document[:, :, None] == document[:, None]  # (B, T, T)


def real_keys(document: Tensor) -> Tensor:
    return (document != 0)[:, None]  # (B, 1, T)


def past(document: Tensor) -> Tensor:
    return causal_mask(document.shape[1])  # (T, T)


exercise = Exercise(packed_mask, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one document")
def one_document():
    return [(torch.tensor([[1, 1, 1]]),)]


@exercise.stage("two documents in a row")
def two_documents():
    return [(torch.tensor([[1, 1, 2, 2, 2]]),)]


@exercise.stage("padding after a document")
def padding_behind():
    return [(torch.tensor([[1, 1, 0, 0]]),)]


@exercise.stage("several rows")
def several_rows():
    return [
        (torch.tensor([[1, 1, 2, 3, 3, 3, 0], [1, 2, 2, 2, 2, 0, 0]]),),
        (torch.tensor([[1, 2, 2], [1, 1, 1], [1, 0, 0]]),),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("it is True where attention is forbidden: here True means allowed.")
def inverted(document):
    return ~packed_mask(document)


@exercise.mistake("the future is open: a query sees positions after it.")
def future_open(document):
    return (same_document(document) & real_keys(document))[:, None]


@exercise.mistake(
    "a query sees the positions after it, and none before: which axis counts queries?"
)
def mirrored(document):
    return packed_mask(document).mT


@exercise.mistake("a position can't see itself, so the first of a document sees nothing.")
def not_itself(document):
    return packed_mask(document).tril(-1)


@exercise.mistake("a document sees the one before it in the row.")
def documents_open(document):
    return (past(document) & real_keys(document))[:, None]


@exercise.mistake("padding is masked, but a document still sees the one before it.")
def documents_open_and_padding_closed(document):
    real = real_keys(document)
    return (past(document) & real & real.mT)[:, None]


@exercise.mistake("padding sees padding, as if it were one more document.")
def padding_as_a_document(document):
    return (same_document(document) & past(document))[:, None]


@exercise.mistake("one condition is not enough: all of them have to hold at once.")
def either(document):
    return ((same_document(document) | past(document)) & real_keys(document))[:, None]


@exercise.mistake(
    "you ask only whether both belong to the same document: a query sees its future, and padding "
    "sees padding."
)
def same_document_only(document):
    return same_document(document)[:, None]


@exercise.mistake("the axis for the heads is missing: the mask is (B, 1, T, T).")
def no_heads(document):
    return packed_mask(document)[:, 0]


@exercise.mistake("padding sees itself in yours: it should see nothing.")
def padding_sees_itself(document):
    eye = torch.eye(document.shape[1], dtype=torch.bool)
    return packed_mask(document) | eye
