"""Day 13: codes: each vector becomes the nearest of K learned ones, and only its number is kept.

Shapes: vectors (…, D), a codebook (K, D); codes (…) are whole numbers from 0 to K - 1 in int64. Of
pictures, vectors are (B, D, h, w) and codes (B, h·w), row by row.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_share, check_sizes, described, is_whole

FEWEST = 1e-5  # vectors that a mean is over, at least, so that no 0 divides


def nearest_codes(z: Tensor, codebook: Tensor) -> tuple[Tensor, Tensor]:
    """Return the number of the codebook's vector that is nearest to each z, and that vector.

    (van den Oord et al., 2017, eq. 1 and 2.) Of several that are equally near, the first counts.
    Shapes: z (…, D), codebook (K, D) to codes (…) and q (…, D).
    Raises: ValueError if the codebook isn't (K, D), or the vectors have another width.
    """
    if codebook.dim() != 2 or 0 in codebook.shape or z.shape[-1:] != codebook.shape[1:]:
        raise ValueError(
            "Expected vectors (…, D) and a codebook (K, D) of one width, got "
            f"{tuple(z.shape)} and {tuple(codebook.shape)}."
        )
    distances = codebook.square().sum(dim=1) - 2 * z @ codebook.T  # squared, but for |z|²
    codes = distances.argmin(dim=-1)
    return codes, codebook[codes]


def straight_through(z: Tensor, q: Tensor) -> Tensor:
    """Return q, with z's gradient: q's goes to z as it is (Bengio et al., 2013).

    The choice of the nearest vector has no slope, so the decoder's gradient takes the place of the
    encoder's (van den Oord et al., 2017, §3.2).
    Shapes: z and q (…, D) to the same.
    Raises: ValueError if z and q have different shapes.
    """
    check_alike(z, q)
    return z + (q - z).detach()


def codebook_loss(z: Tensor, q: Tensor, commitment: float = 0.25) -> Tensor:
    """Return the loss that brings codes to their vectors, and vectors to their codes.

    mean (sg[z] - q)² + β · mean (z - sg[q])², where sg stops the gradient: the last two parts of
    eq. 3 of van den Oord et al. (2017), whose squares are summed up there.
    commitment: β, which is how strongly vectors are held to the codes that they have chosen.
    Shapes: z and q (…, D) to one number.
    Raises: ValueError if z and q have different shapes, or β is below 0.
    """
    check_alike(z, q)
    check_weight("commitment", commitment)
    return F.mse_loss(q, z.detach()) + commitment * F.mse_loss(z, q.detach())


def perplexity_of_codes(codes: Tensor, K: int) -> float:
    """Return how many of K codes are in use, as exp of the entropy of their shares, 1 to K.

    With n codes that are used equally often it is n.
    Shapes: codes (…), any number of them.
    Raises: ValueError if there is no code, or one is not a whole number from 0 to K - 1.
    """
    check_codes(codes, K)
    if codes.numel() == 0:
        raise ValueError("There is no code: nothing is in use.")
    shares = codes.flatten().bincount(minlength=K).double() / codes.numel()
    return torch.special.entr(shares).sum().exp().item()


class Quantised(NamedTuple):
    """What a codebook makes of a picture's vectors."""

    vectors: Tensor  # (B, D, h, w), which the decoder reads
    codes: Tensor  # (B, h·w)
    loss: Tensor  # one number, to be added to the picture's


