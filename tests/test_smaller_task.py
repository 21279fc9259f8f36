"""Day 11's task: each step leaves less of a model, and says how many bytes are left."""

import pytest
import torch

from utils.pretraining.rounded import with_rounded_weights
from utils.tasks.articles import VOWELS, after_articles, gaps_after, share_of_vowels
from utils.tasks.distilling import sizes_of
from utils.tasks.fine_tuning import classifier, with_labels
from utils.tasks.pretraining import new_model, vocabulary
from utils.tasks.smaller import Watched, as_rounded, bytes_of, of_low_rank, one_by_one


def test_a_model_is_looked_at_after_the_steps_that_are_marked():
    seen, given = [], []
    batches = Watched("abcd", (0, 2, 9), seen.append)
    for batch in batches:
        given.append(batch)
        assert seen == [mark for mark in (0, 2) if mark < len(given)]
    assert given == [*"abcd"] and len(batches) == 4


def test_each_step_keeps_fewer_bytes():
    tuned = classifier(new_model(0, n_layers=1), 5).eval()
    torch.nn.init.normal_(tuned.output.weight)
    steps = {name: (model, size) for name, model, size in one_by_one(tuned, with_labels(30))}
    sizes = [bytes_of(tuned), *(size for _, size in steps.values())]
    assert sizes == sorted(sizes, reverse=True)
    fewer = steps["half of the heads"][0].encoder.blocks[0].self_attention
    assert fewer.n_heads == 2 and tuned.encoder.blocks[0].self_attention.n_heads == 4
    numbers = sizes_of(steps["8 bits"][0]).bytes
    whole = sum(x.numel() for x in steps["4 bits"][0].buffers() if x.dtype == torch.int8)
    whole += sum(x.numel() for x in steps["4 bits"][0].parameters() if x.dtype == torch.int8)
    assert steps["8 bits"][1] == numbers and steps["4 bits"][1] == numbers - whole // 2


def test_rounded_for_good_is_what_int8_leaves():
    model, ids = new_model(0, n_layers=1).eval(), torch.randint(5, 99, (2, 7))
    with torch.no_grad():
        expected = with_rounded_weights(model)(ids)
        torch.testing.assert_close(as_rounded(model)(ids), expected)
        assert not torch.equal(model(ids), expected)
    low = of_low_rank(as_rounded(model), 5, rank=2)
    trained = {name for name, weight in low.named_parameters() if weight.requires_grad}
    assert all(".parametrizations.W_in." in name or "output" in name for name in trained)


@pytest.mark.parametrize("article", ["a", "an"])
def test_gaps_come_after_an_article(article):
    words = vocabulary()
    other = {"a": "an", "an": "a"}[article]
    plain, changed = gaps_after(article), gaps_after(article, other)
    mask = words.symbols.index("<mask>")
    for own, swapped in zip(plain, changed, strict=True):
        differ = [i for i, (x, y) in enumerate(zip(own, swapped, strict=True)) if x != y]
        (at,) = differ
        assert words.symbols[own[at]] == article and words.symbols[swapped[at]] == other
        assert own[at + 1] == swapped[at + 1] == mask
    assert len(plain) > 100


def test_shares_of_vowels_are_between_0_and_1():
    found = after_articles(new_model(0).eval())
    assert list(found) == ["an", "an to a", "a", "a to an"]
    assert all(0 <= share <= 1 for share in found.values())
    logits = torch.tensor([[9.0, 1.0, 2.0], [9.0, 3.0, 2.0]])
    assert share_of_vowels(logits, ["<name>", "axis", "row"]) == 0.5 and "y" not in VOWELS
