"""The task of `pronouns`, for a recurrent network that reads in both directions."""

import torch

from utils.data import pronouns
from utils.seq2seq import sequence_loss
from utils.tasks.pronouns import RecurrentTagger, as_ids, shares_right, train_pronouns

PARAMETERS = {"epochs": 60, "learning_rate": [1e-2, 3e-2, 6e-2], "seed": [0, 1, 2]}
SHORT = {"epochs": 2}


def measure(epochs: int, learning_rate: float, seed: int) -> dict:
    corpus = pronouns.corpus(seed=0)
    torch.manual_seed(seed)
    model = RecurrentTagger(32, 24)
    how = {"epochs": epochs, "learning_rate": learning_rate, "seed": seed}
    history = train_pronouns(model, sequence_loss, corpus, **how)
    model.eval()
    right = {"parameters": sum(p.numel() for p in model.parameters())}
    right["validation"] = history.validation["loss"][-1]
    for name, part in (("", corpus.test), (", unseen pairs", corpus.unseen_pairs)):
        with torch.no_grad():
            said = model(as_ids(part)[0]).argmax(-1)
        found = shares_right(said, part)
        right |= {f"{what}{name}": share for what, share in found.items()}
    return right
