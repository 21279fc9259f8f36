"""Day 8's layers: pooling, four readers, how sure they are, and which words decided.

What is padded is compared with what is not, layers with the library's, formulas with loops.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.classification import (
    CLSEncoder,
    MeanOfEmbeddings,
    RecurrentClassifier,
    TextClassifier,
    TextCNN,
    attention_received,
    attention_rollout,
    expected_calibration_error,
    first_pool,
    fit_temperature,
    gradient_length,
    gradient_times_input,
    leave_one_out,
    max_pool,
    mean_pool,
    reliability,
    with_cls,
)
from utils.recurrent import GRU, LSTM, Bidirectional
from utils.seq2seq import BOS, PAD
from utils.transformer import EncoderOnly, TransformerConfig

EXACT = {"rtol": 0, "atol": 1e-10}
B, T, D, V, C = 5, 7, 6, 11, 3
LENGTHS = torch.tensor([7, 1, 3, 5, 2])
POOLS = {"mean": mean_pool, "max": max_pool, "first": first_pool}
KERNELS = (1, 2, 5)


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def texts(seed: int = 0) -> torch.Tensor:
    """Ids (B, T), padded behind LENGTHS."""
    ids = torch.randint(4, V, (B, T), generator=torch.Generator().manual_seed(seed))
    return ids.masked_fill(torch.arange(T) >= LENGTHS[:, None], PAD)


def build(model: nn.Module) -> nn.Module:
    """Give each parameter random numbers: a bias of 0 would hide where it is added."""
    for index, weight in enumerate(model.double().eval().parameters()):
        weight.data = draw(*weight.shape, seed=index) / math.sqrt(weight.shape[-1])
    return model


def config(**choices: object) -> TransformerConfig:
    sizes = {"d_model": D, "n_heads": 2, "d_ff": 10, "n_layers": 2, "dropout": 0.0}
    return TransformerConfig(V, **sizes | {"norm": "pre", "positions": "rotary"} | choices)


MODELS = {
    "mean of embeddings": lambda: MeanOfEmbeddings(V, D, C),
    "text CNN": lambda: TextCNN(V, D, C, channels=4, kernel_sizes=KERNELS),
    "BiLSTM": lambda: RecurrentClassifier(V, Bidirectional(LSTM(D, 4), LSTM(D, 4)), C),
    "Transformer": lambda: EncoderOnly(config(n_heads=3), C),
    "Transformer, max": lambda: EncoderOnly(config(n_heads=3), C, pool=max_pool),
    "Transformer, [CLS]": lambda: CLSEncoder(config(n_heads=3), C),
}
each_model = pytest.mark.parametrize("name", MODELS)


# Pooling ------------------------------------------------------------------------------------------


def by_hand(name: str, x: torch.Tensor) -> torch.Tensor:
    """What is pooled of one text (T, D), in plain loops."""
    columns = x.T.tolist()
    of = {"mean": lambda c: sum(c) / len(c), "max": max, "first": lambda c: c[0]}[name]
    return torch.tensor([of(column) for column in columns], dtype=x.dtype)


@pytest.mark.parametrize("name", POOLS)
def test_each_text_is_pooled_as_if_it_were_alone(name):
    x = draw(B, T, D) - 3  # so that no number is above the 0 that padding might be
    expected = torch.stack([by_hand(name, row[:n]) for row, n in zip(x, LENGTHS, strict=True)])
    torch.testing.assert_close(POOLS[name](x, LENGTHS), expected, **EXACT)
    whole = torch.stack([by_hand(name, row) for row in x])
    torch.testing.assert_close(POOLS[name](x), whole, **EXACT)


@pytest.mark.parametrize("name", POOLS)
def test_nothing_of_the_padding_is_pooled_nor_gets_a_gradient(name):
    x = draw(B, T, D).requires_grad_()
    real = torch.arange(T) < LENGTHS[:, None]
    other = torch.where(real[..., None], x, 99.0)
    assert torch.equal(POOLS[name](other, LENGTHS), POOLS[name](x, LENGTHS))
    (gradient,) = torch.autograd.grad(POOLS[name](x, LENGTHS).sum(), x)
    assert not gradient[~real].any() and gradient[real].any()


@pytest.mark.parametrize("name", POOLS)
def test_nan_at_padding_is_pooled_by_none(name):
    x = draw(B, T, D)
    real = torch.arange(T) < LENGTHS[:, None]
    other = torch.where(real[..., None], x, torch.nan).requires_grad_()
    pooled = POOLS[name](other, LENGTHS)
    assert torch.equal(pooled, POOLS[name](x, LENGTHS))
    assert torch.autograd.grad(pooled.sum(), other)[0].isfinite().all()


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
@pytest.mark.parametrize(
    ("shape", "lengths", "says"),
    [
        ((2, 0, 3), None, r"\(2, 0, 3\)"),
        ((2, 3), None, r"\(2, 3\)"),
        ((2, 4, 3), torch.tensor([4, 5]), " 5,.* 4 "),
        ((2, 4, 3), torch.tensor([4, 0]), "length.* 0,"),
        ((2, 4, 3), torch.tensor([4, 1, 1]), r" 2 .*\(3,\)"),
        ((2, 4, 3), torch.tensor([4.0, 1.0]), " 2 .*float32"),
    ],
)
def test_what_cannot_be_pooled_is_refused(pool, shape, lengths, says):
    with pytest.raises(ValueError, match=says):
        pool(torch.ones(shape), lengths)


def test_cls_stands_before_each_text_and_counts():
    ids, lengths = with_cls(texts(), LENGTHS)
    assert torch.equal(ids[:, 1:], texts()) and (ids[:, 0] == BOS).all()
    assert torch.equal(lengths, LENGTHS + 1) and ids.dtype == torch.int64
    assert with_cls(texts())[1] is None
    with pytest.raises(ValueError, match=" 8,.* 7 "):
        with_cls(texts(), LENGTHS + 1)


# Models -------------------------------------------------------------------------------------------


@each_model
def test_padding_changes_no_answer(name):
    model = build(MODELS[name]())
    logits = model(texts(), LENGTHS)
    assert logits.shape == (B, C)
    for ids, length, expected in zip(texts(), LENGTHS, logits, strict=True):
        torch.testing.assert_close(model(ids[None, :length])[0], expected, **EXACT)
    longer, filled = F.pad(texts(), (0, 3), value=PAD), texts().masked_fill(texts() == PAD, 9)
    torch.testing.assert_close(model(longer, LENGTHS), logits, **EXACT)
    torch.testing.assert_close(model(filled, LENGTHS), logits, **EXACT)


@each_model
def test_only_a_bag_of_words_is_blind_to_order(name):
    model, ids = build(MODELS[name]()), torch.arange(4, V)[None]
    moved = (model(ids) - model(ids[:, [1, 0, 2, 3, 6, 5, 4]])).abs().max()
    assert moved < 1e-12 if name == "mean of embeddings" else moved > 1e-4


@each_model
def test_dropout_works_in_training_alone(name):
    base = MODELS[name]().double()
    if isinstance(base, TextClassifier):
        assert base.dropout.p == 0
        base.dropout.p = 0.5
    else:
        base = type(base)(config(n_heads=3, dropout=0.5), C).double()
    ids = texts()[:1]
    assert torch.equal(base.eval()(ids), base(ids))
    assert not torch.equal(base.train()(ids), base(ids))


def test_dropout_is_of_embeddings_and_of_what_was_pooled():
    model = MeanOfEmbeddings(V, D, C, dropout=0.5).double()
    seen = []
    model.dropout.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0].shape))
    model(texts(), LENGTHS)
    assert seen == [(B, T, D), (B, D)] and model.dropout.p == 0.5


def test_the_mean_of_embeddings_is_a_sum_of_words_that_vote():
    model = build(MODELS["mean of embeddings"]())
    votes = model.embedding.weight @ model.output.weight.T  # (V, C)
    expected = [votes[ids[:n]].mean(0) for ids, n in zip(texts(), LENGTHS, strict=True)]
    expected = torch.stack(expected) + model.output.bias
    torch.testing.assert_close(model(texts(), LENGTHS), expected, **EXACT)


def test_a_text_cnn_slides_its_kernels_over_the_words_alone():
    model = build(MODELS["text CNN"]())
    for ids, n, logits in zip(texts(), LENGTHS, model(texts(), LENGTHS), strict=True):
        kept = []
        for K, layer in zip(KERNELS, model.convolutions, strict=True):
            before, behind = (K - 1) // 2, K // 2
            x = F.pad(model.embedding.weight[ids[:n]], (0, 0, before, behind))  # zeros around
            windows = x.unfold(0, K, 1)  # (n, D, K)
            maps = torch.einsum("ndk,cdk->nc", windows, layer.weight) + layer.bias
            kept.append(maps.clamp(min=0).max(dim=0).values)
        expected = model.output.weight @ torch.cat(kept) + model.output.bias
        torch.testing.assert_close(logits, expected, **EXACT)


def test_a_bilstm_is_the_librarys_with_max_pooling():
    model = build(MODELS["BiLSTM"]())
    library = nn.LSTM(D, 4, batch_first=True, bidirectional=True).double()
    model.layer.load_library(library)
    for ids, n, logits in zip(texts(), LENGTHS, model(texts(), LENGTHS), strict=True):
        outputs, _ = library(model.embedding.weight[ids[:n]][None])
        torch.testing.assert_close(logits, model.output(outputs[0].max(0).values), **EXACT)


@pytest.mark.parametrize("pool", [mean_pool, max_pool])
def test_a_transformer_is_the_librarys_encoder_and_what_is_pooled(pool):
    model = build(EncoderOnly(config(n_heads=2, positions=None, norm="post"), C, pool=pool))
    layer = nn.TransformerEncoderLayer(D, 2, 10, 0.0, batch_first=True)
    library = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).double().eval()
    model.encoder.load_library(library)
    x = model.encoder.embedding(texts())
    read = library(x, src_key_padding_mask=texts() == PAD)
    torch.testing.assert_close(model(texts(), LENGTHS), model.output(pool(read, LENGTHS)), **EXACT)


def test_cls_is_read_off_and_looked_at():
    model = build(MODELS["Transformer, [CLS]"]())
    logits, weights = model(texts(), LENGTHS, need_weights=True)
    assert weights.shape == (B, 2, 3, T + 1, T + 1)
    x, expected = model.encoder(*with_cls(texts(), LENGTHS), need_weights=True)
    torch.testing.assert_close(logits, model.output(x[:, 0]), **EXACT)
    torch.testing.assert_close(weights, expected, **EXACT)
    assert (weights[:, :, :, 1, 0] > 0).all()  # words see [CLS]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: MeanOfEmbeddings(V, D, 0), "n_classes.* 0"),
        (lambda: MeanOfEmbeddings(V, 0, C), "d_model.* 0"),
        (lambda: MeanOfEmbeddings(V, D, C, dropout=1.0), "dropout.*1.0"),
        (lambda: TextCNN(V, D, C, channels=0), "channels.* 0"),
        (lambda: TextCNN(V, D, C, kernel_sizes=(3, 0)), r"kernel_sizes\[1\].* 0"),
        (lambda: TextCNN(V, D, C, kernel_sizes=()), "width.* 0"),
    ],
)
def test_models_that_cannot_be_built_are_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()


@each_model
def test_texts_that_cannot_be_read_are_refused(name):
    model = build(MODELS[name]())
    for ids, lengths, says in [
        (torch.full((2, 3), V), None, f" {V - 1} .* {V}"),
        (torch.ones(2, 3), None, "float32"),
        (torch.ones(2, 0, dtype=torch.int64), None, rf"\(2, 0, {D}\)"),
        (torch.ones(2, 3, dtype=torch.int64), torch.tensor([4, 1]), " 4,.* 3 "),
    ]:
        if name == "Transformer, [CLS]" and ids.numel() == 0:
            continue  # a text of [CLS] alone
        with pytest.raises(ValueError, match=says):
            model(ids, lengths)


def test_a_kind_without_a_read_says_so():
    with pytest.raises(NotImplementedError):
        TextClassifier(V, D, D, C, mean_pool, 0.0)(texts())


# Calibration --------------------------------------------------------------------------------------


def sure(*confidences: float) -> torch.Tensor:
    """Logits of two classes that say class 1 with these probabilities."""
    p = torch.tensor(confidences, dtype=torch.float64)
    return torch.stack([(1 - p).log(), p.log()], dim=1)


def test_calibration_by_hand():
    logits, labels = sure(0.95, 0.93, 0.72, 0.61, 0.55, 0.52), torch.tensor([1, 1, 0, 1, 0, 0])
    bins = reliability(logits, labels, n_bins=10)
    torch.testing.assert_close(
        bins.confidence, torch.tensor([0.535, 0.61, 0.72, 0.94], dtype=torch.float64), **EXACT
    )
    assert bins.accuracy.tolist() == [0, 1, 0, 1] and bins.count.tolist() == [2, 1, 1, 2]
    by_hand = (2 * 0.535 + 0.39 + 0.72 + 2 * 0.06) / 6
    assert expected_calibration_error(logits, labels, 10) == pytest.approx(by_hand, abs=1e-12)
    one_bin = abs((0.95 + 0.93 + 0.72 + 0.61 + 0.55 + 0.52) / 6 - 0.5)
    assert expected_calibration_error(logits, labels, 1) == pytest.approx(one_bin, abs=1e-12)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    logits = torch.tensor([[0.0, 0.0], [0.0, 9.0]])
    assert reliability(logits, torch.tensor([0, 1]), 2).count.tolist() == [1, 1]


def test_calibration_equals_a_loop_over_bins():
    logits, labels = 2 * draw(500, 4), torch.randint(4, (500,), generator=torch.manual_seed(1))
    p, said = logits.softmax(1).max(1)
    total = 0.0
    for m in range(1, 16):
        held = ((m - 1) / 15 < p) & (p <= m / 15)
        if held.any():
            accuracy = (said == labels)[held].double().mean()
            total += held.double().mean() * (accuracy - p[held].mean()).abs()
    assert expected_calibration_error(logits, labels) == pytest.approx(float(total), abs=1e-12)
    assert reliability(logits, labels).count.sum() == 500


def test_a_temperature_has_the_lowest_cross_entropy_and_never_changes_what_is_said():
    logits = 5 * draw(400, 3)
    truth = (logits / 3.5).softmax(1)  # three and a half times too sure
    labels = torch.multinomial(truth, 1, generator=torch.manual_seed(0))[:, 0]
    tau = fit_temperature(logits, labels)
    assert 2.5 < tau < 4.5
    losses = [F.cross_entropy(logits / t, labels) for t in (tau, 0.99 * tau, 1.01 * tau)]
    assert losses[0] < min(losses[1:])
    assert torch.equal((logits / tau).argmax(1), logits.argmax(1))
    errors = [expected_calibration_error(z, labels) for z in (logits / tau, logits)]
    assert errors[0] < errors[1] / 3


@pytest.mark.parametrize("scale", [1e-3, 0.2, 1.0, 40.0])
def test_a_temperature_grows_with_the_logits(scale):
    logits, labels = draw(60, 3), torch.randint(3, (60,), generator=torch.manual_seed(4))
    logits[torch.arange(60), labels] += 1.5
    tau = fit_temperature(logits, labels)
    assert fit_temperature(scale * logits, labels) == pytest.approx(scale * tau, rel=1e-9)
    log_tau = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([log_tau], max_iter=200, tolerance_grad=1e-12)

    def closure():
        optimiser.zero_grad()
        loss = F.cross_entropy(logits / log_tau.exp(), labels)
        loss.backward()
        return loss

    optimiser.step(closure)
    assert tau == pytest.approx(log_tau.exp().item(), rel=1e-5)


@pytest.mark.parametrize(
    ("logits", "labels", "says"),
    [
        (torch.ones(3), torch.tensor([0, 1, 0]), r"\(3,\)"),
        (torch.ones(0, 2), torch.ones(0, dtype=torch.int64), r"\(0, 2\)"),
        (torch.ones(3, 2), torch.tensor([0, 1]), r" 3 .*\(2,\)"),
        (torch.ones(2, 2), torch.tensor([0.0, 1.0]), " 2 .*float32"),
        (torch.ones(2, 2), torch.tensor([0, 2]), "Labels.* 0 .* 1 "),
        (torch.ones(2, 2), torch.tensor([-1, 0]), "Labels.* 0 .* 1 "),
    ],
)
def test_what_cannot_be_calibrated_is_refused(logits, labels, says):
    for of in (reliability, expected_calibration_error, fit_temperature):
        with pytest.raises(ValueError, match=says):
            of(logits, labels)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_logits_that_are_no_numbers_are_not_calibrated(bad):
    logits = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, bad], [1.0, 0.0, 2.0]])
    for of in (reliability, expected_calibration_error, fit_temperature):
        with pytest.raises(ValueError, match="NaN"):
            of(logits, torch.tensor([1, 1, 2]))


def test_a_class_that_is_ruled_out_has_no_temperature_but_a_calibration():
    logits = torch.tensor([[2.0, 1.0, -torch.inf], [0.0, 3.0, -torch.inf], [1.0, 0.0, -torch.inf]])
    labels = torch.tensor([0, 1, 1])
    with pytest.raises(ValueError, match="infinite"):
        fit_temperature(logits, labels)
    found, two = reliability(logits, labels), reliability(logits[:, :2], labels)
    assert all(torch.equal(a, b) for a, b in zip(found, two, strict=True))


def test_no_temperature_is_best_for_a_model_without_errors_or_without_merit():
    logits = torch.tensor([[2.0, 1.0], [0.0, 3.0]])
    with pytest.raises(ValueError, match="smallest temperature"):
        fit_temperature(logits, torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="largest temperature"):
        fit_temperature(logits, torch.tensor([1, 0]))
    with pytest.raises(ValueError, match="n_bins.* 0"):
        reliability(logits, torch.tensor([0, 1]), 0)


# Which words decided ------------------------------------------------------------------------------

TEXT = torch.tensor([5, 9, 4, 8, 6])
WHO = {
    "leave-one-out": lambda model, text: leave_one_out(model, text, 1),
    "gradient × input": lambda model, text: gradient_times_input(
        model, model.encoder.embedding.symbols, text, 1
    ),
    "|gradient|": lambda model, text: gradient_length(
        model, model.encoder.embedding.symbols, text, 1
    ),
    "attention": attention_received,
    "attention, last layer": lambda model, text: attention_received(model, text, slice(-1, None)),
    "rollout": attention_rollout,
}


class Votes(nn.Module):
    """Each word has a vote for each class; they are summed up."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, C, dtype=torch.float64)

    def forward(self, ids: torch.Tensor, lengths: None = None) -> torch.Tensor:
        return self.embedding(ids).sum(dim=1)


