"""Kernels: weights φ(q)·φ(k) instead of exp(q·k), so that the keys are summed up once, for all.

(φ(q) φ(k)ᵀ) v = φ(q) (φ(k)ᵀ v): the left side makes T·S numbers on its way, the right side m·d_v,
for m features. Each value gets a 1 at its end, and what becomes of that is Σ φ(q)·φ(k), by which
the rest is divided.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_at_least
from utils.efficient.blocks import (
    check_one_sequence,
    from_blocks,
    to_blocks,
    without_padding,
)
from utils.transformer.layers import at_least_float32

# The four forms -----------------------------------------------------------------------------------


def quadratic_form(phi_q: Tensor, phi_k: Tensor, value: Tensor, is_causal: bool = False) -> Tensor:
    """Make all T·S weights: what the other forms are equal to, for short sequences.

    Shapes here and below: phi_q (B, h, T, m), phi_k (B, h, S, m), value (B, h, S, d_v).
    Returns: context (B, h, T, d_v), 0 where all weights are 0.
    """
    weights = phi_q @ phi_k.mT  # (B, h, T, S)
    if is_causal:
        check_one_sequence(phi_q, phi_k)
        weights = weights.tril()
    return normalised(weights @ with_one(value))


def parallel_form(phi_q: Tensor, phi_k: Tensor, value: Tensor) -> Tensor:
    """Sum up the keys once (Katharopoulos et al., 2020, eq. 5 and 6). Not causal. O(T·m·d_v)."""
    return normalised(phi_q @ (phi_k.mT @ with_one(value)))


def chunked_form(phi_q: Tensor, phi_k: Tensor, value: Tensor, chunk: int = 64) -> Tensor:
    """Sum up the keys at the end of each chunk; within a chunk, make its weights. Causal.

    Work is O(T·m·d_v + T·chunk·(m + d_v)), in few large products; eq. 9 would keep a sum (m, d_v)
    for each position, this keeps one for each chunk.
    """
    check_one_sequence(phi_q, phi_k)
    check_at_least(1, "The chunk", chunk)
    chunk = min(chunk, value.shape[2])
    q, k, v = (to_blocks(x, chunk) for x in (phi_q, phi_k, with_one(value)))  # (B, h, n, C, ·)
    sums = (k.mT @ v).cumsum(dim=2)  # (B, h, n, m, d_v + 1), with the own chunk
    before = F.pad(sums[:, :, :-1], (0, 0, 0, 0, 1, 0))  # without it
    own = (q @ k.mT).tril() @ v
    return normalised(from_blocks(own + q @ before, value.shape[2]))


def recurrent_step(
    phi_q: Tensor, phi_k: Tensor, value: Tensor, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Take in one key and look at all so far (Katharopoulos et al., 2020, eq. 16 to 20).

    Shapes: phi_q and phi_k (B, h, m), value (B, h, d_v). Returns: context (B, h, d_v) and the state
    (B, h, m, d_v + 1), which is of one size, however many keys it has taken in.
    """
    outer = phi_k[..., None] * with_one(value)[..., None, :]  # (B, h, m, d_v + 1)
    state = outer if state is None else state + outer
    return normalised((phi_q[..., None, :] @ state).squeeze(-2)), state


def recurrent_form(phi_q: Tensor, phi_k: Tensor, value: Tensor) -> Tensor:
    """Step through the sequence as an RNN does. Causal."""
    check_one_sequence(phi_q, phi_k)
    contexts, state = [], None
    for q_t, k_t, v_t in zip(phi_q.unbind(2), phi_k.unbind(2), value.unbind(2), strict=True):
        context, state = recurrent_step(q_t, k_t, v_t, state)
        contexts.append(context)
    return torch.stack(contexts, dim=2)


def with_one(value: Tensor) -> Tensor:
    """Append a 1: (…, d_v) to (…, d_v + 1)."""
    return F.pad(value, (0, 1), value=1.0)


def normalised(sums: Tensor) -> Tensor:
    """Divide by the last number, the sum of the weights: (…, d_v + 1) to (…, d_v)."""
    context, total = sums[..., :-1], sums[..., -1:]
    return context / total.masked_fill(total == 0, 1)


# Linear attention ---------------------------------------------------------------------------------


def elu_features(x: Tensor) -> Tensor:
    """Compute elu(x) + 1 (Katharopoulos et al., 2020, eq. 7): x + 1 above 0, exp(x) below.

    Written as a sum, since elu(x) + 1 = (exp(x) - 1) + 1 would round small ones to 0.
    """
    return F.relu(x) + x.clamp(max=0).exp()


