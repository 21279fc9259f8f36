"""Day 9's task: its text and tokens, what models and tables are judged by, and what is asked."""

import math
import re
from functools import partial

import nbformat
import pytest
import torch
from torch import nn

from utils import ROOT
from utils.data.docstrings import docstring_text
from utils.data.text import SPECIAL, UNK
from utils.exercises.gpt.forward import gpt
from utils.tasks import writing
from utils.tasks.writing import T, Writing
from utils.training.counting import KneserNey
from utils.training.metrics import surprises

SMALL = {
    "train": "the cat sat on the mat. the dog sat on the log. " * 30,
    "validation": "the cat sat on the log. " * 10,
    "test": "the dog. ",
}


@pytest.fixture(scope="module")
def task() -> Writing:
    return Writing()


@pytest.fixture(scope="module")
def small() -> Writing:
    return Writing(SMALL.__getitem__, n_merges=8)


def test_each_paragraph_of_the_documentation_is_a_line():
    text, before = writing.paragraphs("validation"), docstring_text("validation")
    assert text.split() == before.split()
    assert len(text.splitlines()) == len(re.split(r"\n\s*\n", before))


def test_tokens_are_byte_pairs_behind_the_special_ones_and_give_the_text_back(task):
    assert len(task.tokens) == len(SPECIAL) + 256 + writing.N_MERGES
    for part, ids in task.ids.items():
        assert task.tokens.decode(ids) == task.text[part] and ids.min() > UNK
    assert len(task.text["train"]) > 8 * len(task.text["validation"])


def test_another_text_is_an_argument_away(small):
    assert small.text == SMALL and len(small.tokens) == len(SPECIAL) + 256 + 8
    assert "".join(small.spelled(small.tokens.encode("the cat"))) == "the cat"


def test_a_model_that_knows_nothing_needs_the_logarithm_of_all_tokens_for_each(task):
    V = len(task.tokens)
    nats = task.judged(lambda ids: torch.zeros(*ids.shape, V))
    torch.testing.assert_close(nats, torch.full_like(nats, math.log(V)))
    first = task.tokens.decode(task.ids["validation"][:1])
    assert task.n_bytes == len(task.text["validation"].encode()) - len(first)
    expected = len(nats) * math.log2(V) / task.n_bytes
    assert task.per_byte(nats) == pytest.approx(expected, rel=1e-5)


def test_a_table_is_judged_in_the_windows_in_which_a_model_is(task):
    V = len(task.tokens)
    table = KneserNey(task.ids["train"], 3, V)

    def model(ids):  # asks the table for every token behind every beginning
        rows = [[table.logits(row[: t + 1]) for t in range(len(row))] for row in ids]
        return torch.stack([torch.stack(row) for row in rows])

    few = task.ids["validation"][: T + 6]
    expected, found = surprises(model, few, T), task.counted(3)
    torch.testing.assert_close(found[:T], expected[:T])
    rest = -table.log_probabilities(few[T:])[1:]
    torch.testing.assert_close(expected[T:], rest)
    assert len(found) == len(task.ids["validation"]) - 1


def test_tables_that_look_farther_back_need_fewer_bits(task):
    bits = [task.per_byte(task.counted(order)) for order in (2, 3, 4)]
    assert 3 > bits[0] > bits[1] > bits[2] > 1.5


def test_a_model_that_sees_both_sides_copies_and_can_not_write(task):
    model, history = writing.train_both_sides(task)
    lost = writing.surprises_at_the_end(task, model)
    assert history.step_loss[0] > 6 and history.step_loss[-1] < 0.1
    assert lost.mean() > math.log(len(task.tokens))


def test_at_the_end_the_token_behind_a_piece_is_asked_for(small):
    V = len(small.tokens)

    def next_one(ids):  # gives the right token behind three a chance of one half
        rows = small.ids["validation"].unfold(0, 4, 4).tolist()
        place = {tuple(row): after for *row, after in rows}
        logits = torch.full((*ids.shape, V), -math.inf)
        for row, of_row in zip(ids.tolist(), logits, strict=True):
            of_row[-1, place[tuple(row)]] = of_row[-1, 0] = 0.0
        return logits

    nats = writing.surprises_at_the_end(small, next_one, length=3)
    torch.testing.assert_close(nats, torch.full_like(nats, math.log(2)))


