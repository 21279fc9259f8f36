"""The trainings of figure 4, as the reader's own file has them."""

import numpy as np
import pytest

from utils.data import chinchilla as points
from utils.data.files import DatasetError

HEADER = "x,y,color,Model Size,Training FLOP,hex_color,loss\n"
SIZES = [100.0, 200.0, 400.0, 800.0]
TOKENS = [500.0, 100.0, 7000.0, 60.0]
LOSSES = [3.0, 4.0, 2.5, 5.0]


def line(N: float, D: float, loss: float) -> str:
    return f"1.5,2.5,#fff,{N},{6 * N * D},#fff,{loss}\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The reader's own file with four trainings, and an empty cache."""
    for variable in ("BOOK_DATA", "BOOK_CACHE"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(points, "POINTS", 4)
    monkeypatch.setattr(points, "LEFT_OUT", 2)
    file = tmp_path / "BOOK_DATA" / points.FILE
    file.write_text(HEADER + "".join(map(line, SIZES, TOKENS, LOSSES)))
    return file


def test_trainings_are_read_without_those_that_saw_too_little(file):
    N, D, losses = points.chinchilla()
    assert np.allclose(N, [100, 400]) and np.allclose(D, [500, 7000])
    assert np.allclose(losses, [3.0, 2.5])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("Model Size,loss\n3,4\n", "no columns"),
        (HEADER + line(3, 4, 2) + "1,2,#fff,3,many,#fff,4\n", "no training in line 3"),
        (HEADER + line(3, 4, 0), "no training in line 2"),
        (HEADER + line(3, 4, float("nan")), "no training in line 2"),
        (HEADER + "1,2,#fff,3\n", "no training in line 2"),
        (HEADER + line(3, 4, 2), "has 1 trainings, not 4"),
        ("", "is empty"),
    ],
)
def test_another_file_is_refused_in_a_sentence(file, text, match):
    file.write_text(text)
    with pytest.raises(DatasetError, match=match):
        points.chinchilla()


def test_a_missing_file_says_where_it_is_to_be_had(file):
    file.unlink()
    with pytest.raises(DatasetError, match="is missing: get .*analyzing-chinchilla"):
        points.chinchilla()
