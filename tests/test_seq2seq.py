"""Encoder, decoders and searches equal loops over single sentences; padding changes nothing."""

import itertools
import math
import re

import pytest
import torch
from torch import nn

from utils.data import text
from utils.seq2seq import (
    BOS,
    EOS,
    PAD,
    Decoder,
    Encoder,
    Seq2Seq,
    Seq2SeqConfig,
    beam_search,
    forced_weights,
    greedy_decode,
    sequence_loss,
    shift,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}
V_SOURCE, V_TARGET, D, N = 9, 7, 5, 6
LENGTHS = torch.tensor([4, 1, 6])  # of S = 6 symbols
TARGET_LENGTHS = torch.tensor([2, 5, 3])  # of T = 5
CONFIGS = {
    f"{layer} {attention} {style} {window}": {
        "layer": layer,
        "attention": attention,
        "style": style,
        "window": window,
    }
    for layer, attention, style, window in [
        ("GRU", None, "Bahdanau", None),
        ("LSTM", None, "Luong", None),
        ("GRU", "additive", "Bahdanau", None),
        ("LSTM", "general", "Bahdanau", None),
        ("RNN", "concat", "Bahdanau", 2),
        ("GRU", "scaled dot", "Luong", None),
        ("LSTM", "dot", "Luong", None),
        ("RNN", "additive", "Luong", None),
        ("GRU", "general", "Luong", 2),
    ]
}
each_model = pytest.mark.parametrize("choices", CONFIGS.values(), ids=CONFIGS)
attending = {name: choices for name, choices in CONFIGS.items() if choices["attention"]}
each_attending = pytest.mark.parametrize("choices", attending.values(), ids=attending)


def build(choices: dict | None = None, seed: int = 0, peak: float = 1.0, **sizes) -> Seq2Seq:
    """Make a model in double precision; `peak` sharpens what it predicts."""
    torch.manual_seed(seed)
    settings = {
        "source_vocab_size": V_SOURCE,
        "target_vocab_size": V_TARGET,
        "d_model": D,
        "hidden_size": N,
        **(choices or {}),
        **sizes,
    }
    model = Seq2Seq(Seq2SeqConfig(**settings)).double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    with torch.no_grad():
        model.decoder.output.weight.mul_(peak)
    return model


def ids(lengths: torch.Tensor, vocab_size: int, size: int, seed: int = 0) -> torch.Tensor:
    """Draw padded sentences of symbols other than PAD, BOS and EOS."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(3, vocab_size, (len(lengths), size), generator=generator)
    return drawn.masked_fill(torch.arange(size) >= lengths[:, None], PAD)


def batch(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    source = ids(LENGTHS, V_SOURCE, 6, seed)
    target = ids(TARGET_LENGTHS, V_TARGET, 5, seed + 1)
    target[torch.arange(3), TARGET_LENGTHS - 1] = EOS
    return source, LENGTHS, target


# A sentence at a time, with the library's cells ---------------------------------------------------


def library_weights(layer: nn.Module) -> tuple[torch.Tensor, ...]:
    """Return weight_ih, weight_hh, bias_ih and bias_hh of the library's layer like ours."""
    bias_hh = torch.zeros_like(layer.b)
    if hasattr(layer, "b_n"):
        bias_hh = torch.cat([bias_hh[: -len(layer.b_n)], layer.b_n])
    return layer.W_x, layer.W_h, layer.b, bias_hh


def cell(layer: nn.Module, x, state, extra=None):
    """Take one step with the library's cell and our weights; extra: (a context, its matrix)."""
    W_ih, *weights = library_weights(layer)
    if extra is not None:
        x, W_ih = torch.cat([x, extra[0]]), torch.cat([W_ih, extra[1]], dim=1)
    weights = (W_ih, *weights)
    kind = type(layer).__name__
    if kind == "LSTM":
        h, c = torch.lstm_cell(x[None], [part[None] for part in state], *weights)
        return h[0], c[0]
    step = torch.gru_cell if kind == "GRU" else torch.rnn_tanh_cell
    return step(x[None], state[None], *weights)[0]


