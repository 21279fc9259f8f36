"""What the recipes share by which the book trains its models."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from utils.data.batches import Batches
from utils.training.loop import History, fit


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


def clip_gradients(optimiser: torch.optim.Optimizer, max_norm: float) -> None:
    """Before each step, shorten the gradient of all parameters together to at most `max_norm`."""

    def clip(optimiser, *_) -> None:
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(parameters, max_norm)

    optimiser.register_step_pre_hook(clip)


def tag_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Mean cross-entropy where something is asked. Shapes: logits (B, T, C), target (B, T)."""
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
