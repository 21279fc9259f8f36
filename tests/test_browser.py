"""The built book in a browser: quiet, self-contained, typeset, and readable for everybody."""

import functools
import gzip
import http.server
import re
import threading
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from browser import BOOK, listed_pages
from card import CARD, SIZE, WORDS
from PIL import Image

SEEN = ("reference/index", "reference/transformer")  # of the reference: its other pages are alike
PAGES = [name for name in listed_pages() if name in SEEN or not name.startswith("reference/")]
LESSONS = [name for name in PAGES if re.match(r"chapters/\d\d_", name)]
LONGEST_LESSONS = sorted(LESSONS, key=lambda name: (BOOK / f"{name}.ipynb").stat().st_size)[-2:]
# Axe takes seconds for the many words of a page. So of code it sees one word of each colour, of
# mathematics in a sentence the first; and it measures the contrast of one text of each kind.
THINNED = """() => {
    const seen = new Set();
    const first = (kind) => !seen.has(kind) && seen.add(kind);
    for (const word of document.querySelectorAll("pre span[class]"))
        if (!first(word.className)) word.replaceWith(...word.childNodes);
    for (const formula of document.querySelectorAll("article span.math"))
        if (!first("formula")) formula.replaceWith("x");
    document.normalize();
}"""
KINDS = """() => {
    const seen = new Set();
    for (const node of document.querySelectorAll("body *")) {
        node.removeAttribute("data-kind");
        const words = [...node.childNodes].some((each) => each.nodeType == 3 && each.data.trim());
        if (!words || !node.checkVisibility()) continue;
        const { color, fontSize, fontWeight } = getComputedStyle(node);
        const kind = [node.tagName, color, fontSize, fontWeight];
        for (let up = node; up; up = up.parentElement) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(up);
            const seenThrough = ["1", "none", "rgba(0, 0, 0, 0)"];
            const paint = [opacity, backgroundImage, backgroundColor];
            kind.push(...paint.filter((part) => !seenThrough.includes(part)));
        }
        if (!seen.has(kind.join("|"))) node.setAttribute("data-kind", "");
        seen.add(kind.join("|"));
    }
    return seen.size;
}"""
# The theme does this 300 ms after a resize, on a slow machine before its sidebar has opened.
IN_REACH = """() => [...document.querySelectorAll("pre, .cell_output > .output")].every(
    (box) => box.scrollWidth <= box.clientWidth || box.tabIndex == 0)
    || void dispatchEvent(new Event("resize"))"""
FAULTS = """() => {
    axe.configure({ rules: [{ id: "color-contrast", selector: "[data-kind]" }] });
    return axe.run({ resultTypes: ["violations"] }).then((found) => found.violations);
}"""
JUMPS = """() => new Promise((done) => {
    let sum = 0;
    const add = (list) => list.forEach((jump) => (sum += jump.hadRecentInput ? 0 : jump.value));
    const watch = new PerformanceObserver((list) => add(list.getEntries()));
    watch.observe({ type: "layout-shift", buffered: true });
    setTimeout(() => { add(watch.takeRecords()); watch.disconnect(); done(sum); }, 50);
})"""  # how far what was in sight has moved, as Web Vitals sums it up
SETTLED = """async () => {
    const pictures = [...document.querySelectorAll("img")].filter((one) => one.checkVisibility());
    pictures.forEach((image) => (image.loading = "eager"));
    await Promise.all(pictures.map((image) => image.decode()));
    await document.fonts.ready;
}"""  # everything that a page fetches is there
BLURRED = """() => [...document.querySelectorAll("article :is(figure, .cell_output) img")]
    .filter((image) => image.clientWidth && !image.src.endsWith(".svg"))
    .filter((image) => image.naturalWidth < 1.9 * image.clientWidth)
    .map((image) => [image.alt, image.naturalWidth, image.clientWidth])"""
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


