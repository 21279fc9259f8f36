"""Helpers for tests of views whose model runs in the page: the page, and what it computes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from browser import PAGE

from utils.show.views import frame, models


class Given(list):
    """What a cell's output is given after it was shown; a notebook keeps nothing of a model."""

    def display(self, bundle, raw, display_id):
        assert bundle == {}, "nothing of a model may stay in a notebook"
        return self

    def update(self, bundle, raw):
        self.append(bundle)


@contextmanager
def opened(chromium, views: str, theme: str = "light") -> Iterator:
    """Open views on a phone; the page complains of nothing and asks no host."""
    tab = chromium.new_page(viewport={"width": 390, "height": 844})
    tab.set_default_timeout(60_000)
    heard = []
    tab.on("console", lambda said: heard.append(said.text))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.on(
        "request",
        lambda asked: None if asked.url.startswith("blob:") else heard.append(asked.url),
    )
    tab.set_content(PAGE.format(theme=theme, views=views))
    yield tab
    assert heard == []
    tab.close()


RUN = """([given, held, parts, name]) => {
    const make = new Function(`${parts} return ${name}(runtime(), arguments[0]);`);
    const plain = (x) => ArrayBuffer.isView(x) ? [...x] : Array.isArray(x) ? x.map(plain)
        : x && typeof x === "object"
        ? Object.fromEntries(Object.entries(x).map(([key, value]) => [key, plain(value)])) : x;
    return plain([...make(held)(given)]);
}"""


def computed(chromium, model: str, name: str, parts: list[str], **given) -> list[dict]:
    """What the function of that name yields for a stored model, in the page."""
    script = (models.FOLDER / f"{model}.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    code = "\n".join((frame.HERE / f"{part}.js").read_text("utf-8") for part in parts)
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [given, held, code, name])
    tab.close()
    return found
