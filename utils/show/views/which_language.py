"""Day 2: which language a word is from, after each of its letters, computed in the page."""

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, hand_over, load, shapes

LONGEST = 20  # letters of a word that are read


def which_language(model: str, *, word: str) -> None:
    """Let the reader type a word; a stored recurrent network names its language, letter by letter.

    model: the name of a stored `utils.tasks.languages.LetterReader`, of which the file tells
        "letters", in the order of its table's last rows, and "answers", the languages' names.
    word: what stands in the field at first.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, or the
        word has no letter, too many, or one that the model does not know.
    """
    held = load(model)
    check(held)
    if not 0 < len(word) <= LONGEST or set(word) - set(held.header["letters"]):
        raise ValueError(
            f"The first word has 1 to {LONGEST} letters, and the network knows them; got {word!r}."
        )
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "word": word,
        "longest": LONGEST,
    }
    asked = "Which language is your word from"
    still = paragraph(
        f"{asked}: an interactive picture, which needs JavaScript. In JupyterLab, run the cell to "
        f"open it. It begins with: {word}"
    )
    says = f"View: {asked}. {word}"
    view("which_language", data, says=says, still=still, parts=["runtime", "live"])


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = shapes(held)
    V, D = found.get("embedding.weight", (0, 0))
    n, N = found.get("output.weight", (0, 0))
    wanted = {"embedding.weight": (V, D), "output.weight": (n, N), "output.bias": (n,)}
    wanted |= {"layer.W_x": (N, D), "layer.W_h": (N, N), "layer.b": (N,)}
    letters, answers = (held.header.get(name, "") for name in ("letters", "answers"))
    fits = 0 < len(letters) < V and len(answers) == n
    check_shapes(held, wanted, fits, "utils.tasks.languages.LetterReader", "letters or answers")
