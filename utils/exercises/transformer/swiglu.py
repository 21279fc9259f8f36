"""A feed-forward layer with a gate: SwiGLU."""

from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def swiglu(x: Tensor, W_gate: Tensor, W_up: Tensor, W_down: Tensor) -> Tensor:
    """Return W_down (SiLU(W_gate x) ⊙ W_up x) for each position.

    Shapes: x (B, T, D), W_gate and W_up (F, D), W_down (D, F) to (B, T, D).
    """
    return (F.silu(x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


exercise = Exercise(swiglu)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one position, one hidden unit")
def one_hidden_unit():
    return [(random(1, 1, 2), random(1, 2), random(1, 2), random(2, 1))]


@exercise.stage("several sequences")
def several_sequences():
    return [
        (random(2, 3, 4), random(5, 4), random(5, 4), random(4, 5)),
        (random(3, 2, 5), random(4, 5), random(4, 5), random(5, 4)),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you exchanged W_gate and W_up: which product goes through SiLU?")
def exchanged(x, W_gate, W_up, W_down):
    return swiglu(x, W_up, W_gate, W_down)


@exercise.mistake("σ(u) alone is the gate of 1997; here it is u · σ(u).")
def sigmoid(x, W_gate, W_up, W_down):
    return ((x @ W_gate.T).sigmoid() * (x @ W_up.T)) @ W_down.T


@exercise.mistake("that gate is a ReLU: flat below 0, where SiLU dips a little.")
def relu(x, W_gate, W_up, W_down):
    return ((x @ W_gate.T).relu() * (x @ W_up.T)) @ W_down.T


@exercise.mistake("that gate is a GELU: it looks much like SiLU, but isn't.")
def gelu(x, W_gate, W_up, W_down):
    return (F.gelu(x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


@exercise.mistake("there is no SiLU in yours: that is a product of two linear maps.")
def no_activation(x, W_gate, W_up, W_down):
    return ((x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


@exercise.mistake("both products go through SiLU: one should stay linear.")
def both_squashed(x, W_gate, W_up, W_down):
    return (F.silu(x @ W_gate.T) * F.silu(x @ W_up.T)) @ W_down.T


@exercise.mistake("you apply SiLU to the product: apply it to the gate before multiplying.")
def product_squashed(x, W_gate, W_up, W_down):
    return F.silu((x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


@exercise.mistake("you add the gate: it should multiply.")
def added(x, W_gate, W_up, W_down):
    return (F.silu(x @ W_gate.T) + x @ W_up.T) @ W_down.T


@exercise.mistake("that is the plain layer: what does the gate let through?")
def no_value(x, W_gate, W_up, W_down):
    return F.silu(x @ W_gate.T) @ W_down.T


@exercise.mistake(
    "these shapes don't match: the matrices multiply a column, W x, and here each x is a row."
)
def not_transposed(x, W_gate, W_up, W_down):
    return (F.silu(x @ W_gate) * (x @ W_up)) @ W_down


@exercise.mistake("the gate is missing: multiply by SiLU(W_gate x).")
def no_gate(x, W_gate, W_up, W_down):
    return (x @ W_up.T) @ W_down.T


@exercise.mistake("you add the input: that is the block's part, and here is the layer alone.")
def input_added(x, W_gate, W_up, W_down):
    return x + swiglu(x, W_gate, W_up, W_down)


@exercise.mistake("SiLU takes u and σ(u) from one product, W_gate x: yours takes σ of the other.")
def gated_by_the_other(x, W_gate, W_up, W_down):
    return ((x @ W_gate.T) * (x @ W_up.T).sigmoid()) @ W_down.T


@exercise.mistake("W_down is missing: it leads back to the width of the model.")
def no_way_down(x, W_gate, W_up, W_down):
    return F.silu(x @ W_gate.T) * (x @ W_up.T)
