"""What makes another run of a training run, and what doesn't."""

import dataclasses
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import ConstantLR, LambdaLR, OneCycleLR, SequentialLR

from utils.training.data_parallel import over_whole
from utils.training.runs import describe
from utils.transformer import DecoderOnly, Transformer, TransformerConfig

SIZES = {"vocab_size": 11, "d_model": 8, "n_heads": 4, "d_ff": 12, "n_layers": 2}
CONFIG = TransformerConfig(**SIZES, norm="pre", positions="rotary", max_len=16)
OTHERS = {  # than those of CONFIG, one for each field
    "vocab_size": 12,
    "target_vocab_size": 13,
    "tied": False,
    "d_model": 16,
    "n_heads": 2,
    "n_kv_heads": 2,
    "d_ff": 13,
    "n_layers": 3,
    "activation": "gelu",
    "norm": "post",
    "last_norm": False,
    "positions": "learned",
    "max_len": 17,
    "dropout": 0.2,
}


def described(
    model=None, schedule=None, loss=F.cross_entropy, made_by=torch.optim.Adam, **settings
) -> dict[str, str]:
    model = model or nn.Linear(2, 3)
    optimiser = made_by(model.parameters(), lr=0.1, **settings)
    return describe(model, optimiser, schedule and schedule(optimiser), loss, 0, [])


def unlike(one: dict, other: dict) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def test_each_field_of_a_config_is_varied():
    assert OTHERS.keys() == {field.name for field in dataclasses.fields(TransformerConfig)}


@pytest.mark.parametrize("kind", [DecoderOnly, Transformer])
@pytest.mark.parametrize("field", OTHERS)
def test_a_model_of_another_config_is_another(kind, field):
    other = dataclasses.replace(CONFIG, **{field: OTHERS[field]})
    assert "model" in unlike(described(kind(CONFIG)), described(kind(other)))


def test_a_model_of_the_same_config_is_the_same_whatever_its_weights_and_mode():
    assert described(DecoderOnly(CONFIG)) == described(DecoderOnly(CONFIG).eval())


class Around(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.weight, self.function = nn.Parameter(torch.ones(2)), function


def powers(base):
    return lambda step: base**step


def test_functions_in_a_model_are_told_apart_by_name_and_what_they_hold():
    kinds = [F.relu, F.gelu, partial(F.gelu, approximate="tanh"), powers(2), powers(3), abs]
    found = {described(Around(kind))["model"] for kind in kinds}
    assert len(found) == len(kinds)
    assert described(Around(powers(2))) == described(Around(powers(2)))
    assert all(" at 0x" not in text for text in found)


def test_the_optimisers_settings_count_of_each_group():
    def decaying(weights, lr, decay=0.0):
        weight, bias = weights
        groups = [{"params": [weight], "weight_decay": decay}, {"params": [bias]}]
        return torch.optim.SGD(groups, lr=lr)

    groups = partial(described, made_by=decaying)
    assert unlike(groups(), groups(decay=0.5)) == {"optimiser"}
    assert unlike(described(), described(betas=(0.8, 0.9))) == {"optimiser"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (partial(LambdaLR, lr_lambda=powers(0.5)), partial(LambdaLR, lr_lambda=powers(0.6))),
        (
            partial(LambdaLR, lr_lambda=lambda step: 0.5**step),
            partial(LambdaLR, lr_lambda=lambda step: 0.5 * step),
        ),
        (partial(ConstantLR, total_iters=3), partial(ConstantLR, total_iters=4)),
        (
            lambda o: SequentialLR(o, [ConstantLR(o, 0.5), ConstantLR(o, 0.5)], [3]),
            lambda o: SequentialLR(o, [ConstantLR(o, 0.5), ConstantLR(o, 0.4)], [3]),
        ),
    ],
)
def test_another_schedule_is_another(one, other):
    assert described(schedule=one) == described(schedule=one)
    assert "schedule" in unlike(described(schedule=one), described(schedule=other))


def test_a_schedule_that_has_moved_is_the_same():
    model = nn.Linear(2, 3)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    schedule = OneCycleLR(optimiser, 0.1, total_steps=9)
    before = describe(model, optimiser, schedule, F.cross_entropy, 0, [])
    for _ in range(3):
        optimiser.step()
        schedule.step()
    assert describe(model, optimiser, schedule, F.cross_entropy, 0, []) == before


def test_a_loss_has_its_name_or_its_settings_or_none():
    def inside(outputs, target):
        return F.mse_loss(outputs, target)

    assert unlike(described(), described(loss=F.mse_loss)) == {"loss"}
    smooth = nn.CrossEntropyLoss(label_smoothing=0.1)
    assert unlike(described(loss=nn.CrossEntropyLoss()), described(loss=smooth)) == {"loss"}
    for nameless in (inside, over_whole(F.mse_loss), partial(inside)):
        assert "loss" not in described(loss=nameless)
