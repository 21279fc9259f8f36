"""The reference: a page for each module, made from its docstrings, with links to and from lessons.

sphinx.ext.autodoc finds the members; `entries` says how their text is read. A lesson's code and
prose lead to the entries of what it imports, and an entry leads to the sections that use it.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from html import escape
from importlib import import_module
from pathlib import Path

import entries
import found
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from utils.press import lessons

FOLDER = lessons.REFERENCE
SHOWN, ASKED, SAID, USED, MEASURED = range(
    5
)  # how a section has to do with an entry: the best comes first
MOST = 3  # pages that an entry leads back to
LONGEST_VALUE = 60  # characters of a constant
SHOW = re.compile(r"show_source\(([\w.]+)\)")
LABEL = "exercise-"
CHAIN = re.compile(
    r'<span class="n">(\w+)</span>((?:<span class="o">\.</span><span class="n">\w+</span>)*)'
    r'(?!<span class="o">=</span>)'
)
CODE_CELL = re.compile(r'<div class="highlight-ipython3 .*?</pre>', re.DOTALL)
FOLDED = {f"tag_{tag}" for tag in lessons.FOLDED}


# Pages --------------------------------------------------------------------------------------------


class EntrySource(nodes.General, nodes.Element):
    """The source of an entry, folded. It has no text, so that the search doesn't find its words."""


class EverythingIn(SphinxDirective):
    """What a page of `utils` holds, in the order of its files."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        page = self.arguments[0]
        top, lines = f"utils.{page}", []
        lines += [f".. py:module:: {top}", "", *_said(top)]
        for module, listed in entries.entries(page).items():
            if module != top:
                title = module.removeprefix(f"{top}.")
                lines += [
                    title,
                    "-" * len(title),
                    "",
                    f".. py:module:: {module}",
                    "",
                    *_said(module),
                ]
            for entry in listed:
                lines += [f".. auto{entry.kind}:: {entry.address}"]
                if entry.kind in ("class", "exception"):
                    lines += ["   :members:", "   :undoc-members:", "   :member-order: bysource"]
                elif entry.kind == "data" and len(repr(entry.thing)) > LONGEST_VALUE:
                    lines += ["   :no-value:"]
                lines += [""]
        within = nodes.section(document=self.state.document)
        self.state.nested_parse(StringList(lines, f"<utils.{page}>"), 0, within, match_titles=True)
        return within.children


class AllEntries(SphinxDirective):
    """The list of all entries: by day, then what is around the days."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for day in lessons.days():
            if day.concepts:
                lines += _headed(f"Day {day.number}: {day.title}")
                lines += [line for page in day.concepts for line in self._page(page)]
        lines += _headed("Around the days")
        lines += [line for page in lessons.FLOORS for line in self._page(page)]
        within = nodes.section(document=self.state.document)
        self.state.nested_parse(StringList(lines, "<utils>"), 0, within, match_titles=True)
        return within.children

    def _page(self, page: str) -> list[str]:
        listed = [entry for each in entries.entries(page).values() for entry in each]
        if page in lessons.concepts():
            names = (f":py:obj:`{entry.name} <{entry.address}>`" for entry in listed)
            said = ", ".join(names)
        else:
            said = entries.inline(_docstring(f"utils.{page}").partition("\n\n")[0])
        return [f":doc:`utils.{page} <{page}>`", f"   {said}", ""]


def _headed(title: str) -> list[str]:
    return [entries.plain(title), "-" * (2 * len(title)), ""]


def _docstring(module: str) -> str:
    return inspect.cleandoc(import_module(module).__doc__ or "")


def _said(module: str) -> list[str]:
    names = _Names(module)
    return entries.as_rst(_docstring(module), (), names.address)


