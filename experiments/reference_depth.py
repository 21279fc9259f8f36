"""Self-attention stacked: what a layer finds is added to what was there, or put in its place."""

import torch

from utils.lab import reference
from utils.positions import LearnedPositions
from utils.self_attention import SelfAttentionTagger
from utils.seq2seq import sequence_loss

PARAMETERS = {
    "residual": [True, False],
    "layers": [2, 6],
    "learning_rate": [3e-3, 1e-2],
    "seed": [0, 1, 2],
}
MAX_LEN, V = 24, len(reference.VOCABULARY)


def measure(residual: bool, layers: int, learning_rate: float, seed: int) -> dict:
    corpus = reference.corpus(seed=0)
    torch.manual_seed(seed)
    positions = LearnedPositions(MAX_LEN, 32)
    model = SelfAttentionTagger(V, V, 32, 4, layers, positions=positions, residual=residual)
    history = reference.train(model, sequence_loss, corpus, learning_rate=learning_rate, seed=seed)
    model.eval()
    with torch.no_grad():
        said = model(reference.as_ids(corpus.test)[0]).argmax(-1)
    found = reference.shares_right(said, corpus.test)
    return {
        "loss": history.train["loss"][-1],
        "validation": history.validation["loss"][-1],
        **found,
    }
