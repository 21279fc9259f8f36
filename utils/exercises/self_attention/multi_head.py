"""Multi-head self-attention: project, split, attend, lay side by side, mix."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.self_attention.masked_attention import attention
from utils.exercises.self_attention.split_heads import split_heads


def multi_head(
    x: Tensor, W_in: Tensor, W_o: Tensor, n_heads: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Shapes: x (B, T, D), W_in (3·D, D): W_q, W_k and W_v one below the other; W_o (D, D).

    Returns: outputs (B, T, D) and weights (B, h, T, T).
    """
    q, k, v = (split_heads(y, n_heads) for y in (x @ W_in.T).chunk(3, dim=-1))
    context, weights = attention(q, k, v, mask)  # (B, h, T, d)
    side_by_side = context.transpose(1, 2).flatten(2)  # (B, T, D)
    return side_by_side @ W_o.T, weights


exercise = Exercise(multi_head, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, n_heads: int, d: int) -> tuple[Tensor, Tensor, Tensor, int]:
    D = n_heads * d
    W_in, W_o = random(3 * D, D) / math.sqrt(D), random(D, D) / math.sqrt(D)
    return random(B, T, D), W_in, W_o, n_heads


@exercise.stage("one position, which can attend to itself only")
def one_position():
    return [(*drawn(1, 1, 2, 3), None)]


@exercise.stage("one head")
def one_head():
    return [(*drawn(1, 4, 1, 3), None)]


@exercise.stage("several sequences and heads")
def several_heads():
    return [(*drawn(2, 5, 3, 4), None), (*drawn(3, 2, 2, 5), None)]


@exercise.stage("a mask")
def a_mask():
    real = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()[:, None, None]
    return [(*drawn(2, 4, 3, 2), real), (*drawn(2, 4, 2, 3), torch.ones(4, 4).bool().tril())]


# What goes wrong ----------------------------------------------------------------------------------


def looked(
    x, W_in, W_o, n_heads, mask, *, roles="qkv", split=split_heads, merge=None, look=attention
):
    """Attend with another part in place of one of the usual ones."""
    of = dict(zip(roles, (x @ W_in.T).chunk(3, dim=-1), strict=True))
    q, k, v = (split(of[role], n_heads) for role in "qkv")
    context, weights = look(q, k, v, mask)
    y = context.transpose(1, 2).flatten(2) if merge is None else merge(context)
    return y @ W_o.T, weights


@exercise.mistake(
    "the heads are merged by a plain reshape, which lays positions side by side, not heads: swap "
    "the axes of heads and positions first."
)
def merged_by_reshaping(x, W_in, W_o, n_heads, mask):
    return looked(x, W_in, W_o, n_heads, mask, merge=lambda y: y.reshape(x.shape))


@exercise.mistake("the heads' outputs are laid side by side, but not mixed: W_o is missing.")
def not_mixed(x, W_in, W_o, n_heads, mask):
    return looked(x, W_in, torch.eye(len(W_o), dtype=W_o.dtype), n_heads, mask)


@exercise.mistake("W_o maps rows x to x W_oᵀ, like the other matrices: yours is not transposed.")
def W_o_not_turned(x, W_in, W_o, n_heads, mask):
    return looked(x, W_in, W_o.T, n_heads, mask)


@exercise.mistake("W_in holds the matrices in the order query, key, value: yours are k, q, v.")
def keys_first(x, W_in, W_o, n_heads, mask):
    return looked(x, W_in, W_o, n_heads, mask, roles="kqv")


@exercise.mistake("W_in holds the matrices in the order query, key, value: yours are v, k, q.")
def values_first(x, W_in, W_o, n_heads, mask):
    return looked(x, W_in, W_o, n_heads, mask, roles="vkq")


@exercise.mistake("W_in holds the matrices in the order query, key, value: yours are q, v, k.")
def values_second(x, W_in, W_o, n_heads, mask):
    return looked(x, W_in, W_o, n_heads, mask, roles="qvk")


@exercise.mistake(
    "all heads are split off by a plain view, so that each gets some positions, not some columns."
)
def split_by_reshaping(x, W_in, W_o, n_heads, mask):
    def split(y, n_heads):
        return y.reshape(len(y), n_heads, y.shape[1], -1)

    return looked(x, W_in, W_o, n_heads, mask, split=split)


@exercise.mistake(
    "the scores are divided by √D: a head's product sums over d = D / h columns only."
)
def scaled_by_the_model(x, W_in, W_o, n_heads, mask):
    def look(q, k, v, mask):
        return attention(q / math.sqrt(n_heads), k, v, mask)

    return looked(x, W_in, W_o, n_heads, mask, look=look)


@exercise.mistake("the mask is not passed on to `attention`.")
def mask_forgotten(x, W_in, W_o, n_heads, mask):
    return multi_head(x, W_in, W_o, n_heads)


@exercise.mistake(
    "the heads are cut from all rows of W_in before queries, keys and values are separated: W_q "
    "is the first D rows, with all its heads."
)
def heads_cut_first(x, W_in, W_o, n_heads, mask):
    q, k, v = split_heads(x @ W_in.T, n_heads).chunk(3, dim=-1)
    context, weights = attention(q, k, v, mask)
    return context.transpose(1, 2).flatten(2) @ W_o.T, weights


@exercise.mistake("the width is not split: that is a single head, however many are asked for.")
def a_single_head(x, W_in, W_o, n_heads, mask):
    return multi_head(x, W_in, W_o, 1, mask)


@exercise.mistake("you return the mean of the weights: return those of all heads.")
def mean_weights(x, W_in, W_o, n_heads, mask):
    y, weights = multi_head(x, W_in, W_o, n_heads, mask)
    return y, weights.mean(dim=1)


@exercise.mistake("the outputs come first, then the weights: yours come the other way round.")
def exchanged(x, W_in, W_o, n_heads, mask):
    y, weights = multi_head(x, W_in, W_o, n_heads, mask)
    return weights, y


@exercise.mistake("you add x: the layer returns its output alone, and the caller adds it.")
def x_added(x, W_in, W_o, n_heads, mask):
    y, weights = multi_head(x, W_in, W_o, n_heads, mask)
    return x + y, weights


@exercise.mistake("the scores are not divided by the root of a head's width.")
def not_scaled(x, W_in, W_o, n_heads, mask):
    def look(q, k, v, mask):
        return attention(q * math.sqrt(q.shape[-1]), k, v, mask)

    return looked(x, W_in, W_o, n_heads, mask, look=look)


@exercise.mistake("you take True in the mask for forbidden: here it means allowed.")
def hides_what_is_true(x, W_in, W_o, n_heads, mask):
    return multi_head(x, W_in, W_o, n_heads, None if mask is None else ~mask)


@exercise.mistake(
    "those are the heads' contexts: the output is what W_o makes of them, side by side."
)
def contexts_returned(x, W_in, W_o, n_heads, mask):
    q, k, v = (split_heads(y, n_heads) for y in (x @ W_in.T).chunk(3, dim=-1))
    return attention(q, k, v, mask)


@exercise.mistake("you take every third row of W_in: W_q is its first D rows.")
def every_third(x, W_in, W_o, n_heads, mask):
    return multi_head(x, torch.cat([W_in[0::3], W_in[1::3], W_in[2::3]]), W_o, n_heads, mask)


@exercise.mistake("the weights are missing: return both, the outputs first.")
def outputs_alone(x, W_in, W_o, n_heads, mask):
    return multi_head(x, W_in, W_o, n_heads, mask)[0]
