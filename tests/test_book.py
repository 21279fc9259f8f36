"""The book as files: it builds strictly, holds all pages, and asks no other host for anything."""

import re
import shutil
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from browser import BOOK, build_book, listed_pages
from PIL import Image, ImageChops, ImageStat
from sklearn.datasets import load_sample_image

FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "srcset"}
ADDRESS = "https://github.com/someone/their-copy"


class Tags(HTMLParser):
    """The start tags of a page as (name, {attribute: value})."""

    def __init__(self, page: Path):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LINE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90pt" height="60pt" viewBox="0 0 90 60">'
    '<path d="M 0 0 L 9 4.123456" style="fill: none; stroke: #1a1a1a"/></svg>'
)


def drawn(name: str, tag: str, kind: str, data: str):
    """A code cell with a figure, tagged."""
    metadata = {
        "tags": [tag],
        "mystnb": {"figure": {"caption": "One.", "name": name}, "image": {"alt": "One figure."}},
    }
    shown = nbformat.v4.new_output("display_data", {kind: data, "text/plain": "one"})
    return nbformat.v4.new_code_cell("draw()", outputs=[shown], metadata=metadata)


def played(name: str, words: str):
    """A code cell with a view."""
    page = f'<div class="book-view" id="view-{name}-00000000">{words}</div>'
    bundle = {"text/plain": f"View: {words}", "text/html": page}
    return nbformat.v4.new_code_cell(
        "play()", outputs=[nbformat.v4.new_output("display_data", bundle)]
    )


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """A function that builds a book of three pages with the settings of the whole one."""

    @cache
    def build_small(first_lines: str, **environment: str):
        source = tmp_path_factory.mktemp("small")
        for name in ("_config.yml", "references.bib"):
            shutil.copy(BOOK / name, source)
        no_caches = shutil.ignore_patterns("__pycache__")  # which others may be writing
        for name in ("_ext", "_static"):
            shutil.copytree(BOOK / name, source / name, ignore=no_caches)
        (source / "_static" / "models").mkdir(exist_ok=True)
        (source / "_static" / "models" / "toy.js").write_text("// a model", encoding="utf-8")
        (source / "_toc.yml").write_text(
            "{format: jb-book, root: index, chapters: "
            "[{file: chapters/deeper/07_lesson}, {file: chapters/07_lesson}, "
            "{file: chapters/solutions/07_lesson}]}",
            encoding="utf-8",
        )
        (source / "index.md").write_text(first_lines, encoding="utf-8")
        python = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
        lesson = nbformat.v4.new_notebook(metadata=python)
        lesson.cells = [
            nbformat.v4.new_markdown_cell(
                "# Day 7\n\n$$\ny = x\n$$ (eq-first)\n\nSee {eq}`eq-first`, not {eq}`eq-proof`; "
                "{numref}`fig-drawn`; {ref}`sec-proof`."
            ),
            nbformat.v4.new_markdown_cell(
                ":::{exercise} Guess\n:label: exercise-guess\nGuess.\n:::"
            ),
            drawn("fig-first", "setup", "image/png", DOT),
            played("toy", "turn it"),
            played("toy", "show it"),
            played("ball", "throw it"),
        ]
        deeper = nbformat.v4.new_notebook(metadata=python)
        deeper.cells = [
            nbformat.v4.new_markdown_cell(
                "# Day 7, deeper\n\nFrom {eq}`eq-first` and {numref}`fig-first`.\n\n"
                "(sec-proof)=\n## The proof\n\n$$\nz = y\n$$ (eq-proof)"
            ),
            nbformat.v4.new_markdown_cell(":::{exercise} More\n:label: exercise-more\nMore.\n:::"),
            drawn("fig-drawn", "mechanism", "image/svg+xml", LINE),
            nbformat.v4.new_code_cell("plain = 1"),
        ]
        solved = nbformat.v4.new_notebook(metadata=python)
        solved.cells = [
            nbformat.v4.new_markdown_cell("# Solutions\n\n(solution-more)=\n## More\n\nAs above.")
        ]
        for folder in ("deeper", "solutions"):
            (source / "chapters" / folder).mkdir(parents=True)
        for folder, label in ((".", "guess"), ("deeper", "more")):
            script = source / "chapters" / folder / "07_lesson.py"
            script.write_text(f"# :label: exercise-{label}\n", encoding="utf-8")
        nbformat.write(solved, source / "chapters" / "solutions" / "07_lesson.ipynb")
        nbformat.write(lesson, source / "chapters" / "07_lesson.ipynb")
        nbformat.write(deeper, source / "chapters" / "deeper" / "07_lesson.ipynb")
        return build_book(source, source, **environment)

    return build_small


