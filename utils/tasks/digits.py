"""Reading digits: the networks that are compared on moved pictures, and how they are trained."""

import torch
from torch import nn
from torch.nn import functional as F

from utils.arguments import check_choice
from utils.convolution import ResidualBlock, conv_relu
from utils.data.augmentation import jitter
from utils.data.pictures import Split
from utils.training.loop import Batches, History, evaluate, fit
from utils.training.metrics import accuracy

WHOLE = {"mean of each map": nn.AdaptiveAvgPool2d, "largest of each map": nn.AdaptiveMaxPool2d}
NETWORKS = "dense", "no pooling", "max pooling", *WHOLE


def network(kind: str, C: int = 24) -> nn.Sequential:
    """Return one of `NETWORKS` of the library's layers, untrained.

    The four convolutional ones differ in what stands between maps and scores. The dense one has
    about as many parameters as that with max pooling.

    Shapes: x (B, 1, 8, 8) to logits (B, 10).
    Raises: ValueError if there is no such network.
    """
    check_choice("kind", kind, NETWORKS)
    if kind == "dense":
        hidden = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 144), nn.ReLU()]
        return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(144, 10))
    shrink = [] if kind == "no pooling" else [nn.MaxPool2d(2)]
    whole = [WHOLE[kind](1)] if kind in WHOLE else []
    n = 2 * C * {"no pooling": 64, "max pooling": 16}.get(kind, 1)
    model = nn.Sequential(
        *[conv_relu(1, C, 3), ResidualBlock(C, normalise=False), *shrink],
        *[conv_relu(C, 2 * C, 3), *whole, nn.Flatten(), nn.Linear(n, 10)],
    )
    return started(model)


def started(model: nn.Module, size: float = 1.0) -> nn.Module:
    """Draw a model's kernels anew, `size` times as large as He's; their biases are 0."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
            layer.weight.data *= size
    return model


def gradient_by_depth(part: Split, depth: int, size: float, roads: bool, C: int = 16) -> float:
    """Norm of the gradient at the first of `depth` untrained convolutions, on 64 digits.

    size: of the weights, relative to He's. roads: whether every two layers have a road around them.
    Returns: the geometric mean of four draws.
    """
    images, labels = part.images[:64], part.labels[:64]
    logs = torch.zeros(4)
    for seed in range(4):
        torch.manual_seed(seed)
        if roads:
            stack = [ResidualBlock(C, normalise=False) for _ in range((depth - 1) // 2)]
        else:
            stack = [conv_relu(C, C, 3) for _ in range(depth - 1)]
        head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(C, 10)]
        model = started(nn.Sequential(conv_relu(1, C, 3), *stack, *head), size)
        F.cross_entropy(model(images), labels).backward()
        logs[seed] = model[0][0].weight.grad.norm().log()
    return logs.mean().exp().item()


def train_reader(
    model: nn.Module,
    part: Split,
    *,
    jittered: bool,
    validation: Split | None = None,
    epochs: int = 40,
    learning_rate: float = 1e-2,
    seed: int = 0,
) -> History:
    """Train a model to read digits, as they are or each a little different in each epoch.

    Adam (Kingma and Ba, 2015) with a learning rate that rises and falls (Smith and Topin, 2018).
    """
    batches = Batches(*part, batch_size=64, shuffle=True, transform=jitter if jittered else None)
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    steps = epochs * len(batches)
    return fit(
        model,
        batches,
        nn.CrossEntropyLoss(),
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=torch.optim.lr_scheduler.OneCycleLR(optimiser, learning_rate, total_steps=steps),
        metrics={"accuracy": accuracy},
        validation=validation and Batches(*validation, batch_size=256),
    )


def reads(model: nn.Module, part: Split, by: int = 0) -> float:
    """Share of digits that the model reads right, each moved `by` pixels to the right."""
    moved = F.pad(part.images, (by, -by)), part.labels
    return evaluate(model, [moved], F.cross_entropy, {"accuracy": accuracy})["accuracy"]
