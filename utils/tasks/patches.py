"""Day 12's first task: digits as sentences of patches, read by a Vision Transformer.

Day 1's network stands beside it. Shapes: images (B, 1, 8, 8), logits (B, 10); a patch is 2 by 2
pixels, so that a picture has 16 of them, row by row.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_choice, check_sizes
from utils.convolution import ResidualBlock, conv_relu
from utils.data.augmentation import jitter
from utils.data.batches import Batches
from utils.data.pictures import Dataset, Split
from utils.tasks import digits as day_1
from utils.training.loop import History, fit
from utils.training.metrics import accuracy
from utils.training.optimisers import MuonAndAdamW, decayed, hidden_matrices
from utils.training.recipes import clip_gradients
from utils.transformer import TransformerConfig
from utils.vision import VisionTransformer, patches, unpatch

SIDE, P = 8, 2  # pixels of a picture and of a patch, each way
PER_SIDE = SIDE // P
NETWORKS = "ViT", "CNN"
RATES = {"ViT": (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2), "CNN": (1e-3, 3e-3, 1e-2, 3e-2)}
SEEDS = (0, 1, 2)
ORDERS = "as it is", "patches", "pixels"  # what is shuffled, once for all pictures


# Networks -----------------------------------------------------------------------------------------


def encoder_config(d_model: int, n_layers: int, n_heads: int = 4) -> TransformerConfig:
    """Day 6's encoder as vision takes it: pre-norm, GELU, no dropout."""
    return TransformerConfig(
        1,  # no table of words
        d_model=d_model,
        n_heads=n_heads,
        d_ff=2 * d_model,
        n_layers=n_layers,
        activation="gelu",
        norm="pre",
        positions="learned",
        dropout=0.0,
    )


def network(kind: str, seed: int = 0, pool: str = "class") -> nn.Module:
    """Return one of `NETWORKS`, untrained: two blocks of width 48, or Day 1's with max pooling.

    Raises: ValueError if there is no such network.
    """
    check_choice("kind", kind, NETWORKS)
    torch.manual_seed(seed)
    if kind == "CNN":
        return day_1.network("max pooling")
    return VisionTransformer(
        encoder_config(48, 2),
        channels=1,
        image_size=SIDE,
        patch_size=P,
        n_classes=10,
        pool=pool,
    )


