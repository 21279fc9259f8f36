"""Day 10's reference solutions of the lesson are the book's layers, in whatever style."""

import pytest
import torch
from torch.nn import functional as F

from utils import pretraining
from utils.exercises.pretraining import check
from utils.exercises.pretraining.mask_words import mask_words
from utils.exercises.pretraining.masked_word_loss import masked_word_loss
from utils.exercises.pretraining.vowel_share import vowel_share
from utils.pretraining import IGNORE, MASK, cast_dice
from utils.tasks.articles import share_of_vowels


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("share", [0.15, 0.5])
def test_words_are_hidden_as_the_book_hides_them(share):
    ids = torch.randint(0, 40, (6, 30))
    dice = cast_dice(ids.shape, 40)
    for got, expected in zip(
        mask_words(ids, dice, share), pretraining.mask_words(ids, dice, share), strict=True
    ):
        assert torch.equal(got, expected)


def test_the_loss_is_the_books():
    head = torch.nn.Linear(5, 9).double()
    x = torch.randn(3, 4, 5, dtype=torch.float64)
    target = torch.randint(0, 9, (3, 4)).masked_fill(torch.rand(3, 4) < 0.5, IGNORE)
    expected = pretraining.masked_word_loss(head, x, target)
    torch.testing.assert_close(masked_word_loss(head, x, target), expected)


def test_vowels_are_counted_as_the_book_counts_them():
    words = ["<pad>", "<mask>", "axis", "row", "<name>", "image", "table"]
    for seed in range(5):
        logits = torch.randn(30, 7, generator=torch.Generator().manual_seed(seed))
        assert vowel_share(logits, words) == share_of_vowels(logits, words)


# In other styles, right and wrong -----------------------------------------------------------------


def hidden_one_by_one(ids, dice, share):
    hidden, target = ids.clone(), torch.full_like(ids, -100)
    for place in zip(*torch.where((ids > MASK) & (dice.hides < share)), strict=True):
        target[place] = ids[place]
        if dice.how[place] < 0.8:
            hidden[place] = MASK
        elif dice.how[place] >= 0.9:
            hidden[place] = dice.words[place]
    return [hidden, target]


def hidden_in_place(ids, dice, share):
    hides, how, words = dice
    hidden, target = ids.clone(), ids.clone()
    asked = hides.lt(share).logical_and(ids >= 5)
    hidden[asked & (how < 0.8)] = 4
    another = asked & (how >= 0.9)
    hidden[another] = words[another]
    target[~asked] = -100
    return hidden, target


def all_places(head, x, target):
    return F.cross_entropy(head(x).flatten(0, 1), target.flatten())


def one_after_the_other(head, x, target):
    losses = [
        F.cross_entropy(head(x[b, t]), target[b, t])
        for b in range(len(x))
        for t in range(x.shape[1])
        if target[b, t] >= 0
    ]
    return sum(losses) / len(losses)


def vowels_by_a_loop(logits, words):
    n = 0
    for row in logits:
        for i in row.argsort(descending=True).tolist():
            if words[i].isalpha():
                n += words[i].startswith(("a", "e", "i", "o", "u"))
                break
    return n / len(logits)


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("mask_words", hidden_one_by_one),
        ("mask_words", hidden_in_place),
        ("vowel_share", vowels_by_a_loop),
        ("trusted_word", 8.3),
        ("trusted_word", 8.333),
        ("asked_at_least_once", 80),
        ("asked_at_least_once", 80.3),
    ],
)
def test_an_answer_in_another_style_is_right(id, answer):
    assert check.exercises[id].judge(answer) == (True, "correct.")


@pytest.mark.parametrize(
    ("answer", "remark"),
    [(all_places, "80 positions, of which only 6"), (one_after_the_other, "6 times for 6 words")],
)
def test_a_correct_loss_that_costs_more_than_it_needs_is_told_so(answer, remark):
    passed, sentence = check.exercises["masked_word_loss"].judge(answer)
    assert passed and sentence.startswith("correct, but ") and remark in sentence


def one_roll(ids, dice, share):
    """80, 10 and 10 % of the share, by the first dice alone."""
    asked = (dice.hides < share) & (ids > MASK)
    hidden = ids.clone()
    hidden[asked & (dice.hides < 0.8 * share)] = MASK
    another = asked & (dice.hides >= 0.9 * share)
    hidden[another] = dice.words[another]
    return hidden, torch.where(asked, ids, IGNORE)


def changed_asked(ids, dice, share):
    """What is asked for is read off from what differs."""
    asked = (dice.hides < share) & (ids > MASK)
    hidden = ids.masked_fill(asked & (dice.how < 0.8), MASK)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, torch.where(asked & ~((dice.how >= 0.8) & (dice.how < 0.9)), ids, IGNORE)


def divided_by_places(head, x, target):
    losses = F.cross_entropy(head(x).mT, target, reduction="sum", ignore_index=IGNORE)
    return losses / target.numel()


def symbol_0_asked(head, x, target):
    words = torch.where(target == IGNORE, torch.zeros_like(target), target)
    return -head(x).log_softmax(-1).gather(2, words[..., None]).mean()


def unpicked(head, x, target):
    return F.cross_entropy(head(x), target, ignore_index=IGNORE)


def no_filter(logits, words):
    return sum(words[row.argmax()][0] in "aeiou" for row in logits) / len(logits)


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        ("mask_words", "one_die", one_roll),
        ("mask_words", "same_not_asked", changed_asked),
        ("masked_word_loss", "over_all_places", divided_by_places),
        ("masked_word_loss", "zero_where_nothing_is_asked", symbol_0_asked),
        ("masked_word_loss", "not_flattened", unpicked),
        ("vowel_share", "symbols_too", no_filter),
    ],
)
def test_a_mistake_made_in_another_way_is_named(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


def overwritten(ids, dice, share):
    ids[(dice.hides < share) & (ids > MASK)] = MASK
    return ids, ids


def dice_overwritten(ids, dice, share):
    dice.hides[:] = 0
    return mask_words(ids, dice, share)


@pytest.mark.parametrize(("answer", "number"), [(overwritten, 1), (dice_overwritten, 2)])
def test_what_was_given_is_not_to_be_changed(answer, number):
    passed, sentence = check.exercises["mask_words"].judge(answer)
    assert passed is False
    assert f"it changed argument number {number}: work on a copy." in sentence
    assert check.exercises["mask_words"].judge(mask_words) == (True, "correct.")
