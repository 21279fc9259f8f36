"""The pictures are what the book says they are."""

import gzip
import hashlib
import re
import struct

import numpy as np
import pytest
import sklearn.datasets
import torch
from test_files import altered, is_one_sentence

from utils.data import files, pictures

PARTS = ("train", "validation", "test")


# Digits, photographs


def places(part, images):
    """Where the images (B, 1, 8, 8) of a part stand in scikit-learn's file."""
    rows = {row.tobytes(): i for i, row in enumerate(images)}
    assert len(rows) == len(images)  # no picture is there twice
    return [rows[image.tobytes()] for image in part.images[:, 0].numpy()]


@pytest.mark.parametrize("split", ["random", "file order"])
def test_digits_are_divided_without_loss_or_overlap(split):
    bunch = sklearn.datasets.load_digits()
    dataset = pictures.digits(split)
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
    first, again, other = (pictures.digits(seed=seed) for seed in (0, 0, 1))
    for name in PARTS:
        part = getattr(first, name)
        assert torch.equal(part.images, getattr(again, name).images)
        assert torch.equal(part.labels, getattr(again, name).labels)
        assert not torch.equal(part.images, getattr(other, name).images)
        counts = part.labels.bincount(minlength=10)
        assert counts.max() - counts.min() <= len(part.labels) / 100


def test_file_order_has_no_chance_in_it():
    for name in PARTS:
        one, two = (getattr(pictures.digits("file order", seed), name) for seed in (0, 1))
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
    assert "13 of its 43 writers" in pictures.digits.__doc__


@pytest.mark.parametrize("split", ["randomly", "", None])
def test_unknown_split_is_named(split):
    with pytest.raises(ValueError, match=f'{split!r}: .*"random" .*"file order"'):
        pictures.digits(split)


def test_photographs():
    both = pictures.photographs()
    assert list(both) == ["china", "flower"]
    for name, picture in both.items():
        original = sklearn.datasets.load_sample_image(f"{name}.jpg")  # (H, W, 3)
        assert picture.shape == (3, 427, 640) and picture.dtype == torch.float32
        assert picture.is_contiguous() and 0 <= picture.min() and 0.9 < picture.max() <= 1
        assert [round(255 * v) for v in picture[:, 100, 300].tolist()] == [*original[100, 300]]
    red, green, blue = both["flower"][:, 213, 250]  # a petal is orange
    assert red > green > blue


# The IDX format


def idx(shape, values, kind=8):
    return struct.pack(f">HBB{len(shape)}I", 0, kind, len(shape), *shape) + bytes(values)


def test_idx_is_read(tmp_path):
    path = tmp_path / "six.gz"
    path.write_bytes(gzip.compress(idx((2, 3), [0, 1, 2, 3, 4, 255])))
    assert pictures.read_idx(path, (2, 3)).tolist() == [[0, 1, 2], [3, 4, 255]]


SIX = idx((2, 3), range(6))
GOOD = gzip.compress(SIX)
DAMAGED_IDX = {
    "empty": (b"", "IDX .* 2 axes"),
    "not compressed": (SIX, "unpacked"),
    "gz without its end": (GOOD[:-9], "unpacked"),
    "gz cut in the middle": (GOOD[: len(GOOD) // 2], "unpacked"),
    "gz with a false sum": (GOOD[:-8] + altered(GOOD[-8:-4]) + GOOD[-4:], "unpacked"),
    "gz with a false block": (GOOD[:10] + b"\xff" + GOOD[11:], "unpacked"),
    "two bytes": (gzip.compress(SIX[:2]), "IDX .* 2 axes"),
    "wrong magic": (gzip.compress(b"\x01" + SIX[1:]), "IDX .* 2 axes"),
    "signed bytes": (gzip.compress(idx((2, 3), range(6), kind=9)), "IDX .* 2 axes"),
    "one axis": (gzip.compress(idx((6,), range(6))), "IDX .* 2 axes"),
    "cut in the shape": (gzip.compress(SIX[:9]), r"\(2, 3\)"),
    "turned": (gzip.compress(idx((3, 2), range(6))), r"\(2, 3\)"),
    "huge": (gzip.compress(idx((2**32 - 1,) * 2, range(6))), r"\(2, 3\)"),
    "too few": (gzip.compress(idx((2, 3), range(5))), " 5 .* 6 values"),
    "too many": (gzip.compress(idx((2, 3), range(7))), "goes on .* 6 values"),
}


@pytest.mark.parametrize("damage", DAMAGED_IDX)
def test_damaged_idx_is_described(tmp_path, damage):
    content, says = DAMAGED_IDX[damage]
    path = tmp_path / "six.gz"
    path.write_bytes(content)
    with pytest.raises(files.DatasetError, match=f"{path.name} .*{says}") as caught:
        pictures.read_idx(path, (2, 3))
    is_one_sentence(caught.value)
    assert str(path) in str(caught.value)


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
    known = {}
    for name, source in files.SOURCES.items():
        if name.endswith("-ubyte.gz"):
            content = (wardrobe / name).read_bytes()
            checksum = hashlib.sha256(content).hexdigest()
            known[name] = source._replace(sha256=checksum, size=len(content))
    monkeypatch.setattr(files, "SOURCES", known)
    monkeypatch.setenv("BOOK_DATA", str(wardrobe))


def numbers(part):
    """The number of each image, from its first pixels."""
    low, high = (255 * part.images[:, 0, 0, :2]).round().long().T
    return low + 256 * high


def test_fashion_mnist(fashion):
    dataset = pictures.fashion_mnist(seed=0)
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
    other = pictures.fashion_mnist(seed=1)
    assert not torch.equal(numbers(other.validation), numbers(dataset.validation))
    assert torch.equal(numbers(other.test), numbers(dataset.test))


def test_fashion_mnist_refuses_files_that_are_not_the_originals(wardrobe, monkeypatch):
    monkeypatch.setenv("BOOK_DATA", str(wardrobe))
    with pytest.raises(files.DatasetError, match="train-images-idx3-ubyte.gz .*short"):
        pictures.fashion_mnist()


# By name


def test_fashion_mnist_has_a_name(fashion):
    found, same = pictures.load("Fashion-MNIST", 3), pictures.fashion_mnist(3)
    assert torch.equal(numbers(found.validation), numbers(same.validation))


def test_an_unknown_data_set_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="MNIST.*digits.*Fashion-MNIST.*CIFAR-10.*Oxford Pets"):
        pictures.load("MNIST")
