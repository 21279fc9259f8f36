"""`python -m utils.press.serving [PORT]` shows the built book at an address of this machine."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from utils import ROOT


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line of log for each of them."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def server(folder: Path, port: int = 8000) -> ThreadingHTTPServer:
    """A server of `folder` for this machine alone, at `port` or, where that is taken, a free one.

    Raises: FileNotFoundError if there is no page in `folder`.
    """
    if not (folder / "index.html").is_file():
        raise FileNotFoundError(f"There is no book in {folder}: `make book` builds it.")
    handler = partial(QuietHandler, directory=str(folder))
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError):
        return ThreadingHTTPServer(("127.0.0.1", 0), handler)


def main(arguments: list[str]) -> None:
    try:
        port = int(arguments[0]) if arguments else 8000
    except ValueError:
        sys.exit(f"A port is a number such as 8000, not {arguments[0]!r}.")
    try:
        book = server(ROOT / "_build" / "html", port)
    except FileNotFoundError as error:
        sys.exit(str(error))
    print(f"The book: http://127.0.0.1:{book.server_address[1]}/ (Ctrl-C stops it)", flush=True)
    try:
        book.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
