"""Day 10's pairs: half of them follow, words are hidden in all, and both losses are learned."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from utils.data.text import BOS, EOS
from utils.pretraining import IGNORE, masked_word_loss
from utils.tasks import sentence_pairs
from utils.tasks.held_out import held_out
from utils.tasks.pretraining import B, T, documents, hide
from utils.tasks.sentence_pairs import (
    QUESTIONS_ASKED,
    Pairs,
    ReadsPairs,
    hidden_pairs,
    new_pair_model,
    pair_loss,
    pairs_right,
)

shown = partial(hide, share=0.0)


def drawn(question: str | None, steps: int = 25, mask=shown, seed: int = 0) -> list[tuple]:
    torch.manual_seed(seed)
    return list(Pairs(documents(), steps, question, mask))


@pytest.mark.parametrize("question", QUESTIONS_ASKED.values())
def test_half_of_the_pairs_follow_and_types_tell_the_parts_apart(question):
    labels = []
    for ids, lengths, types, target in drawn(question):
        assert len(ids) == B and ids.shape[1] <= T
        assert (ids[:, 0] == BOS).all() and (target[:, 1:] == IGNORE).all()
        for row, length, kinds in zip(ids, lengths, types, strict=True):
            second = int(kinds.argmax())
            assert kinds[:second].sum() == 0 and kinds[second:length].all()
            assert row[second - 1] == row[length - 1] == EOS
        labels += target[:, 0].tolist()
    if question is None:
        assert set(labels) == {IGNORE}
    else:
        assert set(labels) == {0, 1} and 0.4 < sum(labels) / len(labels) < 0.6


def parts(row: torch.Tensor, length: int, kinds: torch.Tensor) -> tuple[tuple, tuple]:
    second = int(kinds.argmax())
    return tuple(row[1 : second - 1].tolist()), tuple(row[second : length - 1].tolist())


@pytest.mark.parametrize("question", QUESTIONS_ASKED.values())
def test_the_labels_are_true_of_the_text(question):
    texts = ["".join(f" {id}" for said in document for id in said) for document in documents()]

    def stands(*ids: int) -> bool:
        wanted = "".join(f" {id}" for id in ids) + " "
        return any(wanted in text + " " for text in texts)

    for ids, lengths, types, target in drawn(question, steps=4):
        for row, length, kinds, asked in zip(ids, lengths, types, target, strict=True):
            a, b = parts(row, int(length), kinds)
            assert stands(*a, EOS, *b) == (asked[0] != 1)
            if asked[0] == 1 and question == "order":
                assert stands(*b, EOS, *a)


def test_the_same_seed_draws_the_same_pairs():
    first, same, other = (drawn("order", 2, seed=seed) for seed in (3, 3, 4))
    for batch, again in zip(first, same, strict=True):
        assert all(map(torch.equal, batch, again))
    assert not torch.equal(first[0][0][:, :5], other[0][0][:, :5])


def test_words_are_hidden_and_the_place_in_front_is_asked_for_the_label():
    ((ids, lengths, types, target),) = drawn("next", 1, partial(hide, share=0.5))
    assert set(target[:, 0].tolist()) <= {0, 1}
    asked = (target[:, 1:] != IGNORE).float().mean()
    assert 0.3 < asked < 0.6


def test_the_loss_is_that_of_words_and_that_of_pairs():
    model = new_pair_model(0)
    ((ids, lengths, types, target),) = drawn("order", 1, partial(hide, share=0.5))
    x = ReadsPairs(model)(ids, lengths, types)
    words = masked_word_loss(model.head, x[:, 1:], target[:, 1:])
    labels = F.cross_entropy(model.order(model.pool(x, lengths)), target[:, 0])
    torch.testing.assert_close(pair_loss(model, x, target), words + labels)
    target[:, 0] = IGNORE
    torch.testing.assert_close(pair_loss(model, x, target), words)


@pytest.mark.parametrize("question", ["next", "order"])
def test_pairs_are_judged_by_the_layer_that_is_asked(question, monkeypatch):
    monkeypatch.setattr(sentence_pairs, "N_JUDGED", 20)
    model = new_pair_model(0)
    with torch.no_grad():
        model.order.weight.zero_()
        model.order.bias.copy_(torch.tensor([1.0, 0.0]))
    always = pairs_right(model, question)
    assert 0.35 < always < 0.65
    with torch.no_grad():
        model.order.bias.copy_(torch.tensor([0.0, 1.0]))
    assert pairs_right(model, question) == pytest.approx(1 - always)


def test_held_out_pairs_all_follow_and_ask_for_words_alone():
    batches = hidden_pairs()
    assert len(batches) == sentence_pairs.N_JUDGED
    assert all((target[:, 0] == IGNORE).all() for *_, target in batches)
    assert sum(len(document) > 1 for document in held_out()) > 100
