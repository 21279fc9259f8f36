"""Stacks of untrained blocks: what is measured of them, and how weights are handed over."""

import pytest
import torch
from torch import nn

from utils.measure.costs import exponent, work
from utils.self_attention import MultiHeadAttention
from utils.tasks import stacks


def test_without_a_sum_the_gradient_is_lost_and_with_a_sum_and_a_norm_it_is_kept():
    lost, kept = (stacks.gradients(kind, (1, 8)) for kind in ("neither", "sum and norm"))
    assert lost.shape == kept.shape == (3, 2, 2)
    assert (lost[:, 1] / lost[:, 0]).max() < 1e-4 and (kept[:, 1] / kept[:, 0]).min() > 0.1


def test_a_norm_alone_keeps_what_is_the_same_for_all_positions():
    found = stacks.gradients("norm alone", (8,))[:, 0]
    assert found[:, 0].min() > 1 and found[:, 1].max() < 1e-6


def test_a_stream_without_norms_grows_and_sizes_are_relative_to_one_block():
    found = stacks.sizes("sum alone", [1, 32])
    assert torch.equal(found[:, 0], torch.ones(3, 2, dtype=torch.float64))
    assert found[:, 1].min() > 2


def test_pairs_grow_with_the_square_of_the_length_and_the_rest_with_the_length():
    lengths = [64, 128, 256]
    pairs, rest = stacks.operations(lengths, work).T.tolist()
    assert exponent(lengths, pairs) == pytest.approx(2, abs=0.05)
    assert exponent(lengths, rest) == pytest.approx(1, abs=0.05)


def test_weights_are_handed_over_to_an_encoder_and_a_decoder_with_cross_attention():
    def made(n_attentions: int) -> nn.Module:
        block = nn.Module()
        block.own = MultiHeadAttention(12, 3)
        if n_attentions == 2:
            block.cross = MultiHeadAttention(12, 3)
        block.think = nn.Sequential(nn.Linear(12, 20), nn.ReLU(), nn.Linear(20, 12))
        block.norms = nn.ModuleList(nn.LayerNorm(12) for _ in range(n_attentions + 1))
        return block.double()

    model = nn.Module()
    model.source, model.target = nn.Embedding(11, 12), nn.Embedding(13, 12)
    model.encoder = nn.ModuleList([made(1), made(1)])
    model.decoder = nn.ModuleList([made(2), made(2)])
    _, book = stacks.library_and_book()
    for weight in book.parameters():
        nn.init.normal_(weight)
    stacks.take_over(model, book)
    mine, theirs = model.decoder[1], book.decoder.blocks[1]
    assert torch.equal(mine.cross.W_in, theirs.cross_attention.W_in)
    assert torch.equal(mine.think[2].bias, theirs.feed_forward.W_2.bias)
    assert torch.equal(mine.norms[2].weight, theirs.residuals[2].norm.weight)
    assert model.target.weight is book.decoder.embedding.symbols.weight
