"""What the book adds to Sphinx: numbers by day, folds, the picture of the first page."""

import os
import re
from collections import Counter
from pathlib import Path

import found
import nbformat
from docutils import nodes
from docutils.parsers.rst import directives
from finish import finish
from front import MeasuredClaim, WaysIn, WrongAnswer, bring_along
from matplotlib import pyplot as plt
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.fileutil import copy_asset
from stored import Counted, CountedTable, StoredView

from utils.exercises.numbers import numbers
from utils.press.budget import STOP
from utils.press.readable import names_in_the_book, number_solutions
from utils.show.plotting import KEPT, STYLE


def number_headings(app: Sphinx, docname: str, source: list[str]) -> None:
    """Begin the headings of solutions with the numbers of their exercises."""
    if docname.startswith("chapters/solutions/"):
        names = names_in_the_book([], 0, numbers(Path(app.srcdir, "chapters")))
        notebook = nbformat.reads(source[0], as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = number_solutions(cell.source, names)
        source[0] = nbformat.writes(notebook)


def link_to_labels(app: Sphinx, doctree: nodes.document) -> None:
    """Let `[text](page.ipynb#label)`, which JupyterLab knows, reach labels as well as headings."""
    reachable = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for label, explicit in doctree.nametypes.items():
        if explicit and (target := doctree.nameids.get(label)):
            reachable.setdefault(label, (None, target, ""))  # (line, id, text)


def number_by_day(app: Sphinx, env) -> list[str]:
    """Number figures, tables, equations and exercises of chapters/**/NN_… as day.count.

    A day's deeper page goes on counting where the lesson stopped, and its solutions after that.
    """
    pages = [name for name in env.toc_fignumbers if re.match(r"chapters/(\w+/)?\d\d_", name)]
    count: Counter = Counter()
    for docname in sorted(pages, key=lambda name: (name.count("/"), name)):
        day = int(Path(docname).name[:2])
        for kind, labels in env.toc_fignumbers[docname].items():
            for name in labels:
                count[day, kind] += 1
                labels[name] = (day, count[day, kind])
    return []


def mark_places_to_stop(app: Sphinx, doctree: nodes.document) -> None:
    """Set a paragraph that begins with "Enough for tonight?" in bold apart from the others."""
    for paragraph in doctree.findall(nodes.paragraph):
        first = next(iter(paragraph.children), None)
        if isinstance(first, nodes.strong) and f"**{first.astext()}**" == STOP:
            paragraph["classes"].append("tonight")


def leave_out_live_code(app: Sphinx, config) -> None:
    """Keep sphinx-thebe, always loaded by jupyter-book, from naming another host in each page."""
    for event in ("env-before-read-docs", "doctree-resolved"):
        for listener in list(app.events.listeners[event]):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)


def leave_models_to_their_views(app: Sphinx, config) -> None:
    """Keep jupyter-book from loading all stored models in every page: a view loads its own."""
    config.html_js_files = [
        file for file in config.html_js_files if not str(file).startswith("models/")
    ]


def bring_mathjax(app: Sphinx, failure: Exception | None) -> None:
    """Copy MathJax into the book, so that pages ask no other host for it."""
    if not failure and app.builder.name == "html":
        copy_asset(Path(__file__).with_name("mathjax"), Path(app.outdir, "_static", "mathjax"))


def let_everybody_read(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Give the entries of a bibliography the role that their list asks for, not docutils' own."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def lead_to_the_next_day(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Lead from lesson to lesson: a day's deeper page and its solutions lie aside."""
    if not re.fullmatch(r"chapters/\d+_\w+", pagename):
        return
    for way, place in (("prev", 1), ("next", 2)):
        page = app.builder.relations[pagename][place]
        while page and page.startswith("chapters/") and page.count("/") > 1:
            page = app.builder.relations[page][place]
        title = page and app.builder.render_partial(app.env.titles[page])["title"]
        link = page and app.builder.get_relative_uri(pagename, page)
        context[way] = {"link": link, "title": title} if page else None


class ArcOfDays(SphinxDirective):
    """The arc of the days as a figure: the content is its caption, drawn wide and tall."""

    has_content = True
    option_spec = {"name": directives.unchanged, "alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        import arc  # here, because it needs torch, and only the first page needs it

        folder = Path(self.env.app.doctreedir) / "arc"
        folder.mkdir(parents=True, exist_ok=True)
        figure = nodes.figure(classes=["arc"])
        for shape, columns in (("wide", 4), ("tall", 2)):
            path = folder / f"arc-{shape}.svg"
            drawing = arc.draw(columns)
            with plt.rc_context(STYLE):
                drawing.savefig(path, **KEPT)
            plt.close(drawing)
            uri = os.path.relpath(path, Path(self.env.doc2path(self.env.docname)).parent)
            figure += nodes.image(uri=uri, alt=self.options["alt"], classes=[f"arc-{shape}"])
        caption, _ = self.state.inline_text(" ".join(self.content), self.lineno)
        figure += nodes.caption("", "", *caption)
        self.add_name(figure)
        return [figure]


def setup(app: Sphinx) -> dict:
    app.setup_extension("reading")
    app.setup_extension("reference")
    app.setup_extension("uses")
    app.add_directive("arc-of-days", ArcOfDays)
    app.add_directive("view", StoredView)
    app.add_directive("counted-table", CountedTable)
    app.add_directive("wrong-answer", WrongAnswer)
    app.add_directive("claim", MeasuredClaim)
    app.add_directive("ways-in", WaysIn)
    app.add_role("counted", Counted())
    found.setup(app)
    app.connect("config-inited", leave_out_live_code)
    app.connect("config-inited", leave_models_to_their_views)
    app.connect("source-read", number_headings)
    app.connect("doctree-read", link_to_labels)
    app.connect("doctree-read", mark_places_to_stop)
    app.connect("env-get-updated", number_by_day, priority=900)  # after Sphinx has counted
    app.connect("html-page-context", let_everybody_read)
    app.connect("html-page-context", lead_to_the_next_day, priority=400)  # before the theme
    app.connect("build-finished", bring_mathjax)
    app.connect("build-finished", bring_along)
    app.connect("build-finished", finish, priority=900)  # after the theme's colours of code
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
