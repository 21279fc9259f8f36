"""The book as a PDF: all pages as one document, which Chromium prints."""

import json
from collections.abc import Iterator
from copy import deepcopy
from html import escape
from pathlib import Path

from lxml import etree
from playwright.sync_api import Browser
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, TextStringObject

from utils.press.offline import OWN
from utils.press.offline.harvest import (
    CHINESE,
    HERE,
    MATHML,
    XHTML,
    Page,
    headings,
    new_tab,
    settings,
    words,
)

HEADS = [f"{XHTML}h{level}" for level in range(1, 7)]
DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" data-theme="light"><head><title>{title}</title>
<link rel="stylesheet" href="_static/styles/all.css"/><style>{styles}</style></head><body>
<section class="cover"><p class="title">{title}</p><p>An executable textbook</p>
<p><img src="{picture}" alt=""/></p><p>{author}</p><p>{rights}</p></section>
<section class="all-pages"><h1>Contents</h1>
{contents}</section>
{articles}</body></html>"""
ENTRY = (
    '<p class="depth-{depth}"><a href="#{target}">{title}</a><span class="dots"></span>'
    "<span>{number}</span></p>"
)


def print_book(book: Path, pages: list[Page], browser: Browser, into: Path) -> None:
    """Print the harvested pages of a built book; a second print has the contents' page numbers."""
    articles = [article(page, {page.name for page in pages}) for page in pages]
    file = book / f"{OWN}paper.xhtml"
    tab = new_tab(browser)
    numbers: dict[str, int] = {}
    for _ in range(2):
        file.write_text(document(pages, articles, numbers), encoding="utf-8")
        tab.goto(file.as_uri())
        tab.evaluate("Promise.all([...document.fonts].map((font) => font.load()))")
        printed = into.with_name(f"{into.name}.part")
        tab.pdf(
            path=printed,
            prefer_css_page_size=True,
            print_background=True,
            tagged=True,
            outline=True,
        )
        reader = PdfReader(printed)
        numbers = {
            name.removeprefix("/"): reader.get_destination_page_number(place) + 1
            for name, place in reader.named_destinations.items()
        }
    tab.close()
    writer = PdfWriter(clone_from=reader)
    writer.add_metadata({"/Title": settings()["title"], "/Author": settings()["author"]})
    name_sections(writer.get_outline_root(), pages)
    writer.page_mode = "/UseOutlines"
    writer.write(printed)
    printed.replace(into)


def name_sections(outline: DictionaryObject, pages: list[Page]) -> None:
    """Name what is in the outline as it is written: Chromium drops blanks where a line ends."""
    heads = (node for page in pages for node in page.article.iter(*HEADS))
    named = {"".join(title.split()): title for title in map(words, heads)}
    for item in below(outline):
        title = named.get("".join(item["/Title"].split()), item["/Title"])
        item[NameObject("/Title")] = TextStringObject(title)


def below(item: DictionaryObject) -> Iterator[DictionaryObject]:
    """What stands below an item of an outline."""
    child = item.get("/First")
    while child is not None:
        yield (child := child.get_object())
        yield from below(child)
        child = child.get("/Next")


def anchor(page: str, place: str = "") -> str:
    """The id that a page, or a place on it, has in the document."""
    return f"{page}--{place}".replace("/", ".")


def article(page: Page, taken: set[str]) -> etree._Element:
    """A page's article with ids and links for one document, and headings as deep as its place."""
    made = deepcopy(page.article)
    made.set("id", anchor(page.name))
    if page.depth:
        made.set("class", made.get("class") + " below")
    for formula in list(made.iter(f"{MATHML}math")):
        formula.getparent().remove(formula)
    for node in made.iterdescendants(etree.Element):
        if "id" in node.keys():
            node.set("id", anchor(page.name, node.get("id")))
        level = node.tag.removeprefix(f"{XHTML}h")
        if page.depth and level.isdecimal():
            node.tag = f"{XHTML}h{min(6, int(level) + page.depth)}"
        if node.tag == f"{XHTML}details":
            node.set("open", "")
        if node.tag == f"{XHTML}a" and "href" in node.keys():
            lead(node, taken)
    return made


def lead(link: etree._Element, taken: set[str]) -> None:
    """Let a link lead to its place in the document; what isn't taken along is no link."""
    target, _, place = link.get("href").partition("#")
    if target.removesuffix(".html") in taken:
        link.set("href", "#" + anchor(target.removesuffix(".html"), place))
    elif "://" not in target:
        del link.attrib["href"]


def document(pages: list[Page], articles: list[etree._Element], numbers: dict[str, int]) -> str:
    """The whole book as XHTML; numbers: {anchor: page} as far as they are known."""
    heads = [
        f"[id='{anchor(page.name)}'] {{ page: p{index} }}"
        f"@page p{index} {{ @top-right {{ content: {quoted(page.title)} }} }}"
        for index, page in enumerate(pages)
    ]
    typeset = dict.fromkeys(rule for page in pages for rule in page.styles)
    own = (HERE / "paper.css").read_text(encoding="utf-8")
    (picture,) = pages[0].article.xpath("//*[local-name()='img' and contains(@class, 'arc-')]/@src")
    return DOCUMENT.format(
        title=escape(settings()["title"]),
        author=escape(settings()["author"]),
        rights=escape(settings()["copyright"]),
        picture=picture,
        styles=escape("\n".join([CHINESE, *typeset, own, *heads]), quote=False),
        contents="\n".join(contents(pages, numbers)),
        articles="\n".join(etree.tostring(made, encoding="unicode") for made in articles),
    )


def quoted(text: str) -> str:
    """A text as a style sheet has it."""
    return json.dumps(text, ensure_ascii=False)


def contents(pages: list[Page], numbers: dict[str, int]) -> list[str]:
    """The lines of the contents: parts, pages, and the sections of lessons."""
    made, part = [], ""
    for page in pages:
        if page.part != part:
            part = page.part
            made.append(f'<p class="part">{escape(part)}</p>')
        made.append(entry(page.depth, anchor(page.name), page.title, numbers))
        if page.part == pages[1].part and not page.depth:
            for place, title in headings(page):
                made.append(entry(2, anchor(page.name, place), title, numbers))
    return made


def entry(depth: int, target: str, title: str, numbers: dict[str, int]) -> str:
    number = numbers.get(target, "")
    return ENTRY.format(depth=depth, target=target, title=escape(title), number=number)
