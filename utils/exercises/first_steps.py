"""The exercises of Day 0: shapes, a loss, a gradient by hand, an honest count, a training loop."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage

# 0.1 A silent shape -------------------------------------------------------------------------------


def broadcast_size() -> int:
    """Count the numbers in a column of 32 minus a row of 32."""
    return (torch.zeros(32, 1) - torch.zeros(32)).numel()


BROADCAST = Prediction(
    "0.1",
    broadcast_size,
    {
        "by example": Mistake(
            "that would be one difference for each example. Shapes are not matched by what they "
            "mean, but from the right: write (32, 1) above (32,), aligned at the right end.",
            32,
        ),
        "added": Mistake(
            "that is how many numbers go in. Which size does each axis of the result have?", 64
        ),
        "error": Mistake(
            "nothing is raised here, and that is the trouble: an axis of size 1, or a missing one, "
            "is stretched to fit.",
            0,
        ),
    },
)

# 0.2 Cross-entropy from logits --------------------------------------------------------------------


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean over the batch of -log softmax(logits)[label], safe for logits of any size.

    Shapes: logits (B, n_classes), labels (B,), int64. Returns: one number.
    """
    shifted = logits - logits.amax(dim=1, keepdim=True)  # the largest logit of each row becomes 0
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    return -log_p[torch.arange(len(labels)), labels].mean()


def _picked(log_p: Tensor, labels: Tensor) -> Tensor:
    return log_p[torch.arange(len(labels)), labels]


def _logits(batch_size: int, n_classes: int) -> tuple[Tensor, Tensor]:
    logits = 2 * torch.randn(batch_size, n_classes, dtype=torch.float64)
    return logits, torch.randint(n_classes, (batch_size,))


def _large(rows: list[list[int]], labels: list[int]) -> tuple[Tensor, Tensor]:
    return torch.tensor(rows, dtype=torch.float64), torch.tensor(labels)


def _one_axis_lost(logits: Tensor, labels: Tensor) -> Tensor:
    shifted = logits - logits.amax(dim=1)
    return -_picked(shifted - shifted.exp().sum(dim=1).log(), labels).mean()


def _one_maximum_for_all(logits: Tensor, labels: Tensor) -> Tensor:
    shifted = logits - logits.max()
    return -_picked(shifted - shifted.exp().sum(dim=1, keepdim=True).log(), labels).mean()


CROSS_ENTROPY = Exercise(
    "0.2",
    cross_entropy,
    (
        Stage(
            "one example with three classes",
            lambda: [(torch.tensor([[2.0, 1.0, -1.0]], dtype=torch.float64), torch.tensor([1]))],
        ),
        Stage("a batch of two examples", lambda: [_logits(2, 3)]),
        Stage("logits as large as 1000", lambda: [_large([[1000, 0]], [1])]),
        Stage(
            "rows with very different logits",
            lambda: [_large([[1000, 0], [-1000, -1001]], [0, 0])],
        ),
        Stage("batches of other sizes", lambda: [_logits(4, 4), _logits(5, 3), _logits(3, 7)]),
    ),
    {
        "batch axis": Mistake(
            "the probabilities of an example do not sum to 1. Along which axis lie its classes?",
            lambda logits, labels: -_picked(logits.log_softmax(0), labels).mean(),
        ),
        "sum": Mistake(
            "a batch twice as large gives a loss twice as large. The loss is a mean.",
            lambda logits, labels: -_picked(logits.log_softmax(1), labels).sum(),
        ),
        "sign": Mistake(
            "the loss is negative, and falls when the model gets worse. Which sign has the "
            "logarithm of a probability?",
            lambda logits, labels: _picked(logits.log_softmax(1), labels).mean(),
        ),
        "no logarithm": Mistake(
            "this rewards a probability, not its logarithm: being sure and wrong then costs hardly "
            "more than being unsure.",
            lambda logits, labels: -_picked(logits.softmax(1), labels).mean(),
        ),
        "no normaliser": Mistake(
            "this looks at the right class alone: the other logits have to lower its probability.",
            lambda logits, labels: -_picked(logits, labels).mean(),
        ),
        "softmax twice": Mistake(
            "the softmax is taken twice. What goes in are logits; a log-softmax of probabilities "
            "is something else.",
            lambda logits, labels: -_picked(logits.softmax(1).log_softmax(1), labels).mean(),
        ),
        "overflow": Mistake(
            "right for small logits, but exp(1000) is infinite, and infinity divided by infinity "
            "is not a number. What may you take from all logits of a row without changing p?",
            lambda logits, labels: (
                -_picked((logits.exp() / logits.exp().sum(1, keepdim=True)).log(), labels).mean()
            ),
        ),
        "underflow": Mistake(
            "right for small logits, but a very small probability is rounded to 0, and its "
            "logarithm is minus infinity. Can you get log p without going through p?",
            lambda logits, labels: -_picked(logits.softmax(1).log(), labels).mean(),
        ),
        "axis lost": Mistake(
            "a maximum or a sum over the classes has the shape (B,), and broadcasting lays that "
            "along the classes. It fits one example, or B = n_classes, and then it is wrong.",
            _one_axis_lost,
        ),
        "one maximum for all": Mistake(
            "right as long as all rows are alike. In a row that lies far below the largest logit "
            "of the batch, every power is 0: whose maximum does a row need?",
            _one_maximum_for_all,
        ),
    },
)

