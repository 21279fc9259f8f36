"""The picture on the book's first page: who hears whom, day by day, measured by gradient."""

from collections.abc import Callable

import torch
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn import functional as F

from utils.show.plotting import INK, MAGNITUDE, STYLE

T, D = 12, 16  # positions, width
SEE_LEFT = torch.ones(T, T, dtype=torch.bool).tril()  # True = may be attended to


def influence(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return |∂y_t/∂x_s| (T, S) of a layer from (S, D) to (T, D), each row's largest set to 1."""
    jacobian = torch.autograd.functional.jacobian(layer, x)  # (T, D, S, D)
    strength = jacobian.norm(dim=(1, 3))
    return strength / strength.amax(dim=1, keepdim=True)


def attend(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax attention from (T, D) queries to (S, D) keys, which are the values as well."""
    return F.scaled_dot_product_attention(q[None], k[None], k[None], attn_mask=mask)[0]


def panels(seed: int = 0) -> list[tuple[str, str, Tensor]]:
    """Return (day, what it does, influence (T, S)) of the kind of layer that each day is about."""
    torch.manual_seed(seed)
    x = 2 * torch.randn(T, D)
    convolution = nn.Conv1d(D, D, kernel_size=3, padding=1)
    rnn, lstm = nn.RNN(D, D), nn.LSTM(D, D)
    with torch.no_grad():
        lstm.bias_ih_l0[D : 2 * D] = 3.0  # hold the forget gates open, as training does
    needed = x[torch.randperm(T)]  # each word of the output needs one of the input
    W_q = torch.randn(D, D) / D**0.5
    block = nn.TransformerEncoderLayer(D, nhead=2, dim_feedforward=2 * D, dropout=0.0)
    near = SEE_LEFT & ~SEE_LEFT.tril(-4)
    near[:, 0] = True  # all may look at the first position
    layers = [
        ("Day 0: first steps", "each hears itself", torch.tanh),
        ("Day 1: convolution", "… its neighbours", lambda x: convolution(x.T[None])[0].T),
        ("Day 2: RNN", "… the past, fading", lambda x: rnn(x)[0]),
        ("Day 3: LSTM, GRU", "… what gates keep", lambda x: lstm(x)[0]),
        ("Day 4: attention", "… the word it needs", lambda x: attend(needed, x)),
        ("Day 5: self-attention", "… any other", lambda x: attend(x @ W_q, x)),
        ("Day 6: Transformer", "… all before it", lambda x: block(x, src_mask=~SEE_LEFT)),
        ("Day 7: efficiency", "… a chosen few", lambda x: attend(x @ W_q / 4, x, near)),
    ]
    return [(day, does, influence(layer, x)) for day, does, layer in layers]


def draw(columns: int) -> Figure:
    """Draw the panels in so many columns."""
    framed = {"axes.spines.top": True, "axes.spines.right": True}
    with plt.rc_context(STYLE | framed | {"font.size": 13, "axes.titlesize": 13}):
        measured = panels()
        rows = -(-len(measured) // columns)
        figure, grid = plt.subplots(rows, columns, figsize=(2.3 * columns, 2.8 * rows + 0.3))
        for ax, (day, does, strength) in zip(grid.flat, measured, strict=True):
            ax.imshow(strength, cmap=MAGNITUDE, vmin=0, vmax=1)
            ax.set_title(day, weight="bold")
            ax.set(xlabel=does, xticks=[], yticks=[])
            ax.grid(False)
            ax.spines[:].set(color=INK, linewidth=0.8)
        figure.get_layout_engine().set(h_pad=0.14, w_pad=0.06)
        figure.supxlabel("input position →", size=12)
        figure.supylabel("← output position", size=12)
    return figure
