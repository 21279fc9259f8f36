"""The book as an EPUB: a file of XHTML for each page, formulas as MathML, figures as PNG."""

import re
from copy import deepcopy
from datetime import UTC, datetime
from html import escape
from io import BytesIO
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from lxml import etree
from PIL import Image
from playwright.sync_api import Browser

from utils.press.offline import OWN
from utils.press.offline.harvest import FONT, HERE, MATHML, XHTML, Page, headings, new_tab, settings

CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{id}</dc:identifier><dc:title>{title}</dc:title>
<dc:creator>{author}</dc:creator><dc:language>en</dc:language><dc:rights>{rights}</dc:rights>
<meta property="dcterms:modified">{now}</meta><meta name="cover" content="{cover}"/>
<meta property="schema:accessMode">textual</meta><meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual,visual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>
{manifest}
</manifest>
<spine>
{spine}
</spine>
</package>"""
DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="en" \
lang="en"><head><title>{title}</title><link rel="stylesheet" type="text/css" href="book.css"/>
</head><body>{body}</body></html>"""
COVER = """<!doctype html><style>body {{ margin: 0; width: 800px; height: 1200px; color: #1a1a1a;
background: #fbfaf6; font: 34px/1.2 Arial, sans-serif; text-align: center }}
h1 {{ margin: 0; padding: 90px 40px 20px; font-size: 74px }}
img {{ width: 760px; margin: 40px 0 }}</style>
<h1>{title}</h1><p>An executable textbook</p><img src="{picture}">"""
KINDS = {".xhtml": "application/xhtml+xml", ".png": "image/png"}
KINDS |= {".otf": "font/otf", ".css": "text/css"}
FONT_FACE = """@font-face {
  font-family: "Book Chinese";
  src: url("NotoSansSC.otf");
}

[lang="zh"] {
  font-family: "Book Chinese", sans-serif;
}
"""
KEPT = {
    "id",
    "class",
    "href",
    "src",
    "alt",
    "colspan",
    "rowspan",
    "start",
    "title",
    "lang",
    "aria-label",
}
NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")  # an id that XML knows


