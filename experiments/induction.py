"""When do heads learn to copy from the context, and does the copying depend on them?

Small GPTs read random segments that come again, in blocks of full attention and a feed-forward
layer, one or two of them. Every hundred steps: the loss where a segment is new and where it comes
again, and how well each head matches prefixes. In the end, the heads that do are silenced (by their
mean over sequences), in the model of every hundredth step; beside it as many others, five draws.
"""

import copy
import random
from statistics import fmean

from utils.tasks.copying import (
    T,
    V,
    copier,
    first_and_again,
    looks,
    prefix_matching,
    repeated,
    silenced,
    surprises,
    train_copier,
)

PARAMETERS = {"layers": [2, 1], "heads": 4, "steps": 2000, "seed": [0, 1, 2]}
PERIOD = 18
MATCHES = 0.3  # least score of an induction head


def measure(layers: int, heads: int, steps: int, seed: int) -> dict:
    model, test = copier(layers, heads, seed), repeated(256, T + 1, V, PERIOD, seed=10**6)
    states = [copy.deepcopy(model.state_dict())]
    for _ in train_copier(model, steps, seed):
        states.append(copy.deepcopy(model.state_dict()))
    every = [(block, head) for block in range(layers) for head in range(heads)]
    scores = prefix_matching(looks(model, test[:, :-1]), test[:, :-1]).flatten().tolist()
    found = [place for place, score in zip(every, scores, strict=True) if score > MATCHES]
    others = [place for place in every if place not in found]
    chance = random.Random(seed)
    draws = [chance.sample(others, min(len(found), len(others))) for _ in range(5)]

    def again(quiet: list[tuple[int, int]]) -> float:
        with silenced(model, quiet):
            return first_and_again(surprises(model, test), PERIOD)[1]

    curves = {name: [] for name in ("new", "again", "best score", "silenced", "others silenced")}
    for state in states:
        model.load_state_dict(state)
        new, usual = first_and_again(surprises(model, test), PERIOD)
        best = prefix_matching(looks(model, test[:, :-1]), test[:, :-1]).max().item()
        rest = fmean(again(draw) for draw in draws)
        for curve, value in zip(
            curves.values(), (new, usual, best, again(found), rest), strict=True
        ):
            curve.append(value)
    return {
        **curves,
        "scores": scores,
        "induction heads": len(found),
        "each silenced": [again([place]) for place in every],
        "draws silenced": [again(draw) for draw in draws],
    }
