"""When do heads learn to copy from the context, and does the copying depend on them?

Small GPTs of one block or two read random segments that come again. Every hundred steps: the loss
where a segment is new and where it comes again, and how well the best head matches prefixes. In the
end heads are told apart by what they look at: those that match prefixes, the one of the first block
that looks most at the symbol before, and the rest. Each kind is silenced (by the mean over
sequences) in the model of every hundredth step; in the last one also each head alone, and ten draws
of as many heads as match prefixes, from all the others.
"""

import copy
import random

from utils.tasks.copying import (
    T,
    V,
    copier,
    first_and_again,
    looks,
    looks_back,
    prefix_matching,
    repeated,
    silenced,
    surprises,
    train_copier,
)

PARAMETERS = {"layers": [2, 1], "heads": 4, "steps": 2000, "seed": [0, 1, 2]}
SHORT = {"steps": 200}
PERIOD = 18
LEAST = 0.3  # score of an induction head
KINDS = "induction heads", "the helper", "the rest"


def measure(layers: int, heads: int, steps: int, seed: int) -> dict:
    model, test = copier(layers, heads, seed), repeated(256, T + 1, V, PERIOD, seed=10**6)
    states = [copy.deepcopy(model.state_dict())]
    for _ in train_copier(model, steps, seed):
        states.append(copy.deepcopy(model.state_dict()))
    weights = looks(model, test[:, :-1])
    matching = prefix_matching(weights, test[:, :-1]).flatten().tolist()
    previous = looks_back(weights).flatten().tolist()
    every = [(block, head) for block in range(layers) for head in range(heads)]
    induction = [place for place, score in zip(every, matching, strict=True) if score > LEAST]
    helper = 0, max(range(heads), key=lambda head: previous[head])
    rest = [place for place in every if place not in {*induction, helper}]

    def again(quiet: list[tuple[int, int]]) -> float:
        with silenced(model, quiet):
            return first_and_again(surprises(model, test), PERIOD)[1]

    names = "new", "again", "best score", *(f"without {kind}" for kind in KINDS)
    curves = {name: [] for name in names}
    for state in states:
        model.load_state_dict(state)
        new, usual = first_and_again(surprises(model, test), PERIOD)
        best = prefix_matching(looks(model, test[:, :-1]), test[:, :-1]).max().item()
        values = new, usual, best, again(induction), again([helper]), again(rest)
        for curve, value in zip(curves.values(), values, strict=True):
            curve.append(value)
    others, chance = [place for place in every if place not in induction], random.Random(seed)
    draws = [chance.sample(others, min(len(induction), len(others))) for _ in range(10)]
    return {
        "matching": matching,
        "looks back": previous,
        "induction heads": len(induction),
        "helper": helper[1],
        "each silenced": [again([place]) for place in every],
        "draws": [again(draw) for draw in draws],
        **curves,
    }
