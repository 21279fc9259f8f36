"""Fixtures that several test files share: the strictly built book, and a Chromium."""

import json
import os
from pathlib import Path

import pytest
from browser import BOOK, FLAGS, PAGE, PATIENCE, Build, build_book, find_chromium
from filelock import FileLock
from playwright.sync_api import expect, sync_playwright


@pytest.fixture(scope="session")
def build(tmp_path_factory) -> Build:
    """The whole book, built once: the first worker that asks builds it, the others wait."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    record = shared / "book.json"
    with FileLock(shared / "book.lock"):
        if not record.exists():
            made = build_book(BOOK, shared / "book")
            record.write_text(json.dumps([*made[:3], str(made.html)]), encoding="utf-8")
    *results, html = json.loads(record.read_text(encoding="utf-8"))
    return Build(*results, Path(html))


@pytest.fixture(scope="module")  # not longer: another file may start a Playwright of its own
def chromium():
    """A headless Chromium; without one the test is skipped, or fails where REQUIRE_BROWSER=1."""
    with sync_playwright() as playwright:
        found = find_chromium(playwright)
        if found is None:
            missing = "no Chromium found, neither the system's nor Playwright's own"
            (pytest.fail if os.environ.get("REQUIRE_BROWSER") == "1" else pytest.skip)(missing)
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE))
        expect.set_options(timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def shown(monkeypatch) -> list[dict]:
    """The bundles that views have displayed."""
    bundles: list[dict] = []
    display = "utils.show.views.frame.display"  # no import: most files depend on no view
    monkeypatch.setattr(display, lambda bundle, raw: bundles.append(bundle))
    return bundles


@pytest.fixture
def phone(chromium):
    """A phone's page, which complains of nothing and asks for nothing but its own workers."""
    tab = chromium.new_page(viewport={"width": 390, "height": 844})
    heard = []
    tab.on("console", lambda said: heard.append(said.text))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.on(
        "request",
        lambda asked: None if asked.url.startswith("blob:") else heard.append(asked.url),
    )
    yield tab
    assert heard == []
    tab.close()


@pytest.fixture
def alone(phone, shown):
    """Open the view shown last, alone on a phone's page."""

    def open_in(theme: str):
        phone.set_content(PAGE.format(theme=theme, views=shown[-1]["text/html"]))
        return phone

    return open_in


@pytest.fixture
def handed(monkeypatch) -> list[dict]:
    """What cells have handed over to their page, in place of an empty output."""
    given: list[dict] = []

    class Place:
        def update(self, bundle, raw):
            given.append(bundle)

    def display(bundle, raw, display_id):
        assert bundle == {}, "nothing of a model may stay in a notebook"
        return Place()

    monkeypatch.setattr("utils.show.views.models.display", display)
    return given


@pytest.fixture
def here(made, handed, monkeypatch) -> list[dict]:
    """What cells hand over of the models in `made[0]`, the folder that a test's file has made."""
    monkeypatch.setattr("utils.show.views.models.FOLDER", made[0])
    return handed


@pytest.fixture
def live(phone, shown, handed):
    """Open the view shown last on a phone as JupyterLab does: its model comes first."""

    def open_in(theme: str):
        views = handed[0]["text/html"] + shown[-1]["text/html"]
        phone.set_content(PAGE.format(theme=theme, views=views))
        return phone

    return open_in


@pytest.fixture
def closed():
    """Close the figures that a test has drawn."""
    import matplotlib.pyplot as plt  # here, since most files draw none

    yield
    plt.close("all")
