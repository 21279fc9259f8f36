"""Why a loss or a weight became infinite or NaN: where is the first number out of the ordinary?"""

import math

import numpy as np
from torch import Tensor

OVERFLOW = (
    "was infinite or NaN, although its loss was not. Look for a square root or a norm of 0; "
    "clip the gradient of a deep or recurrent model."
)


def check_weights(optimiser, step_loss: list[float]) -> None:
    """Refuse what the last step has made of the weights, which no later loss would show.

    Raises: FloatingPointError if a weight is infinite or NaN.
    """
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    if math.isfinite(largest(weights)):
        return
    gradient = largest([weight.grad for weight in weights])
    cause = f"its gradient {OVERFLOW}"
    if math.isfinite(gradient):
        cause = (
            f"they have exploded (the largest entry of the gradient is {gradient:.1e}). "
            "The learning rate is too high: lower it, or clip the gradient."
        )
    raise FloatingPointError(
        f"The weights became infinite or NaN in step {len(step_loss)}, an epoch's last: {cause}"
    )


def likely_cause(model, inputs, target, outputs, step_loss: list[float]) -> str:
    """A sentence or two: the likely cause, and what to do.

    model, with the gradients of the step before; inputs, target, outputs of the step that failed;
    step_loss: the losses before it.
    """
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    weights = list(model.parameters())
    largest_weight = largest(weights)
    largest_gradient = largest([weight.grad for weight in weights])
    if not math.isfinite(largest([*inputs, target])):
        return (
            "the batch itself contains NaN or infinite values. Look at how the data were prepared."
        )
    if largest(outputs) < 1e9:
        return (
            "the model's outputs are ordinary numbers, so the loss function made it of them, "
            "as the logarithm of 0 or a division by 0 does. "
            "Use a loss that takes logits, or keep its input away from 0."
        )
    if step_loss and step_loss[-1] < 1e9 and not math.isfinite(largest_gradient):
        return f"the gradient of the step before {OVERFLOW}"
    if not largest_weight < 1e3 or not largest_gradient < 1e3:
        return (
            f"the weights have exploded (the largest is {largest_weight:.1e}, and "
            f"the largest entry of the last gradient {largest_gradient:.1e}). "
            "The learning rate is too high: lower it, or clip the gradient."
        )
    return (
        "the model made it inside, of ordinary inputs and weights. "
        "Look for the logarithm of 0, a division by 0, an exponential that overflows, "
        "or a softmax over nothing but masked scores."
    )


def largest(tensors) -> float:
    """The largest magnitude among the real numbers in the tensors; NaN if one of them is NaN."""
    real = [t.detach() for t in tensors if isinstance(t, Tensor) and t.is_floating_point()]
    return float(np.max([0.0, *(t.abs().max().item() for t in real if t.numel())]))
