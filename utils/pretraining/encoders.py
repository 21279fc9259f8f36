"""Day 10: BERT, and what was made of it: an encoder that guesses the words that were hidden.

Shapes: ids (B, T), padded behind their ends; types (B, T), of which sentence each symbol is, 0 or
1; lengths (B,) count what is real. Inside, sequences are (B, T, D).
"""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sequences, check_sizes
from utils.attention import padding_mask
from utils.classification import first_pool
from utils.language import UnscaledEmbedding
from utils.positions import LearnedPositions, sinusoidal
from utils.transformer import Encoder, Parts, TransformerConfig
from utils.transformer.config import PAPERS
from utils.transformer.layers import ACTIVATIONS, Norm

# From ids to vectors ------------------------------------------------------------------------------


class PairEmbedding(nn.Module):
    """Words, their positions, and of which sentence they are, summed and normalised (BERT, fig. 2).

    It goes into `Parts` as the embedding. Where it adds positions, before its norm, the config has
    `positions=None` (Devlin et al., 2019; the norm is in the published code).

    max_len: positions that are learned; None if it adds none, as where attention turns them.
    n_types: sentences that are told apart; 0 as in DistilBERT, which learns none.
    width: of the tables, if it isn't d_model: a matrix leads on (ALBERT: Lan et al., 2020, §3.1).
    norm: makes the norm of a width.
    Shapes: ids and types (B, T) to (B, T, d_model); without types, all is of the first sentence.
    Raises: ValueError if a size is below 1, for ids as `Embedding` does, beyond max_len, or if
    types don't fit the ids, or are not told apart.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        max_len: int | None,
        n_types: int = 2,
        width: int | None = None,
        norm: Norm = nn.LayerNorm,
    ):
        super().__init__()
        E = d_model if width is None else width
        check_sizes(width=E)
        if n_types != 0:
            check_sizes(n_types=n_types)
        self.words = UnscaledEmbedding(vocab_size, E)
        self.types = UnscaledEmbedding(n_types, E) if n_types else None
        self.positions = nn.Identity() if max_len is None else LearnedPositions(max_len, E)
        self.norm = norm(E)
        self.widen = nn.Identity() if width is None else nn.Linear(E, d_model)

    def forward(self, ids: Tensor, types: Tensor | None = None) -> Tensor:
        if types is not None and self.types is None:
            raise ValueError("This model doesn't tell two sentences apart: leave the types out.")
        if types is not None and types.shape != ids.shape:
            raise ValueError(
                f"Expected a type for each of the ids {tuple(ids.shape)}, got {tuple(types.shape)}."
            )
        x = self.words(ids)
        if self.types is not None:
            x = x + self.types(torch.zeros_like(ids) if types is None else types)
        return self.widen(self.norm(self.positions(x)))


class SharedEncoder(Encoder):
    """An encoder of a single block, which all layers share (Lan et al., 2020, §3.1)."""

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__(replace(config, n_layers=1), parts)
        self.blocks = nn.ModuleList([self.blocks[0]] * config.n_layers)


class SignalledBlock(nn.Module):
    """A block that is told first where each symbol stands, and for which time it is passed.

    Both are the waves of `sinusoidal`, of the position and of the step, which counts from 1.
    Shapes: those of the block.
    """

    def __init__(self, block: nn.Module, step: int):
        super().__init__()
        self.block, self.step = block, step

    def forward(
        self, x: Tensor, mask: Tensor | None = None, **how: object
    ) -> tuple[Tensor, Tensor | None]:
        T, D = x.shape[1:]
        signal = sinusoidal(T, D, dtype=x.dtype) + sinusoidal(1, D, self.step, dtype=x.dtype)
        return self.block(x + signal.to(x.device), mask, **how)


class UniversalEncoder(SharedEncoder):
    """A Universal Transformer's encoder: one block, as often for each symbol (Dehghani et al.,
    2019, §2.1 and eq. 4 and 5, without the halting of §2.2).

    Each step adds positions, so the paper's own has `positions=None` in the config.
    """

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__(config, parts)
        steps = enumerate(self.blocks, start=1)
        self.blocks = nn.ModuleList([SignalledBlock(block, step) for step, block in steps])


# What is read off ---------------------------------------------------------------------------------


class MaskedWordHead(nn.Module):
    """Say for each vector which word it stands for (Devlin et al., 2019, §3.1, task 1).

    Logits are E · norm(f(W x + b)) + c, where the table E is the embedding's own.
    words: that embedding, (V, E).
    Shapes: x (..., d_model) to logits (..., V): of all positions, or of those that were hidden.
    """

    def __init__(self, d_model: int, words: nn.Embedding, activation: str, norm: Norm):
        super().__init__()
        V, E = words.weight.shape
        self.transform = nn.Linear(d_model, E)
        self.activation = ACTIVATIONS[activation]
        self.norm = norm(E)
        self.weight = words.weight
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.activation(self.transform(x)))
        return F.linear(x, self.weight, self.bias)


class Pooler(nn.Module):
    """One vector for a text: tanh(W x + b) of what stands at [CLS] (ibid., in the published code).

    Shapes: x (B, T, d_model) and lengths (B,) to (B, d_model), as `EncoderOnly` takes a pool.
    """

    def __init__(self, d_model: int):
        super().__init__()
        self.W = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.W(first_pool(x, lengths)).tanh()


class MaskedLanguageModel(nn.Module):
    """BERT: read in both directions, and guess the words that were hidden (Devlin et al., 2019).

    Its encoder is Day 6's, and goes into `EncoderOnly` to be tuned. `pool`, and `order`, which says
    of what is pooled whether the second sentence follows the first (class 0) or not, are None
    unless they are asked for.

    parts: with a `PairEmbedding` it is BERT's; no other embedding takes types.
    encoder: makes the encoder: `SharedEncoder` for ALBERT.
    Shapes: ids, lengths and types to logits (B, T, V).
    Raises: ValueError as `PairEmbedding` does, or if lengths do not fit.
    """

    def __init__(
        self,
        config: TransformerConfig,
        parts: Parts = PAPERS,
        encoder: type[Encoder] = Encoder,
        *,
        pooled: bool = False,
        ordered: bool = False,
    ):
        super().__init__()
        D = config.d_model
        self.config = config
        self.encoder = encoder(config, parts)
        symbols = self.encoder.embedding.symbols
        words = getattr(symbols, "words", symbols)
        self.head = MaskedWordHead(D, words, config.activation, parts.norm)
        self.pool = Pooler(D) if pooled else None
        self.order = nn.Linear(D, 2) if ordered else None

    def read(
        self, ids: Tensor, lengths: Tensor | None = None, types: Tensor | None = None
    ) -> Tensor:
        """Return what each symbol became, (B, T, D). What stands at padding means nothing."""
        if types is None:
            return self.encoder(ids, lengths)[0]
        embedding = self.encoder.embedding
        if not isinstance(embedding.symbols, PairEmbedding):
            raise ValueError("This model doesn't tell two sentences apart: leave the types out.")
        x = embedding.dropout(embedding.symbols(ids, types))
        check_sequences(x, x.shape[2], lengths)
        mask = None if lengths is None else padding_mask(lengths, ids.shape[1])[:, None]
        return self.encoder.run(x, mask)[0]

    def forward(
        self, ids: Tensor, lengths: Tensor | None = None, types: Tensor | None = None
    ) -> Tensor:
        return self.head(self.read(ids, lengths, types))