def test_of_votes_every_way_finds_the_votes():
    model = build(Votes())
    votes = model.embedding.weight.detach()[TEXT]  # (T, C)
    by_gradient = gradient_times_input(model, model.embedding, TEXT, 1)
    torch.testing.assert_close(by_gradient, votes[:, 1], **EXACT)
    one, other = (leave_one_out(model, TEXT, label) for label in (1, 2))
    torch.testing.assert_close(one - other, votes[:, 1] - votes[:, 2], **EXACT)


@pytest.mark.parametrize("name", ["text CNN", "BiLSTM", "Transformer", "Transformer, [CLS]"])
def test_leave_one_out_reads_each_shorter_text(name):
    model = build(MODELS[name]())
    whole = model(TEXT[None]).softmax(1)[0, 2].log()
    for t, score in enumerate(leave_one_out(model, TEXT, 2)):
        shorter = torch.tensor([id for place, id in enumerate(TEXT.tolist()) if place != t])
        torch.testing.assert_close(
            score, whole - model(shorter[None]).softmax(1)[0, 2].log(), **EXACT
        )


@pytest.mark.parametrize("name", ["text CNN", "BiLSTM", "Transformer", "Transformer, [CLS]"])
def test_gradient_times_input_is_the_slope_as_a_word_fades(name):
    model = build(MODELS[name]())
    encoder = getattr(model, "encoder", None)
    embedding = model.embedding if encoder is None else encoder.embedding.symbols
    scores = gradient_times_input(model, embedding, TEXT, 0)
    in_front, step = name == "Transformer, [CLS]", 1e-6
    for t, score in enumerate(scores):
        logits = []
        for change in (-step, step):
            factor = torch.ones(len(TEXT) + in_front, 1, dtype=torch.float64)
            factor[t + in_front] += change
            hook = embedding.register_forward_hook(lambda m, i, x, factor=factor: factor * x)
            logits.append(model(TEXT[None])[0, 0])
            hook.remove()
        slope = (logits[1] - logits[0]) / (2 * step)
        torch.testing.assert_close(score, slope, rtol=0, atol=1e-7)
    assert not embedding._forward_hooks and scores.shape == TEXT.shape


