"""Checks of Day 5, and the mistakes that they know."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.attention import masked_softmax
from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage
from utils.positions import Rotary
from utils.self_attention import MultiHeadAttention, causal_mask, merge_heads, split_heads

PAD = 0


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


# 5.1 ------------------------------------------------------------------------------------------


def parameters_of_a_reader() -> int:
    layer = MultiHeadAttention(48, 6, d_memory=32)
    return sum(p.numel() for p in layer.parameters())


# 5.2 ------------------------------------------------------------------------------------------


def rows_that_change(window: int = 3, n_layers: int = 2, T: int = 12, changed: int = 4) -> int:
    """How many rows a stack gives anew if one symbol changes; each sees `window` up to itself."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layers = [MultiHeadAttention(8, 2).double() for _ in range(n_layers)]
        x = random(1, T, 8).repeat(2, 1, 1)
        x[1, changed] = random(8)
        mask = causal_mask(T).triu(1 - window)
        for layer in layers:
            x, _ = layer(x, mask=mask)
    return int(((x[0] - x[1]).abs() > 1e-12).any(-1).sum())


# 5.3 ------------------------------------------------------------------------------------------


def packed_mask(document: Tensor) -> Tensor:
    return (same_document(document) & real_keys(document) & causal_mask(document.shape[1]))[:, None]


def same_document(document: Tensor) -> Tensor:
    return document[:, :, None] == document[:, None]


def real_keys(document: Tensor) -> Tensor:
    return (document != PAD)[:, None]


def packed_by_either(document):
    causal = causal_mask(document.shape[1])
    return ((same_document(document) | causal) & real_keys(document))[:, None]


def packed_without_documents(document):
    real = real_keys(document)
    return (causal_mask(document.shape[1]) & real & real.mT)[:, None]


# 5.4 ------------------------------------------------------------------------------------------


def unit_scores(query: Tensor, key: Tensor, var_q: float, var_k: float) -> Tensor:
    return query @ key.mT / math.sqrt(query.shape[-1] * var_q * var_k)


def of_variance(var_q: float, var_k: float, B: int, h: int, T: int, S: int, d_k: int) -> tuple:
    query, key = math.sqrt(var_q) * random(B, h, T, d_k), math.sqrt(var_k) * random(B, h, S, d_k)
    return query, key, var_q, var_k


# 5.5 ------------------------------------------------------------------------------------------


def library_mask(target: Tensor, source: Tensor, n_heads: int) -> Tensor:
    return blocked(target, source).repeat_interleave(n_heads, dim=0)


def blocked(target: Tensor, source: Tensor) -> Tensor:
    return (source == PAD)[:, None].expand(-1, target.shape[1], -1)


def blocked_for_padded_queries(target, source, n_heads):
    rows = (target == PAD)[:, :, None].expand(-1, -1, source.shape[1])
    return (blocked(target, source) | rows).repeat_interleave(n_heads, dim=0)


def padded(width: int, *lengths: int) -> Tensor:
    """Draw ids (B, width), with PAD behind each length."""
    ids = torch.randint(1, 9, (len(lengths), width))
    return ids.masked_fill(torch.arange(width) >= torch.tensor(lengths)[:, None], PAD)


# 5.6 ------------------------------------------------------------------------------------------


def top_k_weights(scores: Tensor, mask: Tensor, k: int) -> Tensor:
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, mask & largest(allowed, k))


def largest(scores: Tensor, k: int, axis: int = -1) -> Tensor:
    return scores >= scores.topk(k, dim=axis).values.narrow(axis, k - 1, 1)


def top_k_filled(value: float, axis: int = -1):
    def wrong(scores, mask, k):
        allowed = scores.masked_fill(~mask, value)
        return allowed.masked_fill(~largest(allowed, k), value).softmax(axis)

    return wrong


def top_k_filled_with_the_lowest(scores, mask, k):
    return top_k_filled(torch.finfo(scores.dtype).min)(scores, mask, k)


def top_k_after(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, mask) * largest(allowed, k)


def top_k_and_masked(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, largest(allowed, k))


def top_k_scattered(scores, mask, k):
    best = scores.masked_fill(~mask, -math.inf).topk(k, dim=-1).indices
    kept = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, True)
    return masked_softmax(scores, kept)


def top_k_smallest(scores, mask, k):
    allowed = scores.masked_fill(~mask, math.inf)
    return masked_softmax(scores, mask & largest(-allowed, k))


def top_k_of_the_queries(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, mask & largest(allowed, min(k, scores.shape[-2]), axis=-2))


def far_below(B: int, h: int, T: int, S: int) -> Tensor:
    """Draw scores below any small constant, on a grid that single precision holds."""
    order = torch.rand(B, h, T, S).argsort(-1)  # no two of a query are equal
    return 0.25 * order.double() - 2.0**20


def lengths_mask(S: int, *lengths: int) -> Tensor:
    return (torch.arange(S) < torch.tensor(lengths)[:, None])[:, None, None]  # (B, 1, 1, S)


HALF = (  # in which the right weights are 1/2 each, without rounding
    torch.tensor([[[[3.0, 3, 7, 1], [0.5, -2, -2, 6]]]], dtype=torch.float16),
    torch.tensor([[1, 1, 0, 1], [0, 1, 1, 0]]).bool(),
    2,
)

# 5.7 ------------------------------------------------------------------------------------------


def dropped_weights(scores: Tensor, kept: Tensor, p: float, training: bool) -> Tensor:
    weights = scores.softmax(-1)
    return weights * kept / (1 - p) if training else weights


