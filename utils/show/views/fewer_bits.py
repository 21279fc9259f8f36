"""Day 11: a teacher, its student, and the student in a few bits fill the same gap, in the page."""

from collections.abc import Collection, Mapping

from utils.show.views.fill_the_gap import LONGEST, PARTS, check, check_sentences
from utils.show.views.frame import paragraph, view
from utils.show.views.models import hand_over, load


def fewer_bits(models: Mapping[str, str], *, names: Collection[str], sentence: str) -> None:
    """Compare stored models on one sentence; the last is also shown in 8 bits, or in fewer.

    models: {name: that of a stored model, as `fill_the_gap` takes them}, the largest first.
    names: words that are masked, as `utils.data.libraries` has it.
    Raises: ModelError as `models.load` does; ValueError if a model is of another kind, they don't
        share their words, or the sentence is too long.
    """
    held = {name: load(model) for name, model in models.items()}
    for each in held.values():
        check(each)
    if len({tuple(each.header["words"]) for each in held.values()}) != 1:
        raise ValueError("Give models, at least one, that know the same words in the same order.")
    check_sentences([sentence])
    for model in models.values():
        hand_over(model)
    data = {
        "models": [
            {"name": name, "model": {"name": model, "sha256": held[name].header["sha256"]}}
            for name, model in models.items()
        ],
        "names": sorted(names),
        "sentence": sentence,
        "longest": LONGEST,
    }
    still = paragraph(
        f"{', '.join(models)}, and the last in a few bits, fill one gap: an interactive picture, "
        "which needs JavaScript. In JupyterLab, run the cell to open it. It begins with: "
        f"{sentence}"
    )
    says = f"View: {', '.join(models)} and fewer bits. {sentence}"
    view("fewer_bits", data, says=says, still=still, parts=PARTS)
