"""The measures, on numbers counted by hand and against the library's."""

import math
import re

import pytest
import sacrebleu
import torch
from torch.nn import functional as F

from utils.training.metrics import (
    accuracy,
    alignment,
    alignment_error_rate,
    bits_per_byte,
    bleu,
    by_length,
    confusion_matrix,
    diagonal,
    exact_match,
    mean_and_spread,
    perplexity,
    surprises,
)

LOGITS = torch.tensor([[9.0, 0, 0], [0, 9, 0], [0, 9, 0], [2, 1, 0], [0, 1, 2]])
TARGETS = torch.tensor([0, 1, 2, 1, 2])


def test_accuracy_counts_the_largest_output():
    assert accuracy(LOGITS, TARGETS) == 3 / 5
    assert accuracy(LOGITS.softmax(dim=-1), TARGETS) == 3 / 5
    assert isinstance(accuracy(LOGITS, TARGETS), float)


def test_accuracy_of_sequences_takes_the_last_axis_for_the_classes():
    logits = torch.eye(3)[torch.tensor([[0, 1], [2, 2], [1, 0], [0, 0]])]  # (B=4, T=2, V=3)
    assert accuracy(logits, torch.tensor([[0, 1], [2, 1], [0, 0], [1, 1]])) == 4 / 8


@pytest.mark.parametrize("measure", [accuracy, confusion_matrix])
@pytest.mark.parametrize("shape", [(5, 1), (1,), (4,)])
def test_targets_of_another_shape_are_not_broadcast(measure, shape):
    with pytest.raises(ValueError, match=rf"\(5,\).*{re.escape(str(shape))}"):
        measure(LOGITS, torch.zeros(shape, dtype=torch.int64))


def test_confusions_have_true_classes_as_rows_and_keep_absent_ones():
    logits = torch.cat([LOGITS, torch.full((5, 1), -1.0)], dim=1)  # a fourth class, never seen
    expected = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
    counts = confusion_matrix(logits, TARGETS)
    assert counts.dtype == torch.int64
    assert torch.equal(counts, expected)


def test_spread_is_the_sample_standard_deviation():
    result = mean_and_spread([0.98, 0.99, torch.tensor(1.0, dtype=torch.float64)])
    assert result == pytest.approx((0.99, 0.01))
    assert f"{result:.1%}" == "99.0 ± 1.0 %"
    assert f"{result:.3f}" == "0.990 ± 0.010"


@pytest.mark.parametrize("values", [[], [0.5]])
def test_a_single_run_has_no_spread(values):
    with pytest.raises(ValueError, match=f" {len(values)} "):
        mean_and_spread(values)


# Language models and translators ------------------------------------------------------------------

PAD, EOS = 0, 2


@pytest.mark.parametrize("n", [2, 7, 291])
def test_perplexity_of_a_uniform_guess_is_the_number_of_symbols(n):
    loss = F.cross_entropy(torch.zeros(5, n, dtype=torch.float64), torch.arange(5) % n)
    assert perplexity(loss) == pytest.approx(n, rel=1e-12)


def test_perplexity_at_its_ends():
    assert perplexity(0) == 1
    assert perplexity(1e6) == math.inf


@pytest.mark.parametrize("nats", [-0.1, math.nan])
def test_a_loss_that_can_not_be_has_no_perplexity(nats):
    with pytest.raises(ValueError, match=f" {nats} "):
        perplexity(nats)


def test_bits_per_byte_do_not_depend_on_the_tokens():
    """256 equally likely bytes, or 65,536 pairs of them, are 8 bits a byte."""
    for V, n_tokens in ((256, 60), (65_536, 30)):
        assert bits_per_byte(math.log(V), n_tokens, 60) == pytest.approx(8, rel=1e-12)
    assert bits_per_byte(torch.tensor(math.log(2.0)), 3, 4) == pytest.approx(0.75, rel=1e-6)


@pytest.mark.parametrize(
    "given, message",
    [((-0.1, 1, 1), " -0.1 "), ((1, 0, 1), "n_tokens .* 0"), ((1, 1, 0), "n_bytes .* 0")],
)
def test_what_can_not_be_has_no_bits_per_byte(given, message):
    with pytest.raises(ValueError, match=message):
        bits_per_byte(*given)


class Counting:
    """Knows how often each symbol has followed each, and how many tokens it was shown at once."""

    def __init__(self, V):
        self.logits = torch.randn(V, V, generator=torch.Generator().manual_seed(0)).double()
        self.shapes = []

    def __call__(self, ids):
        self.shapes.append(tuple(ids.shape))
        before = ids.cumsum(dim=1) % len(self.logits)  # all of the window, not the last alone
        return self.logits[before]


