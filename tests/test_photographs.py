"""CIFAR-10 and the pets are read from their archives; archives that are damaged are described."""

import gzip
import hashlib
import io
import tarfile

import numpy as np
import pytest
import torch
from PIL import Image
from test_files import is_one_sentence

from utils.data import files, pictures

PARTS = ("train", "validation", "test")


# Archives of the right form, small because they hold few pictures


def packed(path, contents):
    """Write contents, {name: bytes}, as an archive .tar.gz."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def take_for_original(path, monkeypatch):
    """Let the book take an archive for the original."""
    content = path.read_bytes()
    checksum = hashlib.sha256(content).hexdigest()
    source = files.SOURCES[path.name]._replace(sha256=checksum, size=len(content))
    monkeypatch.setitem(files.SOURCES, path.name, source)
    monkeypatch.setenv("BOOK_DATA", str(path.parent))


def saved(pixels, form="PNG", mode=None, **how):
    """Pixels (H, W), (H, W, 3) or (H, W, 4) as the bytes of a file."""
    stream = io.BytesIO()
    image = Image.fromarray(np.asarray(pixels, dtype=np.uint8))
    image.convert(mode or image.mode).save(stream, form, **how)
    return stream.getvalue()


SIX_MEMBERS = {"a/one": b"first", "./a/two": b"second", "a/three": bytes(5000)}


def test_members_are_read_by_their_names(tmp_path):
    packed(path := tmp_path / "few.tar.gz", SIX_MEMBERS)
    found = dict(pictures.read_members(path, ["a/two", "a/one"]))
    assert found == {"a/one": b"first", "a/two": b"second"}


def cut(content, share):
    return content[: int(len(content) * share)]


def repacked(content, change):
    return gzip.compress(change(gzip.decompress(content)))


def false_block(content):
    content = repacked(content, bytes)  # with a header of ten bytes
    return content[:10] + b"\xff" + content[11:]


DAMAGED_ARCHIVES = {
    "empty": (lambda content: b"", "unpacked"),
    "not compressed": (gzip.decompress, "unpacked"),
    "no archive": (lambda content: gzip.compress(b"pictures"), "unpacked"),
    "cut in the middle": (lambda content: cut(content, 0.7), "unpacked"),
    "gz with a false block": (false_block, "unpacked"),
    "short member": (lambda content: repacked(content, lambda tar: tar[:3000]), "unpacked"),
    "missing member": (lambda content: repacked(content, lambda tar: tar[:1024]), "lacks a/three"),
}


@pytest.mark.parametrize("damage", DAMAGED_ARCHIVES)
def test_damaged_archive_is_described(tmp_path, damage):
    change, says = DAMAGED_ARCHIVES[damage]
    packed(path := tmp_path / "few.tar.gz", SIX_MEMBERS)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(files.DatasetError, match=f"{path.name} .*{says}") as caught:
        dict(pictures.read_members(path, ["a/one", "a/three"]))
    is_one_sentence(caught.value)


def test_a_folder_is_no_member(tmp_path):
    with tarfile.open(path := tmp_path / "few.tar.gz", "w:gz") as archive:
        (member := tarfile.TarInfo("one")).type = tarfile.DIRTYPE
        archive.addfile(member)
    with pytest.raises(files.DatasetError, match="lacks one"):
        dict(pictures.read_members(path, ["one"]))


PER_FILE = 20


def small_cifar():
    """Six files of 20 records: picture i has i in its first red, and the label i % 10."""
    contents = {"cifar-10-batches-bin/readme.html": b"<html>"}
    for i, name in enumerate([*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]):
        number = np.arange(PER_FILE) + i * PER_FILE
        images = np.zeros((PER_FILE, 3, 32, 32), dtype=np.uint8)
        images[:, 0, 0, 0], images[:, 1, 0, 5], images[:, 2, 31, 31] = number, 51, 255
        records = np.column_stack([number % 10, images.reshape(PER_FILE, -1)]).astype(np.uint8)
        contents[f"cifar-10-batches-bin/{name}.bin"] = records.tobytes()
    return contents


@pytest.fixture
def cifar(tmp_path, monkeypatch):
    """A function that has such files, some of them altered, taken for the original."""
    monkeypatch.setattr(pictures, "CIFAR_RECORDS", PER_FILE)

    def put(**altered_files):
        named = {f"cifar-10-batches-bin/{name}.bin": data for name, data in altered_files.items()}
        contents = {n: c for n, c in (small_cifar() | named).items() if c is not None}
        packed(path := tmp_path / "cifar-10-binary.tar.gz", contents)
        take_for_original(path, monkeypatch)

    return put


def first_reds(part):
    return (255 * part.images[:, 0, 0, 0]).round().long()


def test_cifar_10(cifar):
    cifar()
    dataset = pictures.cifar_10(seed=0)
    for name, size in zip(PARTS, (90, 10, 20), strict=True):
        part = getattr(dataset, name)
        assert part.images.shape == (size, 3, 32, 32) and part.images.dtype == torch.float32
        assert part.labels.shape == (size,) and part.labels.dtype == torch.int64
        assert torch.all(part.images[:, 2, 31, 31] == 1) and torch.all(part.images[:, 0, 31] == 0)
        assert torch.allclose(part.images[:, 1, 0, 5], torch.tensor(0.2))
        assert torch.equal(part.labels, first_reds(part) % 10)
        assert torch.all(part.labels.bincount() == size / 10)
    official = torch.cat([first_reds(dataset.train), first_reds(dataset.validation)])
    assert torch.equal(official.sort().values, torch.arange(100))
    assert torch.equal(first_reds(dataset.test), torch.arange(100, 120))
    assert len(dataset.class_names) == 10 and dataset.class_names[6] == "frog"
    other = pictures.cifar_10(seed=1)
    assert not torch.equal(first_reds(other.validation), first_reds(dataset.validation))


WHOLE_FILE = small_cifar()["cifar-10-batches-bin/data_batch_3.bin"]
DAMAGED_CIFAR = {
    "missing": (None, "lacks .*data_batch_3.bin"),
    "short": (WHOLE_FILE[:-1], "61,459 bytes in .*data_batch_3.bin, not 20 records of 3,073"),
    "long": (WHOLE_FILE + b"\0", "61,461 bytes in .*data_batch_3.bin"),
    "no labels": (WHOLE_FILE[: 20 * 3072], "61,440 bytes .* 3,073"),
    "label": (b"\x0a" + WHOLE_FILE[1:], "label of 10 in .*data_batch_3.bin"),
}


@pytest.mark.parametrize("damage", DAMAGED_CIFAR)
def test_damaged_cifar_10_is_described(cifar, damage):
    content, says = DAMAGED_CIFAR[damage]
    cifar(data_batch_3=content)
    with pytest.raises(files.DatasetError, match=f"cifar-10-binary.tar.gz .*{says}") as caught:
        pictures.cifar_10()
    is_one_sentence(caught.value)


# A breed has a grey of its own, so that a picture tells its label; the last has two words.
NAMES = [*(f"breed{i}" for i in range(36)), "great_dane"]
LISTED = {
    "trainval": [(f"{name}_{k}", i + 1) for k in range(5) for i, name in enumerate(NAMES)],
    "test": [(f"{name}_{k}", i + 1) for k in (7, 12) for i, name in enumerate(NAMES)][:50]
    + [(f"{name}_100", i + 1) for i, name in enumerate(NAMES)],
}


def small_pets():
    """The files of both archives, {name: bytes}: pictures of 8 by 6 pixels, all of one grey."""
    lists = {
        f"annotations/{part}.txt": "".join(f"{pet} {breed} 1 2\n" for pet, breed in rows).encode()
        for part, rows in LISTED.items()
    }
    photographs = {
        f"images/{pet}.jpg": saved(np.full((6, 8, 3), 5 * breed))
        for pet, breed in sum(LISTED.values(), [])[::-1]
    }
    return lists | {"annotations/list.txt": b"#"}, {"images/odd_1.mat": b"?"} | photographs


@pytest.fixture
def pets(tmp_path, monkeypatch):
    """A function that has such archives, with files altered or removed, taken for the originals."""
    monkeypatch.setattr(pictures, "PETS", {part: len(rows) for part, rows in LISTED.items()})

    def put(altered_files):
        for what, contents in zip(("annotations", "images"), small_pets(), strict=True):
            chosen = {n: c for n, c in altered_files.items() if n.startswith(what)}
            contents = {n: c for n, c in (contents | chosen).items() if c is not None}
            packed(path := tmp_path / f"oxford-pets-{what}.tar.gz", contents)
            take_for_original(path, monkeypatch)

    return put


def test_oxford_pets(pets):
    pets({})
    dataset = pictures.oxford_pets(seed=0, side=5)
    for name, size in zip(PARTS, (148, 37, 87), strict=True):
        part = getattr(dataset, name)
        assert part.images.shape == (size, 3, 5, 5) and part.images.dtype == torch.float32
        assert part.labels.shape == (size,) and part.labels.dtype == torch.int64
        greys = (part.labels + 1) / 51
        assert torch.allclose(part.images, greys[:, None, None, None].expand_as(part.images))
    assert torch.all(dataset.validation.labels.bincount() == 1)
    assert dataset.test.labels.tolist() == [breed - 1 for _, breed in LISTED["test"]]
    assert dataset.class_names == (*NAMES[:36], "great dane")
    other = pictures.oxford_pets(seed=1)
    assert other.train.images.shape == (148, 3, 64, 64)
    assert not torch.equal(other.train.labels, dataset.train.labels)
    with pytest.raises(ValueError, match="side .*at least 1"):
        pictures.oxford_pets(side=0)


LINES = small_pets()[0]["annotations/test.txt"]
DAMAGED_PETS = {
    "no list": ("annotations/test.txt", None, "annotations.* lacks annotations/test.txt"),
    "short list": ("annotations/test.txt", LINES[:-300], r"\d+ lines in .*test.txt, not 87"),
    "cut line": (
        "annotations/test.txt",
        LINES[:-3],
        "name class species breed.*'great_dane_100 37",
    ),
    "unknown breed": ("annotations/test.txt", LINES[:-6] + b"8 1 2\n", "great_dane_100 38 1 2'"),
    "no text": ("annotations/test.txt", b"\xff" + LINES[1:].replace(b" ", b"_"), "eed0_7_1_1_2"),
    "twice": (
        "annotations/test.txt",
        LINES.replace(b"breed35_100 36", b"breed0_100 1"),
        "twice, or not all of 37 breeds",
    ),
    "no picture": ("images/breed4_7.jpg", None, "images.* lacks images/breed4_7.jpg"),
    "half a picture": (
        "images/breed4_7.jpg",
        saved(np.random.default_rng(0).integers(256, size=(40, 30, 3)))[:900],
        "no picture .*images/breed4_7.jpg",
    ),
    "text": ("images/breed4_7.jpg", b"<html>", "no picture .*images/breed4_7.jpg"),
}


@pytest.mark.parametrize("damage", DAMAGED_PETS)
def test_damaged_oxford_pets_are_described(pets, damage):
    name, content, says = DAMAGED_PETS[damage]
    pets({name: content})
    with pytest.raises(files.DatasetError, match=f"oxford-pets-.*{says}") as caught:
        pictures.oxford_pets(side=4)
    is_one_sentence(caught.value)


def test_pictures_of_all_kinds_become_red_green_and_blue(pets):
    """A transparent one lies on white, grey ones have three equal colours."""
    red = np.tile([255, 0, 0], (6, 9, 1))
    kinds = {
        "images/breed0_0.jpg": saved(np.full((9, 6), 102), "JPEG"),
        "images/breed1_0.jpg": saved(np.dstack([red, np.full((6, 9), 102)])),
        "images/breed2_0.jpg": saved(red, "GIF", mode="P"),
        "images/breed3_0.jpg": saved(red, "JPEG", mode="CMYK", quality=100),
        "images/breed4_0.jpg": saved(np.full((7, 7), 200), "GIF", transparency=200),
        "images/breed5_0.jpg": saved(np.full((7, 7), 153)),
        "images/breed6_0.jpg": saved(red),
    }
    pets(kinds)
    dataset = pictures.oxford_pets(side=3)
    every = [torch.cat(both) for both in zip(dataset.train, dataset.validation, strict=True)]
    colours = [(0.4, 0.4, 0.4), (1, 0.6, 0.6), (1, 0, 0), (1, 0, 0)]
    colours += [(1, 1, 1), (0.6, 0.6, 0.6), (1, 0, 0)]
    for label, colour in enumerate(colours):
        of_breed = every[0][every[1] == label]  # (5, 3, 3, 3)
        flat = torch.tensor(colour).float()[:, None, None].expand(3, 3, 3)
        assert any(torch.allclose(image, flat, atol=0.02) for image in of_breed), label


@pytest.mark.parametrize("turned", [False, True])
def test_what_remains_of_a_pet_is_the_middle_square(pets, turned):
    picture = np.zeros((60, 100, 3))
    picture[:, 20:80] = [0, 51, 0]  # the middle square
    picture[:, 50:80] = [0, 255, 0]
    picture = picture.transpose(1, 0, 2) if turned else picture
    pets({"images/breed9_100.jpg": saved(picture)})
    test = pictures.oxford_pets(side=10).test
    image = test.images[test.labels == 9][-1]  # (3, 10, 10)
    image = image.mT if turned else image
    assert torch.all(image[[0, 2]] == 0)
    assert torch.allclose(image[1, :, 1:4], torch.tensor(0.2), atol=0.03)
    assert torch.allclose(image[1, :, 6:9], torch.tensor(1.0), atol=0.03)


# By name


def test_a_data_set_is_exchanged_by_its_name(cifar, pets):
    for one, same in zip(pictures.load().train, pictures.digits("file order").train, strict=True):
        assert torch.equal(one, same)
    cifar()
    pets({})
    for name, its_own in (("CIFAR-10", pictures.cifar_10), ("Oxford Pets", pictures.oxford_pets)):
        found, same, other = pictures.load(name, 2), its_own(2), its_own(3)
        assert found.class_names == same.class_names
        assert torch.equal(found.train.images, same.train.images)
        assert not torch.equal(found.train.images, other.train.images)
