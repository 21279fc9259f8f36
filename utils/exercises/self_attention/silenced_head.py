"""Multi-head self-attention in which one head contributes nothing."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.self_attention import merge_heads, split_heads


def silenced(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, n_heads: int, head: int
) -> Tensor:
    """Attend with all heads but one, which contributes nothing; without a mask and without biases.

    Shapes: x (B, T, D), all matrices (D, D), which make x Wᵀ of x. Returns: the outputs (B, T, D).
    """
    q, k, v = (split_heads(x @ W.T, n_heads) for W in (W_q, W_k, W_v))
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)  # (B, h, T, T)
    return merge_heads(blank(weights @ v, head)) @ W_o.T


def blank(x: Tensor, head: int) -> Tensor:
    return x.index_fill(1, torch.tensor([head]), 0)


exercise = Exercise(silenced)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, n_heads: int, d_k: int, head: int) -> tuple:
    """Draw in single precision: the root of d_k may be taken in it, too."""
    D = n_heads * d_k
    x, *matrices = random(B, T, D), *(random(D, D) / math.sqrt(D) for _ in range(4))
    return x.float(), *(W.float() for W in matrices), n_heads, head


@exercise.stage("one position")
def one_position():
    return [drawn(1, 1, 2, 3, 1)]


@exercise.stage("one sequence")
def one_sequence():
    return [drawn(1, 4, 2, 3, 0)]


@exercise.stage("several sequences and heads")
def several_heads():
    return [drawn(2, 5, 3, 4, 1), drawn(3, 2, 4, 5, 2), drawn(3, 3, 3, 2, 2)]


# What goes wrong ----------------------------------------------------------------------------------


def attended(x, *others, split=split_heads, merge=merge_heads, root=math.sqrt, axis=-1, hush=blank):
    """Attend with another part in place of one of the usual ones."""
    W_q, W_k, W_v, W_o, n_heads, head = others
    q, k, v = (split(x @ W.T, n_heads) for W in (W_q, W_k, W_v))
    weights = (q @ k.mT / root(q.shape[-1])).softmax(axis)
    return merge(hush(weights @ v, head)) @ W_o.T


def split_by_reshaping(x: Tensor, n_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


def merged_by_reshaping(x: Tensor) -> Tensor:
    B, h, T, d = x.shape
    return x.reshape(B, T, h * d)


@exercise.mistake(
    "your heads are cut from the positions: reshaping never moves a number, so swap the axes of "
    "positions and heads."
)
def split_untransposed(*inputs):
    return attended(*inputs, split=split_by_reshaping)


@exercise.mistake(
    "you merge heads as they lie in memory, one head's positions after the other: a row should "
    "hold the outputs of all heads at one position."
)
def merge_untransposed(*inputs):
    return attended(*inputs, merge=merged_by_reshaping)


@exercise.mistake(
    "split and merged by reshaping alone, a head is a block of positions at full width."
)
def split_and_merge_untransposed(*inputs):
    return attended(*inputs, split=split_by_reshaping, merge=merged_by_reshaping)


@exercise.mistake("your heads alternate along the width; each should have a block of its own.")
def heads_by_turns(*inputs):
    return attended(*inputs, split=lambda x, h: x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2))


@exercise.mistake("you scale by the width of the model: a head's dot product sums over less.")
def d_model(x, *others):
    return attended(x, *others, root=lambda d_k: math.sqrt(x.shape[-1]))


@exercise.mistake("the scores are not scaled.")
def not_scaled(*inputs):
    return attended(*inputs, root=lambda d_k: 1)


@exercise.mistake("you scale twice, or by d_k without the root.")
def scaled_twice(*inputs):
    return attended(*inputs, root=lambda d_k: d_k)


@exercise.mistake("torch.sqrt wants a tensor, and d_k is a plain number.")
def root_of_a_number(*inputs):
    return attended(*inputs, root=torch.sqrt)


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def over_the_queries(*inputs):
    return attended(*inputs, axis=-2)


@exercise.mistake("all heads still contribute: none is silent.")
def all_speak(*inputs):
    return attended(*inputs, hush=lambda context, head: context)


@exercise.mistake("with all scores 0 a head is not silent: it contributes the mean of its values.")
def scores_blanked(x, W_q, W_k, W_v, W_o, n_heads, head):
    q, k, v = (split_heads(x @ W.T, n_heads) for W in (W_q, W_k, W_v))
    scores = blank(q @ k.mT / math.sqrt(q.shape[-1]), head)
    return merge_heads(scores.softmax(-1) @ v) @ W_o.T


@exercise.mistake("that is the contribution of this head alone: return that of the others.")
def others_silenced(*inputs):
    return attended(*inputs, hush=lambda context, head: context - blank(context, head))


@exercise.mistake("another head is silenced: heads count from 0.")
def counted_from_1(*inputs):
    return attended(*inputs, hush=lambda context, head: blank(context, head - 1))


@exercise.mistake("you make the others louder to make up for it, as dropout would.")
def made_up_for(*inputs):
    def hush(context, head):
        h = context.shape[1]
        return blank(context, head) * h / (h - 1)

    return attended(*inputs, hush=hush)


@exercise.mistake("a matrix W maps rows x to x Wᵀ: yours are not transposed.")
def not_transposed(x, W_q, W_k, W_v, W_o, *heads):
    return silenced(x, W_q.mT, W_k.mT, W_v.mT, W_o.mT, *heads)


@exercise.mistake(
    "you set a part of the outputs to zero, in which W_o has mixed all heads already."
)
def outputs_blanked(x, W_q, W_k, W_v, W_o, n_heads, head):
    outputs = attended(x, W_q, W_k, W_v, W_o, n_heads, head, hush=lambda context, head: context)
    d_k = len(W_o) // n_heads
    return outputs.index_fill(-1, torch.arange(head * d_k, (head + 1) * d_k), 0)


@exercise.mistake("W_o is missing at the end.")
def without_W_o(x, W_q, W_k, W_v, W_o, *heads):
    return silenced(x, W_q, W_k, W_v, torch.eye(len(W_o), dtype=W_o.dtype), *heads)


@exercise.mistake("W_o maps rows x to x W_oᵀ, like the others: your last matrix is not transposed.")
def W_o_not_transposed(x, W_q, W_k, W_v, W_o, *heads):
    return silenced(x, W_q, W_k, W_v, W_o.mT, *heads)


@exercise.mistake(
    "your product runs over the heads of one position: it should run over the positions of one "
    "head. Which axis has to come last but one?"
)
def heads_attend_to_heads(x, W_q, W_k, W_v, W_o, n_heads, head):
    q, k, v = ((x @ W.T).unflatten(-1, (n_heads, -1)) for W in (W_q, W_k, W_v))
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)  # (B, T, h, h)
    return (weights @ v).index_fill(2, torch.tensor([head]), 0).flatten(2) @ W_o.T


@exercise.mistake("a silent head keeps its place: W_o still expects all columns.")
def head_removed(*inputs):
    def hush(context, head):
        return context[:, torch.arange(context.shape[1]) != head]

    return attended(*inputs, hush=hush)
