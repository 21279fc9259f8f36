"""Day 8: byte pairs beside the tokenizers library: the same merges, the same ids, which seconds?"""

import time
from collections.abc import Callable, Iterator
from string import ascii_lowercase as LETTERS

from tokenizers import Tokenizer, models, trainers

from utils.data.docstrings import docstring_text
from utils.tokens import BytePairs, learn_merges_indexed, pre_tokens

N_MERGES = 4000
SHIFTS = (0, 5, 11, 18)


def megabyte() -> str:
    """Four times the book's English text, each time with its letters shifted to other words."""
    shifted = (str.maketrans(LETTERS, LETTERS[n:] + LETTERS[:n]) for n in SHIFTS)
    return "\n".join(docstring_text().translate(table) for table in shifted)


def library_learns(text: str, n_merges: int) -> Tokenizer:
    """Learn with the library: bytes are letters in their own order, so that ties fall alike."""
    library = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=256 + n_merges,
        initial_alphabet=[as_letters(bytes([byte])) for byte in range(256)],
        show_progress=False,
    )
    pieces = (as_letters(piece.encode()) for piece in pre_tokens(text))
    library.train_from_iterator(pieces, trainer)
    return library


def as_letters(piece: bytes) -> str:
    return "".join(chr(0x4E00 + byte) for byte in piece)


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def sentences() -> Iterator[str]:
    """Say what learning and encoding take, of ours and of the library's."""
    text = megabyte()
    size = f"{len(text.encode()) / 1e6:.1f} MB"
    ours, merges = seconds(lambda: learn_merges_indexed(text, N_MERGES))
    theirs, _ = seconds(lambda: library_learns(text, N_MERGES))
    yield (
        f"Byte pairs, {N_MERGES:,} merges learned from {size}: with an index of pairs {ours:.1f} "
        f"s, by the library {theirs:.1f} s."
    )
    tokens = BytePairs.from_merges(merges)
    first, ids = seconds(lambda: tokens.encode(text))
    again, _ = seconds(lambda: tokens.encode(text))
    yield (
        f"Byte pairs, {size} encoded in {len(ids):,} tokens: {first:.1f} s, and {again:.1f} s "
        "where all words were encoded before."
    )
