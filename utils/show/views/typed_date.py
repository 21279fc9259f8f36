"""Day 4: a date that one types is read in the page, with its alignment."""

from collections.abc import Sequence

from utils.show.views.frame import listed, paragraph, view
from utils.show.views.models import Stored, check_shapes, hand_over, load, shapes


def typed_date(model: str, *, examples: Sequence[tuple[str, str, str]]) -> None:
    """Let the reader type a date; a stored model writes it as 1993-02-14, symbol by symbol.

    model: the name of a stored model as `utils.tasks.typed_dates.reader` makes them, of which the
        file tells "source" and "target", its symbols in the order of its tables' last rows, and
        "longest", the most symbols that it may write.
    examples: (locale, what people call it, a date as it is written there); the model's source has
        each locale in angle brackets.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, there is no
        example, or the model doesn't know a locale.
    """
    held = load(model)
    check(held)
    known = held.header["source"]
    if not examples or any(f"<{locale}>" not in known for locale, _, _ in examples):
        raise ValueError(
            "Each example needs a locale that the model knows, and there is at least one example, "
            f"got {[locale for locale, _, _ in examples]}."
        )
    hand_over(model)
    names = ("locale", "name", "text")
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "examples": [dict(zip(names, example, strict=True)) for example in examples],
    }
    still = paragraph(
        "It reads the date that you type: an interactive picture, which needs JavaScript. In "
        "JupyterLab, run the cell to open it. It can read dates such as:"
    ) + listed([f"{text} ({name})" for _, name, text in examples])
    says = "View: it reads the date that you type."
    view("typed_date", data, says=says, still=still, parts=["runtime", "live", "looks"])


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = shapes(held)
    source, target = (len(held.header.get(side, ())) for side in ("source", "target"))
    D = found.get("encoder.embedding.weight", (0, 0))[-1]
    N = found.get("decoder.combine.weight", (0, 0))[0]
    wanted = {"encoder.embedding.weight": (4 + source, D)}
    wanted |= {"decoder.embedding.weight": (4 + target, D)}
    layers = {"encoder.layer.ahead": N // 2, "encoder.layer.back": N // 2, "decoder.layer": N}
    for layer, n in layers.items():
        wanted |= {f"{layer}.W_x": (3 * n, D), f"{layer}.W_h": (3 * n, n)}
        wanted |= {f"{layer}.b": (3 * n,), f"{layer}.b_n": (n,)}
    score = "decoder.attention.score"
    wanted |= {f"{score}.W_a.weight": (N, N), f"{score}.U_a.weight": (N, N), f"{score}.v": (N,)}
    linear = {"bridge.0": (N, N), "combine": (N, 2 * N), "output": (4 + target, N)}
    for layer, shape in linear.items():
        wanted |= {f"decoder.{layer}.weight": shape, f"decoder.{layer}.bias": shape[:1]}
    fits = source and target and held.header.get("longest", 0) >= 1
    check_shapes(held, wanted, fits, "utils.tasks.typed_dates.reader", "source, target or longest")
