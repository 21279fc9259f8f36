"""Helpers for tests of the built book: the strict build, and where Chromium is."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import yaml

BOOK = Path(__file__).resolve().parents[1]
ADDRESS_VARIABLES = ("BOOK_REPOSITORY", "BOOK_BRANCH", "GITHUB_REPOSITORY", "GITHUB_SERVER_URL")
PATIENCE = 600_000  # milliseconds for what takes seconds: no test races with other programs
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A page of nothing but views, in a theme; and what JupyterLab's shortcuts do to arrow keys, unless
# the element that has the focus forbids it.
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><title>Views</title>
<meta name="viewport" content="width=device-width"><style>
body {{ margin: 1rem; font: 16px/1.5 sans-serif }}
html[data-theme="dark"] {{ background: #14181e; color: #fff }}
</style></head><body><main><h1>Views</h1>{views}</main></body></html>"""
AS_IN_JUPYTERLAB = """() => document.addEventListener("keydown", (event) => {
    const free = event.target.hasAttribute("data-lm-suppress-shortcuts");
    if (event.key.startsWith("Arrow") && !free) event.preventDefault();
}, true)"""


def listed_pages() -> list[str]:
    """The pages that _toc.yml lists, in order."""
    toc = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [page for part in toc["parts"] for page in part["chapters"]]
    below = [[page, *page.get("sections", ())] for page in chapters]
    return [toc["root"], *(page["file"] for group in below for page in group)]


class Build(NamedTuple):
    """A finished build: exit status, what was printed, seconds of work, the folder of its pages.

    The seconds are of processor time, which other programs make longer by far less than the clock's
    (0 on Windows).
    """

    status: int
    log: str
    seconds: float
    html: Path


def build_book(source: Path, output: Path, **environment: str) -> Build:
    """Build the book in `source` strictly; its repository's address is only in `environment`."""
    inherited = {name: os.environ[name] for name in os.environ if name not in ADDRESS_VARIABLES}
    strictly = ["-W", "-n", "--keep-going", "--all", "--path-output", output, source]
    before = os.times()
    done = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", *strictly],
        env=inherited | {"PYTHONUTF8": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    after = os.times()
    seconds = sum(after[2:4]) - sum(before[2:4])  # of child processes, user and system
    return Build(done.returncode, done.stdout, seconds, output / "_build" / "html")


def find_chromium(playwright) -> Path | None:
    """Return the system's Chromium, or Playwright's own, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), playwright.chromium.executable_path)
    return Path(found) if Path(found).exists() else None


def processor_seconds() -> dict[int, float]:
    """What each process of the open pages has taken of the processor so far."""
    taken = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it may have ended
            if "--type=renderer" in process.cmdline():
                taken[process.pid] = sum(process.cpu_times()[:2])  # user and system
    return taken


def taken_since(before: dict[int, float]) -> float:
    """Processor seconds of the pages that are still open."""
    return sum(now - before.get(pid, 0) for pid, now in processor_seconds().items())


def as_built(folder: Path, view: str, name: str, script: str | None) -> str:
    """The address of a page on disk as the book is built: its models are in _static/."""
    page = folder / "chapters" / "page.html"
    page.parent.mkdir(parents=True)
    (folder / "_static" / "models").mkdir(parents=True)
    if script is not None:
        (folder / "_static" / "models" / f"{name}.js").write_text(script, encoding="ascii")
    html = PAGE.format(theme="light", views=view)
    page.write_text(html.replace("<html ", '<html data-content_root="../" '), encoding="utf-8")
    return page.as_uri()
