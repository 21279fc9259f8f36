"""`python -m utils.press.offline pdf epub zip` makes the book to take along, in `_build/`."""

import logging
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from utils import ROOT
from utils.press.offline import KINDS, NAME, OWN, NoBrowserError

BUILD = ROOT / "_build"


def main(kinds: list[str]) -> None:
    if not kinds or set(kinds) - set(KINDS):
        sys.exit(f"Name what to make, some of: {', '.join(KINDS)}.")
    # A build of its own: its first page offers no files that aren't in it.
    own = BUILD / "offline"
    shutil.rmtree(own, ignore_errors=True)  # pages that are gone since the last time
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT, "--quiet"]
    done = subprocess.run([*command, "-W", "-n", "--keep-going", "--path-output", own])
    if done.returncode:
        sys.exit("The book can't be built: the lines above say why.")
    book = own / "_build" / "html"
    if "zip" in kinds:
        zipped(book, BUILD / f"{NAME}.zip")
    if set(kinds) - {"zip"}:
        try:
            for_readers(book, kinds)
        except ModuleNotFoundError as error:
            sys.exit(f"{error}\n`make {' '.join(kinds)}` needs the packages of `make test`.")
        except NoBrowserError as error:
            sys.exit(str(error))
    for kind in kinds:
        made = BUILD / f"{NAME}.{kind}"
        print(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1e6:.0f} MB")


def for_readers(book: Path, kinds: list[str]) -> None:
    """Make the PDF, the EPUB or both of a built book."""
    from utils.press.offline import epub, harvest, paper  # here: a zip needs no browser

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    with harvest.chromium() as browser:
        pages = harvest.harvest(book, harvest.listed(), browser)
        if "pdf" in kinds:
            paper.print_book(book, pages, browser, BUILD / f"{NAME}.pdf")
        if "epub" in kinds:
            epub.write_epub(book, pages, browser, BUILD / f"{NAME}.epub")


def zipped(book: Path, into: Path) -> None:
    """Pack the pages of a built book into one folder of a zip."""
    part = into.with_name(f"{into.name}.part")
    files = [path for path in sorted(book.rglob("*")) if not path.name.startswith(OWN)]
    with ZipFile(part, "w", ZIP_DEFLATED) as packed:
        for path in files:
            packed.write(path, Path(NAME, path.relative_to(book)))
    part.replace(into)


if __name__ == "__main__":
    main(sys.argv[1:])