@pytest.mark.parametrize("name", ["BiLSTM", "Transformer, [CLS]"])
def test_the_gradients_length_is_the_steepest_slope(name):
    model = build(MODELS[name]())
    encoder = getattr(model, "encoder", None)
    embedding = model.embedding if encoder is None else encoder.embedding.symbols
    with torch.no_grad():  # as where a trained model is looked at
        lengths = gradient_length(model, embedding, TEXT, 2)
    assert lengths.shape == TEXT.shape
    table = embedding.weight.detach().clone().requires_grad_()  # no word comes twice

    def logit(rows: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, {name_of(model, embedding): rows}, (TEXT[None],))

    (slopes,) = torch.autograd.grad(logit(table)[0, 2], table)
    scale = 1 if encoder is None else math.sqrt(D)  # by which the table's rows are multiplied
    torch.testing.assert_close(lengths, slopes[TEXT].norm(dim=1) / scale, **EXACT)


def name_of(model: nn.Module, embedding: nn.Module) -> str:
    (name,) = [name for name, w in model.named_parameters() if w is embedding.weight]
    return name


def test_a_hook_is_taken_away_also_when_the_model_fails():
    model = build(MODELS["Transformer"]())
    embedding = model.encoder.embedding.symbols
    with pytest.raises(ValueError, match=f" {V - 1} .* {V}"):
        gradient_times_input(model, embedding, torch.tensor([V]), 0)
    assert not embedding._forward_hooks


