"""Pictures and texts to learn from, and how a file comes from elsewhere, checked."""

import gzip
import hashlib
import logging
import math
import os
import struct
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pooch
import requests
import torch
from sklearn.datasets import load_digits, load_sample_image
from sklearn.model_selection import train_test_split
from torch import Tensor

from utils import ROOT


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


def tiny_shakespeare(part: str | None = None) -> str:
    """Load a million letters of Shakespeare's plays (Karpathy, 2015), fetched if need be.

    One part of it, or all (the default): of the speeches in their order, the first 90 % are
    "train", the next 5 % "validation", the last "test".

    Raises: DatasetError if the file cannot be had or is not the original (see `fetch`);
    ValueError if there is no such part.
    """
    text = fetch("tinyshakespeare.txt").read_text(encoding="ascii")
    first, second = (text.index("\n\n", share * len(text) // 100) + 2 for share in (90, 95))
    parts = {None: text, "train": text[:first], "validation": text[first:second]}
    parts["test"] = text[second:]
    if part not in parts:
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    return parts[part]


class Pairs(NamedTuple):
    """Sentences and their translations, to learn from, to choose with, and to judge with once."""

    train: list[tuple[str, str]]
    validation: list[tuple[str, str]]
    test: list[tuple[str, str]]


TATOEBA = "tatoeba_eng_cmn.tsv"


def tatoeba(seed: int = 0) -> Pairs:
    """Load English sentences with Chinese translations, made by the volunteers of Tatoeba.

    The collection grows every week and its old states are not kept, so there is no address to pin
    and no checksum: the file is the reader's own, in BOOK_DATA or the cache, and what is measured
    on it hangs on its state. A line is an English sentence, a tab, its translation, and perhaps a
    tab and the authors, who are passed over.

    An English sentence is in one part only, with all its translations: 80 % of the sentences to
    train, 10 % to validate, 10 % to test. A translation that fits two sentences may be in two.

    Raises: DatasetError if the file is missing, or a line is no such pair.
    """
    places = [folder / TATOEBA for folder in (_folder("BOOK_DATA"), _cache()) if folder]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise DatasetError(
            f"{places[0]} is missing: get cmn-eng.zip from https://www.manythings.org/anki/ and "
            f"save the cmn.txt in it under the name {TATOEBA} in that folder (CC BY 2.0 FR)."
        )
    translations = read_pairs(path)
    sentences = list(translations)
    order = np.random.default_rng(seed).permutation(len(sentences))
    cuts = [8 * len(order) // 10, 9 * len(order) // 10]
    parts = [[sentences[i] for i in part] for part in np.split(order, cuts)]
    return Pairs(*([(s, t) for s in part for t in translations[s]] for part in parts))


# How a file comes from elsewhere


class DatasetError(Exception):
    """Says in one sentence what is wrong with a file and what the reader can do."""


class Source(NamedTuple):
    """Where a file comes from, and how it is known to be the original."""

    address: str
    checksum: str  # "algorithm:hexadecimal digits"
    size: int  # bytes
    licence: str


_FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
_CHAR_RNN = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/d1d7aa34fdb3626174bce1d753e6cc6845ce7087"
)

SOURCES = {
    "train-images-idx3-ubyte.gz": Source(
        f"{_FASHION}/train-images-idx3-ubyte.gz",
        "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        26_421_880,
        "MIT licence",
    ),
    "train-labels-idx1-ubyte.gz": Source(
        f"{_FASHION}/train-labels-idx1-ubyte.gz",
        "md5:25c81989df183df01b3e8a0aad5dffbe",
        29_515,
        "MIT licence",
    ),
    "t10k-images-idx3-ubyte.gz": Source(
        f"{_FASHION}/t10k-images-idx3-ubyte.gz",
        "md5:bef4ecab320f06d8554ea6380940ec79",
        4_422_102,
        "MIT licence",
    ),
    "t10k-labels-idx1-ubyte.gz": Source(
        f"{_FASHION}/t10k-labels-idx1-ubyte.gz",
        "md5:bb300cfdad3c16e7a12a480ee83cd310",
        5_148,
        "MIT licence",
    ),
    "tinyshakespeare.txt": Source(
        f"{_CHAR_RNN}/data/tinyshakespeare/input.txt",
        "sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        1_115_394,
        "public domain",
    ),
}

TIMEOUT = (10, 30)  # seconds: to connect, and between two pieces of a download

pooch.get_logger().setLevel(logging.ERROR)  # `fetch` says what it downloads


def fetch(name: str) -> Path:
    """Find a file of `SOURCES`: in the folder BOOK_DATA, then in the cache, then by download.

    BOOK_DATA is an environment variable, and so is BOOK_CACHE, which moves the cache; a relative
    path counts from the book's folder. Every file is compared with its pinned checksum, wherever it
    lies. A download that fails leaves the cache as it was; one that succeeds replaces a damaged
    file there. A file in BOOK_DATA is the reader's own and never touched.

    Raises: DatasetError if the file is damaged, or can be neither found nor downloaded nor saved;
    ValueError if the book knows no file of that name.
    """
    if name not in SOURCES:
        raise ValueError(f"The book has no file {name!r}: its files are {', '.join(SOURCES)}.")
    source = SOURCES[name]
    own = _folder("BOOK_DATA")
    if own and (own / name).exists():
        if fault := _fault(own / name, source):
            raise DatasetError(
                f"{own / name} {fault}: put the original from {source.address} in its place, "
                "or unset BOOK_DATA."
            )
        return own / name

    cache = _cache()
    fault = _fault(cache / name, source) if (cache / name).exists() else "is missing"
    if fault:
        size = f"{source.size / 1e6:.2f} MB"
        print(f"Downloading {name} ({size}, {source.licence}) to {cache}", file=sys.stderr)
        _download(name, source, cache, fault)
    return cache / name


def _folder(variable: str) -> Path | None:
    """The folder that an environment variable names, if it is set."""
    value = os.environ.get(variable)
    return ROOT / Path(value).expanduser() if value else None


def _cache() -> Path:
    """The folder where downloads are kept."""
    return _folder("BOOK_CACHE") or pooch.os_cache("convolution-to-attention")


def _fault(path: Path, source: Source) -> str | None:
    """What is wrong with a file, as the rest of a sentence, or None if it is the original."""
    algorithm, digest = source.checksum.split(":")
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, algorithm).hexdigest()
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if found == digest:
        return None
    if (size := path.stat().st_size) < source.size:
        return f"is cut short ({size:,} of {source.size:,} bytes)"
    return f"is not the original (its {algorithm} sum is {found}, not {digest})"


def _download(name: str, source: Source, cache: Path, fault: str) -> None:
    """Download a file into the cache: beside its place first, and renamed when it is right."""
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT)
    try:
        pooch.retrieve(source.address, source.checksum, name, cache, downloader=downloader)
    except (requests.RequestException, ValueError) as error:  # ValueError: another checksum
        raise DatasetError(
            f"{cache / name} {fault} and could not be downloaded from {source.address} because "
            f"{_reason(error)}: try again later, or get the file elsewhere and set BOOK_DATA "
            "to its folder."
        ) from None
    except OSError as error:
        raise DatasetError(
            f"{name} could not be saved in {cache} ({error.strerror or 'Permission denied'}): "
            "free some space there, or set BOOK_CACHE to a folder that can be written to."
        ) from None


