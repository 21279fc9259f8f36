"""Day 11's exercises about teacher and student, held to the book's functions."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils import pretraining
from utils.exercises.small import check
from utils.exercises.small.cosine import cosine_loss, vectors
from utils.exercises.small.every_second import Block, every_second
from utils.exercises.small.soft_targets import said, soft_target_loss
from utils.tasks.pretraining import new_model

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def passes(number: str, answer) -> bool:
    return check.exercises[number].judge(answer) == (True, "correct.")


# 11: Soft targets --------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_soft_targets_are_the_books(tau):
    torch.manual_seed(0)
    given = said(5, 7, tau)
    expected = pretraining.soft_target_loss(*given)
    torch.testing.assert_close(soft_target_loss(*given), expected, **EXACT)


def soft_targets_of_the_library(z, v, tau):
    return (
        tau
        * tau
        * nn.KLDivLoss(reduction="batchmean")(
            F.log_softmax(z / tau, 1), F.softmax(v.detach() / tau, 1)
        )
    )


def soft_targets_by_a_loop(z, v, tau):
    total = 0.0
    for of_student, of_teacher in zip(z, v, strict=True):
        q, p = (x.div(tau).softmax(0) for x in (of_student, of_teacher))
        for a, b in zip(p, q, strict=True):
            if a > 0:
                total = total + a * (a.log() - b.log())
    return tau**2 * total / len(z)


def soft_targets_without_a_gradient_for_the_teacher(z, v, tau):
    with torch.no_grad():
        p = (v / tau).softmax(1)
        entropy = -torch.xlogy(p, p).sum(1)
    return tau**2 * (F.cross_entropy(z / tau, p, reduction="none") - entropy).mean()


@pytest.mark.parametrize(
    "answer",
    [
        pretraining.soft_target_loss,
        soft_targets_of_the_library,
        soft_targets_by_a_loop,
        soft_targets_without_a_gradient_for_the_teacher,
    ],
)
def test_soft_targets_in_another_style_are_right(answer):
    assert passes("soft_targets", answer)


# 11: Every second block --------------------------------------------------------------------------


def test_every_second_is_the_books():
    blocks = [Block(torch.full((2, 2), float(i))) for i in range(6)]
    for choose in (every_second, pretraining.every_second):
        chosen = choose(blocks)
        assert [block.W[0, 0].item() for block in chosen] == [0, 2, 4]
        assert not {id(block) for block in chosen} & {id(block) for block in blocks}


def by_a_loop(blocks):
    chosen = nn.ModuleList()
    for number, block in enumerate(blocks):
        if number % 2 == 0:
            chosen.append(copy.deepcopy(block))
    return chosen


@pytest.mark.parametrize(
    "answer",
    [
        pretraining.every_second,
        by_a_loop,
        lambda blocks: copy.deepcopy(blocks[::2]),
        lambda blocks: tuple(copy.deepcopy(blocks))[0::2],
        lambda blocks: copy.deepcopy(nn.ModuleList(blocks)[::2]),
    ],
)
def test_every_second_in_another_style_is_right(answer):
    assert passes("every_second", answer)


@pytest.mark.parametrize(
    "answer",
    [lambda blocks: [copy.copy(block) for block in blocks[::2]], lambda blocks: [*blocks][::2]],
)
def test_what_looks_like_a_copy_is_not_one(answer):
    passed, sentence = check.exercises["every_second"].judge(answer)
    assert passed is False and "teacher's own blocks, not copies" in sentence


def test_a_teacher_keeps_its_blocks():
    def take_out(blocks):
        del blocks[1::2]
        return copy.deepcopy(blocks)

    passed, sentence = check.exercises["every_second"].judge(take_out)
    assert passed is False and "out of the teacher's own list" in sentence


def test_weights_alone_are_no_blocks():
    passed, sentence = check.exercises["every_second"].judge(
        lambda blocks: [b.W for b in blocks[::2]]
    )
    assert passed is False and "holds other things than blocks" in sentence


def test_a_sequential_layer_is_no_list_of_blocks():
    passed, sentence = check.exercises["every_second"].judge(
        lambda blocks: nn.Sequential(*copy.deepcopy(blocks[::2]))
    )
    assert passed is False and "return its blocks in a list" in sentence


def test_frozen_copies_are_no_student():
    def frozen(blocks):
        return [copy.deepcopy(block).requires_grad_(False) for block in blocks[::2]]

    passed, sentence = check.exercises["every_second"].judge(frozen)
    assert passed is False and "your blocks are frozen" in sentence


def test_what_a_reader_wrote_makes_the_student(capsys):
    choose = check("every_second", by_a_loop)
    assert choose is by_a_loop
    teacher = new_model(0)
    student = pretraining.student_of(teacher, choose)
    for own, begun in zip(student.encoder.blocks, teacher.encoder.blocks[::2], strict=True):
        for w, of_teacher in zip(own.parameters(), begun.parameters(), strict=True):
            assert torch.equal(w, of_teacher) and w is not of_teacher


# 11: The angle between vectors -------------------------------------------------------------------


def test_the_angle_is_the_books():
    torch.manual_seed(0)
    given = vectors(4, 5, 2, 7)
    torch.testing.assert_close(cosine_loss(*given), pretraining.cosine_loss(*given), **EXACT)


def angle_of_the_library(x, y, real):
    same = torch.ones(int(real.sum()))
    return nn.CosineEmbeddingLoss()(x[real], y[real], same)


def angle_by_a_loop(x, y, real):
    found = []
    for b in range(len(x)):
        for t in range(x.shape[1]):
            if real[b, t]:
                found.append(1 - F.cosine_similarity(x[b, t], y[b, t], dim=0))
    return torch.stack(found).mean()


def angle_by_half_the_squared_distance(x, y, real):
    x, y = (F.normalize(vectors, dim=-1) for vectors in (x, y))
    return ((x - y).square().sum(-1) * real).sum() / real.sum() / 2


@pytest.mark.parametrize(
    "answer",
    [
        pretraining.cosine_loss,
        angle_of_the_library,
        angle_by_a_loop,
        angle_by_half_the_squared_distance,
    ],
)
def test_the_angle_in_another_style_is_right(answer):
    assert passes("cosine", answer)
