"""Day 2: the recurrent network. One set of weights reads a sequence, one step after the other.

Shapes: a batch of sequences is (B, T, D), a state (B, N). `lengths` (B,) says how many steps of
each sequence are real; what follows them is padding.
"""

import math
from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sequences, check_sizes

State = Tensor | tuple  # h (B, N); of an LSTM (h, c)


def each(function: Callable[[Tensor], object], state: State) -> object:
    """Apply a function to each tensor of a state; return what it gives in the state's form."""
    if isinstance(state, tuple):
        return tuple(each(function, part) for part in state)
    return function(state)


def detach(state: State) -> State:
    """Return a state with the same numbers and no memory of where they came from.

    Between the chunks of a long text it cuts the graph: gradients end here, and what the earlier
    chunks held is freed (truncated backpropagation through time).
    """
    return each(Tensor.detach, state)


class Recurrent(nn.Module):
    """The walk over the steps that all recurrent layers share; each kind has its own `step`.

    W_x (n_blocks·N, D), W_h (n_blocks·N, N) and b (n_blocks·N,) hold a block of N rows for the new
    value and one for each gate. W_x and W_h begin as in the library, b at 0.
    """

    n_blocks: int
    library_mode: str  # how the library calls it

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size)
        self.input_size, self.hidden_size, self.output_size = input_size, hidden_size, hidden_size
        rows, bound = self.n_blocks * hidden_size, 1 / math.sqrt(hidden_size)
        self.W_x = nn.Parameter(torch.empty(rows, input_size).uniform_(-bound, bound))
        self.W_h = nn.Parameter(torch.empty(rows, hidden_size).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.zeros(rows))

    def project(self, x: Tensor) -> Tensor:
        """Return W_x x + b, which needs no state. Shapes: (..., D) to (..., n_blocks·N)."""
        return F.linear(x, self.W_x, self.b)

    def step(self, projected: Tensor, state: State) -> State:
        """Return the next state. Shapes: projected (B, n_blocks·N), one step of `project`."""
        raise NotImplementedError

    def cell(self, x_t: Tensor, state: State) -> State:
        """Return the state after one more input. Shapes: x_t (B, D)."""
        projected = self.project(x_t)
        return self.step(projected, each(lambda s: s.to(projected.dtype), state))

    def initial_state(self, batch_size: int) -> State:
        """Return the state before the first step: zeros (B, N)."""
        return self.b.new_zeros(batch_size, self.hidden_size)

    def hidden(self, state: State) -> Tensor:
        """Return the part of a state that the layer shows to others: h (B, N)."""
        return state

    def unroll(self, projected: Tensor, state: State) -> State:
        """Return the states after all steps (B, T, N). Shapes: projected (T, B, n_blocks·N)."""
        states = []
        for projected_t in projected.unbind():
            state = self.step(projected_t, state)
            states.append(state)
        return torch.stack(states, dim=1)

    def forward(
        self, x: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Read the sequences x (B, T, D), from a state on or from zeros.

        Returns: h after each step (B, T, N), 0 at padding; the state after each last real step.
        Raises: ValueError if there is nothing to read, or if x, state and lengths disagree.
        """
        check_sequences(x, self.input_size, lengths)
        zeros = self.initial_state(len(x))
        state = zeros if state is None else state
        check_state(state, zeros)
        if lengths is not None:
            lengths = lengths.to(x.device, torch.int64)
            real = torch.arange(x.shape[1], device=x.device) < lengths[:, None]  # (B, T)
            x = torch.where(real[:, :, None], x, 0)  # whatever padding holds
        projected = self.project(x.transpose(0, 1))  # one product for all steps
        states = self.unroll(projected, each(lambda s: s.to(projected.dtype), state))
        outputs = self.hidden(states)
        if lengths is None:
            return outputs, each(lambda s: s[:, -1], states)
        # No state depends on a later input: up to its length, a sequence never meets its padding.
        rows = torch.arange(len(x), device=x.device)
        last = each(lambda s: s[rows, lengths - 1], states)
        return torch.where(real[:, :, None], outputs, 0), last

    def load_library(self, library: nn.RNNBase) -> None:
        """Take the weights of nn.RNN, nn.LSTM or nn.GRU.

        Raises: ValueError if it computes anything else than this layer.
        """
        check_library(library, bidirectional=False)
        self.load_direction(library)

    def load_direction(self, library: nn.RNNBase, reverse: bool = False) -> None:
        """Take the weights of one direction of the library's layer.

        Raises: ValueError if it is of another kind or size.
        """
        suffix = "_l0" + "_reverse" * reverse
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(library, name + suffix, torch.empty(0)) for name in names]
        sizes = [self.W_x.shape, self.W_h.shape, self.b.shape, self.b.shape]
        mode = getattr(library, "mode", None)
        if mode != self.library_mode or [w.shape for w in weights] != sizes:
            raise ValueError(
                f"Expected a layer of the library's {self.library_mode} with "
                f"{self.input_size} inputs, a state of {self.hidden_size} and biases, "
                f"got {library} of mode {mode}."
            )
        with torch.no_grad():
            self._copy(*weights)

    def _copy(self, W_x: Tensor, W_h: Tensor, b_x: Tensor, b_h: Tensor) -> None:
        self.W_x.copy_(W_x)
        self.W_h.copy_(W_h)
        self.b.copy_(b_x + b_h)  # the library keeps two biases where only their sum counts


class RNN(Recurrent):
    """h_t = tanh(W_x x_t + W_h h_{t-1} + b) (Elman, 1990). Loads the weights of `nn.RNN`.

    Shapes: x (B, T, D), state h (B, N), to outputs (B, T, N) and the last state (B, N).
    """

    n_blocks = 1
    library_mode = "RNN_TANH"

    def step(self, projected: Tensor, h: Tensor) -> Tensor:
        return torch.tanh(torch.addmm(projected, h, self.W_h.T))  # tanh(projected + h W_hᵀ)


def check_state(state: Tensor | tuple, zeros: Tensor | tuple) -> None:
    """Raise a ValueError if a state is not of the first state's form, or would lose digits."""
    given, expected = (each(lambda s: tuple(s.shape), of) for of in (state, zeros))
    if given != expected:
        raise ValueError(f"Expected a state of shape {expected} for this batch, got {given}.")
    given, expected = numbers_of(state), numbers_of(zeros)
    if torch.promote_types(given, expected) != expected:
        raise ValueError(f"Expected a state of {expected}, as the weights are, got {given}.")


def numbers_of(state: Tensor | tuple) -> torch.dtype:
    """Return the type of number that holds all of a recurrent state."""
    if isinstance(state, tuple):
        return reduce(torch.promote_types, map(numbers_of, state))
    return state.dtype


def check_library(library: object, bidirectional: bool) -> None:
    """Raise a ValueError if the library's recurrent layer computes something else."""
    expected = {"num_layers": 1, "bidirectional": bidirectional, "batch_first": True}
    found = {name: getattr(library, name, value) for name, value in expected.items()}
    if found != expected:
        wanted = ", ".join(f"{name}={value}" for name, value in expected.items())
        raise ValueError(f"Expected a layer of the library's with {wanted}, got {library}.")
