"""A text as a task: a model reads it letter by letter, and says the next one of each."""

import torch
from torch import Tensor, nn

from utils.data.text import pad, stream
from utils.training.loop import History, fit
from utils.training.metrics import perplexity
from utils.training.recipes import rise_and_fall


def train_characters(
    model: nn.Module,
    train: Tensor,
    validation: Tensor,
    *,
    epochs: int = 6,
    batch_size: int = 32,
    length: int = 64,
    learning_rate: float = 4e-3,
    seed: int = 0,
) -> History:
    """Train a model on a text's ids (n,), chunk by chunk, to say the next one of each.

    model: of (ids (B, T), begins) to logits (B, V, T), such as `Streaming`.
    Trained with `rise_and_fall`.
    """
    batches = stream(train, batch_size, length)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(
        model,
        batches,
        nn.CrossEntropyLoss(),
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        validation=stream(validation, 16, len(validation)),
    )


@torch.no_grad()
def perplexity_if_emptied(model: nn.Module, text: Tensor, where: Tensor) -> float:
    """Perplexity of a text (n,) if the model's state is emptied time and again.

    model: of ids (B, T) to logits (B, T, V) and a state, as `LanguageModel`.
    where: (n,) booleans; before it reads a symbol there, the state is emptied.
    """
    borders = [0, *(where[1:-1].nonzero().flatten() + 1).tolist(), len(text) - 1]
    pairs = list(zip(borders[:-1], borders[1:], strict=True))
    nats = []
    for some in (pairs[k : k + 500] for k in range(0, len(pairs), 500)):
        ids, lengths = pad([text[begin:end].tolist() for begin, end in some])
        real = torch.arange(ids.shape[1]) < lengths[:, None]
        targets = torch.cat([text[begin + 1 : end + 1] for begin, end in some])
        logits = model(ids)[0][real]
        nats.append(nn.functional.cross_entropy(logits, targets, reduction="sum").item())
    return perplexity(sum(nats) / (len(text) - 1))
