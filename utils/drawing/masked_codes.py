"""Day 13: all codes of a picture at once, in a few steps, by Day 6's encoder (MaskGIT).

Shapes: codes (B, n), hidden (B, n), True where a code is not known; words (B, T) with lengths (B,).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_lengths, check_sizes
from utils.drawing.codes import check_codes
from utils.drawing.sentence_and_picture import SharedVocabulary, check_pairs
from utils.transformer import Encoder, TransformerConfig

NOISE = 4.5  # the paper's code begins with it for pictures of ImageNet


def mask_share(done: float) -> float:
    """Return the share of codes that are hidden when so much is done: cos(π/2 · done).

    (Chang et al., 2022, §3.3.) It falls slowly at first: the first codes are the hardest.
    Raises: ValueError if done isn't from 0 to 1.
    """
    if not 0 <= done <= 1:
        raise ValueError(f"What is done is a share from 0 to 1, got {done}.")
    return math.cos(math.pi / 2 * done)


def unmask_schedule(n: int, steps: int) -> list[int]:
    """Return how many of n codes are still hidden after each of the steps, 0 after the last.

    Shares by `mask_share`, rounded down; each step shows at least one (ibid., §3.2, and its code).
    Raises: ValueError if a number is below 1, or there are more steps than codes.
    """
    check_sizes(n=n, steps=steps)
    if steps > n:
        raise ValueError(f"{n} codes can't be shown in {steps} steps: each shows at least one.")
    hidden = []
    for t in range(1, steps + 1):
        most = (hidden[-1] if hidden else n) - 1
        hidden.append(min(most, math.floor(n * mask_share(t / steps))))
    return hidden


def hide_codes(codes: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw which codes are hidden in training: of each picture another share, at least one code.

    The share is `mask_share` of a number from 0 to 1, drawn uniformly (ibid., §3.1).
    Shapes: codes (B, n) to hidden (B, n).
    Raises: ValueError if codes are not (B, n).
    """
    if codes.dim() != 2 or 0 in codes.shape:
        raise ValueError(f"Expected codes (B, n), got {tuple(codes.shape)}.")
    B, n = codes.shape
    done = torch.rand(B, 1, generator=generator)
    n_hidden = (n * torch.cos(math.pi / 2 * done)).ceil().clamp(min=1)
    order = torch.rand(B, n, generator=generator).argsort(dim=1)  # each place has a random rank
    return (order < n_hidden).to(codes.device)


def masked_code_loss(logits: Tensor, codes: Tensor, hidden: Tensor) -> Tensor:
    """Return the mean cross-entropy of the codes that are hidden (ibid., eq. 1).

    Shapes: logits (B, n, K), codes (B, n), hidden (B, n), to one number.
    Raises: ValueError if the shapes don't fit, or no code is hidden.
    """
    check_codes(codes, logits.shape[-1])
    if logits.shape[:-1] != codes.shape or hidden.shape != codes.shape:
        raise ValueError(
            "Expected logits (B, n, K), codes (B, n) and hidden (B, n), got "
            f"{tuple(logits.shape)}, {tuple(codes.shape)} and {tuple(hidden.shape)}."
        )
    if not hidden.any():
        raise ValueError("No code is hidden: there is nothing to predict.")
    return F.cross_entropy(logits[hidden], codes[hidden])


class MaskedCodes(nn.Module):
    """Predict the hidden codes of a picture from the others and from a sentence.

    Day 6's encoder reads codes first and then words, so that each place has its own position; the
    mark of the vocabulary stands where a code is hidden. Published models have other codes, so
    none is loaded; `encoder.load_library` takes the blocks of an nn.TransformerEncoder.

    config: its vocab_size is that of the vocabulary, its max_len at least n_places + longest.
    Shapes: codes (B, n_places), hidden (B, n_places), words (B, T), padded behind, and lengths
        (B,), 0 without a sentence, to logits (B, n_places, K).
    Raises: ValueError if the config, lengths or hidden don't fit, or as the vocabulary does.
    """

    def __init__(self, config: TransformerConfig, vocabulary: SharedVocabulary):
        super().__init__()
        check_fits(config, vocabulary)
        self.vocabulary = vocabulary
        self.encoder = Encoder(config)
        self.output = nn.Linear(config.d_model, vocabulary.n_codes)

    def forward(self, codes: Tensor, hidden: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        check_pairs(words, codes)
        if hidden.shape != codes.shape or hidden.dtype != torch.bool:
            raise ValueError(
                f"Expected a boolean for each of the codes {tuple(codes.shape)}, got "
                f"{tuple(hidden.shape)} of {hidden.dtype}."
            )
        n = self.vocabulary.n_places
        ids = self.vocabulary.ids_of(codes).masked_fill(hidden, self.vocabulary.mark)
        words = self.vocabulary.padded(words)
        check_lengths(lengths + n, len(codes), n + words.shape[1])
        if not torch.compiler.is_compiling() and (least := min(lengths.tolist(), default=0)) < 0:
            raise ValueError(f"A sentence has 0 words or more, not {least}.")
        x, _ = self.encoder(torch.cat([ids, words], dim=1), lengths + n)
        return self.output(x[:, :n])


@torch.no_grad()
def unmask(
    model: MaskedCodes,
    words: Tensor,
    lengths: Tensor,
    *,
    steps: int,
    choose: Callable[[Tensor], Tensor],
    noise: float = NOISE,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw all codes at once, keep the most probable ones, and draw the others again.

    What is kept is decided by the logarithm of a code's probability and by Gumbel noise, which is
    less from step to step and none at the last (ibid., §3.2, and its code).

    choose: takes logits (B, n, K), gives codes (B, n), as `training.sampling.chooser` does.
    noise: by what the noise is multiplied at first; with 0 the most probable are always kept.
    Shapes: words (B, T), lengths (B,), to codes (B, n_places).
    Raises: ValueError as the model and `unmask_schedule` do.
    """
    n, B = model.vocabulary.n_places, len(words)
    codes = torch.zeros(B, n, dtype=torch.long, device=words.device)
    hidden = torch.ones_like(codes, dtype=torch.bool)
    for t, still in enumerate(unmask_schedule(n, steps), start=1):
        logits = model(codes, hidden, words, lengths)
        codes = torch.where(hidden, choose(logits), codes)
        sure = logits.log_softmax(dim=-1).gather(2, codes[:, :, None]).flatten(1)
        gumbel = -torch.empty(B, n).exponential_(generator=generator).log().to(sure)
        sure = (sure + noise * (1 - t / steps) * gumbel).masked_fill(~hidden, torch.inf)
        hidden = torch.zeros_like(hidden).scatter(1, sure.argsort()[:, :still], True)
    return codes


def check_fits(config: TransformerConfig, vocabulary: SharedVocabulary) -> None:
    """Raise a ValueError if a model's sizes don't fit its vocabulary."""
    length = vocabulary.n_places + vocabulary.longest
    if config.vocab_size != len(vocabulary) or config.max_len < length:
        raise ValueError(
            f"Expected a vocabulary of {len(vocabulary)} symbols and a longest sequence of at "
            f"least {length}, got {config.vocab_size} and {config.max_len}."
        )
