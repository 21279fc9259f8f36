"""The GPT that writes Shakespeare in a page: half a million weights, trained, rounded and stored.

It learns from the first nine tenths of the plays, in pieces of 128 letters. "float" and "int8" are
its losses on the last tenth, in nats a letter, in windows of 128: as it was trained, and with its
matrices and tables in whole numbers of 8 bits. The model of the first seed is stored for the page,
in int8.
"""

from utils.data.files import DatasetError
from utils.data.text import SPECIAL
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views.models import store
from utils.tasks.letters import judged, vocabulary
from utils.tasks.rounded import in_int8
from utils.tasks.shakespeare import CONTEXT, texts, train, writer

PARAMETERS = {"seed": [0], "steps": 3000, "batch_size": 64}
SHORT = {
    "steps": 3,
    "judged": "lambda model, text, window, judge=judged: judge(model, text[:2000], window)",
    "STORED": None,
}
STORED = 0  # the seed


def missing() -> str:
    try:
        texts()
    except DatasetError as error:
        return str(error)
    return ""


def measure(seed: int, steps: int, batch_size: int) -> dict:
    known, (text, held_out) = vocabulary("plays"), texts()
    model = writer(len(known), seed)
    losses = train(model, text, steps, batch_size, seed)
    if seed == STORED:
        store(
            "shakespeare",
            in_int8(model),
            made_by="experiments/shakespeare_page.py",
            heads=model.config.n_heads,
            characters="".join(known.symbols[len(SPECIAL) :]),
        )
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "float": judged(model, held_out, CONTEXT),
        "int8": judged(with_rounded_weights(model), held_out, CONTEXT),
        "losses": losses[:: max(1, steps // 30)],
    }
