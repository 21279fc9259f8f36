"""What becomes of sequences and gradients in stacks of untrained blocks, and what a block costs."""

import warnings
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from utils.self_attention import dot_product_attention
from utils.transformer import EncoderBlock, FeedForward, Transformer, TransformerConfig

D, HEADS, HIDDEN = 64, 4, 256
SEEDS = (0, 1, 2)
AROUND: dict[str, Callable] = {  # what stands around a sublayer f
    "neither": lambda x, norm, f: f(x),
    "norm alone": lambda x, norm, f: norm(f(x)),
    "sum alone": lambda x, norm, f: x + f(x),
    "sum and norm": lambda x, norm, f: x + f(norm(x)),
}


def _blocks(n: int) -> list[EncoderBlock]:
    config = TransformerConfig(1, d_model=D, n_heads=HEADS, d_ff=HIDDEN, dropout=0.0)
    return [EncoderBlock(config).double() for _ in range(n)]


def _through(x: Tensor, block: EncoderBlock, around: Callable) -> Tensor:
    for residual, f in zip(
        block.residuals, (lambda y: block.self_attention(y)[0], block.feed_forward), strict=True
    ):
        x = around(x, residual.norm, f)
    return x


def _slope(y: Tensor, x: Tensor) -> Tensor:
    """Size of the gradient at x, if y is asked for more of a random direction."""
    asked = (y * torch.randn_like(y)).sum()
    return torch.autograd.grad(asked, x, retain_graph=True)[0].norm()


def sizes(kind: str, heights: Sequence[int]) -> Tensor:
    """How large the stream and the gradient at its start are after some blocks, one at the least.

    kind: one of `AROUND`. Returns: (seeds, heights, 2), relative to one block.
    """
    found = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        x = y = torch.randn(4, 16, D, dtype=torch.float64, requires_grad=True)
        of = {}
        for n, block in enumerate(_blocks(max(heights)), start=1):
            y = _through(y, block, AROUND[kind])
            if n in (1, *heights):
                of[n] = torch.stack([y.detach().norm() / x.detach().norm(), _slope(y, x)])
        found.append(torch.stack([of[n] / of[1] for n in heights]))
    return torch.stack(found)


def gradients(kind: str, heights: Sequence[int]) -> Tensor:
    """Size of the gradient at the input: of all that leaves, and of what differs by position.

    kind: one of `AROUND`. Returns: (seeds, heights, 2).
    """
    found = []
    for seed in SEEDS:
        found.append([])
        for n in heights:
            torch.manual_seed(seed)
            x = y = torch.randn(4, 16, D, dtype=torch.float64, requires_grad=True)
            for block in _blocks(n):
                y = _through(y, block, AROUND[kind])
            parts = y, y - y.mean(dim=1, keepdim=True)
            found[-1].append(torch.stack([_slope(part, x) for part in parts]))
    return torch.stack([torch.stack(row) for row in found])


def operations(lengths: Sequence[int], work: Callable) -> Tensor:
    """Millions of operations of a block's training step: of all pairs, and of the rest, (n, 2).

    work: counts those of a function, such as `measure.costs.work`.
    """
    (block,) = _blocks(1)
    block.float()
    found = []
    for T in lengths:
        x = torch.randn(1, T, D)
        heads = torch.randn(3, 1, HEADS, T, D // HEADS, requires_grad=True)
        pairs = work(lambda q=heads: dot_product_attention(*q)[0].sum().backward()).total
        whole = work(lambda x=x: block(x)[0].sum().backward()).total
        found.append([pairs / 1e6, (whole - pairs) / 1e6])
    return torch.tensor(found)


def library_and_book() -> tuple[nn.Transformer, Transformer]:
    """The library's Transformer with pre-norm, 12 wide, and the book's with its weights."""
    sizes = {"batch_first": True, "norm_first": True, "dtype": torch.float64}
    with warnings.catch_warnings():  # with pre-norm, it says that it has no faster path
        warnings.filterwarnings("ignore", message="enable_nested_tensor is True")
        library = nn.Transformer(12, 3, 2, 2, 20, 0.0, **sizes)
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 20, "n_layers": 2, "norm": "pre"}
    book = Transformer(TransformerConfig(11, 13, dropout=0.0, **sizes)).double()
    book.load_library(library)
    return library, book


def take_over(model: nn.Module, book: Transformer) -> None:
    """Give the lesson's Transformer the weights of the book's.

    model: with `encoder` and `decoder`, lists of blocks that have `own`, the decoder's `cross`,
        `think` and `norms`, and with embeddings `source` and `target`.
    """
    for stack in ("encoder", "decoder"):
        blocks = getattr(book, stack).blocks
        for mine, theirs in zip(getattr(model, stack), blocks, strict=True):
            mine.own.load_state_dict(theirs.self_attention.state_dict())
            if stack == "decoder":
                mine.cross.load_state_dict(theirs.cross_attention.state_dict())
            feed_forward: FeedForward = theirs.feed_forward
            thought = [*feed_forward.W_1.parameters(), *feed_forward.W_2.parameters()]
            norms = [p for residual in theirs.residuals for p in residual.norm.parameters()]
            new = zip(
                [*mine.think.parameters(), *mine.norms.parameters()], thought + norms, strict=True
            )
            for weight, value in new:
                weight.data.copy_(value)
        words = getattr(book, stack).embedding.symbols
        getattr(model, {"encoder": "source", "decoder": "target"}[stack]).weight = words.weight
