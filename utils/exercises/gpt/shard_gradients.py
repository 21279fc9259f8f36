"""The gradient of a whole batch, from those of its shards, which may be of different sizes."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def whole_gradient(gradients: list[list[Tensor]], sizes: list[int]) -> list[Tensor]:
    """Return the gradient of the mean loss over all examples, parameter by parameter.

    gradients: of each process, those of the mean loss over its shard; sizes: examples in each
    shard. A process without any has computed on one that others have, too.
    """
    return weighted(gradients, [size / sum(sizes) for size in sizes])


def weighted(gradients: list[list[Tensor]], weights: list[float]) -> list[Tensor]:
    return [
        sum(w * g for w, g in zip(weights, of_all, strict=True))
        for of_all in zip(*gradients, strict=True)
    ]


exercise = Exercise(whole_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def shards(*sizes: int, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[list[Tensor]], list]:
    return [[random(*shape) for shape in shapes] for _ in sizes], list(sizes)


@exercise.stage("two equal shards of one parameter")
def equal_shards():
    return [shards(4, 4, shapes=((3,),))]


@exercise.stage("a large shard and a small one")
def unequal_shards():
    return [shards(7, 2, shapes=((2, 3), (2,)))]


@exercise.stage("several processes")
def several_processes():
    return [shards(5, 5, 4, shapes=((3, 2), (4,))), shards(3, 8, 1, 6, shapes=((2,),))]


@exercise.stage("a process without an example")
def without_an_example():
    return [shards(3, 2, 0, shapes=((4,), (1, 2)))]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "each process counts alike, so that an example in a small shard counts more than one in a "
    "large shard."
)
def mean_of_means(gradients, sizes):
    return weighted(gradients, [1 / len(sizes) for _ in sizes])


@exercise.mistake("each process with an example counts alike, however many it has.")
def mean_of_those_with_examples(gradients, sizes):
    return weighted(gradients, [(size > 0) / sum(s > 0 for s in sizes) for size in sizes])


@exercise.mistake("a process without examples counts as if it had one of its own.")
def stand_in_counted(gradients, sizes):
    counted = [max(size, 1) for size in sizes]
    return weighted(gradients, [size / sum(counted) for size in counted])


@exercise.mistake("that is the sum over the processes: twice as many of them, twice the step.")
def sum_of_means(gradients, sizes):
    return weighted(gradients, [1.0 for _ in sizes])


@exercise.mistake("that is the sum over all examples: the loss is their mean.")
def sum_over_examples(gradients, sizes):
    return weighted(gradients, sizes)


@exercise.mistake("you weigh by examples, and then divide by processes.")
def divided_by_processes(gradients, sizes):
    return weighted(gradients, [size / len(sizes) for size in sizes])


@exercise.mistake("you take the gradient of process 0 alone: what have the others worked for?")
def first_alone(gradients, sizes):
    return list(gradients[0])


@exercise.mistake("you take the gradient of the largest shard alone.")
def largest_alone(gradients, sizes):
    return list(gradients[sizes.index(max(sizes))])


@exercise.mistake("the small shards count most: your weights are the wrong way round.")
def wrong_way_round(gradients, sizes):
    inverse = [1 / max(size, 1) for size in sizes]
    return weighted(gradients, [w / sum(inverse) for w in inverse])


@exercise.mistake(
    "you add up the parameters of a process: `zip(*gradients)` brings together those of one "
    "parameter."
)
def process_by_process(gradients, sizes):
    shares = [size / sum(sizes) for size in sizes]
    return [sum(share * g for g in own) for share, own in zip(shares, gradients, strict=True)]
