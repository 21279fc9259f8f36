"""Tokens: what is cut joins again, both ways of learning agree, and the library says the same."""

import json
import random
import time
from itertools import pairwise

import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from benchmarks import tokens as benchmark
from utils.data.docstrings import docstring_text
from utils.data.text import BOS, EOS, PAD, SPECIAL, UNK
from utils.tokens import (
    BytePairs,
    byte_words,
    characters,
    learn_merges,
    learn_merges_indexed,
    merge_step,
    pre_tokens,
    read_byte_pairs,
    replace_pair,
    words,
)
from utils.tokens.published import BYTE_OF

BOOK = docstring_text("train")
ODD = {
    "emoji": "😀👩‍👩‍👧 🇨🇭!! 👍🏽 ok",
    "Chinese": "今天天气很好，我们去公园。 你好 world 你好",
    "combining marks": "cafe\u0301 e\u0302\u0323 n\u0303o \u0301x हिन्दी ไทย",
    "spaces": "  a   b\t\tc \n\n  d\r\n   ",
    "numbers": "3.14 ²½ Ⅷ ٣٤ 1,000,000",
    "apostrophes": "it's We'll they’ve 'tis DON'T rock'n'roll",
    "marks": "x<-y; #!@%^&*()_+{}[] -- ... “quoted” __init__",
    "control": "a\x00b\x1f\x7f\u200b\u2028z",
    "one letter": "a" * 50 + " " + "ab" * 30,
}


# Cutting ------------------------------------------------------------------------------------------


def test_words_keep_their_apostrophes_and_marks_stand_alone():
    text = "It isn't 3.5 (Bahdanau's) cafe\u0301, d’accord?"
    expected = "It isn't 3 . 5 ( Bahdanau's ) cafe\u0301 , d’accord ?".split()
    assert words(text) == expected
    assert words("The the", lower=True) == ["the", "the"] and words("The") == ["The"]
    assert words(" \n") == words("") == []


def test_characters_are_code_points():
    assert characters("cafe\u0301 😀") == ["c", "a", "f", "e", "\u0301", " ", "😀"]


@pytest.mark.parametrize("text", [*ODD.values(), BOOK[:20_000], ""], ids=[*ODD, "book", "empty"])
def test_pre_tokens_join_again_and_are_the_librarys(text):
    pieces = pre_tokens(text)
    assert "".join(pieces) == text and "" not in pieces
    library = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert [piece.encode() for piece in pieces] == [
        bytes(BYTE_OF[letter] for letter in piece) for piece, _ in library
    ]


def test_what_a_pattern_leaves_out_is_a_piece():
    assert pre_tokens("12ab3 c", r"\d+") == ["12", "ab", "3", " c"]
    assert pre_tokens("ab12", r"(\d)(\d)") == pre_tokens("ab12", r"\d\d") == ["ab", "12"]


# Learning -----------------------------------------------------------------------------------------


def test_a_pair_is_replaced_from_left_to_right():
    assert replace_pair([1, 1, 1], (1, 1), 9) == [9, 1]
    assert replace_pair([1, 1, 1, 1, 2], (1, 1), 9) == [9, 9, 2]
    assert replace_pair([2, 1, 2, 1, 2], (1, 2), 9) == [2, 9, 9]
    assert replace_pair([1], (1, 1), 9) == [1]


def test_pairs_are_counted_in_words_as_often_as_the_words_stand_there_and_ties_fall_low():
    assert merge_step([[1, 2], [3, 4]], [2, 3], 9) == ((3, 4), [[1, 2], [9]])
    assert merge_step([[3, 4], [1, 9], [1, 2]], [1, 1, 1], 10)[0] == (1, 2)
    assert merge_step([[5, 5, 5], [2, 3]], [1, 1], 9)[0] == (5, 5)  # at two places
    given = [[1, 2], [1, 2]]
    merge_step(given, [1, 1], 9)
    assert given == [[1, 2], [1, 2]]