class _Names:
    """What code in the docstring of an entry, or of a module, means."""

    def __init__(self, module: str, address: str = "", thing: object = None):
        self.module, self.own, self.thing = module, address, thing
        self.not_linked = entries.explained(thing) if thing is not None else set()

    def address(self, code: str) -> str | None:
        """The address of the entry that is meant; None if it is none, or this one."""
        if not re.fullmatch(r"[\w.]+", code) or code in self.not_linked:
            return None
        cls = self.own if inspect.isclass(self.thing) else self.own.rpartition(".")[0]
        places = [cls, self.module, self.module.rpartition(".")[0], "utils"]
        for place in filter(None, places):
            there = meant(f"{place}.{code}")
            if there and there != self.own:
                return there
        there = entries.by_name().get(code) if code[0].isupper() else None
        return None if there == self.own else there


def meant(address: str) -> str | None:
    """The listed address of what an address means: an entry, a method of one, a module."""
    listed = entries.addresses()
    if address in listed:
        return listed[address]
    if address in entries.places():
        return address
    owner, _, name = address.rpartition(".")
    if owner in listed and not name.startswith("_"):
        module, _, cls = listed[owner].rpartition(".")
        thing = getattr(import_module(module), cls)
        if inspect.isclass(thing) and inspect.isroutine(vars(thing).get(name)):
            return f"{listed[owner]}.{name}"
    return None


def read_docstring(app: Sphinx, what: str, name: str, thing, options, lines: list[str]) -> None:
    """Turn a docstring into reST, with its source and its lessons after it."""
    home, _, last = name.rpartition(".")
    if what in ("class", "function", "exception"):
        module, text, points = thing.__module__, thing.__doc__ or "", entries.explained(thing)
    elif what == "data":
        module = home
        text, points = entries.constant(name), set()
    else:
        module = home.rpartition(".")[0]
        text = vars(getattr(import_module(module), home.rpartition(".")[2]))[last].__doc__ or ""
        points = entries.explained(thing)
    names = _Names(module, name, thing)
    lines[:] = entries.as_rst(text, points, names.address)
    for field, comment in entries.fields(thing).items():
        lines += [f"``{field}``", f"   {entries.inline(comment, names.address)}", ""]
    if name in entries.addresses().values():
        lines += [f".. about-entry:: {name}", ""]


def read_signature(app: Sphinx, what: str, name: str, thing, options, signature, result):
    """Show arguments and result as they are written."""
    if what in ("class", "function", "method", "exception"):
        return entries.signature(thing)
    return None


def leave_out(app: Sphinx, what: str, name: str, thing, skip: bool, options) -> bool | None:
    """Leave out what is no method: fields, which stand in the signature, and aliases."""
    if skip:
        return None
    thing = getattr(thing, "__func__", thing)
    return not (inspect.isroutine(thing) or isinstance(thing, property)) or None


