"""What a computation costs: bytes and operations, which no busy machine changes, and seconds."""

import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from statistics import linear_regression
from typing import NamedTuple

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.autograd.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler announces each start


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute on one thread meanwhile."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


# Bytes --------------------------------------------------------------------------------------------


def peak_bytes(action: Callable[[], object]) -> int:
    """Return the most bytes that PyTorch's allocator had given out at once during an action.

    What was given out before is not counted. A library's own scratch space, which it doesn't ask
    PyTorch for, is not seen; what autograd keeps, and what a fused kernel asks for, is. It runs on
    one thread, since such a kernel asks for more on more of them.
    """
    with one_thread(), profile(profile_memory=True) as profiler:
        action()
    events = profiler.kineto_results.events()
    changes = [(e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]"]
    changes.sort(key=lambda change: change[0])
    return max(itertools.accumulate((n for _, n in changes), initial=0))


# Operations ---------------------------------------------------------------------------------------


class Work(NamedTuple):
    """Operations: of matrix products and convolutions 2 for each multiply–add, else 1 an element.

    An addition, an exponential and a copy count alike. Views and memory that is taken without being
    filled count nothing, nor does what a product is added to (a bias).
    """

    products: int
    elementwise: int

    @property
    def total(self) -> int:
        return self.products + self.elementwise


def work(action: Callable[[], object]) -> Work:
    """Count the operations of an action, forward and backward alike.

    Reductions count what they read, look-ups what they find. The library's fused attention is
    counted by formula: its products and one operation for each pair (query, key) that may be seen;
    in the backward pass, which makes the weights again, five products and two for each pair.
    Raises: ValueError if a kernel of the library hides products that are not known.
    """
    with _Counter() as counter:
        action()
    return Work(counter.products, counter.elementwise)


class _Counter(TorchDispatchMode):
    """Sees each operation that PyTorch carries out, also those of a backward pass."""

    def __init__(self):
        super().__init__()
        self.products = self.elementwise = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        count = _how_to_count(function)
        if count is None:  # in inference mode, what consists of operations comes as one
            with self:
                return function.decompose(*args, **kwargs)
        result = function(*args, **kwargs)
        products, elementwise = count(args, kwargs, result)
        self.products += products
        self.elementwise += elementwise
        return result


@cache
def _how_to_count(function: OpOverload) -> Callable[[tuple, dict, object], Work] | None:
    """Return what tells an operation's work from (args, kwargs, result), None if it has parts."""
    kind = function.overloadpacket
    if torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), "CompositeImplicitAutograd"):
        return None
    if kind in PRODUCTS:
        return lambda args, kwargs, result: Work(PRODUCTS[kind](*args), 0)
    if kind in FUSED:
        return lambda args, kwargs, result: FUSED[kind](*args, **kwargs)
    if any(part in str(kind) for part in OPAQUE):
        raise ValueError(
            f"{kind} does products in one kernel, which are not counted here: turn it off (oneDNN's"
            " with torch.backends.mkldnn.flags(enabled=False)), or count a layer of the book."
        )
    if function.is_view or kind in FREE:
        return lambda args, kwargs, result: Work(0, 0)
    if kind in LOOK_UPS:
        return lambda args, kwargs, result: Work(0, _largest(result))
    return lambda args, kwargs, result: Work(0, _largest((*args, *kwargs.values(), result)))


def _largest(touched: object) -> int:
    if isinstance(touched, (tuple, list)):
        return max(map(_largest, touched), default=0)
    return touched.numel() if isinstance(touched, Tensor) else 0


def _convolution(x: Tensor, kernels: Tensor, bias: Tensor | None, *how) -> int:
    transposed = how[3]  # then each input meets a whole kernel, not each output
    one = x if transposed else aten.convolution(x.to("meta"), kernels.to("meta"), None, *how)
    return 2 * one.numel() * kernels[0].numel()


def _convolution_backward(_, x: Tensor, kernels: Tensor, __, *how) -> int:
    *how, needed = how  # needed: whether the gradients by x, the kernels and the bias are
    return sum(needed[:2]) * _convolution(x, kernels, None, *how)


def _pairs(query: Tensor, key: Tensor, is_causal: bool) -> int:
    (B, h, T, _), S = query.shape, key.shape[2]
    return B * h * (sum(min(t + 1, S) for t in range(T)) if is_causal else T * S)


