"""Day 1's layers equal the library's, in value and gradient, and say what a bad input is."""

import math
import random

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils import convolution
from utils.convolution import (
    AlexNet,
    BatchNorm2d,
    CausalConv1d,
    Conv2d,
    DigitsNet,
    GoogLeNet,
    Inception,
    LeNet,
    RecallNet,
    ResidualBlock,
    SmallAlexNet,
    SmallGoogLeNet,
    avg_pool2d,
    conv2d,
    conv2d_loop,
    conv_output_size,
    max_pool2d,
    receptive_field,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def assert_same(ours, library, *inputs: torch.Tensor | None) -> None:
    """Compare values, and gradients by every input of one random weighting of the result."""
    results = []
    for function in (ours, library):
        leaves = [None if x is None else x.detach().clone().requires_grad_() for x in inputs]
        y = function(*leaves)
        weighting = draw(*y.shape, seed=1)
        tracked = [x for x in leaves if x is not None]
        results.append([y.detach(), *torch.autograd.grad((weighting * y).sum(), tracked)])
    for ours, library in zip(*results, strict=True):
        assert ours.abs().max() > 0
        torch.testing.assert_close(ours, library, **EXACT)


# Convolution --------------------------------------------------------------------------------------


def settings(n: int) -> list[dict]:
    """Draw n cases in which batch, channels, height, width and both kernel sides differ."""
    rng = random.Random(2012)
    cases = []
    while len(cases) < n:
        case = {
            "batch_size": rng.choice([1, 1, 2, 3, 5]),
            "channels": rng.randint(1, 6),
            "out_channels": rng.randint(1, 7),
            "size": (rng.randint(3, 14), rng.randint(3, 15)),
            "kernel": (rng.randint(1, 5), rng.randint(1, 6)),
            "stride": rng.randint(1, 4),
            "padding": rng.randint(0, 3),
            "dilation": rng.randint(1, 3),
        }
        distinct = {case["batch_size"], case["channels"], case["out_channels"], *case["size"]}
        fits = all(
            side + 2 * case["padding"] > case["dilation"] * (K - 1)
            for side, K in zip(case["size"], case["kernel"], strict=True)
        )
        if fits and len(distinct) == 5 and case["kernel"][0] != case["kernel"][1]:
            cases.append(case)
    return cases


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("case", settings(40), ids=lambda case: "-".join(map(str, case.values())))
def test_conv2d_equals_the_library(case, with_bias):
    x = draw(case["batch_size"], case["channels"], *case["size"])
    weight = draw(case["out_channels"], case["channels"], *case["kernel"])
    bias = draw(case["out_channels"]) if with_bias else None
    how = {name: case[name] for name in ("stride", "padding", "dilation")}
    assert_same(lambda *a: conv2d(*a, **how), lambda *a: F.conv2d(*a, **how), x, weight, bias)
    sizes = tuple(
        conv_output_size(side, K, **how)
        for side, K in zip(case["size"], case["kernel"], strict=True)
    )
    assert conv2d(x, weight, bias, **how).shape[2:] == sizes


def test_the_cases_cover_what_they_should():
    cases = settings(40)
    assert {case["stride"] for case in cases} == {1, 2, 3, 4}
    assert {case["padding"] for case in cases} == {0, 1, 2, 3}
    assert {case["dilation"] for case in cases} == {1, 2, 3}
    assert {side % 2 for case in cases for side in case["size"]} == {0, 1}
    assert any(case["batch_size"] == 1 for case in cases)
    assert any(case["stride"] > 1 and case["dilation"] > 1 and case["padding"] for case in cases)


@pytest.mark.parametrize("case", settings(6), ids=lambda case: "-".join(map(str, case.values())))
def test_the_loop_equals_the_library(case):
    height, width = (side + 4 for side in case["size"])
    x = draw(case["batch_size"], case["channels"], height, width)
    weight = draw(2, case["channels"], *case["kernel"])
    assert_same(conv2d_loop, F.conv2d, x, weight, draw(2))
    assert_same(conv2d_loop, F.conv2d, x, weight, None)


def test_sizes_that_are_all_equal_hide_no_broadcasting():
    n = 4  # B = C = C_out = H = W
    x, weight, bias = draw(n, n, n, n), draw(n, n, 3, 3), draw(n)
    same = {"padding": 1}
    assert_same(lambda *a: conv2d(*a, **same), lambda *a: F.conv2d(*a, **same), x, weight, bias)
    assert_same(conv2d_loop, F.conv2d, x, weight, bias)


def test_the_kernel_is_not_flipped():
    x = torch.zeros(1, 1, 5, 5, dtype=torch.float64)
    x[0, 0, 2, 2] = 1
    weight = torch.arange(9, dtype=torch.float64).reshape(1, 1, 3, 3)
    for function in (conv2d, conv2d_loop):  # an impulse gives the kernel back, turned by 180°
        assert torch.equal(function(x, weight), weight.flip(2, 3))


def test_input_channels_are_summed_and_each_output_channel_has_one_bias():
    x = torch.stack([torch.full((4, 4), value) for value in (1.0, 10.0, 100.0)])[None]
    weight = torch.ones(2, 3, 2, 2)
    bias = torch.tensor([0.5, -0.5])
    for function in (conv2d, conv2d_loop):
        y = function(x, weight, bias)
        assert torch.equal(y[0, 0], torch.full((3, 3), 444.5))
        assert torch.equal(y[0, 1], torch.full((3, 3), 443.5))


def test_conv2d_takes_any_memory_layout_and_leaves_its_inputs_alone():
    x, weight = draw(3, 4, 9, 8), draw(4, 5, 3, 2)
    expected = F.conv2d(x.transpose(2, 3).flip(0), weight.transpose(0, 1)[:, :4], padding=1)
    strided = x.transpose(2, 3).flip(0), weight.transpose(0, 1)[:, :4]
    before = x.clone(), weight.clone()
    with torch.no_grad():
        y = conv2d(*strided, padding=1)
    assert not y.requires_grad
    torch.testing.assert_close(y, expected, **EXACT)
    channels_last = x.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(
        conv2d(channels_last, draw(5, 4, 3, 3)), F.conv2d(x, draw(5, 4, 3, 3)), **EXACT
    )
    assert torch.equal(x, before[0]) and torch.equal(weight, before[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_lower_precision_stays_near_the_library_and_finite(dtype):
    x, weight, bias = (t.to(dtype) for t in (draw(2, 3, 9, 8), draw(5, 3, 3, 3), draw(5)))
    tolerance = 20 * torch.finfo(dtype).eps
    y = conv2d(x, weight, bias, stride=2, padding=1)
    expected = F.conv2d(x.double(), weight.double(), bias.double(), stride=2, padding=1)
    assert y.dtype == dtype
    torch.testing.assert_close(y.double(), expected, rtol=tolerance, atol=10 * tolerance)
    assert torch.equal(max_pool2d(-x.abs(), 3, 2, 1), F.max_pool2d(-x.abs(), 3, 2, 1))
    torch.testing.assert_close(
        avg_pool2d(x, 3, 2), F.avg_pool2d(x, 3, 2), rtol=tolerance, atol=tolerance
    )
    norm = BatchNorm2d(3).to(dtype)
    assert norm(100 * x).isfinite().all() and norm.eval()(100 * x).isfinite().all()


def test_conv2d_layer_loads_the_librarys_weights_and_gives_its_numbers():
    for bias in (True, False):
        how = {"kernel_size": 3, "stride": 2, "padding": 2, "dilation": 2, "bias": bias}
        library, ours = nn.Conv2d(3, 5, **how).double(), Conv2d(3, 5, **how).double()
        ours.load_state_dict(library.state_dict())
        library.load_state_dict(ours.state_dict())
        assert_same(ours, library, draw(2, 3, 11, 10))


def test_hes_initialisation_keeps_the_mean_square_through_relu():
    torch.manual_seed(0)
    layer = Conv2d(32, 64, 5)
    assert layer.weight.std().item() == pytest.approx(math.sqrt(2 / (32 * 25)), rel=0.02)
    assert not layer.bias.any()
    x = torch.randn(4, 32, 20, 20)
    y = F.relu(layer(x))
    assert (y.square().mean() / x.square().mean()).item() == pytest.approx(1, rel=0.1)


# Pooling ------------------------------------------------------------------------------------------

POOLS = [(2, None, 0), (3, 2, 1), (3, 1, 1), (2, 3, 0), (4, 2, 2), (1, 2, 0), (3, None, 1)]
SIZES = [(1, 3, 7, 10), (2, 3, 8, 5), (3, 1, 6, 6), (5, 2, 9, 4)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kernel_size", "stride", "padding"), POOLS)
def test_max_pool2d_equals_the_library(size, kernel_size, stride, padding):
    def ours(x):
        return max_pool2d(x, kernel_size, stride, padding)

    def library(x):
        return F.max_pool2d(x, kernel_size, stride, padding)

    x = draw(*size)
    assert_same(ours, library, x)
    assert_same(ours, library, -x.abs() - 1)  # a padded zero would win
    assert_same(ours, library, x.round() + 0.5)  # ties: the first of them gets the gradient


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kernel_size", "stride"), [(2, None), (3, 2), (3, 1), (2, 3), (4, None)])
def test_avg_pool2d_equals_the_library(size, kernel_size, stride):
    assert_same(
        lambda x: avg_pool2d(x, kernel_size, stride),
        lambda x: F.avg_pool2d(x, kernel_size, stride),
        draw(*size),
    )


@pytest.mark.parametrize("pool", [max_pool2d, avg_pool2d])
def test_pooling_keeps_the_channels_apart(pool):
    x = torch.tensor([-1.0, -2.0, -3.0])[None, :, None, None].expand(2, 3, 4, 4)
    assert torch.equal(pool(x, 2), x[:, :, :2, :2])


# Sizes and receptive fields -----------------------------------------------------------------------


def test_output_size_counts_the_places_where_the_kernel_fits():
    for size in range(1, 12):
        for K in range(1, 5):
            for stride in range(1, 4):
                for padding in range(3):
                    for dilation in range(1, 4):
                        end = size + 2 * padding - dilation * (K - 1)
                        places = len(range(0, end, stride))
                        if places:
                            got = conv_output_size(size, K, stride, padding, dilation)
                            assert got == places
                        else:
                            reach = dilation * (K - 1) + 1
                            with pytest.raises(ValueError, match=f" {reach} .* {size} "):
                                conv_output_size(size, K, stride, padding, dilation)


STACKS = [
    [(1, 1, 1)],
    [(3, 1, 1)] * 4,
    [(3, 2, 1)] * 3,
    [(2, 1, 2**i) for i in range(4)],
    [(5, 1, 1), (2, 2, 1), (3, 1, 2), (4, 3, 1), (3, 1, 3)],
    [(3, 3, 2), (1, 2, 1), (2, 1, 4)],
]


@pytest.mark.parametrize("layers", STACKS)
def test_receptive_field_equals_the_support_of_a_gradient(layers):
    size = 201
    x = torch.zeros(1, 1, size, size, dtype=torch.float64, requires_grad=True)
    y = x
    for K, stride, dilation in layers:
        weight = draw(1, 1, K, K).abs() + 0.1  # positive, so that nothing cancels
        y = conv2d(y, weight, stride=stride, dilation=dilation)
    unit = y[0, 0, y.shape[2] // 2, y.shape[3] // 2]
    (gradient,) = torch.autograd.grad(unit, x)
    rows = gradient[0, 0].sum(dim=1).nonzero()
    columns = gradient[0, 0].sum(dim=0).nonzero()
    field = receptive_field(layers)
    assert field < size
    assert int(rows.max() - rows.min()) + 1 == field
    assert int(columns.max() - columns.min()) + 1 == field


# Normalisation ------------------------------------------------------------------------------------


def norms(channels: int, **how) -> tuple[nn.Module, nn.Module]:
    library = nn.BatchNorm2d(channels, **how).double()
    with torch.no_grad():
        library.weight.copy_(draw(channels, seed=3))
        library.bias.copy_(draw(channels, seed=4))
        library.running_mean.copy_(draw(channels, seed=5))
        library.running_var.copy_(draw(channels, seed=6).exp())
    ours = BatchNorm2d(channels, **how).double()
    ours.load_state_dict(library.state_dict())
    return ours, library


def assert_same_module(ours: nn.Module, library: nn.Module, x: torch.Tensor) -> None:
    """Compare values, gradients by the input and by each parameter, and what the layers store."""
    assert_same(ours, library, x)
    for module in (ours, library):
        y = module(x)
        module.zero_grad()
        (draw(*y.shape) * y).sum().backward()
    expected = dict(library.named_parameters())
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name].grad, **EXACT)
    state = ours.state_dict()
    assert state.keys() == library.state_dict().keys()
    for name, value in library.state_dict().items():
        torch.testing.assert_close(state[name], value, **EXACT)


@pytest.mark.parametrize("size", [(2, 3, 5, 4), (7, 4, 1, 1), (1, 2, 3, 6), (3, 3, 3, 3)])
@pytest.mark.parametrize("how", [{}, {"momentum": 0.3, "eps": 0.5}])
def test_batch_norm_equals_the_library_in_training_and_evaluation(size, how):
    ours, library = norms(size[1], **how)
    x = 3 * draw(*size) + 5
    assert_same_module(ours, library, x)  # three batches: the running statistics move three times
    assert ours.num_batches_tracked == library.num_batches_tracked > 0
    ours.eval(), library.eval()
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    assert_same_module(ours, library, x)
    assert all(torch.equal(before[name], value) for name, value in ours.state_dict().items())


def test_residual_block_is_the_identity_beside_two_convolutions():
    torch.manual_seed(0)
    block = ResidualBlock(3).double()
    x = draw(2, 3, 6, 5)
    assert torch.equal(block(x), F.relu(x + block.f(x)))
    with torch.no_grad():
        block.f[-1].weight.zero_()
    assert torch.equal(block(x), F.relu(x))
    assert sum(p.numel() for p in block.parameters()) == 2 * (3 * 3 * 9 + 2 * 3)


# Bad inputs ---------------------------------------------------------------------------------------

IMAGE, KERNEL = torch.zeros(2, 3, 5, 6), torch.zeros(4, 3, 3, 3)

BAD = {
    "channels": (lambda: conv2d(IMAGE, KERNEL[:, :2]), "3 channels.* 2"),
    "loop": (lambda: conv2d_loop(IMAGE, KERNEL[:, :2]), "3 channels.* 2"),
    "no batch": (lambda: conv2d(IMAGE[0], KERNEL), r"\(3, 5, 6\).*\(4, 3, 3, 3\)"),
    "kernel": (lambda: conv2d(IMAGE, KERNEL[0]), r"\(2, 3, 5, 6\).*\(3, 3, 3\)"),
    "bias": (lambda: conv2d(IMAGE, KERNEL, torch.zeros(1)), r"bias.*\(4,\).*\(1,\)"),
    "loop's bias": (lambda: conv2d_loop(IMAGE, KERNEL[:1], torch.zeros(4)), r"bias.*\(1,\).*\(4"),
    "too large": (lambda: conv2d(IMAGE, torch.zeros(4, 3, 7, 3)), " 7 .* 5 "),
    "dilated": (lambda: conv2d(IMAGE, KERNEL, dilation=4, padding=1), " 9 .* 7 "),
    "stride 0": (lambda: conv2d(IMAGE, KERNEL, stride=0), "stride.* 3, 0, 1 "),
    "dilation 0": (lambda: conv2d(IMAGE, KERNEL, dilation=0), "dilation.* 3, 1, 0 "),
    "padding": (lambda: conv_output_size(5, 3, padding=-1), "padding .* 3, 1, 1 .*-1"),
    "cropped": (lambda: conv2d(IMAGE, KERNEL, padding=-1), "^padding .* -1"),
    "max cropped": (lambda: max_pool2d(IMAGE, 2, padding=-1), "^padding .* -1"),
    "no kernel": (lambda: receptive_field([(3, 1, 1), (0, 1, 1)]), "^kernel_size .* 0"),
    "no stride": (lambda: receptive_field([(3, 0, 1)]), "^stride .* 0"),
    "no dilation": (lambda: receptive_field([(3, 1, -1)]), "^dilation .* -1"),
    "both sides": (lambda: CausalConv1d(3, 4, 2, padding=1)(IMAGE[0]), r"padding.*\(1,\)"),
    "same": (lambda: CausalConv1d(3, 4, 2, padding="same")(IMAGE[0]), "padding.* same"),
    "no momentum": (lambda: BatchNorm2d(3, momentum=None), "momentum.* None"),
    "momentum": (lambda: BatchNorm2d(3, momentum=1.5), "momentum.* 1.5"),
    "max window": (lambda: max_pool2d(IMAGE, 6), " 6 .* 5 "),
    "max padding": (lambda: max_pool2d(IMAGE, 2, padding=2), "Padding 2 .* 2"),
    "max stride": (lambda: max_pool2d(IMAGE, 2, 0), "stride.* 2, 0, 1 "),
    "max image": (lambda: max_pool2d(IMAGE[0], 2), r"\(3, 5, 6\)"),
    "average": (lambda: avg_pool2d(IMAGE[0], 2), r"\(3, 5, 6\)"),
    "norm": (lambda: BatchNorm2d(3)(IMAGE[:, :1]), r"\(2, 1, 5, 6\)"),
    "norm's image": (lambda: BatchNorm2d(3)(IMAGE[0]), r"\(3, 5, 6\)"),
    "one value": (lambda: BatchNorm2d(3)(IMAGE[:1, :, :1, :1]), "one value"),
}


@pytest.mark.parametrize(("call", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message and message.count(". ") == 0


# Mixed precision, compiled, empty -----------------------------------------------------------------


def test_convolution_before_batch_norm_works_in_mixed_precision_as_the_librarys_do():
    torch.manual_seed(0)
    library = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4))
    ours = nn.Sequential(Conv2d(3, 4, 3, padding=1), BatchNorm2d(4))
    ours.load_state_dict(library.state_dict())
    x = 3 + torch.randn(8, 3, 6, 5)
    results = []
    for layers in (ours, library):
        leaf = x.clone().requires_grad_()
        for training in (True, False):
            layers.train(training)
            with torch.autocast("cpu", torch.bfloat16):
                y = layers(leaf)
            assert y.dtype == torch.bfloat16
            y.float().pow(3).mean().backward()
        running = [layers[1].running_mean, layers[1].running_var]
        assert all(part.dtype == torch.float32 for part in running)
        assert all(p.grad.dtype == torch.float32 for p in (leaf, *layers.parameters()))
        results.append([y.float(), leaf.grad, *running, layers[0].weight.grad, layers[1].bias.grad])
    for mine, theirs in zip(*results, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.05, atol=0.05)


def test_batch_norm_takes_statistics_in_single_precision():
    """In half precision, a mean of 1000 has an error of several units."""
    x = (1000 + torch.randn(64, 2, 8, 8, generator=torch.Generator().manual_seed(0))).bfloat16()
    ours, library = BatchNorm2d(2), nn.BatchNorm2d(2)
    y, expected = ours(x), library(x)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(ours.running_mean, library.running_mean, rtol=1e-5, atol=0)
    torch.testing.assert_close(y, expected, rtol=0.01, atol=0.01)


@pytest.mark.parametrize(
    ("network", "size"),
    [
        (lambda: nn.Sequential(Conv2d(1, 2, 3, padding=1), BatchNorm2d(2)), (2, 1, 6, 5)),
        (lambda: ResidualBlock(2), (2, 2, 6, 5)),
        (DigitsNet, (2, 1, 8, 8)),
        (SmallGoogLeNet, (2, 1, 8, 8)),
        (lambda: RecallNet(3, True), (2, 4, 9)),
    ],
    ids=["layers", "blocks", "DigitsNet", "SmallGoogLeNet", "RecallNet"],
)
def test_networks_compile_whole(network, size):
    torch.compiler.reset()
    torch.manual_seed(0)
    network = network().eval()  # no dropout, so that both compute the same
    x = torch.randn(size)
    results = []
    for form in (network, torch.compile(network, backend="eager", fullgraph=True)):
        y = form(x)
        results.append([y, *torch.autograd.grad(y.square().sum(), list(network.parameters()))])
    for compiled, eager in zip(*results, strict=True):
        torch.testing.assert_close(compiled, eager)


@pytest.mark.parametrize("training", [True, False])
def test_a_batch_without_an_image_is_taken_as_the_library_takes_it(training):
    library = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.MaxPool2d(2), nn.AvgPool2d(2))
    ours = nn.Sequential(Conv2d(2, 3, 3), BatchNorm2d(3))
    ours.load_state_dict(library.state_dict())
    ours.train(training), library.train(training)
    x = torch.zeros(0, 2, 10, 12, requires_grad=True)
    y = avg_pool2d(max_pool2d(ours(x), 2), 2)
    assert y.shape == library(x).shape == (0, 3, 2, 2)
    y.sum().backward()
    assert x.grad.shape == x.shape
    assert torch.equal(ours[0].weight.grad, torch.zeros(3, 2, 3, 3))
    for name in ("running_mean", "running_var"):
        assert torch.equal(getattr(ours[1], name), getattr(library[1], name))
    assert conv2d_loop(x, ours[0].weight).shape == (0, 3, 8, 10)


# Whole networks -----------------------------------------------------------------------------------


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def count_by_formula(model: nn.Module) -> int:
    """Sum C_out · (C · K² + 1) over convolutions and out · (in + 1) over dense layers."""
    total = 0
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            K_h, K_w = layer.kernel_size
            total += layer.out_channels * (layer.in_channels * K_h * K_w + 1)
        elif isinstance(layer, nn.Linear):
            total += layer.out_features * (layer.in_features + 1)
    return total


COUNTS = [
    (LeNet, {}, (1, 32), 61_706, 10),
    (AlexNet, {}, (3, 224), 61_100_840, 1000),
    (AlexNet, {"widths": (96, 256, 384, 384, 256)}, (3, 224), 62_378_344, 1000),
    (GoogLeNet, {}, (3, 224), 6_998_552, 1000),
]


@pytest.mark.parametrize(("network", "how", "image", "expected", "classes"), COUNTS)
def test_networks_at_full_size_have_the_papers_parameters(network, how, image, expected, classes):
    with torch.device("meta"):  # shapes without numbers
        model = network(**how).eval()
        channels, side = image
        assert model(torch.zeros(2, channels, side, side)).shape == (2, classes)
        assert network(n_classes=7, **how)(torch.zeros(2, channels, side, side)).shape == (2, 7)
    assert count(model) == count_by_formula(model) == expected


def test_googlenet_has_nine_inception_blocks_of_the_papers_widths():
    with torch.device("meta"):
        model = GoogLeNet()
    shapes = []
    for layer in model:
        if isinstance(layer, Inception):
            layer.register_forward_hook(lambda *a: shapes.append(tuple(a[2].shape[1:])))
    model(torch.zeros(1, 3, 224, 224, device="meta"))
    widths = [shape[0] for shape in shapes]
    assert widths == [256, 480, 512, 512, 512, 528, 832, 832, 1024]
    assert [shape[1] for shape in shapes] == [28] * 2 + [14] * 5 + [7] * 2


PLANS = {  # K/stride+padding>channels, "-" without bias; sizes of windows; shares of dropout
    LeNet: "5/1+0>6 tanh avg2/2 5/1+0>16 tanh avg2/2 5/1+0>120 tanh flatten 120>84 tanh 84>10",
    AlexNet: """11/4+2>64 relu max3/2+0 5/1+2>192 relu max3/2+0 3/1+1>384 relu 3/1+1>256 relu
        3/1+1>256 relu max3/2+0 flatten drop0.5 9216>4096 relu drop0.5 4096>4096 relu 4096>1000""",
    GoogLeNet: """7/2+3>64 relu max3/2+0ceil lrn5 1/1+0>64 relu 3/1+1>192 relu lrn5 max3/2+0ceil
        inception:64,96,128,16,32,32 inception:128,128,192,32,96,64 max3/2+0ceil
        inception:192,96,208,16,48,64 inception:160,112,224,24,64,64 inception:128,128,256,24,64,64
        inception:112,144,288,32,64,64 inception:256,160,320,32,128,128 max3/2+0ceil
        inception:256,160,320,32,128,128 inception:384,192,384,48,128,128
        mean1 flatten drop0.4 1024>1000""",
    DigitsNet: """3/1+1>24- norm relu 3/1+1>24- norm relu max2/2+0 3/1+1>48- norm relu
        flatten drop0.3 768>10""",
    SmallAlexNet: """3/1+1>16- norm relu 3/1+1>32- norm relu max2/2+0 3/1+1>48- norm relu
        3/1+1>32- norm relu 3/1+1>32- norm relu max2/2+0 flatten
        drop0.3 128>128 relu drop0.3 128>128 relu 128>10""",
    SmallGoogLeNet: """3/1+1>24- norm relu inception-:12,12,24,8,12,12 max2/2+0
        inception-:24,24,48,8,12,12 inception-:32,24,64,8,16,16
        mean1 flatten drop0.3 128>10""",
}


def outline(layer: nn.Module) -> str:
    """Write a network's layers in the order in which an image passes them."""
    match layer:
        case Inception():
            convs = [part for part in layer.modules() if isinstance(part, nn.Conv2d)]
            norms = sum(isinstance(part, nn.BatchNorm2d) for part in layer.modules())
            assert norms in (0, len(convs)) and all((c.bias is None) == bool(norms) for c in convs)
            return f"inception{'-' * bool(norms)}:" + ",".join(str(c.out_channels) for c in convs)
        case nn.Sequential():
            return " ".join(map(outline, layer))
        case nn.Conv2d():
            (K, _), (stride, _), (padding, _) = layer.kernel_size, layer.stride, layer.padding
            return f"{K}/{stride}+{padding}>{layer.out_channels}{'-' * (layer.bias is None)}"
        case nn.MaxPool2d():
            ceil = "ceil" * layer.ceil_mode
            return f"max{layer.kernel_size}/{layer.stride}+{layer.padding}{ceil}"
        case nn.AvgPool2d():
            return f"avg{layer.kernel_size}/{layer.stride}"
        case nn.LocalResponseNorm():
            return f"lrn{layer.size}"
        case nn.AdaptiveAvgPool2d():
            return f"mean{layer.output_size}"
        case nn.Dropout():
            return f"drop{layer.p}"
        case nn.Linear():
            return f"{layer.in_features}>{layer.out_features}"
    return {"BatchNorm2d": "norm"}.get(type(layer).__name__, type(layer).__name__.lower())


@pytest.mark.parametrize("network", PLANS)
def test_networks_have_the_layers_of_their_plans(network):
    with torch.device("meta"):
        assert outline(network()).split() == PLANS[network].split()


def test_inception_keeps_its_branches_beside_each_other():
    torch.manual_seed(0)
    block = Inception(3, 2, 3, 4, 2, 5, 6).double()
    x = draw(2, 3, 7, 6)
    y = block(x)
    assert y.shape == (2, 2 + 4 + 5 + 6, 7, 6)
    scales = [receptive_of(branch, x) for branch in block.branches]
    assert scales == [1, 3, 5, 3]


def receptive_of(branch: nn.Module, x: torch.Tensor) -> int:
    """Count the rows of a wide random image that can move one output pixel."""
    x = draw(1, x.shape[1], 15, 15)
    touched = set()
    for seed in range(5):  # a ReLU or a maximum may hide a row in one image, not in several
        image = draw(1, x.shape[1], 15, 15, seed=seed).requires_grad_()
        branch(image)[0, :, 7, 7].sum().backward()
        touched |= set(image.grad[0].abs().sum(dim=(0, 2)).nonzero().flatten().tolist())
    return max(touched) - min(touched) + 1


@pytest.mark.parametrize("network", [DigitsNet, SmallAlexNet, SmallGoogLeNet])
def test_small_networks_read_each_digit_by_itself_and_tell_places_apart(network):
    torch.manual_seed(0)
    model = network().double().eval()
    x = draw(5, 1, 8, 8)
    assert model(x).shape == (5, 10)
    torch.testing.assert_close(model(x)[2:3], model(x[2:3]), **EXACT)
    assert not torch.allclose(model(x), model(x.roll(2, dims=3)))


def test_a_causal_convolution_sees_no_future():
    torch.manual_seed(0)
    layer = CausalConv1d(2, 3, 3, dilation=2).double()
    x = draw(2, 2, 11)
    changed = x.clone()
    changed[:, :, 6:] += 1
    y, z = layer(x), layer(changed)
    assert y.shape == (2, 3, 11)
    assert torch.equal(y[:, :, :6], z[:, :, :6])
    assert (y[:, :, 6:] != z[:, :, 6:]).any(dim=1).all()
    torch.testing.assert_close(y[:, :, 4:], nn.Conv1d.forward(layer, x), **EXACT)


@pytest.mark.parametrize(("doubling", "reach"), [(True, 2**4), (False, 4 + 1)])
def test_recall_net_sees_as_far_back_as_its_dilations_say(doubling, reach):
    torch.manual_seed(0)
    model = RecallNet(4, doubling).double()
    x = draw(3, 4, 20).requires_grad_()
    model(x).sum().backward()
    seen = x.grad.abs().sum(dim=(0, 1)).nonzero().flatten()
    assert seen.tolist() == list(range(20 - reach, 20))


def test_every_public_name_of_the_module_says_what_it_does():
    for name in convolution.__all__:
        assert "shapes:" in (doc := getattr(convolution, name).__doc__.lower()) or "return" in doc
