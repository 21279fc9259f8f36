"""The data is what the book says it is, and a file that is not leaves a sentence and no trace."""

import gzip
import hashlib
import re
import socket
import struct
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pooch
import pytest
import sklearn.datasets
import torch

from utils import ROOT
from utils.data import datasets

README = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
PARTS = ("train", "validation", "test")


def is_one_sentence(error):
    text = str(error)
    assert text.endswith(".") and "\n" not in text and ". " not in text and ": " in text
    shown = "".join(traceback.format_exception(error))
    assert "pooch" not in shown.replace("pooch.retrieve(", "") and "During handling" not in shown


def altered(content):
    """The same with one bit flipped in the middle."""
    half = len(content) // 2
    return content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]


# Digits, photographs


def places(part, images):
    """Where the images (B, 1, 8, 8) of a part stand in scikit-learn's file."""
    rows = {row.tobytes(): i for i, row in enumerate(images)}
    assert len(rows) == len(images)  # no picture is there twice
    return [rows[image.tobytes()] for image in part.images[:, 0].numpy()]


@pytest.mark.parametrize("split", ["random", "file order"])
def test_digits_are_divided_without_loss_or_overlap(split):
    bunch = sklearn.datasets.load_digits()
    dataset = datasets.digits(split)
    found = []
    for name, size in zip(PARTS, (1221, 216, 360), strict=True):
        part = getattr(dataset, name)
        assert part.images.shape == (size, 1, 8, 8) and part.images.dtype == torch.float32
        assert part.labels.shape == (size,) and part.labels.dtype == torch.int64
        here = places(part, (bunch.images / 16).astype(np.float32))
        assert np.array_equal(part.labels, bunch.target[here])
        found += here
    assert sorted(found) == list(range(1797))
    assert (found == list(range(1797))) == (split == "file order")
    assert dataset.train.images.min() == 0 and dataset.train.images.max() == 1
    assert dataset.class_names == tuple("0123456789")


def test_random_split_hangs_on_the_seed_and_keeps_the_classes_in_proportion():
    first, again, other = (datasets.digits(seed=seed) for seed in (0, 0, 1))
    for name in PARTS:
        part = getattr(first, name)
        assert torch.equal(part.images, getattr(again, name).images)
        assert torch.equal(part.labels, getattr(again, name).labels)
        assert not torch.equal(part.images, getattr(other, name).images)
        counts = part.labels.bincount(minlength=10)
        assert counts.max() - counts.min() <= len(part.labels) / 100


def test_file_order_has_no_chance_in_it():
    for name in PARTS:
        one, two = (getattr(datasets.digits("file order", seed), name) for seed in (0, 1))
        assert torch.equal(one.images, two.images)


def test_file_order_has_no_form_in_both_training_and_test():
    labels = "".join(map(str, sklearn.datasets.load_digits().target))
    forms = [m.start() for m in re.finditer("09556509898417", labels)]  # on every form, once
    assert len(forms) == 14 and all(110 <= gap <= 140 for gap in np.diff(forms))
    train_end, test_start = 1221, 1437
    # At most three rounds of 0..9 stand before it, so a form starts between i - 30 and i.
    assert any(train_end <= i - 30 and i <= test_start for i in forms)


def test_docstring_counts_the_writers_as_scikit_learn_does():
    assert "total of 43 people, 30 contributed to the training set and different 13" in (
        " ".join(sklearn.datasets.load_digits().DESCR.split())
    )
    assert "13 of its 43 writers" in datasets.digits.__doc__


@pytest.mark.parametrize("split", ["randomly", "", None])
def test_unknown_split_is_named(split):
    with pytest.raises(ValueError, match=f'called {split!r}: say "random" or "file order"'):
        datasets.digits(split)


def test_photographs():
    pictures = datasets.photographs()
    assert list(pictures) == ["china", "flower"]
    for name, picture in pictures.items():
        original = sklearn.datasets.load_sample_image(f"{name}.jpg")  # (H, W, 3)
        assert picture.shape == (3, 427, 640) and picture.dtype == torch.float32
        assert picture.is_contiguous() and 0 <= picture.min() and 0.9 < picture.max() <= 1
        assert [round(255 * v) for v in picture[:, 100, 300].tolist()] == [*original[100, 300]]
    red, green, blue = pictures["flower"][:, 213, 250]  # a petal is orange
    assert red > green > blue


def test_readme_gives_the_checksum_of_every_file():
    folder = Path(sklearn.datasets.__file__).parent
    for path in ("data/digits.csv.gz", "images/china.jpg", "images/flower.jpg"):
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() in README
    for name, source in datasets.SOURCES.items():
        row = next(line for line in README.splitlines() if f"`{name}`" in line)
        assert source.checksum.split(":")[1] in row and f"{source.size:,}" in row