def pages(build) -> list[Path]:
    return [path for path in build.html.rglob("*.html") if "_static" not in path.parts]


def test_the_strict_build_is_clean_and_quick(build):
    warnings = re.findall(r".*(?:WARNING|ERROR|Error).*", build.log)
    assert build.status == 0 and not warnings, "`make book` shows the same:\n" + (
        "\n".join(warnings) or build.log[-4000:]
    )
    slow = "the book takes more than 5 seconds a page to build: `make book` shows where"
    assert build.seconds < 5 * len(listed_pages()), slow  # 81 took 147 on slow cores beside others


def test_all_pages_are_there_and_no_others(build):
    listed = set(listed_pages())
    built = {path.relative_to(build.html).with_suffix("").as_posix() for path in pages(build)}
    assert built - {"404", "genindex", "search"} == listed, (
        "list every page in _toc.yml, and no other"
    )


def test_every_chapter_and_solution_is_in_the_book(build):
    built = {path.stem for path in (build.html / "chapters").glob("*.html")}
    solved = {path.stem for path in (build.html / "chapters" / "solutions").glob("*.html")}
    deeper = {path.stem for path in (build.html / "chapters" / "deeper").glob("*.html")}
    assert deeper == {path.stem for path in (BOOK / "chapters" / "deeper").glob("*.ipynb")}
    assert built == solved == {path.stem for path in (BOOK / "chapters").glob("*.ipynb")}, (
        "list each lesson and its solutions in _toc.yml; what has no notebook gets one by "
        "`make execute`"
    )


def test_every_exercise_leads_to_a_solution_that_is_there(build):
    for lesson in (build.html / "chapters").glob("**/[0-9]*.html"):
        for box in re.findall(
            r'<div class="exercise .*?</section>', lesson.read_text("utf-8"), re.S
        ):
            links = re.findall(r'href="([^"]*solutions/[^"#]*)#([^"]+)"', box)
            assert links, f"{lesson.name} has an exercise without a link to its solution"
            for page, place in links:
                solutions = (lesson.parent / page).read_text(encoding="utf-8")
                assert f'id="{place}"' in solutions, f"{lesson.name} leads to {page}#{place}"


SVG = "http://www.w3.org/2000/svg"  # the name of a kind of element; nobody fetches it


def test_pages_and_styles_name_no_other_host(build):
    for page in pages(build):
        for tag, attributes in Tags(page).found:
            fetched = attributes.get(FETCHED.get(tag), "") or ""
            if attributes.get("rel") not in ("canonical", "license"):
                assert not re.match(r"(https?:)?//", fetched), (
                    f"{page.name} asks another host: <{tag} {attributes}>: bring the file along"
                )
        scripts = re.findall(r"<script[^>]*>(.*?)</script>", page.read_text("utf-8"), re.DOTALL)
        named = [body.replace(SVG, "") for body in scripts]
        assert not [body for body in named if re.search(r"https?://", body)], page.name
    for style in build.html.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text("utf-8")), (
            style
        )


