"""Day 13's models as a page holds them: a writer, and the decoder that draws its codes."""

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
    """Return, for each of `NAMES`, what `show.views.models.store` and `keep` take of a model.

    That is its weights in 8 bits, and what else the page has to know. Of the autoencoder, the page
    needs the codebook and the decoder alone. The writer has learned the codes of this autoencoder.
    """
    told = {
        "heads": painter.config.n_heads,
        "words": list(VOCABULARY.symbols),
        "longest": LONGEST,
    }
    return {WRITER: (in_int8(painter), told), CODES: (in_int8(drawing_part(model)), {})}


def drawing_part(model: VQAutoencoder) -> nn.ModuleDict:
    """Return the parts of an autoencoder that draw codes."""
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