def test_no_merge_reaches_across_words():
    merges = learn_merges("ab ab ab ab", 2)
    assert merges == [(97, 98), (32, 256)]
    with pytest.raises(ValueError, match="no pair"):
        learn_merges("ab ab ab ab", 3)


def counted_by_hand(text: str, n_merges: int) -> list[tuple[int, int]]:
    """Merges counted in the text itself, word by word, with no distinct words and no index."""
    cut = [list(piece.encode()) for piece in pre_tokens(text)]
    merges = []
    for new in range(256, 256 + n_merges):
        found = [pair for word in cut for pair in pairwise(word)]
        most = max(found.count(pair) for pair in set(found))
        merges.append(min(pair for pair in set(found) if found.count(pair) == most))
        for word in cut:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == merges[-1]:
                    word[i : i + 2] = [new]
                i += 1
    return merges


@pytest.mark.parametrize("text", [BOOK[:3000], ODD["one letter"], ODD["Chinese"]])
@pytest.mark.parametrize("learn", [learn_merges, learn_merges_indexed])
def test_merges_are_those_that_are_counted_by_hand(learn, text):
    assert learn(text, 12) == counted_by_hand(text, 12)


@pytest.mark.parametrize("seed", range(20))
def test_both_ways_learn_the_same_until_no_pair_is_left(seed):
    chance = random.Random(seed)
    letters = "ab" if seed % 2 else "abcde"
    text = " ".join("".join(chance.choices(letters, k=chance.randint(1, 12))) for _ in range(40))
    (left, counts), merges = byte_words(text), []
    while any(len(word) > 1 for word in left):
        pair, left = merge_step(left, counts, 256 + len(merges))
        merges.append(pair)
    assert len(merges) > 20 and learn_merges_indexed(text, len(merges)) == merges
    made = BytePairs.from_merges(merges).ids
    assert len(made) == 256 + len(merges)  # no token is made twice
    with pytest.raises(ValueError, match="no pair"):
        learn_merges_indexed(text, len(merges) + 1)


def test_both_ways_learn_the_same_from_the_book():
    assert learn_merges_indexed(BOOK[:50_000], 150) == learn_merges(BOOK[:50_000], 150)
    assert learn_merges("text", 0) == learn_merges_indexed("text", 0) == []


def test_four_thousand_merges_of_a_megabyte_take_less_than_twenty_seconds():
    text = benchmark.megabyte()
    assert len(text.encode()) > 1_000_000 and len(byte_words(text)[0]) > 20_000
    start = time.process_time()
    merges = learn_merges_indexed(text, benchmark.N_MERGES)
    assert time.process_time() - start < 20
    assert len(merges) == len(set(merges)) == 4000


# Encoding -----------------------------------------------------------------------------------------


def test_the_example_of_minbpe():
    tokens = BytePairs.from_merges(learn_merges("aaabdaaabac", 3))
    assert tokens.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokens.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
    assert tokens.pieces([258, 99]) == [b"aaab", b"c"] and len(tokens) == 259


@pytest.fixture(scope="module")
def merges():
    return learn_merges_indexed(BOOK, 2000)


@pytest.fixture(scope="module")
def tokens(merges):
    return BytePairs.from_merges(merges)


@pytest.mark.parametrize("text", [*ODD.values(), docstring_text("test")], ids=[*ODD, "book"])
def test_decoding_gives_the_text_back(tokens, text):
    ids = tokens.encode(text)
    assert tokens.decode(ids) == tokens.decode(torch.tensor(ids)) == text
    assert b"".join(tokens.pieces(ids)) == text.encode()
    assert all(0 <= n < len(tokens) == 2256 for n in ids)


