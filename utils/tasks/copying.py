"""Copying from the context: segments that come again, who looks where, heads that are silenced."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR

from utils.data.batches import Batches
from utils.positions import Alibi
from utils.self_attention import BiasedAttention, MultiHeadAttention
from utils.training.loop import fit
from utils.training.recipes import clip_gradients, tag_loss
from utils.transformer import DecoderOnly, Parts, TransformerConfig

V, T = 64, 48  # symbols; how many a model reads
SHORTEST, LONGEST = 12, 24  # segments
B, RATE, WARM_UP = 32, 5e-3, 100
Heads = Iterable[tuple[int, int]]  # (block, head)

# The task -----------------------------------------------------------------------------------------


def repeated(n: int, length: int, vocab_size: int, period: int | Tensor, seed: int) -> Tensor:
    """Draw sequences (n, length) that repeat a random segment until they are full.

    period: symbols in the segment, one for all or one for each sequence, (n,).
    """
    generator = torch.Generator().manual_seed(seed)
    periods = torch.as_tensor(period).expand(n)
    segments = torch.randint(vocab_size, (n, int(periods.max())), generator=generator)
    return segments.gather(1, torch.arange(length) % periods[:, None])


def first_and_again(losses: Tensor, period: int) -> tuple[float, float]:
    """Mean losses where a segment is new, and where it comes again for the first time.

    Of both, the segment's first symbol is left out: nothing says that it begins.
    Shapes: losses (n, T) of the symbols 1 to T.
    """
    again = losses[:, period : 2 * period - 1]
    return losses[:, : period - 1].mean().item(), again.mean().item()


def copier(n_layers: int, n_heads: int, seed: int) -> DecoderOnly:
    """A small GPT whose heads see near symbols more easily than far ones (Press et al., 2022)."""
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": n_heads, "d_ff": 64, "n_layers": n_layers, "dropout": 0.0}
    config = TransformerConfig(V, **sizes, norm="pre", activation="gelu", positions=None)
    near = partial(MultiHeadAttention, attend=BiasedAttention(Alibi(n_heads)))
    return DecoderOnly(config, Parts(attention=near))


def train_copier(model: DecoderOnly, steps: int, seed: int, every: int = 100) -> Iterator[None]:
    """Train a model on sequences of segments that come again; stop after each so many steps.

    Adam, gradients clipped to a norm of 1, at a rate that rises within the first steps and stays.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    clip_gradients(optimiser, 1.0)
    schedule = LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / WARM_UP))
    generator = torch.Generator().manual_seed(seed)
    n = every * B
    for _ in range(steps // every):
        periods = torch.randint(SHORTEST, LONGEST + 1, (n,), generator=generator)
        drawn = int(torch.randint(1_000_000, (), generator=generator))
        ids = repeated(n, T + 1, V, periods, drawn)
        batches = Batches(ids[:, :-1], ids[:, 1:], batch_size=B)
        fit(model, batches, said_next, optimiser, epochs=1, schedule=schedule)
        yield


def said_next(outputs: tuple[Tensor, ...], target: Tensor) -> Tensor:
    """Mean surprise of what comes next, for `DecoderOnly`, which returns logits and a state."""
    return tag_loss(outputs[0], target)


# Its heads ----------------------------------------------------------------------------------------


def prefix_matching(weights: Tensor, ids: Tensor) -> Tensor:
    """Mean weight of each head on symbols that followed the present one before.

    Over all positions whose symbol was there before (Olsson et al., 2022, "prefix matching").
    Shapes: weights (B, L, h, T, T), ids (B, T), to scores (L, h).
    """
    earlier = (ids[:, :, None] == ids[:, None]).tril(-1)
    followed = F.pad(earlier, (1, 0))[:, :, :-1]  # (B, T, T)
    found = (weights * followed[:, None, None]).sum(dim=-1)  # (B, L, h, T)
    return found.permute(0, 3, 1, 2)[followed.any(dim=2)].mean(dim=0)


def looks_back(weights: Tensor) -> Tensor:
    """Mean weight of each head on the symbol before. Shapes: (B, L, h, T, T) to (L, h)."""
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, -1))


@contextmanager
def silenced(model: DecoderOnly, heads: Heads) -> Iterator[None]:
    """Let some heads say the same in all sequences of a batch meanwhile: the mean, by position.

    This is ablation by the mean: what depends on the text is gone, what is always said stays.
    """
    heads = list(heads)

    def hook(block: int) -> Callable:
        def replace(_, inputs: tuple[Tensor]) -> tuple[Tensor]:
            contexts = inputs[0].unflatten(-1, (model.config.n_heads, -1)).clone()  # (B, T, h, d_v)
            for at, head in heads:
                if at == block:
                    contexts[:, :, head] = contexts[:, :, head].mean(dim=0)
            return (contexts.flatten(2),)

        return replace

    with ExitStack() as hooks:
        for i, block in enumerate(model.stack.blocks):
            W_o = block.self_attention.W_o
            hooks.callback(W_o.register_forward_pre_hook(hook(i)).remove)
        yield


@torch.no_grad()
def surprises(model: DecoderOnly, ids: Tensor) -> Tensor:
    """-ln p of each symbol but the first. Shapes: ids (n, T + 1) to (n, T)."""
    logits, _ = model(ids[:, :-1])
    return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")


@torch.no_grad()
def looks(model: DecoderOnly, ids: Tensor) -> Tensor:
    """All weights of attention. Shapes: ids (n, T) to (n, L, h, T, T)."""
    return model(ids, need_weights=True)[2]