class AboutEntry(SphinxDirective):
    """The place of an entry's source and of its links to lessons, known when all pages are read."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [EntrySource("", address=self.arguments[0])]


def let_others_be(app: Sphinx, env, node, contnode) -> nodes.Node | None:
    """Leave a type that isn't the book's, such as Tensor, without a link; an alias has one."""
    if node.get("refdomain") != "py":
        return None
    if not node["reftarget"].startswith("utils."):
        return contnode
    return _linked(app, node["refdoc"], node["reftarget"], contnode)


def _linked(app: Sphinx, page: str, address: str | None, shown: nodes.Node):
    """What is shown as a link to an entry, if the book has one; else None."""
    there = app.env.domains["py"].objects.get(address)
    if there is None or app.builder.format != "html":
        return None
    uri = f"{app.builder.get_relative_uri(page, there.docname)}#{there.node_id}"
    return nodes.reference("", "", shown, refuri=uri, internal=True, reftitle=address)


# From lessons, and back ---------------------------------------------------------------------------


def has_reference(app: Sphinx) -> bool:
    return f"{FOLDER}/index" in app.env.found_docs


def find_uses(app: Sphinx, doctree: nodes.document) -> None:
    """Note which entries a page imports, and where it shows, asks for, names and uses them."""
    page = app.env.docname
    if not page.startswith("chapters/") or not has_reference(app):
        return
    cells = [node for node in doctree.findall(nodes.container) if "cell" in node["classes"]]
    blocks = [(block, cell) for cell in cells for block in cell.findall(nodes.literal_block)]
    imported = dict(_imported([block.astext() for block, _ in blocks]))
    uses: list[tuple[str, int, str, str]] = []

    def use(address: str, how: int, node: nodes.Node) -> None:
        uses.append((address, how, *_section(node)))

    for block, cell in blocks:
        if shown := SHOW.fullmatch(block.astext().strip()):
            if there := _through(imported, shown[1]):
                use(there, SHOWN, block)
                cell += nodes.paragraph("", "", nodes.literal(there, there, entry=there))
                cell[-1]["classes"].append("in-reference")
        elif "tag_setup" not in cell["classes"]:
            how = MEASURED if FOLDED.intersection(cell["classes"]) else USED
            for name in re.findall(r"[A-Za-z_][\w.]*", block.astext()):
                if there := _through(imported, name):
                    use(there, how, block)
    for box in doctree.findall(nodes.Admonition):
        asked = str(box.get("label", ""))
        if there := entries.concept(asked.removeprefix(LABEL)):
            use(there, ASKED, box)
    for literal in doctree.findall(nodes.literal):
        code = re.match(r"[\w.]+", literal.astext())
        if code and (there := _through(imported, code[0], whole=True) or meant(code[0])):
            literal["entry"] = there
            use(there, SAID, literal)
    app.env.metadata[page]["imported"] = imported
    if "/solutions/" not in page:
        app.env.metadata[page]["uses"] = uses


def _imported(cells: list[str]) -> Iterator[tuple[str, str]]:
    """(name, address) of what a page's code imports and never defines itself."""
    own, names = set(), {}
    for cell in cells:
        try:
            tree = ast.parse(cell)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if there := meant(f"{node.module}.{alias.name}"):
                        names[alias.asname or alias.name] = there
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
        own |= {node.name for node in tree.body if hasattr(node, "name")}
    return ((name, there) for name, there in names.items() if name not in own)


def _through(imported: dict[str, str], chain: str, whole: bool = False) -> str | None:
    """The entry that a dotted name means on a page, or begins with."""
    first, *rest = chain.strip(".").split(".")
    there = imported.get(first)
    for name in rest if there else ():
        further = meant(f"{there}.{name}")
        if further is None:
            return None if whole or there in entries.places() else there
        there = further
    return there


def _section(node: nodes.Node) -> tuple[str, str]:
    """(anchor, title) of the section that a node is in; no anchor for the whole page."""
    while not (isinstance(node, nodes.section) and isinstance(node[0], nodes.title)):
        node = node.parent
        if node is None:
            return "", ""
    whole = isinstance(node.parent, nodes.document)
    return ("", "") if whole else (node["ids"][0], node[0].astext())


