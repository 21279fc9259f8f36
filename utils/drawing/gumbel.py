"""Day 13: codes that are drawn, not looked up: DALL·E's discrete autoencoder.

Shapes: logits (…, K) of the codes at each place; of pictures (B, K, h, w).
"""

import math

import torch
from torch import Tensor, nn

from utils.arguments import check_logits, check_sizes, check_temperature
from utils.drawing.codes import Quantised, check_codes, check_weight


def gumbel_softmax(logits: Tensor, tau: float, generator: torch.Generator | None = None) -> Tensor:
    """Draw nearly one-hot weights, through which a gradient passes.

    softmax((logits + g) / τ), g = -ln(-ln u), u uniform (Jang et al., 2017, eq. 2; Maddison et al.,
    2017). The largest weight is that of a code drawn from softmax(logits); as τ falls to 0, it
    becomes 1.
    Shapes: logits (…, K) to weights (…, K), whose sum is 1.
    Raises: ValueError if τ is not positive, or there is nothing to choose from.
    """
    check_logits(logits)
    check_temperature(tau, logits)
    noise = torch.empty_like(logits, memory_format=torch.contiguous_format)
    noise = -noise.exponential_(generator=generator).log()  # -ln u is exponential
    return ((logits + noise) / tau).softmax(dim=-1)


def kl_to_uniform(logits: Tensor) -> Tensor:
    """Return KL(softmax(logits) ‖ uniform) = ln K - entropy, in nats, the mean over all places.

    DALL·E's prior of its codes is uniform (Ramesh et al., 2021, §2.1).
    Shapes: logits (…, K) to one number, 0 to ln K.
    Raises: ValueError if there is nothing to choose from.
    """
    check_logits(logits)
    log_p = logits.log_softmax(dim=-1).clamp(min=torch.finfo(logits.dtype).min)  # 0 · -inf is NaN
    return math.log(logits.shape[-1]) + (log_p.exp() * log_p).sum(dim=-1).mean()


class GumbelCodebook(nn.Module):
    """A codebook for which the encoder gives the probability of each code (Ramesh et al., 2021).

    In training, the decoder reads a mixture of vectors weighted by `gumbel_softmax`; in evaluation
    mode, the vector of the likeliest code. The loss is the KL divergence to the uniform
    distribution, weighted. PyTorch has `functional.gumbel_softmax`, but no such layer; `table`
    (K, D) takes an nn.Embedding's weight.

    tau: the temperature, which training lowers: DALL·E's goes from 1 to 1/16 (appendix A.2).
    kl_weight: β; DALL·E's is 6.6 for sums over pixels and places, and here both are means.
    Shapes: logits (B, K, h, w) to `Quantised`, with vectors (B, D, h, w).
    Raises: ValueError if a size is below 1, the weight is below 0, or the logits have another
        shape.
    """

    def __init__(self, K: int, D: int, *, tau: float = 1.0, kl_weight: float = 0.0):
        super().__init__()
        check_sizes(K=K, D=D)
        check_weight("kl_weight", kl_weight)
        self.K, self.D, self.in_channels = K, D, K
        self.tau, self.kl_weight = tau, kl_weight
        self.table = nn.Parameter(torch.randn(K, D))

    def forward(self, logits: Tensor) -> Quantised:
        logits = self._by_place(logits)
        codes = logits.argmax(dim=-1)
        if self.training:
            vectors = gumbel_softmax(logits, self.tau) @ self.table
        else:
            vectors = self.table[codes]
        loss = self.kl_weight * kl_to_uniform(logits)
        return Quantised(vectors.permute(0, 3, 1, 2), codes.flatten(1), loss)

    def choose(self, logits: Tensor) -> Tensor:
        """Return the likeliest codes alone. Shapes: logits (B, K, h, w) to (B, h·w)."""
        return self._by_place(logits).argmax(dim=-1).flatten(1)

    def vectors(self, codes: Tensor) -> Tensor:
        """Return the vectors of codes, in a row. Shapes: (B, n) to (B, n, D).

        Raises: ValueError if a code is not a whole number from 0 to K - 1.
        """
        check_codes(codes, self.K)
        return self.table[codes]

    def _by_place(self, logits: Tensor) -> Tensor:
        """(B, K, h, w) to (B, h, w, K)."""
        if logits.dim() != 4 or logits.shape[1] != self.K or 0 in logits.shape:
            raise ValueError(f"Expected logits (B, {self.K}, h, w), got {tuple(logits.shape)}.")
        return logits.permute(0, 2, 3, 1)