def test_every_picture_has_a_description(build):
    for page in pages(build):
        for tag, attributes in Tags(page).found:
            if tag == "img":
                beside_its_name = "logo__image" in attributes.get("class", "")
                assert attributes.get("alt") or beside_its_name, (
                    f"{page.name}: {attributes} has no alternative text: give the figure's cell an "
                    "`image: {alt: …}` in its metadata and run `make execute`"
                )


def test_without_an_address_nothing_points_to_a_repository(build):
    for page in pages(build):
        text = page.read_text(encoding="utf-8")
        assert not re.search(
            r"mybinder|colab\.research|codespaces|OWNER/NAME|/edit/|/issues/new|launch-buttons",
            text,
        ), page


ELSEWHERE = "https://someone.github.io/their-copy"
WAYS_IN = "# Start\n\nHere it begins.\n\n```{ways-in}\n```\n"


def test_with_an_address_lessons_can_be_launched_and_edited(small_book):
    small = small_book(WAYS_IN, BOOK_REPOSITORY=ADDRESS, BOOK_ADDRESS=ELSEWHERE)
    lesson = (small.html / "chapters" / "07_lesson.html").read_text(encoding="utf-8")
    there = "someone/their-copy"
    notebook = "chapters/07_lesson.ipynb"
    for link in (
        f"https://colab.research.google.com/github/{there}/blob/colab/{notebook}",
        f"https://mybinder.org/v2/gh/{there}/main?urlpath=lab/tree/{notebook}",
        f"https://codespaces.new/{there}?quickstart=1",
        f"{ADDRESS}/edit/main/{notebook}",
        f"{ADDRESS}/issues/new",
    ):
        assert link in lesson, link
    start = (small.html / "index.html").read_text(encoding="utf-8")
    for way in ("Colab", "Binder", "Codespaces"):
        assert f"Try it in {way}" in start
    assert not re.search("colab|binder|codespaces", WAYS_IN)


def test_a_page_says_what_it_is_about_and_where_it_is(small_book):
    small = small_book(WAYS_IN, BOOK_REPOSITORY=ADDRESS, BOOK_ADDRESS=ELSEWHERE)

    def said(page: str) -> dict[str, str]:
        found = (a for tag, a in Tags(small.html / page).found if tag == "meta")
        return {a.get("property", a.get("name")): a.get("content") for a in found}

    lesson = said("chapters/07_lesson.html")
    assert lesson["og:url"] == f"{ELSEWHERE}/chapters/07_lesson.html"
    assert lesson["og:image"] == f"{ELSEWHERE}/_static/card.png"
    assert (small.html / "_static" / "card.png").is_file()
    assert lesson["og:title"] == "Day 7" and lesson["twitter:card"] == "summary_large_image"
    assert said("index.html")["description"] == "Here it begins."
    for page in ("index", "chapters/07_lesson"):
        (canonical,) = (
            a["href"]
            for tag, a in Tags(small.html / f"{page}.html").found
            if tag == "link" and a.get("rel") == "canonical"
        )
        assert canonical == f"{ELSEWHERE}/{page}.html"
    sitemap = (small.html / "sitemap.xml").read_text(encoding="utf-8")
    assert re.findall(r"<loc>(.*)</loc>", sitemap) == [
        f"{ELSEWHERE}/{page}.html"
        for page in ("chapters/07_lesson", "chapters/deeper/07_lesson")
        + ("chapters/solutions/07_lesson", "index")
    ]


def test_what_is_missing_is_answered_in_any_folder(small_book):
    small = small_book(WAYS_IN, BOOK_REPOSITORY=ADDRESS, BOOK_ADDRESS=ELSEWHERE)
    found = Tags(small.html / "404.html").found
    names = [tag for tag, _ in found]
    (base,) = (a["href"] for tag, a in found if tag == "base")
    assert base == "/their-copy/" and names.index("base") < names.index("link")
    assert "index.html" in [a.get("href") for tag, a in found if tag == "a"]


