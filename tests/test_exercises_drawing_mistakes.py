"""Mistakes in Day 13's exercises on the codebook, made in other ways than the checks know them."""

import math

import pytest
import torch
from torch.nn import functional as F

from utils.exercises.drawing import check


def codes_by(choose):
    """A codebook's codes, chosen from squared distances (n, K), and their vectors."""

    def answer(z, codebook):
        codes = choose((z[:, None] - codebook).square().sum(-1))
        return codes, codebook[codes]

    return answer


def kept_apart(z, codebook):
    codes = torch.cdist(z, codebook).argmin(-1)
    return codes, z + codebook[codes].sub(z).detach()


def lengths(length):
    return lambda z, q, beta: length(z.detach() - q) + beta * length(z - q.detach())


def shares(codes):
    """The shares of those codes that are used."""
    return codes.unique(return_counts=True)[1].double() / codes.numel()


@pytest.mark.parametrize(
    ("name", "mistake", "answer"),
    [
        (
            "nearest_codes",
            "dot_product",
            lambda z, book: (
                torch.einsum("nd,kd->nk", z, book).max(1).indices,
                book[(z @ book.T).argmax(1)],
            ),
        ),
        ("nearest_codes", "over_the_vectors", codes_by(lambda d: d.argmin(0))),
        ("nearest_codes", "over_the_vectors", codes_by(lambda d: d.T.argmin(1))),
        ("nearest_codes", "over_everything", codes_by(torch.argmin)),
        ("nearest_codes", "in_a_column", codes_by(lambda d: d.argmin(1, keepdim=True))),
        ("nearest_codes", "cut_off", torch.no_grad()(codes_by(lambda d: d.argmin(1)))),
        (
            "nearest_codes",
            "cut_off",
            lambda z, book: codes_by(lambda d: d.argmin(1))(z, book.detach()),
        ),
        ("nearest_codes", "passed_to_z", kept_apart),
        ("nearest_codes", "distances_and_codes", lambda z, book: torch.cdist(z, book).min(1)),
        (
            "nearest_codes",
            "signs_kept",
            lambda z, book: (k := (z.sum(1)[:, None] - book.sum(1)).argmin(1), book[k]),
        ),
        (
            "nearest_codes",
            "summed_along_the_codebook",
            lambda z, book: (k := ((book - z[:, None]) ** 2).mean(1).argmin(1), book[k]),
        ),
        ("straight_through", "forgotten", lambda z, q: z + q - z),
        ("straight_through", "nothing", lambda z, q: (z + (q - z)).detach()),
        ("straight_through", "codebook_as_well", lambda z, q: q + z - z.detach()),
        ("straight_through", "difference_alone", lambda z, q: q.detach() - z.detach()),
        ("straight_through", "twice_the_gradient", lambda z, q: q.detach() + 2 * (z - z.detach())),
        (
            "vq_loss",
            "wrong_side",
            lambda z, q, beta: F.mse_loss(z, q.detach()) + beta * F.mse_loss(q, z.detach()),
        ),
        ("vq_loss", "nothing_stopped", lambda z, q, beta: F.mse_loss(z, q) * (1 + beta)),
        (
            "vq_loss",
            "summed_up",
            lambda z, q, beta: ((z.detach() - q) ** 2).sum() + beta * ((z - q.detach()) ** 2).sum(),
        ),
        ("vq_loss", "norm_not_squared", lengths(torch.linalg.norm)),
        ("vq_loss", "norm_not_squared", lambda z, q, beta: (1 + beta) * (z - q).norm()),
        ("vq_loss", "distances", lengths(lambda x: x.square().sum(1).sqrt().mean())),
        ("vq_loss", "root_of_the_mean", lengths(lambda x: x.norm() / x.numel() ** 0.5)),
        ("vq_loss", "not_squared", lengths(lambda x: x.sum() / x.numel())),
        ("vq_loss", "squared_mean", lengths(lambda x: x.mean() ** 2)),
        ("vq_loss", "of_each_number", lengths(lambda x: x * x)),
        ("vq_loss", "of_each_vector", lengths(lambda x: (x * x).sum(1) / x.shape[1])),
        (
            "vq_loss",
            "always_a_quarter",
            lambda z, q, beta: F.mse_loss(q, z.detach()) + F.mse_loss(z, q.detach()) / 4,
        ),
        (
            "vq_loss",
            "weight_on_both",
            lambda z, q, beta: beta * F.mse_loss(q, z.detach()) + beta * F.mse_loss(z, q.detach()),
        ),
        (
            "vq_loss",
            "no_commitment",
            lambda z, q, beta: (
                (1 - beta) * F.mse_loss(q, z.detach()) + beta * F.mse_loss(z, q.detach())
            ),
        ),
        (
            "vq_loss",
            "codebook_twice",
            lambda z, q, beta: F.mse_loss(q, z.detach()) + beta * F.mse_loss(z.detach(), q),
        ),
        (
            "vq_loss",
            "encoder_twice",
            lambda z, q, beta: F.mse_loss(z, q.detach()) + beta * F.mse_loss(q.detach(), z),
        ),
        (
            "perplexity_of_codes",
            "distinct",
            lambda codes, K: float(len(set(codes.flatten().tolist()))),
        ),
        ("perplexity_of_codes", "entropy_in_bits", lambda c, K: -(s := shares(c)) @ s.log2()),
        ("perplexity_of_codes", "not_weighted", lambda c, K: (1 / shares(c)).prod()),
        (
            "perplexity_of_codes",
            "part_of_the_largest",
            lambda c, K: -(s := shares(c)) @ s.log() / math.log(K),
        ),
        ("perplexity_of_codes", "equally_weighted", lambda c, K: 1 / shares(c).log().mean().exp()),
        (
            "perplexity_of_codes",
            "part_in_use",
            lambda c, K: len(set(c.flatten().tolist())) / K,
        ),
        (
            "perplexity_of_codes",
            "exp_before_the_sum",
            lambda c, K: sum((s := shares(c)) ** -s) + K - len(s),
        ),
        (
            "perplexity_of_codes",
            "mean_entropy_of_pictures",
            lambda c, K: math.prod((s := shares(one)).pow(-s).prod() for one in c) ** (1 / len(c)),
        ),
        (
            "perplexity_of_codes",
            "softmax_of_counts",
            lambda c, K: (
                ((e := F.one_hot(c.flatten(), K).sum(0).double().exp()) / e.sum())
                .xlogy(e / e.sum())
                .sum()
                .neg()
                .exp()
            ),
        ),
    ],
)
def test_a_mistake_made_in_another_way_is_named(name, mistake, answer):
    exercise = check.exercises[name]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


