"""Day 15: what a network can compute: machines whose weights are set by hand.

Read `transducers` first, with parity in three weights, then `counting`, `stack`,
`linear_recurrence` and `by_attention`.
"""

from utils.computation.by_attention import (
    MajorityTransformer,
    ParityTransformer,
    SortingTransformer,
    bare_block,
)
from utils.computation.counting import adding_rnn, counter_lstm
from utils.computation.linear_recurrence import (
    LinearRecurrence,
    RecurrentMixer,
    by_loop,
    by_scan,
    parity_linear,
)
from utils.computation.stack import (
    StackMachine,
    deepest_stack,
    holds,
    pop,
    push,
    read_back,
    saturated,
    top,
)
from utils.computation.transducers import (
    FoldedRNN,
    Transducer,
    by_hand,
    parity_rnn,
    parity_tanh,
    set_weights,
)

__all__ = [
    "FoldedRNN",
    "LinearRecurrence",
    "MajorityTransformer",
    "ParityTransformer",
    "RecurrentMixer",
    "SortingTransformer",
    "StackMachine",
    "Transducer",
    "adding_rnn",
    "bare_block",
    "by_hand",
    "by_loop",
    "by_scan",
    "counter_lstm",
    "deepest_stack",
    "holds",
    "parity_linear",
    "parity_rnn",
    "parity_tanh",
    "pop",
    "push",
    "read_back",
    "saturated",
    "set_weights",
    "top",
]
