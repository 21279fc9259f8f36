"""What does it cost to share: one block for all four, a narrow table for the words, or both?

Four blocks of their own, one that is passed four times (ALBERT), a table 16 wide with a matrix
behind it (ALBERT), both, a Universal Transformer, one whose attention has rotary positions as all
the others', and a network of four narrower blocks of their own, with as few parameters as the
shared one. All read the same text for equally many steps, half
of the words hidden. "loss" in nats and "right" are of hidden words in held-out text; "labels" are
of sentences from five libraries, tuned as in `few_labels`.
"""

from utils.tasks import pretraining
from utils.tasks.held_out import guessed, told_apart
from utils.tasks.pretraining import Hidden, pretrain
from utils.tasks.reading import SEEDS
from utils.tasks.sharing import ENCODERS, build

PARAMETERS = {"encoder": list(ENCODERS), "steps": 750}
SHORT = {
    "steps": 4,
    "SEEDS": (0,),
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
    "N_PASSAGES": 16,
}


def data():
    return pretraining.data()


def measure(encoder: str, steps: int) -> dict:
    models = {seed: build(encoder, seed) for seed in SEEDS}
    for seed, model in models.items():
        pretrain(model, Hidden(steps), seed)
    words = [guessed(model) for model in models.values()]
    row = {name: [each[name] for each in words] for name in words[0]}
    sizes = [weight.numel() * weight.element_size() for weight in models[0].parameters()]
    row |= {"parameters": sum(w.numel() for w in models[0].parameters()), "bytes": sum(sizes)}
    return row | told_apart(models, 100) | told_apart(models, 1000)
