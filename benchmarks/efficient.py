"""Day 7: linear and window attention beside the library's fused full attention, by length.

They don't compute the same. The question is from which length on less work is less time, beside a
kernel that does everything in one piece.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import torch
from torch.nn import functional as F

from benchmarks.runner import Case, Comparison
from utils.efficient import linear_attention, window_attention

HEADS, D_K, WINDOW = 4, 64, 64
LENGTHS = (128, 256, 512, 1024)
FORMS = {
    "linear": linear_attention,
    f"window, {WINDOW} to each side": partial(window_attention, window=WINDOW),
}


def case(form: str, T: int) -> Case:
    heads = torch.randn(3, 1, HEADS, T, D_K, generator=torch.Generator().manual_seed(0)).unbind()
    name = f"attention, {form}, beside full, T = {T}"
    return Case(name, FORMS[form], F.scaled_dot_product_attention, heads, same=False)


CASES = {(form, T): case(form, T) for form in FORMS for T in LENGTHS}


def crossings(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Say of each form from which length on it is faster than full attention, for all longer."""
    ratios = {comparison.case: comparison.best("step") for comparison in comparisons}
    for form in FORMS:
        faster = None
        for T in reversed(LENGTHS):
            if ratios[CASES[form, T]] >= 1:
                break
            faster = T
        where = "at no length" if faster is None else f"from T = {faster} on"
        yield (
            f"Attention, {form}, is faster than the library's full attention {where}, forward and "
            "backward, in the quickest rounds of both."
        )
