"""Day 4: where a trained decoder looks while it writes, symbol by symbol."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from utils.show.views.frame import listed, paragraph, view


class Looks(NamedTuple):
    """A source, the target that a model wrote, the correct one, and the weights (T, S).

    name: what the reader chooses the example by.
    """

    name: str
    source: Sequence[str]
    written: Sequence[str]
    right: Sequence[str]
    weights: Tensor


def alignment(examples: Sequence[Looks], *, choose: str) -> None:
    """Let the reader choose an example and a written symbol, and see where the decoder looked.

    examples: the symbols of each source (S) and of each written target (T), with their EOS.
    choose: the kind of examples, as in "Sentence".
    Raises: ValueError if there is no example, or two have one name, or weights are none or do not
        fit the symbols.
    """
    names = [example.name for example in examples]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"Examples need names that differ, at least one, got {names}.")
    shown = [_plain(example) for example in examples]
    says = "\n".join([f"View: where the decoder looks. {choose}:", *names])
    still = paragraph(
        "Where the decoder looks: an interactive picture, which needs JavaScript. In JupyterLab, "
        "run the cell to open it. While the first symbol is written:"
    ) + listed([_in_short(example) for example in shown])
    data = {"choose": choose, "examples": shown}
    view("alignment", data, says=says, still=still, parts=["looks"])


def _plain(example: Looks) -> dict:
    """An example with its weights in whole per cent."""
    weights = torch.as_tensor(example.weights).detach().cpu().double()
    sizes = len(example.written), len(example.source)
    if tuple(weights.shape) != sizes or not weights.numel():
        raise ValueError(
            f"{example.name!r} has {sizes[0]} written symbols and {sizes[1]} of the source, so its "
            f"weights need the shape {sizes}, got {tuple(weights.shape)}."
        )
    if not (weights >= 0).all() or ((weights.sum(1) - 1).abs() > 0.01).any():
        raise ValueError(f"The weights of {example.name!r} are none: a row of them sums to 1.")
    return {
        "name": example.name,
        "source": list(example.source),
        "written": list(example.written),
        "right": list(example.right),
        "looks": (100 * weights).round().int().tolist(),
    }


def _in_short(example: dict) -> str:
    """Where the decoder looks most while it writes the first symbol."""
    first = example["looks"][0]
    most = max(range(len(first)), key=first.__getitem__)
    return (
        f"{example['name']}: “{example['written'][0]}” looks most at “{example['source'][most]}” "
        f"({first[most]}%)."
    )
