"""Words are hidden as the dice say, in the paper's shares, and the loss is of those alone."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.pretraining import IGNORE, MASK, Dice, cast_dice, mask_words, masked_word_loss

V = 30
EXACT = {"rtol": 0.0, "atol": 1e-12}


def dice(hides, how, words) -> Dice:
    return Dice(*(torch.tensor([of]) for of in (hides, how, words)))


# Dice ---------------------------------------------------------------------------------------------


def test_dice_are_cast_for_each_place_and_show_every_word_and_nothing_else():
    torch.manual_seed(0)
    cast = cast_dice((60, 50), V)
    assert {of.shape for of in cast} == {(60, 50)}
    assert set(cast.words.unique().tolist()) == set(range(MASK + 1, V))
    for shares in (cast.hides, cast.how):
        assert 0 <= shares.min() < 0.01 and 0.99 < shares.max() < 1
    assert abs(torch.corrcoef(torch.stack((cast.hides, cast.how)).flatten(1))[0, 1]) < 0.1


def test_dice_are_cast_anew_and_by_the_seed():
    torch.manual_seed(0)
    first, second = cast_dice((3, 4), V), cast_dice((3, 4), V)
    torch.manual_seed(0)
    again = cast_dice(torch.Size((3, 4)), V)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_vocabulary_of_one_word_is_enough_and_one_of_none_is_refused():
    assert (cast_dice((2, 3), MASK + 2).words == MASK + 1).all()
    with pytest.raises(ValueError, match="words .* 0"):
        cast_dice((2, 3), MASK + 1)


# What is hidden -----------------------------------------------------------------------------------


def test_each_branch_is_what_its_dice_say_up_to_its_bounds():
    ids = torch.tensor([[10, 11, 12, 13, 14, 15, 16, 17]])
    hides = [0.0, 0.0, 0.14, 0.0, 0.0, 0.1, 0.15, 0.9]
    how = [0.0, 0.79, 0.8, 0.85, 0.9, 0.99, 0.0, 0.95]
    words = [20, 21, 22, 23, 24, 15, 26, 27]
    hidden, target = mask_words(ids, dice(hides, how, words))
    assert hidden.tolist() == [[MASK, MASK, 12, 13, 24, 15, 16, 17]]
    assert target.tolist() == [[10, 11, 12, 13, 14, 15, IGNORE, IGNORE]]
    assert ids.tolist() == [[10, 11, 12, 13, 14, 15, 16, 17]]


def test_what_is_no_word_is_never_asked_for():
    specials = list(range(MASK + 1))
    ids = torch.tensor([[*specials, MASK + 1]])
    for how in (0.0, 0.85, 0.95):
        hidden, target = mask_words(ids, dice([0.0] * 6, [how] * 6, [20] * 6), share=0.99)
        assert hidden[0, :-1].tolist() == specials
        assert target.tolist() == [[IGNORE] * 5 + [MASK + 1]]


@pytest.mark.parametrize("share", [0.15, 0.5])
def test_its_shares_are_those_of_the_paper(share):
    """Each is within five deviations of a binomial: 80, 10 and 10 % of those that are asked for."""
    torch.manual_seed(0)
    ids = torch.full((200, 500), MASK + 1)
    hidden, target = mask_words(ids, cast_dice(ids.shape, 10_000), share)
    asked = target != IGNORE
    assert near(asked, share) and (target[asked] == MASK + 1).all()
    assert torch.equal(hidden[~asked], ids[~asked])
    of_asked = hidden[asked]
    for found, expected in (
        (of_asked == MASK, 0.8),
        (of_asked == MASK + 1, 0.1),  # a random word is the same once in 10,000
        (of_asked > MASK + 1, 0.1),
    ):
        assert near(found, expected)


def near(found: torch.Tensor, share: float) -> bool:
    spread = math.sqrt(share * (1 - share) / found.numel())
    return abs(found.double().mean().item() - share) < 5 * spread


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    ids = torch.full((2, 3), MASK + 1)
    with pytest.raises(ValueError, match=f"share .* {share}"):
        mask_words(ids, cast_dice(ids.shape, V), share)


@pytest.mark.parametrize(
    "ids, shape, message",
    [
        ((2, 3), (3, 2), r" \(2, 3\), .*\[\(3, 2\), \(3, 2\), \(3, 2\)"),
        ((2, 3), (1, 3), r" \(2, 3\), .*\[\(1, 3\)"),
        ((6,), (6,), r"\(6,\)"),
    ],
)
def test_dice_of_another_shape_are_refused(ids, shape, message):
    with pytest.raises(ValueError, match=message):
        mask_words(torch.full(ids, MASK + 1), cast_dice(shape, V))


# The loss -----------------------------------------------------------------------------------------

B, T, D = 3, 5, 8
TARGET = torch.tensor([[9, IGNORE, 7, IGNORE, 5], [IGNORE] * 5, [IGNORE, 29, IGNORE, 9, IGNORE]])


def vectors() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(B, T, D, dtype=torch.float64, generator=generator)


def test_the_loss_is_the_mean_over_what_is_asked_for_and_so_is_its_gradient():
    torch.manual_seed(0)
    head, x = nn.Linear(D, V).double(), vectors().requires_grad_()
    loss = masked_word_loss(head, x, TARGET)
    asked = (TARGET != IGNORE).nonzero().tolist()
    log_p = [head(x[b, t]).log_softmax(0)[TARGET[b, t]] for b, t in asked]
    torch.testing.assert_close(loss, -torch.stack(log_p).mean(), **EXACT)
    loss.backward()
    expected = torch.zeros_like(x)
    for b, t in asked:
        error = head(x[b, t]).softmax(0) - F.one_hot(TARGET[b, t], V)
        expected[b, t] = head.weight.T @ error / len(asked)
    torch.testing.assert_close(x.grad, expected, **EXACT)


def test_the_head_is_called_once_for_what_is_asked_for_alone():
    given = []

    def head(x):
        given.append(x)
        return F.pad(x, (0, V - D))

    masked_word_loss(head, vectors(), TARGET)
    (rows,) = given
    torch.testing.assert_close(rows, vectors()[TARGET != IGNORE], **EXACT)


@pytest.mark.parametrize(
    "x, target, message",
    [
        ((B, T, D), (B, T + 1), r"\(3, 5, 8\).*\(3, 6\)"),
        ((B, D), (B, D), r"\(3, 8\).*\(3, 8\)"),
        ((B, T, D), (B, T, D), r"\(3, 5, 8\).*\(3, 5, 8\)"),
    ],
)
def test_targets_that_do_not_fit_are_refused(x, target, message):
    with pytest.raises(ValueError, match=message):
        masked_word_loss(nn.Identity(), torch.zeros(x), torch.ones(target, dtype=torch.long))


def test_a_batch_that_asks_nothing_is_refused():
    with pytest.raises(ValueError, match="No word"):
        masked_word_loss(nn.Identity(), vectors(), torch.full((B, T), IGNORE))
