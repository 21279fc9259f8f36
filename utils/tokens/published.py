"""Byte pairs that others learned, from the files in which they publish them.

Those files are text, so each byte is written as a letter that can be seen (Radford et al., 2019):
188 bytes as what they are in Latin-1, the others as the letters from U+0100 on; a space is Ġ.
"""

import json
from pathlib import Path
from typing import Any

from utils.tokens.byte_pairs import BytePairs
from utils.tokens.splitting import GPT2_PATTERN

VISIBLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
BYTE_OF = {chr(byte): byte for byte in VISIBLE} | {
    chr(256 + place): byte for place, byte in enumerate(HIDDEN)
}


def read_byte_pairs(folder: Path | str) -> BytePairs:
    """Read a tokeniser: tokenizer.json (as Llama 3's), or vocab.json and merges.txt (as GPT-2's).

    What such a file would put around a text, as Llama's does with the begin of a text, is left to
    the caller: its number is in `special`.
    Raises: ValueError if a file is missing or cut short, or tells of another kind of tokeniser.
    """
    folder = Path(folder)
    if (folder / "tokenizer.json").exists():
        return _from_one_file(folder / "tokenizer.json")
    vocabulary = _json(folder / "vocab.json")
    lines = _read(folder / "merges.txt").splitlines()
    merges = [line for line in lines if line and not line.startswith("#version")]
    return _built(vocabulary, merges, _not_made(vocabulary, merges), GPT2_PATTERN, False)


def _from_one_file(file: Path) -> BytePairs:
    told = _json(file)
    model, cut = told.get("model") or {}, told.get("pre_tokenizer") or {}
    steps = cut.get("pretokenizers", [cut])
    kinds = [step.get("type") for step in steps]
    own = kinds == ["Split", "ByteLevel"]
    expected = {
        "model": "BPE",
        "normalizer": None,
        "pre_tokenizer": ["Split", "ByteLevel"] if own else ["ByteLevel"],
        "byte_fallback": False,
        "add_prefix_space": False,
        "use_regex": not own,
        "behavior": "Isolated",
    }
    found = {
        "model": model.get("type"),
        "normalizer": told.get("normalizer"),
        "pre_tokenizer": kinds,
        "byte_fallback": model.get("byte_fallback", False),
        "add_prefix_space": steps[-1].get("add_prefix_space", True),
        "use_regex": steps[-1].get("use_regex", True),
        "behavior": steps[0].get("behavior", "Isolated"),
    }
    for name, value in found.items():
        if value != expected[name]:
            raise ValueError(
                f"{file} has {name} = {value!r}, and a tokeniser of byte pairs has "
                f"{expected[name]!r}: this book reads no other kind."
            )
    pattern = steps[0]["pattern"]["Regex"] if own else GPT2_PATTERN
    special = {token["content"]: token["id"] for token in told.get("added_tokens") or []}
    ignore = model.get("ignore_merges", False)
    return _built(model.get("vocab", {}), model.get("merges", []), special, pattern, ignore)


def _built(
    vocabulary: dict[str, int],
    merges: list[str] | list[list[str]],
    special: dict[str, int],
    pattern: str,
    ignore_merges: bool,
) -> BytePairs:
    ids = {_bytes(token): n for token, n in vocabulary.items() if token not in special}
    pairs = [(_bytes(a), _bytes(b)) for a, b in map(_pair, merges)]
    return BytePairs(ids, pairs, special, pattern, ignore_merges)


def _not_made(vocabulary: dict[str, int], merges: list[str]) -> dict[str, int]:
    """What no merge makes stands for no text, such as GPT-2's <|endoftext|>."""
    made = {*BYTE_OF, *("".join(_pair(merge)) for merge in merges)}
    special = {token: number for token, number in vocabulary.items() if token not in made}
    if lost := [token for token in special if (token[:1], token[-1:]) != ("<", ">")]:
        raise ValueError(f"No merge makes the token {lost[0]!r}: is merges.txt cut short?")
    return special


def _pair(merge: str | list[str]) -> list[str]:
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if len(pair) != 2:
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


def _json(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(_read(file))
    except json.JSONDecodeError:
        raise ValueError(
            f"{file} is no whole JSON: perhaps cut short, so fetch it again."
        ) from None
    if not isinstance(told, dict):
        raise ValueError(f"{file} holds {type(told).__name__}s, not a table: fetch it again.")
    return told
