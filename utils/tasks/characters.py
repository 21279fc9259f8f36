"""A text as a task: a model reads it letter by letter, and says the next one of each."""

from torch import Tensor, nn

from utils.data.text import stream
from utils.training.loop import History, fit
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
