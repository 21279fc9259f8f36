"""The reference: a page for each module of `utils`, made from its docstrings.

sphinx.ext.autodoc finds the members and Sphinx draws them; `entries` says which there are, and
`docstrings` how their text is read.
"""

import inspect
import re
from html import escape
from importlib import import_module
from pathlib import Path

import docstrings
import entries
import found
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import desc_signature
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from utils.press import lessons

LONGEST_VALUE = 60  # characters of a constant
ARGUMENTS = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>\n')
LINE = '<span class="argument">'


class EntrySource(nodes.General, nodes.Element):
    """The source of an entry, folded. It has no text, so that the search doesn't find its words."""


class Listing(SphinxDirective):
    """A directive that stands for lines of reST."""

    def parsed(self, lines: list[str]) -> list[nodes.Node]:
        within = nodes.section(document=self.state.document)
        self.state.nested_parse(StringList(lines, "<utils>"), 0, within, match_titles=True)
        return within.children


class EverythingIn(Listing):
    """What a page of `utils` holds, in the order of its files."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        page = self.arguments[0]
        top = f"utils.{page}"
        lines = [f".. py:module:: {top}", "", *_said(top)]
        for module, listed in entries.entries(page).items():
            if module != top:
                lines += _headed(module.removeprefix(f"{top}."))
                lines += [f".. py:module:: {module}", "", *_said(module)]
            for entry in listed:
                lines.append(f".. auto{entry.kind}:: {entry.address}")
                if entry.kind in ("class", "exception"):
                    lines += ["   :members:", "   :undoc-members:", "   :member-order: bysource"]
                elif entry.kind == "data" and len(repr(entry.thing)) > LONGEST_VALUE:
                    lines.append("   :no-value:")
                lines.append("")
        return self.parsed(lines)


class AllEntries(Listing):
    """The list of all entries: by day, then what is around the days."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for day in lessons.days():
            if day.concepts:
                lines += _headed(f"Day {day.number}: {day.title}")
            for page in day.concepts:
                listed = [entry for each in entries.entries(page).values() for entry in each]
                names = (f":py:obj:`{entry.name} <{entry.address}>`" for entry in listed)
                lines += [f":doc:`utils.{page} <{page}>`", f"   {' '.join(names)}", ""]
        lines += _headed("Around the days")
        for page in lessons.FLOORS:
            said = docstrings.inline(_docstring(f"utils.{page}").partition("\n\n")[0])
            lines += [f":doc:`utils.{page} <{page}>`", f"   {said}", ""]
        return self.parsed(lines)


class AboutEntry(SphinxDirective):
    """The place of an entry's source and, once all pages are read, of its links to lessons."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [EntrySource("", address=self.arguments[0])]


def _headed(title: str) -> list[str]:
    return [docstrings.plain(title), "-" * (2 * len(title)), ""]


def _docstring(module: str) -> str:
    return inspect.cleandoc(import_module(module).__doc__ or "")


def _said(module: str) -> list[str]:
    return docstrings.as_rst(_docstring(module), (), Names(module).address)


class Names:
    """What code means in the docstring of an entry or of a module."""

    def __init__(self, module: str, own: str = "", thing: object = None):
        self.own = own  # the entry's address
        cls = own if inspect.isclass(thing) else own.rpartition(".")[0]
        self.places = [cls, module, module.rpartition(".")[0], "utils"]
        self.arguments = docstrings.explained(thing)

    def address(self, code: str) -> str | None:
        """The address of the entry that is meant; None if it is none, or this one."""
        if not re.fullmatch(r"[\w.]+", code) or code in self.arguments:
            return None
        there = next(
            filter(None, (entries.meant(f"{place}.{code}") for place in self.places)), None
        )
        if there is None and code[0].isupper():
            there = entries.by_name().get(code)
        return None if there == self.own else there


def read_docstring(app: Sphinx, what: str, name: str, thing, options, lines: list[str]) -> None:
    """Turn a docstring into reST; after it come the entry's links to lessons and its source."""
    owner, _, last = name.rpartition(".")
    if what == "data":
        module, text = owner, entries.constant(name)
    elif what in ("class", "exception", "function"):
        module, text = thing.__module__, thing.__doc__
    else:  # in a class
        module, text = owner.rpartition(".")[0], vars(entries.named(owner))[last].__doc__
    names = Names(module, name, thing)
    lines[:] = docstrings.as_rst(text or "", names.arguments, names.address)
    for field, comment in docstrings.fields(thing).items():
        lines += [f"``{field}``", f"   {docstrings.inline(comment, names.address)}", ""]
    if what not in ("method", "property"):
        lines += [f".. about-entry:: {name}", ""]