TEXTS = (".html", ".css", ".js", ".svg")
HEAVIEST = 1_500_000  # bytes of a first visit
FAST_4G = {"latency": 165, "downloadThroughput": 9e6 / 8, "uploadThroughput": 1.5e6 / 8}


@functools.cache
def compressed(path: str) -> bytes:
    return gzip.compress(Path(path).read_bytes(), compresslevel=6)


class Host(http.server.SimpleHTTPRequestHandler):
    """Serves as the hosts of books do, with texts compressed, and without a log."""

    def do_GET(self):
        path = self.translate_path(self.path)
        if not path.endswith(TEXTS) or not Path(path).is_file():
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(compressed(path))))
        self.end_headers()
        self.wfile.write(compressed(path))

    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def address(build):
    """Where the built pages are served, on this machine only."""
    handler = functools.partial(Host, directory=build.html)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def tab(chromium, address):
    """One browser tab; `tab.heard` gathers what its pages complain of and whom else they ask."""
    tab = chromium.new_page(viewport=DESK)
    tab.heard = []
    tab.on("console", lambda said: tab.heard.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: tab.heard.append(str(error)))

    def refuse(route):
        tab.heard.append(f"asks {route.request.url}")
        route.abort()

    tab.route(lambda url: not url.startswith((address, "data:", "blob:")), refuse)
    yield tab
    tab.close()


@pytest.fixture(scope="module", params=PAGES)
def page(tab, address, request):
    """A page of the book, loaded once for all tests of it, which take it from desk to phone."""
    tab.heard.clear()
    show(tab, DESK, "light")
    tab.goto(f"{address}{request.param}.html")
    tab.evaluate("window.MathJax?.startup?.promise?.then(() => null)")
    tab.jumps = tab.evaluate(JUMPS)
    tab.evaluate(SETTLED)
    return tab


def show(tab, size: dict, theme: str) -> None:
    """Set the window's size and the reader's wish for light or dark; wait for the page."""
    tab.emulate_media(color_scheme=theme)
    if tab.viewport_size != size:
        tab.set_viewport_size(size)
        tab.wait_for_timeout(400)  # the theme answers to a new size after 300 ms


def faults(page) -> str:
    """What axe finds."""
    page.evaluate(THINNED)
    page.bring_to_front()
    page.wait_for_function(IN_REACH, polling=1000)
    assert page.evaluate(KINDS) > 5
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
    return "\n".join(
        f"{fault['id']}: {fault['help']}\n  {node['html'][:200]}\n  {node['failureSummary'][:300]}"
        for fault in page.evaluate(FAULTS)
        for node in fault["nodes"][:6]
    )


def test_page_is_light_and_keeps_its_place(page):
    loaded = page.evaluate(
        """() => [...performance.getEntriesByType("navigation"),
                  ...performance.getEntriesByType("resource")]
            .map((entry) => [entry.encodedBodySize, entry.name])"""
    )
    weight = sum(size for size, _ in loaded)
    assert 100_000 < weight <= HEAVIEST, sorted(loaded)[-5:]
    assert page.jumps <= 0.1  # what Web Vitals calls good


def test_mathematics_is_typeset(page):
    written = page.locator("article .math").count()
    assert written > 0 or "notation" not in page.url  # else this test would compare nothing
    typeset = page.locator("article .math mjx-container").count()
    assert typeset >= written
    assert page.locator("article mjx-merror").count() == 0
    prose = page.evaluate(
        """() => {
            const article = document.querySelector("article").cloneNode(true);
            article.querySelectorAll("pre, code, mjx-container").forEach((node) => node.remove());
            return article.textContent;
        }"""
    )
    assert not [sign for sign in (r"\(", r"\[", "$$", r"\begin{") if sign in prose]


def test_figures_are_crisp_at_double_density(page):
    assert not page.evaluate(BLURRED), "run `make execute` for it, so that it is drawn anew"