class Codebook(nn.Module):
    """Replace each vector by the nearest of K learned ones (van den Oord et al., 2017, §3).

    The codes are learned by `codebook_loss`; or each is the moving average of the vectors that
    chose it (ibid., appendix A.1; Razavi et al., 2019, §2.1), and the loss has the commitment
    alone. PyTorch has no such layer; `table` (K, D) takes the weight of a published codebook, which
    is mostly an nn.Embedding's.

    commitment: β in the loss.
    decay: the share of a moving average that stays at each step, such as 0.99; None without them.
    Shapes: z (B, D, h, w) to `Quantised`.
    Raises: ValueError if a size is below 1, a weight or share can't be one, or z is of another
        shape.
    """

    def __init__(self, K: int, D: int, *, commitment: float = 0.25, decay: float | None = None):
        super().__init__()
        check_sizes(K=K, D=D)
        check_weight("commitment", commitment)
        if decay is not None:
            check_share("decay", decay)
        self.K, self.D, self.in_channels = K, D, D
        self.commitment, self.decay = commitment, decay
        table = torch.empty(K, D).uniform_(-1 / K, 1 / K)
        self.table = nn.Parameter(table, requires_grad=decay is None)
        self.register_buffer("uses", torch.zeros(K, dtype=torch.long))  # since the last restart
        if decay is not None:
            self.register_buffer("counts", torch.ones(K))
            self.register_buffer("sums", table.clone())

    def forward(self, z: Tensor) -> Quantised:
        vectors = self._vectors(z)
        codes, q = nearest_codes(vectors, self.table)
        loss = codebook_loss(vectors, q, self.commitment)
        if self.training:
            self._count(vectors.detach(), codes)
        read = straight_through(vectors, q).permute(0, 3, 1, 2)
        return Quantised(read, codes.flatten(1), loss)

    def choose(self, z: Tensor) -> Tensor:
        """Return the nearest codes alone. Shapes: z (B, D, h, w) to (B, h·w)."""
        return nearest_codes(self._vectors(z), self.table)[0].flatten(1)

    def vectors(self, codes: Tensor) -> Tensor:
        """Return the vectors of codes, in a row. Shapes: (B, n) to (B, n, D).

        Raises: ValueError if a code is not a whole number from 0 to K - 1.
        """
        check_codes(codes, self.K)
        return self.table[codes]

    @torch.no_grad()
    def restart_unused(self, z: Tensor, generator: torch.Generator | None = None) -> int:
        """Put each code that nothing chose since the last restart where a vector is; say how many.

        The vectors are drawn from z (Dhariwal et al., 2020, §3.1). Before the first step, all codes
        are unused, and so begin where the vectors are.
        Shapes: z (B, D, h, w).
        """
        vectors = self._vectors(z).flatten(0, 2)
        unused = self.uses == 0
        n = int(unused.sum())
        order = torch.randperm(len(vectors), generator=generator).to(vectors.device)
        chosen = vectors[order[torch.arange(n, device=order.device) % len(order)]]
        self.table[unused] = chosen
        if self.decay is not None:
            self.counts[unused], self.sums[unused] = 1.0, chosen
        self.uses.zero_()
        return n

    def _vectors(self, z: Tensor) -> Tensor:
        """(B, D, h, w) to (B, h, w, D)."""
        if z.dim() != 4 or z.shape[1] != self.D or 0 in z.shape:
            raise ValueError(f"Expected vectors (B, {self.D}, h, w), got {tuple(z.shape)}.")
        return z.permute(0, 2, 3, 1)

    @torch.no_grad()
    def _count(self, vectors: Tensor, codes: Tensor) -> None:
        uses = codes.flatten().bincount(minlength=self.K)
        self.uses += uses
        if self.decay is None:
            return
        sums = torch.zeros_like(self.sums).index_add_(0, codes.flatten(), vectors.flatten(0, 2))
        self.counts.lerp_(uses.to(self.counts), 1 - self.decay)
        self.sums.lerp_(sums, 1 - self.decay)
        self.table.copy_(self.sums / self.counts.clamp(min=FEWEST)[:, None])


def check_alike(z: Tensor, q: Tensor) -> None:
    """Raise a ValueError if there is not one code's vector for each vector."""
    if z.shape != q.shape:
        raise ValueError(
            f"Expected a code's vector for each vector, got {tuple(q.shape)} for {tuple(z.shape)}."
        )


def check_weight(name: str, weight: float) -> None:
    """Raise a ValueError if a part of a loss can't be weighted by this."""
    if not 0 <= weight < math.inf:
        raise ValueError(f"{name} is a weight of at least 0, got {weight}.")


def check_codes(codes: Tensor, K: int) -> None:
    """Raise a ValueError if these are not whole numbers from 0 to K - 1, in int64.

    In int8 to int32, an id may be too large, and uint8 as an index would be a mask.
    """
    if not is_whole(codes):
        raise ValueError(f"Codes are a tensor of whole numbers, got {described(codes)}.")
    if codes.dtype != torch.int64:
        raise ValueError(f"Codes are int64, got {described(codes)}: convert them with `.long()`.")
    if torch.compiler.is_compiling() or not codes.numel():
        return
    smallest, largest = (int(end) for end in codes.aminmax())
    if smallest < 0 or largest >= K:
        wrong = smallest if smallest < 0 else largest
        raise ValueError(f"Codes run from 0 to {K - 1} in this codebook, got {wrong}.")