# The IDX format


def idx(shape, values, kind=8):
    return struct.pack(f">HBB{len(shape)}I", 0, kind, len(shape), *shape) + bytes(values)


def test_idx_is_read(tmp_path):
    path = tmp_path / "six.gz"
    path.write_bytes(gzip.compress(idx((2, 3), [0, 1, 2, 3, 4, 255])))
    assert datasets.read_idx(path, (2, 3)).tolist() == [[0, 1, 2], [3, 4, 255]]


SIX = idx((2, 3), range(6))
GOOD = gzip.compress(SIX)
DAMAGED_IDX = {
    "empty": (b"", "is not an IDX file"),
    "not compressed": (SIX, "cannot be unpacked"),
    "gz without its end": (GOOD[:-9], "cannot be unpacked"),
    "gz cut in the middle": (GOOD[: len(GOOD) // 2], "cannot be unpacked"),
    "gz with a false sum": (GOOD[:-8] + altered(GOOD[-8:-4]) + GOOD[-4:], "cannot be unpacked"),
    "gz with a false block": (GOOD[:10] + b"\xff" + GOOD[11:], "cannot be unpacked"),
    "two bytes": (gzip.compress(SIX[:2]), "is not an IDX file"),
    "wrong magic": (gzip.compress(b"\x01" + SIX[1:]), "is not an IDX file"),
    "signed bytes": (gzip.compress(idx((2, 3), range(6), kind=9)), "is not an IDX file"),
    "one axis": (gzip.compress(idx((6,), range(6))), "of unsigned bytes with 2 axes"),
    "cut in the shape": (gzip.compress(SIX[:9]), "does not hold the shape"),
    "turned": (gzip.compress(idx((3, 2), range(6))), "does not hold the shape (2, 3)"),
    "huge": (gzip.compress(idx((2**32 - 1,) * 2, range(6))), "does not hold the shape"),
    "too few": (gzip.compress(idx((2, 3), range(5))), "ends after 5 of 6 values"),
    "too many": (gzip.compress(idx((2, 3), range(7))), "goes on after its 6 values"),
}


@pytest.mark.parametrize("damage", DAMAGED_IDX)
def test_damaged_idx_is_described(tmp_path, damage):
    content, says = DAMAGED_IDX[damage]
    path = tmp_path / "six.gz"
    path.write_bytes(content)
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.read_idx(path, (2, 3))
    is_one_sentence(caught.value)
    assert str(path) in str(caught.value) and says in str(caught.value)


# Files from elsewhere

CONTENT = np.random.default_rng(0).bytes(200_000)
NAME = "strange.bin"


class Answer(BaseHTTPRequestHandler):
    """Answers as the address asks: /whole, /missing, /cut, /short, /altered, /silent, /stalls."""

    def do_GET(self):
        self.server.asked += 1
        way = self.path.strip("/")
        if way == "silent":
            self.server.over.wait()
            return
        if way == "missing":
            self.send_error(404)
            return
        self.send_response(200)
        if way != "short":  # without its length, an end too early looks like the end
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        half = len(CONTENT) // 2
        sent = {"whole": CONTENT, "altered": altered(CONTENT)}.get(way, CONTENT[:half])
        self.wfile.write(sent)
        if way == "stalls":
            self.wfile.flush()
            self.server.over.wait()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.asked, server.over = 0, threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "neighbour").write_bytes(b"was here before")
    monkeypatch.setenv("BOOK_CACHE", str(folder))
    monkeypatch.delenv("BOOK_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    return folder


@pytest.fixture
def book(server, cache, monkeypatch):
    """Let the book know one file, at an address of the server's; returns a way to move it."""

    def at(way, address=f"http://127.0.0.1:{server.server_port}"):
        checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
        source = datasets.Source(f"{address}/{way}", checksum, len(CONTENT), "no licence")
        monkeypatch.setattr(datasets, "SOURCES", {NAME: source})

    at("whole")
    return at


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_download_is_said_once_and_kept(book, server, cache, capfd, monkeypatch):
    monkeypatch.setattr(pooch.get_logger().handlers[0], "stream", sys.stderr)
    before = files(cache)
    assert datasets.fetch(NAME) == cache / NAME
    assert files(cache) == before | {NAME: CONTENT}
    out, err = capfd.readouterr()
    assert out == "" and err == f"Downloading {NAME} (0.20 MB, no licence) to {cache}\n"
    assert datasets.fetch(NAME) == cache / NAME
    assert server.asked == 1 and capfd.readouterr() == ("", "")


def test_cache_folder_is_made(book, cache, monkeypatch):
    monkeypatch.setenv("BOOK_CACHE", str(cache / "new" / "folder"))
    assert datasets.fetch(NAME) == cache / "new" / "folder" / NAME


def test_readers_folder_comes_first(book, server, cache, tmp_path, monkeypatch):
    datasets.fetch(NAME)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / NAME).write_bytes(CONTENT)
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "mine"))
    assert datasets.fetch(NAME) == tmp_path / "mine" / NAME
    (tmp_path / "mine" / NAME).unlink()
    assert datasets.fetch(NAME) == cache / NAME  # not there: on to the cache
    (cache / NAME).unlink()
    assert datasets.fetch(NAME) == cache / NAME and server.asked == 2  # on to the download


