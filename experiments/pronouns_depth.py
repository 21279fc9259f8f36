"""Self-attention stacked: what a layer finds is added to what was there, or put in its place."""

import torch

from utils.data import pronouns
from utils.positions import LearnedPositions
from utils.self_attention import SelfAttentionTagger
from utils.seq2seq import sequence_loss
from utils.tasks.pronouns import VOCABULARY, as_ids, shares_right, train_pronouns

PARAMETERS = {
    "residual": [True, False],
    "layers": [2, 6],
    "learning_rate": [3e-3, 1e-2],
    "seed": [0, 1, 2],
}
SHORT = {}
MAX_LEN, V = 24, len(VOCABULARY)


def measure(residual: bool, layers: int, learning_rate: float, seed: int) -> dict:
    corpus = pronouns.corpus(seed=0)
    torch.manual_seed(seed)
    positions = LearnedPositions(MAX_LEN, 32)
    model = SelfAttentionTagger(V, V, 32, 4, layers, positions=positions, residual=residual)
    history = train_pronouns(model, sequence_loss, corpus, learning_rate=learning_rate, seed=seed)
    model.eval()
    with torch.no_grad():
        said = model(as_ids(corpus.test)[0]).argmax(-1)
    found = shares_right(said, corpus.test)
    return {
        "loss": history.train["loss"][-1],
        "validation": history.validation["loss"][-1],
        **found,
    }
