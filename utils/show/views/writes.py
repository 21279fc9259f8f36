"""What views of writers share: the reader begins a text, and a stored model goes on with it."""

from collections.abc import Callable

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, hand_over, load
from utils.show.views.typed import check_beginning

LONGEST = 400  # letters: of a beginning, and that it writes until it is asked again


def writes(name: str, model: str, check: Callable[[Stored], None], beginning: str) -> None:
    """Show the view `name`, in which a stored model goes on with a text as one types.

    model: the name of a stored model, whose file tells its "characters".
    check: raises a ValueError if a model is not of the kind that the view computes.
    beginning: what stands in the field at first; it may be empty.
    Raises: ModelError as `models.load` does; ValueError as `check` does, or if the beginning is
        too long or has other letters.
    """
    held = load(model)
    check(held)
    check_beginning(beginning, held, LONGEST)
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "beginning": beginning,
        "longest": LONGEST,
    }
    still = paragraph(
        "It writes as you type: an interactive picture, which needs JavaScript. In JupyterLab, run "
        f"the cell to open it. It begins with: {beginning}"
    )
    says = f"View: it writes as you type. {beginning}"
    view(name, data, says=says, still=still, parts=["runtime", "live", "typed", "writes"])
