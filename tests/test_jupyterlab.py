"""A lesson in JupyterLab, as `make lab` opens it: it renders, runs, and checks an exercise.

A second evening begins with a kernel that has run nothing.
"""

import json
import os
import socket
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest
from kernels import execute
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from utils import ROOT
from utils.exercises.numbers import titled
from utils.press import notebooks
from utils.press.jupyter import DATA
from utils.press.lessons import days
from utils.press.readable import references

LESSON = "01_convolution"
EXERCISE = "same_padding"
SIGNATURE = "def same_padding(kernel_size: int, dilation: int) -> int:"
WRONG = f"{SIGNATURE} return dilation * (kernel_size - 1)"
DIAGNOSIS = "padding counts one side"
RIGHT = f"{SIGNATURE} return dilation * (kernel_size - 1) // 2"
CALL = f'check("{EXERCISE}", same_padding)'


TABS = "#jp-main-dock-panel .lm-TabBar-tabLabel"

# The same as `make lab`, with another folder in place of the book's.
LAB = """
import sys
from pathlib import Path
from utils.press import jupyter
jupyter.ROOT = Path(sys.argv[1])
jupyter.MINE = jupyter.ROOT / "my"
jupyter.main(["lab", *sys.argv[2:]])
"""


# JupyterLab that has ended, and has left the thread of a request behind.
ENDED = """
import threading
from jupyterlab.labapp import LabApp
from utils.press import jupyter
left = threading.Thread(target=threading.Event().wait)
LabApp.launch_instance = lambda options: left.start()
jupyter.open_lab("book-lab", jupyter.MINE / "00_first_steps.ipynb", [])
"""


LIVE = """
from pathlib import Path
from utils.show.views import models
from utils.show.views.writer import writer
from utils.tasks import rounded, shakespeare
models.FOLDER = Path("models")
letters = "\\n abcdefghijklmnopqrstuvwxyz"
model = shakespeare.writer(4 + len(letters), 0, d_model=8, d_ff=8, n_layers=1)
weights = rounded.in_int8(model)
models.store("tiny", weights, made_by="a test", heads=4, characters=letters)
writer("tiny", beginning="to be")
"""


# In how many lines a word of a text stands: the different numbers.
LINES_OF_WORDS = """text => {
    const node = document.createTreeWalker(text, NodeFilter.SHOW_TEXT).nextNode();
    const lines = [...node.data.matchAll(/\\S+/g)].map(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        return range.getClientRects().length;
    });
    return [...new Set(lines)];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("book")


@pytest.fixture(scope="module")
def address(folder):
    """Where JupyterLab shows the reader's copy of the lesson; it has settings of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", f"--port={port}", "--port-retries=0", "--IdentityProvider.token=t"]
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", LAB, folder, LESSON, "--", *options],
            env=os.environ | own,
            stdout=log,
            stderr=log,
        )
    try:
        base, begin = f"http://127.0.0.1:{port}", time.monotonic()
        while True:
            try:
                urlopen(f"{base}/api?token=t").close()
                break
            except URLError:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < begin + 600, (folder / "log").read_text()
                time.sleep(0.2)
        yield f"{base}/?token=t"  # leads to the lesson by itself
    finally:
        server.terminate()
        server.wait(600)  # its kernels end first


@pytest.fixture(scope="module")
def page(chromium, address):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    expect(page.locator(".jp-NotebookPanel")).to_be_visible()
    wait_until_idle(page)
    yield page
    page.close()


def wait_until_idle(page) -> None:
    """Wait until the kernel is there and no cell waits for it."""
    expect(page.locator("[data-status=idle].jp-Notebook-ExecutionIndicator")).to_be_visible()
    expect(page.get_by_text("[*]:")).to_have_count(0)


def saved(page, folder) -> list[dict]:
    """The cells of the reader's copy, after saving it."""
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    return notebooks.read(folder / "my" / f"{LESSON}.ipynb").cells


def test_the_lesson_opens_rendered_and_asks_nothing(page):
    expect(page.locator(TABS)).to_have_text([f"{LESSON}.ipynb"])
    lesson = page.locator(".jp-Notebook")
    expect(lesson.locator(".katex").nth(10)).to_be_attached()
    assert lesson.locator(".katex-error").count() == 0
    rendered = lesson.locator(".myst")
    expect(rendered.last).to_contain_text("References")
    text = "".join(rendered.all_text_contents())
    assert "Figure 1.1." in text
    assert "{exercise}" not in text and ":label:" not in text
    assert [key for key in references() if key in text] == []
    assert page.locator(".Toastify__toast, .jp-Dialog").count() == 0


def test_names_are_not_cut_off_and_no_file_but_lessons_is_in_the_list(page):
    names = page.locator(".jp-DirListing-itemText")
    lessons = [f"{day.stem}.ipynb" for day in days()]
    expect(names).to_have_text(["deeper", "solutions", *lessons])
    cut = names.evaluate_all("them => them.filter((it) => it.scrollWidth > it.clientWidth)")
    assert cut == []


def test_the_lesson_runs_from_top_to_bottom(page, folder):
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(page.locator(".jp-CodeCell .jp-InputPrompt").first).not_to_have_text("[ ]:")
    wait_until_idle(page)
    cells = [cell for cell in saved(page, folder) if cell["cell_type"] == "code"]
    errors = [o for cell in cells for o in cell.outputs if o.output_type == "error"]
    assert errors == []
    assert [o.text for cell in cells for o in cell.outputs if o.get("name") == "stderr"] == []
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


