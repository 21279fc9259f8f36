"""The book to take along: as a PDF, as an EPUB, and as a zip of its pages."""

NAME = "from-convolution-to-attention"
KINDS = ("pdf", "epub", "zip")
OWN = "offline-"  # how a file begins that is made in the folder of the built book


class NoBrowserError(Exception):
    """There is no Chromium to print with; the message says what to do."""