def _fused(query: Tensor, key: Tensor, value: Tensor, _=0.0, is_causal=False, **__) -> Work:
    pairs, d_k, d_v = _pairs(query, key, is_causal), key.shape[3], value.shape[3]
    return Work(2 * pairs * (d_k + d_v), pairs)


def _fused_backward(_, query, key, value, context, log_sum, dropout, is_causal, **__) -> Work:
    pairs, d_k, d_v = _pairs(query, key, is_causal), key.shape[3], value.shape[3]
    return Work(2 * pairs * (3 * d_k + 2 * d_v), 2 * pairs)


PRODUCTS = {
    aten.mm: lambda a, b: 2 * a.numel() * b.shape[-1],
    aten.bmm: lambda a, b: 2 * a.numel() * b.shape[-1],
    aten.addmm: lambda _, a, b: 2 * a.numel() * b.shape[-1],
    aten.baddbmm: lambda _, a, b: 2 * a.numel() * b.shape[-1],
    aten.mv: lambda a, b: 2 * a.numel(),
    aten.addmv: lambda _, a, b: 2 * a.numel(),
    aten.dot: lambda a, b: 2 * a.numel(),
    aten.convolution: _convolution,
    aten.convolution_backward: _convolution_backward,
}
FUSED = {
    aten._scaled_dot_product_flash_attention_for_cpu: _fused,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: _fused_backward,
}
OPAQUE = ("rnn", "scaled_dot_product", "native_multi_head", "encoder_layer", "linear_backward")
FREE = {aten.empty, aten.empty_like, aten.empty_strided, aten.new_empty, aten._unsafe_view}
LOOK_UPS = {aten.embedding, aten.index, aten.index_select, aten.gather}

# Seconds ------------------------------------------------------------------------------------------


def seconds(action: Callable[[], object], repeats: int = 5, enough: float = 0.3) -> float:
    """Return the least processor time of an action, on one thread; other programs don't count.

    repeats: how often it is run at most; no more after `enough` seconds, so a long one is run once.
    """
    taken = []
    with one_thread():
        while len(taken) < repeats and sum(taken) < enough:
            start = time.process_time()
            action()
            taken.append(time.process_time() - start)
    return min(taken)


# Between machines ---------------------------------------------------------------------------------


def ring_bytes(n_bytes: float, n: int) -> float:
    """Return what each of n processes sends in an all-reduce of n_bytes around a ring.

    Two rounds, of n - 1 steps each, with an n-th of the bytes at each step: in the first the parts
    are added up on their way, in the second the sums go round: 2 (n - 1)/n · n_bytes (Patarasuk and
    Yuan, 2009). No way of adding them up sends less.
    Raises: ValueError if n is below 1 or n_bytes below 0.
    """
    if n < 1 or n_bytes < 0:
        raise ValueError(f"A ring has at least 1 process and 0 bytes, got {n} and {n_bytes}.")
    return 2 * (n - 1) / n * n_bytes


def ring_seconds(n_bytes: float, n: int, bandwidth: float, latency: float = 0.0) -> float:
    """Return how long that takes if each link carries `bandwidth` bytes a second.

    latency: seconds that a step takes beside its bytes, of which there are 2 (n - 1).
    Raises: ValueError as `ring_bytes` does, or if the bandwidth is not above 0.
    """
    if not bandwidth > 0 or latency < 0:
        raise ValueError(
            f"A link has a bandwidth above 0 and a latency of at least 0, got {bandwidth} and "
            f"{latency}."
        )
    return ring_bytes(n_bytes, n) / bandwidth + 2 * (n - 1) * latency


# Growth -------------------------------------------------------------------------------------------


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Fit values ∝ sizes^p by least squares over their logarithms; return p.

    Raises: ValueError if there are not two different sizes and a value for each, all above 0.
    """
    if len(sizes) != len(values) or len(set(sizes)) < 2 or min(*sizes, *values) <= 0:
        raise ValueError(
            "An exponent needs at least two different sizes, and a value for each, all above 0, "
            f"got {list(sizes)} and {list(values)}."
        )
    return linear_regression([math.log(x) for x in sizes], [math.log(y) for y in values]).slope
