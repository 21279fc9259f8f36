"""By what a training run is known: the settings that stay the same while it trains."""

import dis
import functools
import inspect
import re
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import CodeType

import torch
from torch import Tensor, nn

IN_PLACE = re.compile(r"[a-z]\w*[^_]_")  # as in `add_`


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
    name = known(loss)
    if isinstance(loss, nn.Module):
        weights = {part: in_words(weight) for part, weight in loss.named_buffers()}
        name = f"{settings_of_layers(loss)} {weights}"
    return run if "<" in name else run | {"loss": name}


def settings_of_layers(model: nn.Module) -> str:
    """The class and the settings of each layer."""
    return " ".join(
        f"{name}: {type(layer).__name__} {settings_of_layer(layer)}"
        for name, layer in model.named_modules()
    )


def settings_of_layer(layer: nn.Module) -> dict:
    """Its attributes, and buffers that no state holds, but what it changes after it was built."""
    public = {name: value for name, value in vars(layer).items() if not name.startswith("_")}
    unstored = {name: layer._buffers[name] for name in sorted(layer._non_persistent_buffers_set)}
    anew, in_place = changed_by(type(layer))
    return {
        name: in_words(value)
        for name, value in (public | unstored).items()
        if name not in anew | {"training"}
        and not isinstance(value, list | dict)
        and not (name in in_place and isinstance(value, Tensor))
    }


@functools.cache
def changed_by(kind: type) -> tuple[set[str], set[str]]:
    """The attributes that a class's methods set, and those that they may change in place.

    `__init__` is left out. In place, a method may change all that it reads if it changes anything.
    """
    anew, in_place = set(), set()
    for base in kind.__mro__:
        for name, method in vars(base).items():
            method = inspect.unwrap(method) if inspect.isfunction(method) else None
            if name == "__init__" or not inspect.isfunction(method):
                continue
            steps = [(step.opname, step.argval) for step in dis.get_instructions(method)]
            read = {name for does, name in steps if does in ("LOAD_ATTR", "LOAD_METHOD")}
            anew |= {name for does, name in steps if does == "STORE_ATTR"}
            if any(does in ("STORE_SUBSCR", "STORE_SLICE") for does, _ in steps) or any(
                IN_PLACE.fullmatch(name) for name in read
            ):
                in_place |= read
    return anew, in_place


def in_words(value: object) -> str:
    """A setting in words; of a tensor that nobody trains, how large its numbers are, and where.

    To six digits: the last ones may be others on another machine.
    """
    if (
        not isinstance(value, Tensor)
        or value.requires_grad
        or value.is_meta
        or value.is_quantized
        or value.layout != torch.strided
    ):
        return known(value)
    plain = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    numbers = plain.cpu().double().flatten().nan_to_num(posinf=1e9, neginf=-1e9)
    size, places = numbers.abs().sum(), torch.linspace(0, 1, len(numbers), dtype=torch.float64)
    shares = torch.stack([numbers.sum(), places @ numbers]).div(size).nan_to_num().tolist()
    told = [round(share, 6) + 0.0 for share in shares]  # -0.0 is 0.0
    return f"{value.dtype} {tuple(value.shape)} {size:.6g} {told}"


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
    private = {"_milestones", "_schedule_phases", "_anneal_func_type"}  # which are settings
    settings = {
        name: value
        for name, value in (vars(schedule) if schedule else {}).items()
        if name in private or name not in moved and not name.startswith("_")
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
