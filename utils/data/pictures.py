"""Pictures to learn from, divided into three parts."""

import gzip
import io
import math
import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image, ImageOps
from sklearn.datasets import load_digits, load_sample_image
from sklearn.model_selection import train_test_split
from torch import Tensor

from utils.data.files import DatasetError, fetch


class Split(NamedTuple):
    """Images (B, C, H, W), float32 in 0..1, and their labels (B,), int64."""

    images: Tensor
    labels: Tensor


@dataclass(frozen=True)
class Dataset:
    """Data to learn from, to choose with, and to judge with once; `class_names[label]` says it."""

    train: Split
    validation: Split
    test: Split
    class_names: tuple[str, ...]


def digits(split: str = "random", seed: int = 0) -> Dataset:
    """Load scikit-learn's 1797 handwritten digits: 1221 to train, 216 to validate, 360 to test.

    They are the test part of UCI's "Optical Recognition of Handwritten Digits" (Alpaydin and
    Kaynak, 1998): 13 of its 43 writers. A pixel counts the ink in a block of 4 by 4: 0..16 there,
    0..1 here. Who wrote which digit is not recorded, but the file goes form by form: the same
    sequence of about 130 labels comes back 14 times.

    "random" draws all three parts anew for each seed, with the same share of every class, so a
    writer has digits in all of them. "file order" cuts the file: its last fifth is the test, the
    block before it the validation, so that training and test have no form in common, which is
    nearer to writers never seen. There is no chance in that, and the seed changes nothing.

    Shapes: images (B, 1, 8, 8), labels (B,).
    Raises: ValueError if there is no such split.
    """
    bunch = load_digits()
    images, labels = torch.from_numpy(bunch.images), torch.from_numpy(bunch.target)
    n_validation, n_test = 216, 360
    if split == "random":
        rest, test = _stratified(np.arange(len(labels)), n_test, labels, seed)
        train, validation = _stratified(rest, n_validation, labels, seed)
    elif split == "file order":
        cuts = [len(labels) - n_test - n_validation, len(labels) - n_test]
        train, validation, test = np.split(np.arange(len(labels)), cuts)
    else:
        raise ValueError(f'No split is called {split!r}: say "random" or "file order".')
    parts = [_part(images, labels, chosen, white=16) for chosen in (train, validation, test)]
    return Dataset(*parts, class_names=tuple("0123456789"))


def photographs() -> dict[str, Tensor]:
    """Load scikit-learn's two photographs, "china" (a tower) and "flower" (a dahlia).

    Shapes: each (3, H, W), red, green, blue, float32 in 0..1; H = 427, W = 640.
    JPEG decoders may differ by one step of 1/255 in a pixel: compare none exactly.
    """
    pixels = {name: load_sample_image(f"{name}.jpg") for name in ("china", "flower")}
    return {
        name: torch.tensor(image, dtype=torch.float32).permute(2, 0, 1).contiguous() / 255
        for name, image in pixels.items()
    }


FASHION_CLASSES = tuple(
    "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot".split(",")
)


def fashion_mnist(seed: int = 0) -> Dataset:
    """Load Fashion-MNIST (Xiao et al., 2017): 70,000 articles of clothing, fetched if need be.

    The seed divides the official 60,000 into 51,000 to train and 9,000 to validate, with the same
    share of every class; the test is the official one of 10,000.

    Shapes: images (B, 1, 28, 28), labels (B,).
    Raises: DatasetError if a file cannot be had or is not the original (see `fetch`).
    """
    images = read_idx(fetch("train-images-idx3-ubyte.gz"), (60_000, 28, 28))
    labels = read_idx(fetch("train-labels-idx1-ubyte.gz"), (60_000,))
    test_images = read_idx(fetch("t10k-images-idx3-ubyte.gz"), (10_000, 28, 28))
    test_labels = read_idx(fetch("t10k-labels-idx1-ubyte.gz"), (10_000,))
    learn, test = Split(images[:, None], labels), Split(test_images[:, None], test_labels)
    return _official(learn, test, 9_000, seed, FASHION_CLASSES)


CIFAR_CLASSES = tuple("airplane,automobile,bird,cat,deer,dog,frog,horse,ship,truck".split(","))
CIFAR_RECORDS = 10_000  # in each of the six files
CIFAR_SHAPE = 3, 32, 32  # of a picture, in a record behind the byte of its label


