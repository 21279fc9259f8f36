"""The largest width of a layer whose parameters stay within a budget."""

from collections.abc import Callable

from utils.exercises.checking import Exercise


def hidden_size_for(budget: int, n_blocks: int, input_size: int) -> int:
    """Return the largest N whose parameters do not exceed the budget.

    Each block has W_x (N, D), W_h (N, N) and one bias (N).
    """
    return largest(budget, lambda N: n_blocks * (N * input_size + N * N + N))


def largest(budget: int, parameters: Callable[[int], int]) -> int:
    N = 0
    while parameters(N + 1) <= budget:
        N += 1
    return N


exercise = Exercise(hidden_size_for, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("an RNN")
def rnn():
    return [(15, 1, 1), (14, 1, 1)]


@exercise.stage("budgets that fit to the last parameter")
def to_the_last_parameter():
    fits = 4 * 16 * 25
    return [(fits, 4, 8), (fits - 1, 4, 8), (fits + 1, 4, 8), (3 * 20 * 26, 3, 5)]


@exercise.stage("larger budgets")
def larger_budgets():
    return [(20_000, 1, 9), (20_000, 3, 40), (20_000, 4, 7)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("a block has one bias here: having two is a habit of the library.")
def two_biases(budget, n_blocks, input_size):
    return largest(budget, lambda N: n_blocks * (N * input_size + N * N + 2 * N))


@exercise.mistake("your layer is a little over its budget: what is added to the two products?")
def no_bias(budget, n_blocks, input_size):
    return largest(budget, lambda N: n_blocks * (N * input_size + N * N))


@exercise.mistake("that would fit if there were only one block; each gate has its own weights.")
def one_block(budget, n_blocks, input_size):
    return hidden_size_for(budget, 1, input_size)


@exercise.mistake(
    "four times as many blocks don't mean a quarter of the width: how do the weights grow with N?"
)
def width_divided(budget, n_blocks, input_size):
    return hidden_size_for(budget, 1, input_size) // n_blocks


@exercise.mistake("you went one step too far: the budget is a limit.")
def rounded_up(budget, n_blocks, input_size):
    return hidden_size_for(budget - 1, n_blocks, input_size) + 1


@exercise.mistake("the input has weights too, N·D of them in each block.")
def no_input_weights(budget, n_blocks, input_size):
    return hidden_size_for(budget, n_blocks, 0)


@exercise.mistake("a layer that uses up its budget to the last parameter is still within it.")
def strictly_below(budget, n_blocks, input_size):
    return hidden_size_for(budget - 1, n_blocks, input_size)


@exercise.mistake("the weights of the old state are missing, N·N of them in each block.")
def no_recurrent_weights(budget, n_blocks, input_size):
    return largest(budget, lambda N: n_blocks * (N * input_size + N))


@exercise.mistake("you count one bias for the layer: each block has its own.")
def one_bias(budget, n_blocks, input_size):
    return largest(budget, lambda N: n_blocks * (N * input_size + N * N) + N)