@pytest.mark.parametrize("n, context", [(2, 1), (9, 4), (10, 4), (600, 4), (7, 100)])
def test_each_token_but_the_first_surprises_once_by_what_its_window_holds(n, context):
    ids = torch.randint(0, 7, (n,), generator=torch.Generator().manual_seed(n))
    model, expected = Counting(7), []
    for t in range(1, n):
        start = (t - 1) // context * context
        logits = model(ids[None, start:t])[0, -1]
        expected.append(-logits.log_softmax(-1)[ids[t]].item())
    model.shapes.clear()
    torch.testing.assert_close(surprises(model, ids, context).tolist(), expected)
    assert sum(rows * T for rows, T in model.shapes) == n - 1
    assert max(T for _, T in model.shapes) == min(context, n - 1)


def test_surprises_keep_no_graph():
    ids, weight = torch.arange(5), torch.zeros(7, 7, requires_grad=True)
    found = surprises(lambda ids: weight[ids], ids, 2)
    assert not found.requires_grad
    assert perplexity(found.mean()) == pytest.approx(7)


@pytest.mark.parametrize(
    "ids, context, message",
    [
        (torch.arange(5), 0, "context .* 0"),
        (torch.arange(1), 4, r"\(1,\)"),
        (torch.arange(6).view(2, 3), 4, r"\(2, 3\)"),
        (torch.rand(5), 4, "float32"),
    ],
)
def test_a_text_without_surprises_is_named(ids, context, message):
    with pytest.raises(ValueError, match=message):
        surprises(Counting(7), ids, context)


PREDICTED = torch.tensor(
    [
        [5, 6, EOS, PAD, PAD],  # right
        [5, 6, EOS, 9, 9],  # right: what follows the end does not count
        [5, EOS, 6, EOS, PAD],  # ends too early
        [5, 6, 7, 5, 6],  # never ends
        [6, 5, EOS, PAD, PAD],  # in another order
    ]
)
WANTED = torch.tensor([[5, 6, EOS], [5, 6, EOS], [5, 6, EOS], [5, 6, EOS], [5, 6, EOS]])


def test_exact_match_counts_whole_sequences_and_their_end():
    assert exact_match(PREDICTED, WANTED, EOS) == 2 / 5
    assert exact_match(PREDICTED.tolist(), WANTED.tolist(), EOS) == 2 / 5
    assert exact_match([[5, 6]], [[5, 6, EOS]], EOS) == 0


def test_exact_match_does_not_see_padding():
    padded = F.pad(WANTED, (0, 4), value=PAD)
    assert exact_match(PREDICTED, padded, EOS) == 2 / 5
    assert exact_match(F.pad(PREDICTED, (0, 3), value=PAD), WANTED, EOS) == 2 / 5


def test_exact_match_needs_targets_that_end():
    with pytest.raises(ValueError, match="Target 1 "):
        exact_match([[5, EOS], [5, EOS]], [[5, EOS], [5, PAD]], EOS)
    with pytest.raises(ValueError, match="Target 0 "):
        exact_match([[EOS]], [[]], EOS)


@pytest.mark.parametrize("measure", [lambda a, b: exact_match(a, b, EOS), bleu])
@pytest.mark.parametrize("predicted, targets", [([], []), ([["a"]], []), ([["a"]], [["a"]] * 2)])
def test_sequences_come_in_pairs(measure, predicted, targets):
    with pytest.raises(ValueError, match=f" {len(predicted)} .* {len(targets)} "):
        measure(predicted, targets)


def test_bleu_by_hand():
    # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples; as long as the reference
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu(["a b c d x".split()], ["a b c d e".split()]) == pytest.approx(expected, rel=1e-12)
    # right as far as it goes, but 4 words instead of 5: the brevity penalty
    expected = 100 * math.exp(1 - 5 / 4)
    assert bleu(["a b c d".split()], ["a b c d e".split()]) == pytest.approx(expected, rel=1e-12)


def test_bleu_counts_over_the_corpus_and_takes_words_as_they_are():
    ours = ["他 , 昨天 读 了 一 本 书".split(), "我 don't 喜欢 猫 。".split()]
    theirs = ["他 昨天 读 了 一 本 书".split(), "我 不 喜欢 猫 。".split()]
    library = sacrebleu.corpus_bleu(
        [" ".join(words) for words in ours],
        [[" ".join(words) for words in theirs]],
        tokenize="none",
    )
    assert bleu(ours, theirs) == pytest.approx(library.score, rel=1e-12)
    separate = [bleu([a], [b]) for a, b in zip(ours, theirs, strict=True)]
    assert bleu(ours, theirs) != pytest.approx(sum(separate) / 2)


