"""`fit` against a loop written by hand, and against everything that can stop it."""

import copy
import errno
import functools
import io
import os
import random
import re
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import (
    ConstantLR,
    CosineAnnealingLR,
    LambdaLR,
    MultiStepLR,
    OneCycleLR,
    SequentialLR,
)
from tqdm import tqdm

from utils.data.batches import Batches
from utils.positions import Alibi, Rotary
from utils.show.training import learning_curves
from utils.training import checkpoints, loop
from utils.training.checkpoints import CheckpointError
from utils.training.loop import History, evaluate, fit
from utils.training.metrics import accuracy
from utils.training.runs import changed_by, in_words, settings_of_layers


@pytest.fixture(autouse=True)
def stop_button():
    """Connect it: what a shell starts in the background is deaf to it, and its tests would fail."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def data(n=23, seed=0):
    """Inputs (n, 5) and classes (n,) that can be learnt from them."""
    x = torch.randn(n, 5, generator=torch.Generator().manual_seed(seed))
    return x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long()


def small_model(dropout=0.5, seed=1):
    """A network with everything that has a state or draws lots."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Linear(5, 7), nn.BatchNorm1d(7), nn.ReLU(), nn.Dropout(dropout), nn.Linear(7, 3)
        )


def noisy(x):
    return x + 0.1 * torch.randn_like(x)


def run(checkpoint=None, epochs=4, seed=3, optimiser="adam", model=None, loss=F.cross_entropy):
    """A run with shuffling, augmentation, dropout, momentum and a schedule; return all of it."""
    model = model or small_model()
    if optimiser == "adam":
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        schedule = OneCycleLR(optimiser, max_lr=0.05, total_steps=200)
    else:
        optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        schedule = MultiStepLR(optimiser, [3, 9])
    history = fit(
        model,
        Batches(*data(), batch_size=5, shuffle=True, transform=noisy),
        loss,
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        metrics={"accuracy": accuracy},
        validation=Batches(*data(9, seed=1), batch_size=4),
        checkpoint=checkpoint,
    )
    return {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
        "history": [history.train, history.validation, history.step_loss, history.interrupted],
    }


def bits(result):
    """Everything in a run's result, such that equal means bit-identical."""
    if isinstance(result, torch.Tensor):
        return result.dtype, result.shape, result.numpy().tobytes()
    if isinstance(result, dict):
        return {name: bits(value) for name, value in result.items()}
    if isinstance(result, (list, tuple)):
        return [bits(value) for value in result]
    return result


# ---------------------------------------------------------------- the loop itself


@pytest.fixture
def by_hand():
    """Two epochs over three uneven batches, written out: the weights, losses and learning rates."""
    x, y = data()
    model = small_model(dropout=0.0)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses, right, rates = [], [], []
    for epoch in range(2):
        for step, rows in enumerate(torch.arange(23).split(10)):
            rates.append(0.1 / (1 + 3 * epoch + step))
            optimiser.param_groups[0]["lr"] = rates[-1]
            logits = model(x[rows])
            loss = F.cross_entropy(logits, y[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            right.append((logits.argmax(1) == y[rows]).sum().item())
    return model.state_dict(), losses, right


def test_fit_equals_the_loop_written_by_hand(by_hand):
    weights, losses, right = by_hand
    model = small_model(dropout=0.0)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimiser, lambda step: 1 / (1 + step))
    history = fit(
        model,
        Batches(*data(), batch_size=10),
        F.cross_entropy,
        optimiser,
        epochs=2,
        schedule=schedule,
        metrics={"accuracy": accuracy},
    )
    assert bits(model.state_dict()) == bits(weights)
    assert history.step_loss == losses
    # 10, 10 and 3 examples: a mean over examples, not over batches
    means = [
        sum(n * v for n, v in zip((10, 10, 3), part, strict=True)) / 23
        for part in (losses[:3], losses[3:])
    ]
    assert history.train["loss"] == pytest.approx(means, rel=1e-12)
    assert history.train["accuracy"] == pytest.approx(
        [sum(right[:3]) / 23, sum(right[3:]) / 23], rel=1e-12
    )
    assert history.validation == {} and len(history.seconds) == 2 and not history.interrupted
    assert schedule.last_epoch == 6  # a step of the schedule for each batch


@pytest.mark.filterwarnings("error")
def test_the_schedule_steps_after_the_optimiser():
    run(epochs=1)  # torch warns if it is the other way round


def test_validation_is_the_model_at_the_end_of_each_epoch():
    model = small_model()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    held_out, expected = data(9, seed=1), []
    for epochs in (1, 2):
        model = small_model()
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = Batches(*data(), batch_size=10, shuffle=True)
        validation = Batches(*held_out, batch_size=4)
        history = fit(
            model, batches, F.cross_entropy, optimiser, epochs=epochs, validation=validation
        )
        model.eval()
        expected.append(F.cross_entropy(model(held_out[0]), held_out[1]).item())
    assert history.validation["loss"] == pytest.approx(expected, rel=1e-6)


def test_evaluate_is_without_dropout_and_gradients_and_counts_examples():
    x, y = data()
    model = small_model()
    model[1].eval()  # a layer that its owner froze
    seen = []

    def loss(outputs, target):
        seen.append((model.training, model[3].training, outputs.requires_grad))
        return F.cross_entropy(outputs, target)

    before = bits(model.state_dict())
    state = torch.get_rng_state()
    result = evaluate(model, Batches(x, y, batch_size=10), loss, {"accuracy": accuracy})
    assert seen == [(False, False, False)] * 3
    assert model.training and model[3].training and not model[1].training
    assert bits(model.state_dict()) == before  # batch normalisation learnt nothing from it
    assert torch.equal(torch.get_rng_state(), state)
    model.eval()
    assert result["loss"] == pytest.approx(F.cross_entropy(model(x), y).item(), rel=1e-6)
    assert result["accuracy"] == pytest.approx(accuracy(model(x), y), rel=1e-12)
    assert list(result) == ["loss", "accuracy"]


def test_training_mode_comes_back_even_after_an_error():
    model = small_model()
    with pytest.raises(ZeroDivisionError):
        evaluate(model, Batches(*data(), batch_size=10), lambda outputs, target: 1 / 0)
    assert all(module.training for module in model.modules())


def test_a_model_that_was_evaluated_trains_as_any_other():
    model = small_model().eval()
    assert bits(run(model=model, epochs=1)) == bits(run(epochs=1))
    assert not any(module.training for module in model.modules())


def test_a_model_may_have_several_inputs_and_a_tuple_of_outputs():
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.tensor(0.0))

        def forward(self, a, b):
            return self.weight * (a + b), a

    a, b = torch.ones(4), 2 * torch.ones(4)
    model = Pair()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    fit(
        model,
        [[a, b, 6 * torch.ones(4)]],
        lambda outputs, target: (outputs[0] - target).square().mean(),
        optimiser,
        epochs=30,
    )
    assert model.weight.item() == pytest.approx(2.0, abs=1e-3)