def in_training(drop, otherwise=lambda weights, p: weights):
    """A mistake that drops in its own way in training, and in evaluation does what is said."""

    def wrong(scores, kept, p, training):
        return drop(scores, kept, p) if training else otherwise(scores.softmax(-1), p)

    return wrong


def drop_inputs(p: float, training: bool, *shape: int) -> tuple:
    return random(*shape), torch.rand(shape) >= p, p, training


# 5.8 ------------------------------------------------------------------------------------------


def silenced(
    x,
    W_q,
    W_k,
    W_v,
    W_o,
    n_heads,
    head,
    split=split_heads,
    merge=merge_heads,
    root=math.sqrt,
    axis=-1,
    hush=lambda context, head: blank(context, head, 1),
):
    """Attend without one head; the last arguments are what mistakes change."""
    q, k, v = (split(x @ W.T, n_heads) for W in (W_q, W_k, W_v))
    weights = (q @ k.mT / root(q.shape[-1])).softmax(axis)
    return merge(hush(weights @ v, head)) @ W_o.T


def blank(x: Tensor, head: int, axis: int) -> Tensor:
    return x.index_fill(axis, torch.tensor([head]), 0)


def split_untransposed(x: Tensor, n_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


def merge_untransposed(x: Tensor) -> Tensor:
    B, h, T, d = x.shape
    return x.reshape(B, T, h * d)


def split_by_turns(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def silenced_by_scores(x, W_q, W_k, W_v, W_o, n_heads, head):
    q, k, v = (split_heads(x @ W.T, n_heads) for W in (W_q, W_k, W_v))
    scores = blank(q @ k.mT / math.sqrt(q.shape[-1]), head, 1)
    return merge_heads(scores.softmax(-1) @ v) @ W_o.T


def silenced_in_the_outputs(x, W_q, W_k, W_v, W_o, n_heads, head):
    outputs = silenced(x, W_q, W_k, W_v, W_o, n_heads, head, hush=lambda context, _: context)
    d_k = len(W_o) // n_heads
    return outputs.index_fill(-1, torch.arange(head * d_k, (head + 1) * d_k), 0)


def other_way(**changed):
    return lambda *inputs: silenced(*inputs, **changed)


def layer_inputs(B: int, T: int, n_heads: int, d_k: int, head: int) -> tuple:
    D = n_heads * d_k
    return random(B, T, D), *(random(D, D) / math.sqrt(D) for _ in range(4)), n_heads, head


# 5.9 ------------------------------------------------------------------------------------------


def different_rows(T: int = 10, is_causal: bool = True) -> int:
    """How many different rows attention makes of one symbol and T - 1 times another."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layer, symbols = MultiHeadAttention(8, 2).double(), random(2, 8)
        outputs, _ = layer(symbols[(torch.arange(T) > 0).long()][None], is_causal=is_causal)
    return len(outputs[0].mul(1e9).round().unique(dim=0))


# 5.10 -----------------------------------------------------------------------------------------


def alibi_weights(scores: Tensor, sign: int = -1, slopes=None) -> Tensor:
    distance = behind(scores)
    return masked_softmax(scores + sign * steep(scores, slopes) * distance, distance >= 0)


def behind(scores: Tensor) -> Tensor:
    """Return (T, S): by how many positions each key stands behind its query."""
    T, S = scores.shape[-2:]
    return torch.arange(S - T, S)[:, None] - torch.arange(S)


def steep(scores: Tensor, slopes=None) -> Tensor:
    h = scores.shape[1]
    slopes = slopes or (lambda i, h: 2 ** (-8 * i / h))
    return torch.tensor([slopes(i, h) for i in range(1, h + 1)], dtype=scores.dtype)[:, None, None]


def alibi_from_the_first_key(scores):
    T, S = scores.shape[-2:]
    distance = torch.arange(T)[:, None] - torch.arange(S)
    return masked_softmax(scores - steep(scores) * distance, distance >= 0)


def alibi_over_the_queries(scores):
    distance = behind(scores)
    biased = scores - steep(scores) * distance
    return biased.masked_fill(distance < 0, -math.inf).softmax(-2)


# 5.11 -----------------------------------------------------------------------------------------


def rotary_halves(x: Tensor, start: int, base: float) -> Tensor:
    return turned(x, start, base)


def turned(x: Tensor, start: int, base: float, exponent: int = -2, sign: int = 1) -> Tensor:
    m, i = torch.arange(start, start + x.shape[-2])[:, None], torch.arange(x.shape[-1] // 2)
    angles = (m * base ** (exponent * i.double() / x.shape[-1])).to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    sin = sign * angles.sin()
    return torch.cat([a * angles.cos() - b * sin, b * angles.cos() + a * sin], dim=-1)


def turned_as_a_sum(x, start, base):
    """Forget the one minus sign of a rotation."""
    a, b = x.chunk(2, dim=-1)
    flipped = turned(torch.cat([a, -b], dim=-1), start, base)
    return torch.cat([flipped.chunk(2, dim=-1)[0], turned(x, start, base).chunk(2, dim=-1)[1]], -1)


# 5.12 -----------------------------------------------------------------------------------------


def shift_matrix(k: int, d: int, base: float, exponent: int = -2) -> Tensor:
    angles = k * base ** (exponent * torch.arange(d // 2, dtype=torch.float64) / d)
    return waves_turned(angles.cos(), angles.sin())


def waves_turned(cos: Tensor, sin: Tensor) -> Tensor:
    blocks = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)
    return torch.block_diag(*blocks)  # of (d/2, 2, 2)


def shift_of_two_halves(k, d, base):
    """The matrix for all sines before all cosines."""
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    return shift_matrix(k, d, base)[order][:, order]


# 5.13 -----------------------------------------------------------------------------------------


def score_gradient(weights: Tensor, value: Tensor, grad_context: Tensor) -> Tensor:
    g = grad_context @ value.mT
    return weights * (g - (weights * g).sum(-1, keepdim=True))


def gradient_less(subtract):
    """A mistake that takes something else away than the mean under the weights."""

    def wrong(weights, value, grad_context):
        g = grad_context @ value.mT
        return weights * (g - subtract(weights, g))

    return wrong


def backward_inputs(B: int, h: int, T: int, S: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(B, h, T, S).softmax(-1), random(B, h, S, d_v), random(B, h, T, d_v)


# 5.14 -----------------------------------------------------------------------------------------


def without_edge(weights: Tensor, value: Tensor, t: int, s: int) -> Tensor:
    left = cut(weights, t, s)
    total = left.sum(-1, keepdim=True)
    return left / total.masked_fill(total == 0, 1) @ value


def cut(weights: Tensor, t, s) -> Tensor:
    left = weights.clone()
    left[:, :, t, s] = 0
    return left


def without_key(weights, value, t, s):
    left = cut(weights, slice(None), s)
    total = left.sum(-1, keepdim=True)
    return left / total.masked_fill(total == 0, 1) @ value


def without_edge_undefined(weights, value, t, s):
    left = cut(weights, t, s)
    return left / left.sum(-1, keepdim=True) @ value


def without_edge_shared_equally(weights, value, t, s):
    left, taken = cut(weights, t, s), weights[:, :, t, s, None]
    left[:, :, t] += taken / (left.shape[-1] - 1)
    left[:, :, t, s] = 0
    return left @ value


def edge_inputs(B: int, h: int, T: int, S: int, d_v: int, t: int, s: int) -> tuple:
    return random(B, h, T, S).softmax(-1), random(B, h, S, d_v), t, s


def only_edge(B: int, h: int, T: int, S: int, d_v: int, t: int, s: int) -> tuple:
    """Draw as `edge_inputs`, with a first head that looks from t at nothing but s."""
    weights, value, t, s = edge_inputs(B, h, T, S, d_v, t, s)
    weights[:, 0, t] = F.one_hot(torch.tensor(s), S).double()
    return weights, value, t, s


# 5.15 -----------------------------------------------------------------------------------------


def what_followed(ids: Tensor, vocab_size: int) -> Tensor:
    weights = masked_softmax(torch.zeros(()).expand(met(ids).shape), met(ids))
    return weights @ one_hot(ids, vocab_size)


def met(ids: Tensor, before=None) -> Tensor:
    """Return (B, T, T): True where the symbol before position s is the one at t, and s ≤ t."""
    before = F.pad(ids[:, :-1], (1, 0), value=-1) if before is None else before
    return (ids[:, :, None] == before[:, None]) & causal_mask(ids.shape[1])


def one_hot(ids: Tensor, vocab_size: int) -> Tensor:
    return F.one_hot(ids, vocab_size).to(torch.get_default_dtype())


def mean_where(seen: Tensor, values: Tensor) -> Tensor:
    return masked_softmax(torch.zeros(()).expand(seen.shape), seen) @ values


def what_followed_around_the_end(ids, vocab_size):
    return mean_where(met(ids, ids.roll(1, dims=1)), one_hot(ids, vocab_size))


def what_followed_in_the_future(ids, vocab_size):
    before = F.pad(ids[:, :-1], (1, 0), value=-1)
    return mean_where(ids[:, :, None] == before[:, None], one_hot(ids, vocab_size))


def what_followed_last(ids, vocab_size):
    T = ids.shape[1]
    last = (met(ids) * torch.arange(1, T + 1)).argmax(-1)  # the latest position
    return one_hot(ids.gather(1, last), vocab_size) * met(ids).any(-1, keepdim=True)


def what_followed_or_anything(ids, vocab_size):
    weights = torch.zeros(met(ids).shape).masked_fill(~met(ids), -1e9).softmax(-1)
    return weights @ one_hot(ids, vocab_size)


def what_stood_before(ids, vocab_size):
    T = ids.shape[1]
    earlier = (ids[:, :, None] == ids[:, None]) & causal_mask(T).tril(-1)
    earlier[:, :, 0] = False  # nothing stands before it
    return mean_where(earlier, one_hot(F.pad(ids[:, :-1], (1, 0)), vocab_size))


check = Checker(
    Prediction(
        "5.1",
        parameters_of_a_reader,
        {
            "biases": Mistake("each of the four maps has a bias, too.", 7680),
            "one width": Mistake("keys and values are made of what is 32 wide, not 48.", 9408),
            "output": Mistake("the heads are mixed once more at the end, by W_o.", 5520),
            "wide heads": Mistake(
                "six heads share the width: none is as wide as the model.", 46992
            ),
            "shared": Mistake("keys and values are made by a matrix each.", 6288),
        },
    ),
    Prediction(
        "5.2",
        rows_that_change,
        {
            "one layer": Mistake("that is after one layer; the second looks at its rows.", 3),
            "no window": Mistake("no query reaches further back than its window, twice.", 8),
            "added": Mistake("two windows overlap: the row between them counts once.", 6),
            "both sides": Mistake("nothing reaches the rows before the change.", 9),
            "not itself": Mistake("the row that you changed counts, too.", 4),
            "own row": Mistake("that would be a network that looks at one position at a time.", 1),
        },
    ),
    Exercise(
        "5.3",
        packed_mask,
        (
            Stage("one document", lambda: [(torch.tensor([[1, 1, 1]]),)]),
            Stage("two documents in a row", lambda: [(torch.tensor([[1, 1, 2, 2, 2]]),)]),
            Stage("padding behind a document", lambda: [(torch.tensor([[1, 1, 0, 0]]),)]),
            Stage(
                "several rows",
                lambda: [
                    (torch.tensor([[1, 1, 2, 3, 3, 3, 0], [1, 2, 2, 2, 2, 0, 0]]),),
                    (torch.tensor([[1, 2, 2], [1, 1, 1], [1, 0, 0]]),),
                ],
            ),
        ),
        {
            "inverted": Mistake(
                "it is True where nobody may look: here True lets through.",
                lambda document: ~packed_mask(document),
            ),
            "future": Mistake(
                "the future is open: a query sees what comes behind it.",
                lambda document: (same_document(document) & real_keys(document))[:, None],
            ),
            "mirrored": Mistake(
                "a query sees what comes behind it, and nothing of what was: which axis counts "
                "queries?",
                lambda document: packed_mask(document).mT,
            ),
            "not itself": Mistake(
                "a position may not see itself, so the first of a document sees nothing.",
                lambda document: packed_mask(document).tril(-1),
            ),
            "documents": Mistake(
                "a document looks into the one before it in the row.",
                lambda document: (causal_mask(document.shape[1]) & real_keys(document))[:, None],
            ),
            "documents, padding closed": Mistake(
                "padding is closed, but a document still looks into the one before it.",
                packed_without_documents,
            ),
            "padding": Mistake(
                "padding looks at padding, as if it were one more document.",
                lambda document: (same_document(document) & causal_mask(document.shape[1]))[
                    :, None
                ],
            ),
            "either": Mistake(
                "one reason to look is not enough: all conditions have to hold at once.",
                packed_by_either,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "5.4",
        unit_scores,
        (
            Stage("one head and variances of 1", lambda: [of_variance(1.0, 1.0, 1, 1, 2, 3, 4)]),
            Stage("several heads", lambda: [of_variance(1.0, 1.0, 2, 3, 4, 5, 7)]),
            Stage(
                "other variances",
                lambda: [
                    of_variance(4.0, 0.25, 2, 3, 4, 5, 6),
                    of_variance(0.5, 5.0, 3, 4, 2, 5, 8),
                    of_variance(3.0, 2.0, 4, 4, 4, 6, 3),
                ],
            ),
        ),
        {
            "not scaled": Mistake(
                "those are the bare dot products: a sum of d_k terms varies more than one.",
                lambda query, key, var_q, var_k: query @ key.mT,
            ),
            "d_k alone": Mistake(
                "√d_k is enough only where queries and keys have a variance of 1.",
                lambda query, key, var_q, var_k: unit_scores(query, key, 1, 1),
            ),
            "d_model": Mistake(
                "a head's dot product sums over the head's width, not over the model's.",
                lambda query, key, var_q, var_k: unit_scores(
                    query, key, query.shape[1] * var_q, var_k
                ),
            ),
            "twice": Mistake(
                "you divide by the variance of the dot product, or twice by its root; once makes "
                "it 1.",
                lambda query, key, var_q, var_k: query @ key.mT / (query.shape[-1] * var_q * var_k),
            ),
            "deviations": Mistake(
                "the two numbers are variances, and you take them for deviations.",
                lambda query, key, var_q, var_k: unit_scores(query, key, var_q**2, var_k**2),
            ),
            "added": Mistake(
                "the variance of a product of independent numbers is no sum.",
                lambda query, key, var_q, var_k: unit_scores(query, key, var_q + var_k, 1),
            ),
            "multiplied": Mistake(
                "the scores get larger where they should get smaller.",
                lambda query, key, var_q, var_k: (
                    query @ key.mT * math.sqrt(query.shape[-1] * var_q * var_k)
                ),
            ),
            "torch.sqrt": Mistake(
                "torch.sqrt wants a tensor, and this is a plain number.",
                lambda query, key, var_q, var_k: (
                    query @ key.mT / torch.sqrt(query.shape[-1] * var_q * var_k)
                ),
            ),
        },
    ),
    Exercise(
        "5.5",
        library_mask,
        (
            Stage("one sequence and one head", lambda: [(padded(2, 2), padded(4, 3), 1)]),
            Stage("a padded target", lambda: [(padded(3, 2), padded(4, 3), 1)]),
            Stage("a source padded in front", lambda: [(padded(3, 2), padded(4, 3).flip(1), 1)]),
            Stage(
                "several sequences and heads",
                lambda: [
                    (padded(3, 3, 1), padded(5, 2, 4), 3),
                    (padded(4, 4, 2, 3), padded(6, 5, 1, 6), 2),
                    (padded(3, 1, 3, 2), padded(3, 3, 1, 2), 3),
                ],
            ),
        ),
        {
            "inverted": Mistake(
                "it is True where attention is allowed, as in this book: the library's blocks.",
                lambda target, source, n_heads: ~library_mask(target, source, n_heads),
            ),
            "heads first": Mistake(
                "the rows come in another order: with two sequences, whose mask does the second "
                "head of the first one get?",
                lambda target, source, n_heads: blocked(target, source).repeat(n_heads, 1, 1),
            ),
            "inverted, heads first": Mistake(
                "two things at once: the library's True blocks, and its rows come sequence by "
                "sequence.",
                lambda target, source, n_heads: ~blocked(target, source).repeat(n_heads, 1, 1),
            ),
            "lengths": Mistake(
                "padding may stand in front, too: how many symbols there are does not tell where.",
                lambda target, source, n_heads: library_mask(
                    target, source.sort(descending=True).values, n_heads
                ),
            ),
            "target": Mistake(
                "that is the padding of the target; the keys are the source's.",
                lambda target, source, n_heads: library_mask(source, target, n_heads),
            ),
            "queries": Mistake(
                "you block the queries that are padding, and leave the keys that are open.",
                lambda target, source, n_heads: library_mask(source, target, n_heads).mT,
            ),
            "both": Mistake(
                "a query behind its sentence's end is blocked everywhere: the library makes NaN "
                "of it.",
                blocked_for_padded_queries,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "5.6",
        top_k_weights,
        (
            Stage("nothing masked", lambda: [(random(1, 1, 3, 4), torch.ones(3, 4).bool(), 2)]),
            Stage(
                "padding in two lengths",
                lambda: [(random(2, 1, 3, 6), lengths_mask(6, 6, 4), 3)],
            ),
            Stage("fewer keys than k", lambda: [(random(2, 3, 5, 5), causal_mask(5), 3)]),
            Stage(
                "scores far below 0", lambda: [(far_below(2, 3, 4, 5), lengths_mask(5, 5, 3), 2)]
            ),
            Stage("half precision", lambda: [HALF]),
            Stage(
                "a source of nothing but padding",
                lambda: [
                    (random(3, 2, 4, 5), lengths_mask(5, 3, 0, 5), 2),
                    (random(3, 3, 3, 6), lengths_mask(6, 4, 0, 6), 3),
                ],
            ),
        ),
        {
            "after": Mistake(
                "what is left no longer sums to 1: the others had their share in the softmax.",
                top_k_after,
            ),
            "chosen first": Mistake(
                "a masked key takes one of the k places.",
                lambda scores, mask, k: masked_softmax(scores, mask & largest(scores, k)),
            ),
            "filled up": Mistake(
                "where fewer than k keys are allowed, masked ones fill the places that are left.",
                top_k_and_masked,
            ),
            "filled up by topk": Mistake(
                "topk fills k places even where fewer than k keys are allowed: with masked ones.",
                top_k_scattered,
            ),
            "inverted": Mistake(
                "you choose among the keys that may not be attended to: True lets through.",
                lambda scores, mask, k: top_k_weights(scores, ~mask, k),
            ),
            "ignored": Mistake(
                "what is masked still gets weight.",
                lambda scores, mask, k: top_k_weights(scores, torch.ones_like(mask), k),
            ),
            "all": Mistake(
                "all keys that are allowed get weight, not the k best alone.",
                lambda scores, mask, k: masked_softmax(scores, mask),
            ),
            "smallest": Mistake(
                "those are the k smallest scores.",
                top_k_smallest,
            ),
            "zero": Mistake(
                "a score of 0 is a score like any other: its exponential is 1.",
                top_k_filled(0.0),
            ),
            "not low enough": Mistake(
                "minus ten thousand, or the lowest number of half precision, is not below every "
                "score.",
                top_k_filled(-65504.0),
            ),
            "a billion": Mistake(
                "minus a billion is no number in half precision.",
                top_k_filled(-1e9),
            ),
            "mean": Mistake(
                "where everything is masked, you average over padding: nothing should be attended "
                "to.",
                top_k_filled_with_the_lowest,
            ),
            "NaN": Mistake(
                "where everything is masked, the softmax divides 0 by 0.",
                top_k_filled(-math.inf),
            ),
            "axis": Mistake(
                "your softmax runs over the queries: the weights of one query should sum to 1.",
                top_k_filled(-math.inf, axis=-2),
            ),
            "queries chosen": Mistake(
                "you keep the k best queries of each key; each query should keep its k best keys.",
                top_k_of_the_queries,
            ),
        },
    ),
    Exercise(
        "5.7",
        dropped_weights,
        (
            Stage("evaluation", lambda: [drop_inputs(0.5, False, 1, 1, 2, 6)]),
            Stage("training", lambda: [drop_inputs(0.5, True, 1, 1, 2, 6)]),
            Stage(
                "both, with other shares",
                lambda: [
                    drop_inputs(0.3, False, 2, 3, 4, 5),
                    drop_inputs(0.3, True, 2, 3, 4, 5),
                    drop_inputs(0.2, True, 3, 3, 3, 7),
                ],
            ),
        ),
        {
            "evaluation": Mistake(
                "in evaluation nothing is dropped: two runs should agree.",
                lambda scores, kept, p, training: dropped_weights(scores, kept, p, True),
            ),
            "scores": Mistake(
                "you drop scores: a score of 0 is not a weight of 0.",
                in_training(lambda scores, kept, p: (scores * kept / (1 - p)).softmax(-1)),
            ),
            "renormalised": Mistake(
                "you mask: what is left of a row sums to 1, and should only do so on average.",
                in_training(lambda scores, kept, p: masked_softmax(scores, kept)),
            ),
            "not scaled": Mistake(
                "on average your weights sum to less than 1 in training: nothing makes up for "
                "what was dropped.",
                in_training(lambda scores, kept, p: scores.softmax(-1) * kept),
            ),
            "evaluation scaled": Mistake(
                "you make up for it in evaluation, as dropout's first paper does; asked for is to "
                "do so in training.",
                in_training(
                    lambda scores, kept, p: scores.softmax(-1) * kept,
                    lambda weights, p: weights * (1 - p),
                ),
            ),
            "inverted": Mistake(
                "you keep what should be dropped, and drop what should be kept.",
                lambda scores, kept, p, training: dropped_weights(scores, ~kept, p, training),
            ),
            "share": Mistake(
                "you divide by the share that is dropped: what is it that remains?",
                lambda scores, kept, p, training: dropped_weights(scores, kept, 1 - p, training),
            ),
            "never": Mistake(
                "nothing is dropped, in training either.",
                lambda scores, kept, p, training: scores.softmax(-1),
            ),
        },
    ),
    Exercise(
        "5.8",
        silenced,
        (
            Stage("one position", lambda: [layer_inputs(1, 1, 2, 3, 1)]),
            Stage("one sequence", lambda: [layer_inputs(1, 4, 2, 3, 0)]),
            Stage(
                "several sequences and heads",
                lambda: [
                    layer_inputs(2, 5, 3, 4, 1),
                    layer_inputs(3, 2, 4, 5, 2),
                    layer_inputs(3, 3, 3, 2, 2),
                ],
            ),
        ),
        {
            "split": Mistake(
                "your heads are cut out of the positions: reshaping never moves a number, and to "
                "bring an axis forward numbers must change places.",
                other_way(split=split_untransposed),
            ),
            "merge": Mistake(
                "you merge heads as they lie, one head's positions after each other: a row should "
                "hold what all heads found at one position.",
                other_way(merge=merge_untransposed),
            ),
            "split and merge": Mistake(
                "split and merged by reshaping alone, a head is a stretch of positions at full "
                "width.",
                other_way(split=split_untransposed, merge=merge_untransposed),
            ),
            "turns": Mistake(
                "your heads take turns along the width; each should have a stretch of its own.",
                other_way(split=split_by_turns),
            ),
            "d_model": Mistake(
                "you scale by the width of the model: a head's dot product sums over less.",
                lambda x, W_q, *others: silenced(
                    x, W_q, *others, root=lambda d_k: math.sqrt(len(W_q))
                ),
            ),
            "not scaled": Mistake(
                "the scores are not scaled.",
                other_way(root=lambda d_k: 1),
            ),
            "twice": Mistake(
                "you scale twice, or by d_k without the root.",
                other_way(root=lambda d_k: d_k),
            ),
            "torch.sqrt": Mistake(
                "torch.sqrt wants a tensor, and d_k is a plain number.",
                other_way(root=torch.sqrt),
            ),
            "axis": Mistake(
                "your softmax runs over the queries: the weights of one query should sum to 1.",
                other_way(axis=-2),
            ),
            "nothing": Mistake(
                "all heads still speak.",
                other_way(hush=lambda context, head: context),
            ),
            "scores": Mistake(
                "with all scores 0 a head does not fall silent: it says the mean of its values.",
                silenced_by_scores,
            ),
            "others": Mistake(
                "that is what this head says alone; wanted is what the others say.",
                other_way(hush=lambda context, head: context - blank(context, head, 1)),
            ),
            "from one": Mistake(
                "another head is silenced: they count from 0.",
                other_way(
                    hush=lambda context, head: blank(context, (head - 1) % len(context[0]), 1)
                ),
            ),
            "made up": Mistake(
                "you make the others louder to make up for it, as dropout would.",
                other_way(
                    hush=lambda context, head: (
                        blank(context, head, 1) * len(context[0]) / (len(context[0]) - 1)
                    )
                ),
            ),
            "not transposed": Mistake(
                "a map makes x Wᵀ of x: here its matrix is not transposed.",
                lambda x, W_q, W_k, W_v, W_o, *heads: silenced(
                    x, W_q.mT, W_k.mT, W_v.mT, W_o.mT, *heads
                ),
            ),
            "outputs": Mistake(
                "you blank a stretch of the outputs, in which W_o has mixed all heads already.",
                silenced_in_the_outputs,
            ),
            "no W_o": Mistake(
                "W_o is missing at the end.",
                lambda x, W_q, W_k, W_v, W_o, *heads: silenced(
                    x, W_q, W_k, W_v, torch.eye(len(W_o), dtype=W_o.dtype), *heads
                ),
            ),
        },
    ),
    Prediction(
        "5.9",
        different_rows,
        {
            "unmasked": Mistake(
                "that is without a mask; with it, do all positions average over the same?",
                different_rows(is_causal=False),
            ),
            "same": Mistake("the first symbol is another one, and each row looks at it.", 1),
            "but the first": Mistake("the first row sees only itself: it is one more.", 9),
        },
    ),
    Exercise(
        "5.10",
        alibi_weights,
        (
            Stage("the last of four queries", lambda: [(random(1, 2, 1, 4),)]),
            Stage("as many queries as keys", lambda: [(random(1, 2, 3, 3),)]),
            Stage(
                "several heads, queries and sequences",
                lambda: [
                    (random(2, 3, 4, 5).float(),),  # slopes in single precision are fine, too
                    (random(2, 4, 3, 7),),
                    (random(3, 2, 5, 6),),
                    (random(4, 4, 4, 4),),
                ],
            ),
        ),
        {
            "sign": Mistake(
                "what is far away gains: distance should cost something.",
                lambda scores: alibi_weights(scores, sign=1),
            ),
            "from zero": Mistake(
                "your first slope is 1: heads count from 1 here.",
                lambda scores: alibi_weights(scores, slopes=lambda i, h: 2 ** (-8 * (i - 1) / h)),
            ),
            "eight heads": Mistake(
                "those are the slopes of eight heads; the number of heads is in the formula.",
                lambda scores: alibi_weights(scores, slopes=lambda i, h: 2.0**-i),
            ),
            "whole exponents": Mistake(
                "with three heads your slopes are off: 8/h is no whole number then.",
                lambda scores: alibi_weights(scores, slopes=lambda i, h: 2.0 ** -(8 // h * i)),
            ),
            "one slope": Mistake(
                "all heads have the first one's slope; each should have another horizon.",
                lambda scores: alibi_weights(scores, slopes=lambda i, h: 2 ** (-8 / h)),
            ),
            "reversed": Mistake(
                "the first head should have the steepest slope, and has the flattest.",
                lambda scores: alibi_weights(
                    scores, slopes=lambda i, h: 2 ** (-8 * (h + 1 - i) / h)
                ),
            ),
            "corner": Mistake(
                "your first query stands at the first key; here the last stands at the last.",
                alibi_from_the_first_key,
            ),
            "both sides": Mistake(
                "the future costs as much as the past; it should be closed.",
                lambda scores: (scores - steep(scores) * behind(scores).abs()).softmax(-1),
            ),
            "future": Mistake(
                "the future is open, and even gains.",
                lambda scores: (scores - steep(scores) * behind(scores)).softmax(-1),
            ),
            "future behind": Mistake(
                "you close the future behind the softmax: what it took is lost, and a row sums to "
                "less than 1.",
                lambda scores: (
                    (scores - steep(scores) * behind(scores)).softmax(-1) * (behind(scores) >= 0)
                ),
            ),
            "axis": Mistake(
                "your softmax runs over the queries: the weights of one query should sum to 1.",
                alibi_over_the_queries,
            ),
            "nothing": Mistake(
                "that is causal attention without any distance in it.",
                lambda scores: masked_softmax(scores, behind(scores) >= 0),
            ),
        },
    ),
    Exercise(
        "5.11",
        rotary_halves,
        (
            Stage("one pair", lambda: [(random(1, 1, 3, 2).float(), 0, 100.0)]),
            Stage("position 0, where nothing turns", lambda: [(random(2, 3, 1, 4), 0, 100.0)]),
            Stage("several pairs", lambda: [(random(1, 1, 4, 6).float(), 0, 100.0)]),
            Stage(
                "heads, other bases and a later start",
                lambda: [
                    (random(2, 3, 5, 4).float(), 7, 10_000.0),  # angles may be in any precision
                    (random(3, 2, 4, 8).float(), 3, 50.0),
                    (random(3, 3, 3, 6).float(), 1, 1000.0),
                ],
            ),
        ),
        {
            "neighbours": Mistake(
                "you turn neighbours, as the page does; here each half holds one number of a pair.",
                lambda x, start, base: Rotary(x.shape[-1], base)(x, start),
            ),
            "backwards": Mistake(
                "you turn the other way. The scores would not notice; a cache of the other "
                "library's keys would.",
                lambda x, start, base: turned(x, start, base, sign=-1),
            ),
            "order": Mistake(
                "the right numbers in another order: each half keeps its own here.",
                lambda x, start, base: turned(x, start, base).unflatten(-1, (2, -1)).mT.flatten(-2),
            ),
            "sum": Mistake(
                "that is no rotation, it changes lengths: one of four products is taken away.",
                turned_as_a_sum,
            ),
            "start": Mistake(
                "the sequence begins at position 0 each time, whatever came before.",
                lambda x, start, base: turned(x, 0, base),
            ),
            "after start": Mistake(
                "the first position is `start`, not the one behind it.",
                lambda x, start, base: turned(x, start + 1, base),
            ),
            "exponent": Mistake(
                "your slowest pair is too fast by far: the exponent goes in steps of 2/d.",
                lambda x, start, base: turned(x, start, base, exponent=-1),
            ),
            "doubled": Mistake(
                "your angles fall off too fast: is the exponent doubled twice?",
                lambda x, start, base: turned(x, start, base, exponent=-4),
            ),
            "base": Mistake(
                "the base is an argument; you use 10 000.",
                lambda x, start, base: turned(x, start, 10_000.0),
            ),
            "heads": Mistake(
                "you turn by the head's number: which axis counts positions?",
                lambda x, start, base: turned(x.transpose(1, 2), start, base).transpose(1, 2),
            ),
        },
    ),
    Exercise(
        "5.12",
        shift_matrix,
        (
            Stage("one pair", lambda: [(1, 2, 10_000.0)]),
            Stage("several pairs", lambda: [(1, 6, 100.0)]),
            Stage("other steps", lambda: [(3, 4, 50.0), (-2, 8, 1000.0), (12, 6, 10_000.0)]),
        ),
        {
            "transposed": Mistake(
                "your matrix goes the other way: k positions back.",
                lambda k, d, base: shift_matrix(k, d, base).mT,
            ),
            "one angle": Mistake(
                "all pairs turn by the same angle; each wave has its own frequency.",
                lambda k, d, base: shift_matrix(k, d, 1.0),
            ),
            "exponent": Mistake(
                "your slowest wave is too fast: a frequency belongs to two columns.",
                lambda k, d, base: shift_matrix(k, d, base, exponent=-1),
            ),
            "halves": Mistake(
                "that would fit if all sines stood before all cosines; here they take turns.",
                shift_of_two_halves,
            ),
            "one step": Mistake(
                "your matrix goes one position, however large k is.",
                lambda k, d, base: shift_matrix(1, d, base),
            ),
            "rolled": Mistake(
                "that moves a vector's numbers along; its waves should move instead.",
                lambda k, d, base: torch.eye(d, dtype=torch.float64).roll(k, 0),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "5.13",
        score_gradient,
        (
            Stage("one query and two keys", lambda: [backward_inputs(1, 1, 1, 2, 1)]),
            Stage("one head", lambda: [backward_inputs(1, 1, 3, 4, 2)]),
            Stage(
                "several heads",
                lambda: [backward_inputs(2, 3, 4, 5, 6), backward_inputs(3, 3, 3, 7, 2)],
            ),
        ),
        {
            "diagonal": Mistake(
                "α(1 - α) is how a weight answers to its own score; the others pull at it, too.",
                lambda weights, value, grad_context: (
                    weights * (1 - weights) * (grad_context @ value.mT)
                ),
            ),
            "not less": Mistake(
                "if one weight grows the others shrink: your gradients of a row don't sum to 0.",
                gradient_less(lambda weights, g: 0),
            ),
            "plain mean": Mistake(
                "what is taken away is a mean under the weights, not the plain mean.",
                gradient_less(lambda weights, g: g.mean(-1, keepdim=True)),
            ),
            "axis": Mistake(
                "you sum over the queries: each query has a softmax of its own.",
                gradient_less(lambda weights, g: (weights * g).sum(-2, keepdim=True)),
            ),
            "sign": Mistake(
                "the sign is reversed.",
                lambda *inputs: -score_gradient(*inputs),
            ),
            "weight": Mistake(
                "what is left has to be multiplied by the weight itself.",
                lambda weights, value, grad_context: (
                    (g := grad_context @ value.mT) - (weights * g).sum(-1, keepdim=True)
                ),
            ),
            "weights": Mistake(
                "that is the gradient of the weights; the softmax is still to come.",
                lambda weights, value, grad_context: grad_context @ value.mT,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "5.14",
        without_edge,
        (
            Stage("one head", lambda: [edge_inputs(1, 1, 2, 3, 2, 1, 0)]),
            Stage(
                "several heads",
                lambda: [edge_inputs(2, 3, 4, 5, 6, 3, 1), edge_inputs(3, 2, 5, 4, 3, 0, 2)],
            ),
            Stage("a query that saw nothing else", lambda: [only_edge(2, 3, 4, 5, 2, 2, 1)]),
            Stage("as many queries as keys", lambda: [edge_inputs(3, 3, 3, 3, 4, 1, 2)]),
        ),
        {
            "not renormalised": Mistake(
                "the other keys of that query don't share what was taken: its weights sum to less "
                "than 1.",
                lambda weights, value, t, s: cut(weights, t, s) @ value,
            ),
            "key": Mistake(
                "no query sees the key any more; only one was to lose it.",
                without_key,
            ),
            "exchanged": Mistake(
                "query and key are exchanged.",
                lambda weights, value, t, s: without_edge(weights, value, s, t),
            ),
            "query": Mistake(
                "the query sees nothing at all; it was to lose one key.",
                lambda weights, value, t, s: cut(weights, t, slice(None)) @ value,
            ),
            "equally": Mistake(
                "you share what was taken equally; a softmax without that key keeps the others' "
                "ratios.",
                without_edge_shared_equally,
            ),
            "NaN": Mistake(
                "a query that has nothing left divides 0 by 0; it should get zeros.",
                without_edge_undefined,
            ),
            "nothing": Mistake(
                "that is the context as it was.",
                lambda weights, value, t, s: weights @ value,
            ),
        },
        gradient=False,  # off the simplex right ways differ
    ),
    Exercise(
        "5.15",
        what_followed,
        (
            Stage("a symbol that comes again", lambda: [(torch.tensor([[1, 2, 1]]), 3)]),
            Stage("a symbol that follows itself", lambda: [(torch.tensor([[2, 2, 1, 2]]), 3)]),
            Stage(
                "several sequences",
                lambda: [
                    (torch.randint(4, (2, 9)), 4),
                    (torch.randint(3, (3, 12)), 3),
                    (torch.randint(5, (6, 6)), 5),
                ],
            ),
        ),
        {
            "itself": Mistake(
                "you find where the symbol stood; what came behind it?",
                lambda ids, vocab_size: mean_where(
                    (ids[:, :, None] == ids[:, None]) & causal_mask(ids.shape[1]).tril(-1),
                    one_hot(ids, vocab_size),
                ),
            ),
            "before": Mistake(
                "that is what stood before it.",
                what_stood_before,
            ),
            "around the end": Mistake(
                "your first key wraps round: no symbol stands before the first, the last neither.",
                what_followed_around_the_end,
            ),
            "future": Mistake(
                "you count what only follows later on.",
                what_followed_in_the_future,
            ),
            "strict": Mistake(
                "the symbol at t may itself be what followed: position t knows it already.",
                lambda ids, vocab_size: mean_where(met(ids).tril(-1), one_hot(ids, vocab_size)),
            ),
            "last": Mistake(
                "you remember the last time alone; asked for is the share over all of them.",
                what_followed_last,
            ),
            "counted": Mistake(
                "those are counts; as shares they sum to 1.",
                lambda ids, vocab_size: (
                    met(ids).to(torch.get_default_dtype()) @ one_hot(ids, vocab_size)
                ),
            ),
            "anything": Mistake(
                "where nothing matches, you average over everything; there is nothing to say.",
                what_followed_or_anything,
            ),
        },
        gradient=False,
    ),
)
