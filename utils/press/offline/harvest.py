"""What is taken along of a built page: its article, typeset, without tools, its views as stills."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import yaml
from lxml import etree
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab

from utils import ROOT
from utils.press.offline import OWN, NoBrowserError

HERE = Path(__file__).parent
NOT_TAKEN = "reference/"  # its entries are the docstrings: for a screen, beside the code
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
FONT = HERE.parents[1] / "show" / "fonts" / "NotoSansSC.otf"
CHINESE = f"""@font-face {{
    font-family: "Book Chinese";
    src: url("{FONT.as_uri()}");
    unicode-range: U+3000-9FFF, U+FF00-FFEF;
}}
:root {{
    --pst-font-family-base: "Book Chinese", "Helvetica Neue", Arial, sans-serif !important;
    --pst-font-family-heading: var(--pst-font-family-base) !important;
    --pst-font-family-monospace:
        "Book Chinese", Menlo, Consolas, "DejaVu Sans Mono", monospace !important;
}}
.bd-article :is(dt, figcaption) {{ font-family: var(--pst-font-family-base) !important; }}
"""  # which other machines may lack
PATIENCE = 600_000  # milliseconds: the whole book is one page of many megabytes
XHTML = "{http://www.w3.org/1999/xhtml}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
VIEWS = "article .book-view:not([id^=view-questions])"
BEGINS = "button:text-matches('^(Write|Next tile)')"  # of views that are empty before
# Scripts replace what a view says without them.
KEEP_STILLS = """addEventListener("DOMContentLoaded", () => {}); new MutationObserver(() => {
    for (const still of document.querySelectorAll(".book-view > .view-still"))
        still.parentNode.dataset.still = still.innerHTML;
}).observe(document, { childList: true, subtree: true });"""
# A model comes by a script, and its worker answers when it has computed.
SETTLED = """(view) => new Promise((settled) => {
    let quiet = setTimeout(settled, 800);
    const observer = new MutationObserver(() => {
        clearTimeout(quiet);
        quiet = setTimeout(settled, 800);
    });
    const changes = { childList: true, characterData: true, attributes: true };
    observer.observe(view, { subtree: true, ...changes });
    setTimeout(settled, 8000);
})"""


class Page(NamedTuple):
    """A page of the book: its name, how deep it stands in the contents, its part, its article."""

    name: str
    depth: int
    part: str
    article: etree._Element
    styles: list[str]

    @property
    def title(self) -> str:
        return words(self.article.find(f".//{XHTML}h1"))


def words(node: etree._Element) -> str:
    """The text of a node, without that of a formula's second form."""
    said = node.xpath(".//text()[not(ancestor::*[local-name()='mjx-container'])]")
    return " ".join("".join(said).split())


def headings(page: Page) -> list[tuple[str, str]]:
    """(id, title) of a page's sections."""
    return [
        (section.get("id"), words(section.find(f"{XHTML}h2")))
        for section in page.article.iterfind(f"./{XHTML}section/{XHTML}section")
    ]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, or Playwright's own.

    Raises: NoBrowserError if there is neither.
    """
    with sync_playwright() as playwright:
        names = ("chromium", "chromium-browser", "google-chrome")
        found = next(filter(None, map(which, names)), playwright.chromium.executable_path)
        if not Path(found).exists():
            raise NoBrowserError(
                "There is no Chromium here: install it, or run `python -m playwright install "
                "chromium`."
            )
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def new_tab(browser: Browser, **how: Any) -> Tab:
    """A tab that waits for pages as long as a busy machine needs; `how` as `new_page` has it."""
    tab = browser.new_page(**how)
    tab.set_default_timeout(PATIENCE)
    return tab


def listed(contents: Path = ROOT / "_toc.yml") -> list[tuple[str, int, str]]:
    """(page, depth, part) of all pages to take along, in order."""
    toc = yaml.safe_load(contents.read_text(encoding="utf-8"))
    found = [(toc["root"], 0, "")]
    for part in toc.get("parts", [toc]):
        for chapter in part["chapters"]:
            found.append((chapter["file"], 0, part.get("caption", "")))
            below = chapter.get("sections", ())
            found += [(page["file"], 1, part.get("caption", "")) for page in below]
    return [page for page in found if not page[0].startswith(NOT_TAKEN)]


def harvest(book: Path, pages: list[tuple[str, int, str]], browser: Browser) -> list[Page]:
    """Take along the pages of a built book; their stills are written into its folder."""
    tab = new_tab(
        browser,
        viewport={"width": 760, "height": 1000},
        device_scale_factor=2,
        reduced_motion="reduce",
    )
    tab.add_init_script(KEEP_STILLS)
    taken = []
    for name, depth, part in pages:
        tab.goto((book / f"{name}.html").as_uri())
        tab.evaluate("window.MathJax?.startup.promise")
        tab.add_style_tag(content=CHINESE)
        tab.evaluate("Promise.all([...document.fonts].map((font) => font.load()))")
        stills = {}
        for view in tab.query_selector_all(VIEWS):
            view.scroll_into_view_if_needed()
            view.evaluate(SETTLED)
            if begins := view.query_selector(BEGINS):
                begins.click()
                view.evaluate(SETTLED)
            stills[view.get_attribute("id")] = still = f"{OWN}{view.get_attribute('id')}.png"
            view.screenshot(path=book / still)
        site = os.environ.get("BOOK_ADDRESS", "").rstrip("/")
        made = tab.evaluate(
            (HERE / "harvest.js").read_text(encoding="utf-8"),
            {
                "root": book.as_uri() + "/",
                "page": f"{name}.html",
                "address": site and f"{site}/{name}.html",
                "stills": stills,
            },
        )
        article = etree.fromstring(NO_XML.sub("", made["article"]))
        taken.append(Page(name, depth, part, article, made["styles"]))
    tab.close()
    return taken


def settings() -> dict:
    """The book's settings, with its title and author."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
