"""How a file comes from elsewhere, checked."""

import errno
import hashlib
import logging
import os
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import requests
import urllib3

from utils import ROOT

with warnings.catch_warnings():  # by way of tqdm, it asks JupyterLab's readers for ipywidgets
    warnings.filterwarnings("ignore", message="IProgress not found")
    import pooch


class DatasetError(Exception):
    """Says in one sentence what is wrong with a file and what the reader can do."""


class Source(NamedTuple):
    """Where a file comes from, and how it is known to be the original."""

    address: str
    sha256: str
    size: int  # bytes
    licence: str


_FASHION = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/"
    "b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion"
)
_CHAR_RNN = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/d1d7aa34fdb3626174bce1d753e6cc6845ce7087"
)
_PETS = "https://www.robots.ox.ac.uk/~vgg/data/pets/data"

SOURCES = {
    "train-images-idx3-ubyte.gz": Source(
        f"{_FASHION}/train-images-idx3-ubyte.gz",
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        26_421_880,
        "MIT licence",
    ),
    "train-labels-idx1-ubyte.gz": Source(
        f"{_FASHION}/train-labels-idx1-ubyte.gz",
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        29_515,
        "MIT licence",
    ),
    "t10k-images-idx3-ubyte.gz": Source(
        f"{_FASHION}/t10k-images-idx3-ubyte.gz",
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        4_422_102,
        "MIT licence",
    ),
    "t10k-labels-idx1-ubyte.gz": Source(
        f"{_FASHION}/t10k-labels-idx1-ubyte.gz",
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        5_148,
        "MIT licence",
    ),
    "tinyshakespeare.txt": Source(
        f"{_CHAR_RNN}/data/tinyshakespeare/input.txt",
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        1_115_394,
        "public domain",
    ),
    "cifar-10-binary.tar.gz": Source(
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        170_052_171,
        "no stated licence",
    ),
    "oxford-pets-images.tar.gz": Source(
        f"{_PETS}/images.tar.gz",
        "67195c5e1c01f1ab5f9b6a5d22b8c27a580d896ece458917e61d459337fa318d",
        791_918_971,
        "CC BY-SA 4.0",
    ),
    "oxford-pets-annotations.tar.gz": Source(
        f"{_PETS}/annotations.tar.gz",
        "52425fb6de5c424942b7626b428656fcbd798db970a937df61750c0f1d358e91",
        19_173_078,
        "CC BY-SA 4.0",
    ),
}

TIMEOUT = (10, 30)  # seconds: to connect, and between two pieces of a download
DEADLINE = 600  # seconds that a download may take,
SLOWEST = 500_000  # or its bytes by these bytes per second, if that is longer
PIECE = 2**16  # bytes read at once

pooch.get_logger().setLevel(logging.ERROR)  # `fetch` says what it downloads


def fetch(name: str) -> Path:
    """Find a file of `SOURCES`: in the folder BOOK_DATA, then in the cache, then by download.

    BOOK_DATA is an environment variable, and so is BOOK_CACHE, which moves the cache; a relative
    path counts from the book's folder. Every file is compared with its size and pinned checksum,
    wherever it lies. A download stops at that size and after `DEADLINE` seconds, a large one later,
    when it is slower than `SLOWEST`; one that fails leaves the cache as it was, one that succeeds
    replaces a damaged file there. A file in BOOK_DATA is the reader's own and never touched.

    Raises: DatasetError if BOOK_DATA is no folder, or the file is damaged, or can be neither found
    nor downloaded nor saved; ValueError if the book knows no file of that name.
    """
    if name not in SOURCES:
        raise ValueError(f"The book has no file {name!r}: its files are {', '.join(SOURCES)}.")
    source = SOURCES[name]
    own = own_folder()
    if own and not os.access(own, os.X_OK):
        raise DatasetError(f"BOOK_DATA names {own}, which you may not enter: unset it.")
    if own and os.path.exists(own / name):
        if fault := _fault(own / name, source):
            raise DatasetError(
                f"{own / name} {fault}: put the original from {source.address} in its place, "
                "or unset BOOK_DATA."
            )
        return own / name

    cache = cache_folder()
    place = cache / name
    if os.path.exists(place) and not os.path.isfile(place):
        raise DatasetError(
            f"{place} is no ordinary file: remove it, or set BOOK_CACHE to another folder."
        )
    fault = _fault(place, source) if os.path.exists(place) else "is missing"
    if fault:
        size = f"{source.size / 1e6:.2f} MB"
        print(f"Downloading {name} ({size}, {source.licence}) to {cache}", file=sys.stderr)
        _download(name, source, cache, fault)
    return place


