"""A text that the reader begins and a stored model goes on with: what may stand in its field."""

from utils.show.views.models import Stored


def check_beginning(beginning: str, held: Stored, longest: int) -> None:
    """Raise a ValueError if a beginning is too long, or the model does not know its letters."""
    strange = set(beginning) - set(held.header["characters"])
    if len(beginning) > longest or strange:
        raise ValueError(
            f"A beginning has up to {longest} letters, all of which the model knows, got "
            f"{beginning!r}."
        )
