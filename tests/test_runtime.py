"""What models in a page compute with gives the numbers of PyTorch and of the book's own layers."""

import json

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.positions import Rotary, sinusoidal
from utils.pretraining.rounded import with_rounded_weights
from utils.recurrent import GRU, LSTM, RNN
from utils.self_attention import MultiHeadAttention
from utils.show.views import frame, models
from utils.tasks.rounded import in_int8
from utils.tasks.two_bytes import restored
from utils.transformer import CrossAttention, EncoderBlock, TransformerConfig

RUNTIME = (frame.HERE / "runtime.js").read_text(encoding="utf-8")
REVIVED = """([code, given]) => {
    const revive = (x) => x?.rows ? { ...x, numbers: Float32Array.from(x.numbers) }
        : Array.isArray(x) ? Float32Array.from(x) : x;
    const names = Object.keys(given), values = Object.values(given).map(revive);
    const plain = (x) => ArrayBuffer.isView(x) ? [...x] : Array.isArray(x) ? x.map(plain)
        : typeof x === "number" ? x
        : Object.fromEntries(Object.entries(x).map(([name, value]) => [name, plain(value)]));
    return plain(new Function("ops", ...names, code)(runtime(), ...values));
}"""


@pytest.fixture(scope="module")
def tab(chromium):
    tab = chromium.new_page()
    tab.set_content(f"<script>{RUNTIME}</script>")
    yield tab
    tab.close()


@pytest.fixture
def here(tab):
    """Run code in the page: a tensor (n,) is a vector there, one of more axes a matrix."""
    torch.manual_seed(0)

    def given(x):
        if not isinstance(x, torch.Tensor):
            return x
        flat = x.detach().flatten(1) if x.dim() > 1 else x.detach()
        rows, *columns = flat.shape
        numbers = flat.flatten().tolist()
        return {"rows": rows, "columns": columns[0], "numbers": numbers} if columns else numbers

    def run(code: str, **arguments):
        return tab.evaluate(REVIVED, [code, {name: given(x) for name, x in arguments.items()}])

    return run


def same(found: list, expected: torch.Tensor, atol: float = 1e-5) -> None:
    found = torch.tensor(found, dtype=torch.float32)
    torch.testing.assert_close(found, expected.detach().view_as(found), atol=atol, rtol=1e-5)


@pytest.mark.parametrize("columns", [1, 4, 7, 96])
def test_products_with_and_without_a_bias(here, columns):
    W, b, x = torch.randn(5, columns), torch.randn(5), torch.randn(columns)
    same(here("return ops.product(W, x)", W=W, x=x), W @ x)
    same(here("return ops.product(W, x, b)", W=W, x=x, b=b), F.linear(x, W, b))
    same(here("return ops.plus(ops.row(W, 3), x)", W=W, x=x), W[3] + x)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("softmax", lambda x: x.softmax(0)),
        ("relu", F.relu),
        ("silu", F.silu),
        ("gelu", F.gelu),
    ],
)
def test_activations_and_softmax(here, op, expected):
    x = torch.cat([4 * torch.randn(50), torch.tensor([0.0, 30, -30])])
    same(here(f"return ops.{op}(x)", x=x), expected(x))


def test_softmax_of_large_scores(here):
    x = torch.tensor([1000.0, 999, -1000])
    same(here("return ops.softmax(x)", x=x), x.softmax(0))


def test_one_is_drawn_in_proportion_to_its_share(here):
    shares, among = torch.tensor([0.1, 0.2, 0.5, 0.15, 0.05]), torch.tensor([2, 0, 4])
    code = "return ops.drawn(shares, among, random)"
    found = [
        here(code, shares=shares, among=among, random=at / 65) for at in (0, 49, 51, 59, 61, 65)
    ]
    assert found == [2, 2, 0, 0, 4, 2]  # the sum is 0.65; beyond its end it is the first


def test_norms(here):
    x, gain, bias = 3 * torch.randn(10) + 1, torch.randn(10), torch.randn(10)
    normal = F.layer_norm(x, (10,), gain, bias)
    same(here("return ops.layerNorm(x, gain, bias)", x=x, gain=gain, bias=bias), normal)
    same(here("return ops.layerNorm(x, gain)", x=x, gain=gain), normal - bias)


def test_positions(here):
    same(here("return ops.sinusoidal(37, 9)"), sinusoidal(1, 9, start=37))
    x = torch.randn(3, 1, 8)  # three heads
    same(here("return ops.rotary(x, 37, 3)", x=x.flatten()), Rotary(8)(x, start=37))


def attended(layer: MultiHeadAttention) -> dict:
    return {"W_in": layer.W_in, "b_in": layer.b_in, "W_o": layer.W_o.weight, "b_o": layer.W_o.bias}


STEP_BY_STEP = """
    const D = W_o.rows, T = xs.rows, held = ops.cache(T, D), y = [];
    let looks;
    for (let t = 0; t < T; t++) {
        const all = ops.product(W_in, ops.row(xs, t), b_in);
        const [q, k, v] = [0, D, 2 * D].map((from) => all.subarray(from, from + D));
        const turned = (x) => rotary ? ops.rotary(x, t, heads) : x;
        ops.remember(held, turned(k), v);
        const found = ops.attend(turned(q), held, heads);
        y.push(ops.product(W_o, found.context, b_o));
        looks = found.looks;
    }
    return { y, looks };
"""


