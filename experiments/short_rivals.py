"""Short sentences into Chinese: Day 4's network, and Transformers with and without positions.

Each takes the same passes over the same batches, at four learning rates, with three seeds.
`validation` and `test` are the shares of 400 sentences that are translated without a mistake;
`losses` are the training's in nats a word, a mean for each 50 steps.
"""

from functools import cache

import torch

from utils.seq2seq import greedy_decode, sequence_loss
from utils.tasks.short_translation import MODELS, ShortTask, as_rows
from utils.tasks.translation import train_translator

PARAMETERS = {
    "model": list(MODELS),
    "rate": [3e-3, 6e-3, 1e-2, 1.6e-2],
    "drawn": 24_000,
    "epochs": 4,
    "seed": [0, 1, 2],
}
SHORT = {"drawn": 12_000, "epochs": 1}
LONGEST = 14  # Chinese words
task = cache(ShortTask)


def measure(model: str, rate: float, drawn: int, epochs: int, seed: int) -> dict:
    given = task(drawn)
    torch.manual_seed(seed)
    network = MODELS[model](given)
    how = {"epochs": epochs, "batch_size": 32, "learning_rate": rate, "seed": seed}
    history = train_translator(network, sequence_loss, *as_rows(given, given.train), **how)
    losses = torch.tensor(history.step_loss[: len(history.step_loss) // 50 * 50])
    right = {}
    for name, part in (("validation", given.validation), ("test", given.test)):
        asked = given.source(english for english, _ in part)
        right[name] = given.exact(greedy_decode(network, *asked, max_len=LONGEST), part)
    return {
        "parameters": sum(p.numel() for p in network.parameters()),
        "losses": losses.view(-1, 50).mean(dim=1).tolist(),
        **right,
    }
