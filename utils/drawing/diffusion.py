"""Day 13: drawing by taking noise away, a little at a time (diffusion), of points in the plane.

Shapes: points x (B, 2), steps t (B,) whole numbers from 1 to T in int64.
"""

import math

import torch
from torch import Tensor, nn

from utils.arguments import check_sizes, described
from utils.positions import sinusoidal

COSINE = 0.008  # so that the first steps add a little noise, too


def signal_kept(T: int) -> Tensor:
    """Return ᾱ_0 to ᾱ_T, (T + 1,): how much of the data's variance is left after each step.

    cos², from 1 to 0 (Nichol & Dhariwal, 2021, eq. 17); a single step loses 0.999 at most.
    Raises: ValueError if T is below 1.
    """
    check_sizes(T=T)
    angles = (torch.arange(T + 1, dtype=torch.float64) / T + COSINE) / (1 + COSINE) * math.pi / 2
    kept = angles.cos().square() / angles[0].cos().square()
    steps = (kept[1:] / kept[:-1]).clamp(min=0.001)
    return torch.cat([kept[:1], steps.cumprod(dim=0)]).float()


def noised(x: Tensor, t: Tensor, noise: Tensor, kept: Tensor) -> Tensor:
    """Return √ᾱ_t · x + √(1 - ᾱ_t) · noise: data after t steps at once (Ho et al., 2020, eq. 4).

    Shapes: x and noise (B, 2), t (B,), kept (T + 1,), to (B, 2).
    Raises: ValueError if points, steps and noise don't fit.
    """
    check_points(x, t, len(kept) - 1)
    if noise.shape != x.shape:
        raise ValueError(
            f"Expected noise for each point, {tuple(x.shape)}, got {tuple(noise.shape)}."
        )
    of_t = kept[t][:, None]
    return of_t.sqrt() * x + (1 - of_t).sqrt() * noise


class Denoiser(nn.Module):
    """Predict the noise in points after t steps: a small feed-forward network.

    Published networks predict the noise in pictures, so it takes no weights but those of its kind.

    Shapes: x (B, 2), t (B,) to (B, 2).
    Raises: ValueError if a size is below 1, or points and steps don't fit.
    """

    def __init__(self, T: int = 50, width: int = 64, time_width: int = 16):
        super().__init__()
        check_sizes(T=T, width=width, time_width=time_width)
        self.register_buffer("kept", signal_kept(T), persistent=False)
        self.register_buffer("times", sinusoidal(T + 1, time_width), persistent=False)
        self.layers = nn.Sequential(
            nn.Linear(2 + time_width, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, 2),
        )

    @property
    def T(self) -> int:
        """How many steps lead from data to noise."""
        return len(self.kept) - 1

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        check_points(x, t, self.T)
        if x.dtype != self.times.dtype:
            raise ValueError(f"Expected points of {self.times.dtype}, got {x.dtype}.")
        return self.layers(torch.cat([x, self.times[t]], dim=1))


def denoising_loss(model: Denoiser, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return the squared error of the predicted noise, at a step drawn for each point.

    (Ho et al., 2020, eq. 14 and algorithm 1.)
    Shapes: x (B, 2) to one number, the mean.
    """
    t = torch.randint(1, model.T + 1, (len(x),), generator=generator)
    noise = torch.randn(x.shape, generator=generator)
    return (model(noised(x, t, noise, model.kept), t) - noise).square().mean()


@torch.no_grad()
def denoise(model: Denoiser, x: Tensor, generator: torch.Generator | None = None) -> list[Tensor]:
    """Turn noise into data, step by step (Ho et al., 2020, algorithm 2, σ² = β).

    Shapes: x (n, 2), drawn from a normal distribution, to T + 1 of (n, 2), the noise first.
    """
    way = [x]
    for t in range(model.T, 0, -1):
        step = model.kept[t] / model.kept[t - 1]  # α_t, the share of this step
        noise = model(x, torch.full((len(x),), t))
        x = (x - (1 - step) / (1 - model.kept[t]).sqrt() * noise) / step.sqrt()
        if t > 1:
            x = x + (1 - step).sqrt() * torch.randn(x.shape, generator=generator)
        way.append(x)
    return way


def check_points(x: Tensor, t: Tensor, T: int) -> None:
    """Raise a ValueError if these are no points, or there isn't a step from 0 to T for each."""
    if x.dim() != 2 or x.shape[1] != 2 or not len(x) or not x.is_floating_point():
        raise ValueError(f"Expected points (B, 2) in floating point, got {described(x)}.")
    if t.shape != x.shape[:1] or t.dtype != torch.int64:
        raise ValueError(f"Expected an int64 step for each of {len(x)} points, got {described(t)}.")
    first, last = (int(end) for end in t.aminmax())
    if first < 0 or last > T:
        raise ValueError(f"Steps run from 0 to {T}, got {first if first < 0 else last}.")
