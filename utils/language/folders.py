"""Day 9: a model as others publish it, a folder of a config.json and of weights in safetensors.

Such a file is a header and numbers, and opening it runs nothing. A pickle can run anything, so
none is opened here.
"""

import json
import math
from collections.abc import Iterator, Mapping, Set
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from utils.arguments import check_choice

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
UNTIED = "an output unlike the embedding"
Weights = dict[str, Tensor]


class PublishedConfig(dict):
    """What a config.json says. What it lacks and is asked for is named in a ValueError."""

    def __init__(self, file: Path, told: Mapping[str, Any]):
        super().__init__(told)
        self.file = file

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"{self.file} lacks {key!r}: it is cut short, or of another kind.")

    def expect(self, **values: object) -> None:
        """Refuse what would make another model; a value that is left out is the expected one."""
        for key, value in values.items():
            if self.get(key, value) != value:
                raise ValueError(
                    f"{self.file} has {key} = {self[key]!r}, and the book reads models with "
                    f"{value!r} there."
                )

    def number(self, key: str) -> float:
        """Return a number above 0."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
            raise ValueError(f"{self.file} has {key} = {value!r}: it is a number above 0.")
        return value

    def flag(self, key: str) -> bool:
        """Return what is true or false."""
        value = self[key]
        if not isinstance(value, bool):
            raise ValueError(f"{self.file} has {key} = {value!r}: it is true or false.")
        return value

    def activation(self, key: str) -> str:
        """Return our name of an activation."""
        name = self[key]
        check_choice("activation", name, list(ACTIVATION))
        return ACTIVATION[name]

    def table(self, key: str) -> "PublishedConfig":
        """Return a table inside the config, empty if it is left out."""
        told = self.get(key) or {}
        if not isinstance(told, dict):
            raise ValueError(f"{self.file} has {key} = {told!r}: it is a table.")
        return PublishedConfig(self.file, told)


def read_config(folder: Path, kind: str) -> PublishedConfig:
    """Read config.json.

    Raises: ValueError if it is missing or damaged, or the model is of another kind.
    """
    config = PublishedConfig(folder / "config.json", read_json(folder / "config.json"))
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
    return {
        name: weight
        for shard in sorted(set(shards.values()))
        for name, weight in _read(folder / shard)
    }


def of(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """Return a layer's weights by the names under which they are published."""
    return {f"{name}.{part}": weight for part, weight in layer.named_parameters()}


def fill(
    places: Mapping[str, Tensor],
    weights: Weights,
    folder: Path,
    copies: Mapping[str, tuple[Tensor, str]],
) -> None:
    """Copy each published weight into the place of its name.

    copies: names under which some files hold once more what belongs in a place: that place, and
        what they hold if it is something else.
    Raises: ValueError if a weight is missing, has no place, or is of another shape or no numbers:
        then nothing is copied; or if what is there once more is not the same.
    """
    check_stored_names(places.keys(), weights.keys() - copies.keys(), folder)
    for name, place in places.items():
        check_stored_shape(name, weights[name], place, folder)
    with torch.no_grad():
        for name, place in places.items():
            place.copy_(weights[name])
    for name, (place, other) in copies.items():
        if name in weights and not torch.equal(weights[name].to(place), place):
            raise ValueError(f"{folder} holds {other}, and its config says that both are one.")


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


def read_json(file: Path) -> dict[str, Any]:
    """Read a table in JSON.

    Raises: ValueError if there is no such file, or it is cut short or no table.
    """
    check_folder(file.parent)
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{file} can't be read ({error.strerror}): fetch it again.") from None
    except ValueError:  # of JSON, or of UTF-8
        raise ValueError(
            f"{file} is no whole JSON: perhaps cut short, so fetch it again."
        ) from None
    if not isinstance(told, dict):
        raise ValueError(f"{file} holds a {type(told).__name__}, not a table: fetch it again.")
    return told


def check_folder(folder: Path) -> None:
    """Raise a ValueError if there is no such folder."""
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}: a published model is a folder of files.")


def check_stored_names(expected: Set[str], found: Set[str], folder: Path) -> None:
    """Raise a ValueError if weights are missing from a folder, or it holds others."""
    for what, names in (("lacks", expected - found), ("has also", found - expected)):
        if names:
            first, *more = sorted(names)
            others = f" and {len(more)} more" if more else ""
            raise ValueError(
                f"{folder} {what} the weight {first}{others}: its config.json tells of another "
                "model."
            )


def check_stored_shape(name: str, weight: Tensor, place: Tensor, folder: Path) -> None:
    """Raise a ValueError if a weight is of another shape than its place, or no real numbers."""
    if weight.shape != place.shape:
        raise ValueError(
            f"In {folder} the weight {name} is {tuple(weight.shape)}, and by its config.json it is "
            f"{tuple(place.shape)}."
        )
    if not weight.is_floating_point():
        raise ValueError(
            f"In {folder} the weight {name} is of {weight.dtype}, perhaps quantised: fetch the "
            "model in float16, bfloat16 or float32."
        )