def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    is_causal: bool = False,
    key_mask: Tensor | None = None,
) -> Tensor:
    """Attend with weights φ(q)·φ(k), φ = elu + 1, in O(T·d_k·d_v) (Katharopoulos et al., 2020).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding. Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree, or T ≠ S where it is causal.
    """
    key, value, key_mask = without_padding(query, key, value, key_mask)
    phi_q, phi_k = (elu_features(at_least_float32(x)) for x in (query, key))
    phi_k = phi_k.masked_fill(~key_mask[:, None, :, None], 0)
    return _in_form(phi_q, phi_k, value, is_causal)


def _in_form(phi_q: Tensor, phi_k: Tensor, value: Tensor, is_causal: bool) -> Tensor:
    form = chunked_form if is_causal else parallel_form
    return form(phi_q, phi_k, at_least_float32(value)).to(value.dtype)


# Performer ----------------------------------------------------------------------------------------


def orthogonal_directions(n_features: int, d_k: int, seed: int) -> Tensor:
    """Draw ω (m, d_k): each row as from N(0, I), each d_k rows orthogonal to one another.

    Choromanski et al. (2021, §2.4). QR leaves the signs of its columns to the library: those of R's
    diagonal make Q uniform.
    """
    generator = torch.Generator().manual_seed(seed)
    n = -(-n_features // d_k)
    Q, R = torch.linalg.qr(torch.randn(n, d_k, d_k, generator=generator, dtype=torch.float64))
    Q = Q * R.diagonal(dim1=1, dim2=2).sign()[:, None]
    norms = torch.randn(n, d_k, d_k, generator=generator, dtype=torch.float64).norm(dim=2)
    return (norms[:, :, None] * Q.mT).flatten(0, 1)[:n_features]


def log_features(x: Tensor, omega: Tensor) -> Tensor:
    """Compute log φ(x), φ(x) = exp(ω·x - |x|² / 2) / √m (Choromanski et al., 2021, eq. 5).

    φ(x)·φ(y) is exp(x·y) on average over ω. Shapes: x (…, d_k), omega (m, d_k) to (…, m).
    """
    return x @ omega.T - x.square().sum(-1, keepdim=True) / 2 - math.log(len(omega)) / 2


class Performer(nn.Module):
    """Estimate softmax attention with positive orthogonal random features: FAVOR+.

    Choromanski et al. (2021, §2.3 and 2.4). Exponents are brought below 0 by what cancels in
    the quotient, instead of the paper's small constant, which would not: feature by feature the
    keys' maximum, given to the queries, then each query's own maximum. Causal, a query whose keys
    are all e⁻⁸⁷ times smaller than later ones in every feature is lost in float32, and gets 0.
    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding. Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree, a size is < 1, or T ≠ S where it is causal.
    """

    def __init__(self, d_k: int, n_features: int, seed: int = 0):
        super().__init__()
        check_at_least(1, "d_k", d_k)
        check_at_least(1, "n_features", n_features)
        omega = orthogonal_directions(n_features, d_k, seed)
        self.register_buffer("omega", omega.to(torch.get_default_dtype()))

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        is_causal: bool = False,
        key_mask: Tensor | None = None,
    ) -> Tensor:
        key, value, key_mask = without_padding(query, key, value, key_mask)
        phi_q, phi_k = self.features(query, key, key_mask)
        return _in_form(phi_q, phi_k, value, is_causal)

    def features(self, query: Tensor, key: Tensor, key_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return φ(q) (B, h, T, m) and φ(k) (B, h, S, m), up to factors that cancel."""
        if query.shape[3] != self.omega.shape[1]:
            raise ValueError(
                f"The features are made for d_k = {self.omega.shape[1]}, got {query.shape[3]}."
            )
        scale = query.shape[3] ** -0.25  # q·k / √d_k
        omega = at_least_float32(self.omega)
        log_q, log_k = (log_features(scale * at_least_float32(x), omega) for x in (query, key))
        log_k = log_k.masked_fill(~key_mask[:, None, :, None], -math.inf)
        largest = log_k.detach().amax(dim=2, keepdim=True)  # (B, h, 1, m)
        largest = largest.masked_fill(largest == -math.inf, 0)  # where all keys are padding
        log_q = log_q + largest
        return (log_q - log_q.detach().amax(dim=3, keepdim=True)).exp(), (log_k - largest).exp()