@pytest.mark.parametrize("rotary", [False, True])
def test_attention_step_by_step_with_a_cache(here, rotary):
    how = {"rotary": Rotary(6)} if rotary else {}
    layer, xs = MultiHeadAttention(12, 2, **how), torch.randn(7, 12)
    nn.init.normal_(layer.b_in)
    y, weights = layer(xs[None], is_causal=True, need_weights=True)
    found = here(STEP_BY_STEP, xs=xs, heads=2, rotary=rotary, **attended(layer))
    same(found["y"], y)
    same(found["looks"], weights[0, :, -1])


def test_attention_to_another_sequence(here):
    layer, source, x = CrossAttention(12, 3), torch.randn(5, 12), torch.randn(12)
    nn.init.normal_(layer.b_in)
    y, weights = layer(x[None, None], source[None], need_weights=True)
    code = """
        const D = W_o.rows, held = ops.cache(source.rows, D);
        const q = ops.product(W_in, x, b_in).subarray(0, D);
        for (let s = 0; s < source.rows; s++) {
            const all = ops.product(W_in, ops.row(source, s), b_in);
            ops.remember(held, all.subarray(D, 2 * D), all.subarray(2 * D));
        }
        const { context, looks } = ops.attend(q, held, 3);
        return { y: ops.product(W_o, context, b_o), looks };
    """
    found = here(code, source=source, x=x, **attended(layer))
    same(found["y"], y)
    same(found["looks"], weights[0, :, 0])


def test_plain_recurrent_steps(here):
    xs, theirs = torch.randn(6, 5), nn.RNN(5, 7, batch_first=True)
    (layer := RNN(5, 7)).load_library(theirs)
    code = """
        let h = new Float32Array(7);
        const step = (_, t) => (h = ops.rnn({ W_x, W_h, b }, ops.row(xs, t), h));
        return Array.from({ length: xs.rows }, step);
    """
    same(here(code, xs=xs, **dict(layer.named_parameters())), theirs(xs[None])[0])


def test_lstm_and_gru_steps_as_pytorch_orders_their_gates(here):
    xs = torch.randn(6, 5)
    for library, layer in ((nn.LSTM, LSTM(5, 7)), (nn.GRU, GRU(5, 7))):
        theirs = library(5, 7, batch_first=True)
        layer.load_library(theirs)
        expected = theirs(xs[None])[0]
        weights = dict(layer.named_parameters())
        code = """
            const zeros = new Float32Array(7);
            let state = LSTM ? { h: zeros, c: zeros } : zeros;
            return Array.from({ length: xs.rows }, (_, t) => {
                state = ops[LSTM ? "lstm" : "gru"]({ W_x, W_h, b, b_n }, ops.row(xs, t), state);
                return LSTM ? state.h : state;
            });
        """
        both = {"b_n": None, **weights}
        same(here(code, LSTM=library is nn.LSTM, xs=xs, **both), expected)


@pytest.mark.parametrize(("K", "padding"), [(3, 1), (3, 0), (5, 2), (1, 0)])
def test_convolution_and_pooling(here, K, padding):
    x, W, b = torch.randn(2, 9, 7), torch.randn(3, 2, K, K), torch.randn(3)
    picture = {"channels": 2, "height": 9, "width": 7}
    maps = F.conv2d(x[None], W, b, padding=padding)
    code = """
        const seen = ops.convolution(W, b, { ...size, numbers: x }, K, padding);
        return [seen, ops.maxPool(seen, 2)];
    """
    found = here(code, W=W, b=b, x=x.flatten(), size=picture, K=K, padding=padding)
    for got, expected in zip(found, (maps, F.max_pool2d(maps, 2)), strict=True):
        assert (got["channels"], got["height"], got["width"]) == tuple(expected.shape[1:])
        same(got["numbers"], expected)


def stored(model: nn.Module) -> dict:
    """What a page gets of a model, all but the script around it."""
    script = models.store("small", in_int8(model), made_by="a test").read_text("ascii")
    return json.loads(script.partition("] = ")[2].removesuffix(";\n"))


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_block_of_which_some_positions_go_on(here, tmp_path, monkeypatch, activation):
    monkeypatch.setattr(models, "FOLDER", tmp_path)
    config = TransformerConfig(1, d_model=12, n_heads=3, d_ff=20, norm="pre", activation=activation)
    block, xs = EncoderBlock(config), 2 * torch.randn(6, 12)
    for weight in block.parameters():
        nn.init.normal_(weight, std=0.5)
    code = """
        const x = Array.from({ length: xs.rows }, (_, t) => ops.row(xs, t));
        const all = ops.cache(xs.rows, xs.columns);
        const how = activation === "gelu" ? [] : [ops[activation]];
        return ops.block(ops.decode(held), x, x.map(() => all), 3, [1, 4, 5], ...how);
    """
    found = here(code, held=stored(block), xs=xs, activation=activation)
    same(found, restored(block, in_int8(block))(xs[None])[0][0, [1, 4, 5]])


def test_a_stored_model_is_read_as_it_was_rounded(here, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "FOLDER", tmp_path)
    model = nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5), nn.Linear(5, 3, bias=False))
    held = stored(model)
    found = here("return ops.decode(held)", held=held)
    assert found.keys() == dict(model.named_parameters()).keys()
    rounded = with_rounded_weights(model)
    for place in (0, 2):
        same(found[f"{place}.weight"]["numbers"], rounded[place].weight, atol=0)
    same(found["1.bias"], model[1].bias, atol=0)
    part = here("return ops.part(ops.decode(held), '1.')", held=held)
    assert part.keys() == {"weight", "bias"}
