"""What does "it" look at, and does the network use what it sees there?

Self-attention fills the gap with the form that the subject wants, and says which noun a pronoun
means. Then links are cut: the pronoun may no longer look at its antecedent, or at another word.
And where number does not decide what a pronoun means, the adjective is hidden from some words.
"""

import random

import torch
from torch import Tensor

from utils.data import pronouns
from utils.positions import LearnedPositions
from utils.self_attention import SelfAttentionTagger
from utils.seq2seq import sequence_loss
from utils.tasks.pronouns import VOCABULARY, as_ids, shares_right, train_pronouns, without_link

PARAMETERS = {"layers": 2, "heads": [1, 4], "epochs": 6, "seed": [0, 1, 2, 3, 4]}
SHORT = {"epochs": 1}
MAX_LEN, V = 24, len(VOCABULARY)
EVERY = slice(None)


def measure(layers: int, heads: int, epochs: int, seed: int) -> dict:
    corpus = pronouns.corpus(seed=0)
    torch.manual_seed(seed)
    model = SelfAttentionTagger(V, V, 32, heads, layers, positions=LearnedPositions(MAX_LEN, 32))
    train_pronouns(model, sequence_loss, corpus, epochs=epochs, seed=seed)
    model.eval()
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        **shares(model, corpus),
        **looks(model, corpus.test),
        **cuts(model, corpus.test),
        **hidden(model, corpus.test),
    }


@torch.no_grad()
def shares(model: SelfAttentionTagger, corpus: pronouns.Corpus) -> dict:
    """How much is right, of new sentences and of those whose pairs are new."""
    right = {}
    for name, part in (("", corpus.test), (", unseen pairs", corpus.unseen_pairs)):
        said = model(as_ids(part)[0]).argmax(-1)
        found = shares_right(said, part)
        right |= {f"{what}{name}": share for what, share in found.items()}
    return right


@torch.no_grad()
def looks(model: SelfAttentionTagger, part: list[pronouns.Sentence]) -> dict:
    """Mean weight of each link, in each layer and head."""
    _, weights = model(as_ids(part)[0], need_weights=True)  # (B, L, h, T, T)
    links = {
        f"{query} to {key}": weights[range(len(part)), :, :, queries, keys].mean(0)
        for query, key, queries, keys in linked(part)
    }
    return {name: link.flatten().tolist() for name, link in links.items()}


def linked(part: list[pronouns.Sentence]) -> list[tuple]:
    """Who looks at whom: names, and the places of both in each sentence."""
    gap, subject, pronoun, antecedent, said = (
        [getattr(sentence, name) for sentence in part]
        for name in ("gap", "subject", "pronoun", "antecedent", "said")
    )
    chance = random.Random(0)
    other = [chance.choice([n for n in s.nouns if n != s.antecedent]) for s in part]
    rest = [
        chance.choice(sorted({*range(len(s.words))} - {*s.nouns, s.pronoun, s.said})) for s in part
    ]
    return [
        ("pronoun", "antecedent", pronoun, antecedent),
        ("pronoun", "other noun", pronoun, other),
        ("pronoun", "what is said", pronoun, said),
        ("pronoun", "no noun", pronoun, rest),
        ("gap", "subject", gap, subject),
    ]


@torch.no_grad()
def cuts(model: SelfAttentionTagger, part: list[pronouns.Sentence]) -> dict:
    """How much is still right when one link is cut: in one layer, in all, in one head."""
    ids, _ = as_ids(part)
    L, h = len(model.layers), model.layers[0].n_heads

    def right(query: str, link: Tensor, layers: slice, heads: slice = EVERY) -> float:
        mask = torch.ones(len(part), L, h, *link.shape[1:], dtype=torch.bool)
        mask[:, layers, heads] = link[:, None, None]
        return shares_right(model(ids, mask).argmax(-1), part)[query]

    found, only = {}, [slice(i, i + 1) for i in range(max(L, h))]
    for query, key, *places in linked(part):
        link, name = without_link(part, *places), f"cut {query} to {key}"
        found[name] = right(query, link, EVERY)
        for layer in range(L):
            found[f"{name}, layer {layer + 1}"] = right(query, link, only[layer])
        if key in ("antecedent", "subject"):
            found[f"{name}, by head"] = [
                right(query, link, only[i], only[j]) for i in range(L) for j in range(h)
            ]
    return found


@torch.no_grad()
def hidden(model: SelfAttentionTagger, part: list[pronouns.Sentence]) -> dict:
    """Pronouns right where number does not decide and some words do not see the adjective."""
    needy = [sentence for sentence in part if not pronouns.number_decides(sentence)]
    ids, _ = as_ids(needy)
    blind = {
        "nobody": [[] for _ in needy],
        "pronoun": [[s.pronoun] for s in needy],
        "nouns": [s.nouns for s in needy],
        "pronoun and nouns": [[s.pronoun, *s.nouns] for s in needy],
        "all": [[n for n in range(len(s.words)) if n != s.said] for s in needy],
    }
    right = {}
    for name, places in blind.items():
        mask = torch.ones(len(needy), 1, 1, ids.shape[1], ids.shape[1], dtype=torch.bool)
        for i, s in enumerate(needy):
            mask[i, :, :, places[i], s.said] = False
        said = model(ids, mask).argmax(-1)
        right[f"hidden from {name}"] = shares_right(said, needy)["pronoun"]
    return right | {"number does not decide": len(needy)}
