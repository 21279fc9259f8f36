"""The picture that stands for the book in README.md and where a link to it is shown.

`python tests/card.py`, after `make book`, photographs what the first page proves.
"""

import sys

from browser import BOOK, FLAGS, find_chromium
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

CARD = BOOK / "_static" / "card.png"
SIZE = {"width": 1200, "height": 630}  # which most services ask for
LAID_OUT = """
.bd-sidebar, .bd-header-article, .ways-in, section > section, footer { display: none !important }
html .bd-main .bd-content .bd-article-container { max-width: 100% !important }
html .bd-article { padding: 1.5rem 2.5rem !important }
"""
WORDS = """[...document.querySelectorAll('.proof .said, .proof .claim')]
    .map((each) => each.textContent.replace(/\\s+/g, ' ').trim()).join(' ')"""


def photograph(first_page: str) -> None:
    """Write the card, and into it what its check and its claim say."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=FLAGS)
        tab = browser.new_page(viewport=SIZE, color_scheme="light")
        tab.goto(first_page)
        tab.wait_for_selector(".view-pad")
        tab.add_style_tag(content=LAID_OUT)
        tab.screenshot(path=CARD)
        said = PngInfo()
        said.add_itxt("Description", tab.evaluate(WORDS))
        browser.close()
    with Image.open(CARD) as picture:
        picture.convert("P", palette=Image.Palette.ADAPTIVE).save(CARD, pnginfo=said, optimize=True)


if __name__ == "__main__":
    page = BOOK / "_build" / "html" / "index.html"
    if not page.is_file():
        sys.exit("There is no book yet: `make book` builds it.")
    photograph(page.as_uri())
