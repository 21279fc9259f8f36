"""The corpora are what the book says they are."""

import hashlib
import os

import pytest
from test_files import is_one_sentence

from utils.data import corpora, files

PARTS = ("train", "validation", "test")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The reader's own folder and an empty cache."""
    for variable in ("BOOK_DATA", "BOOK_CACHE"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    return tmp_path / "BOOK_DATA"


PLAY = "".join(f"{name}:\nI speak line {i}.\n\n" for i in range(300) for name in ("ALL", "ROMEO"))


@pytest.fixture
def play(mine, monkeypatch):
    (mine / "tinyshakespeare.txt").write_bytes(PLAY.encode())
    checksum = hashlib.sha256(PLAY.encode()).hexdigest()
    source = files.SOURCES["tinyshakespeare.txt"]._replace(sha256=checksum, size=len(PLAY))
    monkeypatch.setattr(files, "SOURCES", {"tinyshakespeare.txt": source})


def test_tiny_shakespeare_is_cut_between_speeches(play):
    assert corpora.tiny_shakespeare() == PLAY
    parts = [corpora.tiny_shakespeare(part) for part in PARTS]
    assert "".join(parts) == PLAY
    for part, share in zip(parts, (0.9, 0.05, 0.05), strict=True):
        assert part.startswith(("ALL:", "ROMEO:")) and part.endswith(".\n\n")
        assert len(part) / len(PLAY) == pytest.approx(share, abs=0.005)
    with pytest.raises(ValueError, match="'all'"):
        corpora.tiny_shakespeare("all")


def test_tiny_shakespeare_refuses_another_text(mine):
    (mine / "tinyshakespeare.txt").write_text("To be, or not to be\n")
    with pytest.raises(files.DatasetError, match="20 .* 1,115,394 ") as caught:
        corpora.tiny_shakespeare()
    is_one_sentence(caught.value)


def sentence_pairs(n):
    """n English sentences, the first with three translations; two lines have the authors."""
    lines = ["Hi.\t嗨。\tCC-BY: A & B", "Hi.\t你好。\tCC-BY: A & C", "Hi.\t你\u2028好！"]
    return lines + [f"I see {i} cats.\t我看见{i}只猫。" for i in range(n - 1)]


@pytest.mark.parametrize("place", ["BOOK_DATA", "BOOK_CACHE"])
def test_tatoeba_keeps_a_sentence_with_all_its_translations_in_one_part(mine, place):
    text = "\n".join(sentence_pairs(200)) + "\n"
    (mine.parent / place / corpora.TATOEBA).write_text(text, encoding="utf-8")
    pairs = corpora.tatoeba()
    sentences = [{english for english, _ in part} for part in pairs]
    assert [len(part) for part in sentences] == [160, 20, 20]
    assert len(set.union(*sentences)) == 200
    everything = sorted(pair for part in pairs for pair in part)
    assert everything == sorted(tuple(line.split("\t")[:2]) for line in sentence_pairs(200))
    assert corpora.tatoeba() == pairs
    assert corpora.tatoeba(seed=1).test != pairs.test


def test_tatoeba_says_where_it_can_be_had(mine, monkeypatch):
    with pytest.raises(files.DatasetError, match="www.manythings.org/anki") as caught:
        corpora.tatoeba()
    is_one_sentence(caught.value)
    assert str(mine / corpora.TATOEBA) in str(caught.value)
    monkeypatch.delenv("BOOK_DATA")
    with pytest.raises(files.DatasetError, match="BOOK_CACHE"):
        corpora.tatoeba()


DAMAGED_PAIRS = {
    "empty": (b"", "empty"),
    "cut": ("Hi.\t嗨。\nRun".encode(), "cut .* 2:"),
    "cut in a letter": ("Hi.\t嗨。\nRun.\t你".encode()[:-1], "UTF-8"),
    "no tab": ("Hi. 嗨。\n".encode(), "pair .* 1:"),
    "no translation": ("Hi.\t嗨。\nRun.\t\n".encode(), "pair .* 2:"),
    "four columns": (b"a\tb\tc\td\n", "pair .* 1:"),
    "an error page": (b"<html>\nNot found\n", "pair .* 1:"),
}


@pytest.mark.parametrize("damage", DAMAGED_PAIRS)
def test_damaged_pairs_are_described(mine, damage):
    content, says = DAMAGED_PAIRS[damage]
    (mine / corpora.TATOEBA).write_bytes(content)
    with pytest.raises(files.DatasetError, match=f"{corpora.TATOEBA} .*{says}") as caught:
        corpora.tatoeba()
    is_one_sentence(caught.value)
    assert str(mine / corpora.TATOEBA) in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_first_sentence(mine):
    lines = "\n".join(sentence_pairs(10)) + "\n"
    (mine / corpora.TATOEBA).write_text(lines, encoding="utf-8-sig")
    assert "Hi." in corpora.read_pairs(mine / corpora.TATOEBA)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pairs_that_come_through_a_pipe(mine):
    os.mkfifo(mine / corpora.TATOEBA)
    with pytest.raises(files.DatasetError, match=f"{corpora.TATOEBA} .*ordinary") as caught:
        corpora.tatoeba()
    is_one_sentence(caught.value)


def test_a_folder_of_pairs_that_does_not_exist_is_said(mine, monkeypatch):
    monkeypatch.setenv("BOOK_DATA", str(mine / "missing"))
    with pytest.raises(files.DatasetError, match="BOOK_DATA.*no folder"):
        corpora.tatoeba()


def test_pairs_that_cannot_be_read(mine):
    (mine / corpora.TATOEBA).mkdir()
    with pytest.raises(files.DatasetError, match=f"{corpora.TATOEBA} .*ordinary") as caught:
        corpora.tatoeba()
    is_one_sentence(caught.value)


ARTICLES = """"3","Oil falls","Prices fell, he said: ""a little""."
"2","Giants win","They won \\in the end."
"""


@pytest.fixture
def articles(mine, monkeypatch):
    sums = {part: hashlib.md5(ARTICLES.encode()).hexdigest() for part in ("train", "test")}
    monkeypatch.setattr(corpora, "AG_NEWS", sums)
    for part in sums:
        (mine / f"ag_news_{part}.csv").write_text(ARTICLES)
    return mine


def test_articles_have_a_title_a_description_and_a_topic(articles):
    first, second = corpora.ag_news("train")
    assert first == ("Oil falls", 'Prices fell, he said: "a little".', 2)
    assert corpora.TOPICS[first.label] == "business" and corpora.TOPICS[second.label] == "sports"
    assert corpora.ag_news("test") == [first, second]
    with pytest.raises(ValueError, match="'dev'"):
        corpora.ag_news("dev")


def test_articles_are_refused_if_they_are_not_the_original(articles):
    file = articles / "ag_news_test.csv"
    for content, says in [
        (ARTICLES.replace("Oil", "Gas"), "MD5"),
        (ARTICLES[:-1], "cut .* 2:"),
        ("", "empty"),
    ]:
        file.write_text(content)
        with pytest.raises(files.DatasetError, match=f"{file.name} .*{says}") as caught:
            corpora.ag_news("test")
        is_one_sentence(caught.value)
        assert str(file) in str(caught.value)
    file.unlink()
    with pytest.raises(files.DatasetError, match=f"{file.name} .* test.csv ") as caught:
        corpora.ag_news("test")
    is_one_sentence(caught.value)