# ---------------------------------------------------------------- chance


def test_a_run_hangs_on_its_seed_and_not_on_what_ran_before():
    first = bits(run())
    torch.manual_seed(99)
    torch.rand(7)
    assert bits(run()) == first
    other = run(seed=4)
    assert bits(other["model"]) != first["model"]


def test_the_callers_generator_is_untouched():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    run(epochs=2)
    assert torch.equal(torch.rand(3), expected)


def test_each_epoch_has_another_order_and_no_example_is_lost():
    orders = []

    class Recorder(nn.Linear):
        def forward(self, x):
            orders.append(x[:, 0].tolist())
            return super().forward(x)

    model = Recorder(1, 1)
    x = torch.arange(10.0)[:, None]
    batches = Batches(x, x, batch_size=4, shuffle=True)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-4)
    fit(model, batches, F.mse_loss, optimiser, epochs=3)
    epochs = [sum(orders[i : i + 3], []) for i in (0, 3, 6)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert [len(order) for order in orders] == [4, 4, 2] * 3


def test_batches_keep_rows_together_and_transform_only_the_first():
    x, y = torch.arange(7.0), torch.arange(7)
    batches = Batches(x, y, batch_size=3, shuffle=True, transform=lambda inputs: inputs.mul_(-2))
    for _ in range(2):
        for inputs, target in batches:
            assert torch.equal(inputs, -2.0 * target)
    assert torch.equal(x, torch.arange(7.0))  # changing a batch in place changes no data
    assert len(batches) == 3 == len(list(batches))
    assert [t.tolist() for (t,) in Batches(y, batch_size=4)] == [[0, 1, 2, 3], [4, 5, 6]]


# ---------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(tensors=(torch.ones(3), torch.ones(4)), batch_size=2), "3, 4 examples"),
        (dict(tensors=(torch.ones(0, 2), torch.ones(0)), batch_size=2), "no example"),
        (dict(tensors=(torch.ones(3),), batch_size=0), "batch_size is 0"),
        (dict(tensors=(), batch_size=2), "more tensors"),
        (dict(tensors=([1, 2],), batch_size=2), "more tensors"),
        (dict(tensors=(torch.tensor(1.0),), batch_size=2), "more tensors"),
    ],
)
def test_batches_refuse_what_makes_no_batches(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Batches(*arguments["tensors"], batch_size=arguments["batch_size"])


def fit_with(**changes):
    model = changes.pop("model", None) or nn.Linear(5, 3)
    optimiser = changes.pop("optimiser", None) or torch.optim.SGD(model.parameters(), lr=0.1)
    if steps := changes.pop("one_cycle", None):
        changes["schedule"] = OneCycleLR(optimiser, max_lr=0.1, total_steps=steps)
    batches = changes.pop("batches", Batches(*data(), batch_size=10))
    loss = changes.pop("loss", F.cross_entropy)
    return fit(model, batches, loss, optimiser, **{"epochs": 2, **changes})


OTHER_OPTIMISER = torch.optim.SGD(nn.Linear(5, 3).parameters(), lr=0.1)


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        (dict(epochs=-1), ValueError, "epochs is -1"),
        (dict(seed=-1), ValueError, "seed is -1"),
        (dict(batches=[]), ValueError, "no batch"),
        (dict(validation=[]), ValueError, "no batch"),
        (dict(batches=[torch.ones(4, 5)]), TypeError, r"\(\*inputs, target\)"),
        (dict(batches=[(torch.ones(4, 5),)]), TypeError, r"\(\*inputs, target\)"),
        (dict(loss=nn.CrossEntropyLoss(reduction="none")), ValueError, "shape \\(10,\\)"),
        (dict(metrics={"loss": accuracy}), ValueError, '"loss"'),
        (dict(optimiser=OTHER_OPTIMISER), ValueError, "another model"),
        (dict(schedule=LambdaLR(OTHER_OPTIMISER, float)), ValueError, "another optimiser"),
        (dict(one_cycle=5), ValueError, " 5 steps, .* 6:"),
    ],
)
def test_fit_says_what_is_wrong_with_its_input(changes, error, sentence):
    with pytest.raises(error, match=sentence):
        fit_with(**changes)


