"""Links from lessons to the reference, and from its entries to the sections that use them."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from html import escape
from pathlib import Path

import entries
from docutils import nodes
from sphinx.application import Sphinx

from reference import EntrySource, linked
from utils.press import lessons

SHOWN, ASKED, SAID, USED, MEASURED = range(5)  # what a section does with an entry, the best first
MOST = 3  # pages that an entry leads back to
SHOW = re.compile(r"show_source\(([\w.]+)\)")
LABEL = "exercise-"
NAME = re.compile(r"[A-Za-z_][\w.]*")
WORD, DOT = r'<span class="n">(\w+)</span>', r'<span class="o">\.</span>'
CHAIN = re.compile(rf'{WORD}(?:{DOT}{WORD})*(?!<span class="o">=</span>)')
CELL = re.compile(r'<div class="highlight-ipython3 .*?</pre>', re.DOTALL)
FOLDED = {f"tag_{tag}" for tag in lessons.FOLDED}
TOOLS = ("utils.show.", "utils.measure.")  # in each cell of a page, and no link there


def find_uses(app: Sphinx, doctree: nodes.document) -> None:
    """Note which entries a page imports, and where it shows, asks for, names and uses them."""
    page = app.env.docname
    if not page.startswith("chapters/") or f"{lessons.REFERENCE}/index" not in app.env.found_docs:
        return
    cells = [node for node in doctree.findall(nodes.container) if "cell" in node["classes"]]
    blocks = [(block, cell) for cell in cells for block in cell.findall(nodes.literal_block)]
    imported = _imported([block.astext() for block, _ in blocks])
    uses: set[tuple[str, int, str, str]] = set()  # (address, how, anchor, title)

    def use(address: str | None, how: int, node: nodes.Node) -> None:
        if address:
            uses.add((address, how, *_section(node)))

    for block, cell in blocks:
        if shown := SHOW.fullmatch(block.astext().strip()):
            if there := _means(imported, shown[1]):
                use(there, SHOWN, block)
                name = nodes.literal(there, there, entry=there)
                cell += nodes.paragraph("", "", name, classes=["in-reference"])
        elif "tag_setup" not in cell["classes"]:
            how = MEASURED if FOLDED.intersection(cell["classes"]) else USED
            for name in set(NAME.findall(block.astext())):
                use(_means(imported, name), how, block)
    for box in doctree.findall(nodes.Admonition):
        use(entries.concept(str(box.get("label", "")).removeprefix(LABEL)), ASKED, box)
    for literal in doctree.findall(nodes.literal):
        if "entry" not in literal and (code := NAME.match(literal.astext())):
            there = _means(imported, code[0], whole=True) or entries.meant(code[0])
            if there:
                literal["entry"] = there
                use(there, SAID, literal)
    app.env.metadata[page]["imported"] = imported
    if "/solutions/" not in page:
        app.env.metadata[page]["uses"] = sorted(uses)


def _imported(cells: list[str]) -> dict[str, str]:
    """{name: address} of what a page's code imports and doesn't define itself."""
    own, names = set(), {}
    for cell in cells:
        try:
            tree = ast.parse(cell)
        except SyntaxError:  # no Python, such as what a cell printed
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if there := entries.meant(f"{node.module}.{alias.name}"):
                        names[alias.asname or alias.name] = there
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
        own |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {name: there for name, there in names.items() if name not in own}


def _means(imported: dict[str, str], chain: str, whole: bool = False) -> str | None:
    """The entry that a dotted name means on a page; unless `whole`, that it begins with."""
    first, *rest = chain.rstrip(".").split(".")
    there = imported.get(first)
    for name in rest if there else ():
        further = entries.meant(f"{there}.{name}")
        if further is None:
            return None if whole or there in entries.places() else there
        there = further
    return there


def _section(node: nodes.Node) -> tuple[str, str]:
    """(anchor, title) of the section that a node is in; no words if that is the whole page."""
    while not (isinstance(node, nodes.section) and isinstance(node[0], nodes.title)):
        node = node.parent
    return (
        ("", "") if isinstance(node.parent, nodes.document) else (node["ids"][0], node[0].astext())
    )


def gather(app: Sphinx, env) -> list[str]:
    """Bring together what the lessons use; the reference's pages say it, and are written again."""
    best: dict[str, dict[str, tuple]] = defaultdict(dict)  # {address: {page: (how, anchor, title)}}
    for page in sorted(env.found_docs, key=lambda page: (Path(page).name, page)):
        for address, *place in env.metadata[page].get("uses", ()):
            owner = address if address in entries.listed() else address.rpartition(".")[0]
            for of in {address, owner}:
                best[of][page] = min(best[of].get(page, (MEASURED + 1,)), tuple(place))
    env.book_uses = dict(best)
    return [page for page in env.found_docs if page.startswith(f"{lessons.REFERENCE}/")]


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Set the links from lessons to entries, and from entries to lessons."""
    for literal in list(doctree.findall(nodes.literal)):
        if "entry" in literal and not isinstance(literal.parent, nodes.reference | nodes.title):
            if there := linked(app, page, literal["entry"], literal.deepcopy()):
                literal.replace_self(there)
    for place in list(doctree.findall(EntrySource)):
        if links := list(_back(app, page, place["address"])):
            words = nodes.paragraph("", "In the book: ", *links, classes=["in-the-book"])
            place.parent.insert(place.parent.index(place), words)


def _back(app: Sphinx, page: str, address: str) -> Iterator[nodes.Node]:
    """Links to the sections of lessons that have most to do with an entry."""
    best = app.env.book_uses.get(address, {})
    chosen = [lesson for lesson, (how, *_) in best.items() if how < USED]
    chosen = chosen or sorted(best, key=lambda lesson: best[lesson][0])[:1]
    days = {day.stem: day for day in lessons.days()}
    for i, lesson in enumerate(chosen[:MOST]):
        _, anchor, title = best[lesson]
        day = days[Path(lesson).name]
        where = f"Day {day.number}{', deeper' if '/deeper/' in lesson else ''}"
        uri = app.builder.get_relative_uri(page, lesson) + (f"#{anchor}" if anchor else "")
        yield nodes.Text("; " if i else "")
        yield nodes.reference("", f"{where}: {title or day.title}", refuri=uri, internal=True)


def link_code(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Let the names in a page's code lead to their entries, each once in a cell."""
    imported = app.env.metadata[pagename].get("imported") if doctree is not None else None
    if not imported:
        return

    def cell(code: re.Match) -> str:
        seen: set[str] = set()

        def name(chain: re.Match) -> str:
            spans = re.findall(r"<span.*?</span>", chain[0])
            words = re.findall(r">(\w+)<", chain[0])
            for n in range(len(words), 0, -1):
                address = _means(imported, ".".join(words[:n]), whole=True)
                if not address or address in seen or address.startswith(TOOLS):
                    continue
                if there := linked(app, pagename, address):
                    seen.add(address)
                    inner, rest = "".join(spans[: 2 * n - 1]), "".join(spans[2 * n - 1 :])
                    uri = escape(there["refuri"])
                    return f'<a class="entry" href="{uri}" title="{address}">{inner}</a>{rest}'
            return chain[0]

        return CHAIN.sub(name, code[0])

    context["body"] = CELL.sub(cell, context["body"])


def setup(app: Sphinx) -> None:
    """Called by the book's own extension."""
    app.connect("doctree-read", find_uses, priority=600)  # when the page is one that is read
    app.connect("env-updated", gather)
    app.connect("doctree-resolved", link)
    app.connect("html-page-context", link_code)