# 0.3 Two roads back -------------------------------------------------------------------------------


def backward(x: float, w: float, b: float, y: float) -> tuple[float, float]:
    """Return dL/dw and dL/db of L = (w·h - y)² with h = ReLU(w·x + b), by the chain rule."""
    z = w * x + b
    h = max(z, 0.0)
    e = 2 * (w * h - y)  # dL/dŷ
    dz = e * w if z > 0 else 0.0
    return e * h + dz * x, dz


def _wrong_backward(combine: Callable[..., tuple[float, float]]) -> Callable:
    """A backward pass whose last line is `combine(x, w, h, gate, error)`."""

    def function(x: float, w: float, b: float, y: float) -> tuple[float, float]:
        z = w * x + b
        h, gate = max(z, 0.0), float(z > 0)
        return combine(x, w, h, gate, w * h - y)

    return function


def _numbers() -> list[tuple[float, float, float, float]]:
    """Draw x, w, b, y with one decimal, gates open and closed, none at the kink."""
    draws = (3 * torch.randn(40, 4, dtype=torch.float64)).round(decimals=1).tolist()
    usable = [(x, w, b, y) for x, w, b, y in draws if abs(w * x + b) > 0.5 and abs(w) > 0.5]
    return [d for d in usable if d[1] * d[0] + d[2] > 0][:3] + [
        d for d in usable if d[1] * d[0] + d[2] < 0
    ][:2]


BACKWARD = Exercise(
    "0.3",
    backward,
    (
        Stage("x = 0, where w has one road only", lambda: [(0.0, 2.0, 3.0, 1.0)]),
        Stage("an open gate", lambda: [(1.0, 2.0, 1.0, 5.0), (3.0, 1.0, -1.0, 4.0)]),
        Stage("a closed gate (w·x + b is negative)", lambda: [(-2.0, 2.0, 1.0, 3.0)]),
        Stage("other numbers", _numbers),
    ),
    {
        "second road forgotten": Mistake(
            "w reaches the loss by two roads, and you came back by one: w also moves h.",
            _wrong_backward(lambda x, w, h, gate, e: (2 * e * h, 2 * e * w * gate)),
        ),
        "first road forgotten": Mistake(
            "w reaches the loss by two roads, and you came back by one: w also multiplies h.",
            _wrong_backward(lambda x, w, h, gate, e: (2 * e * w * gate * x, 2 * e * w * gate)),
        ),
        "gate forgotten": Mistake(
            "a gradient went through a closed gate. What does h do when w·x + b is negative and "
            "moves a little?",
            _wrong_backward(lambda x, w, h, gate, e: (2 * e * (h + w * x), 2 * e * w)),
        ),
        "value for slope": Mistake(
            "at the ReLU you multiplied by its value. The chain rule asks for its slope.",
            _wrong_backward(lambda x, w, h, gate, e: (2 * e * (h + w * h * x), 2 * e * w * h)),
        ),
        "no 2": Mistake(
            "everything is half of what it should be. What is the derivative of a square?",
            _wrong_backward(lambda x, w, h, gate, e: (e * (h + w * gate * x), e * w * gate)),
        ),
        "error reversed": Mistake(
            "both signs are reversed: ŷ stands in (ŷ - y)² with a plus.",
            _wrong_backward(
                lambda x, w, h, gate, e: (-2 * e * (h + w * gate * x), -2 * e * w * gate)
            ),
        ),
        "outer weight skipped": Mistake(
            "on the road through h you left out a factor: how much does ŷ move when h moves?",
            _wrong_backward(lambda x, w, h, gate, e: (2 * e * (h + gate * x), 2 * e * gate)),
        ),
    },
    gradient=False,
)