@pytest.mark.parametrize("name", ["batches", "validation"])
def test_a_generator_gives_its_batches_only_once(name):
    once = (batch for batch in Batches(*data(), batch_size=10))
    fit_with(**{name: once}, epochs=1)
    once = (batch for batch in Batches(*data(), batch_size=10))
    with pytest.raises(ValueError, match="generator"):
        fit_with(**{name: once}, epochs=2)


def test_no_epochs_train_nothing():
    model = nn.Linear(5, 3)
    before = bits(model.state_dict())
    assert fit_with(model=model, epochs=0) == History()
    assert bits(model.state_dict()) == before


# ---------------------------------------------------------------- devices


@pytest.mark.parametrize(
    ("device", "there"),
    [("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())],
)
def test_training_on_an_accelerator(device, there):
    if not there:
        pytest.skip(f"no {device} here")
    state = torch.get_device_module(device).get_rng_state()
    results = []
    for _ in range(2):
        model = small_model().to(device)
        results.append(fit_with(model=model, metrics={"accuracy": accuracy}))
    assert next(model.parameters()).device.type == device
    assert results[0].step_loss == pytest.approx(results[1].step_loss, rel=1e-4)
    assert torch.equal(torch.get_device_module(device).get_rng_state(), state)


def test_the_device_is_where_the_model_is():
    model = nn.Linear(5, 3, device="meta")  # computes shapes only: no number comes of it
    with pytest.raises(RuntimeError, match="meta"):
        fit_with(model=model)
    assert evaluate(nn.Identity(), [(torch.ones(2), torch.ones(2))], F.mse_loss) == {"loss": 0.0}


# ---------------------------------------------------------------- a loss that is no number


class Inside(nn.Module):
    """A model whose outputs come of a function of its one weight."""

    def __init__(self, function, start=1.0):
        super().__init__()
        self.weight, self.function = nn.Parameter(torch.tensor(start)), function

    def forward(self, x):
        return self.function(self.weight * x)


def diverge(says, model, x, y, loss=F.mse_loss, lr=0.1):
    optimiser = torch.optim.SGD(model.parameters(), lr=lr)
    with pytest.raises(FloatingPointError, match=says) as caught:
        fit(model, Batches(x, y, batch_size=2), loss, optimiser, epochs=200)
    return str(caught.value)


def test_nan_in_the_data_is_named_with_the_step():
    x = torch.ones(8, 1)
    x[5] = float("nan")
    diverge(" nan .* 3: .*batch .*NaN", nn.Linear(1, 1), x, torch.ones(8, 1))


def test_an_infinite_target_is_named():
    y = torch.ones(4, 1)
    y[3] = float("inf")
    diverge(" inf .* 2: .*batch ", nn.Linear(1, 1), torch.ones(4, 1), y)


def test_a_learning_rate_too_high_is_named():
    x = torch.linspace(-3, 3, 8)[:, None]
    diverge("exploded .*learning rate", nn.Linear(1, 1), x, 2 * x, lr=30.0)
    deep = nn.Sequential(*(nn.Linear(4, 4) for _ in range(6)))
    x = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    diverge("learning rate", deep, x, x, lr=100.0)


def test_a_logarithm_of_0_in_the_loss_is_named():
    def naive(outputs, target):
        return -outputs.softmax(dim=1)[torch.arange(len(target)), target].log().mean()

    model = nn.Linear(1, 2, bias=False)
    nn.init.constant_(model.weight[:1], 0.0)
    nn.init.constant_(model.weight[1:], 500.0)
    says = " inf .* 1: .*outputs .*logarithm"
    message = diverge(says, model, torch.ones(4, 1), torch.zeros(4, dtype=torch.int64), naive)
    assert "learning rate" not in message


def test_a_root_of_0_is_named():
    def root(outputs, target):
        return (outputs - target).square().sum().sqrt()  # its gradient at 0 is NaN

    says = " 2: the gradient .*square root"
    diverge(says, Inside(lambda x: x), torch.ones(4, 1), torch.ones(4, 1), root)


def test_a_model_that_makes_nan_inside_is_named():
    diverge(" 1: .*inside", Inside(lambda x: (x - x).log()), torch.ones(4, 1), torch.ones(4, 1))


def test_a_model_is_not_changed_by_a_loss_that_is_no_number():
    model = nn.Linear(1, 1)
    before = bits(model.state_dict())
    diverge(" nan .* 1:", model, torch.full((4, 1), float("nan")), torch.ones(4, 1))
    assert bits(model.state_dict()) == before


def root_of(outputs, target):
    """A loss that is 0 where the target is met, with a gradient of NaN there."""
    return (outputs - target).square().sum().sqrt()


def test_weights_that_an_epochs_last_step_spoils_are_neither_returned_nor_stored(tmp_path):
    path = tmp_path / "run.pt"
    model = Inside(lambda x: x, start=1.1)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    one = torch.ones(1, 1)
    fit(model, [(one, 0 * one)], root_of, optimiser, epochs=1, checkpoint=path)
    before = path.read_bytes()
    assert model.weight.item() == 1.0
    with pytest.raises(FloatingPointError, match="weights .* 2, .*: its gradient"):
        fit(model, [(one, one)], root_of, optimiser, epochs=2, checkpoint=path)
    assert path.read_bytes() == before
    assert fit(model, [(one, 0 * one)], root_of, optimiser, epochs=2, checkpoint=path).seconds
    assert model.weight.item() == pytest.approx(0.9)


def test_weights_that_explode_in_an_epochs_last_step_are_named():
    model = Inside(lambda x: x)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e38)
    x = torch.full((1, 1), 1e3)
    with pytest.raises(FloatingPointError, match="weights .*exploded .*learning rate"):
        fit(model, [(x, -x)], F.mse_loss, optimiser, epochs=1)


# ---------------------------------------------------------------- the stop button


def stop_after(steps):
    """A loss during whose calculation the stop button is pressed."""
    calls = 0

    def loss(outputs, target):
        nonlocal calls
        calls += 1
        if calls == steps:
            signal.raise_signal(signal.SIGINT)
        return F.cross_entropy(outputs, target)

    return loss


def test_the_stop_button_keeps_the_history_so_far():
    # an epoch is 5 steps of training and 3 of validation; the 11th is the 3rd of the second epoch
    train, validation, step_loss, interrupted = run(loss=stop_after(11))["history"]
    whole = run()["history"]
    assert interrupted and not whole[3]
    assert train == {name: values[:1] for name, values in whole[0].items()}
    assert validation == {name: values[:1] for name, values in whole[1].items()}
    assert step_loss == whole[2][:7]


def test_the_stop_button_waits_for_the_update_to_be_whole():
    class Pressed(torch.optim.SGD):
        def step(self):
            first, *others = [p for group in self.param_groups for p in group["params"]]
            with torch.no_grad():
                first -= 0.1 * first.grad
                signal.raise_signal(signal.SIGINT)
                for other in others:
                    other -= 0.1 * other.grad

    stopped, plain = small_model(dropout=0.0), small_model(dropout=0.0)
    history = fit_with(model=stopped, optimiser=Pressed(stopped.parameters()))
    fit_with(model=plain, batches=[next(iter(Batches(*data(), batch_size=10)))], epochs=1)
    assert history.interrupted and len(history.step_loss) == 1 and history.train == {}
    for a, b in zip(stopped.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-7)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_training_in_another_thread():
    results = []
    thread = threading.Thread(target=lambda: results.append(run()))
    thread.start()
    thread.join()
    assert bits(results[0]) == bits(run())


def test_after_the_stop_button_a_checkpoint_goes_on(tmp_path):
    model = small_model()
    interrupted = run(tmp_path / "run.pt", model=model, loss=stop_after(12))
    assert interrupted["history"][3]
    assert bits(run(tmp_path / "run.pt", model=model)) == bits(run())


def test_the_stop_button_waits_until_a_checkpoint_is_loaded_whole(tmp_path, monkeypatch):
    stored = run(tmp_path / "run.pt", epochs=1)
    load = nn.Sequential.load_state_dict

    def pressed(*arguments):
        signal.raise_signal(signal.SIGINT)
        return load(*arguments)

    monkeypatch.setattr(nn.Sequential, "load_state_dict", pressed)
    stopped = run(tmp_path / "run.pt", epochs=3, model=small_model(seed=8))
    assert stopped["history"].pop() is True
    stored["history"].pop()
    assert bits(stopped) == bits(stored)


# ---------------------------------------------------------------- checkpoints


def left_in(folder):
    """What stands in a checkpoint's folder, but for the lock."""
    return sorted({path.name for path in folder.iterdir()} - {".run.pt.lock"})


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_more_epochs_go_on_where_the_checkpoint_ends(tmp_path, optimiser):
    path = tmp_path / "not there yet" / "run.pt"
    run(path, epochs=2, optimiser=optimiser)
    resumed = run(path, epochs=5, optimiser=optimiser, model=small_model(seed=8))
    assert bits(resumed) == bits(run(epochs=5, optimiser=optimiser))
    assert left_in(path.parent) == ["run.pt"]


def test_a_finished_run_returns_at_once(tmp_path):
    finished = run(tmp_path / "run.pt")

    def never(outputs, target):
        raise AssertionError("it trained")

    assert bits(run(tmp_path / "run.pt", loss=never, model=small_model(seed=8))) == bits(finished)


def test_the_same_model_can_go_on_in_the_same_session(tmp_path):
    model = small_model()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = CosineAnnealingLR(optimiser, T_max=20)
    batches = Batches(*data(), batch_size=5, shuffle=True)
    for epochs in (1, 3):
        history = fit(
            model,
            batches,
            F.cross_entropy,
            optimiser,
            schedule=schedule,
            epochs=epochs,
            checkpoint=tmp_path / "run.pt",
        )
    assert len(history.train["loss"]) == 3 and len(history.step_loss) == 15


def test_fewer_epochs_than_the_checkpoint_has_are_refused(tmp_path):
    run(tmp_path / "run.pt", epochs=2)
    with pytest.raises(CheckpointError, match="epoch 2 .* 1 "):
        run(tmp_path / "run.pt", epochs=1)


@pytest.fixture
def written(tmp_path):
    """A checkpoint of a plain run, and a function that goes on from it with something changed."""

    def go_on(lr=0.1, t_max=9, **changes):
        model = changes.pop("model", None) or nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.5))
        optimiser = changes.pop("optimiser", torch.optim.SGD)(model.parameters(), lr=lr)
        schedule = CosineAnnealingLR(optimiser, T_max=t_max)
        before = bits(model.state_dict())
        try:
            fit_with(
                model=model,
                optimiser=optimiser,
                schedule=schedule,
                checkpoint=tmp_path / "run.pt",
                **{"epochs": 1, **changes},
            )
        except CheckpointError as error:
            assert bits(model.state_dict()) == before
            return str(error)
        return None

    assert go_on() is None
    return tmp_path / "run.pt", go_on


