"""Day 1's exercises: other right answers pass, and common wrong ones are named."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.convolution import check

# Right answers, written differently ---------------------------------------------------------------


def by_broadcasting(window, w, b):
    return (window[:, None] * w).sum(dim=(2, 3, 4)) + b


def on_one_window(window, w, b):
    return F.conv2d(window, w, b).flatten(1)


def by_columns(x, w, b, stride, padding):
    K = w.shape[-1]
    columns = F.unfold(x, K, padding=padding, stride=stride)  # (B, C·K·K, H_out·W_out)
    rows = (x.shape[2] + 2 * padding - K) // stride + 1
    return (w.flatten(1) @ columns + b[:, None]).unflatten(2, (rows, -1))


def by_reshaping(x, K):
    H, W = (size // K for size in x.shape[2:])
    cut = x[:, :, : H * K, : W * K].reshape(*x.shape[:2], H, K, W, K)
    return cut.amax(dim=(3, 5))


def by_clamping(x, w1, b1, w2, b2):
    found = F.conv2d(F.conv2d(x, w1, b1, padding=1).clamp(min=0), w2, b2, padding=1)
    return (found + x).clamp(min=0)


def by_the_formula(kernel_size, dilation):
    return (dilation * (kernel_size - 1) + 1) // 2


def by_trying(kernel_size, dilation):
    layer = nn.Conv1d(1, 1, kernel_size, dilation=dilation)
    return (40 - layer(torch.zeros(1, 1, 40)).shape[-1]) // 2


def by_window(x, weight, bias, stride):
    (B, _, T), (C_out, _, K) = x.shape, weight.shape
    places = range(0, T - K + 1, stride)
    y = torch.zeros(B, C_out, len(places))  # in single precision
    for i, start in enumerate(places):
        for o in range(C_out):
            y[:, o, i] = (x[:, :, start : start + K] * weight[o]).sum(dim=(1, 2)) + bias[o]
    return y


def by_numbers(x, weight, bias, stride):
    K, channels = weight.shape[2], range(x.shape[1])
    sequences, kernels, biases = x.tolist(), weight.tolist(), bias.tolist()

    def output(sequence, o, t):
        return biases[o] + sum(
            sequence[c][t + k] * kernels[o][c][k] for c in channels for k in range(K)
        )

    places = range(0, x.shape[2] - K + 1, stride)
    return torch.tensor(
        [[[output(s, o, t) for t in places] for o in range(len(kernels))] for s in sequences]
    )


def by_groups(x, weight):
    return F.conv2d(x, weight.unsqueeze(1), groups=len(weight))


def by_channel(x, weight):
    maps = [F.conv2d(x[:, c : c + 1], weight[None, None, c]) for c in range(len(weight))]
    return torch.cat(maps, dim=1)


def by_place(x, weight):
    (B, C, H, W), K = x.shape, weight.shape[-1]
    y = x.new_zeros(B, C, H - K + 1, W - K + 1)
    for i in range(H - K + 1):
        for j in range(W - K + 1):
            y[:, :, i, j] = (x[:, :, i : i + K, j : j + K] * weight).sum((2, 3))
    return y


def padded_with_infinity(x, kernel_size, stride, padding):
    x = F.pad(x, (padding, padding, padding, padding), value=math.inf)
    return x.unfold(2, kernel_size, stride).unfold(3, kernel_size, stride).amin((-2, -1))


def inside_the_picture(x, kernel_size, stride, padding):
    def windows(size):
        starts = range(-padding, size + padding - kernel_size + 1, stride)
        return [slice(max(start, 0), start + kernel_size) for start in starts]

    rows = [
        torch.stack([x[:, :, v, h].amin((2, 3)) for h in windows(x.shape[3])], -1)
        for v in windows(x.shape[2])
    ]
    return torch.stack(rows, 2)


def by_closed_form(length, kernel_size, doubling):
    gains = -(-(length - 1) // (kernel_size - 1))
    return gains.bit_length() if doubling else gains


def by_recursion(length, kernel_size, doubling, layers=0):
    reach = 1 + (kernel_size - 1) * (2**layers - 1 if doubling else layers)
    return layers if reach >= length else by_recursion(length, kernel_size, doubling, layers + 1)


def channel_by_channel(weight, bias, mean, var, gamma, beta, eps):
    weights, biases = [], []
    for c in range(len(bias)):
        factor = gamma[c] / (var[c] + eps) ** 0.5
        weights.append(factor * weight[c])
        biases.append(beta[c] + factor * (bias[c] - mean[c]))
    return [torch.stack(weights), torch.stack(biases)]


def by_the_library(weight, bias, mean, var, gamma, beta, eps):
    return nn.utils.fusion.fuse_conv_bn_weights(weight, bias, mean, var, eps, gamma, beta)


@torch.no_grad()
def by_convolution(x, grad_y):
    return F.conv2d(x.transpose(0, 1), grad_y.transpose(0, 1)).transpose(0, 1)


def by_weight(x, grad_y):
    H_out, W_out = grad_y.shape[2:]
    K = x.shape[2] - H_out + 1
    gradient = torch.zeros(grad_y.shape[1], x.shape[1], K, K)  # square, and in single precision
    for u in range(K):
        for v in range(K):
            met = x[:, :, u : u + H_out, v : v + W_out]
            gradient[:, :, u, v] = torch.einsum("bchw,bohw->oc", met, grad_y)
    return gradient


def one_axis_after_the_other(x):
    x = F.pad(x, (1, 1, 1, 1), mode="reflect")
    x = (x[:, :, :-2:2] + 2 * x[:, :, 1:-1:2] + x[:, :, 2::2]) / 4
    return (x[..., :-2:2] + 2 * x[..., 1:-1:2] + x[..., 2::2]) / 4


RIGHT = [
    *[("one_place", by_broadcasting), ("one_place", on_one_window), ("everywhere", by_columns)],
    *[("everywhere", F.conv2d), ("max_pooling", by_reshaping), ("residual_block", by_clamping)],
    *[("same_padding", by_the_formula), ("same_padding", by_trying)],
    *[
        ("convolution_parameters", 1216),
        ("convolution_parameters", 1216.0),
        ("shuffled_pixels", " Convolutional"),
        ("strided_equivariance", 4),
    ],
    *[("convolution_over_time", F.conv1d), ("convolution_over_time", by_window)],
    *[
        ("depthwise_convolution", by_groups),
        ("depthwise_convolution", by_channel),
        ("depthwise_convolution", by_place),
    ],
    *[("min_pooling", padded_with_infinity), ("min_pooling", inside_the_picture)],
    *[("receptive_field", by_closed_form), ("receptive_field", by_recursion)],
    ("batch_norm_folding", channel_by_channel),
    *[("weight_gradient", by_convolution), ("weight_gradient", by_weight)],
    ("blur_pooling", one_axis_after_the_other),
]


@pytest.mark.parametrize(("id", "attempt"), RIGHT)
def test_another_right_answer_passes(id, attempt):
    assert check.exercises[id].judge(attempt) == (True, "correct.")


def blur_in_the_default_precision(x):
    kernel = torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]).expand(x.shape[1], 1, 3, 3) / 16
    return F.conv2d(F.pad(x, [1] * 4, mode="reflect"), kernel, stride=2, groups=x.shape[1])


IN_ANOTHER_STYLE = [
    *[("convolution_over_time", by_numbers), ("convolution_over_time", torch.no_grad()(F.conv1d))],
    *[("batch_norm_folding", by_the_library), ("blur_pooling", blur_in_the_default_precision)],
]


@pytest.mark.parametrize(("id", "attempt"), IN_ANOTHER_STYLE)
def test_a_right_answer_in_another_precision_or_without_a_gradient_passes(id, attempt):
    assert check.exercises[id].judge(attempt) == (True, "correct.")


@pytest.mark.parametrize(
    ("id", "attempt"),
    [
        ("depthwise_convolution", by_place),
        ("min_pooling", padded_with_infinity),
        ("blur_pooling", one_axis_after_the_other),
    ],
)
def test_where_a_layer_is_asked_for_one_without_a_gradient_is_told_so(id, attempt):
    passed, sentence = check.exercises[id].judge(torch.no_grad()(attempt))
    assert (
        not passed and "the values are correct, but the result is cut off from autograd" in sentence
    )


# Wrong answers, written as people write them ------------------------------------------------------


def jumps_counted(x, weight, bias, stride):
    K = weight.shape[2]
    y = [
        torch.einsum("bck,ock->bo", x[:, :, t * stride : t * stride + K], weight) + bias
        for t in range((x.shape[2] - K) // stride)
    ]
    return torch.stack(y, -1)


def last_place_forgotten(x, weight, bias, stride):
    K = weight.shape[2]
    y = [
        torch.einsum("bck,ock->bo", x[:, :, t : t + K], weight) + bias
        for t in range(0, x.shape[2] - K, stride)
    ]
    return torch.stack(y, -1)


def bias_inside_the_loop(x, weight, bias, stride):
    y = 0
    for c in range(x.shape[1]):
        for k in range(weight.shape[2]):
            end = x.shape[2] - weight.shape[2] + k + 1
            y = y + x[:, None, c, k:end:stride] * weight[None, :, c, k, None] + bias[:, None]
    return y


def bias_as_it_is(x, weight, bias, stride):
    return F.conv1d(x, weight, stride=stride) + bias


def every_kernel_on_every_channel(x, weight):
    C, K = weight.shape[:2]
    return F.conv2d(x, weight[:, None].expand(C, C, K, K))


def summed_in_the_einsum(x, weight):
    K = weight.shape[-1]
    windows = x.unfold(2, K, 1).unfold(3, K, 1)
    return torch.einsum("bchwuv,cuv->bhw", windows, weight)


def with_zeros(x, kernel_size, stride, padding):
    return -F.max_pool2d(F.pad(-x, [padding] * 4), kernel_size, stride)


def starting_at_0(length, kernel_size, doubling):
    reach, layers = 0, 0
    while reach < length:
        reach += (2**layers if doubling else 1) * (kernel_size - 1)
        layers += 1
    return layers


def until_it_is_longer(length, kernel_size, doubling):
    reach, layers = 1, 0
    while reach <= length:
        reach += (2**layers if doubling else 1) * (kernel_size - 1)
        layers += 1
    return layers


def folded_without_axes(weight, bias, mean, var, gamma, beta, eps):
    factor = gamma / (var + eps).sqrt()
    return weight * factor, beta + factor * (bias - mean)


def scaled_on_the_weights_only(weight, bias, mean, var, gamma, beta, eps):
    deviation = (var + eps) ** 0.5
    return weight * (gamma / deviation).view(-1, 1, 1, 1), (bias - mean) / deviation + beta


def box(x):
    return F.avg_pool2d(F.pad(x, [1] * 4, mode="reflect"), 3, stride=2)


def counted_with_the_stride(x, weight, bias, stride):
    K = weight.shape[2]
    places = range((x.shape[2] - K) // stride + 1)
    y = [torch.einsum("bck,ock->bo", x[:, :, t : t + K], weight) + bias for t in places]
    return torch.stack(y, -1)


def listed_and_cut(x, w, b, stride, padding):
    x, K = F.pad(x, [padding] * 4), w.shape[-1]
    rows, columns = (range(0, size - K + 1, stride) for size in x.shape[2:])
    y = [F.conv2d(x[:, :, i : i + K, j : j + K], w, b)[..., 0, 0] for i in rows for j in columns]
    return torch.stack(y, dim=1).reshape(len(x), len(w), len(rows), len(columns))


def counted_before_the_frame(x, w, b, stride, padding):
    K = w.shape[-1]
    rows, columns = (range((size - K) // stride + 1) for size in x.shape[2:])
    x = F.pad(x, [padding] * 4)
    y = torch.zeros(len(x), len(w), len(rows), len(columns))
    for i in rows:
        for j in columns:
            top, left = i * stride, j * stride
            window = x[:, None, :, top : top + K, left : left + K]
            y[:, :, i, j] = (window * w).sum(dim=(2, 3, 4)) + b
    return y


def cut_as_it_lies(x, K):
    H, W = (size // K for size in x.shape[2:])
    cut = x[:, :, : H * K, : W * K].reshape(*x.shape[:2], H, W, K, K)
    return cut.amax(dim=(4, 5))


def bent_twice(x, w1, b1, w2, b2):
    found = x
    for w, b in ((w1, b1), (w2, b2)):
        found = F.conv2d(found, w, b, padding=1).relu()
    return (x + found).relu()


def undilated_or(doubled):
    def layers(length, kernel_size, doubling):
        gains = math.ceil((length - 1) / (kernel_size - 1))
        return doubled(length, kernel_size) if doubling else gains

    return layers


NAMED = [
    (
        "everywhere",
        lambda x, w, b, s, p: F.conv2d(x, w, stride=s, padding=p) + b,
        "bias_along_a_row",
    ),
    ("everywhere", lambda x, w, b, s, p: F.conv2d(x, w, b, s, (p, 0)), "only_rows_padded"),
    *[("everywhere", listed_and_cut, "cut_without_turning")],
    ("everywhere", counted_before_the_frame, "places_without_the_frame"),
    (
        "everywhere",
        lambda x, w, b, s, p: F.conv2d(F.pad(x, (0, p, 0, p)), w, b, s),
        "padded_on_the_other_two_sides",
    ),
    *[("max_pooling", cut_as_it_lies, "cut_in_the_order_of_memory")],
    ("max_pooling", lambda x, K: F.max_pool2d(x, (1, K)), "along_the_rows_only"),
    ("max_pooling", lambda x, K: F.max_pool2d(x, (K, 1)), "along_the_columns_only"),
    ("max_pooling", lambda x, K: F.lp_pool2d(x, 1, K), "total"),
    (
        "max_pooling",
        lambda x, K: F.max_pool2d(x[..., x.shape[2] % K :, x.shape[3] % K :], K),
        "start_dropped",
    ),
    ("residual_block", bent_twice, "bent_before_and_after_the_sum"),
    *[
        ("same_padding", lambda K, d: K - 1, "both_sides_undilated"),
        ("convolution_parameters", 1248, "bias_for_each_slice"),
    ],
    *[
        ("same_padding", lambda K, d: (K - 1) // 2, "undilated"),
        ("same_padding", lambda K, d: d, "dilation_alone"),
    ],
    *[
        ("convolution_parameters", 1203, "bias_for_each_input_channel"),
        ("convolution_parameters", 256, "kernel_of_one_row"),
    ],
    *[
        ("convolution_over_time", jumps_counted, "jumps_for_places"),
        ("convolution_over_time", last_place_forgotten, "one_window_short"),
    ],
    ("convolution_over_time", bias_inside_the_loop, "bias_in_every_product"),
    ("convolution_over_time", bias_as_it_is, "bias_along_time"),
    ("depthwise_convolution", every_kernel_on_every_channel, "mixed"),
    ("depthwise_convolution", lambda x, w: F.conv2d(x, w[None]), "summed_to_one"),
    ("depthwise_convolution", summed_in_the_einsum, "channel_axis_lost"),
    ("depthwise_convolution", lambda x, w: F.conv2d(x, w.unsqueeze(1)), "groups_forgotten"),
    ("min_pooling", with_zeros, "padded_with_zeros"),
    ("receptive_field", starting_at_0, "one_layer_too_many"),
    ("receptive_field", until_it_is_longer, "one_layer_too_many"),
    ("convolution_over_time", counted_with_the_stride, "stride_only_counted"),
    ("receptive_field", undilated_or(lambda n, K: math.ceil(math.log2(n))), "as_if_two_wide"),
    (
        "receptive_field",
        undilated_or(lambda n, K: math.ceil(math.log(n, K))),
        "powers_of_the_kernel",
    ),
    ("weight_gradient", lambda x, grad_y: F.conv2d(x, grad_y), "summed_over_channels"),
    ("batch_norm_folding", folded_without_axes, "scale_along_the_row"),
    ("batch_norm_folding", scaled_on_the_weights_only, "gamma_on_the_weights_only"),
    ("min_pooling", lambda x, K, s, p: -F.max_pool2d(-x, K, s), "padding_ignored"),
    *[("blur_pooling", lambda x: x[..., ::2, ::2], "not_blurred"), ("blur_pooling", box, "box")],
    *[
        ("strided_equivariance", 7, "receptive_field"),
        ("strided_equivariance", 3, "between_places"),
    ],
]


@pytest.mark.parametrize(("id", "attempt", "name"), NAMED)
def test_a_common_mistake_is_named(id, attempt, name):
    exercise = check.exercises[id]
    assert exercise.judge(attempt) == (False, exercise.mistakes[name].says)


def padded_with(value):
    def pool(x, kernel_size, stride, padding):
        padded = F.pad(x, [padding] * 4, value=value)
        return -F.max_pool2d(-padded, kernel_size, stride)

    return pool


@pytest.mark.parametrize("value", [999.0, 1e6, 1e9, 1e10, 1e30])
def test_no_constant_is_large_enough_for_the_smallest_of_a_window(value):
    passed, _ = check.exercises["min_pooling"].judge(padded_with(value))
    assert passed is False


def test_who_returns_values_and_their_places_is_told_to_take_the_values():
    passed, sentence = check.exercises["max_pooling"].judge(
        lambda x, K: x.unfold(2, K, K).unfold(3, K, K).flatten(-2).max(dim=-1)
    )
    assert not passed and sentence.endswith(
        "not a tensor. It holds the values and their positions: take its .values."
    )


def image_by_image(window, w, b):
    return torch.stack([torch.stack([(one * k).sum() for k in w]) + b for one in window])


def map_by_map(x, w, b, stride=1, padding=0):
    return torch.cat([F.conv2d(one[None], w, b, stride, padding) for one in x])


@pytest.mark.parametrize(
    ("id", "answer", "what"),
    [
        ("one_place", image_by_image, "images or kernels"),
        ("everywhere", map_by_map, "images or kernels"),
        (
            "max_pooling",
            lambda x, K: torch.stack([F.max_pool2d(one, K) for one in x]),
            "images or channels",
        ),
    ],
)
def test_a_correct_answer_that_loops_over_a_batch_is_told_so(id, answer, what):
    passed, sentence = check.exercises[id].judge(answer)
    assert passed and sentence.startswith(f"correct, but you loop over {what}")


# Wrong answers that are no known mistake ----------------------------------------------------------


def reflected(x, kernel_size, stride, padding):
    x = F.pad(x, [padding] * 4, mode="reflect")
    return -F.max_pool2d(-x, kernel_size, stride)


WRONG = [
    *[
        ("same_padding", lambda K, d: 1),
        ("convolution_parameters", 1217),
        ("min_pooling", reflected),
    ],
    ("weight_gradient", lambda x, grad_y: x[0]),
    *[("blur_pooling", lambda x: F.max_pool2d(x, 2, ceil_mode=True)), ("strided_equivariance", 16)],
]


@pytest.mark.parametrize(("id", "attempt"), WRONG)
def test_a_wrong_answer_gets_no_false_name(id, attempt):
    exercise = check.exercises[id]
    passed, sentence = exercise.judge(attempt)
    assert passed is False
    assert not sentence.endswith(tuple(m.says for m in exercise.mistakes.values()))