# 0.4 An honest count ------------------------------------------------------------------------------


def accuracy_over(batches: list[tuple[Tensor, Tensor]]) -> float:
    """Return the share of all examples whose largest logit is at their label.

    Shapes: each batch is logits (B, n_classes) and labels (B,), where B may differ.
    """
    right = sum(int((logits.argmax(dim=1) == labels).sum()) for logits, labels in batches)
    return right / sum(len(labels) for _, labels in batches)


def _batches(sizes: list[int], n_classes: int) -> tuple[list[tuple[Tensor, Tensor]]]:
    """Draw batches of these sizes; the first has more right answers than the others."""
    drawn = []
    for i, batch_size in enumerate(sizes):
        logits, labels = _logits(batch_size, n_classes)
        if i == 0:
            logits[torch.arange(batch_size), labels] += 3.0
        drawn.append((logits, labels))
    return (drawn,)


def _shares(batches: list[tuple[Tensor, Tensor]]) -> list[float]:
    return [float((logits.argmax(1) == labels).double().mean()) for logits, labels in batches]


ACCURACY = Exercise(
    "0.4",
    accuracy_over,
    (
        Stage("one batch", lambda: [_batches([5], 5), _batches([7], 7)]),
        Stage("two batches of equal size", lambda: [_batches([6, 6], 6)]),
        Stage(
            "a last batch that is smaller",
            lambda: [_batches([8, 8, 1], 4), _batches([5, 5, 2], 5), _batches([16, 9], 3)],
        ),
    ),
    {
        "mean of means": Mistake(
            "the few examples of the last batch count as much as the many of a full one. Each "
            "example should count once.",
            lambda batches: sum(_shares(batches)) / len(batches),
        ),
        "last batch only": Mistake(
            "this is the accuracy of the last batch alone.", lambda batches: _shares(batches)[-1]
        ),
        "all batches full": Mistake(
            "you divided as if every batch were as large as the first.",
            lambda batches: (
                accuracy_over(batches)
                * sum(len(labels) for _, labels in batches)
                / (len(batches) * len(batches[0][1]))
            ),
        ),
        "batch axis": Mistake(
            "the largest logit was looked for among the examples. It is looked for among the "
            "classes of one example.",
            lambda batches: (
                sum(int((logits.argmax(0) == labels).sum()) for logits, labels in batches)
                / sum(len(labels) for _, labels in batches)
            ),
        ),
        "errors": Mistake(
            "this is the share of wrong answers.", lambda batches: 1 - accuracy_over(batches)
        ),
        "count": Mistake(
            "this is how many answers are right, not which share of them.",
            lambda batches: accuracy_over(batches) * sum(len(labels) for _, labels in batches),
        ),
        "per cent": Mistake(
            "this is in per cent: a share lies between 0 and 1.",
            lambda batches: 100 * accuracy_over(batches),
        ),
    },
    gradient=False,
)

# 0.5 Momentum -------------------------------------------------------------------------------------


def train_with_momentum(
    W: Tensor, x: Tensor, labels: Tensor, learning_rate: float, momentum: float, steps: int
) -> Tensor:
    """Return W after some steps of v ← momentum · v + gradient, W ← W - learning_rate · v.

    The loss is the cross-entropy of the logits x Wᵀ on the whole batch; v starts at 0. The W that
    was given stays as it is.
    Shapes: W (n_classes, n_pixels), x (B, n_pixels), labels (B,).
    """
    W = W.clone().requires_grad_()
    velocity = torch.zeros_like(W)
    for _ in range(steps):
        loss = F.cross_entropy(x @ W.T, labels)
        (gradient,) = torch.autograd.grad(loss, W)
        with torch.no_grad():
            velocity = momentum * velocity + gradient
            W -= learning_rate * velocity
    return W.detach()