def seen(state):
    return state[0] if isinstance(state, tuple) else state


def naive_encode(encoder: Encoder, sentence: torch.Tensor):
    """Read one unpadded sentence; return its annotations (S, N) and the last states together."""
    x = encoder.embedding.weight[sentence]
    sides = []
    for layer, order in ((encoder.layer.ahead, 1), (encoder.layer.back, -1)):
        zero = torch.zeros(N // 2, dtype=x.dtype)
        state = (zero, zero) if type(layer).__name__ == "LSTM" else zero
        states = []
        for j in range(len(sentence))[::order]:
            state = cell(layer, x[j], state)
            states.append(seen(state))
        sides.append((torch.stack(states[::order]), state))
    (forward, last), (backward, first) = sides
    if isinstance(last, tuple):
        final = tuple(torch.cat(parts) for parts in zip(last, first, strict=True))
    else:
        final = torch.cat([last, first])
    return torch.cat([forward, backward], dim=1), final


def naive_look(attention: nn.Module, s: torch.Tensor, annotations: torch.Tensor):
    """Look at one sentence with one state; return the context and the weights."""
    score, kind = attention.score, type(attention.score).__name__
    scores = []
    for h in annotations:
        if kind == "AdditiveScore":
            scores.append(score.v @ torch.tanh(score.W_a.weight @ s + score.U_a.weight @ h))
        elif kind == "ConcatScore":
            scores.append(score.v @ torch.tanh(score.W.weight @ torch.cat([s, h])))
        elif kind == "GeneralScore":
            scores.append(s @ score.W_a.weight @ h)
        else:
            scores.append(s @ h / (math.sqrt(N) if kind == "ScaledDotScore" else 1))
    scores = torch.stack(scores)
    if (window := getattr(attention, "window", None)) is None:
        weights = scores.softmax(0)
    else:
        W_p, v = attention.position[0].weight, attention.position[2].weight[0]
        distance = torch.arange(len(scores)) - len(scores) * torch.sigmoid(v @ torch.tanh(W_p @ s))
        align = scores.masked_fill(distance.abs() > window, -math.inf).softmax(0)
        weights = align * torch.exp(-(distance**2) / (2 * (window / 2) ** 2))
    return weights @ annotations, weights


def naive_run(model: Seq2Seq, sentence: torch.Tensor, target_in: torch.Tensor):
    """Return the logits (T, V) and the weights (T, S) of one unpadded pair."""
    decoder, style = model.decoder, type(model.decoder).__name__
    annotations, final = naive_encode(model.encoder, sentence)
    finals = final if isinstance(final, tuple) else (final,)
    state = tuple(
        torch.tanh(bridge.weight @ part + bridge.bias)
        for bridge, part in zip(decoder.bridge, finals, strict=True)
    )
    state = state if isinstance(final, tuple) else state[0]
    logits, alignment = [], []
    for symbol in target_in:
        x = decoder.embedding.weight[symbol]
        if style == "Decoder":
            state = cell(decoder.layer, x, state)
            features = seen(state)
        else:
            if style == "LuongDecoder":
                state = cell(decoder.layer, x, state)
                context, weights = naive_look(decoder.attention, seen(state), annotations)
            else:
                context, weights = naive_look(decoder.attention, seen(state), annotations)
                state = cell(decoder.layer, x, state, (context, decoder.C.weight))
            W_c = decoder.combine
            features = torch.tanh(W_c.weight @ torch.cat([context, seen(state)]) + W_c.bias)
            alignment.append(weights)
        logits.append(decoder.output.weight @ features + decoder.output.bias)
    return torch.stack(logits), torch.stack(alignment) if alignment else None


def naive_batch(model: Seq2Seq, source, lengths, target):
    """Return, sentence by sentence, the logits and weights up to each target's end."""
    return [
        naive_run(model, s[:n], shift(t[None])[0, : (t != PAD).sum()])
        for s, n, t in zip(source, lengths, target, strict=True)
    ]


@each_model
def test_the_model_equals_single_unpadded_sentences(choices):
    model = build(choices)
    source, lengths, target = batch()
    attends = choices["attention"] is not None
    results = []
    for run in ("batch", "naive"):
        if run == "batch":
            logits = model(source, lengths, shift(target), need_weights=attends)
            logits, weights = logits if attends else (logits, None)
            logits = logits[target != PAD]  # (symbols, V)
        else:
            single = naive_batch(model, source, lengths, target)
            logits = torch.cat([part for part, _ in single])
        generator = torch.Generator().manual_seed(1)
        weighting = torch.randn(logits.shape, generator=generator, dtype=logits.dtype)
        gradients = torch.autograd.grad((weighting * logits).sum(), list(model.parameters()))
        results.append([logits, *gradients])
    for ours, naive in zip(*results, strict=True):
        assert ours.abs().max() > 1e-3
        torch.testing.assert_close(ours, naive, **EXACT)
    if attends:
        for b, (_, alignment) in enumerate(single):
            T, S = alignment.shape
            torch.testing.assert_close(weights[b, :T, :S], alignment, **EXACT)
            assert torch.all(weights[b, :, S:] == 0)


@pytest.mark.parametrize("layer", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize("lengths", [[4, 1, 6], [6, 6, 6], [3, 2, 3]])
def test_the_encoder_equals_the_librarys_layer_on_packed_sentences(layer, lengths):
    encoder, lengths = build({"layer": layer}).encoder, torch.tensor(lengths)
    library = getattr(nn, layer)(D, N // 2, batch_first=True, bidirectional=True).double()
    encoder.layer.load_library(library)
    source = ids(lengths, V_SOURCE, 6)
    annotations, final = encoder(source, lengths)
    x = encoder.embedding(source)
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    theirs, last = library(packed)
    theirs, _ = nn.utils.rnn.pad_packed_sequence(theirs, batch_first=True, total_length=6)
    final, last = (list(f) if isinstance(f, tuple) else [f] for f in (final, last))
    last = [part.transpose(0, 1).flatten(1) for part in last]  # (2, B, N/2) to (B, N)
    results = []
    for results_of in ([annotations, *final], [theirs, *last]):
        generator = torch.Generator().manual_seed(1)
        total = sum(
            (torch.randn(y.shape, generator=generator, dtype=y.dtype) * y).sum() for y in results_of
        )
        gradient = torch.autograd.grad(total, encoder.embedding.weight, retain_graph=True)
        results.append([*results_of, *gradient])
    for ours, library in zip(*results, strict=True):
        assert ours.abs().max() > 0
        torch.testing.assert_close(ours, library, **EXACT)


# Padding ------------------------------------------------------------------------------------------


@each_model
def test_what_stands_in_the_padding_changes_nothing(choices):
    model = build(choices)
    source, lengths, target = batch()
    before = model(source, lengths, shift(target))
    noise = ids(torch.full_like(lengths, 6), V_SOURCE, 6, seed=9)
    perturbed = torch.where(source == PAD, noise, source)
    assert (perturbed != source).any()
    torch.testing.assert_close(model(perturbed, lengths, shift(target)), before, **EXACT)
    longer = torch.cat([perturbed, noise], dim=1)  # twice as wide
    torch.testing.assert_close(model(longer, lengths, shift(target)), before, **EXACT)
    for decode in (
        lambda s: greedy_decode(model, s, lengths, 5),
        lambda s: beam_search(model, s, lengths, 3, 5)[0],
    ):
        assert torch.equal(decode(source), decode(longer))
    changed = source.clone()
    changed[:, 0] = (source[:, 0] - 2) % 6 + 3
    assert (model(changed, lengths, shift(target)) - before).abs().amax((1, 2)).min() > 1e-6


@each_model
def test_the_order_of_the_batch_changes_nothing(choices):
    model = build(choices)
    source, lengths, target = batch()
    order = torch.tensor([2, 0, 1])
    before = model(source, lengths, shift(target))
    after = model(source[order], lengths[order], shift(target[order]))
    torch.testing.assert_close(after, before[order], **EXACT)


def test_the_loss_is_the_mean_over_symbols_not_over_places():
    logits = build()(*batch()[:2], shift(batch()[2])).detach()
    target = batch()[2]
    terms = [
        -logits[b, t].log_softmax(0)[target[b, t]]
        for b in range(3)
        for t in range(TARGET_LENGTHS[b])
    ]
    expected = sum(terms) / len(terms)
    assert len(terms) == 10
    torch.testing.assert_close(sequence_loss(logits, target), expected, **EXACT)


def test_more_padding_leaves_loss_and_gradients_equal():
    model = build()
    source, lengths, target = batch()
    results = []
    for width in (0, 4):
        padded = nn.functional.pad(target, (0, width), value=PAD)
        loss = sequence_loss(model(source, lengths, shift(padded)), padded)
        results.append([loss, *torch.autograd.grad(loss, list(model.parameters()))])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


def test_the_decoder_is_fed_the_symbol_before_each_target():
    target = torch.tensor([[5, 6, EOS, PAD], [4, EOS, PAD, PAD]])
    assert shift(target).tolist() == [[BOS, 5, 6, EOS], [BOS, 4, EOS, PAD]]
    logits = torch.zeros(1, 3, 8, dtype=torch.float64)
    logits[0, range(3), [5, 6, EOS]] = 50  # predicts each symbol in its own place
    assert sequence_loss(logits, target[:1, :3]) < 1e-6
    assert sequence_loss(logits, shift(target[:1, :3])) > 10


# Decoding -----------------------------------------------------------------------------------------


@each_model
def test_step_by_step_equals_teacher_forcing(choices):
    model = build(choices)
    attends = choices["attention"] is not None
    source, lengths, target = batch()
    at_once = model(source, lengths, shift(target), need_weights=attends)
    logits, weights = at_once if attends else (at_once, None)
    state, memory = model.encode(source, lengths)
    for t, symbol in enumerate(shift(target).unbind(1)):
        step, state, w = model.decoder(symbol[:, None], state, memory, attends)
        torch.testing.assert_close(step[:, 0], logits[:, t], **EXACT)
        if attends:
            torch.testing.assert_close(w[:, 0], weights[:, t], **EXACT)


@each_attending
def test_weights_come_when_asked_for_and_change_nothing(choices):
    model = build(choices)
    source, lengths, target = batch()
    logits, weights = model(source, lengths, shift(target), need_weights=True)
    torch.testing.assert_close(model(source, lengths, shift(target)), logits, **EXACT)
    assert model.decoder(shift(target), *model.encode(source, lengths))[2] is None
    assert weights.shape == (3, 5, 6)
    assert torch.all(weights.masked_fill(source[:, None] != PAD, 0) == 0)
    sums = weights.sum(-1)
    if choices["window"] is None:
        torch.testing.assert_close(sums, torch.ones_like(sums), **EXACT)
    else:  # a Gaussian scales them
        assert torch.all(sums <= 1)


def naive_log_p(model: Seq2Seq, sentence: torch.Tensor, beginning: list[int]) -> torch.Tensor:
    """Return log p (V,) of the symbol after a beginning; PAD and BOS can't be chosen."""
    with torch.no_grad():
        logits, _ = naive_run(model, sentence, torch.tensor([BOS, *beginning]))
    log_p = logits[-1].log_softmax(0)
    log_p[[PAD, BOS]] = -math.inf
    return log_p


@each_model
@pytest.mark.parametrize("max_len", [1, 6])
def test_greedy_decoding_equals_a_loop_over_sentences(choices, max_len):
    ends = set()
    for seed in range(5):
        model = build(choices, seed=seed, peak=3)
        source, lengths, _ = batch(seed)
        decoded = greedy_decode(model, source, lengths, max_len)
        expected = []
        for sentence, n in zip(source, lengths, strict=True):
            symbols: list[int] = []
            while len(symbols) < max_len and EOS not in symbols:
                symbols.append(int(naive_log_p(model, sentence[:n], symbols).argmax()))
            expected.append(symbols)
        longest = max(map(len, expected))
        assert decoded.tolist() == [s + [PAD] * (longest - len(s)) for s in expected]
        ends |= {len(s) for s in expected}
    assert max_len == 1 or len(ends) > 1  # the batch went on after some had ended


@each_attending
def test_forced_weights_are_those_of_teacher_forcing_without_dropout(choices):
    source, lengths, target = batch()
    _, expected = build(choices)(source, lengths, shift(target), need_weights=True)
    model = build(choices, dropout=0.5)
    weights = forced_weights(model, source, lengths, target)
    torch.testing.assert_close(weights, expected, **EXACT)
    assert model.training and not weights.requires_grad


@each_attending
def test_the_alignment_of_greedy_decoding_is_that_of_teacher_forcing(choices):
    model = build(choices, seed=1, peak=3)
    source, lengths, _ = batch(1)
    decoded, weights = greedy_decode(model, source, lengths, 6, need_weights=True)
    assert torch.equal(decoded, greedy_decode(model, source, lengths, 6))
    _, forced = model(source, lengths, shift(decoded), need_weights=True)
    expected = forced.masked_fill((decoded == PAD)[..., None], 0)
    torch.testing.assert_close(weights, expected, **EXACT)


def naive_beam_search(model, sentence, width, max_len, length_penalty):
    """Search one sentence with lists, without stopping early."""
    beam, finished = [(0.0, [])], []
    for _ in range(max_len):
        candidates = [
            (score + float(log_p[v]), symbols + [v])
            for score, symbols in beam
            for log_p in [naive_log_p(model, sentence, symbols)]
            for v in range(V_TARGET)
            if v not in (PAD, BOS)
        ]
        candidates = sorted(candidates, reverse=True)[:width]
        finished += [c for c in candidates if c[1][-1] == EOS]
        beam = [c for c in candidates if c[1][-1] != EOS]
    best = [
        (score / len(symbols) ** length_penalty, symbols) for score, symbols in finished or beam
    ]
    return max(best)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("width", [1, 2, 3, 11])
def test_beam_search_equals_a_search_over_lists(width, length_penalty):
    for seed, choices in enumerate([CONFIGS["GRU additive Bahdanau None"], *CONFIGS.values()][:4]):
        model = build(choices, seed=seed, peak=1.5)
        source, lengths, _ = batch(seed)
        decoded, scores = beam_search(model, source, lengths, width, 4, length_penalty)
        for b, n in enumerate(lengths):
            score, symbols = naive_beam_search(model, source[b, :n], width, 4, length_penalty)
            assert [v for v in decoded[b].tolist() if v != PAD] == symbols
            assert scores[b].item() == pytest.approx(score, abs=1e-9)
        assert decoded.shape[1] == (decoded != PAD).sum(1).max()


@each_model
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_beam_of_one_is_greedy_decoding(choices, length_penalty):
    for seed in range(3):
        model = build(choices, seed=seed, peak=2)
        source, lengths, _ = batch(seed)
        greedy = greedy_decode(model, source, lengths, 7)
        decoded, _ = beam_search(model, source, lengths, 1, 7, length_penalty)
        assert torch.equal(decoded, greedy)


@pytest.mark.parametrize("length_penalty", [0.0, 0.7, 1.0, 3.0])
def test_a_beam_as_wide_as_all_sequences_finds_the_best_of_them(length_penalty):
    vocab_size, max_len = 5, 4
    symbols = range(EOS + 1, vocab_size)
    targets = [
        [*beginning, EOS]
        for length in range(max_len)
        for beginning in itertools.product(symbols, repeat=length)
    ]
    assert len(targets) == 2**4 - 1
    beaten = set()
    for seed in range(3):
        model = build(seed=seed, peak=1, target_vocab_size=vocab_size)
        source, lengths, _ = batch(seed)
        decoded, scores = beam_search(
            model, source, lengths, vocab_size**max_len, max_len, length_penalty
        )
        for b, n in enumerate(lengths):
            rated = []
            for target in targets:
                row = torch.tensor(target)
                with torch.no_grad():
                    logits, _ = naive_run(model, source[b, :n], shift(row[None])[0])
                log_p = logits.log_softmax(-1)[range(len(row)), row].sum().item()
                rated.append((log_p / len(row) ** length_penalty, target))
            score, best = max(rated)
            assert [v for v in decoded[b].tolist() if v != PAD] == best
            assert scores[b].item() == pytest.approx(score, abs=1e-9)
            greedy = [v for v in greedy_decode(model, source, lengths, max_len)[b].tolist() if v]
            beaten.add(greedy != best)
    assert True in beaten  # the search was needed


def test_a_longer_target_can_win_only_where_lengths_are_normalised():
    lengths_found = []
    for length_penalty in (0.0, 4.0):
        model = build(seed=3)
        source, lengths, _ = batch(3)
        decoded, _ = beam_search(model, source, lengths, 500, 5, length_penalty)
        lengths_found.append((decoded != PAD).sum().item())
    assert lengths_found[0] < lengths_found[1]


def test_what_max_len_cuts_off_is_returned_if_nothing_has_ended():
    model = build()
    with torch.no_grad():
        model.decoder.output.bias[EOS] = -100
    source, lengths, _ = batch()
    for width in (1, 3):
        decoded, scores = beam_search(model, source, lengths, width, 4, 1.0)
        assert decoded.shape == (3, 4) and torch.all(decoded > EOS) and scores.isfinite().all()
        assert torch.all(greedy_decode(model, source, lengths, 4) > EOS)


def test_neither_padding_nor_the_start_is_ever_chosen():
    model = build()
    with torch.no_grad():
        model.decoder.output.bias[[PAD, BOS]] = 100
    source, lengths, _ = batch()
    assert BOS not in greedy_decode(model, source, lengths, 5)
    decoded, scores = beam_search(model, source, lengths, 3, 5)
    assert BOS not in decoded and torch.all(decoded[:, 0] != PAD) and scores.isfinite().all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_logits_that_are_no_numbers_stop_the_search(bad):
    model = build()
    with torch.no_grad():
        model.decoder.output.bias[-1] = bad
    source, lengths, target = batch()
    for search in (
        lambda: greedy_decode(model, source, lengths, 4),
        lambda: beam_search(model, source, lengths, 2, 4),
        lambda: forced_weights(model, source, lengths, target),
    ):
        with pytest.raises(ValueError, match="NaN"):
            search()


def test_a_search_without_a_source_is_refused():
    model = build()
    source, lengths, _ = batch()
    for search in (
        lambda: greedy_decode(model, source[:0], lengths[:0], 4),
        lambda: beam_search(model, source[:0], lengths[:0], 2, 4),
    ):
        with pytest.raises(ValueError, match="no source"):
            search()


# Mixed precision, compiled, empty -----------------------------------------------------------------


@each_model
def test_a_model_trains_and_decodes_in_mixed_precision(choices):
    model = build(choices).float()
    source, lengths, target = batch()
    results = []
    for enabled in (True, False):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            logits = model(source, lengths, shift(target))
            loss = sequence_loss(logits, target)
            greedy = greedy_decode(model, source, lengths, 4)
            beam, score = beam_search(model, source, lengths, 2, 4)
        assert greedy.shape[0] == beam.shape[0] == 3 and score.isfinite().all()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        assert all(g.dtype == torch.float32 for g in gradients)
        results.append([logits.float(), loss.float(), *gradients])
    assert results[0][0].dtype == torch.float32 and logits.dtype == torch.float32
    for half, full in zip(*results, strict=True):
        torch.testing.assert_close(half, full, rtol=0.1, atol=0.05)


@each_model
def test_a_model_compiles_whole(choices):
    torch.compiler.reset()
    model = build(choices)
    source, lengths, target = batch()
    attends = choices["attention"] is not None

    def losses(model):
        logits = model(source, lengths, shift(target), attends)
        return sequence_loss(logits[0] if attends else logits, target)

    def compiled(model):
        return torch.compile(losses, backend="eager", fullgraph=True)(model)

    gradients = [
        torch.autograd.grad(f(model), list(model.parameters())) for f in (losses, compiled)
    ]
    for ours, eager in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, eager, **EXACT)


@each_model
def test_a_batch_without_a_sentence_has_logits_for_none(choices):
    source, lengths, target = batch()
    logits = build(choices)(source[:0], lengths[:0], shift(target[:0]))
    assert logits.shape == (0, target.shape[1], V_TARGET)


# Dropout ------------------------------------------------------------------------------------------


def test_dropout_works_in_training_alone():
    model = build(dropout=0.5)
    source, lengths, target = batch()
    assert not torch.equal(*(model(source, lengths, shift(target)) for _ in range(2)))
    decoded = [greedy_decode(model, source, lengths, 6) for _ in range(3)]
    searched = [beam_search(model, source, lengths, 2, 6)[1] for _ in range(3)]
    assert model.training
    model.eval()
    assert torch.equal(*(model(source, lengths, shift(target)) for _ in range(2)))
    assert all(torch.equal(one, greedy_decode(model, source, lengths, 6)) for one in decoded)
    assert all(torch.equal(one, beam_search(model, source, lengths, 2, 6)[1]) for one in searched)
    assert not model.training
    kept = build().eval()(source, lengths, shift(target))
    torch.testing.assert_close(model(source, lengths, shift(target)), kept, **EXACT)


@each_model
def test_dropout_falls_on_what_is_read_and_on_what_the_logits_are_made_of(choices):
    model, shapes = build(choices, dropout=0.5), []
    for dropout in (model.encoder.dropout, model.decoder.dropout):
        assert dropout.p == 0.5
        dropout.register_forward_hook(lambda _, x, y: shapes.append(tuple(y.shape)))
    source, lengths, target = batch()
    model(source, lengths, shift(target))
    assert shapes == [(3, 6, D), (3, 5, D), (3, 5, N)]


def test_searching_keeps_no_graph_and_draws_nothing():
    model = build(dropout=0.5)
    source, lengths, _ = batch()
    before = torch.get_rng_state()
    _, scores = beam_search(model, source, lengths, 2, 4)
    _, weights = greedy_decode(model, source, lengths, 4, need_weights=True)
    assert not scores.requires_grad and not weights.requires_grad
    assert torch.equal(torch.get_rng_state(), before)


# What is learned, and what is refused -------------------------------------------------------------


@pytest.mark.parametrize("style", ["Bahdanau", "Luong"])
def test_a_small_model_learns_to_reverse(style):
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(8, 8, 16, 32, style=style))
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(3, 8, (100, 5), generator=generator)
    lengths = torch.full((100,), 5)
    target = nn.functional.pad(source.flip(1), (0, 1), value=EOS)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for _ in range(40):
        loss = sequence_loss(model(source, lengths, shift(target)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1
    assert (greedy_decode(model, source, lengths, 8)[:, :6] == target).float().mean() > 0.97


def test_the_fixed_vector_is_all_that_the_plain_decoder_sees():
    model = build({"attention": None})
    assert type(model.decoder) is Decoder
    source, lengths, target = batch()
    state, memory = model.encode(source, lengths)
    assert memory is None and state.shape == (3, N)
    with pytest.raises(ValueError, match="need_weights"):
        model(source, lengths, shift(target), need_weights=True)
    with pytest.raises(ValueError, match="need_weights"):
        greedy_decode(model, source, lengths, 3, need_weights=True)


@pytest.mark.parametrize(
    "choice, message",
    [
        ({"attention": "cosine"}, "attention 'cosine': .*None, 'additive'"),
        ({"style": "luong"}, "style 'luong': .*'Bahdanau', 'Luong'"),
        ({"layer": "gru"}, "layer 'gru': .*'RNN', 'LSTM', 'GRU'"),
        ({"hidden_size": 7}, "hidden_size.* 7"),
        ({"window": 0}, "window .* 0"),
    ],
)
def test_an_unknown_choice_is_named(choice, message):
    with pytest.raises(ValueError, match=message):
        build(choice)


@each_model
def test_bad_input_is_refused(choices):
    model = build(choices)
    source, lengths, target = batch()
    target_in = shift(target)
    for bad_source, bad_lengths in [
        (source[:, :0], lengths),  # no symbol at all
        (source, lengths * 0),
        (source, torch.tensor([4, 0, 6])),
        (source, lengths[:2]),
        (source, torch.tensor([4, 1, 7])),
    ]:
        for run in (
            lambda s, n: model(s, n, target_in),
            lambda s, n: greedy_decode(model, s, n, 3),
            lambda s, n: beam_search(model, s, n, 2, 3),
        ):
            with pytest.raises(ValueError):
                run(bad_source, bad_lengths)
    for bad_target in (target_in[:, :0], target_in[:2], target_in[0]):
        shape = re.escape(str(tuple(bad_target.shape)))
        with pytest.raises(ValueError, match=f" 3 .*{shape}"):
            model(source, lengths, bad_target)


def test_ids_that_a_vocabulary_does_not_have_are_refused():
    model = build()
    source, lengths, target = batch()
    with pytest.raises(ValueError, match=f" {V_SOURCE - 1} .* {V_SOURCE}"):
        model(source.masked_fill(source == source.max(), V_SOURCE), lengths, shift(target))
    with pytest.raises(ValueError, match=f" {V_TARGET - 1} .* {V_TARGET}"):
        model(source, lengths, shift(target).masked_fill(shift(target) == BOS, V_TARGET))


def test_decoding_needs_a_width_and_a_length():
    model = build()
    source, lengths, _ = batch()
    for width, penalty in ((0, 0.0), (-1, 0.0), (2, -0.5)):
        with pytest.raises(ValueError, match=f"beam .* {width} .* {penalty}"):
            beam_search(model, source, lengths, width, 4, penalty)
    with pytest.raises(ValueError, match="max_len .* 0"):
        beam_search(model, source, lengths, 2, 0)
    with pytest.raises(ValueError, match="max_len .* 0"):
        greedy_decode(model, source, lengths, 0)
    decoded, _ = beam_search(model, source, lengths, V_TARGET + 5, 3)
    assert decoded.shape[0] == 3


def test_the_special_symbols_have_the_vocabularys_numbers():
    assert (PAD, BOS, EOS) == (text.PAD, text.BOS, text.EOS)


def test_a_loss_of_nothing_is_refused():
    logits = torch.zeros(2, 3, V_TARGET)
    with pytest.raises(ValueError, match="padding"):
        sequence_loss(logits, torch.full((2, 3), PAD))
    with pytest.raises(ValueError, match=r"\(2, 3, 7\) and \(2, 4\)"):
        sequence_loss(logits, torch.full((2, 4), EOS))
