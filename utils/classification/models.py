"""Day 8: models that read a text and say to which class it belongs.

Shapes: ids (B, T), padded behind their ends, and lengths (B,), or None if nothing is padding, to
logits (B, n_classes). Inside, texts are (B, T, D).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sequences, check_share, check_sizes
from utils.attention import padding_mask
from utils.classification.pooling import first_pool, max_pool, with_cls
from utils.recurrent import Embedding
from utils.transformer import EncoderOnly, TransformerConfig, mean_pool


class TextClassifier(nn.Module):
    """Embed the words, read them, pool what was read, and name the class; each kind has its `read`.

    width: of what `read` makes of the embedded words (B, T, d_model), which is (B, T, width).
    pool: makes one vector (B, width) of it.
    dropout: share of the embeddings' numbers, and of what was pooled, that is dropped in training.
    Raises: ValueError if a size is below 1, the dropout is no share, for ids as `Embedding` does,
    if a text is empty, or the lengths do not fit.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        width: int,
        n_classes: int,
        pool: Callable[..., Tensor],
        dropout: float,
    ):
        super().__init__()
        self.embedding = Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)  # a rare word is no loud noise
        check_sizes(width=width, n_classes=n_classes)
        check_share("dropout", dropout)
        self.pool = pool
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(width, n_classes)

    def read(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        """Return what each word became, (B, T, width). Shapes: x (B, T, d_model)."""
        raise NotImplementedError

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        x = self.embedding(ids)
        check_sequences(x, x.shape[2], lengths)
        x = self.read(self.dropout(x), lengths)
        return self.output(self.dropout(self.pool(x, lengths)))


class MeanOfEmbeddings(TextClassifier):
    """Average the words' embeddings: a bag of words (fastText: Joulin et al., 2017, §2)."""

    def __init__(self, vocab_size: int, d_model: int, n_classes: int, dropout: float = 0.0):
        super().__init__(vocab_size, d_model, d_model, n_classes, mean_pool, dropout)

    def read(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        return x


class TextCNN(TextClassifier):
    """Look for patterns of a few words, each anywhere in the text (Kim, 2014, §2).

    For each kernel size, a convolution over the words gives so many channels, and the largest
    number of each is kept. Zeros stand around the text, so that a kernel also fits onto one that is
    shorter, and can tell where it begins and ends.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_classes: int,
        channels: int = 100,
        kernel_sizes: tuple[int, ...] = (3, 4, 5),
        dropout: float = 0.0,
    ):
        sizes = {f"kernel_sizes[{i}]": K for i, K in enumerate(kernel_sizes)}
        check_sizes(channels=channels, **sizes)
        width = channels * len(kernel_sizes)
        super().__init__(vocab_size, d_model, width, n_classes, max_pool, dropout)
        self.convolutions = nn.ModuleList([nn.Conv1d(d_model, channels, K) for K in kernel_sizes])

    def read(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        if lengths is not None:
            x = x.masked_fill(~padding_mask(lengths, x.shape[1]).mT, 0)
        maps = []
        for convolution in self.convolutions:
            (K,) = convolution.kernel_size
            padded = F.pad(x.mT, ((K - 1) // 2, K // 2))  # (B, d_model, T + K - 1)
            maps.append(F.relu(convolution(padded)))  # (B, channels, T)
        return torch.cat(maps, dim=1).mT


class RecurrentClassifier(TextClassifier):
    """Read with a recurrent layer, and keep the largest of each of its outputs.

    With `Bidirectional` it is the BiLSTM with max pooling of Conneau et al. (2017, §3.2.3).
    """

    def __init__(self, vocab_size: int, layer: nn.Module, n_classes: int, dropout: float = 0.0):
        width = layer.output_size
        super().__init__(vocab_size, layer.input_size, width, n_classes, max_pool, dropout)
        self.layer = layer

    def read(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        return self.layer(x, lengths=lengths)[0]


class CLSEncoder(EncoderOnly):
    """BERT's classifier: [CLS] before the text, and its annotation in place of the mean.

    Shapes: weights of attention are (B, L, h, T + 1, T + 1), with [CLS] at 0.
    """

    def __init__(self, config: TransformerConfig, n_classes: int):
        super().__init__(config, n_classes, pool=first_pool)

    def forward(
        self, ids: Tensor, lengths: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        return super().forward(*with_cls(ids, lengths), need_weights)
