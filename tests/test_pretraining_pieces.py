"""Tokenizers from their published files cut texts as `transformers`, the reference, does."""

import json
from pathlib import Path

import pytest
from published import offline, with_text

from utils.pretraining import read_pieces

BERTS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = ["a", "b", "e", "é", "B", "!", "京"]
WORDS = ["un", "##a", "##ff", "##able", "unable", "Un", "be", "\u2028", "##e", "##é", "bé"]
PIECES = [*BERTS, *LETTERS, *WORDS]
SCORED = [(letter, -3.0) for letter in "▁abeé!u"] + [("▁un", -2.0), ("able", -2.5), ("ab", -2.1)]
TEXTS = [
    "unaffable",
    "Unable, bé!  be",
    "UN 京京 a[MASK]b",
    "be\u00a0\tun\x00able ``x''",
    "",
    "unable" * 40,
]

reference = pytest.fixture(offline, scope="module")


def config(folder: Path, kind: str, vocab_size: int) -> Path:
    told = {"model_type": kind, "vocab_size": vocab_size}
    (folder / "config.json").write_text(json.dumps(told))
    return folder


def old_folder(folder: Path, kind: str = "bert", **told: object) -> Path:
    """A folder as BERT was published first, with its pieces as lines of a text."""
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True} | told))
    return config(folder, kind, len(PIECES))


@pytest.fixture(scope="module")
def made(reference):
    """Return a function from a kind to the reference's tokenizer, with which it fills a folder."""

    def made(kind: str, folder: Path):
        if kind == "albert":
            scored = [(token, 0.0) for token in ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")]
            tokenizer = reference.AlbertTokenizer(vocab=scored + SCORED)
        elif kind == "t5":
            scored = [(token, 0.0) for token in ("<pad>", "</s>", "<unk>")] + SCORED
            scored += [(f"<extra_id_{i}>", 0.0) for i in reversed(range(3))]
            tokenizer = reference.T5Tokenizer(vocab=scored, extra_ids=3)
        else:
            tokenizer = reference.BertTokenizer(vocab={p: i for i, p in enumerate(PIECES)})
        tokenizer.save_pretrained(folder)
        config(folder, kind, len(tokenizer) + 3)  # a model may have rows to spare
        return tokenizer

    return made


def assert_equal(ours, theirs, types: bool = True) -> None:
    for first in TEXTS:
        for second in (None, *filter(None, TEXTS)):  # the reference takes "" for none
            found = ours.encode(first, second)
            expected = theirs(first, second, return_token_type_ids=True)
            assert found.ids == expected["input_ids"]
            if types:
                assert found.type_ids == expected["token_type_ids"]
        ids = ours.encode(first).ids
        assert ours.decode(ids, skip_special_tokens=False) == theirs.decode(ids)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"do_lower_case": False},
        {"strip_accents": False},
        {"do_lower_case": False, "strip_accents": True},
        {"do_lower_case": False, "strip_accents": None},
        {"tokenize_chinese_chars": False},
    ],
)
@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_pieces_in_lines_cut_as_the_reference_does(kind, told, reference, tmp_path):
    ours = read_pieces(old_folder(tmp_path, kind, **told))
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    assert_equal(ours, reference.BertTokenizer(vocab=vocabulary, **told))
    assert ours.get_vocab() == vocabulary


@pytest.mark.parametrize("kind", ["bert", "distilbert", "albert", "t5"])
def test_one_file_cuts_as_the_reference_does(kind, made, tmp_path):
    theirs = made(kind, tmp_path)
    assert_equal(read_pieces(str(tmp_path)), theirs, types=kind != "t5")


def test_what_stands_around_a_text_is_what_its_model_expects(made, tmp_path):
    expected = {
        "bert": "[CLS] unable [MASK] [SEP] a [SEP]",
        "albert": "[CLS] ▁un able [MASK] [SEP] ▁ a [SEP]",
        "t5": "▁un able <extra_id_0> </s> ▁ a </s>",
    }
    for kind, pieces in expected.items():
        (tmp_path / kind).mkdir()
        made(kind, tmp_path / kind)
        hidden = "<extra_id_0>" if kind == "t5" else "[MASK]"
        found = read_pieces(tmp_path / kind).encode(f"unable{hidden}", "a")
        assert found.tokens == pieces.split()


def changed(change):
    """Change the table in tokenizer.json."""

    def changed(folder):
        told = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        change(told)
        (folder / "tokenizer.json").write_text(json.dumps(told))

    return changed


def without(name):
    return lambda folder: (folder / name).unlink()


def cut_short(name, share):
    def cut(folder):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: int(share * len(whole))])

    return cut


