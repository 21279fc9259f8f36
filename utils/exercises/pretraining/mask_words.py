"""Hide words and ask for them: most become [MASK], some another word, and some stay."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.pretraining import IGNORE, MASK, Dice

V = 12  # symbols: 0 to 3 are special, 4 is MASK, the others are words


def mask_words(ids: Tensor, dice: Dice, share: float) -> tuple[Tensor, Tensor]:
    """Return the model's input and its targets: the original word, or IGNORE.

    Shapes: ids (B, T), and so are dice.hides and dice.how, from 0 up to 1, and dice.words.
    """
    asked = (dice.hides < share) & (ids > MASK)
    hidden = torch.where(asked & (dice.how < 0.8), MASK, ids)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, torch.where(asked, ids, IGNORE)


exercise = Exercise(mask_words, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def words_at_random(*shape: int) -> Tensor:
    return torch.randint(MASK + 1, V, shape)


def cast(hides: list[float], how: list[float], words: list[int]) -> Dice:
    return Dice(torch.tensor([hides]), torch.tensor([how]), torch.tensor([words]))


@exercise.stage("which words are asked for, where all of them stay")
def all_stay():
    ids = torch.tensor([[5, 6, 7, 8, 9, 10]])
    hides, how = [0.3, 0.05, 0.6, 0.11, 0.95, 0.2], [0.85, 0.81, 0.88, 0.83, 0.89, 0.84]
    return [(ids, cast(hides, how, [11, 10, 9, 6, 5, 7]), share) for share in (0.15, 0.5)]


@exercise.stage("what replaces the words, where all of them are asked for")
def all_asked():
    ids = torch.tensor([[5, 6, 7, 8, 9, 10]])
    how = [0.1, 0.95, 0.85, 0.5, 0.92, 0.79]
    return [(ids, cast([0.01, 0.02, 0.1, 0.05, 0.14, 0.08], how, [7, 9, 5, 6, 11, 8]), 0.15)]


@exercise.stage("words that are not asked for, whatever their second dice say")
def only_chosen():
    ids = torch.tensor([[5, 6, 7, 8, 9, 10]])
    how = [0.1, 0.95, 0.85, 0.5, 0.92, 0.79]
    return [(ids, cast([0.7, 0.02, 0.9, 0.05, 0.4, 0.3], how, [7, 9, 5, 6, 11, 8]), 0.25)]


@exercise.stage("dice that fall on the edge: a share of 0.25 is hit by what is below 0.25")
def edges():
    ids = torch.tensor([[5, 6, 7, 8, 9, 10]])
    hides = [0.25, 0.1, 0.2, 0.25, 0.1, 0.0]
    how = [0.3, 0.8, 0.9, 0.95, 0.3, 0.0]
    return [(ids, cast(hides, how, [7, 9, 5, 6, 11, 8]), 0.25)]


@exercise.stage("symbols that are no words: padding, begin, end, unknown, MASK")
def no_words():
    ids = torch.tensor([[1, 6, 3, 4, 2, 0]])
    how = [0.1, 0.4, 0.95, 0.85, 0.3, 0.92]
    hides = [0.05, 0.02, 0.11, 0.07, 0.01, 0.03]
    return [(ids, cast(hides, how, [7, 9, 5, 6, 11, 8]), 0.15)]


@exercise.stage("whole batches")
def batches():
    found = []
    for shape, share in (((3, 7), 0.15), ((4, 40), 0.5)):
        ids = words_at_random(*shape)
        ids[0, -3:], ids[1, -2], ids[2, 1] = 0, 2, 3
        dice = Dice(torch.rand(shape), torch.rand(shape), words_at_random(*shape))
        found.append((ids, dice, share))
    return found


# What goes wrong ----------------------------------------------------------------------------------


def chosen(ids: Tensor, dice: Dice, share: float) -> Tensor:
    return (dice.hides < share) & (ids > MASK)


def read(ids: Tensor, asked: Tensor, dice: Dice) -> Tensor:
    """What is read where these are asked for."""
    hidden = torch.where(asked & (dice.how < 0.8), MASK, ids)
    return torch.where(asked & (dice.how >= 0.9), dice.words, hidden)


def targets(ids: Tensor, asked: Tensor) -> Tensor:
    return torch.where(asked, ids, IGNORE)


@exercise.mistake(
    "every word that is asked for becomes MASK: one in ten should become another word."
)
def mask_for_all(ids, dice, share):
    asked = chosen(ids, dice, share)
    return torch.where(asked, MASK, ids), targets(ids, asked)


@exercise.mistake(
    "80%, 10% and 10% of all words: the second die counts only for words that are asked for."
)
def of_all_words(ids, dice, share):
    asked = chosen(ids, dice, share)
    return read(ids, ids > MASK, dice), targets(ids, asked)


@exercise.mistake(
    "one die decides twice: `hides` says whether a word is hidden, and `how` says in which way."
)
def one_die(ids, dice, share):
    asked = chosen(ids, dice, share)
    once = dice._replace(how=dice.hides / share)
    return read(ids, asked, once), targets(ids, asked)


@exercise.mistake(
    "MASK below 0.8 is correct, but the other two are swapped: from 0.9 on, it is another word."
)
def another_for_same(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = torch.where(asked & (dice.how < 0.8), MASK, ids)
    another = asked & (dice.how >= 0.8) & (dice.how < 0.9)
    return torch.where(another, dice.words, hidden), targets(ids, asked)


@exercise.mistake("no word stays as it was: a tenth of those that are asked for should.")
def none_stays(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = torch.where(asked, dice.words, ids)
    return torch.where(asked & (dice.how < 0.8), MASK, hidden), targets(ids, asked)


@exercise.mistake("no word becomes another one: a tenth of those that are asked for should.")
def none_another(ids, dice, share):
    asked = chosen(ids, dice, share)
    return torch.where(asked & (dice.how < 0.8), MASK, ids), targets(ids, asked)


@exercise.mistake("80% become another word, and 10% MASK: it is the other way round.")
def another_for_mask(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = torch.where(asked & (dice.how < 0.8), dice.words, ids)
    return torch.where(asked & (dice.how >= 0.9), MASK, hidden), targets(ids, asked)


@exercise.mistake(
    "the words that stay are not asked for: whether a word is asked for depends on `hides` alone."
)
def same_not_asked(ids, dice, share):
    asked = chosen(ids, dice, share)
    changed = asked & ((dice.how < 0.8) | (dice.how >= 0.9))
    return read(ids, asked, dice), targets(ids, changed)


@exercise.mistake(
    "only words that became MASK are asked for: those that changed or stayed are asked for, too."
)
def only_mask_asked(ids, dice, share):
    asked = chosen(ids, dice, share)
    return read(ids, asked, dice), targets(ids, asked & (dice.how < 0.8))


@exercise.mistake("you read the targets from the masked text: they are the original words.")
def target_from_hidden(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = read(ids, asked, dice)
    return hidden, targets(hidden, asked)


@exercise.mistake(
    "every word is a target: only those that are asked for are, and the others are IGNORE."
)
def all_are_targets(ids, dice, share):
    return read(ids, chosen(ids, dice, share), dice), ids


@exercise.mistake("the targets are the words that are not asked for: the mask is inverted.")
def inverted_targets(ids, dice, share):
    asked = chosen(ids, dice, share)
    return read(ids, asked, dice), targets(ids, ~asked)


@exercise.mistake(
    "the target is 0 where nothing is asked: 0 is a symbol, so the loss would count it; use IGNORE."
)
def zero_for_ignore(ids, dice, share):
    asked = chosen(ids, dice, share)
    return read(ids, asked, dice), torch.where(asked, ids, 0)


@exercise.mistake(
    "padding, ends and unknown words are asked for, too: only ids above MASK are words."
)
def all_symbols(ids, dice, share):
    asked = dice.hides < share
    return read(ids, asked, dice), targets(ids, asked)


@exercise.mistake("padding is spared, but the other special symbols are no words either.")
def all_but_padding(ids, dice, share):
    asked = (dice.hides < share) & (ids > 0)
    return read(ids, asked, dice), targets(ids, asked)


@exercise.mistake("a MASK that was in the text is asked for: words are the ids above it.")
def mask_is_a_word(ids, dice, share):
    asked = (dice.hides < share) & (ids >= MASK)
    return read(ids, asked, dice), targets(ids, asked)


@exercise.mistake("you hide the others: a word is asked for where `hides` is *below* the share.")
def the_rest(ids, dice, share):
    asked = (dice.hides > share) & (ids > MASK)
    return read(ids, asked, dice), targets(ids, asked)


@exercise.mistake("a die that equals the share hides a word, too: it has to be below the share.")
def share_at_its_edge(ids, dice, share):
    asked = (dice.hides <= share) & (ids > MASK)
    return read(ids, asked, dice), targets(ids, asked)


@exercise.mistake("a die of exactly 0.8 gives MASK: it has to be below.")
def mask_at_its_edge(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = torch.where(asked & (dice.how <= 0.8), MASK, ids)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, targets(ids, asked)


@exercise.mistake("a die of exactly 0.9 leaves the word: from 0.9 on, it becomes another.")
def another_at_its_edge(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = torch.where(asked & (dice.how < 0.8), MASK, ids)
    hidden = torch.where(asked & (dice.how > 0.9), dice.words, hidden)
    return hidden, targets(ids, asked)


@exercise.mistake("the two results are swapped: first the input, then the targets.")
def exchanged(ids, dice, share):
    return mask_words(ids, dice, share)[::-1]


@exercise.mistake("you always hide 15%: take the share from the argument.")
def fixed_share(ids, dice, share):
    return mask_words(ids, dice, 0.15)


@exercise.mistake(
    "`if`, `and` and `or` ask one question of a whole tensor: decide for each word, with "
    "`torch.where` and `&`."
)
def one_if_for_all(ids, dice, share):
    asked = chosen(ids, dice, share)
    return (ids if dice.how < 0.8 else dice.words), targets(ids, asked)


@exercise.mistake(
    "your second `where` starts from the text again, and loses every MASK of the first: go on from "
    "what that gave."
)
def started_again(ids, dice, share):
    asked = chosen(ids, dice, share)
    return torch.where(asked & (dice.how >= 0.9), dice.words, ids), targets(ids, asked)


@exercise.mistake(
    "you ask wherever MASK is read: words that changed or stayed are asked for, too, and a MASK of "
    "the text itself is not."
)
def asked_by_the_mask(ids, dice, share):
    hidden, _ = mask_words(ids, dice, share)
    return hidden, targets(ids, hidden == MASK)


@exercise.mistake(
    "every word that is asked for becomes another word: eight in ten should become MASK."
)
def another_for_all(ids, dice, share):
    asked = chosen(ids, dice, share)
    return torch.where(asked, dice.words, ids), targets(ids, asked)


@exercise.mistake("below 0.1 you put another word: there the second die says MASK.")
def another_below_a_tenth(ids, dice, share):
    a = chosen(ids, dice, share)
    h = torch.where(a & (dice.how < 0.8), MASK, ids)
    h = torch.where(a & (dice.how < 0.1), dice.words, h)
    return h, targets(ids, a)


@exercise.mistake(
    "your target is MASK: the model reads that, and should answer with the word that was there."
)
def mask_as_target(ids, dice, share):
    a = chosen(ids, dice, share)
    return read(ids, a, dice), torch.where(a, MASK, IGNORE)


@exercise.mistake(
    "you exchanged the dice: `hides` chooses the words, `how` says what becomes of each."
)
def dice_exchanged(ids, dice, share):
    a = (dice.how < share) & (ids > MASK)
    h = torch.where(a & (dice.hides < 0.8), MASK, ids)
    return torch.where(a & (dice.hides >= 0.9), dice.words, h), targets(ids, a)


@exercise.mistake(
    "where `how` is 0.9 or more, words that are not asked for change, too: `hides` decides first."
)
def another_wherever(ids, dice, share):
    asked = chosen(ids, dice, share)
    hidden = torch.where(asked & (dice.how < 0.8), MASK, ids)
    return torch.where(dice.how >= 0.9, dice.words, hidden), targets(ids, asked)
