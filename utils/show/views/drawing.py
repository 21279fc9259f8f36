"""Day 1: draw a digit, and the lesson's own network reads it in the page."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from utils.show.views.frame import paragraph, rounded, view

DIGITS = 3  # of each weight; chances differ from the network's own by less than a hundredth
LAYERS = "after the first convolution", "after the third", "after the last"


def drawing(
    network: Mapping[str, tuple[Tensor, Tensor]],
    drawings: Sequence[tuple[int, Sequence]],
    raster: Mapping[str, object],
) -> None:
    """Let the reader draw a digit, and show what the network sees, its maps, and its answer.

    network: kernels and biases of its four convolutions, all of 3 × 3 with padding 1, `first`
        (C, 1, 3, 3), `second` and `third` (C, C, 3, 3), `fourth` (C', C, 3, 3), after a max pooling
        by two, and `dense`, (10, C'·4·4) and (10,). A ReLU follows each convolution.
    drawings: digits and their strokes, to take instead of drawing; the first is shown at the start.
    raster: the rule by which strokes become pixels, `utils.data.strokes.RASTER`.
    Raises: ValueError if a weight has another shape or is not finite, there are fewer than eight
        maps, or there is no drawing.
    """
    C, last = len(network["first"][0]), len(network["fourth"][0])
    shapes = {"first": (C, 1, 3, 3), "second": (C, C, 3, 3), "third": (C, C, 3, 3)}
    shapes |= {"fourth": (last, C, 3, 3), "dense": (10, 16 * last)}
    for name, shape in shapes.items():
        for weight, wanted in zip(network[name], (shape, shape[:1]), strict=True):
            if tuple(weight.shape) != wanted or not torch.isfinite(weight).all():
                raise ValueError(
                    f"{name!r} should hold finite numbers of shape {wanted}, got "
                    f"{tuple(weight.shape)}."
                )
    if min(C, last) < 8 or not drawings:
        raise ValueError(
            f"Eight maps of each layer are shown, and at least one drawing: this network has {C} "
            f"and {last} maps, and there are {len(drawings)} drawings."
        )
    data = {
        "network": {name: [rounded(weight, DIGITS) for weight in network[name]] for name in shapes},
        "drawings": [{"digit": digit, "strokes": drawn} for digit, drawn in drawings],
        "raster": dict(raster),
        "layers": LAYERS,
    }
    digits = ", ".join(str(digit) for digit, _ in drawings)
    still = paragraph(
        "Draw a digit, and the network reads it: an interactive picture, which needs JavaScript. "
        "In JupyterLab, run the cell to open it."
    )
    says = f"View: draw a digit, or take one of {digits}."
    view("drawing", data, says=says, still=still, parts=["runtime"])
