"""Day 12's layers: patches, the Vision Transformer, CLIP."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.transformer import TransformerConfig
from utils.vision import (
    CLIP,
    PatchEmbedding,
    VisionTransformer,
    contrastive_loss,
    cosines,
    patches,
    small_clip,
    unpatch,
    zero_shot,
)

TINY = TransformerConfig(
    9, d_model=8, n_heads=2, d_ff=12, n_layers=2, norm="pre", activation="gelu", dropout=0.0
)
SIZES = {"channels": 3, "image_size": 6, "patch_size": 2}


@pytest.mark.parametrize("shape, P", [((2, 3, 4, 6), 2), ((1, 1, 9, 3), 3), ((3, 2, 2, 2), 1)])
def test_patches_are_the_librarys_and_unpatch_puts_them_back(shape, P):
    images = torch.randn(shape)
    assert torch.equal(patches(images, P), F.unfold(images, P, stride=P).mT)
    assert torch.equal(unpatch(patches(images, P), *shape[1:]), images)


@pytest.mark.parametrize("bias", [True, False])
def test_a_convolution_that_stands_on_each_patch_once_gives_the_same_numbers(bias):
    images = torch.randn(2, 3, 4, 8, dtype=torch.float64)
    conv = nn.Conv2d(3, 5, 2, stride=2, bias=bias).double()
    ours = PatchEmbedding(3, 2, 5, bias=bias).double()
    ours.load_library(conv)
    torch.testing.assert_close(ours(images)[:, 1:], conv(images).flatten(2).mT)
    assert torch.equal(ours(images)[:, 0], ours.class_token.expand(2, 5))
    assert PatchEmbedding(3, 2, 5, class_token=False)(images.float()).shape == (2, 8, 5)


@pytest.mark.parametrize(
    "conv",
    [
        nn.Conv2d(3, 5, 2),
        nn.Conv2d(3, 5, 2, stride=2, padding=1),
        nn.Conv2d(3, 5, 2, stride=2, dilation=2),
        nn.Conv2d(3, 5, 2, stride=2, bias=False),
        nn.Conv2d(1, 5, 2, stride=2),
        nn.Conv2d(3, 5, 3, stride=3),
        nn.Conv2d(15, 5, 2, stride=2, groups=5),
    ],
)
def test_another_convolution_is_refused(conv):
    with pytest.raises(ValueError, match="convolution .*weights"):
        PatchEmbedding(3, 2, 5).load_library(conv)


@pytest.mark.parametrize("pool", ["class", "mean"])
def test_the_vision_transformer_equals_the_librarys_encoder_on_patches(pool):
    torch.manual_seed(0)
    model = VisionTransformer(TINY, **SIZES, n_classes=4, pool=pool).double().eval()
    layer = nn.TransformerEncoderLayer(
        8, 2, 12, 0.0, "gelu", norm_first=True, batch_first=True, dtype=torch.float64
    )
    library = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8, dtype=torch.float64), False)
    model.encoder.load_library(library.eval())
    images = torch.randn(3, 3, 6, 6, dtype=torch.float64)
    embedding = model.encoder.embedding
    x = library(embedding.symbols(images) + embedding.positions.table)
    x = x[:, 0] if pool == "class" else x[:, 1:].mean(dim=1)
    logits, weights = model(images, need_weights=True)
    torch.testing.assert_close(logits, model.output(x), rtol=0, atol=1e-12)
    torch.testing.assert_close(model(images), logits)
    assert weights.shape == (3, 2, 2, 10, 10)


def test_another_layer_than_a_convolution_is_refused():
    with pytest.raises(ValueError, match="Conv2d.*Linear"):
        PatchEmbedding(3, 2, 5).load_library(nn.Linear(12, 5))


def test_mixed_precision_may_mix_types():
    model = VisionTransformer(TINY, **SIZES, n_classes=4).eval()
    with torch.autocast("cpu", torch.bfloat16):
        assert model(torch.randn(2, 3, 6, 6).bfloat16()).shape == (2, 4)
        assert cosines(torch.ones(2, 3), torch.ones(2, 3).bfloat16()).shape == (2, 2)


def test_without_positions_the_order_of_patches_makes_no_difference():
    model = VisionTransformer(TINY, **SIZES, n_classes=4).double().eval()
    images = torch.randn(2, 3, 6, 6, dtype=torch.float64)
    shuffled = unpatch(patches(images, 2)[:, torch.randperm(9)], 3, 6, 6)
    assert (model(images) - model(shuffled)).abs().max() > 1e-6
    nn.init.zeros_(model.encoder.embedding.positions.table)
    torch.testing.assert_close(model(images), model(shuffled))


@pytest.mark.parametrize("tau", [0.07, 1.0])
def test_the_contrastive_loss_is_two_cross_entropies_of_cosines(tau):
    u, v = torch.randn(5, 3), torch.randn(5, 3)
    cosines = F.cosine_similarity(u[:, None], v[None], dim=2)
    rows = -(cosines / tau).log_softmax(dim=1).diag().mean()
    columns = -(cosines / tau).log_softmax(dim=0).diag().mean()
    torch.testing.assert_close(contrastive_loss(u, v, tau), (rows + columns) / 2)
    torch.testing.assert_close(zero_shot(u, v, tau), (cosines / tau).softmax(dim=1))
    torch.testing.assert_close(contrastive_loss(7 * u, v / 3, tau), (rows + columns) / 2)


def test_what_nothing_has_been_learned_of_costs_the_logarithm_of_the_pairs():
    same = torch.ones(6, 4)
    assert math.isclose(contrastive_loss(same, same, 0.07), math.log(6), rel_tol=1e-6)


def test_clip_gives_unit_vectors_and_learns_its_temperature():
    torch.manual_seed(0)
    model = small_clip(TINY, TINY, image_size=6, patch_size=2, width=5)
    images, ids = torch.randn(4, 3, 6, 6), torch.randint(4, 9, (4, 7))
    lengths = torch.tensor([7, 3, 5, 1])
    u, v, tau = model(images, ids, lengths)
    for features in (u, v):
        assert features.shape == (4, 5)
        torch.testing.assert_close(features.norm(dim=1), torch.ones(4))
    assert math.isclose(tau.item(), 0.07, rel_tol=1e-6)
    contrastive_loss(u, v, tau).backward()
    assert model.log_scale.grad.abs() > 0
    padded = F.pad(ids, (0, 2), value=8)
    torch.testing.assert_close(model.encode_texts(padded, lengths), v)
    model.log_scale.data.fill_(9.0)
    assert math.isclose(model.temperature.item(), 0.01, rel_tol=1e-6)


@pytest.mark.parametrize(
    "wrong, said",
    [
        (lambda: patches(torch.zeros(2, 4, 4), 2), r"\(B, C, H, W\)"),
        (lambda: patches(torch.zeros(1, 1, 4, 5), 2), "side of 2"),
        (lambda: patches(torch.zeros(1, 1, 4, 4), 0), "patch_size"),
        (lambda: patches(torch.zeros(0, 3, 24, 24), 6), r"at least one image .* \(0, 3, 24, 24\)"),
        (lambda: unpatch(torch.zeros(1, 3, 4), 1, 4, 4), r"don't make images of \(1, 4, 4\)"),
        (lambda: PatchEmbedding(3, 2, 5)(torch.zeros(1, 4, 4, 4)), r"\(B, 3, H, W\)"),
        (lambda: VisionTransformer(TINY, **SIZES, n_classes=2, pool="last"), "pool"),
        (
            lambda: VisionTransformer(TINY, channels=3, image_size=7, patch_size=2, n_classes=2),
            "Patches of 2 don't divide a picture of 7",
        ),
        (
            lambda: VisionTransformer(TINY, **SIZES, n_classes=2)(torch.zeros(1, 3, 8, 8)),
            "6 × 6 pixels",
        ),
        (
            lambda: PatchEmbedding(3, 2, 5)(torch.zeros(1, 3, 4, 4, dtype=torch.uint8)),
            r"images of torch.float32, .* got torch.uint8: .* divide bytes",
        ),
        (
            lambda: VisionTransformer(TINY, **SIZES, n_classes=2)(torch.zeros(1, 3, 6, 6).double()),
            "images of torch.float32, .* got torch.float64",
        ),
        (lambda: contrastive_loss(torch.ones(2, 3), torch.ones(3, 3), 1.0), "no pairs"),
        (lambda: contrastive_loss(torch.ones(0, 3), torch.ones(0, 3), 1.0), "no pairs"),
        (
            lambda: cosines(torch.ones(2, 3), torch.ones(2, 3).double()),
            "one floating-point type, got torch.float32 and torch.float64",
        ),
        (
            lambda: cosines(torch.ones(2, 3, dtype=torch.int), torch.ones(2, 3, dtype=torch.int)),
            "one floating-point type, got torch.int32 and torch.int32",
        ),
        (lambda: zero_shot(torch.ones(2, 3), torch.ones(3, 4), 1.0), r"\(B, E\) and \(n, E\)"),
        (
            lambda: contrastive_loss(torch.ones(2, 3), torch.ones(2, 3), 0.0),
            "The temperature is 0.0: it has to be positive",
        ),
        (
            lambda: zero_shot(torch.ones(2, 3), torch.ones(4, 3), torch.tensor(-1.0)),
            "The temperature is -1.0: it has to be positive",
        ),
        (
            lambda: CLIP(nn.Identity(), nn.Identity(), temperature=0),
            "The temperature is 0: it has to be positive",
        ),
    ],
)
def test_bad_input_gets_one_sentence(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong()