def _reason(error: Exception) -> str:
    """Why a download failed, as the rest of a sentence."""
    if isinstance(error, requests.HTTPError):
        return f"the server answered {error.response.status_code}"
    if "timed out" in str(error):  # three classes of errors say so
        return "the server did not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "the server could not be reached"
    if isinstance(error, requests.RequestException):
        return "the connection was cut midway"
    return "what arrived is not the original"


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


def read_pairs(path: Path) -> dict[str, list[str]]:
    """Read lines of a sentence, a tab, its translation, and perhaps a tab and something else.

    Returns: the translations of each sentence, both in the order of the file.
    Raises: DatasetError if the file can't be read, ends within a line, or a line is no such pair.
    """
    translations: dict[str, list[str]] = {}
    try:
        with path.open(encoding="utf-8") as stream:
            lines = stream.readlines()
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        fault = "is not text in UTF-8"
    else:
        fault = None if lines else "is empty"
        for number, line in enumerate(lines, start=1):
            columns = [column.strip() for column in line.split("\t")]
            if not line.endswith("\n"):
                fault = f"is cut short in line {number}"
            elif len(columns) not in (2, 3) or not all(columns):
                fault = f"has no pair of sentences in line {number}"
            if fault:
                break
            translations.setdefault(columns[0], []).append(columns[1])
    if fault:
        raise DatasetError(f"{path} {fault}: put the original file in its place.")
    return translations
