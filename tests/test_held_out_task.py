"""Day 10's judges see no text that was learned from, and what shares has the sizes it should."""

import math

import pytest
import torch
from torch import nn

from utils.data.text import EOS
from utils.pretraining import IGNORE, MASK, UniversalEncoder
from utils.tasks import held_out, repeated
from utils.tasks.pretraining import B, documents, hide, new_model, vocabulary
from utils.tasks.sharing import ENCODERS, WIDTH, build
from utils.training.loop import History

# Held-out text ------------------------------------------------------------------------------------


def test_no_held_out_sentence_was_learned_from():
    learned = {tuple(said) for document in documents() for said in document}
    held = [tuple(said) for document in held_out.held_out() for said in document]
    unknown = vocabulary().encode(["?"])[0]
    known = [said for said in held if said.count(unknown) < 2]
    assert len(known) > 2000 and learned.isdisjoint(known)
    assert all(said[-1] == EOS and EOS not in said[:-1] for said in held)


def test_the_judge_hides_the_same_words_each_time_behind_the_mask_alone():
    held_out.hidden_passages.cache_clear()
    torch.manual_seed(1)
    first = held_out.hidden_passages()
    held_out.hidden_passages.cache_clear()
    torch.manual_seed(2)
    second = held_out.hidden_passages()
    assert len(first) == held_out.N_PASSAGES // B
    words = asked = 0
    for one, other in zip(first, second, strict=True):
        assert all(map(torch.equal, one, other))
        ids, _, target = one
        assert torch.equal(ids == MASK, target != IGNORE)
        asked += int((ids == MASK).sum())
        words += int((ids >= MASK).sum())
    assert asked / words == pytest.approx(held_out.SHARE, abs=0.01)


def test_what_is_guessed_is_counted_word_by_word():
    model = new_model(0)
    nn.init.zeros_(model.head.weight)
    with torch.no_grad():
        model.head.bias.zero_()
        model.head.bias[7] = math.log(3)
    V = len(vocabulary())
    target = torch.tensor([[7, IGNORE, 9], [IGNORE, 8, IGNORE]])
    lengths = torch.tensor([3, 2])
    batches = ((target.clamp(min=5), lengths, target), (target[:1].clamp(min=5), None, target[:1]))
    found = held_out.guessed(model, batches)
    total = math.log(V + 2)
    assert found["right"] == pytest.approx(2 / 5)
    assert found["loss"] == pytest.approx(total - 2 / 5 * math.log(3), rel=1e-5)
    assert model.training


# The same passages again --------------------------------------------------------------------------


def batches_read(monkeypatch, drawn: str) -> list[list[tuple]]:
    """Return what is read in each of the passes."""
    seen = []

    def fit(model, batches, *_, epochs, validation, **__):
        for epoch in range(epochs):
            torch.manual_seed(epoch)
            seen.append(list(batches))
        return History(validation={"loss": [0.0] * epochs})

    monkeypatch.setattr(repeated, "fit", fit)
    repeated.pretrain_on_the_same(new_model(0), drawn, 2 * repeated.PASSES)
    return seen


def shown(batch: tuple) -> torch.Tensor:
    """The words of a batch where nothing was changed, else what is asked for."""
    ids, _, target = batch
    return torch.where(target == IGNORE, ids, target)


@pytest.mark.parametrize("drawn", repeated.DRAWN)
def test_the_passages_stay_and_masks_are_drawn_once_or_anew(monkeypatch, drawn):
    passes = batches_read(monkeypatch, drawn)
    assert len(passes) == repeated.PASSES and {len(batches) for batches in passes} == {2}
    for batches in passes[1:]:
        for first, later in zip(passes[0], batches, strict=True):
            assert torch.equal(shown(first), shown(later))
            assert torch.equal(first[2], later[2]) == (drawn == "drawn once")
    assert not torch.equal(shown(passes[0][0]), shown(passes[0][1]))


def test_both_ways_read_the_same_passages(monkeypatch):
    once, anew = (batches_read(monkeypatch, drawn)[0] for drawn in repeated.DRAWN)
    for one, other in zip(once, anew, strict=True):
        assert torch.equal(shown(one), shown(other))


def test_an_unknown_way_to_draw_is_refused():
    with pytest.raises(ValueError, match="'twice': .*'drawn once'"):
        repeated.pretrain_on_the_same(new_model(0), "twice", 16)


# What shares --------------------------------------------------------------------------------------


def parameters(name: str) -> int:
    return sum(weight.numel() for weight in build(name, 0).parameters())


def test_sharing_saves_three_blocks_and_a_narrow_table_most_of_the_words():
    plain = build("four blocks", 0)
    of_block = sum(weight.numel() for weight in plain.encoder.blocks[0].parameters())
    saved = parameters("four blocks") - parameters("one block, shared")
    assert saved == 3 * of_block
    assert parameters("factorised table") - parameters("both") == saved
    assert parameters("Universal Transformer") == parameters("one block, shared")
    table = build("both", 0).encoder.embedding.symbols.words.weight
    assert table.shape == (len(vocabulary()), WIDTH)


def test_rows_of_a_narrow_table_begin_as_large_as_those_of_a_wide_one():
    for name in ("four blocks", "factorised table", "both"):
        table = build(name, 0).head.weight
        assert table.norm(dim=1).mean().item() == pytest.approx(1, rel=0.05)


def test_the_narrower_network_has_as_many_parameters_as_the_shared_one():
    shared = parameters("one block, shared")
    assert parameters("four narrower blocks") == pytest.approx(shared, rel=0.02)


@pytest.mark.parametrize("name", ENCODERS)
def test_each_encoder_reads_and_learns(name):
    model = build(name, 0)
    hidden, target = hide(torch.randint(MASK + 1, len(vocabulary()), (2, 12)), 0.5)
    logits = model(hidden, torch.tensor([12, 9]))
    assert logits.shape == (2, 12, len(vocabulary()))
    nn.functional.cross_entropy(logits.mT, target).backward()
    assert all(weight.grad is not None for weight in model.parameters())
    assert isinstance(model.encoder, UniversalEncoder) == name.startswith("Universal")
