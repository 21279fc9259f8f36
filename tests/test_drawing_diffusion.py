"""Day 13's diffusion: how noise is added, what is learned, and how it is taken away."""

import math

import pytest
import torch

from utils.drawing.diffusion import Denoiser, denoise, denoising_loss, noised, signal_kept


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class Knows(Denoiser):
    """Predicts the noise of data that is all at one point."""

    def __init__(self, point: torch.Tensor, T: int):
        super().__init__(T)
        self.point = point

    def forward(self, x, t):
        of_t = self.kept[t][:, None]
        return (x - of_t.sqrt() * self.point) / (1 - of_t).sqrt()


def test_the_signal_falls_along_a_squared_cosine():
    kept = signal_kept(100)
    assert kept[0] == 1 and (kept.diff() < 0).all() and kept[-1] < 1e-3
    angle = (0.5 + 0.008) / 1.008 * math.pi / 2
    start = 0.008 / 1.008 * math.pi / 2
    assert kept[50].item() == pytest.approx(math.cos(angle) ** 2 / math.cos(start) ** 2, rel=1e-5)
    with pytest.raises(ValueError, match="T"):
        signal_kept(0)


def test_data_and_noise_share_the_variance():
    kept, x, noise = signal_kept(10), torch.randn(4, 2), torch.randn(4, 2)
    t = torch.tensor([0, 3, 7, 10])
    found = noised(x, t, noise, kept)
    assert torch.equal(found[0], x[0])
    torch.testing.assert_close(found[3], noise[3], atol=0.05, rtol=0.05)
    torch.testing.assert_close(found[1], kept[3].sqrt() * x[1] + (1 - kept[3]).sqrt() * noise[1])


def test_with_the_noise_known_there_is_no_loss_and_the_point_is_found():
    point = torch.tensor([1.5, -0.5])
    model = Knows(point, 30)
    assert denoising_loss(model, point.expand(64, 2), seeded()) < 1e-8
    way = denoise(model, torch.randn(200, 2, generator=seeded(1)), seeded(2))
    assert len(way) == 31
    torch.testing.assert_close(way[-1], point.expand(200, 2), atol=1e-3, rtol=0)


@pytest.mark.parametrize(
    ("x", "t", "says"),
    [
        (
            torch.ones(4, 3),
            torch.ones(4).long(),
            r"points \(B, 2\) in floating point, got \(4, 3\)",
        ),
        (torch.ones(2), torch.ones(2).long(), r"points \(B, 2\)"),
        (torch.ones(0, 2), torch.ones(0).long(), r"points \(B, 2\)"),
        (torch.ones(4, 2).long(), torch.ones(4).long(), "in floating point, got .* of torch.int64"),
        (torch.ones(4, 2), torch.ones(3).long(), r"step for each of 4 points, got \(3,\)"),
        (torch.ones(4, 2), torch.ones(4).byte(), "an int64 step for each"),
        (torch.ones(4, 2), torch.tensor([0, 1, 2, 11]), "Steps run from 0 to 10, got 11"),
        (torch.ones(4, 2), torch.tensor([0, -1, 2, 3]), "Steps run from 0 to 10, got -1"),
    ],
)
def test_what_are_no_points_and_steps_is_refused(x, t, says):
    with pytest.raises(ValueError, match=says):
        noised(x, t, torch.ones_like(x), signal_kept(10))
    with pytest.raises(ValueError, match=says):
        Denoiser(T=10)(x, t)


def test_noise_of_another_shape_and_points_of_another_kind_are_refused():
    x, t = torch.ones(4, 2), torch.ones(4).long()
    with pytest.raises(ValueError, match=r"noise .*\(4, 2\).*\(1, 2\)"):
        noised(x, t, x[:1], signal_kept(10))
    for use in (lambda x: Denoiser(T=10)(x, t), lambda x: denoise(Denoiser(T=10), x)):
        with pytest.raises(ValueError, match="points .*torch.float32.*torch.float64"):
            use(x.double())


def test_each_step_from_the_first_to_the_last_is_asked_for():
    asked = []

    class Asks(Knows):
        def forward(self, x, t):
            asked.append(t)
            return super().forward(x, t)

    denoising_loss(Asks(torch.zeros(2), 5), torch.zeros(500, 2), seeded())
    assert set(asked[0].tolist()) == {1, 2, 3, 4, 5}


def test_who_predicts_no_noise_is_charged_its_variance():
    class Silent(Knows):
        def forward(self, x, t):
            return torch.zeros_like(x)

    loss = denoising_loss(Silent(torch.zeros(2), 5), torch.zeros(5000, 2), seeded())
    assert loss.item() == pytest.approx(1, abs=0.05)  # of 10,000 squares, ± 0.014


def test_a_trained_one_draws_both_of_two_clouds():
    torch.manual_seed(0)
    model = Denoiser(T=30, width=32)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    draw = seeded(3)
    for _ in range(400):
        side = torch.randint(0, 2, (128, 1), generator=draw) * 2.0 - 1
        loss = denoising_loss(model, side + 0.1 * torch.randn(128, 2, generator=draw), draw)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    end = denoise(model, torch.randn(500, 2, generator=draw), draw)[-1]
    near = (end.abs() - 1).norm(dim=1) < 0.5
    same_side = end[:, 0].sign() == end[:, 1].sign()
    assert (near & same_side).float().mean() > 0.85
    assert 0.3 < (end[:, 0] > 0).float().mean() < 0.7
