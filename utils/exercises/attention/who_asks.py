"""Which is the first step whose weights change if the decoder is fed another symbol?"""

import torch

from utils.exercises.checking import Prediction
from utils.seq2seq import Seq2Seq, Seq2SeqConfig


def first_step_that_looks_elsewhere(style: str = "Bahdanau", changed: int = 3) -> int:
    """Feed another symbol at the step `changed`; return the first step with other weights."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = Seq2Seq(Seq2SeqConfig(8, 8, d_model=6, hidden_size=4, style=style)).double()
    source, target = torch.tensor([[3, 4, 5, 6, 7]]), torch.full((1, 8), 3)
    other = target.clone()
    other[0, changed] = 5
    with torch.no_grad():
        weights = [
            model(source, torch.tensor([5]), y, need_weights=True)[1] for y in (target, other)
        ]
    return int((weights[0] != weights[1]).any(-1)[0].nonzero()[0])


exercise = Prediction(first_step_that_looks_elsewhere)


@exercise.mistake(
    "that is Luong's: his query has read the symbol. Which state is the query in Bahdanau's?"
)
def luong():
    return 3


@exercise.mistake("a symbol fed at step 3 can't reach back in time.")
def before():
    return 2


@exercise.mistake("a symbol fed at step 3 can't reach back to the beginning.")
def from_the_beginning():
    return 0


@exercise.mistake("that is one step more than it takes: which state is the query?")
def two_steps_later():
    return 5
