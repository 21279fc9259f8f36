"""Day 13's first task: pictures of scenes in codes, and what is left of them.

Shapes: pictures (B, 3, 24, 24), their codes (B, 36).
"""

import math
from collections.abc import Iterator, Sequence
from io import BytesIO
from random import Random
from typing import NamedTuple

import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_choice
from utils.data.scenes import SIDE, Scene, drawn, shows
from utils.drawing import (
    Codebook,
    GumbelCodebook,
    Reconstruction,
    VQAutoencoder,
    perplexity_of_codes,
)
from utils.tasks.patches import optimiser_for
from utils.tasks.two_bytes import Weights, restored
from utils.training.loop import History, fit

K, D = 256, 16  # vectors of the codebook, and their width
PLACES = (SIDE // 4) ** 2  # codes of a picture
CODEBOOKS = "learned", "averaged alone", "restarted", "averaged", "Gumbel"
RESTARTED = "restarted", "averaged"
EVERY = 20  # steps between restarts
COLDEST = 1 / 16  # Gumbel-softmax's last temperature
STEPS, RATE, POOL = 3000, 5e-3, 20_000  # of the page's autoencoder, and the scenes it learns from
GRID = 4  # pixels: things begin where a code's do, so that a digit fills four of them


def autoencoder(
    kind: str = "restarted", seed: int = 0, n_codes: int = K, width: int = 32
) -> VQAutoencoder:
    """Return an autoencoder with one of `CODEBOOKS`, untrained.

    "restarted" codes are learned by the loss and begin anew where nothing chooses them, "averaged"
    ones are moving averages that do so; "learned" ones and those "averaged alone" are left alone.
    Raises: ValueError if there is no such kind.
    """
    check_choice("kind", kind, CODEBOOKS)
    torch.manual_seed(seed)
    if kind == "Gumbel":
        return VQAutoencoder(3, GumbelCodebook(n_codes, D, kl_weight=1e-4), width)
    decay = 0.99 if kind.startswith("averaged") else None
    return VQAutoencoder(3, Codebook(n_codes, D, decay=decay), width)


class Pictures:
    """Batches (pictures, pictures) for `fit`, all drawn anew; before one, codes may begin anew.

    model: in which unused codes are restarted every so many steps during the first three quarters,
        or whose temperature falls along a cosine (Ramesh et al., 2021, appendix A.2).
    """

    def __init__(self, model: VQAutoencoder, kind: str, steps: int, batch_size: int, pool: list):
        if not pool:
            raise ValueError("There is no scene to learn from.")
        self.book, self.annotate = model.codebook, model.annotate
        self.kind, self.steps, self.batch_size, self.pool = kind, steps, batch_size, pool

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        chance = Random(int(torch.randint(2**31, ())))  # `fit` seeds torch's generator
        for step in range(self.steps):
            pictures = drawn(chance.choices(self.pool, k=self.batch_size), chance, grid=GRID)
            if self.kind == "Gumbel":
                falling = (1 + math.cos(math.pi * step / self.steps)) / 2
                self.book.tau = COLDEST + (1 - COLDEST) * falling
            elif self.kind in RESTARTED and step % EVERY == 0 and step < 0.75 * self.steps:
                with torch.no_grad():
                    self.book.restart_unused(self.annotate(pictures))
            yield pictures, pictures


def picture_error(pictures: Tensor, target: Tensor) -> Tensor:
    """Return the squared error of each picture's colours, summed up over them: the mean of pixels.

    Shapes: (B, 3, H, W) each to one number.
    """
    return 3 * F.mse_loss(pictures, target)


def autoencoder_loss(found: Reconstruction, target: Tensor) -> Tensor:
    """Return the cross-entropy of colours, 0..1, and the codebook's loss.

    Most of a picture is black. With squares in place of logarithms, a model that draws nothing but
    black hardly learns any more.
    """
    return 3 * F.binary_cross_entropy(found.images, target) + found.loss


def train_autoencoder(
    model: VQAutoencoder,
    kind: str = "restarted",
    *,
    steps: int,
    batch_size: int = 64,
    rate: float = RATE,
    pool: Sequence[Scene],
    seed: int = 0,
) -> History:
    """Train an autoencoder, and leave it in evaluation mode. pool: scenes to draw pictures of."""
    batches = Pictures(model, kind, steps, batch_size, list(pool))
    optimiser, schedule = optimiser_for(model, [], rate, steps, decay=0.0)
    history = fit(
        model, batches, autoencoder_loss, optimiser, epochs=1, seed=seed, schedule=schedule
    )
    model.eval()
    return history


class Kept(NamedTuple):
    """What is left of scenes that were written in codes and drawn from them."""

    read: float  # share of pictures in which the parser still reads their scene
    before: float  # the same of the pictures themselves: the parser errs, too
    error: float  # `picture_error`
    in_use: float  # perplexity of the codes


@torch.no_grad()
def kept(model: VQAutoencoder, shown: Sequence[Scene], part: str = "test", seed: int = 0) -> Kept:
    """Write new pictures of scenes in codes, and read what is drawn from these."""
    pictures = drawn(shown, seed, part, grid=GRID)
    codes = model.encode(pictures)
    found = model.decode(codes)
    in_use = perplexity_of_codes(codes, model.codebook.K)
    read, before = share_shown(found, shown), share_shown(pictures, shown)
    return Kept(read, before, picture_error(found, pictures).item(), in_use)


def share_shown(pictures: Tensor, said: Sequence[Scene]) -> float:
    """Return the share of pictures in which the parser reads their scene."""
    right = [shows(picture, scene) for picture, scene in zip(pictures, said, strict=True)]
    return sum(right) / len(right)


def png_bits(pictures: Tensor) -> float:
    """Return how many bits a picture has as a PNG file, the mean. Shapes: (n, 3, H, W), in 0..1."""
    bits = []
    for picture in pictures:
        file = BytesIO()
        pixels = (255 * picture).round().byte().permute(1, 2, 0).numpy()
        Image.fromarray(pixels).save(file, format="PNG", optimize=True)
        bits.append(8 * file.tell())
    return sum(bits) / len(bits)


@torch.no_grad()
def in_codes(
    model: VQAutoencoder, pool: Sequence[Scene], seed: int = 0, part: str = "train"
) -> Tensor:
    """Return the codes of a new picture of each scene, (n, 36)."""
    chance, codes = Random(seed), []
    for start in range(0, len(pool), 500):
        pictures = drawn(pool[start : start + 500], chance, part, grid=GRID)
        codes.append(model.encode(pictures))
    return torch.cat(codes)


def restored_autoencoder(weights: Weights) -> VQAutoencoder:
    """Return the page's autoencoder with stored weights, in evaluation mode.

    weights: as `experiments/picture_codes.py` stored them.
    Raises: ValueError if these are not the weights of such a model.
    """
    return restored(autoencoder(), weights)
