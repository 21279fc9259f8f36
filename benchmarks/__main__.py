"""`python -m benchmarks`: print the table of ratios, ours over the library's."""

import argparse
import itertools
import platform
import statistics
from collections.abc import Iterable

import torch

from benchmarks import (
    attention,
    convolution,
    efficient,
    language,
    recurrent,
    self_attention,
    tokens,
    transformer,
)
from benchmarks.runner import Case, Comparison, compare
from utils.measure.experiments.running import processor
from utils.show.display import format_table

CASES = [
    *convolution.CASES,
    *recurrent.CASES,
    *attention.CASES,
    *self_attention.CASES,
    *transformer.CASES,
    *efficient.CASES.values(),
    *language.CASES,
]
HEADERS = [
    *["\nlayer", "time:\nforward", "\nbackward", "\nboth"],
    *["memory:\nforward", "\nboth", "the library's\nboth"],
]


def spread(ratios: list[float]) -> str:
    """Write the median, and between which values the middle half of the rounds lies."""
    lower, middle, upper = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.2f} ({lower:.2f}–{upper:.2f})"


def row(comparison: Comparison) -> list[str]:
    ours, library = comparison.peak
    step = statistics.median(cost.step for _, cost in comparison.seconds)
    return [
        comparison.case.name,
        *(spread(comparison.ratios(part)) for part in ("forward", "backward", "step")),
        f"{ours.forward / library.forward:.2f}",
        f"{ours.backward / library.backward:.2f}",
        f"{1000 * step:.2f} ms, {library.backward / 2**20:.2f} MiB",
    ]


def report(cases: Iterable[Case], rounds: int) -> list[Comparison]:
    """Measure and print; return what was measured."""
    print(
        f"Ours over the library's, run in turn {rounds} times. Time: the median of the rounds' "
        "ratios (and quartiles).\nMemory: the most that PyTorch had given out at once beside the "
        "inputs, the same in every round.\n\n"
        f"{processor()}, threads: {torch.get_num_threads()}, {platform.system()}, "
        f"Python {platform.python_version()}, PyTorch {torch.__version__}\n"
        "Images of 32×16×28×28 where nothing else is said.\n"
    )
    comparisons = [compare(case, rounds) for case in cases]
    print(format_table([row(comparison) for comparison in comparisons], HEADERS))
    for comparison in comparisons:
        bound, best = comparison.case.bound, comparison.best("step")
        if bound < float("inf"):
            verdict = "within" if best <= bound else "NOT within"
            print(
                f"\n{comparison.case.name} is {verdict} {bound:g} times the library's time: "
                f"{best:.2f} in the quickest rounds of both."
            )
    return comparisons


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how often each is run")
    parser.add_argument(
        "--threads", type=int, default=1, help="on a busy machine, more than one distort the ratios"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    crossings = efficient.crossings(report(CASES, options.rounds))
    for sentence in itertools.chain(crossings, tokens.sentences()):
        print(f"\n{sentence}")


if __name__ == "__main__":
    main()