def test_relative_folder_counts_from_the_book(book, cache, tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    (tmp_path / NAME).write_bytes(CONTENT)
    monkeypatch.setattr(datasets, "ROOT", tmp_path / "book")
    monkeypatch.setenv("BOOK_DATA", "..")
    assert datasets.fetch(NAME).samefile(tmp_path / NAME)


DAMAGED = {
    "cut": (CONTENT[:-1], "is cut short (199,999 of 200,000 bytes)"),
    "empty": (b"", "is cut short (0 of 200,000 bytes)"),
    "altered": (altered(CONTENT), "is not the original"),
    "too long": (CONTENT + b"\n", "is not the original"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_readers_damaged_file_is_named_and_left(book, server, tmp_path, monkeypatch, damage):
    content, says = DAMAGED[damage]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / NAME).write_bytes(content)
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "mine"))
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.fetch(NAME)
    is_one_sentence(caught.value)
    assert f"{tmp_path / 'mine' / NAME} {says}" in str(caught.value)
    assert "unset BOOK_DATA" in str(caught.value) and server.asked == 0
    assert files(tmp_path / "mine") == {NAME: content}


def test_readers_unreadable_file_is_named(book, tmp_path, monkeypatch):
    (tmp_path / "mine" / NAME).mkdir(parents=True)  # a folder where the file should be
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "mine"))
    with pytest.raises(datasets.DatasetError, match="cannot be read") as caught:
        datasets.fetch(NAME)
    is_one_sentence(caught.value)


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_file_in_the_cache_is_replaced_online(book, cache, damage):
    (cache / NAME).write_bytes(DAMAGED[damage][0])
    assert datasets.fetch(NAME).read_bytes() == CONTENT


def test_damaged_file_in_the_cache_is_left_offline(book, cache):
    content, says = DAMAGED["cut"]
    (cache / NAME).write_bytes(content)
    before = files(cache)
    book("missing")
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.fetch(NAME)
    is_one_sentence(caught.value)
    assert f"{cache / NAME} {says} and could not be downloaded" in str(caught.value)
    assert files(cache) == before


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("missing", "because the server answered 404: "),
        ("cut", "because the connection was cut midway: "),
        ("short", "because what arrived is not the original: "),
        ("altered", "because what arrived is not the original: "),
        ("silent", "because the server did not answer in time: "),
        ("stalls", "because the server did not answer in time: "),
    ],
)
def test_failed_download_leaves_a_sentence_and_no_trace(
    book, server, cache, monkeypatch, way, says
):
    before = files(cache)
    book(way)
    with monkeypatch.context() as patience:
        if way in ("silent", "stalls"):
            patience.setattr(datasets, "TIMEOUT", (0.3, 0.3))
        start = time.monotonic()
        with pytest.raises(datasets.DatasetError) as caught:
            datasets.fetch(NAME)
    assert time.monotonic() - start < 5
    is_one_sentence(caught.value)
    assert says in str(caught.value) and f"/{way} because" in str(caught.value)
    assert "BOOK_DATA" in str(caught.value)
    assert server.asked == 1 and files(cache) == before
    book("whole")
    assert datasets.fetch(NAME).read_bytes() == CONTENT  # and the next try goes well


def no_such_name(*_, **__):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("trouble", ["nobody listens", "no such name"])
def test_unreachable_server(book, cache, monkeypatch, trouble):
    with socket.socket() as bound:  # bound, not listening: refuses
        bound.bind(("127.0.0.1", 0))
        book("whole", f"http://127.0.0.1:{bound.getsockname()[1]}")
        if trouble == "no such name":
            monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
        before = files(cache)
        with pytest.raises(
            datasets.DatasetError, match="the server could not be reached"
        ) as caught:
            datasets.fetch(NAME)
    is_one_sentence(caught.value)
    assert files(cache) == before


