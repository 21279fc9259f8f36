"""The mistakes that `make mutation` makes: where, which, and how it is seen that a test notices."""

import subprocess
import sys

import mutation
import pytest

MODULE = '''"""What a guard says is no concern of these tests: 1 + 1."""

from math import sqrt


def scaled(x: tuple[int, 2] = (), *, low: int = 3) -> "1 + 1":
    """Return 1 + 1."""
    check_at_least(1, "x", x + 1)
    if low < 1:
        raise ValueError(f"{low + 1}")
    return x - low
'''


def test_a_mistake_is_made_in_what_is_computed_not_in_guards_and_sentences():
    assert {(m.line, m.becomes) for m in mutation.mistakes("scaled.py", MODULE)} == {
        (6, 'def scaled(x: tuple[int, 2] = (), *, low: int = 4) -> "1 + 1":'),
        (6, 'def scaled(x: tuple[int, 2] = (), *, low: int = 2) -> "1 + 1":'),
        (11, "return x + low"),
        (11, "return low - x"),
    }


@pytest.mark.parametrize(
    ("line", "mistaken"),
    [
        ("y = x / 2", {"y = x * 2", "y = 2 / x", "y = x", "y = x / 3", "y = x / 1"}),
        ("y = -x", {"y = x"}),
        ("y = -1", {"y = 1", "y = -2", "y = -0"}),
        ("y = f(a, b, k=z)", {"y = f(b, a, k=z)", "y = f(a, k=z)", "y = f(a, b)"}),
        ("y = x.clip(low)", {"y = x"}),
        ("y = torch.max(x, y)", {"y = torch.min(x, y)", "y = torch.max(x)"}),
        ("y = a if c else b", {"y = b if c else a", "y = a if (not c) else b"}),
        ("y = x[i:]", {"y = x[:]"}),
        ("y[0] = x", {"pass", "y[1] = x", "y[-1] = x"}),
        ("y += x", {"y -= x", "pass"}),
        ("y = a <= b", {"y = a < b", "y = a > b"}),
        ("y = (a, b)", {"y = (b, a)"}),
        ("with f() as x: pass", {"if True:"}),
    ],
)
def test_mistakes_are_those_that_people_make(line, mistaken):
    assert {mistake.becomes for mistake in mutation.mistakes("line.py", line)} == mistaken


ADDING = "def add(a, b):\n    while a < 0:\n        a += 1\n    return a + b\n"
TESTS = "from adding import add\n\n\ndef test_add():\n    assert add(-1, {b}) == {b}\n"
RUN = """
import pathlib, sys, time
import mutation

module, test, becomes, seconds = sys.argv[1:]
made = {m.becomes: m for m in mutation.mistakes(module, pathlib.Path(module).read_text())}
run = mutation.Run((test,), made.get(becomes), float(seconds))
while not run.ended():
    time.sleep(0.05)
print(run.process.exitcode)
"""


@pytest.mark.parametrize(
    ("becomes", "b", "seconds", "exit_code"),
    [("return a - b", 5, 600, 1), ("return a - b", 0, 600, 0), ("pass", 5, 4, -9), ("", 5, 600, 0)],
)
def test_a_mistake_is_noticed_by_a_test_that_fails_or_hangs(
    tmp_path, becomes, b, seconds, exit_code
):
    module, test = tmp_path / "adding.py", tmp_path / "test_adding.py"
    module.write_text(ADDING)
    test.write_text(TESTS.format(b=b))
    done = subprocess.run(
        [sys.executable, "-c", RUN, module, test, becomes, str(seconds)],
        cwd=mutation.ROOT / "tests",
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1:] == [str(exit_code)], done.stderr
    assert module.read_text() == ADDING


def test_each_module_has_tests_that_are_named_after_it():
    files = [file.relative_to(mutation.ROOT) for file in mutation.modules(mutation.concepts())]
    assert all(mutation.nearest_tests(file.as_posix()) for file in files)
    assert mutation.nearest_tests("utils/seq2seq/decoding.py") == (
        "tests/test_decoding.py",
        "tests/test_seq2seq.py",
    )
    with pytest.raises(SystemExit, match=r"tests/test_nowhere\.py"):
        mutation.nearest_tests("utils/nowhere.py")


def test_each_survivor_that_is_listed_can_still_be_made_and_has_its_reason():
    for key, reason in mutation.known_survivors().items():
        source = (mutation.ROOT / key[0]).read_text(encoding="utf-8")
        assert key in {mistake.key for mistake in mutation.mistakes(key[0], source)}, (
            f"{mutation.SURVIVORS.name} lists {key}, which fits no line any more: take it out."
        )
        assert reason.endswith(".")
