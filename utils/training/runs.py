"""By what a training run is known: the settings that stay the same while it trains."""

import functools
import inspect
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import CodeType

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

Run = dict[str, dict[str, str | None]]  # a part of the run: its settings in words, by name
MOVES = None  # instead of a setting that has changed while the run trained


def describe(
    model: nn.Module, optimiser, schedule, loss: Callable, seed: int, measures: list
) -> Run:
    """Write down what makes another run of a run, its data left out.

    loss: by its name, or its settings if it is a layer; a function inside another one says nothing.
    measures: the metrics' names, and whether there are validation data.
    """
    groups = [settings_of_group(group) for group in optimiser.param_groups]
    run = {
        "model": settings_of_layers(model),
        "optimiser": {"": f"{type(optimiser).__name__} {known(optimiser.defaults)} {groups}"},
        "schedule": settings_of_schedule(schedule),
        "seed": {"": str(seed)},
        "set of metrics or validation data": {"": str(measures)},
    }
    loss = inspect.unwrap(loss)
    if isinstance(loss, nn.Module):
        weights = {name: in_words(buffer) for name, buffer in buffers(loss, stored=True).items()}
        run["loss"] = settings_of_layers(loss) | weights
    elif "<" not in known(loss):
        run["loss"] = {"": known(loss)}
    return run


def differing(one: Run, other: Run) -> list[str]:
    """The parts of a run that are others in another one.

    A setting that one of them lacks, or that moves, is not compared; nor is a part that has none.
    """
    found = []
    for part in one.keys() & other.keys():
        shared = one[part].keys() & other[part].keys()
        pairs = [(one[part][name], other[part][name]) for name in shared]
        if any(mine != theirs and MOVES not in (mine, theirs) for mine, theirs in pairs):
            found.append(part)
    return sorted(found)


def still(before: Run, now: Run) -> Run:
    """A run's settings, but for those that have changed since."""
    return {
        part: {
            name: value if now.get(part, {}).get(name) == value else MOVES
            for name, value in settings.items()
        }
        for part, settings in before.items()
    }


def settings_of_layers(model: nn.Module) -> dict[str, str]:
    """The class, the sizes and the attributes of each layer, and buffers that no state holds."""
    kinds = {name: type(layer).__name__ for name, layer in model.named_modules()}
    sizes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {"": f"{kinds} {sizes}"}
    for name, layer in model.named_modules():
        for attribute, value in vars(layer).items():
            kept = isinstance(value, list | dict)  # as a cache
            if not (attribute.startswith("_") or attribute == "training" or kept):
                found[f"{name}.{attribute}"] = in_words(value)
    return found | {name: in_words(buffer) for name, buffer in buffers(model).items()}


def buffers(model: nn.Module, stored: bool = False) -> dict[str, Tensor | None]:
    """Those that no state holds, or those that a state holds if `stored`, by name."""
    return {
        f"{name}.{of_layer}": buffer
        for name, layer in model.named_modules()
        for of_layer, buffer in layer._buffers.items()
        if (of_layer in layer._non_persistent_buffers_set) != stored
    }


def in_words(value: object) -> str:
    """A setting in words; of a tensor its form, and how large its numbers are, and where.

    To five digits: the last ones may be others on another machine.
    """
    if (
        not isinstance(value, Tensor)
        or is_lazy(value)
        or value.is_meta
        or value.is_nested
        or value.is_quantized
        or value.layout != torch.strided
    ):
        return known(value)
    plain = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    numbers = plain.detach().cpu().double().flatten()
    finite = numbers.isfinite()
    places = torch.linspace(0, 1, len(numbers), dtype=torch.float64)
    told = [str(value.dtype), str(tuple(value.shape))]
    for part in (numbers.where(finite, 0), numbers.sign().where(~finite, 0)):
        size = part.abs().sum()
        shares = torch.stack([part.sum(), places @ part, places.square() @ part, part @ part])
        told.append(f"{size:.5g}")
        shares = (shares / size).nan_to_num().tolist()
        told += [str(round(share, 5) + 0.0) for share in shares]  # -0.0 is 0.0
    return " ".join(told)


def settings_of_group(group: dict) -> str:
    """Those of an optimiser's weights, but what a schedule changes."""
    moved = {"params", "lr"}
    if "base_momentum" in group:  # it rises while the rate falls
        moved |= {"momentum", "betas"}
    settings = {name: value for name, value in group.items() if name not in moved}
    rate = group.get("initial_lr", group.get("lr"))
    return f"{len(group['params'])} {known(rate)} {known(settings)}"


def settings_of_schedule(schedule) -> dict[str, str]:
    """The class and the settings of a schedule and those within it, but where it stands."""
    moved = {"base_lrs", "last_epoch", "T_cur", "T_i", "optimizer"}  # where it stands
    private = {"_milestones", "_schedule_phases", "_anneal_func_type"}  # which are settings
    found = {"": type(schedule).__name__}
    for name, value in (vars(schedule) if schedule else {}).items():
        if name in private or name not in moved and not name.startswith("_"):
            found[name] = known(value)
    for number, inner in enumerate(getattr(schedule, "_schedulers", ())):
        settings = settings_of_schedule(inner).items()
        found |= {f"{number}.{name}": value for name, value in settings}
    return found


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