def refuse(*_, **__):
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("trouble", ["below a file", "read-only"])
def test_cache_that_cannot_be_written_to(book, server, cache, monkeypatch, trouble):
    if trouble == "below a file":
        monkeypatch.setenv("BOOK_CACHE", str(cache / "neighbour" / "below"))
    else:  # the mode of a folder does not stop the superuser
        refusing = SimpleNamespace(NamedTemporaryFile=refuse)
        monkeypatch.setattr("pooch.utils.tempfile", refusing)
    before = files(cache)
    with pytest.raises(datasets.DatasetError, match="could not be saved in") as caught:
        datasets.fetch(NAME)
    is_one_sentence(caught.value)
    why = {"below a file": "Not a directory", "read-only": "Permission denied"}[trouble]
    assert f"({why}): " in str(caught.value) and "set BOOK_CACHE" in str(caught.value)
    assert server.asked == 0 and files(cache) == before


def test_disk_that_is_full_midway(book, cache):
    resource = pytest.importorskip("resource")  # not on Windows
    (cache / NAME).write_bytes(b"damaged")
    before = files(cache)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 2, limit[1]))  # no larger file
    try:
        with pytest.raises(datasets.DatasetError, match="could not be saved in") as caught:
            datasets.fetch(NAME)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    is_one_sentence(caught.value)
    assert "free some space" in str(caught.value) and files(cache) == before


def test_unknown_file_is_named():
    with pytest.raises(ValueError, match=r"no file '\.\./secret': its files are train-images"):
        datasets.fetch("../secret")


# Fashion-MNIST: files of the right form, small because they are nearly empty


@pytest.fixture(scope="module")
def wardrobe(tmp_path_factory):
    """The four files, with image i marked by the bytes of i in its first pixels, label i % 10."""
    folder = tmp_path_factory.mktemp("wardrobe")
    for part, n in (("train", 60_000), ("t10k", 10_000)):
        number = np.arange(n)
        images = np.zeros((n, 28, 28), dtype=np.uint8)
        images[:, 0, 0], images[:, 0, 1], images[:, 27, 27] = number % 256, number // 256, 255
        for kind, values in (("images-idx3", images), ("labels-idx1", number % 10)):
            content = idx(values.shape, values.astype(np.uint8).tobytes())
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(content, 1))
    return folder


@pytest.fixture
def fashion(wardrobe, monkeypatch):
    """Let the book take those four for the originals."""
    known = {
        name: source._replace(
            checksum="md5:" + hashlib.md5((wardrobe / name).read_bytes()).hexdigest()
        )
        for name, source in datasets.SOURCES.items()
        if name.endswith("-ubyte.gz")
    }
    monkeypatch.setattr(datasets, "SOURCES", known)
    monkeypatch.setenv("BOOK_DATA", str(wardrobe))


def numbers(part):
    """The number of each image, from its first pixels."""
    low, high = (255 * part.images[:, 0, 0, :2]).round().long().T
    return low + 256 * high


def test_fashion_mnist(fashion):
    dataset = datasets.fashion_mnist(seed=0)
    for name, size in zip(PARTS, (51_000, 9_000, 10_000), strict=True):
        part = getattr(dataset, name)
        assert part.images.shape == (size, 1, 28, 28) and part.images.dtype == torch.float32
        assert part.labels.shape == (size,) and part.labels.dtype == torch.int64
        assert torch.all(part.images[:, 0, 27, 27] == 1) and torch.all(part.images >= 0)
        assert torch.equal(part.labels, numbers(part) % 10)
        assert torch.all(part.labels.bincount() == size / 10)
    official = torch.cat([numbers(dataset.train), numbers(dataset.validation)])
    assert torch.equal(official.sort().values, torch.arange(60_000))
    assert torch.equal(numbers(dataset.test), torch.arange(10_000))
    assert len(dataset.class_names) == 10 and dataset.class_names[9] == "Ankle boot"
    other = datasets.fashion_mnist(seed=1)
    assert not torch.equal(numbers(other.validation), numbers(dataset.validation))
    assert torch.equal(numbers(other.test), numbers(dataset.test))


def test_fashion_mnist_refuses_files_that_are_not_the_originals(wardrobe, monkeypatch):
    monkeypatch.setenv("BOOK_DATA", str(wardrobe))
    with pytest.raises(datasets.DatasetError, match="train-images-idx3-ubyte.gz is cut short"):
        datasets.fashion_mnist()


