"""Numbers give their symbols back, batches lose nothing, and what was counted is a probability."""

import math
from collections import Counter

import pytest
import torch

from utils.data.docstrings import docstring_text
from utils.data.text import BOS, EOS, PAD, UNK, BucketedBatches, Vocabulary, chunks, pad
from utils.training.counting import KneserNey
from utils.training.loop import fit

# Symbols and numbers


def test_vocabulary_begins_with_the_special_ones_and_hangs_on_no_order():
    vocabulary = Vocabulary("bcab")
    assert vocabulary.symbols == ("<pad>", "<bos>", "<eos>", "<unk>", "a", "b", "c")
    assert (PAD, BOS, EOS, UNK, len(vocabulary)) == (0, 1, 2, 3, 7)
    assert Vocabulary({"c", "b", "a"}).symbols == vocabulary.symbols
    assert vocabulary.encode("cab") == [6, 4, 5] and vocabulary.encode("") == []
    assert Vocabulary(["the", "cat"]).encode(["cat", "the"]) == [4, 5]


def test_decode_gives_back_what_was_encoded():
    vocabulary = Vocabulary("abc")
    assert "".join(vocabulary.decode(vocabulary.encode("cabba"))) == "cabba"
    ids = [BOS, *vocabulary.encode("cab"), EOS, 4, PAD, PAD]
    assert vocabulary.decode(ids) == vocabulary.decode(torch.tensor(ids)) == ["c", "a", "b"]
    assert vocabulary.decode([]) == vocabulary.decode([EOS]) == []


def test_unknown_symbols():
    vocabulary = Vocabulary("abc")
    assert vocabulary.encode("axb") == [4, UNK, 5]
    assert vocabulary.decode([4, UNK]) == ["a", "<unk>"]
    with pytest.raises(ValueError, match="'x'"):
        vocabulary.encode("axb", strict=True)
    for number in (7, -1):
        with pytest.raises(ValueError, match=f" 6: {number}"):
            vocabulary.decode([4, number])


@pytest.mark.parametrize(("symbols", "says"), [("", "one symbol"), (["a", "<eos>"], "'<eos>'")])
def test_no_such_vocabulary(symbols, says):
    with pytest.raises(ValueError, match=says):
        Vocabulary(symbols)


# Sequences and batches


def test_pad():
    ids, lengths = pad([[5, 6], [7, 8, 9, 4], [6]])
    assert ids.tolist() == [[5, 6, 0, 0], [7, 8, 9, 4], [6, 0, 0, 0]]
    assert lengths.tolist() == [2, 4, 1] and ids.dtype == lengths.dtype == torch.int64


@pytest.mark.parametrize(
    ("sequences", "says"), [([], "no sequence"), ([[4], [], [5]], "Sequence 1 ")]
)
def test_nothing_to_pad(sequences, says):
    with pytest.raises(ValueError, match=says):
        pad(sequences)


def sequences(n, longest=40, seed=0):
    """Sequence i says i in its first symbol."""
    lengths = torch.randint(longest, (n,), generator=torch.Generator().manual_seed(seed))
    return [[4 + i, *[4] * int(length)] for i, length in enumerate(lengths)]


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_sequence_is_in_one_batch_with_its_target(shuffle):
    sources = sequences(103)
    batches = BucketedBatches(sources, torch.arange(103), batch_size=10, shuffle=shuffle, pool=3)
    assert len(batches) == len(list(batches)) == 11
    found = []
    for ids, lengths, target in batches:
        assert ids.shape == (len(target), lengths.max())
        for row, length, number in zip(ids, lengths, target, strict=True):
            assert row[:length].tolist() == sources[number]
            assert torch.all(row[length:] == PAD)
        found += target.tolist()
    assert sorted(found) == list(range(103))
    assert (found == list(range(103))) == (not shuffle)


