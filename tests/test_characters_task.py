"""A text as a task: what a model that is made to forget finds surprising."""

import math

import pytest
import torch

from utils.recurrent import LSTM, LanguageModel
from utils.tasks.characters import perplexity_if_emptied


@pytest.mark.parametrize("where", [(), (3,), (0, 1, 6), (2, 3, 8, 9), range(10)])
def test_the_state_is_emptied_before_the_symbols_that_were_named(where):
    torch.manual_seed(0)
    model = LanguageModel(7, 4, LSTM(4, 5))
    text, empty = torch.randint(7, (10,)), torch.zeros(10, dtype=torch.bool)
    empty[list(where)] = True
    nats, state = 0.0, None
    for t in range(9):
        logits, state = model(text[None, t : t + 1], None if empty[t] else state)
        nats -= logits[0, 0].log_softmax(0)[text[t + 1]].item()
    assert perplexity_if_emptied(model, text, empty) == pytest.approx(math.exp(nats / 9), rel=1e-5)


def test_long_texts_are_read_in_batches():
    torch.manual_seed(0)
    model = LanguageModel(7, 4, LSTM(4, 5))
    text = torch.randint(7, (1203,))
    always = torch.ones(1203, dtype=torch.bool)
    logits = model(text[:-1, None])[0][:, 0]
    expected = torch.nn.functional.cross_entropy(logits, text[1:]).exp().item()
    assert perplexity_if_emptied(model, text, always) == pytest.approx(expected, rel=1e-5)
