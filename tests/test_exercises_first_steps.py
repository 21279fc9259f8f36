"""Day 0's exercises: other right answers pass, and wrong ones get no name that is not theirs."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.first_steps import check

# Right answers, written differently ---------------------------------------------------------------


def by_backward(W, b, x, labels, learning_rate):
    W.requires_grad_()
    b.requires_grad_()
    F.cross_entropy(x @ W.T + b, labels).backward()
    return [W - learning_rate * W.grad, b - learning_rate * b.grad]


def by_the_error(W, b, x, labels, learning_rate):
    error = ((x @ W.T + b).softmax(1) - F.one_hot(labels, len(b))) / len(x)
    return W - learning_rate * error.T @ x, b - learning_rate * error.sum(0)


def by_sgd(W, b, x, labels, learning_rate):
    model = nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    model.load_state_dict({"weight": W, "bias": b})
    optimiser = torch.optim.SGD(model.parameters(), lr=learning_rate)
    F.cross_entropy(model(x), labels).backward()
    optimiser.step()
    return model.weight, model.bias


def by_logsumexp(logits, labels):
    right = logits.gather(1, labels.unsqueeze(1)).squeeze(1)
    return (logits.logsumexp(dim=1) - right).mean()


def by_one_hot(logits, labels):
    one_hot = F.one_hot(labels, logits.shape[1]).to(logits.dtype)
    return -torch.einsum("bk,bk->", one_hot, logits.log_softmax(1)) / len(labels)


def by_example(logits, labels):
    losses = []
    for row, label in zip(logits, labels, strict=True):
        row = row - row.max()
        losses.append(row.exp().sum().log() - row[label])
    return torch.stack(losses).sum() / len(losses)


def by_autograd(x, w, b, y):
    w, b = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (w, b))
    ((w * F.relu(w * x + b) - y) ** 2).backward()
    return w.grad, b.grad


def by_cases(x, w, b, y):
    if w * x + b <= 0:
        return 0, 0
    error = w * w * x + w * b - y
    return [2 * error * (2 * w * x + b), 2 * error * w]


def by_concatenation(batches):
    logits, labels = (torch.cat(parts) for parts in zip(*batches, strict=True))
    return (logits.max(dim=1).indices == labels).float().mean()


def by_weighting(batches):
    total = right = 0
    for logits, labels in batches:
        total += len(labels)
        right += len(labels) * (logits.argmax(-1) == labels).double().mean().item()
    return right / total


def by_the_library(W, x, labels, learning_rate, momentum, steps):
    model = nn.Linear(W.shape[1], W.shape[0], bias=False, dtype=W.dtype)
    model.load_state_dict({"weight": W})
    optimiser = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=momentum)
    for _ in range(steps):
        optimiser.zero_grad()
        F.cross_entropy(model(x), labels).backward()
        optimiser.step()
    return model.weight


def by_formula(W, x, labels, learning_rate, momentum, steps):
    one_hot, step = F.one_hot(labels, len(W)), 0
    for _ in range(steps):
        gradient = ((x @ W.T).softmax(1) - one_hot).T @ x / len(x)
        step = momentum * step - learning_rate * gradient  # the velocity holds the rate
        W = W + step
    return W


RIGHT = [
    *[("gradient_step", by_backward), ("gradient_step", by_the_error), ("gradient_step", by_sgd)],
    *[("silent_shape", 1024), ("silent_shape", 1024.0)],
    *[
        ("cross_entropy", by_logsumexp),
        ("cross_entropy", by_one_hot),
        ("cross_entropy", by_example),
        ("cross_entropy", F.cross_entropy),
    ],
    *[("two_roads_back", by_autograd), ("two_roads_back", by_cases)],
    *[("honest_count", by_concatenation), ("honest_count", by_weighting)],
    *[("momentum", by_the_library), ("momentum", by_formula)],
]


@pytest.mark.parametrize(("id", "attempt"), RIGHT)
def test_another_right_answer_passes(id, attempt):
    assert check.exercises[id].judge(attempt) == (True, "correct.")


# Wrong answers that are no known mistake ----------------------------------------------------------


def one_digit_of_many(W, b, x, labels, learning_rate):
    return by_the_error(W, b, x[:1], labels[:1], learning_rate)


def smoothed(logits, labels):
    return F.cross_entropy(logits, labels, label_smoothing=0.1)


def clipped(logits, labels):
    return F.cross_entropy(logits.clamp(-50, 50), labels)


def gate_always_closed(x, w, b, y):
    h = max(w * x + b, 0.0)
    return 2 * (w * h - y) * h, 0.0


def top_two(batches):
    right = sum((logits.topk(2).indices == labels[:, None]).sum() for logits, labels in batches)
    return right / sum(len(labels) for _, labels in batches)


def nesterov(W, x, labels, learning_rate, momentum, steps):
    W = W.clone().requires_grad_()
    optimiser = torch.optim.SGD([W], lr=learning_rate, momentum=momentum or 1e-9, nesterov=True)
    for _ in range(steps):
        optimiser.zero_grad()
        F.cross_entropy(x @ W.T, labels).backward()
        optimiser.step()
    return W


WRONG = [
    *[("gradient_step", one_digit_of_many), ("gradient_step", lambda W, b, *_: (2 * W, b))],
    *[
        ("silent_shape", 1023),
        ("cross_entropy", smoothed),
        ("cross_entropy", clipped),
        ("two_roads_back", gate_always_closed),
    ],
    *[("honest_count", top_two), ("honest_count", lambda batches: 0.5)],
    ("momentum", lambda W, *_: W),
]


@pytest.mark.parametrize(("id", "attempt"), WRONG)
def test_a_wrong_answer_gets_no_false_name(id, attempt):
    exercise = check.exercises[id]
    passed, sentence = exercise.judge(attempt)
    assert passed is False
    assert not sentence.endswith(tuple(m.says for m in exercise.mistakes.values()))


def test_the_safe_loss_is_safe_in_single_precision_too():
    loss = check.exercises["cross_entropy"].reference(
        torch.tensor([[1000.0, 0.0]]), torch.tensor([1])
    )
    assert loss == 1000


def test_a_loss_that_is_a_plain_number_is_told_to_stay_a_tensor():
    passed, sentence = check.exercises["cross_entropy"].judge(
        lambda *task: F.cross_entropy(*task).item()
    )
    assert passed is False and "leave out .item()" in sentence


def test_a_right_loss_that_is_cut_off_from_autograd_does_not_pass():
    def cut_off(logits, labels):
        return F.cross_entropy(logits, labels).detach()

    passed, sentence = check.exercises["cross_entropy"].judge(cut_off)
    assert passed is False and "cut off" in sentence


def test_training_that_changes_the_weights_it_was_given_is_told_so():
    def in_place(W, x, labels, learning_rate, momentum, steps):
        return W.copy_(
            check.exercises["momentum"].reference(W, x, labels, learning_rate, momentum, steps)
        )

    passed, sentence = check.exercises["momentum"].judge(in_place)
    assert passed is False and "argument number 1" in sentence