def of_groups(weights, lr):
    return torch.optim.SGD([{"params": list(weights), "weight_decay": 0.5}], lr=lr)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (dict(seed=1), "another seed: "),
        (dict(model=nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.4))), "another model: "),
        (dict(model=nn.Linear(5, 3)), "another model: "),
        (dict(lr=0.2), "another optimiser: "),
        (dict(optimiser=torch.optim.Adagrad), "another optimiser: "),
        (dict(optimiser=functools.partial(torch.optim.SGD, momentum=0.5)), "another optimiser: "),
        (dict(t_max=8), "another schedule: "),
        (dict(optimiser=of_groups), "another optimiser: "),
        (dict(loss=nn.CrossEntropyLoss(label_smoothing=0.1)), "another loss: "),
        (dict(metrics={"accuracy": accuracy}), "another set of metrics"),
        (dict(validation=[()]), "another set of metrics"),
        (dict(seed=1, t_max=8), "another schedule .*another seed: "),
        (dict(epochs=0), " epoch 1 .* 0 "),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(written, changes, named):
    path, go_on = written
    before = path.read_bytes()
    message = go_on(**changes)
    assert re.search(named, message) and str(path) in message and "delete it" in message
    assert path.read_bytes() == before
    assert go_on(epochs=2) is None


