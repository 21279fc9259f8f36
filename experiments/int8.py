"""What do weights of 8 bits and of 4 cost, and what do they save: quality, bytes, milliseconds?

A tuned classifier's accuracy on the test part, and the masked-word loss in held-out text, with
weights rounded and nothing tuned afterwards. "whole products" also rounds what is multiplied with
the blocks' weights. Bytes are of the classifier, in memory and as a file, where two numbers of 4
bits share a byte. Milliseconds are of its encoder, and of a block of BERT-base's width, untrained,
for 8 passages of 128 words, each the quickest of several rounds, in turn.
"""

import time
from collections.abc import Callable

import torch
from safetensors.torch import save
from torch import Tensor, nn

from utils.measure.costs import one_thread
from utils.pretraining import MaskedLanguageModel
from utils.pretraining.rounded import with_rounded_weights, with_whole_products
from utils.tasks import pretraining
from utils.tasks.distilling import sizes_of
from utils.tasks.held_out import guessed
from utils.tasks.reading import Task
from utils.tasks.shrinking import fully_tuned, pretrained, right
from utils.transformer import Encoder

PARAMETERS = {"seed": [0, 1, 2], "n_train": 1000, "rounds": 7}
SHORT = {
    "n_train": 100,
    "rounds": 1,
    "STEPS": 4,
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
    "N_PASSAGES": 16,
}
FORMS = {"int8 by row": (8, True), "int8, one scale": (8, False), "4 bits by row": (4, True)}
WIDE = {"d_model": 768, "n_heads": 12, "d_ff": 3072, "n_layers": 1}
WAYS: dict[str, Callable[[Encoder], Encoder]] = {
    "float32": lambda encoder: encoder,
    "int8, widened": with_rounded_weights,
    "int8, whole products": with_whole_products,
}
SECONDS = tuple(f"ms {width}, {way}" for width in (pretraining.D, WIDE["d_model"]) for way in WAYS)


def data():
    return pretraining.data()


def measure(seed: int, n_train: int, rounds: int) -> dict:
    model = pretrained(seed)
    tuned, task = fully_tuned(model, n_train, seed)
    row = judged("float32", model, tuned, task)
    for form, how in FORMS.items():
        rounded = (with_rounded_weights(each, *how) for each in (model, tuned))
        row |= judged(form, *rounded, task, how[0])
    for each in (model, tuned):
        each.encoder = with_whole_products(each.encoder)
    row["whole products, accuracy"] = right(tuned, task, task.test)
    row["whole products, loss"] = guessed(model)["loss"]
    for encoder in (pretraining.new_model(seed).encoder, wide(seed)):
        row |= milliseconds(encoder.eval(), rounds)
    return row


def judged(
    form: str, model: MaskedLanguageModel, tuned: nn.Module, task: Task, bits: int = 32
) -> dict:
    """What a form gives, under its name."""
    numbers = {
        "accuracy": right(tuned, task, task.test),
        "loss": guessed(model)["loss"],
        "bytes in memory": sizes_of(tuned).bytes,
        "bytes on disk": len(save(as_stored(tuned, bits))),
    }
    return {f"{form}, {name}": number for name, number in numbers.items()}


def as_stored(model: nn.Module, bits: int) -> dict[str, Tensor]:
    """All parameters by their names, each once; whole numbers of 4 bits two to a byte."""
    stored = dict(model.named_parameters())
    for name, weight in stored.items():
        if bits == 4 and weight.dtype == torch.int8:
            stored[name] = (weight[:, ::2] & 15) | (weight[:, 1::2] << 4)
    return stored


def wide(seed: int) -> Encoder:
    """A block of BERT-base's width, untrained."""
    torch.manual_seed(seed)
    return Encoder(pretraining.sizes(**WIDE))


@torch.no_grad()
def milliseconds(encoder: Encoder, rounds: int) -> dict:
    """How long each way takes, under its name and the encoder's width."""
    ids = torch.randint(5, 100, (pretraining.B, pretraining.T))
    ways = {way: change(encoder) for way, change in WAYS.items()}
    quickest = dict.fromkeys(ways, float("inf"))
    with one_thread():
        for _ in range(rounds):
            for way, changed in ways.items():
                start = time.process_time()
                changed(ids)
                quickest[way] = min(quickest[way], time.process_time() - start)
    width = encoder.embedding.symbols.embedding_dim
    return {f"ms {width}, {way}": 1000 * least for way, least in quickest.items()}