def cifar_10(seed: int = 0) -> Dataset:
    """Load CIFAR-10 (Krizhevsky, 2009): 60,000 small photographs, fetched if need be.

    The seed divides the official 50,000 into 45,000 to train and 5,000 to validate, with the same
    share of every class; the test is the official one of 10,000.

    Shapes: images (B, 3, 32, 32), red, green, blue, labels (B,).
    Raises: DatasetError if the archive cannot be had or is not the original (see `fetch`).
    """
    path = fetch("cifar-10-binary.tar.gz")
    files = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    names = [f"cifar-10-batches-bin/{file}.bin" for file in files]
    parts = {name: _records(path, name, data) for name, data in read_members(path, names)}
    learn = Split(*(torch.cat(both) for both in zip(*(parts[n] for n in names[:-1]), strict=True)))
    return _official(learn, parts[names[-1]], CIFAR_RECORDS // 2, seed, CIFAR_CLASSES)


def _records(path: Path, name: str, data: bytes) -> Split:
    """Read a file of CIFAR-10: images (B, 3, 32, 32) and labels (B,), all of them bytes."""
    size = 1 + math.prod(CIFAR_SHAPE)
    if len(data) != CIFAR_RECORDS * size:
        expected = f"{CIFAR_RECORDS:,} records of {size:,}"
        raise _damaged(path, f"has {len(data):,} bytes in {name}, not {expected}")
    records = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(-1, size)
    labels = records[:, 0]
    if labels.max() >= len(CIFAR_CLASSES):
        raise _damaged(path, f"has a label of {labels.max()} in {name}, where 9 is the largest")
    return Split(records[:, 1:].unflatten(1, CIFAR_SHAPE), labels)


PETS = {"trainval": 3_680, "test": 3_669}  # pictures in each of two lists
BREEDS = 37


def oxford_pets(seed: int = 0, side: int = 64) -> Dataset:
    """Load the Oxford-IIIT Pets (Parkhi et al., 2012): cats and dogs of 37 breeds, in photographs.

    They are fetched if need be, 0.8 GB. Of each picture there is the square in its middle, as large
    as fits, brought to a side of some pixels. The seed divides the official 3,680 into 2,944 to
    train and 736 to validate, with the same share of every breed; the test is the official one of
    3,669.

    Shapes: images (B, 3, side, side), red, green, blue, labels (B,).
    Raises: ValueError if side is below 1; DatasetError if an archive cannot be had or is not the
        original (see `fetch`).
    """
    if side < 1:
        raise ValueError(f"A picture's side is a number of pixels, at least 1, got {side}.")
    lists, archive = (fetch(f"oxford-pets-{what}.tar.gz") for what in ("annotations", "images"))
    listed = _listed(lists)
    rows = {f"images/{name}.jpg": row for row, name in enumerate(listed)}
    images = torch.empty(len(rows), 3, side, side, dtype=torch.uint8)
    for name, data in read_members(archive, rows):
        try:
            images[rows[name]] = _middle(data, side)
        except (OSError, SyntaxError, ValueError):  # what Pillow raises
            raise _damaged(archive, f"has no picture that can be read in {name}") from None
    labels, n = torch.tensor([*listed.values()]), PETS["trainval"]
    breeds = {label: name.rpartition("_")[0].replace("_", " ") for name, label in listed.items()}
    learn, test = Split(images[:n], labels[:n]), Split(images[n:], labels[n:])
    return _official(learn, test, n // 5, seed, tuple(breeds[label] for label in range(BREEDS)))


def _listed(path: Path) -> dict[str, int]:
    """The names of all pets in the order of `PETS`, with their breeds, 0..36."""
    names = {f"annotations/{part}.txt": n for part, n in PETS.items()}
    lists = {name: data.decode(errors="replace") for name, data in read_members(path, names)}
    listed: dict[str, int] = {}
    for name, n in names.items():
        lines = lists[name].splitlines()
        if len(lines) != n:
            raise _damaged(path, f"has {len(lines):,} lines in {name}, not {n:,}")
        for line in lines:
            match line.split():
                case [pet, breed, _, _] if breed in map(str, range(1, BREEDS + 1)):
                    listed[pet] = int(breed) - 1
                case _:
                    what = '"name class species breed"'
                    raise _damaged(path, f"has a line in {name} that is not {what}, {line!r}")
    if len(listed) != sum(names.values()) or len({*listed.values()}) != BREEDS:
        raise _damaged(path, f"lists a picture twice, or not all of {BREEDS} breeds")
    return listed


def _middle(data: bytes, side: int) -> Tensor:
    """Read a picture of any kind, its middle square alone; what is transparent lies on white.

    Shape: (3, side, side), of bytes.
    """
    image = Image.open(io.BytesIO(data))
    if image.has_transparency_data:
        ground = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(ground, image.convert("RGBA"))
    square = ImageOps.fit(image.convert("RGB"), (side, side))
    return torch.from_numpy(np.array(square)).permute(2, 0, 1)


BY_NAME = {
    "digits": lambda seed: digits("file order"),
    "Fashion-MNIST": fashion_mnist,
    "CIFAR-10": cifar_10,
    "Oxford Pets": oxford_pets,
}


def load(name: str = "digits", seed: int = 0) -> Dataset:
    """Load one of the data sets of `BY_NAME`, so that one word exchanges Day 12's data.

    The digits are in file order, as Day 12 has them: there, the seed changes nothing.

    Raises: ValueError if there is no data set of that name; DatasetError if it cannot be had.
    """
    if name not in BY_NAME:
        raise ValueError(f"No data set is called {name!r}: the names are {', '.join(BY_NAME)}.")
    return BY_NAME[name](seed)


def _official(
    learn: Split, test: Split, n_validation: int, seed: int, class_names: tuple[str, ...]
) -> Dataset:
    """Divide what is there to learn from, and scale all images (B, C, H, W) from bytes to 0..1."""

    def scaled(part: Split, chosen: np.ndarray | slice) -> Split:
        return Split(part.images[chosen].float().div_(255), part.labels[chosen].long())

    positions = np.arange(len(learn.labels))
    train, validation = _stratified(positions, n_validation, learn.labels, seed)
    parts = scaled(learn, train), scaled(learn, validation), scaled(test, slice(None))
    return Dataset(*parts, class_names)


def _stratified(
    positions: np.ndarray, n_held_out: int, labels: Tensor, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Divide positions at random into the rest and those held out, every class in proportion."""
    rest, held_out = train_test_split(
        positions, test_size=n_held_out, stratify=labels[positions], random_state=seed
    )
    return rest, held_out


def _part(images: Tensor, labels: Tensor, chosen: np.ndarray, white: int) -> Split:
    """Take the chosen ones of images (B, H, W), valued 0..white, as images (B, 1, H, W) in 0..1."""
    return Split(images[chosen].unsqueeze(1).float() / white, labels[chosen].long())


def read_idx(path: Path, shape: tuple[int, ...]) -> Tensor:
    """Read a gzipped IDX file of unsigned bytes, the format of MNIST, of a shape known before.

    Returns: a uint8 tensor of that shape.
    Raises: DatasetError if the file is no gzip file, is cut short, or holds anything else.
    """
    header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)  # 8 = unsigned byte
    n_bytes = math.prod(shape)
    try:
        with gzip.open(path) as stream:
            start, data = stream.read(len(header)), stream.read(n_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        fault = f"cannot be unpacked ({error})"
    else:
        if start[:4] != header[:4]:
            fault = f"is not an IDX file of unsigned bytes with {len(shape)} axes"
        elif start != header:
            fault = f"does not hold the shape {shape}"
        elif len(data) < n_bytes:
            fault = f"ends after {len(data):,} of {n_bytes:,} values"
        elif len(data) > n_bytes:
            fault = f"goes on after its {n_bytes:,} values"
        else:
            return torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(shape)
    raise _damaged(path, fault)


def read_members(path: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Read files from an archive, .tar.gz, in its order; none is unpacked to the disk.

    Raises: DatasetError if the archive is no such archive, is cut short, or lacks a file.
    """
    missing = set(names)
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if member.isfile() and name in missing:
                    missing.remove(name)
                    yield name, archive.extractfile(member).read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise _damaged(path, f"cannot be unpacked ({error})") from None
    if missing:
        raise _damaged(path, f"lacks {min(missing)}")


def _damaged(path: Path, fault: str) -> DatasetError:
    return DatasetError(f"{path} {fault}: put the original file in its place.")
