"""By what a training run is known: the settings that stay the same while it trains."""

import dis
import functools
import inspect
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import CodeType

import torch
from torch import Tensor, nn

IN_PLACE = re.compile(r"[a-z]\w*[^_]_")  # as in `add_`
READS = "LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"


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
        name = settings_of_layers(loss, stored=True)  # its state is in no checkpoint
    return run if "<" in name else run | {"loss": name}


def settings_of_layers(model: nn.Module, stored: bool = False) -> str:
    """The class and the settings of each layer, with buffers that a state holds if `stored`."""
    return " ".join(
        f"{name}: {type(layer).__name__} {settings_of_layer(layer, stored)}"
        for name, layer in model.named_modules()
    )


def settings_of_layer(layer: nn.Module, stored: bool) -> dict:
    """Its attributes and buffers, but what its forward pass changes."""
    public = {name: value for name, value in vars(layer).items() if not name.startswith("_")}
    named = layer._buffers.keys() if stored else sorted(layer._non_persistent_buffers_set)
    buffers = {name: layer._buffers[name] for name in named}
    anew, in_place = changed_by(type(layer))
    if layer._forward_pre_hooks:  # as of weight_norm, which sets `weight`
        in_place = in_place | public.keys()
    return {
        name: in_words(value)
        for name, value in (public | buffers).items()
        if name not in anew | {"training"}
        and not isinstance(value, list | dict)
        and not (name in in_place and isinstance(value, Tensor))
    }


@functools.cache
def changed_by(kind: type) -> tuple[set[str], set[str]]:
    """The attributes that a forward pass sets anew, and those that it may change in place.

    They are read off the code of `forward` and `train`, and of the methods that these name. In
    place, a method may change all that it reads if it changes anything.
    """
    anew, in_place, reached, ahead = set(), set(), set(), {"forward", "train"}
    while ahead:
        method = ahead.pop()
        reached.add(method)
        steps = [*steps_of(kind, method)]
        read = {name for does, name in steps if does in READS}
        anew |= {name for does, name in steps if does == "STORE_ATTR"}
        if any(
            does in ("STORE_SUBSCR", "STORE_SLICE")
            or (does in READS and IN_PLACE.fullmatch(value))
            or (does in ("KW_NAMES", "LOAD_CONST") and isinstance(value, tuple) and "out" in value)
            for does, value in steps
        ):
            in_place |= read
        ahead |= read - reached
    return anew, in_place


def steps_of(kind: type, method: str) -> Iterator[tuple[str, object]]:
    """What a class's method does, those that it overrides, and functions within: step, and value.

    The names of a call's arguments are a constant: of KW_NAMES up to Python 3.12, then of
    LOAD_CONST.
    """
    for held in (vars(base).get(method) for base in kind.__mro__):
        function = inspect.unwrap(getattr(held, "fget", None) or getattr(held, "__func__", held))
        ahead = [function.__code__] if inspect.isfunction(function) else []
        while ahead:
            code = ahead.pop()
            for step in dis.get_instructions(code):
                is_constant = step.opcode in dis.hasconst
                yield step.opname, code.co_consts[step.arg] if is_constant else step.argval
            ahead += [const for const in code.co_consts if isinstance(const, CodeType)]


def in_words(value: object) -> str:
    """A setting in words; of a tensor that nobody trains, how large its numbers are, and where.

    Of fractions, five digits: the last ones may be others on another machine.
    """
    if (
        not isinstance(value, Tensor)
        or value.requires_grad
        or value.is_meta
        or value.is_nested
        or value.is_quantized
        or value.layout != torch.strided
    ):
        return known(value)
    plain = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    numbers = plain.cpu().double().flatten()
    finite = numbers.isfinite()
    places = torch.linspace(0, 1, len(numbers), dtype=torch.float64)
    told = [str(value.dtype), str(tuple(value.shape))]
    digits = 5 if value.is_floating_point() or value.is_complex() else 17
    for part in (numbers.where(finite, 0), numbers.sign().where(~finite, 0)):
        size = part.abs().sum()
        shares = torch.stack([part.sum(), places @ part, places.square() @ part]) / size
        told += [f"{size:.{digits}g}", f"{part @ part:.{digits}g}"]
        told += [str(round(share, 5) + 0.0) for share in shares.nan_to_num().tolist()]  # no -0.0
    return " ".join(told)


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