def test_without_an_address_no_page_claims_one(build):
    assert not (build.html / "sitemap.xml").exists() and (build.html / "404.html").is_file()
    for page in pages(build):
        text = page.read_text(encoding="utf-8")
        assert not re.search('og:url|og:image|rel="canonical"|<base ', text), page


def test_every_page_has_a_description_of_its_own(build):
    described = []
    for page in pages(build):
        if page.stem not in ("404", "genindex", "search"):
            metas = (a for tag, a in Tags(page).found if tag == "meta")
            (about,) = (a["content"] for a in metas if a.get("name") == "description")
            assert 20 < len(about) <= 300, f"{page.name}: {about}"
            described.append(about)
    assert len(set(described)) == len(described)


def test_the_first_page_proves_it_with_a_checks_answer_and_a_claims(small_book):
    wrong = "```{wrong-answer} one_place\ndef wrong(window, w, b):\n    return %s\n```\n\n"
    product = "window.flatten(1) @ w%s.flatten(1).T + b"
    small = small_book(
        "# Start\n\n"
        + wrong % (product % ".flip(2, 3)")
        + "```{claim} rnn-4\n```\n\n```{claim} rnn-99\n```\n\n"
        + wrong % (product % "")
        + wrong.replace("one_place", "no_place")
    )
    start = (small.html / "index.html").read_text(encoding="utf-8")
    assert re.search("✗ .*one_place: you flipped the kernel", start)
    said = (BOOK / "claims.md").read_text(encoding="utf-8").partition("[rnn-4]")[2]
    answer = re.search(r"^\*\*No\*\*(.*)", said, re.MULTILINE)[1]
    assert f"<strong>No</strong>{answer}" in start
    for said in (
        "No notebook holds the claim 'rnn-99'.",
        "The check of 'one_place' should refuse this answer, and it says: ✓",
        "There is no exercise 'no_place'.",
    ):
        assert said in small.log, small.log[-3000:]


def test_numbers_begin_with_the_day_and_broken_links_are_refused(small_book):
    small = small_book("# Start\n\nSee {numref}`exercise-guess` and {ref}`nothing-of-this-name`.\n")
    assert small.status != 0 and "undefined label: 'nothing-of-this-name'" in small.log
    lesson = (small.html / "chapters" / "07_lesson.html").read_text(encoding="utf-8")
    assert "(7.1)" in lesson and "Exercise 7.1" in lesson
    assert "Exercise 7.1" in (small.html / "index.html").read_text(encoding="utf-8")
    deeper = (small.html / "chapters" / "deeper" / "07_lesson.html").read_text(encoding="utf-8")
    assert "(7.2)" in deeper and "Exercise 7.2" in deeper and "Fig. 7.2" in deeper
    assert "(7.1)" in deeper and 'href="../07_lesson.html#fig-first"' in deeper
    assert "(7.2)" in lesson and "Fig. 7.2" in lesson and "The proof" in lesson
    assert "Fig. 7.1" in lesson
    solved = (small.html / "chapters" / "solutions" / "07_lesson.html").read_text(encoding="utf-8")
    assert solved.count("7.2 More") == 3  # the heading, the page's contents, the one before it


def test_code_that_is_tagged_is_folded_after_its_output_which_is_open(small_book):
    small = small_book("# Start\n")
    assert small.status == 0, small.log[-4000:]
    for name, title in (("07_lesson", "Set-up"), ("deeper/07_lesson", "How this is drawn")):
        page = (small.html / "chapters" / f"{name}.html").read_text(encoding="utf-8")
        (fold,) = re.findall(r'<details class="code-fold">.*?</details>', page, re.DOTALL)
        assert f'<summary title="{title}">code</summary>' in fold
        assert "draw" in fold and "<img" not in fold and "plain" not in fold
        assert "<img" in page.partition(fold)[0]


