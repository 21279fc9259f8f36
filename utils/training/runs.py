"""By what a training run is known: the settings that stay the same while it trains."""

import functools
import inspect
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import CodeType

from torch import nn


def describe(
    model: nn.Module, optimiser, schedule, loss: Callable, seed: int, measures: list
) -> dict[str, str]:
    """Write down what makes another run of a run, its data left out.

    loss: by its name, or its settings if it is a layer; a function inside another one says nothing.
    measures: the metrics' names, and whether there are validation data.
    """
    sizes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    groups = [settings_of_group(group) for group in optimiser.param_groups]
    run = {
        "model": f"{settings_of_layers(model)} {sizes}",
        "optimiser": f"{type(optimiser).__name__} {known(optimiser.defaults)} {groups}",
        "schedule": settings_of_schedule(schedule),
        "seed": str(seed),
        "set of metrics or validation data": str(measures),
    }
    loss = inspect.unwrap(loss)
    name = settings_of_layers(loss) if isinstance(loss, nn.Module) else known(loss)
    return run if "<" in name else run | {"loss": name}


def settings_of_layers(model: nn.Module) -> str:
    """The class and the settings of each layer: attributes that are numbers, words, functions."""
    return " ".join(
        f"{name}: {type(layer).__name__} {known(public(vars(layer)))}"
        for name, layer in model.named_modules()
    )


def public(attributes: dict) -> dict:
    """A layer's attributes but PyTorch's own, and whether it is training just now."""
    return {
        name: value
        for name, value in attributes.items()
        if not name.startswith("_") and name != "training" and not isinstance(value, list | dict)
    }


def settings_of_group(group: dict) -> str:
    """Those of an optimiser's weights, but what a schedule changes."""
    moved = {"params", "lr"}
    if "base_momentum" in group:  # it rises while the rate falls
        moved |= {"momentum", "betas"}
    settings = {name: value for name, value in group.items() if name not in moved}
    rate = group.get("initial_lr", group.get("lr"))
    return f"{len(group['params'])} {known(rate)} {known(settings)}"


def settings_of_schedule(schedule) -> str:
    """The class and the settings of a schedule and those within it, but where it stands."""
    moved = {"base_lrs", "last_epoch", "T_cur", "T_i", "optimizer"}  # where it stands
    settings = {
        name: value
        for name, value in (vars(schedule) if schedule else {}).items()
        if name not in moved and not name.startswith("_")
    }
    inner = map(settings_of_schedule, getattr(schedule, "_schedulers", ()))
    return " ".join([f"{type(schedule).__name__} {known(settings)}", *inner])


def known(value: object, depth: int = 5) -> str:
    """A setting in words: "?" for what can't be told apart, such as a tensor.

    A function has its name; one without, or inside another one, its code and what it holds too.
    """
    deeper = functools.partial(known, depth=depth - 1)
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if depth == 0 or isinstance(value, CodeType):
        return "?"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(deeper, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {deeper(held)}' for name, held in value.items())}}}"
    if is_dataclass(value) and not isinstance(value, type):
        return deeper({field.name: getattr(value, field.name) for field in fields(value)})
    if isinstance(value, functools.partial):
        return deeper((value.func, value.args, value.keywords))
    name = (
        f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    )
    code = getattr(value, "__code__", None)
    if code is None or "<" not in name:
        return name if callable(value) else "?"
    held = inspect.getclosurevars(value).nonlocals
    return deeper((name, zlib.crc32(code.co_code), code.co_consts, code.co_names, held))