def write_again(app: Sphinx, env) -> list[str]:
    """Write the reference's pages whenever a lesson may have changed."""
    return [page for page in env.found_docs if page.startswith(f"{FOLDER}/")]


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Set the links from lessons to entries, and from entries to lessons."""
    for literal in list(doctree.findall(nodes.literal)):
        if "entry" in literal and not isinstance(literal.parent, nodes.reference | nodes.title):
            if linked := _linked(app, page, literal["entry"], literal.copy()):
                linked[0] += [child.deepcopy() for child in literal.children]
                literal.replace_self(linked)
    for place in list(doctree.findall(EntrySource)):
        if back := list(_back(app, page, place["address"])):
            words = nodes.paragraph("", "In the book: ", *back, classes=["in-the-book"])
            place.parent.insert(place.parent.index(place), words)


def _back(app: Sphinx, page: str, address: str) -> Iterator[nodes.Node]:
    """Links to the sections of lessons that have most to do with an entry."""
    best: dict[str, tuple[int, str, str]] = {}
    for lesson in sorted(
        app.env.found_docs, key=lambda name: (name[-80:].rpartition("/")[2], name)
    ):
        for used, *place in app.env.metadata[lesson].get("uses", ()):
            owned = used == address or used.startswith(f"{address}.")
            if owned and (lesson not in best or place[0] < best[lesson][0]):
                best[lesson] = tuple(place)
    chosen = [lesson for lesson in best if best[lesson][0] < USED]
    chosen = chosen or sorted(best, key=lambda lesson: best[lesson][0])[:1]
    days = {day.stem: day for day in lessons.days()}
    for i, lesson in enumerate(chosen[:MOST]):
        _, anchor, title = best[lesson]
        uri = app.builder.get_relative_uri(page, lesson) + (f"#{anchor}" if anchor else "")
        day = days[Path(lesson).name]
        where = f"Day {day.number}{', deeper' if '/deeper/' in lesson else ''}"
        yield nodes.Text("; " if i else "")
        yield nodes.reference("", f"{where}: {title or day.title}", refuri=uri, internal=True)


def link_code(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Let the names in a page's code lead to their entries, each once in a cell."""
    imported = (
        app.env.metadata[pagename].get("imported") if pagename in app.env.found_docs else None
    )
    if not imported or "body" not in context:
        return

    def cell(block: re.Match) -> str:
        seen: set[str] = set()

        def name(chain: re.Match) -> str:
            words = [chain[1], *re.findall(r'"n">(\w+)', chain[2])]
            for n in range(len(words), 0, -1):
                there = _through(imported, ".".join(words[:n]), whole=True)
                if there in entries.addresses().values() and there not in seen:
                    shown = nodes.Text("")
                    linked = _linked(app, pagename, there, shown)
                    if linked is None:
                        return chain[0]
                    seen.add(there)
                    spans = re.findall(r"<span class=\"[no]\">.*?</span>", chain[0])
                    inner, rest = "".join(spans[: 2 * n - 1]), "".join(spans[2 * n - 1 :])
                    uri = escape(linked["refuri"])
                    return f'<a class="entry" href="{uri}" title="{there}">{inner}</a>{rest}'
            return chain[0]

        return CHAIN.sub(name, block[0])

    context["body"] = CODE_CELL.sub(cell, context["body"])


# --------------------------------------------------------------------------------------------------


def show_source(translator, node: EntrySource) -> None:
    """The source of an entry, folded, under a line that says where it is."""
    module, _, name = node["address"].rpartition(".")
    thing = getattr(import_module(module), name)
    if entries.definition(thing) is None:
        return
    code, first = entries.code(thing)
    file = Path(inspect.getsourcefile(inspect.unwrap(thing))).relative_to(lessons.ROOT).as_posix()
    translator.body.append(f'<details class="code-fold"><summary title="{file}">code</summary>\n')
    coloured = translator.highlighter.highlight_block(code, "python", location=node)
    where = f"{file}, line {first}"
    if there := found.repository():
        address = f"{there}/blob/{found.branch()}/{file}#L{first}"
        where = f'<a href="{escape(address)}">{where}</a>'
    translator.body.append(
        f'<p class="where">{where}</p><div class="highlight-python notranslate">{coloured}</div>'
    )


def close_source(translator, node: EntrySource) -> None:
    module, _, name = node["address"].rpartition(".")
    if entries.definition(getattr(import_module(module), name)) is not None:
        translator.body.append("</details>\n")


def configure(app: Sphinx, config) -> None:
    config.autodoc_inherit_docstrings = False
    config.maximum_signature_line_length = 72
    config.python_use_unqualified_type_names = True
    config.toc_object_entries_show_parents = "hide"
    config.html_domain_indices = False
    config.html_search_scorer = str(Path(__file__).with_name("scorer.js"))


def setup(app: Sphinx) -> None:
    """Called by the book's own extension."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("everything-in", EverythingIn)
    app.add_directive("all-entries", AllEntries)
    app.add_directive("about-entry", AboutEntry)
    app.add_node(EntrySource, html=(show_source, close_source))
    app.connect("config-inited", configure)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", read_signature)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("missing-reference", let_others_be)
    app.connect("doctree-read", find_uses, priority=600)  # when the page is one that is read
    app.connect("env-updated", write_again)
    app.connect("doctree-resolved", link)
    app.connect("html-page-context", link_code)
