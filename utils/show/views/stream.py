"""Day 6: follow one position through a decoder's blocks, and turn the temperature."""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.show.views.frame import listed, paragraph, rounded, view

DIGITS = 2  # of each logit


def stream(
    sources: Sequence[str],
    targets: Sequence[Sequence[str]],
    logits: Tensor,
    stages: Sequence[str],
    words: Sequence[str],
) -> None:
    """Let the reader choose a sentence, a word of its translation, a stage and a temperature.

    sources, targets: B sentences, and the words to be said, up to T of each.
    logits: (K, B, T, V), what would be said after each of K stages, of which `stages` are the
        names. words: the V words that can be said.
    Raises: ValueError if these do not fit together, a logit is not finite, or a target has a word
        that can't be said; "EOS" is the end.
    """
    shape = len(stages), len(sources), max(map(len, targets), default=0), len(words)
    fits = logits.dim() == 4 and all(
        one == other for one, other in zip(logits.shape, shape, strict=True)
    )
    if not fits or 0 in shape or len(targets) != len(sources):
        raise ValueError(
            f"{shape[0]} stages, {shape[1]} sentences of up to {shape[2]} words and {shape[3]} "
            f"words that can be predicted need logits of shape {shape} and as many targets, got "
            f"{tuple(logits.shape)} and {len(targets)}."
        )
    if not torch.isfinite(logits).all():
        raise ValueError("Logits are finite numbers: these hold NaN or an infinite one.")
    said = _names(words)
    unknown = {word for target in targets for word in target} - set(said)
    if unknown:
        raise ValueError(f"No logit belongs to {', '.join(sorted(unknown))}.")
    sentences = [
        {
            "source": source,
            "said": [said.index(word) for word in target],
            "logits": rounded(logits[:, row, : len(target)].transpose(0, 1), DIGITS),  # (T, K, V)
        }
        for row, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]
    shown = [
        f"{source}: {' '.join(target)}" for source, target in zip(sources, targets, strict=True)
    ]
    still = paragraph(
        "What each position's stream would predict after each sublayer: an interactive picture, "
        "which needs JavaScript. In JupyterLab, run the cell to open it. Its sentences:"
    ) + listed(shown)
    says = "\n".join([f"View: one position through {len(stages)} stages.", *shown])
    data = {"sentences": sentences, "stages": list(stages), "words": said}
    view("stream", data, says=says, still=still)


def _names(words: Sequence[str]) -> list[str]:
    """The words as a reader knows them: of a vocabulary's own symbols, without their brackets."""
    return [word.strip("<>").upper() if word.startswith("<") else word for word in words]
