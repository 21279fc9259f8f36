"""Day 13's models as a page holds them: a writer, and what draws its codes.

`experiments` store them under the names of `NAMES`; a lesson can keep its own until it ends.
"""

from torch import nn

from utils.data.scenes import LONGEST, VOCABULARY
from utils.drawing import VQAutoencoder
from utils.tasks.drawing import writer
from utils.tasks.rounded import in_int8
from utils.tasks.scenes_in_codes import autoencoder
from utils.tasks.two_bytes import Weights, restored
from utils.transformer import DecoderOnly

NAMES = WRITER, CODES = "drawing_writer", "drawing_codes"


def for_page(model: VQAutoencoder, painter: DecoderOnly) -> dict[str, tuple[Weights, dict]]:
    """Return by its name what `show.views.models.store` and `keep` take of each model.

    That is its weights in numbers of 8 bits, and what else is told of it. Of the autoencoder these
    are the codebook and the decoder alone.
    """
    told = {
        "heads": painter.config.n_heads,
        "words": list(VOCABULARY.symbols),
        "longest": LONGEST,
    }
    return {WRITER: (in_int8(painter), told), CODES: (in_int8(drawing_part(model)), {})}


def drawing_part(model: VQAutoencoder) -> nn.ModuleDict:
    """Return what is needed of an autoencoder to draw codes."""
    return nn.ModuleDict({"codebook": model.codebook, "decoder": model.decoder})


def restored_writer(weights: Weights) -> DecoderOnly:
    """Return a writer with stored weights, in evaluation mode.

    Raises: ValueError if these are not the weights of the page's writer.
    """
    return restored(writer(), weights)


def restored_decoder(weights: Weights) -> VQAutoencoder:
    """Return an autoencoder with a stored codebook and decoder, in evaluation mode.

    It decodes codes; its encoder has not been trained.
    Raises: ValueError if these are not the weights of the page's autoencoder.
    """
    model = autoencoder()
    restored(drawing_part(model), weights)
    return model.eval()