def test_bleu_of_sentences_too_short_for_four_words_in_a_row():
    assert bleu(["我 爱 你".split()], ["我 爱 你".split()]) == pytest.approx(100)
    assert bleu(["我".split(), []], ["我".split(), "你".split()]) < 100


def test_bleu_counts_half_a_match_and_then_a_quarter_where_there_is_none():
    """Three of six words stand where they should, no two in a row: 0 pairs, triples, quadruples."""
    ours, theirs = "a x b y c z".split(), "a q b r c s".split()
    expected = 100 * (3 / 6 * (1 / 2) / 5 * (1 / 4) / 4 * (1 / 8) / 3) ** (1 / 4)
    assert bleu([ours], [theirs]) == pytest.approx(expected, rel=1e-12)


def test_by_length_measures_each_length_apart():
    lengths = [4, 3, 4, 3, 3]
    result = by_length(lambda a, b: exact_match(a, b, EOS), lengths, PREDICTED, WANTED)
    assert list(result.items()) == [(3, 1 / 3), (4, 1 / 2)]
    assert by_length(len, torch.tensor(lengths), PREDICTED) == {3: 3, 4: 2}
    assert by_length(len, ["short", "long", "short"], "abc") == {"long": 1, "short": 2}
    with pytest.raises(ValueError, match=" 5 .* 4 "):
        by_length(len, lengths[:-1], PREDICTED)


# Alignments ---------------------------------------------------------------------------------------

SURE = {(0, 0), (1, 2)}
POSSIBLE = SURE | {(1, 1), (2, 1)}


@pytest.mark.parametrize(
    "predicted, expected",
    [
        (SURE, 0),
        (POSSIBLE, 0),
        ({(0, 0)}, 1 - (1 + 1) / (1 + 2)),
        ({(0, 0), (1, 1)}, 1 - (1 + 2) / (2 + 2)),
        ({(0, 1), (1, 0)}, 1),
        ({(0, 0), (2, 1), (2, 2)}, 1 - (1 + 2) / (3 + 2)),
        (set(), 1),
    ],
)
def test_alignment_error_rate_by_hand(predicted, expected):
    assert alignment_error_rate([predicted], [SURE], [POSSIBLE]) == pytest.approx(expected)


def test_a_diagonal_goes_from_corner_to_corner():
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(4, 2) == {(0, 0), (1, 0), (2, 1), (3, 1)}
    assert diagonal(2, 5) == {(0, 0), (1, 2)}


def test_alignment_error_rate_counts_links_not_sentences():
    predicted = [SURE, {(0, 1)}]
    rate = alignment_error_rate(predicted, [SURE, {(0, 0)}], [POSSIBLE, {(0, 0)}])
    assert rate == pytest.approx(1 - (2 + 2) / (3 + 3))


def test_alignment_error_rate_refuses_what_can_not_be_compared():
    with pytest.raises(ValueError, match=" 1 .* 0 "):
        alignment_error_rate([SURE], [SURE], [])
    with pytest.raises(ValueError, match=r"\[\(1, 2\)\]"):
        alignment_error_rate([SURE], [SURE], [{(0, 0)}])
    with pytest.raises(ValueError, match="neither"):
        alignment_error_rate([set()], [set()], [set()])


WEIGHTS = torch.tensor(  # three target words and EOS, two source words, EOS and padding
    [
        [0.60, 0.40, 0.00, 0],
        [0.10, 0.20, 0.70, 0],  # looks at EOS most
        [0.45, 0.55, 0.00, 0],
        [0.00, 0.10, 0.90, 0],
    ]
)


def test_alignment_takes_the_largest_weight_among_the_words():
    assert alignment(WEIGHTS, 3, 2) == {(0, 0), (1, 1), (2, 1)}
    assert alignment(WEIGHTS[:3, :2], 3, 2) == alignment(F.pad(WEIGHTS, (0, 3, 0, 2)), 3, 2)


def test_alignment_by_a_threshold_may_link_several_words_or_none():
    assert alignment(WEIGHTS, 3, 2, threshold=0.4) == {(0, 0), (0, 1), (2, 0), (2, 1)}
    assert alignment(WEIGHTS, 3, 2, threshold=0.55) == {(0, 0), (2, 1)}
    assert alignment(WEIGHTS, 3, 2, threshold=0.9) == frozenset()


@pytest.mark.parametrize(
    "weights, target_len, source_len",
    [(WEIGHTS, 5, 2), (WEIGHTS, 3, 5), (WEIGHTS, 0, 2), (WEIGHTS, 3, 0), (WEIGHTS[None], 1, 2)],
)
def test_alignment_refuses_weights_that_do_not_cover_the_words(weights, target_len, source_len):
    with pytest.raises(ValueError, match=f" {target_len} .* {source_len} "):
        alignment(weights, target_len, source_len)
