"""The one training loop of the book: minibatches in, a trained model and its history out."""

import math
import signal
import threading
import time
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field

import numpy as np
import torch
from tqdm import tqdm

from utils.training.checkpoints import Checkpoint
from utils.training.divergence import check_weights, likely_cause


def fit(
    model,
    batches,
    loss,
    optimiser,
    *,
    epochs: int,
    seed: int = 0,
    schedule=None,
    metrics=None,
    validation=None,
    checkpoint=None,
) -> "History":
    """Train `model`, where it is, until it has seen all of `batches` `epochs` times.

    batches, validation: iterables that start anew each epoch and give tuples (*inputs, target)
        of tensors, with the examples along the first axis.
    loss, metrics ({name: function}): functions of (outputs, target); each gives a batch's mean.
    seed: shuffling, dropout and augmentation of epoch e hang on (seed, e) alone, as far as they
        draw from torch's generators; the caller's generators stay as they were.
    schedule: a learning-rate scheduler of torch, stepped once a batch.
    checkpoint: a file, written after each epoch. If it is there already, the run goes on from
        it and ends with the same weights as one that was never stopped.

    The stop button ends training between two steps and keeps the history so far.
    Raises: ValueError or TypeError for what can't be trained, FloatingPointError if the loss or
        a weight becomes infinite or NaN (such weights are never stored), CheckpointError if the
        checkpoint can't be read or written, or belongs to another run.
    """
    check(model, optimiser, schedule, metrics, epochs, seed)
    history = History()
    if checkpoint is not None:
        measures = [*(metrics or {}), validation is not None]
        checkpoint = Checkpoint(checkpoint, model, optimiser, schedule, loss, seed, measures)
    bar = tqdm(total=epochs, desc="Training", unit="epoch", leave=False)
    try:
        with bar, checkpoint or nullcontext(), mode(model, training=True):
            if checkpoint is not None:
                with uninterrupted():
                    history = History(**checkpoint.load(epochs))
            done = bar.initial = bar.n = len(history.seconds)
            check_length(schedule, batches, epochs - done)
            for epoch in range(done, epochs):
                with seeded(seed, epoch):
                    start = time.perf_counter()
                    train = train_epoch(model, batches, loss, optimiser, schedule, metrics, history)
                    seconds = time.perf_counter() - start
                    check_weights(optimiser, history.step_loss)
                    held_out = {}
                    if validation is not None:
                        held_out = evaluate(model, validation, loss, metrics)
                with uninterrupted():
                    history.add_epoch(train, held_out, seconds)
                if checkpoint is not None:
                    checkpoint.save(asdict(history))
                bar.set_postfix(loss=f"{train['loss']:.4f}", refresh=False)
                bar.update()
    except KeyboardInterrupt:
        history.interrupted = True
    return history


def train_epoch(model, batches, loss, optimiser, schedule, metrics, history) -> dict:
    """Take one step for each batch; return the means over the examples."""
    means = Means()
    for inputs, target in unpacked(batches, device_of(model)):
        outputs = model(*inputs)
        batch_loss = scalar(loss(outputs, target))
        value = batch_loss.item()
        if not math.isfinite(value):
            cause = likely_cause(model, inputs, target, outputs, history.step_loss)
            step = len(history.step_loss) + 1
            raise FloatingPointError(f"The loss became {value} at step {step}: {cause}")
        optimiser.zero_grad()  # or this batch's gradients would be added to the last one's
        batch_loss.backward()
        with uninterrupted():
            optimiser.step()
            if schedule is not None:
                schedule.step()
            history.step_loss.append(value)
        means.add(len(target), {"loss": value, **measured(metrics, outputs, target)})
    return means.over_examples()


def evaluate(model, batches, loss, metrics=None) -> dict[str, float]:
    """Loss and metrics of `model`, means over all examples, without dropout and gradients.

    Arguments as for `fit`. The model's training mode is afterwards as it was.
    Raises: ValueError or TypeError for input that can't be evaluated.
    """
    means = Means()
    with mode(model, training=False), torch.no_grad():
        for inputs, target in unpacked(batches, device_of(model)):
            outputs = model(*inputs)
            value = scalar(loss(outputs, target)).item()
            means.add(len(target), {"loss": value, **measured(metrics, outputs, target)})
    return means.over_examples()


