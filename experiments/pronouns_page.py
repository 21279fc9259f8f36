"""The reader of pronouns in a page: two layers of self-attention, trained, rounded and stored.

It has the size of Day 5's reader, and learns from the same sentences. "pronoun" and "gap" are its
shares of correct answers on the test set, "unseen pairs" its pronouns where a noun and what is said
of it were never together; "int8" are the same with its matrices in whole numbers of 8 bits. The
reader of the first seed is stored for the page, in int8.
"""

import torch

from utils.data import pronouns
from utils.data.text import SPECIAL
from utils.positions import LearnedPositions
from utils.pretraining.rounded import with_rounded_weights
from utils.self_attention import SelfAttentionTagger
from utils.seq2seq import sequence_loss
from utils.show.views.models import store
from utils.tasks.pronouns import VOCABULARY, as_ids, shares_right, train_pronouns
from utils.tasks.rounded import in_int8

STORED = 0  # the seed
PARAMETERS = {"seed": [STORED], "epochs": 12}
SHORT = {"epochs": 1, "STORED": None}
MAX_LEN, V, HEADS = 24, len(VOCABULARY), 4


def measure(seed: int, epochs: int) -> dict:
    corpus = pronouns.corpus(seed=0)
    torch.manual_seed(seed)
    model = SelfAttentionTagger(V, V, 32, HEADS, 2, positions=LearnedPositions(MAX_LEN, 32))
    train_pronouns(model, sequence_loss, corpus, epochs=epochs, seed=seed)
    model.eval()
    if seed == STORED:
        store(
            "pronouns",
            in_int8(model),
            made_by="experiments/pronouns_page.py",
            heads=HEADS,
            words=list(VOCABULARY.symbols[len(SPECIAL) :]),
        )
    rounded = shares(with_rounded_weights(model), corpus)
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        **shares(model, corpus),
        **{f"{name}, int8": share for name, share in rounded.items()},
    }


@torch.no_grad()
def shares(model: torch.nn.Module, corpus: pronouns.Corpus) -> dict[str, float]:
    """How much is correct in the test set, and of the pronouns with unseen pairs."""
    right = shares_right(model(as_ids(corpus.test)[0]).argmax(-1), corpus.test)
    unseen = shares_right(model(as_ids(corpus.unseen_pairs)[0]).argmax(-1), corpus.unseen_pairs)
    return right | {"unseen pairs": unseen["pronoun"]}
