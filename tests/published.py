"""A model that the reference wrote into a folder, and what may be wrong with such a folder."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn


def offline() -> Iterator[ModuleType]:
    """`transformers`, without a network, for a fixture."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers

        yield transformers


def randomised(model: nn.Module) -> nn.Module:
    """Fill a model with numbers that are large enough to make each part count."""
    generator = torch.Generator().manual_seed(1)
    for weight in model.double().parameters():
        around = 1.0 if weight.dim() == 1 else 0.0
        nn.init.normal_(weight, around, 0.2, generator=generator)
    return model.eval()


def save(model: nn.Module, folder: Path, **how: object) -> Path:
    model.save_pretrained(folder, **how)
    return folder


# What may be wrong with it -----------------------------------------------------------------------


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def config_of(folder: Path) -> dict[str, object]:
    return json.loads((folder / "config.json").read_text())


def with_config(**values):
    def change(folder):
        (folder / "config.json").write_text(json.dumps(config_of(folder) | values))

    return change


def without_config(key):
    def change(folder):
        told = config_of(folder)
        del told[key]
        (folder / "config.json").write_text(json.dumps(told))

    return change


def with_weights(change_weights):
    def change(folder):
        stored = weights_of(folder)
        change_weights(stored)
        save_file(stored, folder / "model.safetensors")

    return change


def with_numbers(change_numbers):
    """Change the first weight's numbers."""

    def change(stored):
        name = min(stored)
        stored[name] = change_numbers(stored[name])

    return with_weights(change)


def in_two_files(folder):
    stored = weights_of(folder)
    sharded({"a": "a.safetensors", "b": "b.safetensors"})(folder)
    for shard in "ab":
        save_file(stored, folder / f"{shard}.safetensors")


def with_text(name, text):
    return lambda folder: (folder / name).write_text(text)


def cut_short(share):
    def change(folder):
        file = folder / "model.safetensors"
        file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])

    return change


def without_file(folder):
    (folder / "model.safetensors").unlink()


def with_a_pickle_alone(folder):
    without_file(folder)
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")


def sharded(weight_map):
    def change(folder):
        without_file(folder)
        index = json.dumps({"weight_map": weight_map})
        (folder / "model.safetensors.index.json").write_text(index)

    return change


REFUSED = {
    "no folder": (shutil.rmtree, "no folder "),
    "no config": (lambda folder: (folder / "config.json").unlink(), "config.json .*No such file"),
    "config cut": (with_text("config.json", '{"a": 1'), "config.json .*JSON"),
    "config a list": (with_text("config.json", "[1]"), "config.json .* list,"),
    "no bytes of UTF-8": (
        lambda folder: (folder / "config.json").write_bytes(b"\xff\xfe{}"),
        "config.json .*JSON",
    ),
    "other kind": (with_config(model_type="gpt"), "model_type = 'gpt', "),
    "no kind": (without_config("model_type"), "config.json lacks 'model_type'"),
    "no vocabulary": (without_config("vocab_size"), "config.json lacks 'vocab_size'"),
    "no size": (with_config(vocab_size="31"), " vocab_size = '31':"),
    "a size of true": (with_config(vocab_size=True), " vocab_size = True:"),
    "a size of a part": (with_config(vocab_size=31.0), " vocab_size = 31.0:"),
    "a size beyond all": (with_config(vocab_size=10**12), " vocab_size = 1000000000000:"),
    "a large size": (with_config(vocab_size=10**9), r"config.json .*\(10{9}"),
    "brackets": (with_text("config.json", 100_000 * "["), "config.json .*JSON"),
    "NaN": (with_numbers(lambda x: x * torch.nan), "NaN .*torch.float32"),
    "too large": (with_numbers(lambda x: 0 * x.double() + 1e300), "NaN .*torch.float32"),
    "float8": (with_numbers(lambda x: x.to(torch.float8_e4m3fn)), "torch.float8_e4m3fn"),
    "in two files": (in_two_files, "weight .* two files"),
    "no weights": (without_file, "no .*/model.safetensors:"),
    "a pickle": (with_a_pickle_alone, "pytorch_model.bin .*pickle"),
    "header cut": (cut_short(0.1), "/model.safetensors .*whole"),
    "numbers cut": (cut_short(0.9), "/model.safetensors .*whole"),
    "an empty file": (cut_short(0), "/model.safetensors .*whole"),
    "no safetensors": (with_text("model.safetensors", 99 * "no"), "/model.safetensors .*whole"),
    "index without map": (sharded(None), "index.json .*which weight"),
    "index out of the folder": (sharded({"a": "../b.safetensors"}), "index.json .*which weight"),
    "index to a pickle": (sharded({"a": "b.bin"}), "index.json .*which weight"),
    "a shard missing": (sharded({"a": "b.safetensors"}), "no .*/b.safetensors:"),
    "a weight more": (
        with_weights(lambda stored: stored.update(head=torch.ones(2), tail=torch.ones(2))),
        "also .* head .* 1 more:",
    ),
}
