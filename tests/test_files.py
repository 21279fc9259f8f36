"""A file that comes from elsewhere is the original, or leaves a sentence and no trace."""

import gzip
import hashlib
import os
import re
import socket
import ssl
import subprocess
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

from utils import ROOT
from utils.data import files

README = (ROOT / "data" / "README.md").read_text(encoding="utf-8")


def is_one_sentence(error):
    text = str(error)
    assert text.endswith(".") and "\n" not in text and ". " not in text and ": " in text
    shown = "".join(traceback.format_exception(error))
    assert "pooch" not in shown.replace("pooch.retrieve(", "") and "During handling" not in shown


def altered(content):
    """The same with one bit flipped in the middle."""
    half = len(content) // 2
    return content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]


AS_IN_A_NOTEBOOK = """
import sys, warnings
import ipykernel.zmqshell
sys.modules["ipywidgets"] = None
import utils.data.files
assert "tqdm.notebook" in sys.modules
warnings.warn("IProgress not found.")
"""


def test_no_warning_of_a_progress_bar_comes_before_the_first_word():
    done = subprocess.run(
        [sys.executable, "-c", AS_IN_A_NOTEBOOK], cwd=ROOT, capture_output=True, text=True
    )
    assert "UserWarning: IProgress not found." in done.stderr  # its own, at the end
    assert "files.py" not in done.stderr and "TqdmWarning" not in done.stderr


def test_readme_gives_the_checksum_of_every_file():
    folder = Path(sklearn.datasets.__file__).parent
    for path in ("data/digits.csv.gz", "images/china.jpg", "images/flower.jpg"):
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() in README
    for name, source in files.SOURCES.items():
        row = next(line for line in README.splitlines() if f"`{name}`" in line)
        assert source.sha256 in row and f"{source.size:,}" in row


CONTENT = np.random.default_rng(0).bytes(200_000)
BOMB = gzip.compress(bytes(10**8))  # a hundred thousand bytes that want to be a hundred million
NAME = "strange.bin"

ELSEWHERE = {"round": "/round", "file": "file:///etc/hosts", "ftp": "ftp://127.0.0.1/x"}


class Answer(BaseHTTPRequestHandler):
    """Answers as the address asks: with the file, or in one of the ways that go wrong."""

    def do_GET(self):
        self.server.asked += 1
        self.server.heard.set()
        way = self.path.strip("/")
        if way == "silent":
            self.server.over.wait()
            return
        if way == "missing":
            self.send_error(404)
            return
        if way in ELSEWHERE:
            self.send_response(302)
            self.send_header("Location", ELSEWHERE[way])
            self.end_headers()
            return
        self.send_response(200)
        if way == "packed":
            self.send_header("Content-Encoding", "gzip")
        elif way not in ("short", "endless"):  # an end too early looks like the end
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.server.sent = 0
        if way == "endless":
            self.send_until_closed(CONTENT)
            return
        if way == "drips":
            self.send_until_closed(b"x", pause=0.02)
            return
        half = len(CONTENT) // 2
        sent = {"whole": CONTENT, "altered": altered(CONTENT), "packed": BOMB}
        self.wfile.write(sent.get(way, CONTENT[:half]))
        if way == "stalls":
            self.wfile.flush()
            self.server.over.wait()

    def send_until_closed(self, piece, pause=0.0):
        try:
            while not self.server.over.is_set() and self.server.sent < 1e9:
                self.wfile.write(piece)
                self.server.sent += len(piece)
                time.sleep(pause)
        except OSError:
            pass  # the other side has had enough

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.asked, server.heard, server.over = 0, threading.Event(), threading.Event()
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
        checksum = hashlib.sha256(CONTENT).hexdigest()
        source = files.Source(f"{address}/{way}", checksum, len(CONTENT), "no licence")
        monkeypatch.setattr(files, "SOURCES", {NAME: source})

    monkeypatch.setattr(files, "TIMEOUT", (600, 600))
    at("whole")
    return at


def stored(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_download_is_said_once_and_kept(book, server, cache, capfd, monkeypatch):
    monkeypatch.setattr(pooch.get_logger().handlers[0], "stream", sys.stderr)
    before = stored(cache)
    assert files.fetch(NAME) == cache / NAME
    assert stored(cache) == before | {NAME: CONTENT}
    out, err = capfd.readouterr()
    assert out == "" and err == f"Downloading {NAME} (0.20 MB, no licence) to {cache}\n"
    assert files.fetch(NAME) == cache / NAME
    assert server.asked == 1 and capfd.readouterr() == ("", "")


def test_cache_folder_is_made(book, cache, monkeypatch):
    monkeypatch.setenv("BOOK_CACHE", str(cache / "new" / "folder"))
    assert files.fetch(NAME) == cache / "new" / "folder" / NAME


def test_readers_folder_comes_first(book, server, cache, tmp_path, monkeypatch):
    files.fetch(NAME)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / NAME).write_bytes(CONTENT)
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "mine"))
    assert files.fetch(NAME) == tmp_path / "mine" / NAME
    (tmp_path / "mine" / NAME).unlink()
    assert files.fetch(NAME) == cache / NAME  # not there: on to the cache
    (cache / NAME).unlink()
    assert files.fetch(NAME) == cache / NAME and server.asked == 2  # on to the download


