"""The task of the dates judges what is written, by models that are known to be right or wrong."""

import pytest
import torch
from torch import nn

from utils.data.text import EOS, PAD
from utils.seq2seq import sequence_loss
from utils.tasks.dates import MAX_LEN, DateTask


@pytest.fixture(scope="module")
def task():
    task = DateTask(400, locale=True, seed=0)
    task.parts = type(task.parts)(*(part[:60] for part in task.parts))
    return task


class Constant(nn.Module):
    """Says the same logits whatever it reads; there is something to train."""

    def __init__(self, vocab_size: int):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, source, lengths, target_in):
        return self.logits.expand(*target_in.shape, -1)


def writing(task: DateTask, wrong: str | None = None):
    """Writes the true dates, but those of locale `wrong` with a last symbol too many."""
    truth = {}
    for part in task.parts:
        for source, target, example in zip(*task.ids(part), part, strict=True):
            more = [task.dates.encode("0")[0]] if example.locale == wrong else []
            truth[tuple(source)] = [*target, *more, EOS]

    def write(model, source, lengths, max_len):
        assert max_len == MAX_LEN and isinstance(model, Constant)
        rows = [tuple(row[:n]) for row, n in zip(source.tolist(), lengths.tolist(), strict=True)]
        rows = [torch.tensor(truth[row]) for row in rows]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)

    return write


def test_the_locale_stands_before_the_letters_where_it_is_told(task):
    example = task.parts.test[0]
    assert task.symbols(example) == [f"<{example.locale}>", *example.text]
    untold = DateTask(400, locale=False, seed=0)
    assert untold.symbols(example) == list(example.text)
    assert len(untold.texts) < len(task.texts)


def test_texts_are_ended_and_dates_are_not(task):
    texts, dates = task.ids(task.parts.test[:1])
    (example,) = task.parts.test[:1]
    assert task.texts.decode(texts[0]) == task.symbols(example) and texts[0][-1] == EOS
    assert "".join(task.dates.decode(dates[0])) == example.target and EOS not in dates[0]


def test_what_is_written_is_judged(task):
    def measured(wrong: str | None) -> dict:
        how = {"epochs": 1, "seed": 0}
        model = Constant(len(task.dates))
        return task.measure(model, sequence_loss, writing(task, wrong), **how)

    right = measured(None)
    assert right["validation"] == right["exact"] == right["unseen"] == 1
    assert right["parameters"] == len(task.dates) and right["steps"] == 1
    locale = task.parts.test[0].locale
    share = sum(e.locale != locale for e in task.parts.test) / len(task.parts.test)
    assert measured(locale)["exact"] == pytest.approx(share)
