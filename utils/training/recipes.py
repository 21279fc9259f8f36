"""How the book trains the models of a lesson that are compared with each other."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from utils.data.augmentation import jitter
from utils.data.pictures import Split
from utils.data.sequences import delayed_recall, sorting
from utils.data.text import BucketedBatches, chunks
from utils.training.loop import Batches, History, evaluate, fit
from utils.training.metrics import accuracy


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
    optimiser = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    steps = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, learning_rate, total_steps=steps)
    return fit(
        model,
        batches,
        nn.CrossEntropyLoss(label_smoothing=0.1),
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        metrics={"accuracy": accuracy},
        validation=validation and Batches(*validation, batch_size=256),
    )


def train_recall(
    model: nn.Module,
    length: int,
    *,
    mixed_lengths: bool = False,
    learning_rate: float = 3e-3,
    seed: int = 0,
    rounds: int = 20,
) -> tuple[int, float]:
    """Train a model on ids (B, T) to say at the end of a sequence which symbol was its first.

    Adam (Kingma and Ba, 2015), gradients clipped to a norm of 1; validated after each round of 50
    batches, and stopped once 99.5 % are right.

    mixed_lengths: each batch has a length of its own, between 2 and `length`, the short ones being
        as frequent as the long ones (uniform in the logarithm); otherwise all have `length`.
    Returns: the steps that were taken, and the accuracy on new sequences of `length`.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    clip_gradients(optimiser, 1.0)
    generator = torch.Generator().manual_seed(seed)
    validation = [recall_ids(500, length, seed + 1_000_000)]
    for done in range(1, rounds + 1):  # noqa: B007, it says when the loop was left
        lengths = torch.full((50,), length)
        if mixed_lengths:
            lengths = (2 * (length / 2) ** torch.rand(50, generator=generator)).round().int()
        seeds = torch.randint(1_000_000, (50,), generator=generator)
        batches = [
            recall_ids(64, *drawn) for drawn in zip(lengths.tolist(), seeds.tolist(), strict=True)
        ]
        fit(model, batches, nn.CrossEntropyLoss(), optimiser, epochs=1, seed=seed)
        reached = evaluate(model, validation, nn.CrossEntropyLoss(), {"accuracy": accuracy})
        if reached["accuracy"] >= 0.995:
            break
    test = [recall_ids(1000, length, seed + 2_000_000)]
    means = evaluate(model, test, nn.CrossEntropyLoss(), {"accuracy": accuracy})
    return 50 * done, means["accuracy"]


def train_characters(
    model: nn.Module,
    train: Tensor,
    validation: Tensor,
    *,
    epochs: int = 6,
    batch_size: int = 32,
    length: int = 64,
    learning_rate: float = 4e-3,
    seed: int = 0,
) -> History:
    """Train a model on a text's ids (n,), chunk by chunk, to say the next one of each.

    model: of (ids (B, T), begins) to logits (B, V, T), such as `Streaming`.
    Trained with `rise_and_fall`.
    """
    batches = stream(train, batch_size, length)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(
        model,
        batches,
        nn.CrossEntropyLoss(),
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        validation=stream(validation, 16, len(validation)),
    )


def train_translator(
    model: nn.Module,
    loss: Callable,
    sources: list[list[int]],
    targets: list[list[int]],
    *,
    epochs: int,
    batch_size: int = 64,
    learning_rate: float = 4e-3,
    seed: int = 0,
) -> History:
    """Train an encoder and decoder on pairs of ids, which are to follow the truth so far.

    Trained with `rise_and_fall`.
    """
    batches = BucketedBatches(sources, targets, batch_size, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(model, batches, loss, optimiser, epochs=epochs, seed=seed, schedule=schedule)


def train_tagger(
    model: nn.Module, ids: Tensor, target: Tensor, *, learning_rate: float = 5e-3, seed: int = 0
) -> History:
    """Train a model to name classes (B, T), once through all ids, in batches of 16.

    model: of ids (B, T, …) to logits (B, T, n_classes). Nothing is learned where the target is
        IGNORE_INDEX.
    Trained with `rise_and_fall`.
    """
    batches = Batches(ids, target, batch_size=16)
    return train_once(model, tag_loss, batches, learning_rate=learning_rate, seed=seed)


def tag_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Mean cross-entropy where something is asked. Shapes: logits (B, T, C), target (B, T)."""
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


def train_sorter(
    model: nn.Module,
    rate: float,
    *,
    warm_up: bool,
    beta_2: float = 0.98,
    epsilon: float = 1e-9,
    length: int = 16,
    n_symbols: int = 10,
    steps: int = 150,
    seed: int = 0,
) -> dict[str, float | list[float]]:
    """Train a model to sort symbols, at a rate that falls as 1/√step after a third of the steps.

    Adam as the Transformer's paper has it (Vaswani et al., 2017, §5.3), gradients not clipped, 32
    new sequences at each step.

    model: of ids (B, T) to logits (B, T, n_symbols).
    warm_up: let the learning rate rise to `rate` in a line; otherwise it begins with it.
    Returns: cross-entropy in nats and accuracy on 500 new sequences, and the mean training loss of
        each ten steps.
    """
    peak = steps // 3

    def factor(done: int) -> float:
        rising = (done + 1) / peak if warm_up else 1.0
        return min(rising, (peak / (done + 1)) ** 0.5)

    optimiser = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, beta_2), eps=epsilon)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
    ids, ordered = sorting(32 * steps, length, seed, n_symbols)
    batches = Batches(ids, ordered, batch_size=32)
    history = fit(model, batches, tag_loss, optimiser, epochs=1, seed=seed, schedule=schedule)
    test = [sorting(500, length, seed + 1_000_000, n_symbols)]
    means = evaluate(model, test, tag_loss, {"accuracy": accuracy})
    return means | {"losses": torch.tensor(history.step_loss).view(-1, 10).mean(dim=1).tolist()}


def train_once(
    model: nn.Module,
    loss: Callable,
    batches: Batches | list,
    *,
    learning_rate: float,
    seed: int = 0,
) -> History:
    """Train a model on batches that it sees once each, with `rise_and_fall`."""
    optimiser, schedule = rise_and_fall(model, learning_rate, len(batches))
    return fit(model, batches, loss, optimiser, epochs=1, seed=seed, schedule=schedule)


def rise_and_fall(
    model: nn.Module, learning_rate: float, steps: int
) -> tuple[torch.optim.Adam, torch.optim.lr_scheduler.OneCycleLR]:
    """Adam whose learning rate rises to `learning_rate` and falls again within `steps`.

    Gradients are clipped to a norm of 1.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    clip_gradients(optimiser, 1.0)
    return optimiser, torch.optim.lr_scheduler.OneCycleLR(
        optimiser, learning_rate, total_steps=steps
    )


def stream(ids: Tensor, batch_size: int, length: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """`chunks` with a sign between ids and targets: True where the streams begin."""
    pieces = chunks(ids, batch_size, length)
    return [(ids, torch.tensor(k == 0), target) for k, (ids, target) in enumerate(pieces)]


def clip_gradients(optimiser: torch.optim.Optimizer, max_norm: float) -> None:
    """Before each step, shorten the gradient of all parameters together to at most `max_norm`."""

    def clip(optimiser, *_) -> None:
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(parameters, max_norm)

    optimiser.register_step_pre_hook(clip)


def recall_ids(n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """`delayed_recall` as ids (n, length), for a model that embeds its symbols."""
    sequences, first = delayed_recall(n, length, seed)
    return sequences.argmax(1), first
