"""Day 13: say a sentence, and a writer, a decoder and a CLIP in the page draw it and choose."""

import math
from collections.abc import Sequence

from utils.show.views.frame import listed, paragraph, view
from utils.show.views.models import Stored, check_shapes, encoder_block, hand_over, load, shapes
from utils.show.views.which_sentence import check as check_clip

TRIES = 16  # pictures of a sentence
TEMPERATURE = 0.7
SYMBOLS, POSITIONS = "stack.embedding.symbols.weight", "stack.embedding.positions.table"
CHANNELS, STRIDE = 3, 4  # of a picture; pixels between its codes, each way


def say_and_draw(writer: str, codes: str, clip: str, *, sentences: Sequence[str]) -> None:
    """Let the reader say a sentence; sixteen pictures of it are drawn, and the best is chosen.

    writer, codes: the names of a stored writer of sentences and codes and of the autoencoder that
        draws these, as `experiments/drawing_page.py` and `picture_codes.py` make them. Of the
        writer the file tells "heads", "words" and "longest", how many of these it reads.
    clip: the name of a stored CLIP, as `which_sentence` takes one, with the same words.
    sentences: what the reader can take; the first one stands in the field.
    Raises: ModelError as `models.load` does; ValueError if a model has other weights, they don't
        fit one another, or there is no sentence.
    """
    held = [load(name) for name in (writer, codes, clip)]
    check(*held)
    if isinstance(sentences, str) or not sentences or not all(sentences):
        raise ValueError(
            f"Say what can be drawn: a list, at least one sentence, got {sentences!r}."
        )
    for model in held:
        hand_over(model.header["name"])
    data = {
        "models": [{key: model.header[key] for key in ("name", "sha256")} for model in held],
        "sentences": list(sentences),
        "temperature": TEMPERATURE,
        "tries": TRIES,
    }
    still = paragraph(
        "Say a sentence, and it is drawn code by code, sixteen times; CLIP chooses the best "
        "picture: an interactive picture, which needs JavaScript. In JupyterLab, run the cell to "
        "open it. Sentences to begin with:"
    ) + listed(list(sentences))
    says = f"View: say a sentence, and it is drawn. {'; '.join(sentences)}"
    parts = ["runtime", "live", "painter", "towers", "scenes"]
    view("say_and_draw", data, says=says, still=still, parts=parts)


def check(writer: Stored, codes: Stored, clip: Stored) -> None:
    """Raise a ValueError if stored models are not of the kinds that the page computes."""
    places, told = check_writer(writer, check_decoder(codes)), writer.header
    check_clip(clip, STRIDE * math.isqrt(places))
    if clip.header["words"] != told["words"]:
        raise ValueError(
            f"{told['name']!r} and {clip.header['name']!r} have different words: take two models "
            "of one vocabulary."
        )


def check_decoder(held: Stored) -> int:
    """Return how many codes a stored decoder draws."""
    found = shapes(held)
    table = "codebook.table"
    K, D = found.get(table, (0, 0))
    wide, width = (found.get(f"decoder.{name}.bias", (0,))[0] for name in ("0.0", "3.0"))
    layers = {  # channels of each convolution, and those that it reads
        "0.0": (wide, D),
        "1.f.0": (wide, wide),
        "1.f.2": (wide, wide),
        "3.0": (width, wide),
        "5": (CHANNELS, width),
    }
    wanted = {table: (K, D)}
    for name, (to, of) in layers.items():
        wanted |= {f"decoder.{name}.weight": (to, 9 * of), f"decoder.{name}.bias": (to,)}
    wanted |= {name: own for name, own in found.items() if name.startswith("encoder.")}  # not run
    check_shapes(held, wanted, K > 0, "utils.drawing.VQAutoencoder", "codebook")
    return K


def check_writer(held: Stored, K: int) -> int:
    """Return how many codes a picture of a stored writer has. K: how many codes there are."""
    found, told = shapes(held), held.header
    T, D = found.get(POSITIONS, (0, 0))
    F = found.get("stack.blocks.0.feed_forward.W_1.bias", (0,))[0]
    V, h = len(told.get("words", ())) + K + 1, told.get("heads", 0)
    places = T - told.get("longest", T) - 2
    L = sum(name.endswith("self_attention.W_in") for name in found)
    wanted = {SYMBOLS: (V, D), POSITIONS: (T, D), "output.weight": (V, D)}
    wanted |= {"stack.norm.weight": (D,), "stack.norm.bias": (D,)}
    for i in range(L):
        wanted |= {f"stack.blocks.{i}.{one}": s for one, s in encoder_block(D, F).items()}
    fits = L > 0 and h > 0 and D % h == 0 and places > 0 and math.isqrt(places) ** 2 == places
    check_shapes(held, wanted, fits, "utils.tasks.drawing.writer", "heads, words or longest")
    return places
