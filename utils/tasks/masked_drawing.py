"""Day 13's task with all codes at once: an encoder predicts the hidden codes of a picture.

Shapes: codes of a picture (B, 36), sentences as ids (B, T) padded behind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import torch
from torch import Tensor

from utils.drawing import MaskedCodes, hide_codes, masked_code_loss, unmask, without_sentences
from utils.seq2seq import PAD
from utils.tasks.captions import as_ids
from utils.tasks.drawing import DROPPED, RATE, Painter, SentencesAndCodes, vocabulary
from utils.tasks.patches import encoder_config, optimiser_for
from utils.tasks.scenes_in_codes import K
from utils.training.loop import History, fit
from utils.training.sampling import chooser


def masked_writer(
    seed: int = 0, *, n_codes: int = K, width: int = 96, n_layers: int = 3
) -> MaskedCodes:
    """Return Day 6's encoder for hidden codes and sentences, untrained."""
    torch.manual_seed(seed)
    symbols = vocabulary(n_codes)
    config = replace(
        encoder_config(width, n_layers), vocab_size=len(symbols), max_len=symbols.context
    )
    return MaskedCodes(config, symbols)


class HiddenCodes:
    """Batches (codes, hidden, words, lengths, target) for `fit`, of the same pairs.

    target: codes (B, 36), below 0 where they are not hidden.
    """

    def __init__(self, pairs: SentencesAndCodes):
        self.pairs = pairs

    def __len__(self) -> int:
        return self.pairs.steps

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        chance = Random(int(torch.randint(2**31, ())))
        for _ in range(self.pairs.steps):
            codes, words, _ = self.pairs.batch(chance)
            words, hidden = without_sentences(words, DROPPED), hide_codes(codes)
            lengths = (words != PAD).sum(dim=1)
            yield codes, hidden, words, lengths, codes.masked_fill(~hidden, -1)


def train_masked(
    model: MaskedCodes, pairs: SentencesAndCodes, *, rate: float = RATE, seed: int = 0
) -> History:
    """Train an encoder to predict hidden codes, and leave it in evaluation mode."""
    optimiser, schedule = optimiser_for(model, [model.encoder.blocks], rate, len(pairs))
    history = fit(
        model,
        HiddenCodes(pairs),
        lambda logits, target: masked_code_loss(logits, target.clamp(min=0), target >= 0),
        optimiser,
        epochs=1,
        seed=seed,
        schedule=schedule,
    )
    model.eval()
    return history


def masked_painter(
    model: MaskedCodes, *, steps: int = 8, tau: float = 1.0, noise: float = 4.5
) -> Painter:
    """Return what draws all codes of sentences at once, in some steps."""

    def paint(sentences: Sequence[str], seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return unmask(
            model,
            *as_ids(sentences),
            steps=steps,
            choose=chooser(tau, generator=generator),
            noise=noise,
            generator=generator,
        )

    return paint