def _wrong_training(update: Callable[..., tuple[Tensor, Tensor]], reduction: str = "mean"):
    """Training whose step is `W, v = update(W, v, gradient, learning_rate, momentum)`."""

    def function(W, x, labels, learning_rate, momentum, steps):
        velocity = torch.zeros_like(W)
        for _ in range(steps):
            W = W.detach().requires_grad_()
            loss = F.cross_entropy(x @ W.T, labels, reduction=reduction)
            (gradient,) = torch.autograd.grad(loss, W)
            W, velocity = update(W.detach(), velocity, gradient, learning_rate, momentum)
        return W.detach()

    return function


def _never_zeroed(W, x, labels, learning_rate, momentum, steps):
    W, velocity = W.clone().requires_grad_(), torch.zeros_like(W)
    for _ in range(steps):
        F.cross_entropy(x @ W.T, labels).backward()
        with torch.no_grad():
            velocity = momentum * velocity + W.grad
            W -= learning_rate * velocity
    return W.detach()


def _inside_the_graph(W, x, labels, learning_rate, momentum, steps):
    W, velocity = W.clone().requires_grad_(), torch.zeros_like(W)
    for _ in range(steps):
        W.grad = None
        F.cross_entropy(x @ W.T, labels).backward()
        velocity = momentum * velocity + W.grad
        W -= learning_rate * velocity
    return W.detach()


def _task(learning_rate: float, momentum: float, steps: int) -> tuple:
    W, x = torch.randn(3, 4, dtype=torch.float64), torch.randn(6, 4, dtype=torch.float64)
    return W, x, torch.randint(3, (6,)), learning_rate, momentum, steps


MOMENTUM = Exercise(
    "0.5",
    train_with_momentum,
    (
        Stage("no step at all", lambda: [_task(0.5, 0.9, 0)]),
        Stage("one step", lambda: [_task(0.5, 0.9, 1)]),
        Stage("two steps without momentum", lambda: [_task(0.5, 0.0, 2)]),
        Stage("several steps", lambda: [_task(0.5, 0.9, 2), _task(0.2, 0.5, 5)]),
    ),
    {
        "gradients added up": Mistake(
            "the first step is right, then the gradients of earlier steps come in again: "
            "`backward` adds to what is in `.grad`.",
            _never_zeroed,
        ),
        "uphill": Mistake(
            "the loss rises: the gradient points uphill.",
            _wrong_training(
                lambda W, v, g, rate, m: (W + rate * (m * v + g), m * v + g),
            ),
        ),
        "velocity forgotten": Mistake(
            "this is gradient descent without momentum: nothing is carried from step to step.",
            _wrong_training(lambda W, v, g, rate, m: (W - rate * g, v)),
        ),
        "velocity too late": Mistake(
            "each step uses the velocity of the step before: the new gradient comes in first.",
            _wrong_training(lambda W, v, g, rate, m: (W - rate * v, m * v + g)),
        ),
        "averaged": Mistake(
            "this velocity is a running average, with (1 - momentum) before the gradient. Some "
            "libraries do that; here the gradient comes in whole.",
            _wrong_training(
                lambda W, v, g, rate, m: (
                    W - rate * (m * v + (1 - m) * g),
                    m * v + (1 - m) * g,
                )
            ),
        ),
        "sum for mean": Mistake(
            "the steps are too large by the number of examples: the loss is a mean over the batch.",
            _wrong_training(
                lambda W, v, g, rate, m: (W - rate * (m * v + g), m * v + g), reduction="sum"
            ),
        ),
        "inside the graph": Mistake(
            "autograd refuses to follow a weight that is changed in place while it watches. The "
            "update is no part of the model: where may it look away?",
            _inside_the_graph,
        ),
    },
    gradient=False,
)

check = Checker(BROADCAST, CROSS_ENTROPY, BACKWARD, ACCURACY, MOMENTUM)
