"""Day 10: the pieces of words into which published models cut a text, from their own files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from utils.tokens.tables import read_json

BERTS = "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"
KINDS = {  # of model: how its text is cut, and what its vocabulary has to have
    "bert": ("WordPiece", BERTS),
    "distilbert": ("WordPiece", BERTS),
    "albert": ("Unigram", ("<unk>", "[CLS]", "[SEP]", "<pad>", "[MASK]")),
    "t5": ("Unigram", ("<unk>", "</s>", "<pad>", "<extra_id_0>")),
}


def read_pieces(folder: Path | str) -> Tokenizer:
    """Read a model's tokenizer: tokenizer.json, or BERT's and DistilBERT's vocab.txt.

    With vocab.txt, tokenizer_config.json says whether letters are made small. The tokenizer puts
    around a text what its model expects there ([CLS] and [SEP], or </s>), and tells of each piece
    of two sentences of which it is (`type_ids`).
    Raises: ValueError if a file is missing, cut short or of another kind, or doesn't fit the
        model's config.json.
    """
    folder = Path(folder)
    told = read_json(folder / "config.json")
    kind, special = told.choice("model_type", KINDS)
    file = folder / "tokenizer.json"
    if file.exists() or kind != "WordPiece":
        tokenizer = _from_one_file(file, kind)
    else:
        file = folder / "vocab.txt"
        tokenizer = _word_pieces(_lines(file), folder / "tokenizer_config.json")
    whole = file.suffix == ".txt"
    check_pieces(tokenizer.get_vocab(), special, told.size("vocab_size"), whole, file)
    return tokenizer


def _from_one_file(file: Path, kind: str) -> Tokenizer:
    model = read_json(file).table("model")
    model["type"]  # has to be there
    model.expect(type=kind)
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises no narrower kind
        raise ValueError(f"{file} is no whole tokenizer ({error}): fetch it again.") from None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except OSError as error:
        raise ValueError(
            f"{file} can't be read ({error.strerror}): a tokenizer is a tokenizer.json, or BERT's "
            "vocab.txt."
        ) from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no UTF-8: fetch it again.") from None


def _word_pieces(lines: list[str], file: Path) -> Tokenizer:
    """Cut words into the longest pieces that the vocabulary has, from the left (WordPiece)."""
    told = read_json(file)
    accents = told.get("strip_accents")  # None: where letters are made small
    ids = {piece: number for number, piece in enumerate(lines)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=told.flag("do_lower_case"),
        strip_accents=None if accents is None else told.flag("strip_accents"),
        handle_chinese_chars=told.flag("tokenize_chinese_chars", True),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    if known := [token for token in BERTS if token in ids]:
        tokenizer.add_special_tokens(known)
    if "[CLS]" in ids and "[SEP]" in ids:
        ends = ((token, ids[token]) for token in ("[SEP]", "[CLS]"))
        tokenizer.post_processor = processors.BertProcessing(*ends)
    return tokenizer


def check_pieces(
    ids: Mapping[str, int], special: Iterable[str], vocab_size: int, whole: bool, file: Path
) -> None:
    """Raise a ValueError if a vocabulary lacks a piece, or numbers more than a model knows.

    whole: it has to number as many.
    """
    if missing := [piece for piece in special if piece not in ids]:
        raise ValueError(f"{file} lacks {missing[0]!r}: it is cut short, or of another kind.")
    last = max(ids.values())
    if last >= vocab_size or (whole and len(ids) != vocab_size):
        raise ValueError(
            f"{file} has {len(ids)} pieces up to number {last}, and the config.json beside it "
            f"tells of {vocab_size}: fetch both again."
        )
