"""Day 1: slide a kernel over a photograph."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from utils.show.views.frame import paragraph, view


def sliding(photo: Tensor, kernels: Mapping[str, Sequence[Sequence[float]]], place: tuple) -> None:
    """Let the reader choose a kernel, change its numbers, and lay it on any place of a photograph.

    photo: (H, W), grey, in 0..1. kernels: {name: 3 rows of 3 numbers}; the first is shown first.
    place: row and column of the window's top left corner at the start.
    Raises: ValueError if the photograph has another shape or values, a kernel is not 3 × 3, or the
        window leaves the photograph.
    """
    photo = torch.as_tensor(photo).detach().cpu().double()
    if photo.dim() != 2 or not ((photo >= 0) & (photo <= 1)).all():
        raise ValueError("A photograph has rows and columns of numbers from 0 to 1.")
    for name, kernel in kernels.items():
        if [len(row) for row in kernel] != [3, 3, 3]:
            raise ValueError(f"The kernel {name!r} should have 3 rows of 3 numbers.")
    H, W = photo.shape
    if not kernels or not (0 <= place[0] <= H - 3 and 0 <= place[1] <= W - 3):
        raise ValueError(f"A 3 × 3 window at {tuple(place)} leaves a photograph of {H} × {W}.")
    data = {
        "photo": (100 * photo).round().int().tolist(),
        "kernels": [{"name": name, "weights": list(map(list, k))} for name, k in kernels.items()],
        "place": list(place),
    }
    still = paragraph(
        "Slide a kernel over a photograph: an interactive picture, which needs JavaScript. In "
        "JupyterLab, run the cell to open it."
    )
    says = f"View: a kernel over a photograph; {', '.join(kernels)}."
    view("sliding", data, says=says, still=still)
