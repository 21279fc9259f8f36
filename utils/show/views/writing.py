"""Day 3: how a network continues a beginning, cautiously or boldly."""

from collections.abc import Mapping

from utils.show.views.frame import listed, paragraph, view


def writing(texts: Mapping[str, Mapping[float, str]]) -> None:
    """Let the reader choose a beginning and a temperature, and read what was written.

    texts: {beginning: {temperature: the whole text, which begins with it}}.
    Raises: ValueError if there is no text, one does not begin as it should, or the beginnings have
        different temperatures.
    """
    if not texts or not all(texts.values()):
        raise ValueError("There is nothing to read: give a text for each beginning, at least one.")
    temperatures = list(next(iter(texts.values())))
    for start, written in texts.items():
        if list(written) != temperatures:
            raise ValueError(
                f"Each beginning needs the temperatures {temperatures}, got {list(written)} for "
                f"{start!r}."
            )
        if not start or not all(text.startswith(start) for text in written.values()):
            raise ValueError(f"A text that continues {start!r} has to begin with it.")
    data = {
        "temperatures": temperatures,
        "starts": list(texts),
        "rests": [
            [text.removeprefix(start) for text in written.values()]
            for start, written in texts.items()
        ],
    }
    says = "\n".join(["View: it continues a sentence.", *texts])
    still = paragraph(
        "It continues a sentence: an interactive picture, which needs JavaScript. In JupyterLab, "
        "run the cell to open it. It begins with:"
    ) + listed([next(iter(written.values())) for written in texts.values()])
    view("writing", data, says=says, still=still)
