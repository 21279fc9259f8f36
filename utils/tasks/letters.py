"""Day 9's comparisons: language models of letters, and how they are trained and judged.

Shapes: ids (B, T) are letters, logits (B, T, V) are about the letter that follows each.
"""

import math
from functools import cache

import torch
from torch import Tensor, nn

from utils.data.corpora import tiny_shakespeare
from utils.data.docstrings import docstring_text
from utils.data.text import Vocabulary
from utils.training.metrics import surprises
from utils.training.optimisers import MuonAndAdamW, decayed, hidden_matrices
from utils.training.recipes import clip_gradients
from utils.transformer import DecoderOnly, Parts, TransformerConfig

TEXTS = {"plays": tiny_shakespeare, "docstrings": docstring_text}


@cache
def vocabulary(*texts: str) -> Vocabulary:
    """The letters and signs of some texts' training parts; the texts are of `TEXTS`."""
    return Vocabulary("".join(TEXTS[text]("train") for text in texts))


def ids(text: str, part: str, known: Vocabulary) -> Tensor:
    """A part of a text as ids (n,): "train", "validation" or "test"."""
    return torch.tensor(known.encode(TEXTS[text](part)))


def pieces(
    text: Tensor, steps: int, batch_size: int, length: int, seed: int
) -> list[tuple[Tensor, Tensor]]:
    """Batches (B, T) from random places of a text (n,), and what follows each symbol."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - length, (steps, batch_size, 1), generator=generator)
    rows = [text[at + torch.arange(length + 1)] for at in starts]
    return [(row[:, :-1], row[:, 1:]) for row in rows]


class NextLetter(DecoderOnly):
    """Ids (B, T) to logits (B, T, V) alone, in bfloat16 inside if that is asked for."""

    def __init__(self, config: TransformerConfig, parts: Parts, bfloat16: bool = False):
        super().__init__(config, parts)
        self.bfloat16 = bfloat16

    def forward(self, ids: Tensor) -> Tensor:
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.bfloat16):
            logits, _ = super().forward(ids)
        return logits.float()


def begin_small(model: DecoderOnly) -> None:
    """Draw tables and matrices as GPT-2's: small, and smaller where many are summed up.

    All have a deviation of 0.02, but what a sublayer adds to the stream 0.02 / √(2L) (Radford et
    al., 2019, §2.3).
    """
    adds = "W_o.weight", "W_2.weight", "W_down.weight"
    smaller = (2 * model.config.n_layers) ** -0.5
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            nn.init.normal_(weight, std=0.02 * (smaller if name.endswith(adds) else 1.0))


def optimiser_of(
    model: DecoderOnly,
    steps: int,
    rate: float,
    matrix_rate: float | None = None,
    momentum: float = 0.95,
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """AdamW and the schedule, as nanoGPT has them; with a matrix_rate, Muon for hidden matrices.

    Rates rise for a twentieth of the steps and fall to a tenth along a cosine; gradients are
    clipped to a norm of 1; matrices and tables decay by a tenth of the rate, vectors don't.
    """
    matrices = hidden_matrices(model.stack.blocks) if matrix_rate else []
    chosen = {id(weight) for weight in matrices}
    others = decayed((weight for weight in model.parameters() if id(weight) not in chosen), 0.1)
    if matrix_rate:
        optimiser = MuonAndAdamW(
            matrices,
            others,
            matrix_rate=matrix_rate,
            matrix_decay=0.1,
            rate=rate,
            momentum=momentum,
        )
    else:
        optimiser = torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.99), fused=True)
    clip_gradients(optimiser, 1.0)
    warmup = steps / 20

    def factor(done: int) -> float:
        falling = max(0.0, (done - warmup) / (steps - warmup))
        return min(1.0, (done + 1) / warmup) * (0.55 + 0.45 * math.cos(math.pi * falling))

    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def judged(model: nn.Module, held_out: Tensor, window: int) -> float:
    """Loss on all of a text (n,) but its first letter, in nats a letter, window by window."""
    return surprises(model, held_out, window).double().mean().item()
