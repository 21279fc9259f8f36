"""Day 13: a picture in symbols, so that a model that writes can draw.

Read `codes` first, then `autoencoder`, `sentence_and_picture`, and for other ways `gumbel`,
`masked_codes` and `diffusion`.
"""

from utils.drawing.autoencoder import Reconstruction, VQAutoencoder
from utils.drawing.codes import (
    Codebook,
    Quantised,
    codebook_loss,
    nearest_codes,
    perplexity_of_codes,
    straight_through,
)
from utils.drawing.gumbel import GumbelCodebook, gumbel_softmax, kl_to_uniform
from utils.drawing.masked_codes import (
    MaskedCodes,
    hide_codes,
    mask_share,
    masked_code_loss,
    unmask,
    unmask_schedule,
)
from utils.drawing.sentence_and_picture import (
    SharedVocabulary,
    describing_step,
    drawing_step,
    guided_logits,
    joint_loss,
    without_sentences,
)

__all__ = [
    "Codebook",
    "GumbelCodebook",
    "MaskedCodes",
    "Quantised",
    "Reconstruction",
    "SharedVocabulary",
    "VQAutoencoder",
    "codebook_loss",
    "describing_step",
    "drawing_step",
    "guided_logits",
    "gumbel_softmax",
    "hide_codes",
    "joint_loss",
    "kl_to_uniform",
    "mask_share",
    "masked_code_loss",
    "nearest_codes",
    "perplexity_of_codes",
    "straight_through",
    "unmask",
    "unmask_schedule",
    "without_sentences",
]