@pytest.mark.parametrize("name", ["Transformer", "Transformer, [CLS]"])
def test_attention_is_that_of_what_is_pooled(name):
    model = build(MODELS[name]())
    weights = model(TEXT[None], need_weights=True)[1][0]  # (L, h, S, S)
    L, h, S, _ = weights.shape
    queries, first = (range(1), 1) if name == "Transformer, [CLS]" else (range(S), 0)
    for layers in (slice(None), slice(-1, None), slice(0, 1)):
        received = attention_received(model, TEXT, layers)
        for t, score in enumerate(received):
            looks = [
                weights[layer, head, query, first + t]
                for layer in range(L)[layers]
                for head in range(h)
                for query in queries
            ]
            torch.testing.assert_close(score, torch.stack(looks).mean(), **EXACT)
    if name == "Transformer":
        assert attention_received(model, TEXT).sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["Transformer", "Transformer, [CLS]"])
def test_rollout_multiplies_the_layers(name):
    model = build(MODELS[name]())
    first, second = model(TEXT[None], need_weights=True)[1][0].mean(dim=1)
    eye = torch.eye(len(first), dtype=torch.float64)
    shares = (second / 2 + eye / 2) @ (first / 2 + eye / 2)
    expected = shares[0, 1:] if name == "Transformer, [CLS]" else shares.mean(0)
    torch.testing.assert_close(attention_rollout(model, TEXT), expected, **EXACT)
    assert shares.sum(1).tolist() == pytest.approx([1] * len(first))


@pytest.mark.parametrize("way", WHO.values(), ids=WHO)
def test_a_text_that_is_none_is_refused(way):
    model = build(MODELS["Transformer"]())
    for text, says in ((TEXT[None], r"\(1, 5\)"), (TEXT.double(), "float64")):
        with pytest.raises(ValueError, match=says):
            way(model, text)
    with pytest.raises(ValueError, match="0 words"):
        way(model, TEXT[:0])


def test_nothing_can_be_left_out_of_one_word():
    with pytest.raises(ValueError, match=" 1 .* 2:"):
        leave_one_out(build(MODELS["Transformer"]()), TEXT[:1], 0)


def test_no_way_leaves_gradients_behind():
    model = build(MODELS["Transformer"]())
    for way in WHO.values():
        assert not way(model, TEXT).requires_grad
    assert all(weight.grad is None for weight in model.parameters())


def test_any_recurrent_layer_will_do():
    model = build(RecurrentClassifier(V, GRU(D, 4), C))
    outputs, _ = model.layer(model.embedding(texts()), lengths=LENGTHS)
    torch.testing.assert_close(
        model(texts(), LENGTHS), model.output(max_pool(outputs, LENGTHS)), **EXACT
    )