def read_signature(app: Sphinx, what: str, name: str, thing, *others) -> tuple | None:
    """Show arguments and result as they are written."""
    return None if what in ("data", "property") else docstrings.signature(thing)


def leave_out(app: Sphinx, what: str, name: str, thing, skip: bool, options) -> bool | None:
    """Leave out what is no method: fields, which stand in the signature, and aliases."""
    thing = getattr(thing, "__func__", thing)
    return None if inspect.isroutine(thing) or isinstance(thing, property) else True


def list_no_methods(app: Sphinx, doctree: nodes.document) -> None:
    """Keep methods out of a page's contents, which each page's sidebar would go through."""
    for signature in doctree.findall(desc_signature):
        if signature.get("class"):
            signature["_toc_name"] = ""


def linked(app: Sphinx, page: str, address: str | None, *shown: nodes.Node):
    """What is shown as a link to an entry, if the book that is built has it; else None."""
    there = app.env.domains["py"].objects.get(address)
    if there is None or app.builder.format != "html":
        return None
    uri = f"{app.builder.get_relative_uri(page, there.docname)}#{there.node_id}"
    return nodes.reference("", "", *shown, refuri=uri, internal=True, reftitle=address)


def let_others_be(app: Sphinx, env, node, shown: nodes.Node) -> nodes.Node | None:
    """Leave a type that isn't the book's, such as Tensor, without a link; an alias has one."""
    if node.get("refdomain") != "py":
        return None
    if not node["reftarget"].startswith("utils."):
        return nodes.Text(node["reftarget"])
    return linked(app, node["refdoc"], node["reftarget"], shown)


def show_source(translator, node: EntrySource) -> None:
    """Fold the source of an entry under a line that says where it is."""
    thing = entries.named(node["address"])
    if entries.definition(thing) is None:  # a constant
        raise nodes.SkipNode
    code, first = entries.code(thing)
    file = Path(inspect.getsourcefile(inspect.unwrap(thing))).relative_to(lessons.ROOT).as_posix()
    where = f"{file}, line {first}"
    if there := found.repository():
        address = f"{there}/blob/{found.branch()}/{file}#L{first}"
        where = f'<a href="{escape(address)}">{where}</a>'
    coloured = translator.highlighter.highlight_block(code, "python", location=node)
    translator.body.append(
        f'<details class="code-fold"><summary title="{file}">code</summary>\n'
        f'<p class="where">{where}</p>'
        f'<div class="highlight-python notranslate">{coloured}</div></details>\n'
    )
    raise nodes.SkipNode


def set_in_lines(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Make lines of a long signature's arguments, which Sphinx makes a list without terms."""
    if pagename.startswith(f"{lessons.REFERENCE}/"):
        context["body"] = ARGUMENTS.sub(
            lambda found: found[1].replace("<dd>", LINE).replace("</dd>", "</span>"),
            context["body"],
        )


def configure(app: Sphinx, config) -> None:
    """Set what the reference needs of autodoc, of Sphinx, and of the search."""
    config.autodoc_inherit_docstrings = False
    config.autodoc_use_type_comments = False
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
    app.add_node(EntrySource, html=(show_source, None))
    app.connect("config-inited", configure)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", read_signature)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("doctree-read", list_no_methods, priority=400)  # before Sphinx gathers contents
    app.connect("missing-reference", let_others_be)
    app.connect("html-page-context", set_in_lines)
