"""Byte pairs that others learned, from the files in which they publish them.

Those files are text, so each byte is written as a letter that can be seen (Radford et al., 2019):
188 bytes as what they are in Latin-1, the others as the letters from U+0100 on; a space is Ġ.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import regex

from utils.tokens.byte_pairs import BytePairs
from utils.tokens.splitting import GPT2_PATTERN
from utils.tokens.tables import PublishedConfig, check_folder, read_json

VISIBLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
BYTE_OF = {chr(byte): byte for byte in VISIBLE} | {
    chr(256 + place): byte for place, byte in enumerate(HIDDEN)
}


def read_byte_pairs(folder: Path | str) -> BytePairs:
    """Read a tokeniser: tokenizer.json (as Llama 3's), or vocab.json and merges.txt (as GPT-2's).

    What such a file would put around a text, as Llama's does with the begin of a text, is left to
    the caller: its number is in `special`. So is where it would cut a long text off.
    Raises: ValueError if a file is missing or cut short, or tells of another kind of tokeniser.
    """
    folder = Path(folder)
    check_folder(folder)
    if (folder / "tokenizer.json").exists():
        return _from_one_file(folder / "tokenizer.json")
    vocabulary = read_json(folder / "vocab.json")
    lines = _read(folder / "merges.txt").splitlines()
    merges = [line for line in lines if line and not line.startswith("#version")]
    special = _not_made(vocabulary, merges)
    return _built(folder, vocabulary, merges, special, GPT2_PATTERN, False)


def _from_one_file(file: Path) -> BytePairs:
    told = read_json(file)
    told.expect(normalizer=None)
    model = told.table("model")
    model["type"]  # has to be there
    model.expect(type="BPE", byte_fallback=False, dropout=None)
    for part in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(part):
            raise model.unlike(part, "empty where tokens are bytes")
    special = {}
    for token in told.tables("added_tokens"):
        if not token.flag("special", True):
            raise ValueError(
                f"{file} has the added token {token['content']!r}, which is looked for in a text "
                "before it is cut: this book reads no such tokeniser."
            )
        if not isinstance(token["content"], str):
            raise token.unlike("content", "a text")
        special[token["content"]] = token["id"]
    return _built(
        file,
        model.table("vocab"),
        model["merges"],
        special,
        _pattern(told.table("pre_tokenizer")),
        model.flag("ignore_merges", False),
    )


def _pattern(cut: PublishedConfig) -> str:
    """Return what cuts a text into pieces: GPT-2's pattern, or the file's own."""
    steps = cut.tables("pretokenizers") if cut.get("type") == "Sequence" else [cut]
    kinds = [step.get("type") for step in steps]
    own = kinds == ["Split", "ByteLevel"]
    if not own and kinds != ["ByteLevel"]:
        raise ValueError(
            f"{cut.file} has pre_tokenizer = {kinds}, and a tokeniser of byte pairs has ByteLevel "
            "there, or Split and ByteLevel: this book reads no other kind."
        )
    bytes_ = {"add_prefix_space": True, "use_regex": True} | steps[-1]  # what is left out is true
    PublishedConfig(cut.file, bytes_).expect(add_prefix_space=False, use_regex=not own)
    if not own:
        return GPT2_PATTERN
    steps[0].expect(behavior="Isolated", invert=False)
    pattern = steps[0].table("pattern")
    literal = pattern.get("String")
    found = pattern["Regex"] if literal is None else literal
    if not isinstance(found, str) or not found:
        raise steps[0].unlike("pattern", "a regular expression, or a text")
    found = found if literal is None else regex.escape(found)
    try:
        regex.compile(found)
    except regex.error as error:
        raise ValueError(
            f"{cut.file} has a pattern that is no regular expression ({error}): fetch it again."
        ) from None
    return found


def _built(
    file: Path,
    vocabulary: Mapping[str, Any],
    merges: object,
    special: Mapping[Any, Any],
    pattern: str,
    ignore_merges: bool,
) -> BytePairs:
    for token, number in (*vocabulary.items(), *special.items()):
        if not isinstance(token, str) or type(number) is not int or number < 0:
            raise ValueError(
                f"{file} gives the token {token!r} the number {number!r}: it is a whole one, at "
                "least 0."
            )
    if not isinstance(merges, list):
        raise ValueError(
            f"{file} has {type(merges).__name__} for merges, not a list: fetch it again."
        )
    ids = {_bytes(token): n for token, n in vocabulary.items() if token not in special}
    pairs = [(_bytes(a), _bytes(b)) for a, b in map(_pair, merges)]
    return BytePairs(ids, pairs, special, pattern, ignore_merges)


def _not_made(vocabulary: Mapping[str, int], merges: list[str]) -> dict[str, int]:
    """What no merge makes stands for no text, such as GPT-2's <|endoftext|>."""
    made = {*BYTE_OF, *("".join(_pair(merge)) for merge in merges)}
    special = {token: number for token, number in vocabulary.items() if token not in made}
    if lost := [token for token in special if (token[:1], token[-1:]) != ("<", ">")]:
        raise ValueError(f"No merge makes the token {lost[0]!r}: is merges.txt cut short?")
    return special


def _pair(merge: object) -> list[str]:
    pair = merge.split(" ") if isinstance(merge, str) else merge
    is_list = isinstance(pair, list) and all(isinstance(token, str) for token in pair)
    if not is_list or len(pair) != 2:
        raise ValueError(f"A merge is of two tokens, and one is {merge!r}: is the file cut short?")
    return pair


def _bytes(token: str) -> bytes:
    if strange := [letter for letter in token if letter not in BYTE_OF]:
        raise ValueError(
            f"The token {token!r} has the letter {strange[0]!r}, which stands for no byte: this is "
            "another kind of vocabulary."
        )
    return bytes(BYTE_OF[letter] for letter in token)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(
            f"{file} can't be read ({error.strerror}): a tokeniser is a tokenizer.json, or a "
            "vocab.json and a merges.txt beside it."
        ) from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no UTF-8: fetch it again.") from None
