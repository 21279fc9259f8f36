"""Addition modulo p as a task: half of all pairs to learn from, the other half to be found."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.tasks.copying import said_next
from utils.training.loop import fit
from utils.transformer import DecoderOnly, TransformerConfig

B, RATE, BETAS = 512, 1e-3, (0.9, 0.98)  # as Power et al. (2022, A.1.2) have them
Half = tuple[Tensor, Tensor]  # ids (n, 3), a, b and "=", and the sums modulo p, (n, 1)


def additions(p: int, seed: int) -> tuple[Half, Half]:
    """All p² sums, dealt at random into two halves."""
    a, b = torch.cartesian_prod(torch.arange(p), torch.arange(p)).T
    ids = torch.stack([a, b, torch.full_like(a, p)], dim=1)
    sums = ((a + b) % p)[:, None]
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    learned, other = order.tensor_split(2)
    return (ids[learned], sums[learned]), (ids[other], sums[other])


def adder(p: int, seed: int) -> DecoderOnly:
    """One block, 128 wide, that reads a, b and "=" and says the sum."""
    torch.manual_seed(seed)
    sizes = {"d_model": 128, "n_heads": 4, "d_ff": 512, "n_layers": 1, "dropout": 0.0}
    return DecoderOnly(
        TransformerConfig(p + 1, **sizes, tied=False, norm="pre", positions="learned", max_len=3)
    )


def train_adder(
    model: DecoderOnly, half: Half, steps: int, weight_decay: float, seed: int, every: int = 100
) -> Iterator[int]:
    """Train on one half with AdamW at a constant rate; stop after each so many steps."""
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=BETAS, weight_decay=weight_decay
    )
    ids, sums = half
    generator = torch.Generator().manual_seed(seed)
    for done in range(every, steps + 1, every):
        rows = [torch.randperm(len(ids), generator=generator)[:B] for _ in range(every)]
        batches = [(ids[chosen], sums[chosen]) for chosen in rows]
        fit(model, batches, last_said, optimiser, epochs=1)
        yield done


def last_said(outputs: tuple[Tensor, ...], target: Tensor) -> Tensor:
    """Mean surprise of what is said behind "=". Shapes: logits (B, 3, V); target (B, 1)."""
    return said_next((outputs[0][:, -1:],), target)


@torch.no_grad()
def share_right(model: DecoderOnly, half: Half) -> float:
    """How many sums are right."""
    ids, sums = half
    said = model(ids)[0][:, -1:].argmax(dim=-1)
    return (said == sums).double().mean().item()