def write_epub(book: Path, pages: list[Page], browser: Browser, into: Path) -> None:
    """Write the harvested pages of a built book as an EPUB."""
    taken = {page.name for page in pages}
    files: dict[str, bytes] = {}
    articles = {page.name: article(page, taken) for page in pages}
    pictures: dict[str, None] = {}
    maths = set()
    for page in pages:
        for image in articles[page.name].iter(f"{XHTML}img"):
            pictures[image.get("src")] = None
            image.set("src", picture_name(image.get("src")))
        if articles[page.name].find(f".//{MATHML}math") is not None:
            maths.add(page.name)
    tab = new_tab(browser, device_scale_factor=2)
    for source in pictures:
        files[picture_name(source)] = picture(tab, book, source)
    files["cover.png"] = cover(tab, book, pages[0])
    tab.close()
    for page in pages:
        body = etree.tostring(articles[page.name], encoding="unicode")
        files[file_name(page.name)] = document(page.title, body)
    files["contents.xhtml"] = document("Contents", navigation(pages))
    files["cover.xhtml"] = document(
        "Cover", f'<img src="cover.png" alt="{escape(settings()["title"])}"/>'
    )
    files["book.css"] = (FONT_FACE + (HERE / "epub.css").read_text(encoding="utf-8")).encode()
    files[FONT.name] = FONT.read_bytes()
    part = into.with_name(f"{into.name}.part")
    with ZipFile(part, "w", ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", "application/epub+zip", ZIP_STORED)
        packed.writestr("META-INF/container.xml", CONTAINER)
        packed.writestr("book/book.opf", package(files, pages, maths))
        for name, data in files.items():
            packed.writestr(f"book/{name}", data)
    part.replace(into)


def document(title: str, body: str) -> bytes:
    return DOCUMENT.format(title=escape(title), body=body).encode()


def file_name(page: str) -> str:
    return page.replace("/", ".") + ".xhtml"


def picture_name(source: str) -> str:
    return Path(source).name.replace(".", "-") + ".png"


def article(page: Page, taken: set[str]) -> etree._Element:
    """A page's article as EPUB knows XHTML: nothing that only a screen or a script needs."""
    made = deepcopy(page.article)
    for formula in list(made.iter("{*}mjx-container")):
        formula.getparent().remove(formula)
    for node in made.iter(etree.Element):
        if node.tag.startswith(MATHML):
            for name in [name for name in node.keys() if name.startswith("data-")]:
                del node.attrib[name]
            continue
        for name in set(node.keys()) - KEPT:
            del node.attrib[name]
        if not NAME.match(node.get("id", "")):
            node.attrib.pop("id", None)
        if node.tag == f"{XHTML}a" and "href" in node.keys():
            lead(node, taken)
    made.tag = f"{XHTML}section"
    etree.cleanup_namespaces(made)
    return made


def lead(link: etree._Element, taken: set[str]) -> None:
    """Let a link lead to its place in the EPUB; what isn't taken along is no link."""
    target, _, place = link.get("href").partition("#")
    if target.removesuffix(".html") in taken:
        link.set("href", file_name(target.removesuffix(".html")) + (place and f"#{place}"))
    elif "://" not in target:
        del link.attrib["href"]


def picture(tab, book: Path, source: str) -> bytes:
    """A picture of the book as PNG: what all e-readers can show."""
    if source.endswith(".png"):
        return compressed((book / source).read_bytes())
    tab.goto((book / source).as_uri())
    return compressed(tab.locator("svg, img").first.screenshot())


def compressed(png: bytes) -> bytes:
    """A PNG with a palette, where its colours fit into one."""
    made = BytesIO()
    with Image.open(BytesIO(png)) as shown:
        plain = shown.convert("RGB")
        few = plain.getcolors(2048)
        (plain.quantize(256, dither=Image.Dither.NONE) if few else plain).save(
            made, "png", optimize=True
        )
    return made.getvalue()


def cover(tab, book: Path, first: Page) -> bytes:
    """The cover, with the picture of the first page."""
    (drawn,) = first.article.xpath("//*[local-name()='img' and contains(@class, 'arc-')]/@src")
    html = book / f"{OWN}cover.html"
    html.write_text(COVER.format(title=escape(settings()["title"]), picture=drawn), "utf-8")
    tab.set_viewport_size({"width": 800, "height": 1200})
    tab.goto(html.as_uri())
    return compressed(tab.screenshot())


def navigation(pages: list[Page]) -> str:
    """The contents: parts, in them pages, in these their sections and what stands below them."""
    made, part = [f'<li><a href="{file_name(pages[0].name)}">{escape(pages[0].title)}</a></li>'], ""
    for page in pages[1:]:
        if page.part != part:
            made.append(f"{'</ol></li>' * bool(part)}<li><span>{escape(page.part)}</span><ol>")
            part = page.part
        file = file_name(page.name)
        below = [(f"{file}#{place}", title) for place, title in headings(page)]
        made.append(f'<li><a href="{file}">{escape(page.title)}</a>')
        if below:
            listed = (f'<li><a href="{at}">{escape(title)}</a></li>' for at, title in below)
            made.append(f"<ol>{''.join(listed)}</ol>")
        made.append("</li>")
    made.append("</ol></li>" * bool(part))
    return f'<nav epub:type="toc"><h1>Contents</h1><ol>{"".join(made)}</ol></nav>'


def package(files: dict[str, bytes], pages: list[Page], maths: set[str]) -> str:
    """The list of all that is in the EPUB, and the order in which it is read."""
    special = {"contents.xhtml": "nav", "cover.png": "cover-image"}
    special |= {file_name(page): "mathml" for page in maths}
    items = [
        f'<item id="{identity(name)}" href="{name}" media-type="{KINDS[Path(name).suffix]}"'
        + (f' properties="{special[name]}"/>' if name in special else "/>")
        for name in files
    ]
    read = ["cover.xhtml", "contents.xhtml", *(file_name(page.name) for page in pages)]
    known = settings()
    return PACKAGE.format(
        id=uuid5(NAMESPACE_URL, known["title"]),
        title=escape(known["title"]),
        author=escape(known["author"]),
        rights=escape(known["copyright"]),
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        cover=identity("cover.png"),
        manifest="\n".join(items),
        spine="\n".join(f'<itemref idref="{identity(name)}"/>' for name in read),
    )


def identity(name: str) -> str:
    """The id of a file in the list."""
    return f"file.{name}"