def network_for(
    held: Dataset, kind: str = "ViT", *, patch_size: int | None = None, seed: int = 0
) -> nn.Module:
    """Return a network as `network` does, untrained, whose sizes are those that the data need.

    patch_size: also of the windows in which the CNN pools; without it, a quarter of a picture's
        side, as for the digits.
    Raises: ValueError if there is no such network, or its patches don't divide a picture.
    """
    check_choice("kind", kind, NETWORKS)
    torch.manual_seed(seed)
    _, channels, side, _ = held.train.images.shape
    P, n_classes = patch_size or side // PER_SIDE, len(held.class_names)
    if kind == "ViT":
        sizes = {"channels": channels, "image_size": side, "patch_size": P, "n_classes": n_classes}
        return VisionTransformer(encoder_config(48, 2), **sizes)
    C = 24
    model = nn.Sequential(
        *[conv_relu(channels, C, 3), ResidualBlock(C, normalise=False), nn.MaxPool2d(P)],
        *[conv_relu(C, 2 * C, 3), nn.Flatten(), nn.Linear(2 * C * (side // P) ** 2, n_classes)],
    )
    return day_1.started(model)


# Pictures -----------------------------------------------------------------------------------------


def some_of(part: Split, n: int, seed: int = 0) -> Split:
    """Return n pictures of a part, drawn anew for each seed.

    Raises: ValueError if the part has fewer.
    """
    check_sizes(n=n)
    if n > len(part.labels):
        raise ValueError(f"The part has {len(part.labels)} pictures: no {n} can be drawn from it.")
    rows = torch.randperm(len(part.labels), generator=torch.Generator().manual_seed(seed))[:n]
    return Split(part.images[rows], part.labels[rows])


def shuffled(images: Tensor, what: str, seed: int = 0) -> Tensor:
    """Put the patches or the pixels of all pictures into one other order, drawn from the seed.

    what: one of `ORDERS`; "as it is" changes nothing.
    Raises: ValueError if there is no such order.
    """
    check_choice("what", what, ORDERS)
    if what == "as it is":
        return images
    size = P if what == "patches" else 1
    rows = patches(images, size)
    order = torch.randperm(rows.shape[1], generator=torch.Generator().manual_seed(seed))
    return unpatch(rows[:, order], *images.shape[1:])


# Training -----------------------------------------------------------------------------------------


def optimiser_for(
    model: nn.Module, blocks: list[nn.Module], rate: float, steps: int, decay: float = 0.1
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """Muon for the matrices of stacks of blocks and AdamW, with a fifth of its rate, for the rest.

    Without blocks AdamW has the whole rate. Rates rise for a twentieth of the steps and fall to 0
    along a cosine; gradients are clipped to a norm of 1.
    """
    matrices = [weight for stack in blocks for weight in hidden_matrices(stack)]
    chosen = {id(weight) for weight in matrices}
    others = decayed((w for w in model.parameters() if id(w) not in chosen), decay)
    if matrices:
        optimiser = MuonAndAdamW(
            matrices, others, matrix_rate=rate, matrix_decay=decay, rate=rate / 5
        )
    else:
        optimiser = torch.optim.AdamW(others, lr=rate)
    clip_gradients(optimiser, 1.0)
    warmup = steps / 20

    def factor(done: int) -> float:
        falling = max(0.0, (done - warmup) / (steps - warmup))
        return min(1.0, (done + 1) / warmup) * (1 + math.cos(math.pi * falling)) / 2

    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def train(
    model: nn.Module,
    part: Split,
    *,
    steps: int = 400,
    rate: float = 2e-2,
    shuffle: str = "as it is",
    jittered: bool = True,
    seed: int = 0,
    validation: Split | None = None,
) -> History:
    """Train a network of `NETWORKS`; jittered pictures differ a little each time they are seen.

    Batches are of 64 pictures, or of all if there are fewer; epochs make up at least the steps.
    shuffle: one of `ORDERS`, applied to what was jittered; the seed decides the order, too.
    """
    batches = Batches(
        *part,
        batch_size=64,
        shuffle=True,
        transform=lambda images: shuffled(jitter(images) if jittered else images, shuffle, seed),
    )
    epochs = math.ceil(steps / len(batches))
    blocks = [model.encoder.blocks] if isinstance(model, VisionTransformer) else []
    optimiser, schedule = optimiser_for(model, blocks, rate, epochs * len(batches))
    return fit(
        model,
        batches,
        F.cross_entropy,
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        metrics={"accuracy": accuracy},
        validation=validation and Batches(*validation, batch_size=256),
    )


def reads(model: nn.Module, part: Split, shuffle: str = "as it is", seed: int = 0) -> float:
    """Share of a part that a model reads correctly, shuffled as it was trained."""
    return day_1.reads(model, Split(shuffled(part.images, shuffle, seed), part.labels))


class Tuned(NamedTuple):
    """A network at the rate that was chosen, with each of SEEDS."""

    rate: float
    by_rate: list[float]  # how well the first seed does with each, in the order of the trials
    models: list[nn.Module]


def tuned(
    trained: Callable[[float, int], nn.Module],
    judged: Callable[[nn.Module], float],
    rates: Sequence[float],
    seeds: Sequence[int] = SEEDS,
    widen: bool = False,
) -> Tuned:
    """Choose the rate at which the first seed does best, and train with it from each seed.

    trained: given a rate and a seed; judged: the more, the better.
    widen: go on from two rates or more while the lowest or the highest is best, by the same factor,
        so that the best has a neighbour on both sides.
    """
    first, *others = seeds
    tried, right, waiting = {}, {}, [*rates]
    while waiting:
        rate = waiting.pop(0)
        tried[rate] = trained(rate, first)
        right[rate] = judged(tried[rate])
        if widen and not waiting:
            waiting = beyond(sorted(right), max(right, key=right.get))
    best = max(right, key=right.get)  # of equal ones, that which was tried first
    models = [tried[best], *(trained(best, seed) for seed in others)]
    return Tuned(best, [*right.values()], models)


def beyond(rates: Sequence[float], best: float) -> list[float]:
    """Return the rate that comes next if the best is the lowest or the highest, else none."""
    if best == rates[0]:
        return [best**2 / rates[1]]
    return [best**2 / rates[-2]] if best == rates[-1] else []


def best_readers(
    kind: str, held: Dataset, n: int, patch_size: int | None = None, **how: object
) -> Tuned:
    """Train one of `NETWORKS` on n pictures, others for each seed, at the best rate.

    That is one of its RATES, or beyond them if the lowest or the highest is best.
    patch_size: as of `network_for`.
    how: the steps, and what else `train` takes.
    """

    def trained(rate: float, seed: int) -> nn.Module:
        model = network_for(held, kind, patch_size=patch_size, seed=seed)
        train(model, some_of(held.train, n, seed), rate=rate, seed=seed, **how)
        return model

    shuffle = how.get("shuffle", "as it is")

    def judged(model: nn.Module) -> float:
        return reads(model, held.validation, shuffle, SEEDS[0])

    return tuned(trained, judged, RATES[kind], widen=True)


def row_of(found: Tuned, held: Dataset) -> dict[str, object]:
    """What experiments keep of networks: rate, weights, and for each seed the share read."""
    return {
        "rate": found.rate,
        "by rate": found.by_rate,
        "parameters": sum(weight.numel() for weight in found.models[0].parameters()),
        "validation": [reads(model, held.validation) for model in found.models],
        "test": [reads(model, held.test) for model in found.models],
    }


# What it sees -------------------------------------------------------------------------------------


def distances(per_side: int) -> Tensor:
    """How far patches lie from each other, in patches: (N, N), N = per_side²."""
    y, x = torch.meshgrid(*[torch.arange(per_side).double()] * 2, indexing="ij")
    places = torch.stack([y.flatten(), x.flatten()], dim=1)
    return torch.cdist(places, places)


def likeness(positions: Tensor) -> Tensor:
    """Cosine of each position's vector with each other's. Shapes: (N, D) to (N, N)."""
    unit = F.normalize(positions, dim=1)
    return unit @ unit.T


@torch.no_grad()
def looks(model: VisionTransformer, images: Tensor) -> Tensor:
    """How far each head looks, in patches: the mean distance, weighted by attention.

    The class token is left out, as query and as key (Dosovitskiy et al., 2021, fig. 7).
    Shapes: images (B, C, H, W) to (L, h).
    """
    _, weights = model(images, need_weights=True)  # (B, L, h, T, T)
    N = distances(math.isqrt(weights.shape[-1]))
    among = weights[..., -len(N) :, -len(N) :]
    among = among / among.sum(dim=-1, keepdim=True)
    return (among * N.to(among)).sum(dim=-1).mean(dim=(0, -1))