def ordered(ids: torch.Tensor) -> torch.Tensor:
    """Logits of 7 tokens: behind token i comes i + 1, or else i + 2, …"""
    behind = (torch.arange(7) - ids[..., None] - 1) % 7
    return -behind.float()


def test_a_tree_holds_the_starts_and_the_likeliest_of_what_may_follow():
    found = writing.tree(ordered, [(0,), (3, 5)], n=6)
    assert len(found) == 6 and {(0,), (3, 5)} <= found.keys()
    assert {(0, 1), (3, 5, 6)} <= found.keys()
    for text, logits in found.items():
        assert text in [(0,), (3, 5)] or text[:-1] in found
        assert logits == ordered(torch.tensor([text]))[0, -1].tolist()


def test_a_tree_of_one_start_grows_along_the_best():
    found = writing.tree(lambda ids: 20 * ordered(ids), [(0,)], n=4)
    assert list(found) == [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]


def test_surprise_is_in_bits_beside_the_three_that_were_expected(small):
    V = len(small.tokens)
    found = writing.surprised(small, lambda ids: torch.zeros(*ids.shape, V), "the cat")
    assert "".join(token for token, _, _ in found) == "the cat"
    assert found[0][1:] == (None, [])
    for _, bits, expected in found[1:]:
        assert bits == pytest.approx(math.log2(V), rel=1e-5) and len(expected) == 3
        assert all(share == pytest.approx(1 / V, rel=1e-5) for _, share in expected)


def test_words_exist_if_the_training_text_has_them_and_differ_if_they_come_once(small):
    exist, varied = writing.words_in(small, [["the cat, the zebra; on", "mat"]])
    torch.testing.assert_close(exist, torch.tensor([[4 / 5, 1]]))
    torch.testing.assert_close(varied, torch.tensor([[4 / 5, 1]]))


def test_the_best_continuation_takes_the_best_each_time():
    assert writing.best_continuation(ordered, [2, 5], n=4) == [2, 5, 6, 0, 1, 2]


def test_places_are_counted_within_their_windows():
    nats = torch.cat([torch.arange(1.0, T + 1), 10 + torch.arange(1.0, T + 1), torch.zeros(7)])
    read, means = writing.by_place(nats, [0, 1, 3, 8])
    assert read == [1, 2.5, 6] and means == pytest.approx([6, 7.5, 11])


class Block(nn.Module):
    """The lesson's block, as far as its weights."""

    def __init__(self):
        super().__init__()
        self.W_in, self.W_o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.think = nn.Sequential(nn.Linear(12, 20), nn.GELU(), nn.Linear(20, 12))
        self.norms = nn.ModuleList([nn.LayerNorm(12), nn.LayerNorm(12)])


def test_weights_are_handed_over_to_the_lessons_model():
    book = writing.small_decoder("rotary")
    model = nn.Module()
    model.table = nn.Parameter(torch.zeros(11, 12))
    model.blocks, model.norm = nn.ModuleList([Block(), Block()]), nn.LayerNorm(12)
    writing.take_over(model.double(), book)
    theirs = sum(weight.double().sum() for weight in book.parameters())
    torch.testing.assert_close(sum(weight.sum() for weight in model.parameters()), theirs)
    look = book.stack.blocks[1].self_attention
    torch.testing.assert_close(model.blocks[1].W_in.weight, look.W_in)
    torch.testing.assert_close(model.table, book.output.weight)


def test_the_books_small_model_has_the_librarys_weights():
    book = writing.small_decoder(None)
    library, x = writing.small_library(book), torch.randn(2, 5, 12, dtype=torch.float64)
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    found, _ = book.stack.run(x, is_causal=True)
    exact = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)
    exact(found, library(x, mask=mask, is_causal=True))


def lessons_model(is_causal: bool) -> type:
    """The lesson's GPT, from the cells of its page."""
    page = nbformat.read(ROOT / "chapters" / "09_gpt.ipynb", as_version=4)
    names: dict = {"gpt": gpt}
    for cell in page.cells:
        if cell.source.startswith(("import convolution_to", "class Block(", "class GPT(")):
            exec(cell.source.replace("is_causal=True", f"{is_causal=}"), names)
    return names["GPT"]


def test_the_lessons_model_is_the_books_and_the_librarys():
    assert writing.off_from_book_and_library(lessons_model(is_causal=True)) < 1e-10


def test_a_model_that_sees_the_future_is_far_from_both():
    assert writing.off_from_book_and_library(lessons_model(is_causal=False)) > 0.01
