"""What shows that an answer is right: the numbers that it gives on all that its check tries.

The process of a hand-in sends them as JSON, and they are compared where no hand-in runs. So nothing
that a hand-in prints or patches makes a pass of a wrong answer.
"""

import json
from typing import Any

import torch
from torch import Tensor

from utils.exercises.checking.comparing import same
from utils.exercises.checking.exercise import MIXED, Exercise, Prediction
from utils.exercises.checking.gradients import gradients, in_single
from utils.exercises.checking.sandbox import call, copies, each, own_lots

DTYPES = {str(dtype): dtype for dtype in (torch.float64, torch.float32, torch.float16)}
DTYPES |= {str(dtype): dtype for dtype in (torch.bfloat16, torch.bool, torch.int64, torch.int32)}
DTYPES |= {str(dtype): dtype for dtype in (torch.int16, torch.int8, torch.uint8)}


def evidence(exercise: Exercise | Prediction, attempt: Any) -> list:
    """What an answer gives: on the inputs of all stages, then its gradients; or a prediction."""
    if isinstance(exercise, Prediction):
        return [attempt.item() if isinstance(attempt, Tensor) else attempt]
    if attempt is not exercise.reference and exercise.through is not None:
        attempt = exercise.through(attempt)
    with own_lots(), torch.enable_grad():
        trials = [inputs for _, inputs in exercise.trials()]
        outcomes = [call(attempt, inputs) for inputs in trials]
        if any(MIXED.search(outcome.raised) for outcome in outcomes):
            attempt = in_single(attempt)
            outcomes = [call(attempt, inputs) for inputs in trials]
        if exercise.gradient:
            outcomes.append(gradients(attempt, trials[-1], exercise.data))
        return [copies([outcome.value])[0] for outcome in outcomes]


def bears_out(sent: str, exercise: Exercise | Prediction) -> bool:
    """Say whether the numbers that a hand-in's process sent are those of a right answer."""
    try:
        given = _decoded(json.loads(sent))
        if isinstance(exercise, Prediction):
            return exercise.judge(*given)[0] is True
        return same(given, evidence(exercise, exercise.reference))
    except (ValueError, TypeError, KeyError, RuntimeError, RecursionError, OverflowError):
        return False


def encoded(value: Any) -> str:
    """Numbers, texts, tensors, and lists of them, as JSON."""
    return json.dumps(_plain(value), default=float)


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        exact = value.detach().double() if value.is_floating_point() else value.detach()
        return {"dtype": str(value.dtype), "shape": [*value.shape], "numbers": exact.tolist()}
    return [*map(_plain, value)] if isinstance(value, tuple | list) else value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        numbers = torch.tensor(value["numbers"], dtype=DTYPES[value["dtype"]])
        return numbers.reshape(value["shape"])
    return each(_decoded, value)
