"""A student of half the blocks starts from copies of its teacher's."""

import copy
import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from utils.exercises.checking import Exercise, random


def every_second(blocks: list[nn.Module]) -> list[nn.Module]:
    """Return copies of every second block of a list, from the first on.

    What the student learns changes nothing in the teacher, so nothing is shared.
    """
    return [copy.deepcopy(block) for block in blocks[::2]]


class Block(nn.Module):
    """As little of a block as can be copied: one matrix."""

    def __init__(self, W: Tensor):
        super().__init__()
        self.W = nn.Parameter(W.clone())

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.W)


def of_matrices(answer: Callable) -> Callable:
    """An answer about the matrices of blocks; those that it shares have one added to them.

    So it would be if the teacher were trained further.
    """

    @functools.wraps(answer)
    def of_blocks(blocks):
        if not all(isinstance(W, Tensor) for W in blocks):
            return answer(blocks)
        given = [Block(W) for W in blocks]
        chosen = answer(given)
        if len(given) != len(blocks):
            raise ValueError("your function takes blocks out of the teacher's own list.")
        if isinstance(chosen, nn.Sequential):
            raise TypeError("an nn.Sequential is one layer: return its blocks in a list.")
        if not isinstance(chosen, list | tuple | nn.ModuleList):
            return chosen
        if not all(isinstance(block, Block) for block in chosen):
            raise TypeError("what is returned holds other things than blocks.")
        if not all(block.W.requires_grad for block in chosen):
            raise ValueError("your blocks are frozen: a student learns, so they need gradients.")
        with torch.no_grad():
            for block in given:
                block.W += 1
        return [block.W.detach() for block in chosen]

    return of_blocks


exercise = Exercise(every_second, gradient=False, runs=True, through=of_matrices)


# What it is tried on ------------------------------------------------------------------------------


def blocks(n: int, D: int) -> tuple[list[Tensor]]:
    return ([random(D, D + 1) for _ in range(n)],)


@exercise.stage("a teacher of two blocks")
def two_blocks():
    return [blocks(2, 2)]


@exercise.stage("a teacher of four")
def four_blocks():
    return [blocks(4, 3)]


@exercise.stage("a teacher of six, and one of twelve")
def more_blocks():
    return [blocks(6, 2), blocks(12, 4)]


# What goes wrong ----------------------------------------------------------------------------------


def copies(blocks: Sequence[nn.Module], places: Sequence[int]) -> list[nn.Module]:
    return [copy.deepcopy(blocks[place]) for place in places]


@exercise.mistake(
    "these are the teacher's own blocks, not copies: training the student would change its teacher."
)
@of_matrices
def shared(blocks):
    return blocks[::2]


@exercise.mistake("you start with the second block: only the first has learned to read embeddings.")
def from_the_second(blocks):
    return copies(blocks, range(1, len(blocks), 2))


@exercise.mistake(
    "that is the first half: the student would lack everything its teacher computes last."
)
def first_half(blocks):
    return copies(blocks, range(len(blocks) // 2))


@exercise.mistake("that is the second half: its blocks have never read embeddings.")
def second_half(blocks):
    return copies(blocks, range(len(blocks) // 2, len(blocks)))


@exercise.mistake(
    "you spread them evenly from first to last, as the published script does: take every second."
)
def spread(blocks):
    places = torch.linspace(0, len(blocks) - 1, len(blocks) // 2).round().int().tolist()
    return copies(blocks, places)


@exercise.mistake("these are the correct blocks in the wrong order: the first comes first.")
def reversed_order(blocks):
    return copies(blocks, [*range(0, len(blocks), 2)][::-1])


@exercise.mistake("you skip two after each that you take: every second skips one.")
def every_third(blocks):
    return copies(blocks, range(0, len(blocks), 3))


@exercise.mistake("that is all of the teacher: the student has half of its blocks.")
def all_of_them(blocks):
    return copies(blocks, range(len(blocks)))


@exercise.mistake("all of the student's blocks are copies of the first.")
def first_again_and_again(blocks):
    return copies(blocks, [0] * (len(blocks) // 2))


@exercise.mistake("you stop halfway: take every second block of *all*, up to the end.")
def up_to_the_middle(blocks):
    return copies(blocks, range(0, len(blocks) // 2, 2))


@exercise.mistake(
    "your blocks begin anew, with weights of their own: copy what the teacher has learned."
)
@of_matrices
def begun_anew(blocks):
    new = every_second(blocks)
    for block in new:
        block.reset_parameters()
    return new


@exercise.mistake("you begin with the last block and go backwards: begin with the first.")
def backwards(blocks):
    return copies(blocks, [*range(len(blocks) - 1, -1, -2)])
