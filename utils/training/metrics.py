"""How good a model is: classifier, language model or translator; and the spread over seeds."""

import math
import statistics
from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

import torch
from sacrebleu.metrics import BLEU
from sklearn.metrics import confusion_matrix as count_confusions
from torch import Tensor

from utils.arguments import check_sizes, described, is_whole

ROWS = 64  # windows of a text that are read at once


def accuracy(outputs: Tensor, targets: Tensor) -> float:
    """The share of targets that have the largest output.

    Shapes: outputs (…, n_classes), logits or probabilities; targets (…), class numbers.
    Raises: ValueError if the shapes do not fit.
    """
    return (chosen(outputs, targets) == targets).double().mean().item()


def confusion_matrix(outputs: Tensor, targets: Tensor) -> Tensor:
    """Count how often each class (row) was taken for each class (column); as scikit-learn does.

    Shapes: outputs (…, n_classes), targets (…); returns (n_classes, n_classes), int64.
    Raises: ValueError if the shapes do not fit.
    """
    predicted = chosen(outputs, targets).flatten().cpu()
    classes = range(outputs.shape[-1])
    return torch.from_numpy(count_confusions(targets.flatten().cpu(), predicted, labels=classes))


def chosen(outputs: Tensor, targets: Tensor) -> Tensor:
    """The class with the largest output, for each target."""
    if outputs.shape[:-1] != targets.shape:
        raise ValueError(
            f"Outputs of shape {tuple(outputs.shape)} need targets of shape "
            f"{tuple(outputs.shape[:-1])}, not {tuple(targets.shape)}: one class for each row."
        )
    return outputs.argmax(dim=-1)


def perplexity(nats: float) -> float:
    """Among how many equally likely symbols a model wavers, whose mean loss a symbol is `nats`.

    Raises: ValueError if the loss is negative or not a number.
    """
    nats = float(nats)
    check_nats(nats)
    return math.exp(nats) if nats < 700 else math.inf


def bits_per_byte(nats: float, n_tokens: int, n_bytes: int) -> float:
    """How many bits a model needs for each byte of a text, whatever its tokens are.

    nats: the mean loss a token, of n_tokens that stand for n_bytes of text.
    Raises: ValueError if the loss is negative or not a number, or there is no token or no byte.
    """
    check_sizes(n_tokens=n_tokens, n_bytes=n_bytes)
    check_nats(nats)
    return nats * n_tokens / n_bytes / math.log(2)


@torch.no_grad()
def surprises(model: Callable[[Tensor], Tensor], ids: Tensor, context: int) -> Tensor:
    """-ln p of each token of a text but the first, in nats; their mean is the loss.

    The text is read in windows of `context` tokens that don't overlap, so a token is judged once,
    by what its window holds before it: at the window's first place by one token, at its last by
    all `context`.
    model: takes ids (B, T ≤ context) to logits (B, T, V) of each next token.
    Shapes: ids (n,) to (n - 1,).
    Raises: ValueError if context is below 1, or there are fewer than two tokens.
    """
    check_sizes(context=context)
    if not is_whole(ids) or ids.dim() != 1 or len(ids) < 2:
        raise ValueError(f"Expected the ids (n,) of two tokens or more, got {described(ids)}.")
    pairs = torch.stack([ids[:-1], ids[1:]], dim=-1)  # a token and the next
    whole = len(pairs) // context * context
    found = []
    for rows in (*pairs[:whole].view(-1, context, 2).split(ROWS), pairs[None, whole:]):
        if rows.numel():
            log_p = model(rows[..., 0]).log_softmax(dim=-1)
            found.append(-log_p.gather(2, rows[..., 1:]).flatten())
    return torch.cat(found)


def exact_match(predicted: Sequence, targets: Sequence, eos: int) -> float:
    """The share of sequences that are right to the last symbol, their end included.

    predicted, targets: ids, (B, T) and (B, T'), or lists. What stands behind the first `eos` is
        padding and does not count; a prediction that never ends is wrong.
    Raises: ValueError if there is none, their numbers differ, or a target does not end.
    """
    check_pairs(predicted, targets)
    ours, theirs = ([until(row, eos) for row in rows] for rows in (predicted, targets))
    for place, row in enumerate(theirs):
        if eos not in row[-1:]:
            raise ValueError(f"Target {place} has no end, symbol {eos}: each target needs one.")
    return statistics.fmean(a == b for a, b in zip(ours, theirs, strict=True))


def until(ids, eos: int) -> list[int]:
    """The ids up to the first `eos`, which is kept."""
    ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
    return ids[: ids.index(eos) + 1] if eos in ids else ids


