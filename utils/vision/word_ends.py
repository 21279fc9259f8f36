"""Day 12: CLIP's tokeniser: Day 8's byte pairs, in small letters, where a word's end is marked.

In its files the end is written </w>, in the byte pairs here it is a byte that no text has.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import regex
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from utils.arguments import check_at_least, described
from utils.tokens import BytePairs
from utils.tokens.published import BYTE_OF
from utils.tokens.splitting import check_text
from utils.tokens.tables import PublishedConfig, check_folder, read_json

BEGIN, END, WORD_END = "<|startoftext|>", "<|endoftext|>", "</w>"
MARK = b"\xff"  # in no text of UTF-8
PATTERN = r"'(?:[stmd]|re|ve|ll)|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
CUT = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"  # as files write it
CUTS = CUT, r"<\|startoftext\|>|<\|endoftext\|>|" + CUT


class WordEndPairs(BytePairs):
    """Byte pairs of words whose last byte is another token than inside (Sennrich et al., 2016).

    Texts are brought to NFC and small letters; what is white is left out, so a text comes back with
    spaces between its words (Radford et al., 2021, §2.4, and its code).

    ids: each token's number, by its bytes, and `MARK` behind them where a word ends.
    merges: pairs of such tokens, in the order in which they were learned.
    special: numbers of tokens that are no text, by name; begin and end of a text are among them.
    Raises: ValueError as `BytePairs` does, or if a text has no begin or end.
    """

    def __init__(
        self,
        ids: Mapping[bytes, int],
        merges: Iterable[tuple[bytes, bytes]],
        special: Mapping[str, int],
    ):
        for name in (BEGIN, END):
            if name not in special:
                raise ValueError(f"The token {name!r} has no number: the vocabulary lacks it.")
        ends = ((bytes([byte]), MARK) for byte in range(256))
        super().__init__(ids, [*ends, *merges], special, PATTERN)

    def encode(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens, without its begin and end: none for an empty one."""
        check_text(text)
        composed = unicodedata.normalize("NFC", text)
        return super().encode("".join(letter.lower() for letter in composed))

    def _encode(self, piece: bytes) -> list[int]:
        white = regex.fullmatch(r"\s+", piece.decode())
        return [] if white else super()._encode(piece + MARK)

    def batch(self, texts: Sequence[str], max_len: int = 77) -> tuple[Tensor, Tensor]:
        """Return what `CLIP.encode_texts` takes: texts with begin and end, cut to max_len numbers.

        Shapes: n texts to ids (n, T), filled up with ends, and lengths (n,).
        Raises: ValueError if they are one string, or there is no text, or max_len is below 2.
        """
        check_at_least(2, "max_len", max_len)
        if isinstance(texts, str):
            raise ValueError(f"Expected a list of texts, such as [{texts!r}], got a string.")
        if len(texts) == 0:
            raise ValueError("There is no text: a batch needs at least one.")
        begin, end = self.special[BEGIN], self.special[END]
        rows = [torch.tensor([begin, *self.encode(text)[: max_len - 2], end]) for text in texts]
        lengths = torch.tensor([len(row) for row in rows])
        return pad_sequence(rows, batch_first=True, padding_value=end), lengths

    def pieces(self, ids: Iterable[int] | Tensor) -> list[bytes]:
        """Give each token's bytes, and </w> where a word ends; a special one's name.

        Raises: ValueError as `BytePairs` does, or if these are several texts.
        """
        if isinstance(ids, Tensor) and ids.dim() != 1:
            raise ValueError(
                f"Expected the numbers of one text, (T,), got {described(ids)}: take the rows of a "
                "batch one by one."
            )
        return [piece.replace(MARK, WORD_END.encode()) for piece in super().pieces(ids)]

    def decode(self, ids: Iterable[int] | Tensor) -> str:
        """Give the text back, in small letters, a space behind each word.

        Raises: ValueError as `pieces` does.
        """
        return super().decode(ids).replace(WORD_END, " ").strip()


def read_word_end_pairs(folder: Path | str) -> WordEndPairs:
    """Read CLIP's tokeniser from tokenizer.json, or from vocab.json and merges.txt.

    Raises: ValueError if a file is missing or cut short, or tells of another kind of tokeniser.
    """
    folder = Path(folder)
    check_folder(folder)
    file = folder / "tokenizer.json"
    if file.exists():
        model = _model(read_json(file))
        vocabulary, merges = model.table("vocab"), model.get("merges")
        if not isinstance(merges, list):
            raise model.unlike("merges", "a list of pairs")
    else:
        file, vocabulary = folder / "vocab.json", read_json(folder / "vocab.json")
        merges = _lines(folder / "merges.txt")
    numbers = list(vocabulary.values())
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"{file} gives a token a number that is no whole one from 0 on.")
    special = {name: vocabulary[name] for name in (BEGIN, END) if name in vocabulary}
    ids = {_bytes(token): n for token, n in vocabulary.items() if token not in special}
    if len(ids) + len(special) < len(vocabulary):
        raise ValueError(f"{file} has two tokens of the same bytes: fetch it again.")
    return WordEndPairs(ids, [_pair(merge) for merge in merges], special)


def _model(told: PublishedConfig) -> PublishedConfig:
    model = told.table("model")
    model["type"]  # has to be there
    model.expect(
        type="BPE",
        end_of_word_suffix=WORD_END,
        continuing_subword_prefix="",
        byte_fallback=False,
        ignore_merges=False,
        dropout=None,
    )
    model["end_of_word_suffix"]
    steps = told.table("normalizer").tables("normalizers")
    if [step.get("type") for step in steps] != ["NFC", "Replace", "Lowercase"]:
        raise told.unlike("normalizer", "NFC, Replace and Lowercase in CLIP's tokeniser")
    steps[1].expect(pattern={"Regex": r"\s+"}, content=" ")
    cut = told.table("pre_tokenizer").tables("pretokenizers")
    kinds = [step.get("type") for step in cut]
    if kinds != ["Split", "ByteLevel"] or cut[0].table("pattern").get("Regex") not in CUTS:
        raise told.unlike("pre_tokenizer", "CLIP's Split, and ByteLevel")
    cut[0].expect(behavior="Removed", invert=True)
    PublishedConfig(told.file, {"add_prefix_space": True} | cut[1]).expect(add_prefix_space=False)
    vocabulary = model.table("vocab")
    for token in told.tables("added_tokens"):
        name = token.choice("content", {BEGIN: BEGIN, END: END})
        if token["id"] != vocabulary.get(name):
            raise token.unlike("id", f"that of {name} in the vocabulary")
    return model


def _lines(file: Path) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ValueError(
            f"{file} can't be read: a tokeniser is a tokenizer.json, or a vocab.json and a "
            "merges.txt beside it."
        ) from None
    return [line for line in lines if line and not line.startswith("#version")]


def _pair(merge: object) -> tuple[bytes, bytes]:
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError(f"A merge is of two tokens, and one is {merge!r}: is the file cut short?")
    return _bytes(pair[0]), _bytes(pair[1])


def _bytes(token: str) -> bytes:
    word = str(token).removesuffix(WORD_END) if token != WORD_END else token
    if not isinstance(token, str) or not word or any(letter not in BYTE_OF for letter in word):
        raise ValueError(f"The token {token!r} is not written in bytes: is this CLIP's vocabulary?")
    return bytes(BYTE_OF[letter] for letter in word) + (MARK if word != token else b"")
