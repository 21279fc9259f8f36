"""Day 15's page: an RNN and a Transformer that learned running parity on words of up to 20 bits."""

from torch import nn

from utils.data.formal import LANGUAGES
from utils.tasks.formal_languages import HEADS, LONGEST, network
from utils.tasks.two_bytes import Weights, restored

READERS = {"RNN": "RNN", "Transformer": "Transformer, sinusoidal"}  # kinds of `formal_languages`


def readers(seed: int = 0) -> nn.ModuleDict:
    """Return both, untrained."""
    parity = LANGUAGES["parity"]
    return nn.ModuleDict({name: network(kind, parity, seed) for name, kind in READERS.items()})


def facts_for_page() -> dict[str, object]:
    """Return what the page needs to know besides the weights."""
    return {"heads": HEADS, "longest": LONGEST}


def restored_readers(weights: Weights) -> nn.ModuleDict:
    """Return stored readers, in evaluation mode.

    Raises: ValueError if the weights are of another model.
    """
    return restored(readers(), weights)
