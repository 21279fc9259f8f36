"""Pictures to learn from, divided into three parts."""

import gzip
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
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
    train, validation = _stratified(np.arange(60_000), 9_000, labels, seed)
    return Dataset(
        train=_part(images, labels, train, white=255),
        validation=_part(images, labels, validation, white=255),
        test=_part(test_images, test_labels, np.arange(10_000), white=255),
        class_names=FASHION_CLASSES,
    )


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
    raise DatasetError(f"{path} {fault}: put the original file in its place.")
