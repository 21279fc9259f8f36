"""Day 15: a linear recurrence, h_t = a_t ⊙ h_{t-1} + u_t, whose gates depend on the input.

Nothing that goes into a_t and u_t waits for a state, so that all steps can be taken together. What
such a layer can keep track of depends on the sign of its gates (Grazzi et al., 2025).

Shapes: gates a and inputs u (B, T, N), states h (B, T, N).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_choice, check_sequences, check_sizes
from utils.computation.transducers import Transducer, by_hand, set_weights


def by_loop(a: Tensor, u: Tensor) -> Tensor:
    """Return all states, one step after another: T steps.

    Raises: ValueError if there are not as many gates as inputs, or no step.
    """
    check_gates(a, u)
    h, states = torch.zeros_like(u[:, 0]), []
    for a_t, u_t in zip(a.unbind(dim=1), u.unbind(dim=1), strict=True):
        h = a_t * h + u_t
        states.append(h)
    return torch.stack(states, dim=1)


def by_scan(a: Tensor, u: Tensor) -> Tensor:
    """Return all states in log₂ T rounds, in each of which all positions work at once.

    Two neighbouring steps are one of the same form. In the round with the distance d, each position
    takes in what was found d positions before (Hillis & Steele, 1986).
    Raises: ValueError if there are not as many gates as inputs, or no step.
    """
    check_gates(a, u)
    d = 1
    while d < u.shape[1]:
        u = torch.cat([u[:, :d], a[:, d:] * u[:, :-d] + u[:, d:]], dim=1)
        a = torch.cat([a[:, :d], a[:, d:] * a[:, :-d]], dim=1)
        d *= 2
    return u


def check_gates(a: Tensor, u: Tensor) -> None:
    """Raise a ValueError if gates and inputs are not (B, T, N), T at least 1, of one shape."""
    if a.dim() != 3 or a.shape != u.shape or a.shape[1] == 0:
        raise ValueError(
            "Expected gates and inputs (B, T, N) of one shape with at least one step, got "
            f"{tuple(a.shape)} and {tuple(u.shape)}."
        )


class LinearRecurrence(nn.Module):
    """h_t = a_t ⊙ h_{t-1} + W_u x_t, with gates a_t from `lowest` to 1.

    With lowest = 0 the gates are σ(W_a x_t + b_a), from 0 to 1, as in Mamba and its relatives; with
    -1 they are 2σ(W_a x_t + b_a) - 1 (Grazzi et al., 2025), and one symbol can turn the sign
    of what is kept.
    Shapes: x (B, T, D) to outputs (B, T, N) and the last state (B, N).
    Raises: ValueError if a size is below 1, `lowest` is another, or x has another width.
    """

    def __init__(self, input_size: int, hidden_size: int, lowest: float):
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size)
        check_choice("lowest gate", lowest, (0, -1))
        self.input_size, self.output_size, self.lowest = input_size, hidden_size, lowest
        bound = 1 / math.sqrt(input_size)
        self.W_a = nn.Parameter(torch.empty(hidden_size, input_size).uniform_(-bound, bound))
        self.W_u = nn.Parameter(torch.empty(hidden_size, input_size).uniform_(-bound, bound))
        self.b_a = nn.Parameter(torch.zeros(hidden_size))

    def gates(self, x: Tensor) -> Tensor:
        """Return the gates of all steps. Shapes: x (B, T, D) to (B, T, N)."""
        return self.lowest + (1 - self.lowest) * F.linear(x, self.W_a, self.b_a).sigmoid()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        check_sequences(x, self.input_size, None)
        h = by_scan(self.gates(x), F.linear(x, self.W_u))
        return h, h[:, -1]


class RecurrentMixer(nn.Module):
    """A linear recurrence in the place of self-attention in a block of Day 6.

    It is made and called as `MultiHeadAttention` is (`transformer.Parts` takes it), and sees what
    comes before, as causal attention does: its order needs no positions.
    Shapes: x (B, T, d_model) to outputs of the same shape, and None for weights.
    Raises: ValueError if it is to look ahead, or at part of what was, or to show weights.
    """

    def __init__(self, d_model: int, n_heads: int, *, lowest: float, **unused: object):
        super().__init__()
        self.recurrence = LinearRecurrence(d_model, d_model, lowest)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: object = None,
    ) -> tuple[Tensor, None]:
        if not is_causal or need_weights or mask is not None or cache is not None:
            raise ValueError(
                "A linear recurrence reads a whole sequence from its beginning: it takes "
                "is_causal=True alone, without a mask or a cache, and has no weights to show."
            )
        return self.W_o(self.recurrence(x)[0]), None


def parity_linear(W_a: float = -200.0, b_a: float = 100.0, W_u: float = 1.0) -> Transducer:
    """Return a linear recurrence of one unit with three weights that finds parity.

    A one makes the gate -1, so h_t = 1 - h_{t-1}; a zero makes it 1, so h_t = h_{t-1}. The gates
    are exact as long as σ is 0 or 1 to the last bit. With a smaller W_a and b_a, |a_t| < 1, and
    h_t tends to 1/2.
    """
    layer = set_weights(LinearRecurrence(1, 1, lowest=-1), W_a=[[W_a]], b_a=[b_a], W_u=[[W_u]])
    return by_hand(layer, [[0.0], [1.0]], [[0.0], [1.0]], [0.5, 0.0])
