"""Day 11: which heads does a model need? Gates, what a gate's gradient says, and heads cut out.

Shapes: gates (L, h), one for each head of each block, or (B, L, h), others for each text.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_no_memory, check_plain
from utils.self_attention import MultiHeadAttention
from utils.transformer import Encoder, EncoderOnly


@contextmanager
def gated(encoder: Encoder, gates: Tensor) -> Iterator[None]:
    """Meanwhile multiply what each head says by its gate ξ (Michel et al., 2019, §2.3).

    A gate of 1 leaves a head as it is, one of 0 silences it; what W_o adds to all stays.
    Raises: ValueError if there is not one gate for each head, or blocks share their heads.
    """
    layers = [block.self_attention for block in encoder.blocks]
    if len(set(map(id, layers))) < len(layers):
        raise ValueError("Blocks share their heads here, and a gate is of one block.")
    n_heads = [layer.n_heads for layer in layers]
    L, h = len(n_heads), max(n_heads)
    if min(n_heads) < h or gates.dim() not in (2, 3) or gates.shape[-2:] != (L, h):
        raise ValueError(
            f"Expected a gate for each head, (L, h) or (B, L, h), where blocks have "
            f"{', '.join(map(str, n_heads))} heads, got {tuple(gates.shape)}."
        )
    with ExitStack() as hooks:
        for layer, of_layer in zip(layers, gates.unbind(-2), strict=True):
            hook = layer.W_o.register_forward_pre_hook(_multiplied_by(of_layer))
            hooks.callback(hook.remove)
        yield


def _multiplied_by(gates: Tensor) -> Callable:
    def multiply(_, inputs: tuple[Tensor]) -> Tensor:
        contexts = inputs[0].unflatten(-1, (gates.shape[-1], -1))  # (B, T, h, d_v)
        return (gates[..., None, :, None] * contexts).flatten(2)

    return multiply


def head_importance(model: EncoderOnly, batches: Iterable[tuple[Tensor, ...]]) -> Tensor:
    """Mean over texts of |∂loss / ∂ξ|, for the gate ξ = 1 of each head (ibid., eq. 2), (L, h).

    As there, each block's numbers are divided by their Euclidean norm, so that blocks compare.
    batches: of ids (B, T), lengths (B,) and labels (B,), as `BucketedBatches` gives them.
    Raises: ValueError if the model is in training mode, or as `gated` does.
    """
    if model.training:
        raise ValueError("The model is in training mode: call its eval() first.")
    blocks, like = model.encoder.blocks, model.output.weight
    sums = like.new_zeros(len(blocks), blocks[0].self_attention.n_heads)
    for ids, lengths, labels in batches:
        gates = torch.ones_like(sums).repeat(len(ids), 1, 1).requires_grad_()
        with gated(model.encoder, gates):
            loss = F.cross_entropy(model(ids, lengths), labels, reduction="sum")
        sums += torch.autograd.grad(loss, gates)[0].abs().sum(dim=0)
    return F.normalize(sums, dim=1)  # of a mean or a sum alike


class FewerHeads(MultiHeadAttention):
    """A layer of self-attention without some of its heads, whose weights are gone.

    It says what the whole layer says with gates of 0 for the heads that are not kept.
    kept: numbers of heads, counted from 0.
    Shapes: x (B, T, d_model) to the same; weights (B, number of kept heads, T, T).
    Raises: ValueError if no head is kept, one that there is not or one twice, if heads share keys,
    or the layer is of another kind.
    """

    def __init__(self, layer: MultiHeadAttention, kept: Iterable[int]):
        kept = sorted(kept)
        check_plain(layer, MultiHeadAttention)
        if layer.n_kv_heads != layer.n_heads:
            raise ValueError("Heads that share keys can't go one by one.")
        if not kept or not set(kept) <= set(range(layer.n_heads)) or len(set(kept)) < len(kept):
            raise ValueError(
                f"Keep at least one of the heads 0 to {layer.n_heads - 1}, each once, got {kept}."
            )
        how = {"dropout": layer.dropout, "rotary": layer.rotary, "attend": layer.attend}
        super().__init__(layer.d_model, layer.n_heads, bias=layer.b_in is not None, **how)
        d_k = layer.d_model // layer.n_heads
        self.n_heads = self.n_kv_heads = len(kept)
        self.rows = (len(kept) * d_k,) * 3
        columns = layer.W_o.weight.detach().unflatten(1, (-1, d_k))[:, kept]
        self.W_o.weight = nn.Parameter(columns.flatten(1))
        self.W_in = nn.Parameter(_kept_rows(layer.W_in, d_k, kept))
        if self.b_in is not None:
            self.b_in = nn.Parameter(_kept_rows(layer.b_in, d_k, kept))
            self.W_o.bias = nn.Parameter(layer.W_o.bias.detach().clone())

    def project(self, x: Tensor, memory: None) -> tuple[Tensor, ...]:
        check_no_memory(memory)
        return super().project(x, memory)


def _kept_rows(weight: Tensor, d_k: int, kept: list[int]) -> Tensor:
    """Of queries, keys and values, the rows of some heads. Shapes: (3 h d_k, …) to fewer rows."""
    return weight.detach().unflatten(0, (3, -1, d_k))[:, kept].flatten(0, 2)