def test_merges_are_applied_in_the_order_in_which_they_were_learned():
    merges = [(98, 99), (97, 98), (97, 256), (100, 258)]  # bc, ab, abc, dabc
    tokens = BytePairs.from_merges(merges)
    assert tokens.pieces(tokens.encode("abc")) == [b"abc"]
    assert tokens.pieces(tokens.encode("abd")) == [b"ab", b"d"]
    assert tokens.pieces(tokens.encode("dabcab")) == [b"dabc", b"ab"]
    other = BytePairs.from_merges([(97, 98), (98, 99), (97, 257)])  # ab, bc, abc
    assert other.pieces(other.encode("abc")) == [b"ab", b"c"]


def test_special_tokens_get_the_first_numbers_and_stand_for_no_text(merges):
    tokens = BytePairs.from_merges(merges[:5], special=SPECIAL)
    assert [tokens.special[name] for name in SPECIAL] == [PAD, BOS, EOS, UNK]
    plain = BytePairs.from_merges(merges[:5])
    text = "the <eos> 😀"
    assert tokens.encode(text) == [n + 4 for n in plain.encode(text)]
    assert tokens.decode([BOS, *tokens.encode(text), EOS]) == f"<bos>{text}<eos>"
    assert len(tokens) == len(plain) + 4 == 265


def test_halves_of_letters_are_replaced():
    tokens = BytePairs.from_merges([])
    ids = tokens.encode("é!")
    assert ids == [0xC3, 0xA9, 0x21]
    assert tokens.decode(ids[1:]) == "\ufffd!" and tokens.pieces(ids[1:]) == [b"\xa9", b"!"]
    assert tokens.encode("") == [] and tokens.decode([]) == ""


# The library --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [BOOK, " ".join(ODD.values()) * 3], ids=["book", "odd"])
def test_the_library_learns_the_same_merges(text):
    ours = learn_merges_indexed(text, 150 if len(text) < 10_000 else 2000)
    library = benchmark.library_learns(text, len(ours))
    told = json.loads(library.to_str())["model"]
    assert [(told["vocab"][a], told["vocab"][b]) for a, b in told["merges"]] == ours


def library_of(tokens: BytePairs, merges, cut=None) -> Tokenizer:
    """The library's tokeniser with the same vocabulary and merges, its own code from there on."""
    letter = {byte: letter for letter, byte in BYTE_OF.items()}
    named = {token: "".join(letter[byte] for byte in token) for token in tokens.ids}
    of = {number: named[token] for token, number in tokens.ids.items()}
    model = models.BPE(
        vocab={of[number]: number for number in sorted(of)},
        merges=[(of[a], of[b]) for a, b in merges],
        ignore_merges=tokens.ignore_merges,
    )
    library = Tokenizer(model)
    library.pre_tokenizer = cut or pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    return library


@pytest.mark.parametrize("text", [*ODD.values(), docstring_text()], ids=[*ODD, "book"])
def test_the_library_encodes_and_decodes_the_same(tokens, merges, text):
    library = library_of(tokens, merges)
    ids = tokens.encode(text)
    assert ids == library.encode(text).ids
    assert tokens.decode(ids) == library.decode(ids)
    assert tokens.decode(ids[1::2]) == library.decode(ids[1::2])


