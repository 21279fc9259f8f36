"""What pages get at last: figures for both themes, their sizes, one style sheet, few scripts."""

import os
import re
from base64 import b64decode, b64encode
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from PIL import Image
from sphinx.application import Sphinx
from themes import themed

PER_INCH = 120  # of the page's dots; a figure may have more of its own
LARGE = 100_000  # bytes
PHONE = 390  # pixels
THEMES = ("light", "dark")
# The icons are in the theme's font as well, and only the page that searches needs the index.
NEEDLESS = re.compile(
    r"\s*<script [^>]*\b(fontawesome|searchtools|language_data|searchindex)\.js[^>]*></script>"
    r'|\s*<link rel="preload" as="script"[^>]*>'
)
OPTIONS = re.compile(r'<script src="[^"]*\bdocumentation_options\.js[^>]*></script>')
WAITED_FOR = re.compile(r"<script (?=[^>]*\bsrc=)(?![^>]*\b(defer|async)\b)")
SHEET = re.compile(r'\s*<link [^>]*href="((?:\.\./)*_static/)([\w/.-]+\.css)\b[^>]*>')
PICTURE = re.compile(r'<img ([^>]*?)src="([^"]*)\b(_images/[^"/]+)\.png"')
DRAWING = re.compile(
    r'<img ([^>]*?)src="([^"]*)\b(_images/[^"/]+)(?<!-light)(?<!-dark)\.svg"([^>]*?)\s*/?>'
)
DOTS = re.compile(r"data:image/png;base64,([^\"]{20000,})")
FORMULA = re.compile(r'class="[^"]*\bmath\b')
TYPESETTER = re.compile(
    r"\s*<script>window\.MathJax = .*?</script>|\s*<script [^>]*\bmathjax/[^>]*></script>"
)
OPENER = '<summary><span class="toctree-toggle"'  # of a day's pages in the sidebar: an icon alone
ALL = "styles/all.css"
SIDEBAR = 'id="pst-primary-sidebar"'  # its logo stands in no landmark otherwise
LANDMARK = f'{SIDEBAR} role="complementary" aria-label="The book"'


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Rewrite the finished pages so that the first text comes soon, and then nothing jumps."""
    if failure or app.builder.name != "html":
        return
    folder = Path(app.outdir)
    options = (folder / "_static" / "documentation_options.js").read_text(encoding="utf-8")

    @cache
    def shown(name: str) -> str:
        """A figure's attributes, after it was made WebP."""
        width, height = as_webp(folder / f"{name}.png")
        return f'loading="lazy" width="{width}" height="{height}" '

    @cache
    def both(name: str) -> tuple[str, int]:
        """A figure's attributes, after it was drawn for both themes, and its width on a phone."""
        original = folder / f"{name}.svg"
        figure = themed(with_small_dots(original.read_text(encoding="utf-8")))
        for theme in THEMES:
            path = folder / f"{name}-{theme}.svg"
            path.write_text(getattr(figure, theme), encoding="utf-8")
        original.unlink()
        return f'loading="lazy" width="{figure.width}" height="{figure.height}"', figure.readable

    def drawn(found: re.Match) -> str:
        """A figure as two pictures, of which a page shows the one for its theme."""
        before, place, name, after = found.groups()
        room, readable = both(name)
        scrolls = ' tabindex="0" role="group" aria-label="Wide figure"' if readable > PHONE else ""
        pictures = (
            f'<img {room} {before}src="{place}{name}-{theme}.svg"{after} data-for="{theme}">'
            for theme in THEMES
        )
        around = f'<span class="drawing" style="--readable: {readable}px"{scrolls}>'
        return f"{around}{''.join(pictures)}</span>"

    for page in folder.rglob("*.html"):
        if "_static" in page.parts:
            continue
        text = with_one_sheet(page.read_text(encoding="utf-8"), folder / "_static")
        if LANDMARK not in text:
            text = text.replace(SIDEBAR, LANDMARK)
        text = text.replace(OPENER, OPENER.replace(">", ' aria-label="The pages below">', 1))
        if not FORMULA.search(text):
            text = TYPESETTER.sub("", text)
        if page.name != "search.html":
            text = NEEDLESS.sub("", text)
            text = OPTIONS.sub(lambda _: f"<script>{options}</script>", text)
            text = WAITED_FOR.sub("<script defer ", text)
        text = PICTURE.sub(
            lambda found: f'<img {shown(found[3])}{found[1]}src="{found[2]}{found[3]}.webp"', text
        )
        page.write_text(DRAWING.sub(drawn, text), encoding="utf-8")


def with_one_sheet(page: str, static: Path) -> str:
    """The page with one style sheet in place of all that it asks for, which is written."""
    names = [name for _, name in SHEET.findall(page)]
    if names in ([], [ALL]):
        return page
    made = "\n".join(_style(static / name, static / ALL) for name in names)
    (static / ALL).write_text(made, encoding="utf-8")
    version = sha256(made.encode()).hexdigest()[:8]
    first = SHEET.search(page)
    link = f'\n<link rel="stylesheet" href="{first[1]}{ALL}?v={version}" />'
    return page[: first.start()] + link + SHEET.sub("", page[first.start() :])


def _style(file: Path, sheet: Path) -> str:
    """A style sheet as a part of another, with what it imports."""
    text = re.sub(
        r'@import "([^"]+)";',
        lambda found: _style(file.parent / found[1], sheet),
        file.read_text(encoding="utf-8"),
    )
    there = Path(os.path.relpath(file.parent, sheet.parent)).as_posix()
    return re.sub(r"\burl\((?=[\w.])", f"url({there}/", text)


def as_webp(png: Path) -> tuple[int, int]:
    """Put a WebP in the place of a PNG; return its width and height on the page."""
    with Image.open(png) as picture:
        dense = picture.info.get("dpi", (PER_INCH, PER_INCH))[0] / PER_INCH
        png.with_suffix(".webp").write_bytes(_small(picture))
    png.unlink()
    return round(picture.width / dense), round(picture.height / dense)


def with_small_dots(svg: str) -> str:
    """A drawing whose pictures are WebP, where they are worth it."""

    def small(found: re.Match) -> str:
        with Image.open(BytesIO(b64decode(found[1]))) as picture:
            return f"data:image/webp;base64,{b64encode(_small(picture)).decode()}"

    return DOTS.sub(small, svg)


def _small(picture: Image.Image) -> bytes:
    """A picture as WebP.

    It is the same to the last dot, unless it is large and a loss that nobody sees saves a third.
    """
    plain = picture.convert("RGB") if _is_opaque(picture) else picture
    made = _webp(plain, lossless=True, quality=30, method=2)
    if len(made) > LARGE:
        photograph = _webp(plain, quality=90)
        made = photograph if len(photograph) < 2 / 3 * len(made) else made
    return made


def _webp(picture: Image.Image, **options) -> bytes:
    made = BytesIO()
    picture.save(made, "webp", **options)
    return made.getvalue()


def _is_opaque(picture: Image.Image) -> bool:
    return picture.mode != "RGBA" or picture.getextrema()[3][0] == 255