def test_translation_batches_shift_the_target_by_one():
    source, lengths, target_in, target_out = next(
        iter(BucketedBatches([[5], [6, 7]], [[8, 9], [4]], batch_size=2))
    )
    assert source.tolist() == [[5, 0], [6, 7]] and lengths.tolist() == [1, 2]
    assert target_in.tolist() == [[BOS, 8, 9], [BOS, 4, PAD]]
    assert target_out.tolist() == [[8, 9, EOS], [4, EOS, PAD]]


def test_the_order_hangs_on_torchs_generator_alone():
    batches = BucketedBatches(sequences(60), torch.arange(60), batch_size=7, shuffle=True)

    def order(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return [target.tolist() for *_, target in batches]

    assert order(0) == order(0) != order(1)


def test_buckets_have_little_padding():
    def padding(pool):
        batches = BucketedBatches(sequences(2000), torch.zeros(2000), 20, shuffle=True, pool=pool)
        lengths = [(ids.numel(), int(lengths.sum())) for ids, lengths, _ in batches]
        return 1 - sum(real for _, real in lengths) / sum(size for size, _ in lengths)

    with torch.random.fork_rng():
        torch.manual_seed(0)
        assert padding(pool=20) < 0.08 and padding(pool=1) > 0.35


class Counting(torch.nn.Module):
    """Remembers the shapes that it is given."""

    def __init__(self):
        super().__init__()
        self.weight, self.seen = torch.nn.Parameter(torch.zeros(2)), []

    def forward(self, *inputs):
        self.seen.append([tuple(tensor.shape) for tensor in inputs])
        return self.weight.expand(len(inputs[0]), 2)


def test_fit_takes_bucketed_batches():
    model = Counting()
    batches = BucketedBatches(sequences(23), torch.zeros(23).long(), batch_size=5, shuffle=True)
    optimiser = torch.optim.SGD(model.parameters(), 0.1)
    history = fit(model, batches, torch.nn.functional.cross_entropy, optimiser, epochs=2)
    assert len(history.step_loss) == 10
    assert all(len(shapes) == 2 and shapes[0][:1] == shapes[1] for shapes in model.seen)
    assert model.seen[:5] != model.seen[5:]  # a new order for each epoch


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], [], 2), "no sequence"),
        (([[4], []], [1, 2], 2), "Sequence 1 "),
        (([[4], [5]], [[1]], 2), "2 sources .* 1"),
        (([[4]], [[1]], 0), "batch_size is 0"),
        (([[4]], [[1]], 1, True, 0), "pool is 0"),
    ],
)
def test_no_such_batches(arguments, says):
    with pytest.raises(ValueError, match=says):
        BucketedBatches(*arguments)


@pytest.mark.parametrize(("n", "batch_size", "length"), [(101, 4, 7), (100, 4, 5), (9, 1, 8)])
def test_chunks_go_on_where_the_last_one_stopped(n, batch_size, length):
    ids = torch.arange(n)
    pieces = chunks(ids, batch_size, length)
    inputs, targets = (torch.cat([piece[i] for piece in pieces], dim=1) for i in (0, 1))
    size = (n - 1) // batch_size
    assert inputs.shape == targets.shape == (batch_size, size)
    assert torch.equal(inputs.flatten(), ids[: batch_size * size])  # stream after stream
    assert torch.equal(targets, inputs + 1)
    assert all(x.shape[1] == length for x, _ in pieces[:-1])
    assert all(x.shape == y.shape and 0 < x.shape[1] <= length for x, y in pieces)
    again = chunks(ids.tolist(), batch_size, length)
    assert torch.equal(again[-1][1], pieces[-1][1])


@pytest.mark.parametrize(
    ("n", "batch_size", "length"), [(3, 3, 1), (0, 1, 1), (9, 0, 1), (9, 1, 0)]
)
def test_no_such_chunks(n, batch_size, length):
    with pytest.raises(ValueError, match=f"^{n} .* {batch_size} | {batch_size} .* {length}:"):
        chunks(torch.arange(n), batch_size, length)


# Counting


