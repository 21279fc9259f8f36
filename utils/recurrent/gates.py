"""Day 3: recurrent layers with gates, which decide what is kept, written and shown.

A gate is a number between 0 and 1 for each unit. The blocks of W_x, W_h and b stand in the
library's order: i, f, g, o for the LSTM, and r, z, n for the GRU.
"""

import torch
from torch import Tensor, nn

from utils.arguments import check_choice
from utils.recurrent.rnn import Recurrent


def lstm_step(
    projected: Tensor, h: Tensor, c: Tensor, W_h: Tensor
) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    """Take one step (Gers et al., 2000). Shapes: projected (B, 4N), h and c (B, N), W_h (4N, N).

    Returns: the next h and c; and what they were made of, i, f, g, o and tanh(c).
    """
    i, f, g, o = torch.addmm(projected, h, W_h.T).chunk(4, dim=1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = torch.addcmul(f * c, i, g)  # f ⊙ c + i ⊙ g
    tanh_c = c.tanh()
    return o * tanh_c, c, (i, f, g, o, tanh_c)


class LSTMThroughTime(torch.autograd.Function):
    """All steps of an LSTM, with backpropagation through time by hand: no second derivatives.

    Autograd would work out each step's part of every gradient on its own. Here only what has to
    wait for the step after is done step by step, and the rest for all steps at once.
    Shapes: projected (T, B, 4N), h and c (B, N), W_h (4N, N). Returns: all h and all c (T, B, N).
    """

    @staticmethod
    def forward(ctx, projected, h, c, W_h):
        all_h, all_c, parts = [h], [c], []
        for projected_t in projected.unbind():
            h, c, parts_t = lstm_step(projected_t, h, c, W_h)
            all_h.append(h)
            all_c.append(c)
            parts.append(parts_t)
        h, c = torch.stack(all_h), torch.stack(all_c)  # (T + 1, B, N), the initial state first
        ctx.save_for_backward(W_h, h, c, *map(torch.stack, zip(*parts, strict=True)))
        return h[1:], c[1:]

    @staticmethod
    def backward(ctx, dh_shown, dc_shown):  # dh stands for ∂loss/∂h, and so on
        if torch.is_grad_enabled():  # create_graph=True
            raise RuntimeError(
                "An LSTM's walk through time has no second derivatives: take its steps with `cell`."
            )
        W_h, h, c, i, f, g, o, tanh_c = ctx.saved_tensors
        di_dc, df_dc, dg_dc = g * i * (1 - i), c[:-1] * f * (1 - f), i * (1 - g**2)
        do_dh, dc_dh = tanh_c * o * (1 - o), o * (1 - tanh_c**2)
        d_projected = torch.cat([di_dc, df_dc, dg_dc, do_dh], dim=2)  # (T, B, 4N), still without
        dh, dc = torch.zeros_like(h[0]), torch.zeros_like(c[0])  # dc and dh, which the walk brings
        per_step = (dh_shown, dc_shown, dc_dh, d_projected, f)
        walk = zip(*map(torch.unbind, per_step), strict=True)
        for dh_t, dc_t, c_h, d_projected_t, f_t in reversed(list(walk)):
            dh = dh + dh_t
            dc = torch.addcmul(dc + dc_t, dh, c_h)
            d_projected_t *= torch.cat([dc, dc, dc, dh], dim=1)
            dh = d_projected_t @ W_h
            dc = dc * f_t  # the direct path: ∂c_t/∂c_{t-1} = f_t
        return d_projected, dh, dc, d_projected.flatten(0, 1).T @ h[:-1].flatten(0, 1)


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter & Schmidhuber, 1997; forget gate: Gers et al., 2000).

    i, f, o = σ(W_x x_t + W_h h_{t-1} + b), each with its own rows, and g = tanh of its rows;
    c_t = f ⊙ c_{t-1} + i ⊙ g, and h_t = o ⊙ tanh(c_t). The forget gate's bias begins at
    `forget_bias`: with 1, the cell begins by keeping (Jozefowicz et al., 2015).
    Shapes: x (B, T, D), state (h, c), each (B, N), to outputs (B, T, N) and the last state.
    Loads the weights of `nn.LSTM`. Has no second derivatives; steps taken with `cell` have.
    """

    n_blocks = 4
    library_mode = "LSTM"

    def __init__(self, input_size: int, hidden_size: int, forget_bias: float = 1.0):
        super().__init__(input_size, hidden_size)
        with torch.no_grad():
            self.b[hidden_size : 2 * hidden_size] += forget_bias

    def initial_state(self, batch_size: int) -> tuple[Tensor, Tensor]:
        return super().initial_state(batch_size), super().initial_state(batch_size)

    def hidden(self, state: tuple[Tensor, Tensor]) -> Tensor:
        return state[0]

    def step(self, projected: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return lstm_step(projected, *state, self.W_h)[:2]

    def gates(self, x_t: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
        """Return i, f, g, o of the step that reads x_t (B, D), each (B, N)."""
        return lstm_step(self.project(x_t), *state, self.W_h)[2][:4]

    def unroll(self, projected: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        h, c = LSTMThroughTime.apply(projected, *state, self.W_h.to(projected.dtype))
        return h.transpose(0, 1), c.transpose(0, 1)


class GRU(Recurrent):
    """Gated recurrent unit (Cho et al., 2014, eq. 5 to 8). Loads the weights of `nn.GRU`.

    r, z = σ(W_x x_t + W_h h_{t-1} + b), each with its own rows; n is the new value, and
    h_t = z ⊙ h_{t-1} + (1 - z) ⊙ n: the gate z keeps. Two conventions for n are in use:

    - `reset="before"` the product, as in the paper: n = tanh(W_x x_t + W_h (r ⊙ h_{t-1}) + b);
    - `reset="after"`, as in the library: n = tanh(W_x x_t + b + r ⊙ (W_h h_{t-1} + b_n)).

    Shapes: x (B, T, D), state h (B, N), to outputs (B, T, N) and the last state (B, N).
    """

    n_blocks = 3
    library_mode = "GRU"

    def __init__(self, input_size: int, hidden_size: int, reset: str = "after"):
        super().__init__(input_size, hidden_size)
        check_choice("reset", reset, ("before", "after"))
        self.b_n = nn.Parameter(torch.zeros(hidden_size)) if reset == "after" else None

    def _gates(self, projected: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        r_x, z_x, n_x = projected.chunk(3, dim=1)
        if self.b_n is None:  # reset before the product
            W_rz, W_n = self.W_h.split((2 * self.hidden_size, self.hidden_size))
            r_h, z_h = (h @ W_rz.T).chunk(2, dim=1)
            r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
            return r, z, torch.addmm(n_x, r * h, W_n.T).tanh()  # n_x + (r ⊙ h) W_nᵀ
        r_h, z_h, n_h = (h @ self.W_h.T).chunk(3, dim=1)
        r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
        n_h = n_h + self.b_n.to(n_h.dtype)
        return r, z, torch.addcmul(n_x, r, n_h).tanh()  # n_x + r ⊙ n_h

    def step(self, projected: Tensor, h: Tensor) -> Tensor:
        _, z, n = self._gates(projected, h)
        return torch.lerp(n, h, z)  # n + z ⊙ (h - n)

    def gates(self, x_t: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return r, z, n of the step that reads x_t (B, D), each (B, N)."""
        return self._gates(self.project(x_t), h)

    def _copy(self, W_x: Tensor, W_h: Tensor, b_x: Tensor, b_h: Tensor) -> None:
        check_reset(self.b_n)
        super()._copy(W_x, W_h, b_x, b_h)
        N = self.hidden_size
        self.b[2 * N :].copy_(b_x[2 * N :])  # what r multiplies can't be added to b
        self.b_n.copy_(b_h[2 * N :])


def check_reset(b_n: Tensor | None) -> None:
    """Raise a ValueError if a GRU without b_n is to compute as the library's does."""
    if b_n is None:
        raise ValueError(
            'The library\'s GRU resets after the product: only a GRU with reset="after" gives its '
            "numbers."
        )
