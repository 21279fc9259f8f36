"""Day 9: a small GPT that writes plays, letter by letter, and is computed in the page as well.

Shapes: ids (B, T) are letters, logits (B, T, V) are about the letter that follows each.
"""

from functools import partial

import torch
from torch import Tensor, nn

from utils.data.corpora import tiny_shakespeare
from utils.language import GatedFeedForward, UnscaledEmbedding
from utils.language.shift import ShiftedAttention, TokenShift
from utils.tasks.letters import NextLetter, begin_small, optimiser_of, pieces, vocabulary
from utils.training.loop import fit
from utils.training.recipes import tag_loss
from utils.transformer import Parts, TransformerConfig

CONTEXT = 128  # letters
RATE, MATRIX_RATE = 3e-3, 0.02  # of AdamW and of Muon


def texts() -> tuple[Tensor, Tensor]:
    """The plays as ids: nine tenths to learn from, and the last tenth to validate.

    Raises: DatasetError if the text can't be had.
    """
    known, last = vocabulary("plays"), tiny_shakespeare("validation") + tiny_shakespeare("test")
    return tuple(torch.tensor(known.encode(part)) for part in (tiny_shakespeare("train"), last))


def writer(
    vocab_size: int, seed: int, d_model: int = 96, d_ff: int = 256, n_layers: int = 4
) -> NextLetter:
    """A model with new weights: today's block with tokens shifted by one and two, and no bias."""
    torch.manual_seed(seed)

    def feed_forward(d_model: int, d_ff: int, activation: str, dropout: float) -> nn.Module:
        return nn.Sequential(TokenShift(), GatedFeedForward(d_model, d_ff, activation, dropout))

    config = TransformerConfig(
        vocab_size,
        d_model=d_model,
        n_heads=4,
        d_ff=d_ff,
        n_layers=n_layers,
        activation="silu",
        norm="pre",
        positions="learned",
        max_len=CONTEXT,
        dropout=0.05,
    )
    parts = Parts(
        norm=partial(nn.LayerNorm, bias=False),
        feed_forward=feed_forward,
        attention=partial(ShiftedAttention, bias=False),
        embedding=UnscaledEmbedding,
    )
    model = NextLetter(config, parts)
    begin_small(model)
    return model


def train(model: NextLetter, text: Tensor, steps: int, batch_size: int, seed: int) -> list[float]:
    """Train a writer on pieces of a text (n,), and leave it in evaluation mode.

    Returns: the loss of each step.
    """
    optimiser, schedule = optimiser_of(model, steps, RATE, MATRIX_RATE)
    batches = pieces(text, steps, batch_size, CONTEXT, seed)
    history = fit(model, batches, tag_loss, optimiser, epochs=1, seed=seed, schedule=schedule)
    model.eval()
    return history.step_loss
