"""How the book is found: its addresses, where it can be tried, and what others say of a page."""

import os
from html import escape
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import escape as in_xml

from docutils import nodes
from sphinx.application import Sphinx

from utils.press import lessons
from utils.press.colab import BRANCH as COPIES

LONGEST = 200  # characters of a description
CARD = "_static/card.png"
MISSING = "404"
NO_SUCH_PAGE = """\
<h1>There is no such page</h1>
<p>Perhaps the address has a slip in it, or the page has moved. <a href="index.html">The first
page</a> lists the days, and <a href="search.html">the search</a> looks through all of them.</p>
"""


def repository() -> str | None:
    """Return where the book's repository lives, from the environment, or None."""
    if address := os.environ.get("BOOK_REPOSITORY"):
        return address.rstrip("/")
    if name := os.environ.get("GITHUB_REPOSITORY"):
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
    return None


def branch() -> str:
    """Return the branch that the book is built from."""
    return os.environ.get("BOOK_BRANCH", "main")


def ways_to_try(page: str) -> dict[str, str]:
    """{service: address} where a lesson runs without an installation, if others can reach it."""
    address = urlsplit(repository() or "")
    if address.netloc != "github.com":
        return {}
    name = address.path.strip("/")
    return {
        "Colab": f"https://colab.research.google.com/github/{name}/blob/{COPIES}/{page}.ipynb",
        "Binder": f"https://mybinder.org/v2/gh/{name}/{branch()}?urlpath=lab/tree/{page}.ipynb",
        "Codespaces": f"https://codespaces.new/{name}?quickstart=1",
    }


def use_addresses(app: Sphinx, config) -> None:
    """Offer an edit where there is a repository, and name a page's own address where it has one."""
    if address := repository():
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": branch(),
            "use_repository_button": True,
            "use_edit_page_button": True,
            "use_issues_button": True,
        }
    if site := os.environ.get("BOOK_ADDRESS"):
        config.html_baseurl = site.rstrip("/") + "/"


def offer_trials(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Put a button onto each lesson that opens it where it runs without an installation."""
    ways = ways_to_try(pagename)
    if ways and context.get("page_source_suffix") == ".ipynb":
        icons = {"Colab": "logo_colab.png", "Binder": "logo_binder.svg"}
        buttons = [
            {
                "type": "link",
                "text": way,
                "tooltip": f"Open this page in {way}",
                "icon": f"_static/images/{icons[way]}" if way in icons else "fab fa-github",
                "url": address,
            }
            for way, address in ways.items()
        ]
        group = {"type": "group", "buttons": buttons, "icon": "fas fa-rocket"}
        group |= {"tooltip": "Try without installing", "label": "launch-buttons"}
        context["header_buttons"].append(group)


def introduce(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Tell search engines, and whoever shows a link to a page, what the page is about."""
    site = app.config.html_baseurl
    if pagename == MISSING and site:  # it answers for addresses in any folder
        context["metatags"] = f'<base href="{escape(urlsplit(site).path)}">'
    if doctree is None:
        return
    said = {"og:type": "website", "og:site_name": app.config.html_title}
    said |= {
        "og:title": app.env.titles[pagename].astext(),
        "og:description": about(pagename, doctree),
    }
    if site:
        said |= {"og:url": context["pageurl"], "og:image": site + CARD}
        said |= {"og:image:alt": "A drawn digit, a check's answer to a mistake, a claim measured"}
    tags = [f'<meta property="{name}" content="{escape(text)}">' for name, text in said.items()]
    card = {"description": said["og:description"], "twitter:card": "summary_large_image"}
    tags += [f'<meta name="{name}" content="{escape(text)}">' for name, text in card.items()]
    context["metatags"] += "\n".join(tags)


def about(page: str, doctree: nodes.document) -> str:
    """What a page is about: a day's question, else its first sentences."""
    day = next((day for day in lessons.days() if day.stem == Path(page).name), None)
    if day is None:
        paragraphs = [each.astext() for each in doctree.findall(nodes.paragraph)]
        return shortened(" ".join(next(iter(paragraphs), "").split()))
    kinds = {"deeper": ", deeper", "solutions": ", solutions"}
    return f"Day {day.number}{kinds.get(Path(page).parent.name, '')}: {day.title}. {day.question}"


def shortened(text: str) -> str:
    """The whole sentences with which a text begins, or else its first words."""
    if len(text) <= LONGEST:
        return text
    sentences, stop, _ = text[:LONGEST].rpartition(". ")
    return sentences + "." if stop else text[:LONGEST].rpartition(" ")[0] + " …"


def page_for_what_is_missing(app: Sphinx):
    """The page that a server shows where there is none."""
    if app.builder.name == "html":
        yield MISSING, {"title": "No such page", "body": NO_SUCH_PAGE}, "page.html"


def write_sitemap(app: Sphinx, failure: Exception | None) -> None:
    """List the addresses of all pages."""
    site = app.config.html_baseurl
    if site and not failure and app.builder.name == "html":
        pages = (site + app.builder.get_target_uri(page) for page in sorted(app.env.found_docs))
        listed = "".join(f"<url><loc>{in_xml(page)}</loc></url>\n" for page in pages)
        Path(app.outdir, "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="utf-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{listed}</urlset>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> None:
    app.connect("config-inited", use_addresses)
    app.connect("html-collect-pages", page_for_what_is_missing)
    app.connect("html-page-context", offer_trials, priority=900)  # after the theme's own buttons
    app.connect("html-page-context", introduce, priority=900)
    app.connect("build-finished", write_sitemap)
