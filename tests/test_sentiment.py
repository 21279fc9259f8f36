"""SST-2: what its files have to be, and which of its splits leak."""

import pytest
from test_files import is_one_sentence

from utils.data import files, sentiment
from utils.data.sentiment import (
    Phrase,
    grouped_split,
    groups,
    random_split,
)

HEADER = "sentence\tlabel\n"


def phrase(text: str, label: int = 1) -> Phrase:
    return Phrase(tuple(text.split()), label)


def branches(n: int) -> list[Phrase]:
    """n sentences of eight words, each with six branches; two words are in all of them."""
    sentences = [f"the w{i} x{i} y{i} z{i} is rather v{i}".split() for i in range(n)]
    spans = [(0, 8), (0, 5), (1, 5), (3, 5), (5, 8), (6, 8), (0, 2)]
    return [Phrase(tuple(words[a:b]), i % 2) for i, words in enumerate(sentences) for a, b in spans]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The reader's own folder with small files, and an empty cache."""
    for variable in ("BOOK_DATA", "BOOK_CACHE"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(sentiment, "PHRASES", 3)
    monkeypatch.setattr(sentiment, "SENTENCES", 2)
    folder = tmp_path / "BOOK_DATA"
    (folder / "sst2_train.tsv").write_text(HEADER + "a good film \t1\nso dull \t0\na film \t1\n")
    (folder / "sst2_official_dev.tsv").write_text(HEADER + "it is good .\t1\nit 's dull\t0\n")
    return folder


def test_phrases_and_sentences_are_read(mine):
    phrases, sentences = sentiment.sst2()
    assert phrases == [phrase("a film"), phrase("a good film"), phrase("so dull", 0)]
    assert sentences == [phrase("it is good ."), phrase("it 's dull", 0)]


def test_it_makes_no_difference_in_which_file_a_phrase_is(mine):
    whole = sentiment.sst2()
    (mine / "sst2_train.tsv").write_text(HEADER + "so dull \t0\n")
    (mine / "sst2_dev.tsv").write_text(HEADER + "a film \t1\na good film \t1\n")
    assert sentiment.sst2() == whole


DAMAGED = {
    "empty": ("", "empty"),
    "no header": ("a film \t1\nso dull \t0\n", "header .* 1:"),
    "no label": (HEADER + "a film\t1\nso dull\n", "phrase .* 3:"),
    "another label": (HEADER + "a film\t2\n", "phrase .* 2:"),
    "no words": (HEADER + " \t1\n", "phrase .* 2:"),
    "cut": (HEADER + "a film\t1\nso d", "cut .* 3:"),
    "too few": (HEADER + "a film\t1\n", r"\(1 phrases"),
}


@pytest.mark.parametrize("name", ["sst2_train.tsv", "sst2_official_dev.tsv"])
@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_described(mine, name, damage):
    content, says = DAMAGED[damage]
    (mine / name).write_text(content)
    with pytest.raises(files.DatasetError, match=f"{name} .*{says}") as caught:
        sentiment.sst2()
    is_one_sentence(caught.value)
    assert str(mine / name) in str(caught.value)


@pytest.mark.parametrize("name", ["sst2_train.tsv", "sst2_official_dev.tsv"])
def test_a_missing_file_is_said_with_where_it_can_be_had(mine, name):
    (mine / name).unlink()
    with pytest.raises(files.DatasetError, match=f"{name} .*SST-2.zip") as caught:
        sentiment.sst2()
    is_one_sentence(caught.value)


def test_a_phrase_is_with_the_longest_that_contains_it():
    texts = "good", "a good film", "it was a good film", "good film", "film was good", "a dull one"
    found = groups([tuple(text.split()) for text in texts])
    assert found == [0, 0, 0, 0, 2, 1]  # "film was good" contains "good" too, but is shorter
    assert groups([("b",), ("a",), ("b",)]) == [1, 0, 1]
    assert groups([("a", "b"), ("b", "a"), ("a", "c", "b")]) == [1, 2, 0]  # not word for word


@pytest.mark.parametrize("split", [random_split, grouped_split])
def test_parts_hold_everything_once(split):
    phrases = branches(100)
    parts = split(phrases)
    assert sorted(p for part in parts for p in part) == sorted(phrases)
    for part, share in zip(parts, (0.8, 0.1, 0.1), strict=True):
        assert len(part) / len(phrases) == pytest.approx(share, abs=0.01)
    assert split(phrases) == parts and split(phrases, seed=1) != parts


def leaked(part, train) -> float:
    """Share of phrases that lie word for word inside a phrase of the training part."""
    read = " | ".join(" ".join(phrase.words) for phrase in train)
    return sum(f" {' '.join(phrase.words)} " in f" {read} " for phrase in part) / len(part)


def test_a_random_split_leaks_and_groups_do_not():
    phrases = branches(100)
    leaks = {}
    for split in (random_split, grouped_split):
        train, validation, test = split(phrases)
        leaks[split] = [leaked(part, train) for part in (validation, test)]
    assert min(leaks[random_split]) > 0.5
    assert leaks[grouped_split] == [0, 0]


def test_the_branches_of_a_sentence_stay_together():
    numbers = [{int(p.words[-1][1:]) for p in part} for part in grouped_split(branches(50))]
    assert sum(map(len, numbers)) == 50
