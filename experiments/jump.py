"""Does the ability to add appear suddenly? The same answers, all or nothing and digit by digit.

Two blocks of Day 9's adding GPT, 8 to 64 wide, learn sums of three digits, written from the units
on, for 300 steps of 64 sums. Each width has the same three rates of Muon, and keeps the one whose
held-out sums are the least surprising. 5,000 other sums are asked: "exact" is the share of answers
without a mistake, "by digit" the share of correct digits, "independent" the share of answers that
would be correct if each digit were so by itself, "nats" the mean surprise of a true digit. The
first two are also there after each tenth of the steps.
"""

import torch

from utils.scaling import both_measures
from utils.tasks.adding import STEPS, adder, answered, drawn, train_adder

RATES = (0.025, 0.05, 0.1)
PARAMETERS = {"width": [64, 48, 40, 32, 24, 16, 8], "seed": [0, 1, 2]}
SHORT = {"width": [8], "STEPS": 20, "ASKED": 200, "RATES": (0.05,)}
ASKED = 5000
CHOOSING, HELD_OUT = 10**6 + 1, 10**6  # seeds that no training has


def measure(width: int, seed: int) -> dict:
    asked, choosing = drawn(ASKED, HELD_OUT), drawn(ASKED // 5, CHOOSING)
    without = tuple(torch.cat(each) for each in zip(asked, choosing, strict=True))
    by_rate, curves = [], []
    for rate in RATES:
        model, curve = adder(seed, width), []
        for _ in train_adder(model, STEPS, rate, seed, every=STEPS // 10, without=without):
            correct, nats = answered(model, asked, units_first=True)
            curve.append((both_measures(correct), nats.mean().item()))
        by_rate.append(answered(model, choosing, units_first=True)[1].mean().item())
        curves.append(curve)
    best = by_rate.index(min(by_rate))
    measured, nats = curves[best][-1]
    return {
        "parameters": sum(weight.numel() for weight in adder(seed, width).parameters()),
        "rate": RATES[best],
        "by rate": by_rate,
        "exact": measured.exact,
        "by digit": measured.by_digit,
        "independent": measured.independent,
        "nats": nats,
        "exact after each tenth": [each.exact for each, _ in curves[best]],
        "by digit after each tenth": [each.by_digit for each, _ in curves[best]],
    }
