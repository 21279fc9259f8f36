"""Reading digits: how networks are trained, and which are compared on moved pictures."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_choice
from utils.convolution import ResidualBlock, conv_relu
from utils.data.augmentation import jitter
from utils.data.batches import Batches
from utils.data.pictures import Split
from utils.training.loop import History, evaluate, fit
from utils.training.metrics import accuracy

WHOLE = {"mean of each map": nn.AdaptiveAvgPool2d, "largest of each map": nn.AdaptiveMaxPool2d}
NETWORKS = "dense", "no pooling", "max pooling", *WHOLE


def network(kind: str) -> nn.Sequential:
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
    C = 24
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


def gradients(part: Split, depths: Sequence[int], C: int = 16) -> dict[str, list[float]]:
    """Norm of the gradient at the first of some untrained convolutions, on 64 digits, by depth.

    Small weights are half of He's; a road leads around every two layers. Returns: geometric means
    of four draws.
    """
    ways = {"small weights": (0.5, False), "He's weights": (1.0, False)}
    ways["small, with roads"] = (0.5, True)
    return {name: [_gradient(part, n, *how, C) for n in depths] for name, how in ways.items()}


def _gradient(part: Split, depth: int, size: float, roads: bool, C: int) -> float:
    logs = torch.zeros(4)
    for seed in range(4):
        torch.manual_seed(seed)
        if roads:
            stack = [ResidualBlock(C, normalise=False) for _ in range((depth - 1) // 2)]
        else:
            stack = [conv_relu(C, C, 3) for _ in range(depth - 1)]
        head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(C, 10)]
        model = started(nn.Sequential(conv_relu(1, C, 3), *stack, *head), size)
        F.cross_entropy(model(part.images[:64]), part.labels[:64]).backward()
        logs[seed] = model[0][0].weight.grad.norm().log()
    return logs.mean().exp().item()


def train_digits(
    model: nn.Module,
    train: Split,
    *,
    validation: Split | None = None,
    epochs: int = 20,
    learning_rate: float = 1e-2,
    seed: int = 0,
) -> History:
    """Train a model to read digits, from pictures that differ a little in each epoch.

    AdamW (Loshchilov and Hutter, 2019) with a learning rate that rises and falls (Smith and Topin,
    2018), and a tenth of each label spread over all classes (Szegedy et al., 2016).
    """
    batches = Batches(*train, batch_size=128, shuffle=True, transform=jitter)
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    return _fit(model, batches, loss, optimiser, validation, epochs, seed)


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
    return _fit(model, batches, nn.CrossEntropyLoss(), optimiser, validation, epochs, seed)


def _fit(
    model: nn.Module,
    batches: Batches,
    loss: nn.Module,
    optimiser: torch.optim.Optimizer,
    validation: Split | None,
    epochs: int,
    seed: int,
) -> History:
    """Let the optimiser's learning rate rise and fall, and count what is read right."""
    rate, steps = optimiser.defaults["lr"], epochs * len(batches)
    return fit(
        model,
        batches,
        loss,
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps),
        metrics={"accuracy": accuracy},
        validation=validation and Batches(*validation, batch_size=256),
    )


def reads(model: nn.Module, part: Split, by: int = 0) -> float:
    """Share of digits that the model reads right, each moved `by` pixels to the right."""
    moved = F.pad(part.images, (by, -by)), part.labels
    return evaluate(model, [moved], F.cross_entropy, {"accuracy": accuracy})["accuracy"]


def mismatch(picture: Tensor, kernel: Tensor, stride: int, by: int = 1) -> float:
    """Largest difference of "move, then convolve" and "convolve, then move", away from borders.

    Shapes: picture (H, W), kernel (K, K). by: pixels to the right.
    """
    picture = picture[None, None]
    after = F.conv2d(picture.roll(by, 3), kernel[None, None], stride=stride)
    before = F.conv2d(picture, kernel[None, None], stride=stride).roll(by // stride, 3)
    return (after - before)[:, :, 6:-6, 6:-6].abs().max().item()


def at_best_rate(result, network: str, jittered: bool, by: int) -> list[float]:
    """Share of test digits, moved by some pixels, that each seed of a network reads.

    result: of the experiment "moved_digits". The learning rate is the one of all tried that was
        best on validation digits in place.
    """
    where = {"network": network, "jittered": jittered}
    rates = result.parameters["learning_rate"]
    mean = {r: result.spread("validation, moved by 0", learning_rate=r, **where)[0] for r in rates}
    return result.column(f"test, moved by {by}", learning_rate=max(rates, key=mean.get), **where)
