"""What a page is to somebody who reads it: the learner's tools leave it, the notebook keeps them.

A notebook is written for a learner who runs it. On the page a check that was not begun says
nothing, the calls that show a reference or a view go (what they show stays), other folded code is
one small word after what it gave, and a checklist is a list. Paper has no folds: `leave_out_folds`.
"""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

from utils.exercises.numbers import label
from utils.press.lessons import FOLDED

NOT_BEGUN = re.compile(r"^○ .*\n?(?: {3}From here on.*\n?)?", re.MULTILINE)
FUNCTION = re.compile(r"<function .*>\s*")  # what a check returns
REFERENCE = re.compile(r"check\.show_reference\([^()]*\)")
IMPORTS = re.compile(r"import convolution_to_attention\b")  # how a page's first code begins
POINT = re.compile(r"^[☐☑] (.+)\n {3}(.+)$", re.MULTILINE)
EXERCISE = re.compile(r"(?:(?P<number>\d[\d.]*) )?(?P<name>\w+)")
OPENS = ("html", "dirhtml")  # the builders on whose pages a reader can open a fold


class Fold(nodes.General, nodes.Element):
    """Folded code; its `title` says what it does."""


def for_reading(app: Sphinx, doctree: nodes.document) -> None:
    """Turn a page that is run into one that is read."""
    for cell in _cells(doctree):
        source, output = _part(cell, "source"), _part(cell, "output")
        if source is None:
            continue
        code, said = source.astext().strip(), output.astext() if output else ""
        if REFERENCE.fullmatch(code):
            cell.remove(source)
            cell["classes"].append("one-way")
        elif points := POINT.findall(said):
            cell.parent.replace(cell, checklist(points))
        elif NOT_BEGUN.search(said):
            _leave_out_what_was_not_begun(output)
        elif title := _title(cell, code):
            cell.attributes.pop("hide_mode", None)  # else it would be folded once more
            cell.remove(source)
            if output is None or "tag_view" not in cell["classes"]:
                cell += Fold("", source, title=title)
    for empty in (True, False):
        for cell in _cells(doctree):
            if empty == _gave_nothing(cell):
                _join(cell)


def leave_out_folds(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Where nothing opens, take out folded code and references."""
    if app.builder.name in OPENS:
        return
    for fold in list(doctree.findall(Fold)):
        fold.parent.remove(fold)
    for cell in _cells(doctree):
        if "one-way" in cell["classes"] or not cell.children:
            cell.parent.remove(cell)


def checklist(points: list[tuple[str, str]]) -> nodes.bullet_list:
    """A list of points, each with links to its exercises, from the lines that a cell printed."""
    listed = nodes.bullet_list(bullet="-", classes=["checklist"])
    for point, exercises in points:
        links: list[nodes.Node] = []
        for exercise in EXERCISE.finditer(exercises):
            links += [nodes.Text(", "), _link(**exercise.groupdict())]
        links[0] = nodes.Text(" Exercise " if len(links) == 2 else " Exercises ")
        asked = nodes.inline("", "", *links, classes=["asked"])
        listed += nodes.list_item("", nodes.paragraph("", point, asked))
    return listed


def _link(number: str | None, name: str) -> nodes.Node:
    if number is None:  # no page asks it
        return nodes.Text(name)
    words = nodes.inline("", number)
    return pending_xref(
        "", words, refdomain="std", reftype="ref", reftarget=label(name), refexplicit=True
    )


def _cells(doctree: nodes.document) -> list[nodes.container]:
    return [
        node for node in doctree.findall(nodes.container) if node.get("nb_element") == "cell_code"
    ]


def _part(cell: nodes.container, part: str) -> nodes.container | None:
    """The source or the output of a cell, if it has one."""
    name = f"cell_code_{part}"
    return next((child for child in cell if child.get("nb_element") == name), None)


def _title(cell: nodes.container, code: str) -> str | None:
    """What folded code says of itself; None if it is not to be folded."""
    if IMPORTS.match(code):
        return FOLDED["setup"]
    return next((FOLDED[tag] for tag in FOLDED if f"tag_{tag}" in cell["classes"]), None)


def _leave_out_what_was_not_begun(output: nodes.container) -> None:
    for node in list(output.children):
        text = node.astext()
        left = NOT_BEGUN.sub("", text)
        if left.strip() and left != text:
            shorter = node.copy()
            shorter += nodes.Text(left)
            node.replace_self(shorter)
        elif left != text or FUNCTION.fullmatch(text):
            output.remove(node)
    if not output.children:
        output.parent.remove(output)


def _gave_nothing(cell: nodes.container) -> bool:
    return len(cell) == 1 and not cell["ids"]


def _join(cell: nodes.container) -> None:
    """Put folded code into the next cell's fold; if it gave nothing, else into the one before."""
    if not (kind := _folded(cell)):
        return
    beside = cell.parent
    at = beside.index(cell)
    before, after = beside[max(0, at - 1) : at], beside[at + 1 : at + 2]
    if after and _folded(after[0]) == kind:
        after[0][-1].insert(0, cell[-1].children)
    elif _gave_nothing(cell) and before and _folded(before[0]) == kind:
        before[0][-1].extend(cell[-1].children)
    else:
        return
    if _gave_nothing(cell):
        beside.remove(cell)
    else:
        cell.remove(cell[-1])


def _folded(node: nodes.Node) -> str | None:
    """What a cell's fold holds, a page's imports or other code; None if it has no fold."""
    last = node.children[-1] if node.children else None
    if not isinstance(last, Fold):
        return None
    return "imports" if last["title"] == FOLDED["setup"] else "code"


def _open_fold(translator, fold: Fold) -> None:
    words = "code" if len(fold.parent) > 1 else fold["title"]
    said = f'<summary title="{translator.attval(fold["title"])}">{words}</summary>'
    translator.body.append(f'<details class="code-fold">{said}\n')


def _close_fold(translator, fold: Fold) -> None:
    translator.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    """Called by the book's own extension."""
    app.add_node(Fold, html=(_open_fold, _close_fold))
    app.connect("doctree-read", for_reading)
    app.connect("doctree-resolved", leave_out_folds)
