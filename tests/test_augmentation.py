"""Variants of a picture: each is what four kinds of change make of it, and no more."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data import augmentation
from utils.data.augmentation import jitter

DRAWN = ("angle", "slant", "across", "down", "x", "y")  # each from -1 to 1, in this order


def jittered(monkeypatch, images: Tensor, most: tuple, **drawn: float) -> Tensor:
    """`jitter` at most (turn, stretch, shift), with these shares of it drawn and 0 for others."""
    draws = iter([drawn.get(name, 0.0) for name in DRAWN])
    with monkeypatch.context() as patch:
        patch.setattr(augmentation.torch, "rand", lambda n: torch.full((n,), (1 + next(draws)) / 2))
        return jitter(images, *most)


def test_a_picture_that_nothing_changes_stays_as_it_is(monkeypatch):
    images = torch.rand(3, 2, 5, 4)
    torch.testing.assert_close(jittered(monkeypatch, images, (12, 0.12, 1)), images)
    torch.testing.assert_close(jitter(images, 0, 0, 0), images)


def test_a_shift_is_by_pixels_and_brings_in_nothing(monkeypatch):
    images = torch.rand(1, 1, 4, 6)
    aside = jittered(monkeypatch, images, (0, 0, 2), x=1.0)
    torch.testing.assert_close(aside[..., :4], images[..., 2:])
    torch.testing.assert_close(aside[..., 4:], torch.zeros(1, 1, 4, 2))
    below = jittered(monkeypatch, images, (0, 0, 2), y=-0.5)
    torch.testing.assert_close(below[:, :, 1:], images[:, :, :-1])
    torch.testing.assert_close(below[:, :, :1], torch.zeros(1, 1, 1, 6))


def test_a_slant_moves_each_row_by_its_height(monkeypatch):
    images = torch.rand(1, 1, 2, 4)
    slanted = jittered(monkeypatch, images, (0, 1, 0), slant=1.0)  # rows at -1/2 and 1/2
    torch.testing.assert_close(slanted[0, 0, 0, 1:], images[0, 0, 0, :-1])
    torch.testing.assert_close(slanted[0, 0, 1, :-1], images[0, 0, 1, 1:])


def test_a_turn_is_in_degrees(monkeypatch):
    images = torch.rand(2, 3, 5, 5)
    turned = jittered(monkeypatch, images, (90, 0, 0), angle=1.0)
    torch.testing.assert_close(turned, images.rot90(1, (2, 3)))


def test_a_stretch_is_a_share_of_the_size(monkeypatch):
    images = torch.rand(1, 1, 4, 4)
    wide = jittered(monkeypatch, images, (0, 0.5, 0), across=-1.0)  # looks at half the width
    assert torch.allclose(wide[..., 1:3].mean(-1), images[..., 1:3].mean(-1))
    assert not torch.allclose(wide, images)
    torch.testing.assert_close(wide, jittered(monkeypatch, images.mT, (0, 0.5, 0), down=-1.0).mT)


def test_all_of_it_is_a_stretch_then_a_slant_then_a_turn_then_a_shift():
    images = torch.rand(7, 1, 6, 8)
    torch.manual_seed(3)
    angle, slant, across, down, x, y = ((2 * torch.rand(7) - 1).tolist() for _ in DRAWN)
    torch.manual_seed(3)
    found = jitter(images, turn=40, stretch=0.3, shift=2)
    for b in range(7):
        a = math.radians(40 * angle[b])
        turn = torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        lean = torch.tensor([[1, 0.3 * slant[b]], [0, 1]])
        size = torch.diag(torch.tensor([1 + 0.3 * across[b], 1 + 0.3 * down[b]]))
        moved = torch.tensor([[x[b] * 2 * 2 / 8], [y[b] * 2 * 2 / 6]])
        matrix = torch.cat([turn @ lean @ size, moved], dim=1)
        grid = F.affine_grid(matrix[None], [1, 1, 6, 8], align_corners=False)
        expected = F.grid_sample(images[b : b + 1], grid, align_corners=False)
        torch.testing.assert_close(found[b : b + 1], expected, rtol=1e-4, atol=1e-4)


def test_each_picture_has_draws_of_its_own():
    one = torch.rand(1, 1, 8, 8)
    variants = jitter(one.expand(20, -1, -1, -1))
    assert len({variant.numpy().tobytes() for variant in variants}) == 20
    assert (variants - one).abs().mean() < 0.4


def test_what_is_left_out_is_twelve_degrees_twelve_per_cent_and_a_pixel():
    images = torch.rand(3, 1, 8, 8)
    found = []
    for most in ((), (12, 0.12, 1)):
        torch.manual_seed(0)
        found.append(jitter(images, *most))
    assert torch.equal(*found)