def own_file(name: str, get: str) -> Path:
    """Find a file that the book can't fetch: in the folder BOOK_DATA, then in the cache.

    get: what the reader can do to have it, as the rest of a sentence.
    Raises: DatasetError if the file is in neither.
    """
    places = [folder / name for folder in (own_folder(), cache_folder()) if folder]
    for place in places:
        if place.exists():
            return place
    raise DatasetError(f"{places[0]} is missing: {get}.")


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text in UTF-8, without their ends.

    Raises: DatasetError if the file can't be read, is empty, or ends within a line.
    """
    try:
        if not path.is_file():  # a pipe would never end
            raise OSError(errno.EINVAL, "no ordinary file")
        with path.open(encoding="utf-8-sig") as stream:  # some editors begin with a byte-order mark
            lines = stream.readlines()
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        fault = "is not text in UTF-8"
    else:
        fault = None if lines else "is empty"
        if lines and not lines[-1].endswith("\n"):
            fault = f"is cut short in line {len(lines)}"
    if fault:
        raise DatasetError(f"{path} {fault}: put the original file in its place.")
    return [line.removesuffix("\n") for line in lines]


def own_folder() -> Path | None:
    """The reader's own folder of files, if BOOK_DATA names one.

    Raises: DatasetError if there is no such folder.
    """
    folder = _folder("BOOK_DATA")
    if folder and not folder.is_dir():
        raise DatasetError(f"BOOK_DATA names {folder}, which is no folder: make it, or unset it.")
    return folder


def cache_folder() -> Path:
    """The folder where downloads are kept.

    Raises: DatasetError if the machine knows no home folder, and BOOK_CACHE names none.
    """
    if folder := _folder("BOOK_CACHE"):
        return folder
    try:
        return pooch.os_cache("convolution-to-attention")
    except RuntimeError:
        raise DatasetError(
            "Downloads have no place: your home folder is unknown here, so set BOOK_CACHE to a "
            "folder of yours."
        ) from None


def _folder(variable: str) -> Path | None:
    """The folder that an environment variable names, if it is set.

    Raises: DatasetError if it begins with the home folder of somebody unknown.
    """
    value = os.environ.get(variable)
    try:
        return ROOT / Path(value).expanduser() if value else None
    except RuntimeError:
        raise DatasetError(
            f"{variable} is {value!r}: there is no such home folder, so write the path in full."
        ) from None


def _fault(path: Path, source: Source) -> str | None:
    """What is wrong with a file, as the rest of a sentence, or None if it is the original."""
    if not os.path.isfile(path):  # a pipe would never end
        return "cannot be read (no ordinary file)"
    try:
        size = path.stat().st_size
        if size < source.size:
            return f"is cut short ({size:,} of {source.size:,} bytes)"
        if size > source.size:
            return f"is not the original ({size:,} bytes, not {source.size:,})"
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if found != source.sha256:
        return f"is not the original (its SHA-256 sum is {found}, not {source.sha256})"
    return None


class _Stopped(Exception):
    """Says why a download was not taken to its end, as the rest of a sentence."""


def _download(name: str, source: Source, cache: Path, fault: str) -> None:
    """Download a file into the cache: beside its place first, and renamed when it is right."""

    def take(address: str, file: str, _) -> None:
        """Write what comes from an address, up to the size that is known."""
        limit = max(DEADLINE, source.size / SLOWEST)
        end, left = time.monotonic() + limit, source.size
        plain = {"Accept-Encoding": "identity"}  # a few packed bytes may unpack to any number
        with _answer(address, plain) as response, open(file, "wb") as beside:
            response.raise_for_status()
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise _Stopped("what arrived is packed")
            while piece := response.raw.read1(PIECE, decode_content=False):
                left -= len(piece)
                if left < 0:
                    raise _Stopped(f"what arrived is longer than {source.size:,} bytes")
                if time.monotonic() > end:
                    raise _Stopped(f"it was not finished in {limit:.4g} seconds")
                beside.write(piece)

    try:
        pooch.retrieve(source.address, f"sha256:{source.sha256}", name, cache, downloader=take)
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError, _Stopped) as error:
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


def _answer(address: str, headers: dict[str, str]) -> requests.Response:
    try:
        return requests.get(address, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.RequestException:
        raise
    except OSError as error:  # a file that REQUESTS_CA_BUNDLE or the like names
        raise _Stopped(f"the certificates can't be read ({error})") from None


def _reason(error: Exception) -> str:
    """Why a download failed, as the rest of a sentence."""
    if isinstance(error, _Stopped):
        return str(error)
    if isinstance(error, requests.HTTPError):
        return f"the server answered {error.response.status_code}"
    if isinstance(error, requests.exceptions.ProxyError | requests.exceptions.InvalidProxyURL):
        return "the proxy that HTTPS_PROXY or the like names can't be used"
    if isinstance(error, requests.TooManyRedirects):
        return "the server sends from one address to the next"
    if isinstance(error, requests.exceptions.InvalidSchema):
        return f"that leads to an address of another kind ({error})".replace(". ", ", ")
    if "timed out" in str(error):  # four classes of errors say so
        return "the server did not answer in time"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "the server's certificate is not trusted on this machine"
    if isinstance(error, requests.ConnectionError):
        return "the server could not be reached"
    if isinstance(error, requests.RequestException | urllib3.exceptions.HTTPError):
        return "the connection was cut midway"
    return "what arrived is not the original"