def test_what_is_fetched_is_pinned():
    sums = {name: source.checksum for name, source in datasets.SOURCES.items()}
    assert sums == {
        "train-images-idx3-ubyte.gz": "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1-ubyte.gz": "md5:25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3-ubyte.gz": "md5:bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1-ubyte.gz": "md5:bb300cfdad3c16e7a12a480ee83cd310",
        "tinyshakespeare.txt": (
            "sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
        ),
    }


# Texts


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
    checksum = f"sha256:{hashlib.sha256(PLAY.encode()).hexdigest()}"
    source = datasets.SOURCES["tinyshakespeare.txt"]._replace(checksum=checksum)
    monkeypatch.setattr(datasets, "SOURCES", {"tinyshakespeare.txt": source})


def test_tiny_shakespeare_is_cut_between_speeches(play):
    assert datasets.tiny_shakespeare() == PLAY
    parts = [datasets.tiny_shakespeare(part) for part in PARTS]
    assert "".join(parts) == PLAY
    for part, share in zip(parts, (0.9, 0.05, 0.05), strict=True):
        assert part.startswith(("ALL:", "ROMEO:")) and part.endswith(".\n\n")
        assert len(part) / len(PLAY) == pytest.approx(share, abs=0.005)
    with pytest.raises(ValueError, match="No part is called 'all': say"):
        datasets.tiny_shakespeare("all")


def test_tiny_shakespeare_refuses_another_text(mine):
    (mine / "tinyshakespeare.txt").write_text("To be, or not to be\n")
    with pytest.raises(datasets.DatasetError, match="is cut short") as caught:
        datasets.tiny_shakespeare()
    is_one_sentence(caught.value)


def sentence_pairs(n):
    """n English sentences, the first with three translations; two lines have the authors."""
    lines = ["Hi.\t嗨。\tCC-BY: A & B", "Hi.\t你好。\tCC-BY: A & C", "Hi.\t你\u2028好！"]
    return lines + [f"I see {i} cats.\t我看见{i}只猫。" for i in range(n - 1)]


@pytest.mark.parametrize("place", ["BOOK_DATA", "BOOK_CACHE"])
def test_tatoeba_keeps_a_sentence_with_all_its_translations_in_one_part(mine, place):
    text = "\n".join(sentence_pairs(200)) + "\n"
    (mine.parent / place / datasets.TATOEBA).write_text(text, encoding="utf-8")
    pairs = datasets.tatoeba()
    sentences = [{english for english, _ in part} for part in pairs]
    assert [len(part) for part in sentences] == [160, 20, 20]
    assert len(set.union(*sentences)) == 200
    everything = sorted(pair for part in pairs for pair in part)
    assert everything == sorted(tuple(line.split("\t")[:2]) for line in sentence_pairs(200))
    assert datasets.tatoeba() == pairs
    assert datasets.tatoeba(seed=1).test != pairs.test


def test_tatoeba_says_where_it_can_be_had(mine, monkeypatch):
    with pytest.raises(datasets.DatasetError, match="www.manythings.org/anki") as caught:
        datasets.tatoeba()
    is_one_sentence(caught.value)
    assert str(mine / datasets.TATOEBA) in str(caught.value)
    monkeypatch.delenv("BOOK_DATA")
    with pytest.raises(datasets.DatasetError, match="BOOK_CACHE"):
        datasets.tatoeba()


DAMAGED_PAIRS = {
    "empty": (b"", "is empty"),
    "cut": ("Hi.\t嗨。\nRun".encode(), "is cut short in line 2"),
    "cut in a letter": ("Hi.\t嗨。\nRun.\t你".encode()[:-1], "is not text in UTF-8"),
    "no tab": ("Hi. 嗨。\n".encode(), "has no pair of sentences in line 1"),
    "no translation": ("Hi.\t嗨。\nRun.\t\n".encode(), "has no pair of sentences in line 2"),
    "four columns": (b"a\tb\tc\td\n", "has no pair of sentences in line 1"),
    "an error page": (b"<html>\nNot found\n", "has no pair of sentences in line 1"),
}


@pytest.mark.parametrize("damage", DAMAGED_PAIRS)
def test_damaged_pairs_are_described(mine, damage):
    content, says = DAMAGED_PAIRS[damage]
    (mine / datasets.TATOEBA).write_bytes(content)
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.tatoeba()
    is_one_sentence(caught.value)
    assert f"{mine / datasets.TATOEBA} {says}" in str(caught.value)


def test_pairs_that_cannot_be_read(mine):
    (mine / datasets.TATOEBA).mkdir()
    with pytest.raises(datasets.DatasetError, match="cannot be read") as caught:
        datasets.tatoeba()
    is_one_sentence(caught.value)