class Turned(nn.Module):
    """A layer with settings that its state doesn't hold, and something that changes as it runs."""

    def __init__(self, base: float = 10.0, h: int = 6, published: bool = False, scale: float = 1.0):
        super().__init__()
        self.set_scale(scale)
        self.linear, self.rotary, self.bias = nn.Linear(5, 3), Rotary(4, base), Alibi(h, published)
        self.steps, self.last, self.tied = 0, None, (self.linear.bias,)
        self.register_buffer("seen", torch.zeros(2), persistent=False)
        self.register_buffer("first", torch.zeros(5), persistent=False)
        self.register_buffer("written", torch.zeros(5), persistent=False)

    def set_scale(self, scale):
        self.scale = scale

    def forward(self, x):
        def step():
            self.steps += 1

        step()
        self.last = self.linear(x).detach()
        [self.seen.add_(1) for _ in x]
        self.keep(x)
        self.write(x)
        return self.linear(x)

    def keep(self, x):
        torch.mul(x[0], 1, out=self.first)

    def write(self, x):
        self.written[:] = x[0]


class Drifting(nn.CrossEntropyLoss):
    """A loss that keeps a mean of what it was given, and normalises it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, outputs, target):
        self.mean.lerp_(outputs.detach().mean(0), 0.1)
        return super().forward(self.norm(outputs), target)


def over(layer):
    return nn.Sequential(nn.Linear(5, 3), layer)


def with_milestone(optimiser, milestone: int):
    schedules = [ConstantLR(optimiser), CosineAnnealingLR(optimiser, T_max=9)]
    return SequentialLR(optimiser, schedules, [milestone])


def with_peak(optimiser, place: float):
    return OneCycleLR(optimiser, max_lr=0.1, total_steps=99, pct_start=place)


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        (dict(model=Turned()), dict(model=Turned(base=500.0)), "model"),
        (dict(model=Turned()), dict(model=Turned(published=True)), "model"),
        (dict(schedule=(with_milestone, 3)), dict(schedule=(with_milestone, 4)), "schedule"),
        (dict(schedule=(with_peak, 0.3)), dict(schedule=(with_peak, 0.4)), "schedule"),
        *(
            (dict(loss=nn.CrossEntropyLoss(torch.ones(3))), dict(loss=other), "loss")
            for other in (
                nn.CrossEntropyLoss(),
                nn.CrossEntropyLoss(torch.tensor([1.0, 1.0, 2.0])),
                nn.CrossEntropyLoss(torch.tensor([0.5, 2.0, 0.5])),
            )
        ),
        (dict(model=Turned()), dict(model=Turned(scale=2.0)), "model"),
        (dict(model=over(nn.Softmax(1))), dict(model=over(nn.Softmax(0))), "model"),
    ],
)
def test_a_setting_that_no_state_holds_tells_another_run(tmp_path, before, after, named):
    def trained(epochs, model=None, schedule=None, **changes):
        model = copy.deepcopy(model or Turned())
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        make, setting = schedule or (with_milestone, 3)
        changes |= {"epochs": epochs, "schedule": make(optimiser, setting)}
        changes |= {"model": model, "optimiser": optimiser, "checkpoint": tmp_path / "run.pt"}
        return fit_with(**changes)

    trained(1, **before)
    with pytest.raises(CheckpointError, match=f"another {named}: "):
        trained(2, **after)
    assert len(trained(2, **before).seconds) == 2


class Wrapped(nn.Module):
    """A layer whose method stands for one that is not written in Python."""

    forward = functools.wraps(len)(lambda self, x: x)


TENSORS = {
    "every other": 1000 * torch.arange(6.0)[::2],
    "infinite": torch.ones(3, 3).log().masked_fill(torch.eye(3).bool(), -torch.inf),
    "as large to both sides": torch.tensor([-0.1, -0.2, 0.3]),
    "one number": torch.tensor(3.0),
    "turned": torch.arange(6).bfloat16().view(2, 3).T,
    "conjugate": torch.tensor([1j]).conj(),
    "negative": torch.tensor([1j]).conj().imag,
    "empty": torch.ones(0),
    "on no device": torch.ones(3, device="meta"),
    "sparse": torch.eye(3).to_sparse(),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_of_any_form_is_a_setting(name):
    layer = Wrapped()
    layer.register_buffer("held", TENSORS[name], persistent=False)
    found = settings_of_layers(layer)
    assert found == settings_of_layers(copy.deepcopy(layer))
    if name == "every other":  # numbers of another processor
        layer.held = TENSORS[name] * (1 + 1e-7)
        assert found == settings_of_layers(layer)
    layer.held = 3 * TENSORS[name]
    unseen = name in ("empty", "on no device", "sparse", "infinite")
    assert (found == settings_of_layers(layer)) is unseen


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([0, 1, 1, 0], [1, 0, 0, 1]),
        ([1, 1, 1], [0.5, 2, 0.5]),
        ([0, -torch.inf, 1], [0, -torch.inf, 2]),
        ([0, -torch.inf, 1], [0, 1, -torch.inf]),
        ([[1, 2]], [[1], [2]]),
        ([128_000], [128_001]),
    ],
)
def test_tensors_of_one_size_are_told_apart(one, other):
    assert in_words(torch.tensor(one)) != in_words(torch.tensor(other))


def test_what_a_layer_keeps_while_it_runs_is_no_other_model(tmp_path):
    model = Turned()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for epochs in (1, 2):
        told = dict(model=model, optimiser=optimiser, epochs=epochs)
        history = fit_with(**told, checkpoint=tmp_path / "run.pt")
    assert len(history.seconds) == 2 and model.steps > 2 and model.last is not None
    assert model.seen[0] > 2 and model.first.any() and model.written.any()


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(2), persistent=False)

    def forward(self, x):
        out = x * self.mask
        return x + out


def test_a_variable_called_out_changes_nothing():
    assert "mask" not in set().union(*changed_by(Masked))


def test_a_weight_that_is_computed_before_each_pass_is_no_setting(tmp_path):
    for epochs in (1, 2):
        model = torch.nn.utils.spectral_norm(nn.Linear(5, 3))
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        told = dict(model=model, optimiser=optimiser, epochs=epochs)
        assert len(fit_with(**told, checkpoint=tmp_path / "run.pt").seconds) == epochs


def test_a_loss_that_moves_is_the_same_one_later(tmp_path):
    model, loss = nn.Linear(5, 3), Drifting()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for epochs in (1, 2):
        told = dict(model=model, optimiser=optimiser, epochs=epochs, loss=loss)
        assert len(fit_with(**told, checkpoint=tmp_path / "run.pt").seconds) == epochs


def test_a_loss_that_looks_at_the_weights_is_the_same_one_later(tmp_path):
    model = nn.Linear(5, 3)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    mean = model.weight.detach().clone()

    def drawn(outputs, target):
        mean.lerp_(model.weight.detach(), 0.1)
        return F.cross_entropy(outputs, target) + model.weight.sub(mean).square().sum()

    for epochs in (1, 2):
        told = dict(model=model, optimiser=optimiser, epochs=epochs, loss=drawn)
        assert len(fit_with(**told, checkpoint=tmp_path / "run.pt").seconds) == epochs


def test_a_damaged_checkpoint_is_noticed_wherever_the_damage_is(written):
    path, go_on = written
    whole = path.read_bytes()
    lots = random.Random(0)
    cuts = [0, 1, 100, len(whole) - 1, *(lots.randrange(len(whole)) for _ in range(10))]
    damaged = [whole[:cut] for cut in cuts]
    for place in (0, 40, *(lots.randrange(len(whole)) for _ in range(100))):  # a single bit
        damaged.append(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    damaged += [b"", b"not a checkpoint", bytes(len(whole))]
    for content in damaged:
        path.write_bytes(content)
        message = go_on(epochs=2)
        assert message is not None and "is damaged" in message and "delete it" in message


def no_file(path, kind):
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path)


@pytest.mark.parametrize("kind", ["folder", "link to itself", "pipe"])
def test_what_is_no_file_is_no_damaged_checkpoint(written, kind):
    if kind == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    path, go_on = written
    no_file(path, kind)
    message = go_on()
    if kind == "link to itself" and sys.version_info >= (3, 13):
        # `Path.resolve` no longer minds: nothing is there, so a file takes the link's place.
        assert message is None and path.is_file() and not path.is_symlink()
    else:
        assert "delete" not in message


def test_a_checkpoint_that_may_not_be_read_is_no_damaged_one(written, monkeypatch):
    path, go_on = written

    def refused(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "read_bytes", refused)
    message = go_on()
    assert f"{path} " in message and "(Permission denied): " in message
    assert "delete" not in message


@pytest.mark.parametrize("path", ["", ".", "~no such user/run.pt"])
def test_a_path_that_names_no_file_is_refused(path):
    with pytest.raises(CheckpointError):
        fit_with(checkpoint=path)


def test_a_checkpoint_in_the_home_folder_or_behind_a_link(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    fit_with(checkpoint="~/run.pt", epochs=1)
    (link := tmp_path / "link.pt").symlink_to(tmp_path / "run.pt")
    assert len(fit_with(checkpoint=link, epochs=2).seconds) == 2
    assert link.is_symlink() and left_in(tmp_path) == ["link.pt", "run.pt"]


def wrong_contents(stored):
    """What a file with the right checksum may hold, and `fit` never wrote."""
    states, history = stored["states"], stored["history"]
    schedule, optimiser, model = states["schedule"], states["optimiser"], states["model"]
    wide = optimiser | {"state": {0: {"momentum_buffer": torch.ones(7)}}}
    yield "momentum of another weight", states | {"optimiser": wide}, history
    nowhere = optimiser | {"state": {9: {"momentum_buffer": torch.ones(3)}}}
    yield "momentum of no weight", states | {"optimiser": nowhere}, history
    yield "a weight missing", states | {"model": {"0.weight": model["0.weight"]}}, history
    larger = model | {"0.bias": torch.ones(4)}
    yield "a weight too large", states | {"model": larger}, history
    yield "no weight", states | {"model": model | {"0.bias": "none"}}, history
    yield "no optimiser", {"model": model, "schedule": schedule}, history
    yield "optimiser of nothing", states | {"optimiser": {"state": {}, "param_groups": []}}, history
    yield "half an optimiser", states | {"optimiser": {"state": {}}}, history
    yield "half a schedule", states | {"schedule": {"last_epoch": 3}}, history
    yield "schedule of more", states | {"schedule": schedule | {"more": 1}}, history
    for name in history:
        yield f"no {name}", states, {n: part for n, part in history.items() if n != name}
    yield "more in the history", states, history | {"more": []}
    yield "a loss in words", states, history | {"step_loss": ["low"]}
    yield "a loss too many", states, history | {"train": {"loss": [1.0, 1.0]}}
    yield "no list", states, history | {"train": {"loss": 1.0}}


def test_a_checkpoint_with_wrong_contents_changes_nothing(written):
    path, go_on = written
    whole = path.read_bytes()
    stored = torch.load(io.BytesIO(whole[checkpoints.DIGEST :]), weights_only=True)
    for what, states, history in wrong_contents(stored):
        content = io.BytesIO()
        torch.save(stored | {"states": states, "history": history}, content)
        path.write_bytes(checkpoints.checksum(content.getvalue()) + content.getvalue())
        model = nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.5))
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = CosineAnnealingLR(optimiser, T_max=9)
        parts = (model, optimiser, schedule)
        before = [bits(part.state_dict()) for part in parts]
        with pytest.raises(CheckpointError, match="is damaged"):
            fit_with(model=model, optimiser=optimiser, schedule=schedule, checkpoint=path)
        assert [bits(part.state_dict()) for part in parts] == before, what
    path.write_bytes(whole)
    assert go_on(epochs=2) is None


def test_a_checkpoint_belongs_to_one_run_at_a_time(tmp_path):
    path = tmp_path / "run.pt"

    def meanwhile(outputs, target):
        with pytest.raises(CheckpointError, match="Another run .*run.pt "):
            run(path)
        return F.cross_entropy(outputs, target)

    assert bits(run(path, epochs=1, loss=meanwhile)) == bits(run(epochs=1))
    assert bits(run(path)) == bits(run())  # it is free again


class Malicious:
    """Unpickled, it would leave a file behind."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_checkpoint_runs_no_code(written, tmp_path, zipped):
    path, go_on = written
    stored = torch.load(io.BytesIO(path.read_bytes()[checkpoints.DIGEST :]), weights_only=True)
    stored["states"]["model"] = Malicious(tmp_path / "trace")
    trap = io.BytesIO()
    torch.save(stored, trap, _use_new_zipfile_serialization=zipped)
    path.write_bytes(checkpoints.checksum(trap.getvalue()) + trap.getvalue())
    assert "was not written by `fit`" in go_on(epochs=2)
    assert not (tmp_path / "trace").exists()
    trap.seek(0)
    torch.load(trap, weights_only=False)  # the trap itself works
    assert (tmp_path / "trace").exists()