def test_relative_folder_counts_from_the_book(book, cache, tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    (tmp_path / NAME).write_bytes(CONTENT)
    monkeypatch.setattr(files, "ROOT", tmp_path / "book")
    monkeypatch.setenv("BOOK_DATA", "..")
    assert files.fetch(NAME).samefile(tmp_path / NAME)


DAMAGED = {
    "cut": (CONTENT[:-1], "199,999 .* 200,000 "),
    "empty": (b"", "0 .* 200,000 "),
    "altered": (altered(CONTENT), "SHA-256"),
    "too long": (CONTENT + b"\n", "200,001 .* 200,000"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_readers_damaged_file_is_named_and_left(book, server, tmp_path, monkeypatch, damage):
    content, says = DAMAGED[damage]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / NAME).write_bytes(content)
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "mine"))
    with pytest.raises(files.DatasetError, match=rf"\b{says}.*BOOK_DATA") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert str(tmp_path / "mine" / NAME) in str(caught.value) and server.asked == 0
    assert stored(tmp_path / "mine") == {NAME: content}


def test_readers_unreadable_file_is_named(book, tmp_path, monkeypatch):
    (tmp_path / "mine" / NAME).mkdir(parents=True)  # a folder where the file should be
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "mine"))
    with pytest.raises(files.DatasetError, match=f"{NAME} .*ordinary") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("place", ["BOOK_DATA", "BOOK_CACHE"])
def test_a_pipe_in_the_place_of_a_file_is_named(book, server, tmp_path, monkeypatch, place):
    (tmp_path / "mine").mkdir()
    os.mkfifo(tmp_path / "mine" / NAME)  # whoever reads it waits for ever
    monkeypatch.setenv(place, str(tmp_path / "mine"))
    with pytest.raises(files.DatasetError, match="ordinary") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert str(tmp_path / "mine" / NAME) in str(caught.value) and server.asked == 0


@pytest.mark.parametrize("named", ["missing", "file"])
def test_a_folder_that_is_none_is_said(book, server, tmp_path, monkeypatch, named):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / named))
    with pytest.raises(files.DatasetError, match="BOOK_DATA .*no folder") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert str(tmp_path / named) in str(caught.value) and server.asked == 0


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_file_in_the_cache_is_replaced_online(book, cache, damage):
    (cache / NAME).write_bytes(DAMAGED[damage][0])
    assert files.fetch(NAME).read_bytes() == CONTENT


def test_damaged_file_in_the_cache_is_left_offline(book, cache):
    content, says = DAMAGED["cut"]
    (cache / NAME).write_bytes(content)
    before = stored(cache)
    book("missing")
    with pytest.raises(files.DatasetError, match=f"{says}.*downloaded") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert str(cache / NAME) in str(caught.value)
    assert stored(cache) == before


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("missing", "404"),
        ("cut", "midway"),
        ("short", "original"),
        ("altered", "original"),
        ("file", "another kind"),
        ("ftp", "another kind"),
        ("packed", "is packed"),
        ("endless", "200,000"),
        ("drips", "0.5 seconds"),
        ("silent", "in time"),
        ("stalls", "in time"),
    ],
)
def test_failed_download_leaves_a_sentence_and_no_trace(
    book, server, cache, monkeypatch, way, says
):
    before = stored(cache)
    book(way)
    with monkeypatch.context() as patience:
        if way in ("silent", "stalls"):
            patience.setattr(files, "TIMEOUT", (0.3, 0.3))
        patience.setattr(files, "DEADLINE", 0.5 if way == "drips" else 600)
        with pytest.raises(files.DatasetError, match=f"/{way} .*{says}.*BOOK_DATA") as caught:
            files.fetch(NAME)
    is_one_sentence(caught.value)
    server.heard.wait(600)  # perhaps after the other side has had enough
    assert server.asked == 1 and stored(cache) == before
    book("whole")
    assert files.fetch(NAME).read_bytes() == CONTENT  # and the next try goes well


def test_a_large_file_may_take_longer(book, cache, monkeypatch):
    book("whole")
    monkeypatch.setattr(files, "DEADLINE", 0)
    monkeypatch.setattr(files, "SLOWEST", 1_000)  # 200 seconds for its 200,000 bytes
    assert files.fetch(NAME).read_bytes() == CONTENT


def test_a_server_that_sends_round_in_a_circle(book, cache):
    before = stored(cache)
    book("round")
    with pytest.raises(files.DatasetError, match="/round .* next") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert stored(cache) == before