def test_a_page_shows_a_lessons_view_and_counts(small_book):
    small = small_book(
        "# Start\n\n```{view} chapters/07_lesson toy\n```\n\n"
        "After {counted}`exercises`.\n\n{counted}`unicorns`\n\n"
        "```{view} chapters/07_lesson hoop\n```\n\n```{view} chapters/08_lesson toy\n```\n"
    )
    start = (small.html / "index.html").read_text(encoding="utf-8")
    shown = re.findall(r'<div class="book-view" id="view-(\w+)-0+">(.*?)</div>', start)
    assert shown == [("toy", "show it")]  # the last by this name
    assert re.search(r"After \d{2,3}\.", start)
    assert small.status != 0
    for said in (
        "07_lesson.ipynb stores no view 'hoop'; its views: toy, ball. Name one of these",
        "There is no notebook 08_lesson.ipynb in chapters/.",
        "Nothing is counted by the name 'unicorns'; there are: days, exercises, mistakes",
    ):
        assert small.log.count(said) == 1, small.log[-4000:]


def test_a_page_fetches_one_style_sheet_and_no_script_that_it_can_do_without(small_book):
    small = small_book("# Start\n")
    for name in ("chapters/07_lesson", "search"):
        page = small.html / f"{name}.html"
        found = Tags(page).found
        (sheet,) = (a["href"] for tag, a in found if tag == "link" and a["rel"] == "stylesheet")
        scripts = {a["src"].split("?")[0].rpartition("/")[2]: a for _, a in found if "src" in a}
        assert ("searchindex.js" in scripts) == (name == "search")
        assert "fontawesome.js" not in scripts or name == "search"
        waits = [a for file, a in scripts.items() if file.endswith(".js") and "defer" not in a]
        assert not waits or name == "search"
        sheet = (page.parent / sheet.split("?")[0]).resolve()
        style = sheet.read_text(encoding="utf-8")
        for part in ("--book-paper", ".fa-magnifying-glass", "div.sphinxsidebar", ".highlight"):
            assert part in style
        assert "@import" not in style
        named = re.findall(r"\burl\(([\w./-]+)", style)
        assert named and all((sheet.parent / file).is_file() for file in named)


def test_a_model_is_in_the_book_and_a_page_loads_it_only_by_its_view(small_book):
    small = small_book("# Start\n")
    for page in ("index", "chapters/deeper/07_lesson"):
        found = Tags(small.html / f"{page}.html").found
        assert not [a["src"] for _, a in found if "models/" in a.get("src", "")]
        (root,) = (a["data-content_root"] for tag, a in found if tag == "html")
        assert (small.html / page).parent.joinpath(root, "_static", "models", "toy.js").is_file()


def test_a_picture_is_webp_and_takes_its_room_before_it_comes(small_book):
    small = small_book("# Start\n")
    (picture,) = (
        a
        for tag, a in Tags(small.html / "chapters" / "07_lesson.html").found
        if tag == "img" and "_images" in a["src"]
    )
    assert (picture["width"], picture["height"], picture["loading"]) == ("1", "1", "lazy")
    assert Image.open(small.html / "chapters" / picture["src"]).format == "WEBP"
    assert not list((small.html / "_images").glob("*.png"))


def test_a_drawing_is_there_for_light_and_for_dark_and_has_one_caption(small_book):
    page = small_book("# Start\n").html / "chapters" / "deeper" / "07_lesson.html"
    pictures = [a for tag, a in Tags(page).found if tag == "img" and "_images" in a["src"]]
    assert [picture["data-for"] for picture in pictures] == ["light", "dark"]
    for picture, ink in zip(pictures, ("#1a1a1a", "#e4e4e4"), strict=True):
        assert (picture["width"], picture["height"]) == ("120", "80")
        assert (picture["alt"], picture["loading"]) == ("One figure.", "lazy")
        drawing = (page.parent / picture["src"]).read_text(encoding="utf-8")
        assert f"stroke: {ink}" in drawing and "123456" not in drawing
    text = page.read_text(encoding="utf-8")
    assert text.count("<figcaption>") == 1 and text.count('class="drawing"') == 1
    assert 'tabindex="0" role="group" aria-label="Wide figure"' not in text


