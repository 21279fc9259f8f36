"""How much of a table is learned by heart, by a Transformer's width and its blocks?

A table gives each of 256 random sequences of 8 symbols a random answer at each position, one of
four: 4,096 bits. An encoder of 1 or 2 blocks, 8 to 64 wide, sees the whole table at each step; all
have the same four rates. "answers" and "rows" are the shares of the answers, and of the sequences
with all eight answers, that are correct afterwards, "bits" what the network knows of the table,
"bits per weight" the same divided by all its weights. "new" is the share of correct answers on 500
other sequences; by chance it is 0.25.
"""

from utils.tasks.by_heart import drawn, kept, learn, reader

PARAMETERS = {
    "width": [64, 32, 16, 8],
    "blocks": [2, 1],
    "rate": [1e-3, 3e-3, 1e-2, 3e-2],
    "seed": [0, 1],
    "steps": 1000,
}
SHORT = {"width": [8], "blocks": [1, 2], "rate": [1e-2], "seed": [0], "steps": 20, "KNOWN": 20}
KNOWN, NEW = 256, 500


def measure(width: int, blocks: int, rate: float, seed: int, steps: int) -> dict:
    table, new = drawn(KNOWN, NEW, seed)
    model = reader(width, blocks, seed)
    history = learn(model, table, steps=steps, rate=rate, seed=seed)
    found = kept(model, table)
    weights = sum(weight.numel() for weight in model.parameters())
    return {
        "parameters": weights,
        "loss": history.step_loss[-1],
        "answers": found.answers,
        "rows": found.rows,
        "bits": found.bits,
        "bits per weight": found.bits / weights,
        "new": kept(model, new).answers,
    }
