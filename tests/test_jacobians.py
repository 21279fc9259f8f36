"""Products of Jacobians: against autograd, against powers, and where states settle."""

import math

import pytest
import torch

from utils.measure.jacobians import (
    arrivals,
    factor,
    noise,
    random_matrix,
    rounds_to_settle,
    sizes_of_products,
)


def test_a_random_matrix_has_its_radius():
    radius = torch.linalg.eigvals(random_matrix(1.3, 0)).abs().max().item()
    assert radius == pytest.approx(1.3, rel=1e-4)
    assert noise(2000, 3.0, 0).std().item() == pytest.approx(3.0, rel=0.02)


def test_the_sizes_are_those_of_autograds_jacobian():
    W, inputs = random_matrix(1.5, 0, size=6), noise(4, 0.5, 0, units=6)

    def run(h):
        for u in inputs:
            h = torch.tanh(W @ h + u)
        return h

    jacobian = torch.autograd.functional.jacobian(run, torch.zeros(6))
    expected = math.log10(jacobian.norm().item() / math.sqrt(6))
    sizes = sizes_of_products(W, inputs)
    assert sizes[0] == 0 and len(sizes) == 5
    assert sizes[-1] == pytest.approx(expected, abs=1e-5)


def test_the_sizes_of_a_linear_recurrence_are_those_of_powers():
    W = random_matrix(0.9, 1, size=6)
    expected = math.log10((W.matrix_power(4).norm() / math.sqrt(6)).item())
    assert sizes_of_products(W, noise(4, 1.0, 0, 6), linear=True)[-1] == pytest.approx(
        expected, abs=1e-5
    )


def test_arrivals_are_five_networks_of_their_own():
    found = arrivals(1.0, linear=True)
    assert found.shape == (5, 101) and len(set(found[:, -1].tolist())) == 5


def test_the_factor_is_what_a_step_of_a_calm_network_does():
    assert factor(0.5 * torch.eye(3), torch.zeros(300, 3)) == pytest.approx(0.5, rel=1e-5)


def test_the_settled_states_are_those_of_the_loop():
    W = random_matrix(0.5, 0, size=5).double()
    assert rounds_to_settle(W, noise(200, 1.0, 0, 5).double()) < 60
    assert rounds_to_settle(random_matrix(6.0, 0).double(), noise(100, 0.1, 0).double()) == 101