def test_a_comparison_by_plain_numbers_says_nothing_of_its_gradient(recwarn):
    def answer(z, codebook):
        codes = [
            min(range(len(codebook)), key=lambda k: float((x - codebook[k]).norm())) for x in z
        ]
        return torch.tensor(codes), codebook[codes]

    torch.set_warn_always(True)
    try:
        assert check.exercises["nearest_codes"].judge(answer) == (True, "correct.")
    finally:
        torch.set_warn_always(False)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("name", "those_of"),
    [
        ("nearest_codes", "those of z and codebook"),
        ("straight_through", "those of z and q"),
        ("vq_loss", "those of z and q"),
    ],
)
def test_a_wrong_gradient_that_nothing_explains_is_told_in_numbers(name, those_of):
    right = check.exercises[name].reference

    def answer(*inputs):
        *codes, whole = right(*inputs) if name == "nearest_codes" else [right(*inputs)]
        dimmed = whole / 3 + 2 * whole.detach() / 3
        return (*codes, dimmed) if codes else dimmed

    passed, sentence = check.exercises[name].judge(answer)
    assert not passed
    says = f"the numbers are correct, but not the gradients: {those_of} begin with"
    assert sentence.startswith(says)


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        (48, "exchanged"),
        (6.0, "one_code"),
        (22.5, "five_bits"),
        (81, "three_colours"),
        (432, "a_code_for_each_pixel"),
        (36 * 8, "a_bit_for_each_vector"),  # in int64
    ],
)
def test_a_wrong_prediction_is_explained(given, mistake):
    exercise = check.exercises["bytes_in_codes"]
    assert exercise.judge(given) == (False, exercise.mistakes[mistake].says)
