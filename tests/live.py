"""What tests of views whose model runs in the page share: what it computes there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import nn

from utils.pretraining.rounded import with_rounded_weights
from utils.show.views import frame, models
from utils.tasks.rounded import in_int8

RUN = """([given, held, parts, name]) => {
    const make = new Function(`${parts} return ${name}(runtime(), arguments[0]);`);
    const plain = (x) => ArrayBuffer.isView(x) ? [...x] : Array.isArray(x) ? x.map(plain)
        : x && typeof x === "object"
        ? Object.fromEntries(Object.entries(x).map(([key, value]) => [key, plain(value)])) : x;
    return plain([...make(held)(given)]);
}"""


@contextmanager
def stored_at_random(
    folder: Path, model: nn.Module, std: float, name: str = "tiny", **told: object
) -> Iterator[tuple[Path, nn.Module]]:
    """Store a model with random weights where views look for one; yield folder and model, in int8.

    Large weights tell one input from another, as an untrained model hardly does.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        torch.manual_seed(0)
        for weight in model.parameters():
            nn.init.normal_(weight, std=std)
        models.store(name, in_int8(model), made_by="tests", **told)
        yield folder, with_rounded_weights(model.eval())


def computed(
    chromium, model: str | dict[str, str], name: str, parts: list[str], **given
) -> list[dict]:
    """What the function of that name yields for a stored model, or for several, in the page."""

    def stored(name: str) -> dict:
        script = (models.FOLDER / f"{name}.js").read_text("ascii")
        return json.loads(script.partition("] = ")[2].removesuffix(";\n"))

    several = isinstance(model, dict)
    held = {key: stored(one) for key, one in model.items()} if several else stored(model)
    code = "\n".join((frame.HERE / f"{part}.js").read_text("utf-8") for part in parts)
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [given, held, code, name])
    tab.close()
    return found
