"""The task of `pronouns`, for a recurrent network that reads in both directions."""

import torch
from torch import Tensor, nn

from utils.data import pronouns
from utils.recurrent import GRU, Bidirectional, Embedding
from utils.seq2seq import PAD, sequence_loss
from utils.tasks.pronouns import VOCABULARY, as_ids, shares_right, train_pronouns

PARAMETERS = {"epochs": 18, "learning_rate": [2e-2, 3e-2, 6e-2], "seed": [0, 1, 2]}
V = len(VOCABULARY)


class RecurrentTagger(nn.Module):
    """Read in both directions, then say something about each symbol: ids (B, T) to (B, T, V)."""

    def __init__(self, d_model: int, hidden_size: int):
        super().__init__()
        self.embedding = Embedding(V, d_model)
        directions = (GRU(d_model, hidden_size) for _ in range(2))
        self.layer = Bidirectional(*directions)
        self.output = nn.Linear(2 * hidden_size, V)

    def forward(self, ids: Tensor) -> Tensor:
        states, _ = self.layer(self.embedding(ids), lengths=(ids != PAD).sum(dim=1))
        return self.output(states)


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
