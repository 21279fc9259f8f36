"""Day 3: how far the gates of a network are open while it reads, character by character."""

from collections.abc import Mapping

import torch
from torch import Tensor

from utils.show.views.frame import listed, paragraph, view


def gates(texts: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Let the reader choose a text, a gate, a unit and a character, and see how far it is open.

    texts: {text: {name of a gate or state: (T, N)}}, T characters of the text and N units. What is
        below 0 somewhere is a state, in -1..1; what is not is a gate, in 0..1. The first gate is
        shown first.
    Raises: ValueError if there is nothing to show, a text and its numbers differ in length, or a
        number is none of these.
    """
    if not texts:
        raise ValueError("There is no text to show the gates over: give at least one.")
    shown = [_plain(text, parts) for text, parts in texts.items()]
    names = [part["name"] for part in shown[0]["parts"]]
    says = "\n".join([f"View: gates over a text; {', '.join(names)}.", *texts])
    still = paragraph(
        "Gates over a text: an interactive picture, which needs JavaScript. In JupyterLab, run the "
        f"cell to open it. Where the {names[0]} is lowest, averaged over its units:"
    ) + listed([_in_short(text) for text in shown])
    view("gates", {"texts": shown}, says=says, still=still)


def _plain(text: str, parts: Mapping[str, Tensor]) -> dict:
    """One text, and for each part per cent (1 + N, T): first the mean of the units, then each."""
    if not text or not parts:
        raise ValueError(f"The text {text!r} needs characters and at least one gate.")
    rows = []
    for name, values in parts.items():
        values = torch.as_tensor(values).detach().cpu().double()
        if values.dim() != 2 or len(values) != len(text) or not values.numel():
            raise ValueError(
                f"{name!r} needs a row of units for each of {len(text)} characters, got "
                f"{tuple(values.shape)}."
            )
        if not (values.abs() <= 1).all():
            raise ValueError(f"{name!r} has numbers that are not between -1 and 1.")
        units = torch.cat([values.mean(dim=1, keepdim=True), values], dim=1).T
        signed = bool((values < 0).any())
        percent = (100 * units).round().int().tolist()
        rows.append({"name": name, "signed": signed, "percent": percent})
    return {"text": text, "parts": rows}


def _in_short(shown: dict) -> str:
    """Where the first gate is lowest in a text."""
    mean = shown["parts"][0]["percent"][0]
    place = min(range(len(mean)), key=mean.__getitem__)
    return f"{shown['text']}: at “{shown['text'][place]}”, character {place + 1}: {mean[place]}%."
