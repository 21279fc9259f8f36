"""The translation task judges what is written, by models that are known to be right or wrong."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.text import EOS, PAD
from utils.data.translation import sentences
from utils.seq2seq import Seq2Seq, Seq2SeqConfig
from utils.tasks.short_translation import steps_apart
from utils.tasks.translation import MAX_LEN, THRESHOLDS, Task, diagonal_error


@pytest.fixture(scope="module")
def task():
    task = Task(600)
    known = set(task.english.symbols), set(task.chinese.symbols)
    small = [  # what a vocabulary of 600 sentences can say, a few of each part
        [pair for pair in part if set(pair.source) <= known[0] and set(pair.target) <= known[1]][
            :120
        ]
        for part in task.parts
    ]
    task.parts = type(task.parts)(*small)
    return task


def padded(rows: list[list[int]]) -> torch.Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)


def knowing(task: Task, wrong_from: int = 99):
    """Writes the true translation, but nothing for sources of more than `wrong_from` words."""
    truth = {}
    for part in task.parts:
        for source, target in zip(*task.ids(part), strict=True):
            truth[tuple(source)] = target

    def write(source, lengths, max_len):
        assert max_len == MAX_LEN
        rows = [tuple(row[:n]) for row, n in zip(source.tolist(), lengths.tolist(), strict=True)]
        return padded([[*(truth[r] if len(r) <= wrong_from + 1 else []), EOS] for r in rows])

    return write


def pointing(task: Task, weight: float, elsewhere: int = 0):
    """Weights on the true links; `elsewhere` moves them along the source."""
    pairs = {tuple(task.english.encode(p.source)): p for part in task.parts for p in part}

    def align(source, lengths, target):
        weights = torch.zeros(*target.shape, source.shape[1])
        for row, ids, n in zip(weights, source.tolist(), lengths.tolist(), strict=True):
            for t, s in pairs[tuple(ids[: n - 1])].sure:
                row[t, (s + elsewhere) % (n - 1)] = weight
        return weights

    return align


def test_sources_are_ended_and_targets_are_not(task):
    sources, targets = task.ids(task.parts.test[:1])
    assert sources[0][-1] == EOS and EOS not in targets[0]
    assert task.english.decode(sources[0]) == list(task.parts.test[0].source)
    assert task.chinese.decode(targets[0]) == list(task.parts.test[0].target)


def test_the_truth_is_wholly_right(task):
    found = task.judge(knowing(task))
    assert found["exact"] == found["unseen structures"] == 1
    assert found["bleu"] == pytest.approx(100)
    assert set(found["exact by length"]) == {1.0}
    assert found["length"] == sorted({len(pair.source) for pair in task.parts.test})


def test_what_is_wrong_counts_where_it_is(task):
    found = task.judge(knowing(task, wrong_from=12))
    by_length = dict(zip(found["length"], found["exact by length"], strict=True))
    assert all(right == (length <= 12) for length, right in by_length.items())
    share = sum(len(pair.source) <= 12 for pair in task.parts.test) / len(task.parts.test)
    assert found["exact"] == pytest.approx(share) and 0.2 < share < 0.8
    assert 0 < found["bleu"] < 100


def test_alignment_errors_are_none_for_true_links_and_many_for_others(task):
    right = task.alignment_errors(pointing(task, 0.65))
    assert right["aer, threshold"] == 0 and right["threshold"] in THRESHOLDS
    assert right["aer"] < 0.2  # a word without a sure link is linked with something
    assert task.alignment_errors(pointing(task, 0.65, elsewhere=1))["aer, threshold"] > 0.7


def test_the_threshold_is_picked_on_validation(task):
    test = task.parts.test

    def align(source, lengths, target):
        """Right links have 0.65 in validation and 0.35 in the test; a wrong one has 0.3."""
        weight = 0.35 if len(source) == len(test) else 0.65
        weights = pointing(task, weight)(source, lengths, target)
        weights[:, 0] = torch.where(weights[:, 0] > 0, weights[:, 0], 0.3)
        return weights

    shorter = Task.__new__(Task)
    shorter.__dict__ |= task.__dict__
    shorter.parts = task.parts._replace(validation=task.parts.validation[:50])
    found = shorter.alignment_errors(align)
    assert found["threshold"] > 0.35 and found["aer, threshold"] == pytest.approx(1)


class Copier(nn.Module):
    """Knows nothing but how often each Chinese word is used."""

    def __init__(self, vocab_size: int):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, source, lengths, target_in):
        return self.logits.expand(*target_in.shape, -1)


def test_a_model_is_trained_before_it_is_judged(task):
    model = Copier(len(task.chinese))
    seen = []

    def loss(logits, target):
        return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)

    def write(trained, source, lengths, max_len):
        seen.append(trained)
        return trained.logits.argmax().expand(len(source), 1)

    found = task.measure(model, loss, write, epochs=1, seed=0)
    assert found["parameters"] == len(task.chinese)
    assert found["exact"] == 0 and "aer" not in found
    assert all(each is model for each in seen) and model.logits.abs().max() > 0

    def align(trained, source, lengths, target):
        return torch.zeros(*target.shape, source.shape[1])

    assert task.measure(model, loss, write, align, epochs=1, seed=0)["aer, threshold"] == 1


def test_the_diagonal_is_judged_by_the_links_that_the_grammar_makes():
    must = wrong = made = 0
    for pair in sentences(40, seed=1):
        for t in range(len(pair.target)):
            link = (t, int(t / len(pair.target) * len(pair.source) + 1e-9))
            made += 1
            wrong += (link not in pair.sure) + (link not in pair.possible)
        must += len(pair.sure)
    assert diagonal_error(40) == pytest.approx(1 - (2 * made - wrong) / (made + must))


def test_a_model_that_remembers_nothing_says_other_things_step_by_step():
    model = Seq2Seq(Seq2SeqConfig(9, 8, 5, 6, attention="general", style="Luong")).double()
    assert steps_apart(model) < 1e-12
    begin = model.encode(torch.tensor([[7, 8, 2]]), torch.tensor([3]))[0]
    decoder = model.decoder.forward
    model.decoder.forward = lambda x, state, *rest: decoder(
        x, begin if x.shape == (1, 1) else state, *rest
    )
    assert steps_apart(model) > 1e-3
