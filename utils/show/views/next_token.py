"""Day 9: how likely each next token is, and what temperature, top-k and top-p make of it."""

import math
from collections.abc import Mapping, Sequence

from utils.show.views.frame import listed, paragraph, view

DIGITS = 3  # of each logit, below the largest of its row
MOST = 25_000  # logits in all: about 140 kB


def next_token(
    tokens: Sequence[str],
    logits: Mapping[tuple[int, ...], Sequence[float]],
    starts: Sequence[tuple[int, ...]],
) -> None:
    """Let the reader cut the next token's distribution, take a token, and see the one after it.

    The filters come in the order of `utils.training.sampling`: temperature, then top-k, then top-p
    of what is left.
    tokens: the V tokens as text.
    logits: {numbers of the tokens so far: the V logits of the next one}. A token can be taken where
        the longer text has logits, too, so a tree of a few tokens is enough: V times its texts is
        at most 25,000 numbers.
    starts: the texts from which the reader chooses.
    Raises: ValueError if there is no start, one has no logits, a row of logits is not of V finite
        numbers, a text is of unknown tokens or reached from no start, or there are too many.
    """
    V = len(tokens)
    if not starts or V < 2:
        raise ValueError("There is nothing to choose: give two tokens and one start, at least.")
    for start in starts:
        if start not in logits:
            raise ValueError(f"The start {_text(tokens, start)!r} has no logits: give it some.")
    for text, row in logits.items():
        if not text or not all(0 <= token < V for token in text):
            raise ValueError(f"A text has tokens from 0 to {V - 1}, at least one, got {text}.")
        if len(row) != V or not all(math.isfinite(logit) for logit in row):
            raise ValueError(
                f"{_text(tokens, text)!r} needs {V} finite logits, one for each token."
            )
        if text not in starts and text[:-1] not in logits:
            raise ValueError(
                f"{_text(tokens, text)!r} is reached from no start: the text before its last token "
                "needs logits, too."
            )
    if V * len(logits) > MOST:
        raise ValueError(
            f"{len(logits)} texts of {V} logits are more than the {MOST} numbers that a page "
            "holds: grow a smaller tree."
        )
    rows = {",".join(map(str, text)): _below_the_largest(row) for text, row in logits.items()}
    data = {"tokens": list(tokens), "starts": [list(start) for start in starts], "rows": rows}
    shown = [_text(tokens, start) for start in starts]
    still = paragraph(
        "What may come next, and what temperature, top-k and top-p leave of it: an interactive "
        "picture, which needs JavaScript. In JupyterLab, run the cell to open it. Most likely next:"
    ) + listed([_in_short(tokens, start, logits[start]) for start in starts])
    view("next_token", data, says="\n".join(["View: the next token.", *shown]), still=still)


def _text(tokens: Sequence[str], numbers: Sequence[int]) -> str:
    return "".join(tokens[number] for number in numbers)


def _below_the_largest(row: Sequence[float]) -> list[int]:
    """How far each logit is below the largest, in thousandths: that is all a softmax needs."""
    largest = max(row)
    return [round(10**DIGITS * (largest - float(logit))) for logit in row]


def _in_short(tokens: Sequence[str], start: Sequence[int], row: Sequence[float]) -> str:
    best = max(range(len(row)), key=row.__getitem__)
    share = 1 / sum(math.exp(logit - row[best]) for logit in row)
    return f"{_text(tokens, start)}: “{tokens[best]}”, {100 * share:.0f}%."