@dataclass
class History:
    """What `fit` saw: a list for "loss" and for each metric, one number an epoch.

    Training numbers are means over an epoch in which the model changes, with dropout on;
    validation numbers are taken at its end. `step_loss` has the loss of every batch, `seconds`
    the time that each epoch's training took, without validation.
    """

    train: dict[str, list[float]] = field(default_factory=dict)
    validation: dict[str, list[float]] = field(default_factory=dict)
    step_loss: list[float] = field(default_factory=list, repr=False)
    seconds: list[float] = field(default_factory=list, repr=False, compare=False)
    interrupted: bool = False

    def add_epoch(self, train: dict, validation: dict, seconds: float) -> None:
        for history, new in ((self.train, train), (self.validation, validation)):
            for name, value in new.items():
                history.setdefault(name, []).append(value)
        self.seconds.append(seconds)


class Means:
    """Means over examples, of means over batches: a smaller batch counts for less."""

    def __init__(self):
        self.sums, self.examples = defaultdict(float), 0

    def add(self, batch_size: int, values: dict[str, float]) -> None:
        self.examples += batch_size
        for name, value in values.items():
            self.sums[name] += batch_size * value

    def over_examples(self) -> dict[str, float]:
        return {name: total / self.examples for name, total in self.sums.items()}


def check(model, optimiser, schedule, metrics, epochs: int, seed: int) -> None:
    """Refuse what can't be trained, with a sentence that says why."""
    if epochs < 0 or seed < 0:
        raise ValueError(f"epochs is {epochs} and seed is {seed}: neither may be less than 0.")
    if "loss" in (metrics or {}):
        raise ValueError(
            'The name "loss" is taken by the loss itself: call the metric something else.'
        )
    trained = {id(weight) for group in optimiser.param_groups for weight in group["params"]}
    if trained.isdisjoint(id(weight) for weight in model.parameters()):
        raise ValueError(
            "The optimiser was made for another model: make it anew, from model.parameters()."
        )
    if schedule is not None and schedule.optimizer is not optimiser:
        raise ValueError(
            "The schedule was made for another optimiser: make it anew, from this one."
        )


def device_of(model) -> torch.device:
    """Where a model's first weight is; the CPU for a model without any."""
    return next((weight.device for weight in model.parameters()), torch.device("cpu"))


def unpacked(batches, device):
    """Yield (inputs, target) of each batch, on `device`."""
    count = 0
    for batch in batches:
        if not isinstance(batch, (tuple, list)) or len(batch) < 2:
            raise TypeError(
                "Each batch has to be a tuple (*inputs, target), of two or more tensors."
            )
        *inputs, target = (tensor.to(device) for tensor in batch)
        yield inputs, target
        count += 1
    if count == 0:
        raise ValueError(
            "There was no batch: the data are empty, or a generator was used up by an earlier "
            "pass. Use Batches(…), which can be iterated as often as one likes."
        )


def scalar(batch_loss):
    """Give back a batch's loss, of one element; raise a ValueError for any other shape."""
    if batch_loss.numel() != 1:
        raise ValueError(
            f"The loss has the shape {tuple(batch_loss.shape)}: "
            "it has to be one number, the mean over the batch."
        )
    return batch_loss


def measured(metrics, outputs, target) -> dict[str, float]:
    """{name: value} of each metric, of outputs (B, ...) and target (B, ...), without gradients."""
    with torch.no_grad():
        return {name: float(metric(outputs, target)) for name, metric in (metrics or {}).items()}


def check_length(schedule, batches, epochs: int) -> None:
    """Refuse a schedule that ends before the training does."""
    total = getattr(schedule, "total_steps", None)
    if total is None or not hasattr(batches, "__len__"):
        return
    if (steps := schedule.last_epoch + epochs * len(batches)) > total:
        raise ValueError(
            f"The schedule ends after {total} steps, and the training after {steps}: make a "
            "schedule of so many steps, or ask for fewer epochs."
        )


@contextmanager
def mode(model, training: bool):
    """Switch the model to training or evaluation, and each of its layers back afterwards."""
    before = {module: module.training for module in model.modules()}
    model.train(training)
    try:
        yield
    finally:
        for module, was_training in before.items():
            module.training = was_training


@contextmanager
def seeded(seed: int, epoch: int):
    """Let all chance within hang on (seed, epoch) alone; leave torch's generators as they were."""
    with torch.random.fork_rng():
        mixed = np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)
        torch.manual_seed(int(mixed[0]))
        yield


@contextmanager
def uninterrupted():
    """Hold the stop button back until the end: half an update would leave a broken model."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no interrupt reaches other threads
        return
    pressed = []
    handler = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed:
        signal.raise_signal(signal.SIGINT)
