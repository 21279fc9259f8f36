"""Token shift: what comes from where, and what it can't read."""

import pytest
import torch
from torch import nn

from utils.efficient import KVCache
from utils.language.shift import ShiftedAttention, TokenShift
from utils.transformer import DecoderOnly, Parts, TransformerConfig


def test_a_quarter_comes_from_two_before_and_a_quarter_from_one():
    x = torch.arange(1.0, 6)[None, :, None].expand(1, 5, 10)  # at each position its number
    assert TokenShift()(x)[0].T.tolist() == 2 * [[0, 0, 1, 2, 3]] + 2 * [[0, 1, 2, 3, 4]] + 6 * [
        [1, 2, 3, 4, 5]
    ]
    assert TokenShift()(x[:, :1])[0, 0].tolist() == 4 * [0] + 6 * [1]


@torch.no_grad()
def test_shifted_tokens_are_refused_behind_a_cache():
    layer, x = ShiftedAttention(8, 2).double(), torch.randn(1, 5, 8).double()
    cache = KVCache(8)
    whole, _ = layer(x, is_causal=True)
    first, _ = layer(x, is_causal=True, cache=cache)  # an empty one is no hindrance
    torch.testing.assert_close(first, whole)
    with pytest.raises(ValueError, match="cache"):
        layer(x[:, :1], is_causal=True, cache=cache)


def test_shifted_tokens_are_refused_behind_padding():
    config = TransformerConfig(11, d_model=8, n_heads=2, d_ff=12, n_layers=1, norm="pre")
    model = DecoderOnly(config, Parts(attention=ShiftedAttention)).eval()
    assert model(torch.ones(2, 4, dtype=torch.int64))[0].shape == (2, 4, 11)
    with pytest.raises(ValueError, match="padding"):
        model(torch.ones(2, 4, dtype=torch.int64), lengths=torch.tensor([4, 2]))


def test_shifted_attention_is_attention_on_shifted_tokens():
    torch.manual_seed(0)
    shifted, plain = ShiftedAttention(8, 2), nn.Module()
    plain = super(ShiftedAttention, shifted).forward
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(
        shifted(x, is_causal=True)[0], plain(TokenShift()(x), is_causal=True)[0]
    )
