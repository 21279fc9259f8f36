"""The mistakes of Day 12's exercises, made in other ways than the checks know them."""

import math

import pytest
import torch
from test_exercises_vision import both, unit, windows
from torch import nn
from torch.nn import functional as F

from utils.exercises.vision import check
from utils.exercises.vision.roll_out import roll_out


def with_grey_left(score, image, P, value):
    shown, whole = image.clone(), score(image[None])
    falls = torch.zeros(image.shape[1] // P, image.shape[2] // P, dtype=image.dtype)
    for i, j in torch.cartesian_prod(*map(torch.arange, falls.shape)).tolist():
        shown[:, i * P : i * P + P, j * P : j * P + P] = value
        falls[i, j] = whole - score(shown[None])
    return falls


def rolled_the_other_way(weights):
    found = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for layer in weights.mean(dim=1):
        found = found @ (layer + torch.eye(len(layer))) / 2
    return found[0, 1:]


def in_front(tokens, first):
    return torch.cat([first.expand(len(tokens), 1, -1), tokens], dim=1)


def cut_by_a_loop(images, P):
    rows, columns = images.shape[2] // P, images.shape[3] // P
    return torch.stack(
        [
            images[:, :, i : i + P, j : j + P].reshape(len(images), -1)
            for i in range(rows)
            for j in range(columns)
        ],
        dim=1,
    )


def cut_and_left(images, P):
    B, C, H, W = images.shape
    return images.view(B, C, H // P, P, W // P, P).permute(0, 2, 4, 1, 3, 5)


def cut_in_order(images, P, *across, down=None):
    B, C, H, _ = images.shape
    parts = images.reshape(B, C, *(down or (H // P, P)), *across)
    return parts.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def cut_where_nothing_is(images, P):
    parts = []
    for i in range(0, images.shape[2], P):
        for j in range(0, images.shape[3], P):
            parts.append(images[:, :, i * P : i * P + P, j * P : j * P + P].flatten(1))
    return torch.stack(parts, dim=1)


def with_the_class_token(weights, rows, columns):
    at = torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).double()
    far = (at[:, None] - at).square().sum(-1).sqrt()
    return (weights * far).sum(dim=-1).mean(dim=(0, 2))


def rolled_from_the_first_layer(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    layers = [(layer + eye) / 2 for layer in weights.mean(dim=1)]
    found = layers[0]
    for layer in layers:
        found = layer @ found
    return found[0, 1:]


def with_the_class_token_once(tokens, class_token, positions):
    found = []
    for i, one in enumerate(tokens):
        found.append(
            torch.vstack([class_token, one]) + positions if i == 0 else one + positions[1:]
        )
    return torch.stack(found)


def in_any_row(similarity, own, k):
    nearest = similarity.topk(k, dim=1).indices
    return sum(bool(id in nearest) for id in own) / len(own)


def with_a_rank_for_each(similarity, own, k):
    rank = similarity.argsort(dim=1, descending=True).argsort(dim=1)
    return (rank[:, own] < k).any(dim=1).double().mean()


def among_the_values(similarity, own, k):
    its = similarity[torch.arange(len(own)), own]
    found = [
        bool((row.topk(k).values >= one).any()) for row, one in zip(similarity, its, strict=True)
    ]
    return sum(found) / len(found)


def with_a_third(third):
    def answer(similarity):
        a, b, c, d = similarity.flatten(1).unbind(1)
        found = [(a > b) & (d > c), (a > c) & (d > b)]
        first, second = (one.double().mean() for one in found)
        return first, second, third(first, second, a + d > b + c)

    return answer


def square_by_sizes(patches, C, H, W):
    n = int(patches.shape[1] ** 0.5)
    P = int((H * W / patches.shape[1]) ** 0.5)
    grid = patches.view(len(patches), n, n, C, P, P)
    return grid.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


def joined(patches, C, H, W, P, rows=None, columns=None):
    grid = patches.view(len(patches), rows or H // P, columns or W // P, C, P, P)
    return torch.einsum("bijcpq->bcipjq", grid).reshape(len(patches), C, H, W)


def square_by_one_side(patches, C, H, W, side):
    P = int((patches.shape[2] / C) ** 0.5)
    return joined(patches, C, H, W, P, side // P, side // P)


def grid_of(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    return H // P, W // P, P, P


def with_one_residual(weights):
    found = weights[0].mean(dim=0)
    for layer in weights[1:].mean(dim=1):
        found = layer @ found
    return (found + torch.eye(len(found), dtype=found.dtype))[0, 1:] / 2


def without_itself(weights, rows, columns):
    own = weights[:, :, 1:, 1:].clone()
    own.diagonal(dim1=2, dim2=3).zero_()
    own = own / own.sum(dim=3, keepdim=True)
    at = torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).double()
    return (own * torch.cdist(at, at)).sum(dim=3).mean(dim=(0, 2))


def simclr(u, v, tau):
    found, n = torch.cat([unit(u), unit(v)]), len(u)
    odds = (found @ found.T / tau).fill_diagonal_(-torch.inf).log_softmax(dim=1)
    return -(odds.diagonal(n).mean() + odds.diagonal(-n).mean()) / 2


def square_by_its_side(patches, C, H, W):
    n = round(patches.shape[1] ** 0.5)
    return joined(patches, C, H, W, H // n, n, n)


@pytest.mark.parametrize(
    ("name", "mistake", "answer"),
    [
        ("patches", "patches_as_columns", lambda x, P: nn.Unfold(P, stride=P)(x)),
        (
            "patches",
            "colours_not_moved",
            lambda x, P: windows(x, P).reshape(len(x), -1, x.shape[1] * P * P),
        ),
        (
            "class_and_positions",
            "placed_before",
            lambda x, c, p: torch.cat([c.repeat(len(x), 1, 1), x + p[: x.shape[1]]], dim=1),
        ),
        (
            "contrastive_loss",
            "by_rows_alone",
            lambda u, v, tau: F.cross_entropy(unit(u) @ unit(v).T / tau, torch.arange(len(u))),
        ),
        ("contrastive_loss", "not_normalised", lambda u, v, tau: both(u @ v.T / tau)),
        ("contrastive_loss", "multiplied", lambda u, v, tau: both(tau * (unit(u) @ unit(v).T))),
        ("zero_shot", "turned", lambda u, v, tau: (unit(v) @ unit(u).T / tau).softmax(0)),
        ("recall_at_k", "first_alone", lambda s, own, k: (s.argmax(1) == own).double().mean()),
        (
            "recall_at_k",
            "precision",
            lambda s, own, k: (s.topk(k).indices == own[:, None]).double().mean(),
        ),
        ("occlusion", "stays_hidden", with_grey_left),
        ("roll_out", "reversed_order", rolled_the_other_way),
        ("several_ways", "long_ones_count_more", lambda x: unit(x.sum(dim=1))),
        ("patches", "start_not_multiplied", cut_by_a_loop),
        ("patches", "not_flattened", cut_and_left),
        ("patches", "not_flattened", lambda x, P: windows(x, P).movedim(1, 3)),
        ("patches", "as_wide_as_high", lambda x, P: cut_in_order(x, P, x.shape[2] // P, P)),
        (
            "patches",
            "colours_forgotten",
            lambda x, P: windows(x, P).movedim(1, 3).reshape(len(x), -1, P * P),
        ),
        ("patches", "start_multiplied_twice", cut_where_nothing_is),
        (
            "patches",
            "pixels_before_patches",
            lambda x, P: cut_in_order(x, P, P, x.shape[3] // P, down=(P, x.shape[2] // P)).reshape(
                len(x), -1, x.shape[1] * P * P
            ),
        ),
        (
            "class_and_positions",
            "with_two_axes",
            lambda x, c, p: torch.cat([c.repeat(len(x), 1), x], dim=1) + p,
        ),
        ("class_and_positions", "without_that_axis", lambda x, c, p: torch.concat((c, x), 1) + p),
        (
            "class_and_positions",
            "once_for_each_patch",
            lambda x, c, p: torch.cat([c.repeat(len(x), x.shape[1], 1), x], dim=1) + p,
        ),
        ("class_and_positions", "positions_first", lambda x, c, p: in_front(x + p, c)),
        ("class_and_positions", "in_front_and_added", lambda x, c, p: in_front(x + c, 2 * c) + p),
        ("class_and_positions", "added_to_all", lambda x, c, p: x + (c + p[1:])),
        ("class_and_positions", "added_with_all_rows", lambda x, c, p: (x + c.view(1, 1, -1)) + p),
        ("class_and_positions", "first_picture_longer", with_the_class_token_once),
        (
            "class_and_positions",
            "once_for_the_batch",
            lambda x, c, p: torch.cat([c.view(1, 1, -1), x], dim=1) + p,
        ),
        (
            "class_and_positions",
            "as_a_picture",
            lambda x, c, p: torch.cat((c.view(1, 1, -1), x)) + p,
        ),
        ("class_and_positions", "with_one_axis", lambda x, c, p: p + torch.cat((c, x), dim=-1)),
        ("class_and_positions", "without_that_axis", lambda x, c, p: torch.cat((c, x), 1) + p),
        (
            "class_and_positions",
            "with_two_axes",
            lambda x, c, p: torch.cat([c.repeat(len(x), 1), x], dim=1) + p,
        ),
        (
            "class_and_positions",
            "along_the_numbers",
            lambda x, c, p: torch.cat([c.repeat(len(x), 1, 1), x], dim=-1) + p,
        ),
        (
            "class_and_positions",
            "once_for_each_patch",
            lambda x, c, p: torch.cat([c + 0 * x, x], dim=1) + p,
        ),
        (
            "recall_at_k",
            "ranks_of_all",
            lambda s, own, k: (
                (s.argsort(descending=True).argsort()[:, own] + 1 <= k).float().mean()
            ),
        ),
        (
            "recall_at_k",
            "topk_down_the_columns",
            lambda s, own, k: (s.topk(k, 0)[1] == own.unsqueeze(1)).any(1).float().mean(),
        ),
        (
            "recall_at_k",
            "pictures_for_sentences",
            lambda s, own, k: (s.topk(k, 0)[1] == own).any(0).float().mean(),
        ),
        (
            "recall_at_k",
            "topk_turned",
            lambda s, own, k: (s.topk(k, dim=0).indices.T == own[:, None]).any(1).double().mean(),
        ),
        (
            "recall_at_k",
            "off_the_diagonal",
            lambda s, own, k: (
                (s.diag().unsqueeze(1) >= s.sort(dim=1).values[:, -k:][:, :1]).float().mean()
            ),
        ),
        (
            "recall_at_k",
            "all_for_any",
            lambda s, own, k: (s.topk(k)[1] == own.view(-1, 1)).all(1).float().mean(),
        ),
        ("recall_at_k", "among_all_nearest", in_any_row),
        ("recall_at_k", "anyones", with_a_rank_for_each),
        (
            "recall_at_k",
            "own_as_a_row",
            lambda s, own, k: (s.topk(k)[1] == own).any(1).float().mean(),
        ),
        ("recall_at_k", "always_1", among_the_values),
        ("recall_at_k", "always_1", lambda s, own, k: float((s.topk(k)[1] == own[:, None]).any())),
        (
            "told_apart",
            "third_by_sums",
            with_a_third(lambda x, y, more: more.double().mean()),
        ),
        ("told_apart", "smaller_of_both", with_a_third(lambda x, y, _: torch.minimum(x, y))),
        ("unpatch", "square_grid", square_by_sizes),
        (
            "unpatch",
            "side_with_colours",
            lambda x, C, H, W: joined(x, C, H, W, P=int(x.shape[2] ** 0.5)),
        ),
        ("attention_distance", "class_token_left_in", with_the_class_token),
        (
            "attention_distance",
            "class_token_still_asks",
            lambda w, *sides: with_the_class_token(F.normalize(w[..., 1:], p=1, dim=-1), *sides),
        ),
        ("roll_out", "first_layer_twice", rolled_from_the_first_layer),
        ("roll_out", "heads_for_layers", lambda w: roll_out(w.mean(dim=0)[:, None])),
        ("contrastive_loss", "numbers_compared", lambda u, v, tau: both(unit(u).T @ unit(v) / tau)),
        ("unpatch", "as_wide_as_high", lambda x, C, H, W: square_by_one_side(x, C, H, W, side=H)),
        ("unpatch", "as_high_as_wide", lambda x, C, H, W: square_by_one_side(x, C, H, W, side=W)),
        (
            "unpatch",
            "folded_without_stride",
            lambda x, C, H, W: nn.Fold((H, W), math.isqrt(x.shape[2] // C))(x.mT),
        ),
        ("unpatch", "side_of_a_square", square_by_its_side),
        (
            "unpatch",
            "channels_before_the_grid",
            lambda x, C, H, W: torch.einsum(
                "bcijpq->bcipjq", x.view(len(x), C, *grid_of(x, C, H, W))
            ).reshape(len(x), C, H, W),
        ),
        (
            "class_and_positions",
            "class_alone_has_a_position",
            lambda x, c, p: torch.cat([(c + p[0]).repeat(len(x), 1, 1), x], dim=1),
        ),
        ("roll_out", "turned", lambda w: roll_out(w.mT)),
        ("roll_out", "residual_at_the_end", with_one_residual),
        ("attention_distance", "itself_left_out", without_itself),
        (
            "zero_shot",
            "from_0_to_1",
            lambda u, v, tau: F.softmax((1 + unit(u) @ unit(v).T) / (2 * tau), dim=1),
        ),
        (
            "zero_shot",
            "divided_by_the_width",
            lambda u, v, tau: F.softmax(unit(u) @ unit(v).T / (tau * u.shape[1] ** 0.5), dim=1),
        ),
        (
            "contrastive_loss",
            "divided_by_the_width",
            lambda u, v, tau: both(unit(u) @ unit(v).T / (tau * math.sqrt(u.shape[-1]))),
        ),
        ("contrastive_loss", "in_one_table", simclr),
        (
            "unpatch",
            "folded_as_rows",
            lambda x, C, H, W: nn.Fold((H, W), P := math.isqrt(x.shape[2] // C), stride=P)(x),
        ),
    ],
)
def test_a_mistake_made_in_another_way_is_named(name, mistake, answer):
    exercise = check.exercises[name]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


@pytest.mark.parametrize("cut_off", [lambda tau: 0.0 + tau.item(), torch.Tensor.detach])
def test_a_temperature_that_nothing_is_learned_of_is_named(cut_off):
    passed, says = check.exercises["contrastive_loss"].judge(
        lambda u, v, tau: both(unit(u) @ unit(v).T / cut_off(torch.as_tensor(tau)))
    )
    assert not passed and "no gradient reaches argument number 3: compute with it" in says


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        (17 / 4, "half_of_the_pairs"),
        (4.23, "half_of_the_pairs"),  # with the class token
        (5, "pairs_a_twelfth"),
        (6, "pairs_a_sixth"),
        (2.08, "twice_as_many"),
        (2, "one_side"),
        (8.4, "pairs_over_a_third"),
        (8, "each_head_as_wide"),
    ],
)
def test_a_wrong_prediction_is_explained(given, mistake):
    exercise = check.exercises["cost_of_patches"]
    assert exercise.judge(given) == (False, exercise.mistakes[mistake].says)
