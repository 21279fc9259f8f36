"""The reference solutions of Day 9, held to the page's forms and to definitions as loops."""

import math

import pytest
import torch

from utils.exercises.gpt import check
from utils.exercises.gpt.prefix_matching import prefix_matching
from utils.exercises.gpt.shard_gradients import whole_gradient


@pytest.mark.parametrize("sizes", [[4, 4], [7, 2], [5, 0, 1], [1, 2, 3, 4]])
def test_shards_give_the_gradient_of_the_whole_batch(sizes):
    generator = torch.Generator().manual_seed(0)
    W = torch.randn(3, 2, dtype=torch.float64, generator=generator, requires_grad=True)
    x = torch.randn(sum(sizes), 3, dtype=torch.float64, generator=generator)

    def gradient(examples: torch.Tensor) -> list[torch.Tensor]:
        return list(torch.autograd.grad((examples @ W).tanh().pow(2).sum(1).mean(), [W]))

    got = whole_gradient([gradient(part) for part in x.split(sizes)], sizes)
    torch.testing.assert_close(got, gradient(x), rtol=1e-12, atol=1e-12)


def test_prefix_matching_is_that_of_a_loop():
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, (3, 11), generator=generator)
    weights = torch.randn(3, 11, 11, generator=generator, dtype=torch.float64).tril()
    found = []
    for b in range(3):
        for t in range(11):
            places = [s + 1 for s in range(t) if ids[b, s] == ids[b, t]]
            if places:
                found.append(sum(weights[b, t, s].item() for s in places))
    assert prefix_matching(weights, ids).item() == pytest.approx(sum(found) / len(found))


def test_a_head_that_always_looks_at_what_came_next_scores_1():
    ids = torch.tensor([[3, 1, 4, 3, 1, 4]])
    weights = torch.eye(6)[None].clone()
    for t in (3, 4, 5):
        weights[0, t] = torch.eye(6)[t - 2]
    assert prefix_matching(weights, ids) == 1


# 9.2 to 9.5 in other styles -----------------------------------------------------------------------


def chances_by_search(logits, tau, p):
    chances, order = (logits / tau).softmax(0).sort(descending=True)
    reached = torch.searchsorted(chances.cumsum(0), torch.tensor(p, dtype=chances.dtype))
    chances[reached + 1 :] = 0
    return torch.zeros_like(chances).index_put((order,), chances / chances.sum())


def mixed_in_logs(ours, theirs):
    return [math.log(2) - torch.logaddexp(-a, -b) for a, b in zip(ours, theirs, strict=True)]


def written_one_by_one(begin, prompt, n, choose):
    read, text = begin(), list(prompt)
    for place, id in enumerate(prompt):
        logits = read(torch.tensor([[id]]), place)
    for i in range(n):
        text.append(choose(logits[0][-1]))
        if i < n - 1:
            logits = read(torch.tensor([text[-1:]]), len(text) - 1)
    return text


def read_to_the_end(begin, prompt, n, choose):
    read, text = begin(), list(prompt)
    logits = read(torch.tensor([text]), 0)
    for _ in range(n):
        text.append(choose(logits[0][-1]))
        logits = read(torch.tensor([text[-1:]]), len(text) - 1)
    return text


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("next_chances", chances_by_search),
        ("half_and_half", lambda *given: torch.stack(mixed_in_logs(*given))),
    ],
)
def test_an_answer_in_another_style_is_right(id, answer):
    assert check.exercises[id].judge(answer) == (True, "correct.")


@pytest.mark.parametrize(
    ("answer", "remark"),
    [(written_one_by_one, "one token at a time"), (read_to_the_end, "the last token, too")],
)
def test_a_correct_writer_that_reads_more_than_it_needs_is_told_so(answer, remark):
    passed, sentence = check.exercises["write"].judge(answer)
    assert passed and sentence.startswith("correct, but ") and remark in sentence


@pytest.mark.parametrize("ids", [[[3]], torch.tensor([3])])
def test_what_the_cache_can_not_read_is_said(ids):
    passed, sentence = check.exercises["write"].judge(lambda begin, *_: begin()(ids, 0))
    assert passed is False and "`read` takes a tensor of ids (1, T)" in sentence
