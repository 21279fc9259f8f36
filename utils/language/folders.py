"""Day 9: a model as others publish it, a folder of a config.json and of weights in safetensors.

Such a file is a header and numbers, and opening it runs nothing. A pickle can run anything, so
none is opened here.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from utils.tokens.tables import PublishedConfig, check_folder, read_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ACTIVATION = {  # published name: ours
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "relu2": "relu_squared",
    "silu": "silu",
    "swish": "silu",
}
NUMBERS = torch.float16, torch.bfloat16, torch.float32, torch.float64
DEEPEST = 1000  # layers; the deepest that are published have 126
UNTIED = "an output unlike the embedding"
Weights = dict[str, Tensor]


def read_config(folder: Path, kind: str) -> PublishedConfig:
    """Read config.json.

    Raises: ValueError if it is missing or damaged, or the model is of another kind.
    """
    config = read_json(folder / "config.json")
    config["model_type"]  # has to be there
    config.expect(model_type=kind)
    return config


def read_weights(folder: Path) -> Weights:
    """Read all weights by their names: of one file, or of the shards that an index names.

    Raises: ValueError if there are none in safetensors, or a file is missing or damaged.
    """
    check_folder(folder)
    if (folder / WEIGHTS).exists() or not (folder / INDEX).exists():
        return dict(_read(folder / WEIGHTS))
    index = read_json(folder / INDEX)
    shards = index.get("weight_map")
    if not isinstance(shards, dict) or not all(_is_plain(shard) for shard in shards.values()):
        raise ValueError(f"{folder / INDEX} does not say which file beside it holds which weight.")
    found = {}
    for shard in sorted(set(shards.values())):
        for name, weight in _read(folder / shard):
            if name in found:
                raise ValueError(f"{folder} holds the weight {name} in two files: fetch it again.")
            found[name] = weight
    return found


def renamed(weights: Weights, name_of: Callable[[str], str], folder: Path) -> Weights:
    """Return weights by other names; what gets an empty one is left out.

    Raises: ValueError if two get the same.
    """
    found = {}
    for old, weight in weights.items():
        if name := name_of(old):
            if name in found:
                raise ValueError(f"{folder} holds the weight {name} by two names: fetch it again.")
            found[name] = weight
    return found


def of(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """Return a layer's weights by the names under which they are published."""
    return {f"{name}.{part}": weight for part, weight in layer.named_parameters()}


Model = TypeVar("Model", bound=nn.Module)
Places = tuple[Mapping[str, Tensor], Mapping[str, tuple[Tensor, str]]]


def filled(
    make: Callable[[], Model],
    places: Callable[[Model], Places],
    weights: Weights,
    folder: Path,
    dtype: torch.dtype,
) -> Model:
    """Return a model with each published weight in the place of its name, in evaluation mode.

    make: makes it, first where there are shapes and no numbers: they are made when all fit.
    places: returns a model's places by name; and copies, names under which some files hold once
        more what belongs in a place: that place, and what they hold if it is something else.
    Raises: ValueError if a weight is missing, has no place, or is of another shape or no numbers,
        or not finite in this dtype; or if what is there once more is not the same; or if the dtype
        is no floating-point type.
    """
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ValueError(
            f"dtype is a floating-point type of torch's, such as torch.float32, got {dtype!r}."
        )
    try:
        with torch.device("meta"):
            wanted, copies = places(make())
    except RuntimeError:
        raise ValueError(
            f"{folder / 'config.json'} tells of a model too large for any machine."
        ) from None
    check_stored_names(wanted.keys(), weights.keys() - copies.keys(), folder)
    for name, place in wanted.items():
        check_stored_shape(name, weights[name], place, folder)
    model = make().to(dtype)
    wanted, copies = places(model)
    with torch.no_grad():
        for name, place in wanted.items():
            place.copy_(weights[name])
            if not place.isfinite().all():
                raise ValueError(
                    f"In {folder} the weight {name} has a number that is NaN or infinite in "
                    f"{dtype}: fetch it again, or load it in another dtype."
                )
    for name, (place, other) in copies.items():
        if name in weights and not torch.equal(weights[name].to(place), place):
            raise ValueError(f"{folder} holds {other}, and its config says that both are one.")
    return model.eval()


def _read(file: Path) -> Iterator[tuple[str, Tensor]]:
    if not file.is_file():
        pickles = sorted(other.name for other in file.parent.glob("*.bin"))
        beside = f" {pickles[0]} is a pickle, which may run anything:" if pickles else ""
        raise ValueError(f"There is no {file}:{beside} fetch the model in safetensors.")
    try:
        with safe_open(file, framework="pt") as stored:
            for name in stored.keys():  # no dict
                yield name, stored.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{file} is no whole file of safetensors ({error}): perhaps cut short, so fetch it "
            "again."
        ) from None


def _is_plain(shard: object) -> bool:
    """Whether this is the name of a file of safetensors in the same folder."""
    return isinstance(shard, str) and Path(shard).name == shard and shard.endswith(".safetensors")


def check_stored_names(expected: Set[str], found: Set[str], folder: Path) -> None:
    """Raise a ValueError if weights are missing from a folder, or it holds others."""
    for what, names in (("lacks", expected - found), ("has also", found - expected)):
        if names:
            first, *more = sorted(names)
            others = f" and {len(more)} more" if more else ""
            raise ValueError(
                f"{folder} {what} the weight {first}{others}: its config.json tells of a model "
                f"{'with' if what == 'lacks' else 'without'} it."
            )


def check_stored_shape(name: str, weight: Tensor, place: Tensor, folder: Path) -> None:
    """Raise a ValueError if a weight is of another shape than its place, or no real numbers."""
    if weight.shape != place.shape:
        raise ValueError(
            f"In {folder} the weight {name} is {tuple(weight.shape)}, and by its config.json it is "
            f"{tuple(place.shape)}."
        )
    if weight.dtype not in NUMBERS:
        raise ValueError(
            f"In {folder} the weight {name} is of {weight.dtype}, perhaps quantised: fetch the "
            "model in float16, bfloat16 or float32."
        )