def test_a_figure_with_more_dots_takes_the_same_room_and_loses_none(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "_ext")
    from finish import as_webp

    dots = Image.effect_noise((600, 400), 60).convert("RGB")
    for dpi, room in ((120, (600, 400)), (240, (300, 200))):
        dots.save(tmp_path / "figure.png", dpi=(dpi, dpi))
        assert as_webp(tmp_path / "figure.png") == room
        assert ImageChops.difference(dots, Image.open(tmp_path / "figure.webp")).getbbox() is None
    photograph = Image.fromarray(load_sample_image("china.jpg"))
    photograph.save(tmp_path / "photo.png")
    assert as_webp(tmp_path / "photo.png") == photograph.size
    lossless = BytesIO()
    photograph.save(lossless, "webp", lossless=True)
    assert (tmp_path / "photo.webp").stat().st_size < 2 / 3 * len(lossless.getvalue())
    lost = ImageChops.difference(photograph, Image.open(tmp_path / "photo.webp"))
    assert max(ImageStat.Stat(lost).mean) < 5  # of 255


def test_the_address_comes_from_github_in_a_workflow(monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "_ext")
    from found import repository

    for name in ("BOOK_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    assert repository() is None
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/their-copy")
    assert repository() == ADDRESS
    monkeypatch.setenv("BOOK_REPOSITORY", "https://example.org/a/b/")
    assert repository() == "https://example.org/a/b"


def test_every_reference_is_cited_and_every_citation_has_one():
    texts = [path for name in ("*.md", "chapters/**/*.py") for path in BOOK.glob(name)]
    roles = [
        key.strip()
        for path in texts
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", path.read_text(encoding="utf-8"))
        for key in keys.split(",")
    ]
    listed = re.findall(
        r"^@\w+\{([^,]+),", (BOOK / "references.bib").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(listed) == set(roles), "cite what references.bib lists, and list what is cited there"


def test_the_glossary_is_sorted_and_bilingual():
    text = (BOOK / "glossary.md").read_text(encoding="utf-8")
    entries = text.split("```{glossary}\n")[1].removesuffix("```\n").strip().split("\n\n")
    terms = []
    for entry in entries:
        english, chinese, definition = entry.split("\n")
        terms.append(english.lower())
        assert re.search(r"[\u4e00-\u9fff]", chinese), f"glossary.md: {english} has no Chinese name"
        assert definition.startswith("  ") and definition.endswith("."), (
            f"glossary.md: {english} needs a definition, two spaces in, with a point at its end"
        )
    assert terms == sorted(set(terms)) and len(terms) >= 50, (
        "glossary.md: put the terms in the order of the alphabet, each once"
    )


def test_every_reference_has_what_a_reader_needs_to_find_it():
    entries = (BOOK / "references.bib").read_text(encoding="utf-8").strip().split("\n\n")
    keys = []
    for entry in entries:
        key = re.match(r"@\w+\{([a-z]+\d{4}[a-z]+),", entry)
        assert key, f"references.bib: a key is author, year, word, as `lecun1998gradient`: {entry}"
        keys.append(key[1])
    assert keys == sorted(set(keys)), "references.bib: put the keys in order, each once"
    for key, entry in zip(keys, entries, strict=True):
        fields = set(re.findall(r"^  (\w+)\s*= \{.+\}", entry, re.MULTILINE))
        assert {"author", "title", "year"} <= fields, f"{key} needs author, title and year"
        places = ["journal", "booktitle", "publisher", "institution", "howpublished", "note"]
        assert fields & {*places}, (
            f"{key} in references.bib needs one of these: {', '.join(places)}"
        )
        assert re.search(r"^  year\s*= \{(\d{4})\}", entry, re.MULTILINE)[1] in key, (
            f"{key} in references.bib is of another year than its key says"
        )