def bleu(predicted: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU, 0 to 100 (Papineni et al., 2002), by sacrebleu (Post, 2018).

    predicted, references: sentences as sequences of words, one reference each; their words are
        compared as they are (tokenize="none"). Where all sentences are shorter than four words,
        the longest n-grams that there are take the place of 4-grams. Where n-grams of some length
        have no match at all, the first such length counts half a match, the next a quarter, and
        so on (smooth_method="exp").
    Raises: ValueError if there is no sentence, or their numbers differ.
    """
    check_pairs(predicted, references)
    ours, theirs = ([" ".join(words) for words in side] for side in (predicted, references))
    score = BLEU(tokenize="none", smooth_method="exp", effective_order=True, force=True)
    return score.corpus_score(ours, [theirs]).score


def by_length(measure: Callable, lengths: Sequence, *columns: Sequence) -> dict:
    """Apply `measure` to the sentences of each length: {length: measure(*their columns)}, sorted.

    lengths: one number a sentence, or the bin that it falls into.
    Raises: ValueError if a column has not one entry a sentence.
    """
    lengths = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    for column in columns:
        check_pairs(column, lengths)
    places = {length: [] for length in sorted(set(lengths))}
    for place, length in enumerate(lengths):
        places[length].append(place)
    return {
        length: measure(*([column[place] for place in chosen] for column in columns))
        for length, chosen in places.items()
    }


def check_pairs(first: Sequence, second: Sequence) -> None:
    """Raise a ValueError unless there are as many of the one as of the other, and some."""
    if len(first) != len(second) or len(first) == 0:
        raise ValueError(
            f"There are {len(first)} sequences and {len(second)} to compare them with: "
            "each needs one, and there must be some."
        )


Links = Set[tuple[int, int]]


def alignment(
    weights: Tensor, target_len: int, source_len: int, threshold: float | None = None
) -> frozenset[tuple[int, int]]:
    """Take links (t, s) from attention: which source word each target word was written from.

    threshold: None links each target word with the source word of the largest weight; a number
        links it with all words of at least that weight, so with several, or with none.
    Shapes: weights (T, S), row t from the step that wrote target word t; T >= target_len and
        S >= source_len: what lies beyond is EOS and padding, and is left out.
    Raises: ValueError if there are fewer rows or columns than words, or no words.
    """
    if weights.dim() != 2 or not (
        1 <= target_len <= weights.shape[0] and 1 <= source_len <= weights.shape[1]
    ):
        raise ValueError(
            f"Weights of shape {tuple(weights.shape)} do not cover {target_len} target and "
            f"{source_len} source words: they are (T, S), of one sentence."
        )
    weights = weights[:target_len, :source_len]
    if threshold is None:
        return frozenset(enumerate(weights.argmax(dim=1).tolist()))
    return frozenset(map(tuple, (weights >= threshold).nonzero().tolist()))


def diagonal(target_len: int, source_len: int) -> frozenset[tuple[int, int]]:
    """Links (t, s) of a guess that knows no words: as far along the source as along the target."""
    return frozenset((t, t * source_len // target_len) for t in range(target_len))


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links]
) -> float:
    """1 - (|A and S| + |A and P|) / (|A| + |S|), over all sentences (Och and Ney, 2003, §6).

    It is 0 when every sure link (S) is found and every predicted one (A) is possible (P, which
    holds S): to miss a link that is only possible costs nothing.
    Raises: ValueError if the numbers of sentences differ, a sure link is not possible, or there
        is neither a predicted nor a sure link.
    """
    check_pairs(predicted, sure)
    check_pairs(predicted, possible)
    found = asked = 0
    for ours, must, may in zip(predicted, sure, possible, strict=True):
        if not must <= may:
            raise ValueError(f"Sure links are possible, too, but {sorted(must - may)} are not.")
        found += len(ours & must) + len(ours & may)
        asked += len(ours) + len(must)
    if asked == 0:
        raise ValueError("There is neither a predicted nor a sure link: nothing can be missed.")
    return 1 - found / asked


class MeanAndSpread(NamedTuple):
    """A mean with its sample standard deviation: f"{result:.1%}" is written as "98.7 ± 0.2 %"."""

    mean: float
    spread: float

    def __format__(self, spec: str) -> str:
        mean, spread = (format(value, spec) for value in self)
        if spec.endswith("%"):
            return f"{mean[:-1]} ± {spread[:-1]} %"
        return f"{mean} ± {spread}"


def mean_and_spread(values) -> MeanAndSpread:
    """Mean and sample standard deviation of one number a seed.

    Raises: ValueError if there are fewer than two: a single run has no spread.
    """
    values = [float(value) for value in values]
    if len(values) < 2:
        raise ValueError(f"There are {len(values)} values: a spread needs two or more, one a seed.")
    return MeanAndSpread(statistics.mean(values), statistics.stdev(values))


def check_nats(nats: float) -> None:
    """Raise a ValueError if this is no mean loss."""
    if not nats >= 0:
        raise ValueError(f"A mean loss of {nats} nats can't be: it is at least 0.")
