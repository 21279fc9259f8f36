"""The larger pictures of Day 6: where the norms stand, and what each look may see."""

import pytest
import torch
from drawings import leads, places
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from utils.self_attention import causal_mask
from utils.show.mechanisms import transformer as mechanisms

pytestmark = pytest.mark.usefixtures("closed")


def test_the_norms_stand_on_the_stream_in_post_norm_and_beside_it_in_pre_norm():
    ax = mechanisms.residuals()
    (post, _), (pre, _) = places(ax, "post-norm") + places(ax, "pre-norm")
    norms = places(ax, "norm")
    assert sorted(x == pytest.approx(post) for x, _ in norms) == [False, False, True, True]
    assert all(x != pytest.approx(pre, abs=0.5) for x, _ in norms)
    below = [at for at in norms if at[0] > 8]  # those of pre-norm: norm, then sublayer
    layers = [at for name in ("attention", "feed-forward") for at in places(ax, name) if at[0] > 8]
    for norm, layer in zip(below, layers, strict=True):
        assert norm[1] > layer[1] and leads(ax, norm, layer)  # y runs down
    for kind in (post, pre):
        sums = [at for at in places(ax, "+") if at[0] == pytest.approx(kind)]
        assert len(sums) == 2


@pytest.mark.parametrize(
    ("source", "said"), [("I love deep learning", "wǒ ài shēndù xuéxí"), ("I run", "wǒ pǎo")]
)
def test_the_grids_are_the_masks_of_attention_in_three_ways(source, said):
    said = said.split()
    ax = mechanisms.towers(source, ["BOS", *said], [*said, "EOS"], ())
    S, T = len(source.split()), len(said) + 1
    small = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_width() < 0.2]
    seen = torch.tensor([to_rgb(cell.get_facecolor()) != (1, 1, 1) for cell in small])
    masks = torch.ones(S, S), causal_mask(T), torch.ones(T, S)
    assert seen.tolist() == torch.cat([mask.bool().flatten() for mask in masks]).tolist()
    for mask in masks:  # a row for each place that asks, from above
        grid, small = small[: mask.numel()], small[mask.numel() :]
        corners = [(round(cell.get_y(), 6), round(cell.get_x(), 6)) for cell in grid]
        assert corners == sorted(corners)
        assert len({y for y, _ in corners}) == len(mask)


def test_queries_come_from_the_decoder_and_keys_and_values_from_the_encoder():
    ax = mechanisms.towers("I love", ["BOS", "wǒ", "ài"], ["wǒ", "ài", "EOS"], ())
    (own,), (across,) = places(ax, "causal self-attention"), places(ax, "cross-attention")
    (queries,), (found,) = places(ax, "queries"), places(ax, "encoder's output")
    assert own[1] > queries[1] > across[1]
    lanes = [line for line in ax.lines if len(line.get_xdata()) == 3]  # right, then down
    assert len(lanes) == 2
    for line in lanes:
        (x, turn, end), (y, level, foot) = line.get_data()
        assert found[0] < x < turn == end < across[0] and found[1] < y == level < foot
        assert abs(foot - across[1]) < 0.5  # it ends next to the cross-attention


@pytest.mark.parametrize(
    ("lit", "framed"),
    [
        ((), 0),
        (("norms",), 7),
        (("feed-forward",), 2),
        (("self-attention", "cross-attention"), 3),
        (("embeddings",), 2),
    ],
)
def test_a_part_is_lit_and_all_others_are_greyed(lit, framed):
    ax = mechanisms.towers("I love", ["BOS", "wǒ", "ài"], ["wǒ", "ài", "EOS"], lit)
    frames = [patch for patch in ax.patches if patch.get_linewidth() == 2.6]
    veils = [patch for patch in ax.patches if patch.get_zorder() == 4]
    assert len(frames) == framed and len(veils) == 15 - framed


def test_what_is_added_to_the_stream_has_its_shape():
    ax = mechanisms.shapes()
    ends = places(ax, "merged, $W_o$   (B, T, D)") + places(ax, "$W_2$   (B, T, D)")
    for (x, y), (plus_x, plus_y) in zip(ends, places(ax, "+"), strict=True):
        assert leads(ax, (x - 2.7, y), (plus_x + 0.3, plus_y)) and plus_y == pytest.approx(y)


def test_each_step_reads_what_was_written_before():
    said = ["wǒ", "ài", "EOS"]
    ax = mechanisms.ticking(said)
    rows = sorted({round(y, 3) for _, y in places(ax, "BOS")})
    assert len(rows) == len(said)
    for t, word in enumerate(said):
        found = places(ax, word)
        assert len(found) == len(said) - t  # written once, then read
        x, y = max(found)
        assert x > 13 and round(y, 3) == rows[t]
