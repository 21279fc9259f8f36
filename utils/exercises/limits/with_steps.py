"""Write an answer after each symbol: what a Transformer reads, and what it should predict."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise

IGNORED = -100


def with_steps(symbols: Tensor, answers: Tensor, n_symbols: int) -> tuple[Tensor, Tensor]:
    """Return what a Transformer reads, x_1 a_1 x_2 a_2 …, and its targets.

    An answer's id comes after those of the symbols: it is n_symbols larger. The target of a symbol
    is the id of its answer; at an answer there is none, -100.
    Shapes: symbols and answers (B, T) to inputs and targets (B, 2T).
    """
    written = answers + n_symbols
    inputs = torch.stack([symbols, written], dim=2).flatten(1)
    targets = torch.stack([written, torch.full_like(written, IGNORED)], dim=2).flatten(1)
    return inputs, targets


exercise = Exercise(with_steps, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, n_symbols: int, n_answers: int) -> tuple[Tensor, Tensor, int]:
    """Draw symbols and answers; the first row begins with the largest ones."""
    symbols, answers = torch.randint(n_symbols, (B, T)), torch.randint(n_answers, (B, T))
    symbols[0, 0], answers[0, 0] = n_symbols - 1, n_answers - 1
    return symbols, answers, n_symbols


@exercise.stage("one symbol")
def one_symbol():
    return [drawn(1, 1, 2, 3), drawn(1, 1, 4, 2)]


@exercise.stage("one word")
def one_word():
    return [drawn(1, 4, 3, 5)]


@exercise.stage("several words")
def several():
    return [drawn(3, 5, 2, 4), drawn(4, 7, 6, 3), drawn(5, 5, 3, 3)]


# What goes wrong ----------------------------------------------------------------------------------


def row(first: Tensor, second: Tensor) -> Tensor:
    """Take from two (B, T) in turns: (B, 2T)."""
    return torch.stack([first, second], dim=2).flatten(1)


def none(like: Tensor, number: int = IGNORED) -> Tensor:
    return torch.full_like(like, number)


def targets_of(answers: Tensor, n: int) -> Tensor:
    return row(answers + n, none(answers))


def moved(x: Tensor, by: int, fill: int) -> Tensor:
    """Move rows to the right by one or, if `by` is -1, to the left."""
    edge = none(x[:, :1], fill)
    return torch.cat([edge, x[:, :-1]] if by == 1 else [x[:, 1:], edge], dim=1)


@exercise.mistake(
    "an answer stands before its symbol: the network reads it before it is asked, and learns to "
    "copy."
)
def answer_first(symbols, answers, n):
    return row(answers + n, symbols), targets_of(answers, n)


@exercise.mistake(
    "an answer stands before its symbol, and the target of a symbol is what it has just read: it "
    "can be copied."
)
def answer_first_everywhere(symbols, answers, n):
    return row(answers + n, symbols), row(none(answers), answers + n)


@exercise.mistake("the answers' ids are those of symbols: answer 0 looks like symbol 0.")
def not_shifted(symbols, answers, n):
    return row(symbols, answers), row(answers, none(answers))


@exercise.mistake(
    "the answers that are read have the ids of symbols: answer 0 looks like symbol 0."
)
def inputs_not_shifted(symbols, answers, n):
    return row(symbols, answers), targets_of(answers, n)


@exercise.mistake(
    "the targets are the answers' own numbers: the network writes ids, which are larger."
)
def targets_not_shifted(symbols, answers, n):
    return row(symbols, answers + n), row(answers, none(answers))


@exercise.mistake("the symbols' ids are moved, not those of the answers: symbols come first.")
def symbols_shifted(symbols, answers, n):
    return row(symbols + n, answers), row(answers, none(answers))


@exercise.mistake("the ids are moved by one too few: answer 0 has the id of the last symbol.")
def one_too_few(symbols, answers, n):
    return with_steps(symbols, answers, n - 1)


@exercise.mistake("the ids are moved by one too many: no symbol has the id n_symbols.")
def one_too_many(symbols, answers, n):
    return with_steps(symbols, answers, n + 1)


@exercise.mistake(
    "you move the ids by the number of answers: how many ids are taken by the symbols?"
)
def by_the_answers(symbols, answers, n):
    return with_steps(symbols, answers, int(answers.max()) + 1)


@exercise.mistake(
    "the next symbol is a target, too: nothing says which comes next, so nothing can be learned "
    "there."
)
def next_symbol_as_well(symbols, answers, n):
    return row(symbols, answers + n), row(answers + n, moved(symbols, -1, IGNORED))


@exercise.mistake(
    "the target of an answer is the same answer, which has just been read: nothing should be "
    "learned there."
)
def answer_twice(symbols, answers, n):
    return row(symbols, answers + n), row(answers + n, answers + n)


@exercise.mistake(
    "the target is at the answer's own position: the answer has just been read, so it is copied."
)
def at_the_answer(symbols, answers, n):
    return row(symbols, answers + n), row(none(answers), answers + n)


@exercise.mistake(
    "the symbols are asked for, not the answers: nothing says which symbol comes next."
)
def symbols_asked_for(symbols, answers, n):
    return row(symbols, answers + n), row(none(answers), moved(symbols, -1, IGNORED))


@exercise.mistake("the targets are the inputs: what is read needs no prediction.")
def targets_are_inputs(symbols, answers, n):
    return row(symbols, answers + n), row(symbols, answers + n)


@exercise.mistake(
    "the target of a symbol is the next symbol's answer: that one hasn't been read yet."
)
def next_answer(symbols, answers, n):
    return row(symbols, answers + n), row(moved(answers + n, -1, IGNORED), none(answers))


@exercise.mistake("the target of a symbol is the answer before it: that one has been read already.")
def answer_before(symbols, answers, n):
    return row(symbols, answers + n), row(moved(answers + n, 1, IGNORED), none(answers))


@exercise.mistake(
    "the answers that are read come a step late: after a symbol, the network wants its own answer."
)
def answers_late(symbols, answers, n):
    return row(symbols, moved(answers + n, 1, 0)), targets_of(answers, n)


@exercise.mistake("all symbols come first, then all answers: they alternate.")
def side_by_side(symbols, answers, n):
    written = answers + n
    return torch.cat([symbols, written], 1), torch.cat([written, none(answers)], 1)


@exercise.mistake("what is read has all symbols first: each is followed by its own answer.")
def inputs_side_by_side(symbols, answers, n):
    return torch.cat([symbols, answers + n], 1), targets_of(answers, n)


@exercise.mistake(
    "answers have the target 0 in yours, which is a symbol: `cross_entropy` leaves out -100 alone."
)
def zeros(symbols, answers, n):
    return row(symbols, answers + n), row(answers + n, none(answers, 0))


@exercise.mistake("answers have the target -1 in yours: `cross_entropy` leaves out another number.")
def minus_one(symbols, answers, n):
    return row(symbols, answers + n), row(answers + n, none(answers, -1))


@exercise.mistake("the targets are moved twice: an answer's id is n_symbols larger, and not more.")
def moved_twice(symbols, answers, n):
    return row(symbols, answers + n), row(answers + 2 * n, none(answers))


@exercise.mistake("there are T targets: each of the 2T positions needs one, or -100.")
def half_as_many(symbols, answers, n):
    return row(symbols, answers + n), answers + n


@exercise.mistake(
    "the last answer isn't read, and the row is one shorter: here all of it is read, 2T ids."
)
def last_left_out(symbols, answers, n):
    return row(symbols, answers + n)[:, :-1], targets_of(answers, n)[:, :-1]


@exercise.mistake("inputs and targets are exchanged: first what is read.")
def exchanged(symbols, answers, n):
    inputs, targets = with_steps(symbols, answers, n)
    return targets, inputs


@exercise.mistake("the answers aren't there to be read: -100 is for targets, and no id.")
def answers_hidden(symbols, answers, n):
    return row(symbols, none(answers)), targets_of(answers, n)


@exercise.mistake("that is what is read: the targets are missing.")
def inputs_alone(symbols, answers, n):
    return row(symbols, answers + n)


@exercise.mistake(
    "your targets are the inputs, moved by one: after an answer comes a symbol, which can't be "
    "predicted, so its target is -100."
)
def inputs_moved(symbols, answers, n):
    inputs = row(symbols, answers + n)
    return inputs, inputs.roll(-1, dims=1)


@exercise.mistake(
    "that is a GPT's shift by one: here a symbol's target stands at its own position, and an "
    "answer has none."
)
def shifted_as_in_a_gpt(symbols, answers, n):
    row_of_ids = row(symbols, answers + n)
    return row_of_ids[:, :-1], row_of_ids[:, 1:]


@exercise.mistake("your targets are moved to the left by one: each belongs where its symbol is.")
def targets_to_the_left(symbols, answers, n):
    return row(symbols, answers + n), moved(targets_of(answers, n), -1, IGNORED)


@exercise.mistake("only the last answer is asked for: every symbol has a target.")
def last_answer_alone(symbols, answers, n):
    targets = none(row(symbols, answers))
    targets[:, -2] = answers[:, -1] + n
    return row(symbols, answers + n), targets


@exercise.mistake(
    "rows run into each other: a symbol and its answer share a new axis, the last one."
)
def laid_in_rows(symbols, answers, n):
    def laid(first, second):
        return torch.stack([first, second]).reshape(len(first), -1)

    return laid(symbols, answers + n), laid(answers + n, none(answers))
