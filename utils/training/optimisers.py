"""An optimiser of two: one for matrices that turn vectors into vectors, one for all else."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn


class MuonAndAdamW(torch.optim.Optimizer):
    """Muon for the hidden matrices, AdamW for all else, as one optimiser (Jordan et al., 2024).

    Muon makes of a matrix's momentum the nearest matrix that stretches nothing: all its singular
    values become about 1, so that each direction is learned at the same pace. That means nothing
    for a table of which each step sees a few rows, or for a gain, so embeddings, the output and
    vectors stay with AdamW. Their groups are `param_groups`, Muon's first: a schedule scales both.
    Muon's rate is for a square matrix; of one with more rows than columns it is √(rows / columns)
    times as much.

    matrices: what Muon trains; others: what AdamW trains, parameters or groups of them.
    matrix_decay: Muon's weight decay: each step shrinks its matrices by matrix_rate · matrix_decay.
        AdamW's is in the groups of the others, 0.01 where they don't say it.
    Raises: ValueError if one of the matrices is none, or both are to train the same.
    """

    def __init__(
        self,
        matrices: Sequence[nn.Parameter],
        others: Sequence[dict],
        *,
        matrix_rate: float,
        matrix_decay: float,
        rate: float,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.99),
    ):
        flat = [tuple(weight.shape) for weight in matrices if weight.dim() != 2]
        if flat:
            raise ValueError(f"Muon trains matrices alone, got a parameter of shape {flat[0]}.")
        self.parts = (
            torch.optim.Muon(
                matrices, lr=matrix_rate, weight_decay=matrix_decay, momentum=momentum
            ),
            torch.optim.AdamW(others, lr=rate, betas=betas, fused=True),
        )
        groups = [group for part in self.parts for group in part.param_groups]
        super().__init__(groups, {})
        self.defaults = {type(part).__name__: part.defaults for part in self.parts}

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Take a step with each. A closure makes the gradients first; its loss is returned."""
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for part in self.parts:
            part.step()
        return loss

    def state_dict(self) -> dict:
        return {type(part).__name__: part.state_dict() for part in self.parts}

    def load_state_dict(self, state_dict: dict) -> None:
        for part in self.parts:
            part.load_state_dict(state_dict[type(part).__name__])
        self.param_groups = [group for part in self.parts for group in part.param_groups]


def hidden_matrices(blocks: nn.Module) -> list[nn.Parameter]:
    """The matrices of a stack of blocks, which hold neither embedding nor output."""
    return [weight for weight in blocks.parameters() if weight.dim() == 2]


def decayed(weights: Iterable[Tensor], decay: float) -> list[dict]:
    """Two groups of parameters: tables and matrices, which decay, and vectors, which don't."""
    weights = list(weights)
    return [
        {"params": [w for w in weights if w.dim() > 1], "weight_decay": decay},
        {"params": [w for w in weights if w.dim() < 2], "weight_decay": 0.0},
    ]
