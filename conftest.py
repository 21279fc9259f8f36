"""How pytest treats the book: what it compares in notebooks, where, and in which order."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent

# The slowest files begin first, so that two workers end at about the same time; the rest follow.
SLOWEST_FIRST = (
    "tests/test_jupyterlab.py",
    "chapters/02_recurrent.ipynb",
    "chapters/03_gates.ipynb",
    "chapters/04_attention.ipynb",
    "chapters/06_transformer.ipynb",
    "chapters/01_convolution.ipynb",
    "tests/test_browser.py",
    "chapters/10_pretraining.ipynb",
    "chapters/09_gpt.ipynb",
    "chapters/08_text_classification.ipynb",
    "tests/test_language_published.py",
    "tests/test_data_parallel.py",
    "chapters/05_self_attention.ipynb",
    "chapters/07_efficient_attention.ipynb",
    "tests/test_costs.py",
    "tests/test_transformer.py",
    "tests/test_benchmarks.py",
    "chapters/solutions/03_gates.ipynb",
    "chapters/solutions/02_recurrent.ipynb",
    "chapters/solutions/01_convolution.ipynb",
    "tests/test_notebooks.py",
)

# Not compared: progress bars, warnings, and the numbers behind a claim; nbval leaves out pictures.
NOT_COMPARED = ("stderr", "text/markdown", "application/vnd.book+json")

# Nor what an interactive view has measured; its script, style and text are compared.
IN_VIEWS = {
    r'(?s)<div class="view-still">.*?</div>': "",
    r'<script type="application/json">.*?</script>': "",
    r"\b(view-\w+)-[0-9a-f]{8}\b": r"\1",
}


def pytest_configure(config: pytest.Config) -> None:
    """Stop if the lessons would not find this book's `utils`; set their environment."""
    if hasattr(config, "workerinput"):  # xdist: the process that started this one has done it
        return
    where = "import convolution_to_attention as book; print(book.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", where], cwd=ROOT / "chapters", capture_output=True, text=True
    )
    if found.returncode or Path(found.stdout.strip()).parent != ROOT:
        reason = found.stderr.strip().splitlines() or [f"Python finds {found.stdout.strip()}"]
        pytest.exit(
            f"The book in {ROOT} is not the one installed in {sys.prefix} ({reason[-1]}): "
            "run `make test`, or `pip install --no-deps -e .` in the book's folder.",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )
    from utils.press.notebooks import PERSONAL, REPRODUCIBLE

    os.environ.update(REPRODUCIBLE)
    for name in PERSONAL:
        os.environ.pop(name, None)


def pytest_report_header() -> list[str]:
    """Name what will make pages fail: texts of other versions than those that were measured."""
    from utils.data.libraries import LIBRARIES
    from utils.data.sources import other_version

    return [f"{told} Pages that read them fail." for told in map(other_version, LIBRARIES) if told]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Widen what nbval does not compare."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += NOT_COMPARED
        collector.sanitize_patterns.update(IN_VIEWS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell a page's kernel, which starts now, whose it is."""
    if item.path.is_relative_to(ROOT / "chapters"):
        page = item.path.relative_to(ROOT / "chapters").with_suffix("")
        os.environ["BOOK_PAGE"] = page.as_posix().replace("/", "-")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the slowest files to the front, deeper pages too; the order within a file stays."""

    def rank(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0].replace("chapters/deeper/", "chapters/")
        return SLOWEST_FIRST.index(file) if file in SLOWEST_FIRST else len(SLOWEST_FIRST)

    items.sort(key=rank)
