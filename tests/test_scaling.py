"""What a GPT holds and costs, counted by formula and by what PyTorch does."""

import pytest
import torch

from utils.measure.costs import work
from utils.scaling import (
    operations_forward,
    operations_hoffmann,
    operations_kaplan,
    operations_of_training,
    six_n_d,
    weights_by_part,
    weights_of_blocks,
)
from utils.training.recipes import tag_loss
from utils.transformer import DecoderOnly, TransformerConfig


def config(**changes) -> TransformerConfig:
    sizes = {"d_model": 24, "n_heads": 6, "d_ff": 40, "n_layers": 3, "dropout": 0.0}
    how = {"norm": "pre", "activation": "gelu", "positions": "rotary"}
    return TransformerConfig(53, **sizes | how | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n_kv_heads": 2},
        {"norm": "post"},
        {"norm": "post", "last_norm": True},
        {"positions": "sinusoidal"},
    ],
)
def test_the_weights_of_all_parts_are_the_models(changes):
    model = DecoderOnly(config(**changes))
    held = sum(weight.numel() for weight in model.parameters())
    assert sum(weights_by_part(config(**changes)).values()) == held


def test_the_blocks_weights_are_the_matrices():
    model = DecoderOnly(config())
    matrices = [w.numel() for w in model.stack.blocks.parameters() if w.dim() == 2]
    assert weights_of_blocks(24, 3, 40) == sum(matrices)
    assert weights_of_blocks(768, 12) == 12 * 12 * 768**2, "GPT-2's 85 million"


@pytest.mark.parametrize("changes", [{}, {"n_kv_heads": 2}])
def test_the_operations_are_those_that_are_done(changes):
    model, T = DecoderOnly(config(**changes)), 19
    ids = torch.randint(53, (1, T))
    with torch.no_grad():
        done = work(lambda: model(ids)).products
    assert sum(operations_forward(config(**changes), T).values()) == done
    step = work(lambda: tag_loss(model(ids)[0], ids).backward()).products
    assert operations_of_training(config(**changes), T) == step


def test_kaplans_rows_are_twice_the_weights_and_what_depends_on_the_context():
    rows = operations_kaplan(config(d_ff=96), 19)
    inside = sum(rows.values()) - rows["embed"] - rows["de-embed"]
    assert inside == 19 * (2 * weights_of_blocks(24, 3) + 2 * 3 * 19 * 24), "table 1's last row"
    assert rows["embed"] == 19 * 4 * 24 and rows["de-embed"] == 2 * 19 * 24 * 53


def test_hoffmanns_rows_score_all_pairs_and_multiply_by_the_table_twice():
    T, ours, theirs = 19, operations_forward(config(), 19), operations_hoffmann(config(), 19)
    assert theirs["embeddings"] == theirs["logits"] == ours["logits"]
    assert theirs["scores"] * (T + 1) == ours["scores"] * 2 * T
    assert theirs["softmax"] == 3 * 3 * 6 * T * T
    for same in ("queries, keys, values", "output of attention", "feed-forward"):
        assert theirs[same] == ours[same]


def test_six_n_d_is_near_the_count_of_a_wide_model_and_far_from_that_of_long_windows():
    sizes = {"d_model": 2048, "n_heads": 16, "d_ff": 8192, "n_layers": 24}
    wide = TransformerConfig(32_000, **sizes, norm="pre", dropout=0.0)
    N = sum(weights_by_part(wide).values())
    for T, low, high in ((64, 0.99, 1.01), (2048, 1.05, 1.15), (100_000, 4, 8)):
        assert low < operations_of_training(wide, T) / six_n_d(N, T) < high
    assert six_n_d(5, 7) == 210


@pytest.mark.parametrize("changes", [{"tied": False}, {"positions": "learned"}])
def test_other_models_are_refused(changes):
    for count in (weights_by_part, lambda c: operations_forward(c, 5)):
        with pytest.raises(ValueError, match="one table"):
            count(config(**changes))


def test_sizes_that_are_none_are_refused():
    for count in (operations_forward, operations_kaplan, operations_hoffmann):
        with pytest.raises(ValueError, match="^T "):
            count(config(), 0)
    with pytest.raises(ValueError, match="n_layers"):
        weights_of_blocks(24, 0)
    for N, D in ((0, 1), (1, -2), (float("nan"), 1), (float("inf"), 1)):
        with pytest.raises(ValueError, match="above 0"):
            six_n_d(N, D)