@pytest.mark.parametrize(
    ("proxy", "says"),
    [
        ("http://127.0.0.1:1", "HTTPS_PROXY"),
        ("http://", "HTTPS_PROXY"),
        ("socks5://127.0.0.1:1", "SOCKS"),
    ],
)
def test_a_proxy_that_can_not_be_used(book, server, monkeypatch, proxy, says):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy)
    with pytest.raises(files.DatasetError, match=says) as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert server.asked == 0


def test_certificates_that_are_missing(book, server, tmp_path, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none"))
    book("whole", f"https://127.0.0.1:{server.server_port}")
    with pytest.raises(files.DatasetError, match="certificates") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert str(tmp_path / "none") in str(caught.value)


def test_a_certificate_that_is_not_trusted(book, server, monkeypatch):
    def refused(*_, **__):
        why = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"
        raise files.requests.exceptions.SSLError(ssl.SSLCertVerificationError(1, why))

    book("whole")
    monkeypatch.setattr(files.requests, "get", refused)
    with pytest.raises(files.DatasetError, match="certificate .*trusted") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)


def test_a_folder_that_may_not_be_entered(book, server, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_DATA", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)  # nor the superuser
    book("whole")
    with pytest.raises(files.DatasetError, match="BOOK_DATA .*may not enter") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert server.asked == 0


@pytest.mark.parametrize("variable", ["BOOK_DATA", "BOOK_CACHE"])
def test_the_home_folder_of_nobody(book, monkeypatch, variable):
    monkeypatch.setenv(variable, "~nobody of that name/data")
    with pytest.raises(files.DatasetError, match=f"^{variable} is '~nobody") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)


def test_a_machine_that_knows_no_home(monkeypatch):
    def unknown(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("BOOK_CACHE", raising=False)
    monkeypatch.setattr(files.pooch, "os_cache", unknown)
    with pytest.raises(files.DatasetError, match="set BOOK_CACHE") as caught:
        files.cache_folder()
    is_one_sentence(caught.value)


def no_such_name(*_, **__):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("trouble", ["nobody listens", "no such name"])
def test_unreachable_server(book, cache, monkeypatch, trouble):
    with socket.socket() as bound:  # bound, not listening: refuses
        bound.bind(("127.0.0.1", 0))
        book("whole", f"http://127.0.0.1:{bound.getsockname()[1]}")
        if trouble == "no such name":
            monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
        before = stored(cache)
        with pytest.raises(files.DatasetError, match="reached") as caught:
            files.fetch(NAME)
    is_one_sentence(caught.value)
    assert stored(cache) == before


def refuse(*_, **__):
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("trouble", ["below a file", "read-only"])
def test_cache_that_cannot_be_written_to(book, server, cache, monkeypatch, trouble):
    if trouble == "below a file":
        monkeypatch.setenv("BOOK_CACHE", str(cache / "neighbour" / "below"))
    else:  # the mode of a folder does not stop the superuser
        refusing = SimpleNamespace(NamedTemporaryFile=refuse)
        monkeypatch.setattr("pooch.utils.tempfile", refusing)
    before = stored(cache)
    why = {"below a file": "Not a directory", "read-only": "Permission denied"}[trouble]
    with pytest.raises(files.DatasetError, match=rf"{NAME} .*\({why}\): .*BOOK_CACHE") as caught:
        files.fetch(NAME)
    is_one_sentence(caught.value)
    assert server.asked == 0 and stored(cache) == before


def test_disk_that_is_full_midway(book, cache):
    resource = pytest.importorskip("resource")  # not on Windows
    (cache / NAME).write_bytes(b"damaged")
    before = stored(cache)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 2, limit[1]))  # no larger file
    try:
        with pytest.raises(files.DatasetError, match=f"{NAME} .*saved .*BOOK_CACHE") as caught:
            files.fetch(NAME)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    is_one_sentence(caught.value)
    assert stored(cache) == before


def test_unknown_file_is_named():
    with pytest.raises(ValueError, match=r"'\.\./secret': .*train-images"):
        files.fetch("../secret")


def test_what_is_fetched_is_pinned():
    assert {name: source.sha256 for name, source in files.SOURCES.items()} == {
        "train-images-idx3-ubyte.gz": (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
        ),
        "train-labels-idx1-ubyte.gz": (
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
        ),
        "tinyshakespeare.txt": ("86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"),
        "cifar-10-binary.tar.gz": (
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
        ),
        "oxford-pets-images.tar.gz": (
            "67195c5e1c01f1ab5f9b6a5d22b8c27a580d896ece458917e61d459337fa318d"
        ),
        "oxford-pets-annotations.tar.gz": (
            "52425fb6de5c424942b7626b428656fcbd798db970a937df61750c0f1d358e91"
        ),
    }
    for source in files.SOURCES.values():  # an encrypted way, and a state or a place that stays
        its_own = r"www\.(cs\.toronto\.edu/~kriz|robots\.ox\.ac\.uk/~vgg/data)/"
        assert re.match(rf"https://(.*/[0-9a-f]{{40}}/|{its_own})", source.address)