def cut_equations(page) -> list[str]:
    """The equations on lines of their own that are wider than their box."""
    return page.locator("article div.math").evaluate_all(
        """(boxes) => boxes.filter((box) => box.querySelector("mjx-container").scrollWidth >
            box.clientWidth + 1).map((box) => box.id)"""
    )


def test_page_fits_a_phone(page):
    assert cut_equations(page) == []
    show(page, PHONE, "light")
    if page.url.removesuffix(".html").endswith(tuple(LESSONS)):
        assert cut_equations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    too_wide = page.evaluate(
        """(width) => {
            const scrolls = (node) => /auto|scroll/.test(getComputedStyle(node).overflowX);
            const boxed = (node) =>
                node.tagName != "ARTICLE" && (scrolls(node) || boxed(node.parentNode));
            return [...document.querySelectorAll("article :is(img, mjx-container, table, pre)")]
                .filter((node) => node.getBoundingClientRect().right > width + 1 && !boxed(node))
                .map((node) => node.outerHTML.slice(0, 200));
        }""",
        PHONE["width"],
    )
    assert too_wide == []


FIGURES = """async () => {
    const shown = [...document.querySelectorAll("article :is(figure, .cell_output) img")]
        .filter((image) => image.checkVisibility());
    shown.forEach((image) => (image.loading = "eager"));
    await Promise.all(shown.map((image) => image.decode()));
    return shown.map((image) => {
        const box = image.closest(".drawing");
        return {
            alt: image.alt,
            theme: image.dataset.for,
            filter: getComputedStyle(image).filter,
            loaded: image.naturalWidth,
            width: image.clientWidth,
            readable: box ? parseFloat(box.style.getPropertyValue("--readable")) : 0,
            box: box ? box.getBoundingClientRect().width : image.clientWidth,
            left: (box ?? image).getBoundingClientRect().left,
            reached: !box || box.scrollWidth <= box.clientWidth || box.tabIndex == 0,
        };
    });
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_are_described_drawn_for_the_theme_and_read_on_a_phone(page, theme):
    show(page, PHONE, theme)
    page.wait_for_function(f"document.documentElement.dataset.theme == '{theme}'")
    for figure in page.evaluate(FIGURES):
        assert len(figure["alt"]) >= 10, figure
        assert figure["theme"] in (theme, None) and figure["filter"] == "none", figure
        assert figure["loaded"] > 0 and figure["reached"], figure
        assert figure["left"] >= 0 and figure["left"] + figure["box"] <= PHONE["width"], figure
        assert figure["width"] >= figure["readable"], figure
        assert figure["theme"] is None or figure["box"] == PHONE["width"], figure


def test_page_is_accessible_in_the_dark(page):
    show(page, PHONE, "dark")
    page.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    found = faults(page)
    assert not found, found


def test_page_is_accessible_in_the_light(page):
    show(page, DESK, "light")
    page.wait_for_function("document.documentElement.dataset.theme == 'light'")
    found = faults(page)
    assert not found, found


def test_page_has_been_quiet_and_asked_no_other_host(page):
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert page.heard == []  # in all that was done with it, this test being the last


def test_one_word_in_a_hundred_that_is_too_faint_is_found(chromium):
    tab = chromium.new_page()
    grey, words = "<p style='color: #595959'>word</p>", "<h1>Title</h1><b>bold</b><i>and</i>"
    body = f"<main>{words}<code>c</code><a href='x'>x</a>{{}}{50 * grey}{{}}{50 * grey}</main>"
    page = f"<html lang='en'><title>Words</title>{body}</html>"
    tab.set_content(page.format("", ""))
    assert not faults(tab)
    for faint in ("color: #999", "color: #595959; background: #888", "opacity: 0.5"):
        tab.set_content(page.format("", f"<p style='{faint}'>word</p>"))
        assert faults(tab).startswith("color-contrast")
    tab.close()


# What the first text waits for: round trips one after the other, and the bytes of what is fetched.
WAITED_FOR = """() => {
    const all = performance.getEntriesByType("resource"), main = document.querySelector("main");
    const early = [...document.querySelectorAll("script[src]:not([defer], [async], [type=module])")]
        .filter((one) => one.compareDocumentPosition(main) & Node.DOCUMENT_POSITION_FOLLOWING)
        .map((one) => one.src);
    const before = all.filter((one) =>
        one.renderBlockingStatus == "blocking" || early.includes(one.name));
    before.push(...performance.getEntriesByType("navigation"));
    const trips = (one) => 1 + Math.max(0, ...before.filter((other) => other != one &&
        other.responseStart <= one.startTime).map(trips));
    const size = before.reduce((sum, one) => sum + one.encodedBodySize, 0);
    return [Math.max(...before.map(trips)), size];
}"""


@pytest.mark.parametrize("name", ["index", "notation", "claims", *LONGEST_LESSONS])
def test_the_first_text_waits_for_at_most_0_6_seconds_of_a_throttled_line(chromium, address, name):
    waited = []
    for _ in range(10):  # of which the best counts: on a busy machine some are asked for later
        visit = chromium.new_context(viewport=PHONE)
        tab = visit.new_page()
        line = visit.new_cdp_session(tab)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", {"offline": False, **FAST_4G})
        tab.goto(f"{address}{name}.html", wait_until="domcontentloaded")
        tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        trips, size = tab.evaluate(WAITED_FOR)
        waited.append(trips * FAST_4G["latency"] + 1000 * size / FAST_4G["downloadThroughput"])
        visit.close()
        if waited[-1] <= 600:
            break
    assert 2 * FAST_4G["latency"] < min(waited) <= 600, waited  # the page, then its style sheet


def test_a_page_has_one_search_box_and_no_empty_header(tab, address):
    show(tab, DESK, "light")
    tab.goto(f"{address}index.html")
    assert tab.locator(".search-button-field:visible").count() == 1
    assert tab.locator("#pst-header").bounding_box()["height"] <= 1


def test_the_reader_can_choose_dark_mode(tab, address):
    show(tab, DESK, "light")
    tab.goto(f"{address}index.html", wait_until="networkidle")
    seen = set()
    for _ in range(3):
        tab.locator(".theme-switch-button:visible").click()
        seen.add(tab.evaluate("document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}


def test_search_finds_a_term(tab, address):
    show(tab, DESK, "light")
    tab.goto(f"{address}index.html", wait_until="networkidle")
    tab.locator(".search-button-field:visible").click()
    tab.keyboard.type("receptive field")
    tab.keyboard.press("Enter")
    tab.locator("#search-results li a", has_text="Day 1").first.wait_for()
    assert tab.locator("#search-results li a", has_text="Glossary").count() >= 1


@pytest.mark.parametrize(
    "words, first, also",
    [
        ("masked_softmax", "reference/attention.html#utils.attention.masked_softmax", set()),
        ("attention", "glossary.html#term-attention", {"module-utils.attention"}),
        ("learning rate", "glossary.html#term-learning-rate", set()),
    ],
)
def test_search_finds_lessons_before_the_reference_but_for_a_name(tab, address, words, first, also):
    tab.goto(f"{address}search.html?q={words}")
    found = tab.locator("#search-results li > a")
    found.nth(9).wait_for()
    places = found.evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    assert re.sub(r"\?[^#]*", "", places[0]) == first
    of_reference = {place.partition("#")[2] for place in places[1:10] if "reference/" in place}
    assert of_reference <= also


def test_a_signature_wraps_on_a_phone(tab, address):
    show(tab, PHONE, "light")
    tab.goto(f"{address}reference/training.html", wait_until="networkidle")
    signatures = tab.locator("dl.py > dt")
    assert signatures.count() > 50
    too_wide = "(all, width) => all.filter((it) => it.getBoundingClientRect().right > width).length"
    assert signatures.evaluate_all(too_wide, PHONE["width"]) == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_search_has_its_magnifier_before_its_words(tab, address):
    show(tab, DESK, "light")
    tab.goto(f"{address}index.html", wait_until="networkidle")
    tab.keyboard.press("Control+k")
    field = tab.locator("dialog .bd-search input")
    field.wait_for()
    words = field.evaluate(
        "(it) => it.getBoundingClientRect().left + parseFloat(getComputedStyle(it).paddingLeft)"
    )
    glass = tab.locator("dialog .bd-search i").first.bounding_box()
    assert glass["x"] + glass["width"] < words
    tab.keyboard.press("Escape")


def test_the_sidebar_opens_the_day_and_next_leads_to_the_next_lesson(tab, address):
    show(tab, DESK, "light")
    first, second, stem = LESSONS[0], LESSONS[1], LESSONS[1].rpartition("/")[2]
    for name in (second, f"chapters/deeper/{stem}", f"chapters/solutions/{stem}"):
        tab.goto(f"{address}{name}.html")
        opened = tab.locator(".bd-sidebar-primary li:has(> details[open]) > a")
        assert opened.count() == 1 and "Day 1" in opened.text_content()
        below = tab.locator(".bd-sidebar-primary details[open] a")
        assert below.all_text_contents() == ["Deeper", "Solutions"]
    tab.goto(f"{address}{second}.html")
    assert tab.locator(".left-prev").get_attribute("href").endswith(f"{first[9:]}.html")
    assert tab.locator(".right-next").get_attribute("href").endswith(f"{LESSONS[2][9:]}.html")


def test_only_a_page_with_formulas_loads_what_typesets_them(build):
    for name in PAGES:
        page = (build.html / f"{name}.html").read_text(encoding="utf-8")
        assert ("mathjax/" in page) == bool(re.search(r'class="[^"]*\bmath\b', page)), name


KINDS_TO_TOUCH = "button, summary, select, input, .toctree-toggle"
TOO_SMALL = """(kinds) => [...document.querySelectorAll(kinds)]
    .filter((one) => one.checkVisibility({ opacityProperty: false }))
    .map((one) => [one.outerHTML.slice(0, 120), one.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 1 && height > 1 && (width < 23.5 || height < 23.5))
    .map(([text, { width, height }]) => [text, width, height])"""


@pytest.mark.parametrize("lesson", sorted({*LONGEST_LESSONS, LESSONS[3], LESSONS[10]}))
def test_on_a_phone_code_wraps_and_a_finger_hits_what_it_is_to_touch(tab, address, lesson):
    show(tab, PHONE, "light")
    tab.goto(f"{address}{lesson}.html", wait_until="networkidle")
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    assert tab.locator("article pre").count() > 20
    assert tab.locator("article pre").evaluate_all(cut) == 0
    assert tab.evaluate(TOO_SMALL, KINDS_TO_TOUCH) == []


def test_folded_code_is_in_the_line_of_its_caption(tab, address):
    show(tab, DESK, "light")
    tab.goto(f"{address}{LESSONS[1]}.html", wait_until="networkidle")
    folded = tab.locator("div.cell:has(> .code-fold):has(figure)")
    assert folded.count() >= 6
    for cell in folded.all()[:6]:
        caption = cell.locator("figcaption p").bounding_box()
        word = cell.locator("summary").bounding_box()
        assert abs(caption["y"] + caption["height"] - word["y"] - word["height"]) < 6
        assert cell.locator(".cell_input").is_hidden()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_picture_is_larger_at_a_tap_and_by_keyboard(tab, address, size):
    show(tab, size, "light")
    tab.goto(f"{address}{LESSONS[1]}.html", wait_until="networkidle")
    picture = tab.locator("article figure img:visible").first
    before = picture.bounding_box()["width"]
    large, dialog = tab.locator("dialog.picture img"), tab.locator("dialog.picture")
    picture.click()
    assert large.bounding_box()["width"] > 1.2 * before
    assert large.get_attribute("alt") == picture.get_attribute("alt")
    tab.keyboard.press("Escape")
    assert not dialog.is_visible()
    tab.locator("article .enlarge").first.focus()
    tab.keyboard.press("Enter")
    assert dialog.is_visible()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_on_paper_a_lesson_has_its_text_and_none_of_its_tools(tab, address):
    show(tab, {"width": 700, "height": 990}, "dark")
    tab.goto(f"{address}{LESSONS[1]}.html", wait_until="networkidle")
    tab.emulate_media(media="print")
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    tools = ".code-fold, details.reference, .bd-sidebar, .prev-next-footer, .enlarge, .headerlink"
    assert (
        tab.locator(tools).evaluate_all("(all) => all.filter((one) => one.checkVisibility())") == []
    )
    assert (
        tab.locator("article button:visible").count()
        == tab.locator(
            "article :is(.view-options, .view-squares, li, .view-choice) button:visible"
        ).count()
    )
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    wide = "(all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length"
    assert tab.locator("article :is(pre, figure, table)").evaluate_all(wide) == 0
    assert tab.locator("article .cell_input:visible").count() > 10
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.emulate_media(media="screen")


def test_claims_are_chosen_by_their_answer_with_the_keyboard_alone(tab, address):
    show(tab, DESK, "light")
    tab.goto(f"{address}claims.html", wait_until="networkidle")
    claims, status = tab.locator(".claim"), tab.locator(".answers [role=status]")
    everything = claims.count()
    assert everything > 30 and status.text_content() == (
        f"{everything} of {everything} claims are shown."
    )
    tab.get_by_role("radio", name="in all").focus()
    seen = 0
    for _ in range(tab.get_by_role("radio").count() - 1):
        tab.keyboard.press("ArrowRight")
        number, answer = tab.locator("label:has(:checked)").text_content().split(" ", 1)
        shown = tab.locator(".claim:visible")
        assert shown.count() == int(number) > 0
        said = shown.locator("strong").all_text_contents()
        assert {text.removeprefix("It ").rstrip(".") for text in said} == {answer}
        assert status.text_content() == f"{number} of {everything} claims are shown."
        days = tab.locator("article section section:visible > h2").count()
        assert tab.locator(".page-toc a:visible").count() == days
        seen += shown.count()
    assert seen == everything
    tab.keyboard.press("ArrowRight")  # around to all of them
    assert tab.locator(".claim:visible").count() == everything


def test_without_scripts_the_claims_are_a_list_with_its_counts(chromium, address):
    tab = chromium.new_page(java_script_enabled=False)
    tab.goto(f"{address}claims.html")
    counts = tab.locator(".answers li").all_text_contents()
    assert sum(int(text.split()[0]) for text in counts) == tab.locator(".claim:visible").count()
    assert re.fullmatch(r"\d+ Yes", counts[0])
    tab.close()


@pytest.mark.parametrize("lesson", [LESSONS[0], LONGEST_LESSONS[-1]])
def test_an_exercise_leads_to_its_solution(tab, address, lesson):
    show(tab, PHONE, "light")
    tab.goto(f"{address}{lesson}.html", wait_until="networkidle")
    tab.locator(".exercise a[href*='solutions/']").first.click()
    tab.wait_for_url(f"**/chapters/solutions/{lesson.rpartition('/')[2]}.html#*")
    solution = tab.locator(f"section:has(> [id='{tab.url.split('#')[1]}'])")
    assert solution.bounding_box()["y"] < PHONE["height"] / 2
    assert solution.locator(".cell_input").count() >= 1


def test_the_card_shows_what_the_first_page_says_now(build, chromium):
    tab = chromium.new_page()
    tab.goto((build.html / "index.html").as_uri())
    with Image.open(CARD) as picture:
        assert picture.size == (SIZE["width"], SIZE["height"])
        assert picture.text["Description"] == tab.evaluate(WORDS), (
            "the first page says something else now: `make book`, then `python tests/card.py`"
        )
    tab.close()
