"""Day 10: leave a gap in a sentence, and a stored encoder, computed in the page, fills it."""

from collections.abc import Collection, Sequence

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, encoder_block, hand_over, load

LONGEST = 300  # characters of a sentence
PARTS = ("words", "sentence", "guesses", "runtime", "live", "filler")
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>", "<mask>")  # words follow them
TABLE = "encoder.embedding.symbols.weight"
REST = ".rest"  # what a matrix's first byte leaves over


def fill_the_gap(model: str, *, names: Collection[str], sentences: Sequence[str]) -> None:
    """Let the reader leave gaps, "___", in a sentence; see the ten likeliest words for each.

    model: the name of a stored `MaskedLanguageModel`, in two bytes for each weight; its file tells
        "heads" and "words", the symbols in the order of the table's rows.
    names: words that are masked, as `utils.data.libraries` has it.
    sentences: those that it offers; it begins with the first.
    Raises: ModelError as `models.load` does; ValueError if the model is of another kind, or a
        sentence is missing or too long.
    """
    held = load(model)
    check(held)
    check_sentences(sentences)
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "names": sorted(names),
        "sentences": list(sentences),
        "longest": LONGEST,
    }
    still = paragraph(
        "It fills the gap that you leave: an interactive picture, which needs JavaScript. In "
        f"JupyterLab, run the cell to open it. It begins with: {sentences[0]}"
    )
    says = f"View: it fills the gap that you leave. {' '.join(sentences)}"
    view("fill_the_gap", data, says=says, still=still, parts=PARTS)


def check_sentences(sentences: Sequence[str]) -> None:
    """Raise a ValueError if there is none, or one is too long."""
    if isinstance(sentences, str) or not sentences:
        raise ValueError(f"Give a list of sentences, at least one, got {sentences!r}.")
    if longest := [len(said) for said in sentences if len(said) > LONGEST]:
        raise ValueError(f"A sentence has up to {LONGEST} characters, got {longest[0]}.")


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = {
        name: parts[0].shape for name, parts in held.weights.items() if not name.endswith(REST)
    }
    wanted = _shapes(found)
    lacks = [
        name
        for name, shape in wanted.items()
        if len(shape) == 2
        and held.weights.get(name + REST, held.weights.get(name, ((),)))[0].shape != shape
    ]
    unlike = sorted(n for n in wanted.keys() | found if wanted.get(n) != found.get(n)) or lacks
    words, heads = held.header.get("words", ()), held.header.get("heads", 0)
    V, D = found.get(TABLE, (0, 0))
    fits = len(words) == V and tuple(words[: len(SPECIAL)]) == SPECIAL
    if unlike or not fits or heads < 1 or D % (2 * heads):
        raise ValueError(
            "The page computes masked language models with rotary positions and norms before the "
            f"layers; in {held.header.get('name')!r} these are missing, too much or of another "
            f"size: {', '.join(unlike[:3]) or 'heads or words'}."
        )


def _shapes(found: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The shape that each weight should have, if the table and a first layer have theirs."""
    V, D = found.get(TABLE, (0, 0))
    F = found.get("encoder.blocks.0.feed_forward.W_1.weight", (0, 0))[0]
    norm = {"weight": (D,), "bias": (D,)}
    block = encoder_block(D, F)
    L = max(1, sum(name.endswith("self_attention.W_in") for name in found))
    shapes = {TABLE: (V, D)}
    shapes |= {f"encoder.blocks.{i}.{name}": block[name] for i in range(L) for name in block}
    shapes |= {f"encoder.norm.{part}": shape for part, shape in norm.items()}
    shapes |= {"head.transform.weight": (D, D), "head.transform.bias": (D,)}
    return (
        shapes | {f"head.norm.{part}": shape for part, shape in norm.items()} | {"head.bias": (V,)}
    )