# Published files ----------------------------------------------------------------------------------

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def gpt2_files(folder, tokens: BytePairs, merges) -> Tokenizer:
    """A folder as GPT-2's, numbered in the order of its letters, and the library's tokeniser."""
    library = library_of(tokens, merges)
    told = json.loads(library.to_str())["model"]
    singles = sorted(letter for letter in told["vocab"] if len(letter) == 1)
    order = [*singles, *(a + b for a, b in told["merges"]), "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(order)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in told["merges"]), ""]
    (folder / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    read = models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    other = Tokenizer(read)
    other.pre_tokenizer, other.decoder = library.pre_tokenizer, library.decoder
    return other


def test_files_as_gpt2_publishes_them(tmp_path, tokens, merges):
    library = gpt2_files(tmp_path, tokens, merges)
    read = read_byte_pairs(tmp_path)
    assert read.special == {"<|endoftext|>": 2256} and len(read) == 2257
    assert read.encode("!") == [0] and read.encode(" ") != tokens.encode(" ")
    for text in (*ODD.values(), docstring_text("validation")):
        assert read.encode(text) == library.encode(text).ids
        assert read.decode(read.encode(text)) == text
    assert read.decode([2256]) == "<|endoftext|>" and 2256 not in read.encode("<|endoftext|>")


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_a_file_as_llama_publishes_it(tmp_path, tokens, merges, ignore_merges):
    whole = {
        **tokens.ids,
        b"hello": 2256,
        b"\xe4\xbb\x8a\xe5\xa4\xa9": 2257,
    }  # no merge makes these
    ours = BytePairs(whole, [], pattern=LLAMA_3, ignore_merges=ignore_merges)
    split = pre_tokenizers.Split(Regex(LLAMA_3), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library = library_of(ours, merges, pre_tokenizers.Sequence([split, byte_level]))
    library.add_special_tokens(["<|begin_of_text|>"])
    library.save(str(tmp_path / "tokenizer.json"))
    read = read_byte_pairs(tmp_path)
    assert read.special == {"<|begin_of_text|>": 2258} and read.ignore_merges is ignore_merges
    for text in (*ODD.values(), "hello 今天", docstring_text("validation")):
        assert read.encode(text) == library.encode(text).ids
    assert (2256 in read.encode("hello")) is ignore_merges
    told = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    del told["model"]["ignore_merges"]  # as in files of older versions
    (tmp_path / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    assert read_byte_pairs(tmp_path).ignore_merges is False


def test_a_file_as_gpt2_publishes_it_in_one(tmp_path, tokens, merges):
    library_of(tokens, merges).save(str(tmp_path / "tokenizer.json"))
    read = read_byte_pairs(str(tmp_path))
    assert read.encode(BOOK[:5000]) == tokens.encode(BOOK[:5000]) and not read.special
    told = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    told["model"]["merges"] = [" ".join(pair) for pair in told["model"]["merges"]]  # as before 2024
    (tmp_path / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    assert read_byte_pairs(tmp_path).encode(BOOK[:5000]) == tokens.encode(BOOK[:5000])


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: learn_merges("", 3), "text is empty"),
        (lambda: learn_merges_indexed("", 3), "text is empty"),
        (lambda: learn_merges("ab", -1), "n_merges .* -1"),
        (lambda: learn_merges_indexed("ab", 1.5), "n_merges .* 1.5"),
        (lambda: learn_merges("ab", 2), "no pair"),
        (lambda: merge_step([[1], [2]], [1, 1], 9), "no pair"),
        (lambda: learn_merges(b"ab", 1), r"\(str\), .* bytes:"),
        (lambda: words(["a"]), r"\(str\), .* list:"),
        (lambda: characters(3), r"\(str\), .* int:"),
        (lambda: pre_tokens("ab\udcffc"), r"Letter 2 .*'\\udcff'"),
        (lambda: BytePairs.from_merges([(97, 256)]), "Merge 0 .* 97 .* 256,"),
        (lambda: BytePairs.from_merges([(-1, 97)]), "Merge 0 .* -1 .* 97,"),
        (lambda: BytePairs({b"a": 0}, []), r"b'\\x00' .*no number"),
        (lambda: BytePairs.from_merges([]).decode([97, 256]), " 256: .* 255"),
        (lambda: BytePairs.from_merges([]).pieces([-1]), " -1: .* 255"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(call, says):
    with pytest.raises(ValueError, match=says):
        call()


ALL = {bytes([byte]): byte for byte in range(256)}


@pytest.mark.parametrize(
    ("ids", "merges", "special", "says"),
    [
        (ALL, [(b"a", b"b")], {}, "b'ab' .*no number"),
        (ALL | {b"ab": 256}, [(b"a", b"b"), (b"ab", b"c")], {}, "b'abc' .*no number"),
        (ALL | {b"ab": 97}, [(b"a", b"b")], {}, "Two tokens .* 97:"),
        (ALL, [], {"<pad>": 3}, "Two tokens .* 3:"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(ids, merges, special, says):
    with pytest.raises(ValueError, match=says):
        BytePairs(ids, merges, special)


def changed(folder, **parts):
    """Write a tokenizer.json with other parts in it."""
    told = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    for name, part in parts.items():
        told[name] = told[name] | part if isinstance(part, dict) and told[name] else part
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")


BYTES = {"type": "ByteLevel", "use_regex": True}  # what is left out is true, as in the library
ADDED = {"content": "   ", "id": 3, "special": True}
OF_STEPS = {"type": "Sequence"}


OF_SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}


def split(**how):
    """Parts of a tokenizer.json whose text is cut by a pattern of its own."""
    last = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    return {"pre_tokenizer": OF_STEPS | {"pretokenizers": [OF_SPLIT | how, last]}}


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"model": {"type": "Unigram"}}, "type = 'Unigram'"),
        ({"model": {"byte_fallback": True}}, "byte_fallback = True"),
        ({"normalizer": {"type": "NFC"}}, "normalizer = "),
        ({"pre_tokenizer": {"type": "Metaspace"}}, r"pre_tokenizer = \['Metaspace'\]"),
        ({"pre_tokenizer": {"add_prefix_space": True}}, "add_prefix_space = True"),
        ({"pre_tokenizer": {"use_regex": False}}, "use_regex = False"),
        ({"model": {"merges": ["a b c"]}}, "merge .*'a b c'"),
        ({"model": {"merges": [["a"]]}}, r"merge .*\['a'\]"),
        ({"model": {"vocab": {"▁the": 0}}}, "'▁the' .*'▁'"),
        ({"model": {"vocab": {"a": 0}}}, "b'.*' .*no number"),
        ({"model": {"continuing_subword_prefix": "##"}}, "continuing_subword_prefix = '##'"),
        ({"model": {"end_of_word_suffix": "</w>"}}, "end_of_word_suffix = '</w>'"),
        ({"model": {"dropout": 0.1}}, "dropout = 0.1"),
        ({"model": {"ignore_merges": "no"}}, "ignore_merges = 'no'"),
        ({"model": None}, "lacks 'type'"),
        ({"model": ["BPE"]}, r"model = \['BPE'\]"),
        ({"model": {"vocab": ["a"]}}, r"vocab = \['a'\]"),
        ({"model": {"vocab": {"a": "0"}}}, "token 'a' .* '0':"),
        ({"model": {"vocab": {"a": -1}}}, "token 'a' .* -1:"),
        ({"model": {"vocab": {"a": True}}}, "token 'a' .* True:"),
        ({"model": {"merges": None}}, "NoneType .*merges"),
        ({"model": {"merges": [3]}}, "merge .* 3:"),
        ({"model": {"merges": [[1, 2]]}}, r"merge .*\[1, 2\]"),
        ({"added_tokens": {"a": 1}}, "added_tokens = {'a': 1}"),
        ({"added_tokens": ["a"]}, r"added_tokens = \['a'\]"),
        ({"added_tokens": [{"content": "a", "special": True}]}, "lacks 'id'"),
        ({"added_tokens": [{"id": 3, "special": True}]}, "lacks 'content'"),
        ({"added_tokens": [ADDED | {"id": 97.5}]}, " 97.5:"),
        ({"added_tokens": [ADDED | {"content": [3]}]}, r"content = \[3\]: it is a text"),
        ({"added_tokens": [ADDED | {"content": 3}]}, "content = 3: it is a text"),
        ({"added_tokens": [ADDED | {"special": False}]}, "added token '   '"),
        ({"pre_tokenizer": None}, r"pre_tokenizer = \[None\]"),
        ({"pre_tokenizer": ["ByteLevel"]}, r"pre_tokenizer = \['ByteLevel'\]:"),
        ({"pre_tokenizer": OF_STEPS | {"pretokenizers": None}}, r"pre_tokenizer = \[\]"),
        (
            {"pre_tokenizer": OF_STEPS | {"pretokenizers": ["Split"]}},
            r"tokenizers = \['Split'\]",
        ),
        ({"pre_tokenizer": OF_STEPS | {"pretokenizers": [BYTES]}}, "add_prefix_space = True"),
        (
            {"pre_tokenizer": OF_STEPS | {"pretokenizers": [OF_SPLIT, {"type": "ByteLevel"}]}},
            "add_prefix_space = True",
        ),
        (
            {
                "pre_tokenizer": OF_STEPS
                | {"pretokenizers": [OF_SPLIT, {"type": "ByteLevel", "add_prefix_space": False}]}
            },
            "use_regex = True",
        ),
        (split(invert=True), "invert = True"),
        (split(behavior="Removed"), "behavior = 'Removed'"),
        (split(pattern=None), "lacks 'Regex'"),
        (split(pattern=" "), "pattern = ' ':"),
        (split(pattern={"Regex": 3}), "pattern = {'Regex': 3}"),
        (split(pattern={"Regex": "("}), r"pattern .*\(missing"),
        (split(pattern={"String": ""}), "pattern = {'String': ''}"),
    ],
)
def test_another_kind_of_file_is_refused(tmp_path, tokens, merges, parts, says):
    library_of(tokens, merges).save(str(tmp_path / "tokenizer.json"))
    changed(tmp_path, **parts)
    with pytest.raises(ValueError, match=says):
        read_byte_pairs(tmp_path)


def test_a_text_may_be_cut_at_a_word_that_is_no_pattern(tmp_path, tokens, merges):
    at_dots = pre_tokenizers.Split("..", "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library = library_of(tokens, merges, pre_tokenizers.Sequence([at_dots, byte_level]))
    library.save(str(tmp_path / "tokenizer.json"))
    for text in ("he..hello ... hellohello", BOOK[:3000]):
        assert read_byte_pairs(tmp_path).encode(text) == library.encode(text).ids


def test_of_a_merge_that_stands_twice_the_last_counts_as_in_the_library(tmp_path):
    ids = ALL | {b"ab": 256, b"bc": 257}
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"b")]
    library = library_of(BytePairs(ids, merges), [(97, 98), (98, 99)])
    told = json.loads(library.to_str())
    told["model"]["merges"] = [["a", "b"], ["b", "c"], ["a", "b"]]
    library = Tokenizer.from_str(json.dumps(told))
    (tmp_path / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    assert library.encode("abc").ids == [97, 257] == BytePairs(ids, merges).encode("abc")
    assert read_byte_pairs(tmp_path).encode("abc") == [97, 257]


def test_files_that_are_missing_or_cut_short_are_named(tmp_path, tokens, merges):
    with pytest.raises(ValueError, match="vocab.json .*No such file"):
        read_byte_pairs(tmp_path)
    gpt2_files(tmp_path, tokens, merges)
    whole = (tmp_path / "merges.txt").read_text(encoding="utf-8")
    for cut in (whole[:500], whole[: whole.rindex("\n", 0, 500)]):
        (tmp_path / "merges.txt").write_text(cut, encoding="utf-8")
        with pytest.raises(ValueError, match="merge.* cut short"):
            read_byte_pairs(tmp_path)
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(ValueError, match="merges.txt .*No such file"):
        read_byte_pairs(tmp_path)
    vocabulary = (tmp_path / "vocab.json").read_text(encoding="utf-8")
    for told, says in ((vocabulary[:-9], "JSON"), ("[]", " list,")):
        (tmp_path / "vocab.json").write_text(told, encoding="utf-8")
        with pytest.raises(ValueError, match=f"/vocab.json .*{says}"):
            read_byte_pairs(tmp_path)
    (tmp_path / "vocab.json").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="/vocab.json .*JSON"):
        read_byte_pairs(tmp_path)