def test_a_full_disk_leaves_the_checkpoint_before(written, monkeypatch):
    path, go_on = written
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoints.os, "fsync", full)
    model = nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.5))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = CosineAnnealingLR(optimiser, T_max=9)
    with pytest.raises(CheckpointError, match=r"run.pt .*\(No space left on device\)"):
        fit_with(model=model, optimiser=optimiser, schedule=schedule, checkpoint=path)
    assert path.read_bytes() == before
    assert left_in(path.parent) == ["run.pt"]
    monkeypatch.undo()
    assert go_on(epochs=2) is None


def test_a_checkpoint_where_a_file_is_the_folder(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CheckpointError, match="be written"):
        fit_with(checkpoint=tmp_path / "file" / "run.pt")


# ---------------------------------------------------------------- killed


def kill_myself(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after(steps):
    """A loss in whose calculation the process is killed."""
    calls = iter(range(1, 10_000))
    return lambda outputs, target: (
        kill_myself() if next(calls) == steps else F.cross_entropy(outputs, target)
    )


class HalfWritten(io.FileIO):
    def write(self, content):
        super().write(content[: len(content) // 2])
        os.fsync(self.fileno())
        kill_myself()


def in_a_child(work, seconds=0):
    """Start `work` in a forked process, killed after so much processor time; return its id."""
    child = os.fork()
    if child == 0:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds)  # 0: never
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def killed(child) -> bool:
    """Wait for the child; was it killed (and not finished)?"""
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL, -signal.SIGPROF), f"a run failed with {status}"
    return status != 0


def instead_of(module, name, function, work):
    """`work` with another function in place of the module's."""

    def changed():
        setattr(module, name, function)
        work()

    return changed


def renamed_and_killed(*paths, replace=os.replace):
    replace(*paths)
    kill_myself()


def be_killed_again_and_again(folder: Path, optimiser: str):
    """Run to the end in spite of kills, and once without any; store both results."""

    def work(checkpoint=folder / "run.pt", loss=F.cross_entropy, store=None):
        result = run(checkpoint, epochs=30, optimiser=optimiser, loss=loss)
        if store:
            torch.save(result, folder / store)

    before = os.times()
    assert not killed(in_a_child(lambda: work(checkpoint=None, store="never killed.pt")))
    seconds = sum(os.times()[2:4]) - sum(before[2:4])  # of the child's processor
    for moment in (
        lambda: work(loss=killed_after(3)),  # in the first epoch: there is no checkpoint yet
        instead_of(checkpoints, "open", lambda file, mode: HalfWritten(file, "w"), work),
        instead_of(os, "fsync", kill_myself, work),
        lambda: work(
            loss=killed_after(13)
        ),  # in the second epoch, 5 steps and 3 of validation each
        instead_of(os, "replace", kill_myself, work),
        instead_of(os, "replace", renamed_and_killed, work),
        lambda: work(loss=killed_after(7)),  # in a validation
    ):
        assert killed(in_a_child(moment))
    kills = 0
    for part in (0.05, 0.1, 0.2, 0.3):
        kills += killed(in_a_child(work, part * seconds))
    assert kills, "every run was finished before it could be killed"
    assert not killed(in_a_child(lambda: work(store="killed.pt")))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked and killed")
def test_a_run_that_is_killed_ends_as_one_that_never_was(tmp_path):
    command = [sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for optimiser in ("adam", "sgd"):
        stored = [tmp_path / optimiser / name for name in ("killed.pt", "never killed.pt")]
        results = [torch.load(file) for file in stored]
        assert bits(results[0]) == bits(results[1])
        assert len(results[0]["history"][0]["loss"]) == 30


# ---------------------------------------------------------------- what one sees


def test_the_history_plots_the_loss_and_each_metric():
    history = fit_with(
        metrics={"accuracy": accuracy}, validation=Batches(*data(9), batch_size=4), epochs=3
    )
    figure = learning_curves(history)
    assert [ax.get_ylabel() for ax in figure.axes] == ["loss", "accuracy"]
    for ax, name in zip(figure.axes, ("loss", "accuracy"), strict=True):
        assert ax.get_xlabel() == "epoch"
        training, validation = ax.lines
        assert list(training.get_xdata()) == [1, 2, 3]
        assert list(training.get_ydata()) == history.train[name]
        assert list(validation.get_ydata()) == history.validation[name]
    plt.close(figure)
    with pytest.raises(ValueError, match="no epoch"):
        learning_curves(History())


def test_the_progress_bar_shows_the_loss_and_goes_away(capsys, monkeypatch):
    monkeypatch.setattr(loop, "tqdm", functools.partial(tqdm, disable=False, mininterval=0))
    history = fit_with(epochs=2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Training: 100%" in shown.err and f"loss={history.train['loss'][1]:.4f}" in shown.err
    assert not shown.err.endswith("\n") and shown.err.rstrip(" \r").endswith("]")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in ("adam", "sgd"):
        (Path(sys.argv[1]) / name).mkdir()
        be_killed_again_and_again(Path(sys.argv[1]) / name, name)