def by_hand(ids, order, vocab_size, history, symbol):
    """Interpolated Kneser-Ney, as its formula says, with dictionaries."""
    p = 1 / vocab_size
    for n in range(1, order + 1):
        grams = Counter(tuple(ids[i : i + n]) for i in range(len(ids) - n + 1))
        if n < order:
            longer = {tuple(ids[i : i + n + 1]) for i in range(len(ids) - n)}
            grams = Counter(gram[1:] for gram in longer)
        once, twice = (list(grams.values()).count(k) for k in (1, 2))
        d = once / (once + 2 * twice) if once and twice else 0.5
        context = tuple(history[len(history) - n + 1 :]) if n > 1 else ()
        if n - 1 > len(history):
            break
        after = {gram[-1]: count for gram, count in grams.items() if gram[:-1] == context}
        if after:
            total = sum(after.values())
            p = (max(after.get(symbol, d) - d, 0) + d * len(after) * p) / total
    return p


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_kneser_ney_is_its_formula(order):
    generator = torch.Generator().manual_seed(order)
    weights = torch.tensor([6.0, 3, 2, 1, 0.2, 0.01])
    ids, new = (
        torch.multinomial(weights, n, replacement=True, generator=generator) for n in (150, 40)
    )
    new[20] = 5  # rare or never seen
    found = KneserNey(ids, order, 6).log_probabilities(new).exp()
    expected = [
        by_hand(ids.tolist(), order, 6, new[:t].tolist(), int(new[t])) for t in range(len(new))
    ]
    torch.testing.assert_close(
        found, torch.tensor(expected, dtype=torch.float64), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("order", [1, 2, 5])
def test_probabilities_of_all_symbols_sum_to_one(order):
    vocabulary = Vocabulary("abcdr")
    ids = vocabulary.encode("abracadabra" * 3)
    model = KneserNey(ids, order, len(vocabulary))
    for context in ("", "a", "abra", "rrrrr", "abracadabra"):
        logits = model.logits(vocabulary.encode(context))
        assert logits.shape == (len(vocabulary),)
        assert logits.exp().sum().item() == pytest.approx(1, abs=1e-12)
        one = model.log_probabilities(vocabulary.encode(context + "c"))[-1]
        assert logits[vocabulary.encode("c")].item() == pytest.approx(one.item(), abs=1e-12)


def test_rows_are_judged_on_their_own():
    model = KneserNey(torch.arange(60) % 7, 3, 8)
    rows = torch.tensor([[0, 1, 2, 3], [5, 6, 0, 7]])
    together = model.log_probabilities(rows)
    assert together.shape == (2, 4) and together.dtype == torch.float64
    for row, alone in zip(rows, together, strict=True):
        torch.testing.assert_close(model.log_probabilities(row), alone, atol=0, rtol=0)
    assert together[0].sum() > together[1].sum()


def test_longer_contexts_help_on_the_docstrings():
    train, held_out = docstring_text("train")[:100_000], docstring_text("validation")[:20_000]
    vocabulary = Vocabulary(train)
    perplexity = []
    for order in (1, 2, 3, 5):
        model = KneserNey(vocabulary.encode(train), order, len(vocabulary))
        nll = -model.log_probabilities(vocabulary.encode(held_out)).mean().item()
        perplexity.append(math.exp(nll))
    assert perplexity == sorted(perplexity, reverse=True)
    assert perplexity[0] < len(vocabulary) / 2 and perplexity[-1] < perplexity[0] / 3


@pytest.mark.parametrize(
    ("ids", "order", "vocab_size", "says"),
    [
        ([0, 1, 0], 0, 2, "order is 0"),
        ([0, 1] * 50, 64, 2, "order is 64"),
        ([0, 1], 3, 2, "text of 3 "),
        ([0, 2], 1, 2, " 0 .* 1"),
        ([], 1, 2, " 0 .* 1"),
    ],
)
def test_nothing_to_count(ids, order, vocab_size, says):
    with pytest.raises(ValueError, match=says):
        KneserNey(ids, order, vocab_size)


def test_unknown_numbers_are_refused():
    model = KneserNey([0, 1, 0, 1], 2, 3)
    for ids in ([], [3], [-1]):
        with pytest.raises(ValueError, match=" 0 .* 2"):
            model.log_probabilities(ids)
