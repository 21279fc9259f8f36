"""What autograd's graph tells of a computation: which operations have to wait for others."""

from torch import Tensor


def longest_chain(result: Tensor) -> int:
    """Count the operations on the longest path from an input to the result (any shape).

    No number of processors makes a computation shorter than that.
    Raises: ValueError if the result has no graph.
    """
    if result.grad_fn is None:
        raise ValueError("The result has no graph: compute it from something that needs gradients.")
    length, waiting = {}, [result.grad_fn]
    while waiting:
        before = [node for node, _ in waiting[-1].next_functions if node is not None]
        unknown = [node for node in before if node not in length]
        if unknown:
            waiting += unknown
        else:
            node = waiting.pop()
            length[node] = 1 + max((length[earlier] for earlier in before), default=0)
    return length[result.grad_fn]
