"""From English into Chinese with different scores, and with none: how much is exactly right?

Sentences have up to `longest` English words. All models have the decoder of Luong et al. (2015).
"no weights" is tanh(h + s), summed: an additive score without its projections and its v. `aer` is
the alignment error rate on the test.
"""

from functools import cache

import torch
from torch import Tensor

from utils.attention import Attention, Score
from utils.lab.metrics import alignment, alignment_error_rate, bleu, by_length, exact_match
from utils.lab.recipes import train_translator
from utils.lab.text import BOS, EOS, Vocabulary, pad
from utils.lab.translation import Corpus, Pair, corpus
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, greedy_decode, sequence_loss

PARAMETERS = {
    "score": ["none", "dot", "general", "additive", "no weights"],
    "pairs": 24_000,
    "longest": 12,
    "epochs": 4,
    "seed": [0, 1, 2],
}
MAX_LEN = 30  # target words, a few more than the longest translation has


class NoWeights(Score):
    """The sum of tanh(h + s) over the width."""

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        return (query[:, :, None] + prepared[:, None]).tanh().sum(dim=-1)


def build(score: str, n_source: int, n_target: int) -> Seq2Seq:
    kind = {"none": None, "no weights": "dot"}.get(score, score)
    model = Seq2Seq(Seq2SeqConfig(n_source, n_target, 64, 128, attention=kind, style="Luong"))
    if score == "no weights":
        model.decoder.attention = Attention(NoWeights())
    return model


@cache
def drawn(pairs: int, longest: int) -> Corpus:
    """Of a corpus, which is the same for all members, the sentences of up to `longest` words."""
    parts = corpus(0, n_train=pairs)
    return Corpus(*([pair for pair in part if len(pair.source) <= longest] for part in parts))


def measure(score: str, pairs: int, longest: int, epochs: int, seed: int) -> dict:
    parts = drawn(pairs, longest)
    english = Vocabulary(word for pair in parts.train for word in pair.source)
    chinese = Vocabulary(word for pair in parts.train for word in pair.target)

    def encode(part: list[Pair]) -> tuple[list[list[int]], list[list[int]]]:
        sources = [[*english.encode(pair.source), EOS] for pair in part]
        return sources, [chinese.encode(pair.target) for pair in part]

    torch.manual_seed(seed)
    model = build(score, len(english), len(chinese))
    history = train_translator(model, sequence_loss, *encode(parts.train), epochs=epochs, seed=seed)
    sources, targets = encode(parts.test)
    targets = [[*target, EOS] for target in targets]
    written = list(greedy_decode(model, *pad(sources), MAX_LEN))
    lengths = [len(pair.source) for pair in parts.test]
    exact = by_length(
        lambda ours, theirs: exact_match(ours, theirs, EOS), lengths, written, targets
    )
    new_sources, new_targets = encode(parts.unseen_structures)
    new_targets = [[*target, EOS] for target in new_targets]
    new_written = greedy_decode(model, *pad(new_sources), MAX_LEN)
    words = [chinese.decode(row) or ["<nothing>"] for row in written]
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": sum(history.seconds),
        "exact": exact_match(written, targets, EOS),
        "length": list(exact),
        "exact by length": list(exact.values()),
        "bleu": bleu(words, [pair.target for pair in parts.test]),
        "unseen structures": exact_match(new_written, new_targets, EOS),
        "aer": None if score == "none" else aer(model, parts.test, sources, targets),
    }


def aer(
    model: Seq2Seq, pairs: list[Pair], sources: list[list[int]], targets: list[list[int]]
) -> float:
    """Alignment error rate of the largest weights, where the model follows the true translation."""
    target_in, _ = pad([[BOS, *target[:-1]] for target in targets])
    with torch.no_grad():
        _, weights = model(*pad(sources), target_in, need_weights=True)
    links = [
        alignment(rows, len(pair.target), len(pair.source))
        for rows, pair in zip(weights, pairs, strict=True)
    ]
    return alignment_error_rate(
        links, [pair.sure for pair in pairs], [pair.possible for pair in pairs]
    )
