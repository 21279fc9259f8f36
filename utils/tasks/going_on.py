"""Going on with a sequence that begins again: small GPTs that learn it while the lesson runs.

Day 9's other copiers (`copying`) take 2,000 steps; these learn in a tenth of them, by Muon, rotary
positions, shorter segments, and an output with a table of its own.
Shapes: ids (B, T) are letters, numbered as in LETTERS.
"""

import torch
from torch import Tensor

from utils.arguments import check_sizes
from utils.tasks.copying import repeated, said_next
from utils.tasks.letters import optimiser_of
from utils.training.loop import History, fit
from utils.transformer import DecoderOnly, TransformerConfig

LETTERS = "abcdefghijklmnopqrstuvwxyz"
T, SHORTEST, LONGEST = 32, 4, 14  # letters that are read, and those of a segment
B, STEPS, RATE = 32, 200, 0.03


def repeater(n_layers: int, seed: int) -> DecoderOnly:
    """A GPT of the lesson's blocks, 64 wide, whose input and output tables differ."""
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 64, "n_layers": n_layers, "dropout": 0.0}
    how = {"norm": "pre", "activation": "gelu", "positions": "rotary", "tied": False}
    return DecoderOnly(TransformerConfig(len(LETTERS), **sizes, **how))


def train_repeater(model: DecoderOnly, seed: int, steps: int = STEPS) -> History:
    """Train a model on random segments that come again; the loss is that of all their letters.

    Muon for the matrices, AdamW for the rest at a quarter of its rate.
    """
    generator = torch.Generator().manual_seed(seed)
    periods = torch.randint(SHORTEST, LONGEST + 1, (steps * B,), generator=generator)
    ids = repeated(steps * B, T + 1, len(LETTERS), periods, seed)
    batches = [(rows[:, :-1], rows[:, 1:]) for rows in ids.split(B)]
    optimiser, schedule = optimiser_of(model, steps, RATE / 4, matrix_rate=RATE)
    return fit(model, batches, said_next, optimiser, epochs=1, schedule=schedule)


@torch.no_grad()
def continuations(model: DecoderOnly, ids: Tensor, n: int) -> Tensor:
    """The n letters that a model holds likeliest behind each text, one after the other: (B, n).

    Raises: ValueError if there is no letter.
    """
    text = ids
    for _ in range(n):
        text = torch.cat([text, model(text)[0][:, -1:].argmax(dim=-1)], dim=1)
    return text[:, ids.shape[1] :]


def went_on(model: DecoderOnly, text: str, n: int) -> str:
    """What a model writes behind a text, n letters.

    Raises: ValueError if the text is empty or has something else than small letters.
    """
    if foreign := set(text) - set(LETTERS):
        raise ValueError(f"{min(foreign)!r} is none of the model's letters: use a to z alone.")
    if not text:
        raise ValueError("There is nothing to go on with: give it one letter at least.")
    ids = torch.tensor([[LETTERS.index(letter) for letter in text]])
    return "".join(LETTERS[number] for number in continuations(model, ids, n)[0].tolist())


def invented(n: int, length: int, seed: int) -> Tensor:
    """Draw n segments of different letters, as one invents them: (n, length).

    Raises: ValueError if there are not as many letters.
    """
    check_sizes(n=n, length=length)
    if length > len(LETTERS):
        raise ValueError(f"There are {len(LETTERS)} letters, and {length} are to be different.")
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, len(LETTERS), generator=generator).argsort(dim=1)[:, :length]


def share_repeated(model: DecoderOnly, length: int = 12, n: int = 200, seed: int = 10**6) -> float:
    """How many invented segments a model writes to their end, shown once and their first letter."""
    segments = invented(n, length, seed)
    said = continuations(model, torch.cat([segments, segments[:, :1]], dim=1), length - 1)
    return (said == segments[:, 1:]).all(dim=1).double().mean().item()