def without_token(folder):
    kept = [piece for piece in PIECES if piece != "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join(kept))


IN_LINES = {
    "no config": (without("config.json"), "/config.json .*No such file"),
    "no kind": (with_text("config.json", "{}"), "lacks 'model_type'"),
    "another kind": (
        with_text("config.json", '{"model_type": "gpt2"}'),
        "model_type = 'gpt2', .*'bert', 'distilbert', 'albert', 't5'",
    ),
    "two kinds": (
        with_text("config.json", '{"model_type": ["t5"]}'),
        r"model_type = \['t5'\]",
    ),
    "no size": (with_text("config.json", '{"model_type": "bert"}'), "lacks 'vocab_size'"),
    "a strange size": (
        with_text("config.json", '{"model_type": "bert", "vocab_size": "3"}'),
        "vocab_size = '3'",
    ),
    "no pieces": (without("vocab.txt"), r"vocab.txt .*No such file.* tokenizer\.json"),
    "no UTF-8": (
        lambda folder: (folder / "vocab.txt").write_bytes(b"\xff\xfe"),
        "vocab.txt .*UTF-8",
    ),
    "an empty file": (with_text("vocab.txt", ""), r"vocab.txt lacks '\[UNK\]'"),
    "cut short": (cut_short("vocab.txt", 0.9), r"vocab.txt .* 2\d pieces .* 2\d, "),
    "one more": (with_text("vocab.txt", "\n".join([*PIECES, "c"])), "vocab.txt .* 24 pieces"),
    "one twice": (
        with_text("vocab.txt", "\n".join([*PIECES[:-1], "a"])),
        "22 pieces .* 22, .*config.json .* 23",
    ),
    "no gap to fill": (without_token, r"vocab.txt lacks '\[MASK\]'"),
    "no settings": (without("tokenizer_config.json"), "tokenizer_config.json .*No such file"),
    "settings cut": (with_text("tokenizer_config.json", "{"), "tokenizer_config.json .*JSON"),
    "no case": (with_text("tokenizer_config.json", "{}"), "lacks 'do_lower_case'"),
    "a strange case": (
        with_text("tokenizer_config.json", '{"do_lower_case": "yes"}'),
        "do_lower_case = 'yes'",
    ),
    "strange accents": (
        with_text("tokenizer_config.json", '{"do_lower_case": true, "strip_accents": "no"}'),
        "strip_accents = 'no'",
    ),
    "strange characters": (
        with_text(
            "tokenizer_config.json", '{"do_lower_case": true, "tokenize_chinese_chars": null}'
        ),
        "tokenize_chinese_chars = None",
    ),
}
IN_ONE_FILE = {
    "cut short": (cut_short("tokenizer.json", 0.9), "tokenizer.json .*JSON"),
    "missing": (without("tokenizer.json"), "tokenizer.json .*No such file"),
    "a list": (with_text("tokenizer.json", "[1]"), "tokenizer.json .* list,"),
    "no model": (changed(lambda told: told.pop("model")), "tokenizer.json lacks 'type'"),
    "a strange model": (changed(lambda told: told.update(model=3)), "model = 3:"),
    "another model": (
        changed(lambda told: told["model"].update(type="BPE")),
        "type = 'BPE', .*'Unigram'",
    ),
    "no vocabulary": (
        changed(lambda told: told["model"].pop("vocab")),
        r"tokenizer.json .*whole tokenizer \(",
    ),
    "a key more": (
        changed(lambda told: told["pre_tokenizer"].update(type="Other")),
        r"tokenizer.json .*whole tokenizer \(",
    ),
    "too many": (
        lambda folder: config(folder, "t5", 7),
        "1. pieces .* 1., .*config.json .* 7:",
    ),
    "of another model": (lambda folder: config(folder, "albert", 99), r"lacks '\[CLS\]'"),
}


@pytest.mark.parametrize("change, message", IN_LINES.values(), ids=IN_LINES)
def test_lines_that_are_no_such_tokenizer_are_refused_in_a_sentence(change, message, tmp_path):
    refused_in_a_sentence(old_folder(tmp_path), change, message)


@pytest.mark.parametrize("change, message", IN_ONE_FILE.values(), ids=IN_ONE_FILE)
def test_a_file_that_is_no_such_tokenizer_is_refused(change, message, made, tmp_path):
    made("t5", tmp_path)
    refused_in_a_sentence(tmp_path, change, message)


def refused_in_a_sentence(folder, change, message):
    change(folder)
    with pytest.raises(ValueError, match=message) as refused:
        read_pieces(folder)
    sentence = str(refused.value)
    assert "\n" not in sentence and sentence.endswith(".")
