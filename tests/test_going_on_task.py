"""Small GPTs go on with a sequence that begins again."""

import pytest
import torch

from utils.tasks.copying import repeated, said_next
from utils.tasks.going_on import (
    LETTERS,
    continuations,
    invented,
    repeater,
    share_repeated,
    train_repeater,
    went_on,
)


class AlphabetAfter:
    """Says that the next letter of the alphabet follows, and behind z an a."""

    def __call__(self, ids):
        return torch.eye(len(LETTERS))[(ids + 1) % len(LETTERS)], None


class Copier:
    """Says what followed the present letter when it was there before, else an a."""

    def __call__(self, ids):
        logits = torch.zeros(*ids.shape, len(LETTERS))
        for row, text in enumerate(ids.tolist()):
            for t, letter in enumerate(text):
                before = text[:t]
                found = text[before.index(letter) + 1] if letter in before else 0
                logits[row, t, found] = 1
        return logits, None


def test_what_is_likeliest_is_written_letter_by_letter():
    assert went_on(AlphabetAfter(), "qx", 4) == "yzab"
    found = continuations(AlphabetAfter(), torch.tensor([[3, 7], [1, 0]]), 2)
    assert found.tolist() == [[8, 9], [1, 2]]


def test_a_copier_goes_on_with_a_text_that_begins_again():
    assert went_on(Copier(), "kqzmk", 3) == "qzm"
    assert share_repeated(Copier(), n=20) == 1.0
    assert share_repeated(AlphabetAfter(), n=20) == 0.0


@pytest.mark.parametrize(("text", "why"), [("", "nothing"), ("aB", "'B'"), ("a b", "' '")])
def test_a_text_that_no_model_reads_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        went_on(AlphabetAfter(), text, 2)


def test_invented_segments_have_different_letters_and_differ():
    segments = invented(50, 12, seed=1)
    assert segments.shape == (50, 12)
    assert all(len(set(row)) == 12 for row in segments.tolist())
    assert len({tuple(row) for row in segments.tolist()}) == 50
    assert segments.unique().tolist() == [*range(26)]
    with pytest.raises(ValueError, match="26 letters, and 27"):
        invented(1, 27, seed=0)


def test_a_repeater_learns_from_all_letters():
    model = repeater(1, seed=0)
    ids = repeated(64, 25, len(LETTERS), 8, seed=10**6)

    def loss() -> float:
        with torch.no_grad():
            return said_next(model(ids[:, :-1]), ids[:, 1:]).item()

    before = loss()
    history = train_repeater(model, seed=0, steps=40)
    assert len(history.step_loss) == 40
    assert loss() < before


def test_blocks_are_as_many_as_asked_for_and_the_seed_decides():
    two, one, other = repeater(2, 0), repeater(1, 0), repeater(1, 1)
    assert (len(two.stack.blocks), len(one.stack.blocks)) == (2, 1)
    assert not torch.equal(one.output.weight, other.output.weight)
    assert torch.equal(one.output.weight, repeater(1, 0).output.weight)
    assert one.output.weight is not one.stack.embedding.symbols.weight