@pytest.mark.parametrize("code, sign, says", [(WRONG, "✗", DIAGNOSIS), (RIGHT, "✓", "")])
def test_an_exercise_is_diagnosed_and_then_gets_its_tick(page, folder, code, sign, says):
    cell = page.locator(".jp-CodeCell").filter(has_text=CALL)
    cell.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(f"{code}\n\n\n{CALL}")
    page.keyboard.press("Shift+Enter")
    answer = cell.locator(".jp-OutputArea-output")
    expect(answer).to_contain_text(f"{sign} {titled(EXERCISE)}: ")
    expect(answer).to_contain_text(says)
    wait_until_idle(page)  # the tick comes after the words
    progress = folder / "my" / ".progress.json"
    ticks = json.loads(progress.read_text())["passed"] if progress.exists() else []
    assert (EXERCISE in ticks) == (sign == "✓")


def test_what_the_reader_wrote_is_theirs_and_the_book_is_untouched(page, folder):
    assert any(RIGHT in cell.source for cell in saved(page, folder))
    original = notebooks.read(ROOT / "chapters" / f"{LESSON}.ipynb")
    assert not any(RIGHT in cell.source for cell in original.cells)


def test_a_link_opens_the_solutions_in_a_tab_beside_the_lesson(page):
    page.locator(".myst a").filter(has_text="Solution").first.click()
    expect(page.locator(TABS)).to_have_text([f"{LESSON}.ipynb"] * 2)
    expect(page.locator(".myst h1").last).to_contain_text("Solutions")


def test_a_reader_who_is_back_again_is_told_what_to_run_and_one_button_runs_it(chromium, address):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address.replace("/?", "/lab/workspaces/back/tree/my/00_first_steps.ipynb?"))
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    expect(page.locator(".jp-OutputArea table").first).to_contain_text("Minutes left")
    cell = page.locator(".jp-CodeCell").filter(has_text='check("gradient_step"')
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    answer = cell.locator(".jp-OutputArea-output")
    expect(answer).to_contain_text("check comes from a cell above that hasn’t run yet")
    assert page.locator("[data-mime-type*=error]").count() == 0
    page.get_by_role("button", name="Run all above").click()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(answer).to_contain_text(f"○ {titled('gradient_step')}: not started")
    page.close()


def test_a_thread_that_is_left_over_does_not_keep_the_reader_waiting():
    subprocess.run([sys.executable, "-c", ENDED], cwd=ROOT, check=True, timeout=600)


def test_a_lesson_computes_with_one_thread_as_in_the_tests(monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(DATA))
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    source = "import torch; print(torch.get_num_threads())"
    notebook = new_notebook(cells=[new_code_cell(source)])
    execute(notebook)
    assert notebook.cells[0].outputs[0].text == "1\n"


def run_in_a_tab(chromium, address, file, source):
    """Write a notebook of one cell, open it in a tab of its own, and run it."""
    kernel = {"kernelspec": notebooks.KERNEL}
    nbformat.write(new_notebook(cells=[new_code_cell(source)], metadata=kernel), file)
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address.replace("/?", f"/lab/workspaces/{file.stem}/tree/my/{file.name}?"))
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    page.locator(".jp-CodeCell .cm-content").click()
    page.keyboard.press("Control+Enter")
    return page


def test_what_is_printed_breaks_between_words_and_a_wide_figure_fits(chromium, address, folder):
    drawn = "%config InlineBackend.figure_formats = ['svg']\nimport matplotlib.pyplot as plt"
    wide = f"{drawn}\nplt.subplots(figsize=(15, 1));"
    source = f"{wide}\nprint('twelveletter' + ' twelveletter' * 40)"
    page = run_in_a_tab(chromium, address, folder / "my" / "wide.ipynb", source)
    printed = page.locator(".jp-OutputArea-output pre", has_text="twelveletter")
    assert printed.evaluate(LINES_OF_WORDS) == [1]
    place = page.locator(".jp-OutputArea")
    shown = page.locator(".jp-OutputArea-output img")
    right = "it => it.getBoundingClientRect().right"
    assert shown.evaluate(right) <= place.evaluate(right)
    page.close()


def test_a_model_is_handed_to_the_page_and_not_to_the_notebook(chromium, address, folder):
    live = folder / "my" / "live.ipynb"
    page = run_in_a_tab(chromium, address, live, LIVE)
    answer = page.locator(".view-answer")
    expect(answer).to_contain_text("Most likely next")
    page.get_by_label("Begin a text").press_sequentially(" or not ")
    expect(page.locator(".view-written")).to_contain_text("to be or not ")
    expect(answer).to_contain_text("It has written")
    page.locator(".jp-CodeCell .cm-content").click()
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    outputs = notebooks.read(live).cells[0].outputs
    nothing, view = (output for output in outputs if output.output_type == "display_data")
    assert nothing.data == {} and view.data["text/plain"] == "View: it writes as you type. to be"
    assert '"bytes"' not in live.read_text(encoding="utf-8")
    page.reload()
    expect(answer).to_contain_text("run this cell to open it")
    page.close()
