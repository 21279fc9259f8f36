"""BERT, DistilBERT, ALBERT and T5 from their published layouts equal `transformers`, the reference.

The reference's models are small and random, and written by itself. In float64 it computes the first
three all through, and is compared to 1e-10. T5's norms it computes in float32: as it is, it is
compared to 1e-6 of the largest number, and with norms in float64 to 1e-10.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from published import (
    REFUSED,
    config_of,
    offline,
    randomised,
    save,
    weights_of,
    with_a_pickle_alone,
    with_config,
    with_weights,
    without_config,
)
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from utils.pretraining import (
    MaskedLanguageModel,
    RelativeBias,
    TextToText,
    load_albert,
    load_bert,
    load_distilbert,
    load_t5,
)
from utils.pretraining.published import BERT, built
from utils.self_attention import BiasedAttention
from utils.seq2seq import beam_search, greedy_decode
from utils.tokens.tables import PublishedConfig

V, CONTEXT, T = 31, 20, 11
BERT_SIZES = {"hidden_size": 24, "num_attention_heads": 4, "intermediate_size": 40} | {
    "num_hidden_layers": 2,
    "max_position_embeddings": CONTEXT,
}
DISTILBERT_SIZES = {"dim": 24, "n_heads": 4, "hidden_dim": 40, "n_layers": 2} | {
    "max_position_embeddings": CONTEXT
}
T5_SIZES = {"d_model": 24, "num_heads": 4, "d_kv": 6, "d_ff": 40, "num_layers": 2} | {
    "decoder_start_token_id": 0,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 9,
}
OF_1_1 = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}


class Encoder(NamedTuple):
    """A kind of encoder: the reference's model and config, its sizes, and our loader."""

    model: str
    config: str
    sizes: dict[str, object]
    load: object


ENCODERS = {
    "bert": Encoder("BertForPreTraining", "BertConfig", BERT_SIZES, load_bert),
    "bert without a pooler": Encoder("BertForMaskedLM", "BertConfig", BERT_SIZES, load_bert),
    "distilbert": Encoder(
        "DistilBertForMaskedLM", "DistilBertConfig", DISTILBERT_SIZES, load_distilbert
    ),
    "albert": Encoder(
        "AlbertForPreTraining", "AlbertConfig", BERT_SIZES | {"embedding_size": 10}, load_albert
    ),
}
MADE = {  # name: kind, and what its config has else
    "BERT": ("bert", {}),
    "BERT, another ε and activation": (
        "bert",
        {"layer_norm_eps": 1e-2, "hidden_act": "gelu_new", "num_hidden_layers": 3},
    ),
    "BERT of three sentences": ("bert without a pooler", {"type_vocab_size": 3}),
    "BERT, one head": ("bert", {"num_attention_heads": 1, "hidden_act": "relu"}),
    "DistilBERT": ("distilbert", {}),
    "DistilBERT, other sizes": (
        "distilbert",
        {"n_layers": 3, "n_heads": 3, "hidden_dim": 17, "activation": "relu"},
    ),
    "DistilBERT of waves": ("distilbert", {"sinusoidal_pos_embds": True}),
    "DistilBERT, told an epsilon": ("distilbert", {"layer_norm_eps": 1e-2}),
    "ALBERT": ("albert", {"num_hidden_layers": 3}),
    "ALBERT, exact GELU": ("albert", {"hidden_act": "gelu", "layer_norm_eps": 1e-2}),
    "ALBERT, as wide as it is": ("albert", {"embedding_size": 24, "num_hidden_layers": 1}),
}
T5S = {
    "T5": {},
    "T5 1.1": OF_1_1,
    "T5, heads of another width": {"d_kv": 5, "num_heads": 3, "layer_norm_epsilon": 1e-2},
    "T5 1.1, heads that don't divide": OF_1_1 | {"d_kv": 7, "num_heads": 5},
    "T5, few layers that write": {"num_layers": 3, "num_decoder_layers": 1},
    "T5, SiLU, another start": {"feed_forward_proj": "gated-silu", "decoder_start_token_id": 7},
    "T5 as published": {"relative_attention_num_buckets": 32}
    | {"relative_attention_max_distance": 128},
}
ORDERS = "seq_relationship_logits", "sop_logits"
TWO = torch.ones(2)
GENERATOR = torch.Generator().manual_seed(0)
IDS = torch.randint(0, V, (3, T), generator=GENERATOR)
TYPES = torch.randint(0, 2, (3, T), generator=GENERATOR)
TARGET = torch.randint(0, V, (3, 8), generator=GENERATOR)
LENGTHS = torch.tensor([T, 6, 1])
REAL = torch.arange(T) < LENGTHS[:, None]

reference = pytest.fixture(offline, scope="module")


@pytest.fixture(scope="module")
def encoder(reference, tmp_path_factory):
    """Return a function from a name to the reference's model, its folder, and ours."""

    def made(name: str) -> tuple[nn.Module, Path, MaskedLanguageModel]:
        kind, more = MADE[name]
        kind = ENCODERS[kind]
        config = getattr(reference, kind.config)(vocab_size=V, **kind.sizes | more)
        theirs = randomised(getattr(reference, kind.model)(config))
        folder = save(theirs, tmp_path_factory.mktemp("encoder"))
        return theirs, folder, kind.load(folder, torch.float64)

    return made


@pytest.fixture(scope="module")
def t5(reference, tmp_path_factory):
    def made(name: str) -> tuple[nn.Module, Path, TextToText]:
        config = reference.T5Config(vocab_size=V, **T5_SIZES | T5S[name])
        theirs = reference.T5ForConditionalGeneration(config)
        if not config.scale_decoder_outputs:  # 1.1 has an output of its own
            theirs.lm_head.weight = nn.Parameter(torch.empty(V, config.d_model))
        theirs = randomised(theirs)
        folder = save(theirs, tmp_path_factory.mktemp("t5"))
        return theirs, folder, load_t5(folder, torch.float64)

    return made


# Equal numbers ------------------------------------------------------------------------------------


def apart(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[float, float]:
    """How far numbers are apart at most, and how large those of the reference are."""
    assert all(a.shape == b.shape and a.dtype == torch.float64 for a, b in pairs)
    return (
        max((a - b).abs().max().item() for a, b in pairs),
        max(b.abs().max().item() for _, b in pairs),
    )


@contextmanager
def leaving(blocks: nn.ModuleList) -> Iterator[list[torch.Tensor]]:
    """Collect what leaves the blocks; a shared one is passed several times."""
    left = []
    hooks = [
        block.register_forward_hook(lambda _, __, output: left.append(output[0]))
        for block in dict.fromkeys(blocks)
    ]
    yield left
    for hook in hooks:
        hook.remove()


@torch.no_grad()
def encoders_apart(ours: MaskedLanguageModel, theirs: nn.Module) -> tuple[float, float]:
    """Compare what enters and leaves each block, and all heads: whole texts, and padded pairs."""
    types = None if ours.encoder.embedding.symbols.types is None else TYPES
    told = {} if types is None else {"token_type_ids": types}
    pairs = [(ours(IDS[:, :n]), of_words(theirs(IDS[:, :n]))) for n in (1, 7, T)]
    expected = theirs(IDS, attention_mask=REAL.long(), output_hidden_states=True, **told)
    with leaving(ours.encoder.blocks) as left:
        x = ours.read(IDS, LENGTHS, types)
    states = [ours.encoder.embedding.symbols(IDS, types), *left]
    assert len(states) == 1 + ours.config.n_layers and torch.equal(x, left[-1])
    pairs += [(a[REAL], b[REAL]) for a, b in zip(states, expected.hidden_states, strict=True)]
    pairs.append((ours(IDS, LENGTHS, types)[REAL], of_words(expected)[REAL]))
    if ours.order is not None:
        of_order = [expected[name] for name in expected if name in ORDERS]
        pairs.append((ours.order(ours.pool(x, LENGTHS)), *of_order))
    return apart(pairs)


def of_words(output: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The logits of hidden words, whatever the reference calls them."""
    return output["logits"] if "logits" in output else output["prediction_logits"]


@torch.no_grad()
def t5s_apart(ours: TextToText, theirs: nn.Module) -> tuple[float, float]:
    """Compare what leaves each block, and logits: whole texts, padded, and written in steps."""
    read = ours.shift(TARGET)
    pairs = []
    for n in (1, T):
        logits = theirs(IDS[:, :n], labels=TARGET).logits
        pairs.append((ours(IDS[:, :n], torch.full((3,), n), read), logits))
    expected = theirs(IDS, attention_mask=REAL.long(), labels=TARGET, output_hidden_states=True)
    with leaving(ours.encoder.blocks) as annotations, leaving(ours.decoder.blocks) as features:
        pairs.append((ours(IDS, LENGTHS, read), expected.logits))
    pairs += [  # of the last, the reference shows what the norm made
        (a[REAL], b[REAL])
        for a, b in zip(annotations[:-1], expected.encoder_hidden_states[1:-1], strict=True)
    ]
    pairs += zip(features[:-1], expected.decoder_hidden_states[1:-1], strict=True)
    pairs.append((ours.encoder(IDS, LENGTHS)[0][REAL], expected.encoder_last_hidden_state[REAL]))
    state, memory = ours.encode(IDS, LENGTHS)
    steps = []
    for piece in read.split([1, 3, 1, 3], dim=1):
        of_step, state, _ = ours.decoder(piece, state, memory)
        steps.append(of_step)
    pairs.append((torch.cat(steps, dim=1), expected.logits))
    return apart(pairs)


@pytest.fixture
def wide_norms(reference, monkeypatch):
    """The reference's T5, with norms in the numbers that they are given."""

    def norm(self, x):
        mean_square = x.pow(2).mean(-1, keepdim=True)
        return self.weight * x * torch.rsqrt(mean_square + self.variance_epsilon)

    monkeypatch.setattr(reference.models.t5.modeling_t5.T5LayerNorm, "forward", norm)


@pytest.mark.parametrize("name", MADE)
def test_an_encoder_gives_the_references_states_and_logits(name, encoder):
    theirs, _, ours = encoder(name)
    error, size = encoders_apart(ours, theirs)
    assert error < 1e-10 and size > 1
    assert not ours.training and ours.config.dropout == 0
    assert count(ours) == count(theirs)


@pytest.mark.parametrize("name", T5S)
def test_t5_gives_the_references_states_and_logits(name, t5, request):
    theirs, _, ours = t5(name)
    error, size = t5s_apart(ours, theirs)
    assert error < 1e-6 * size and size > 1
    request.getfixturevalue("wide_norms")
    assert t5s_apart(ours, theirs)[0] < 1e-10
    assert not ours.training and ours.config.dropout == 0
    assert count(ours) == count(theirs)


def count(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


def test_t5_writes_what_the_reference_writes(t5, wide_norms):
    """Greedily, from the start that the config names, here 7."""
    theirs, _, ours = t5("T5, SiLU, another start")
    written = theirs.generate(
        IDS, attention_mask=REAL.long(), max_new_tokens=9, do_sample=False, eos_token_id=None
    )
    assert (written[:, 0] == 7).all()
    with torch.no_grad():
        chosen = ours(IDS, LENGTHS, written[:, :-1]).argmax(dim=-1)
    assert torch.equal(chosen, written[:, 1:])
    assert torch.equal(ours.shift(written[:, 1:]), written[:, :-1])


@pytest.mark.parametrize("name", ["T5", "T5 1.1", "T5, SiLU, another start"])
def test_day_4s_searches_write_what_the_reference_writes(name, t5, wide_norms):
    """With the start and the end that its config names, and no padding in between."""
    theirs, folder, ours = t5(name)
    start = theirs.config.decoder_start_token_id
    how = {"attention_mask": REAL.long(), "max_new_tokens": 9, "suppress_tokens": [0, start]}
    assert ours.eos == theirs.config.eos_token_id == 1
    end = theirs.generate(IDS, **how, do_sample=False, eos_token_id=None)[0, 3].item()
    with_config(eos_token_id=end)(folder)
    ours = load_t5(folder, torch.float64)
    written = theirs.generate(IDS, **how, do_sample=False, eos_token_id=end)[:, 1:]
    assert written[0].tolist().count(end) == 1
    assert torch.equal(greedy_decode(ours, IDS, LENGTHS, 9), written)
    assert torch.equal(beam_search(ours, IDS, LENGTHS, 1, 9)[0], written)


# What is shared -----------------------------------------------------------------------------------


def test_alberts_layers_are_one(encoder):
    _, _, ours = encoder("ALBERT")
    first, *others = ours.encoder.blocks
    assert len(others) == 2 and all(block is first for block in others)
    ours(IDS).logsumexp(-1).sum().backward()
    before = ours(IDS).detach()
    with torch.no_grad():
        first.feed_forward.W_2.weight.zero_()
    with leaving(ours.encoder.blocks) as left:
        ours(IDS)
    assert len(left) == 3 and not torch.equal(ours(IDS), before)


def test_t5_has_one_table_of_distances_for_the_encoder_and_one_for_the_decoder(t5):
    _, _, ours = t5("T5, few layers that write")
    tables = [
        {id(block.self_attention.attend.bias) for block in stack.blocks}
        for stack in (ours.encoder, ours.decoder)
    ]
    assert [len(found) for found in tables] == [1, 1] and tables[0] != tables[1]
    assert sum(isinstance(module, RelativeBias) for module in ours.modules()) == 2


@pytest.mark.parametrize("name, tied", [("T5", True), ("T5 1.1", False)])
def test_t5s_halves_share_their_embedding_and_its_output_in_10(name, tied, t5):
    _, _, ours = t5(name)
    table = ours.encoder.embedding.symbols.weight
    assert ours.decoder.embedding.symbols.weight is table
    assert (ours.decoder.output.weight is table) == tied
    assert ours.config.damped == tied


@pytest.mark.parametrize("name", ["BERT", "DistilBERT", "ALBERT"])
def test_what_was_read_can_be_trained(name, encoder):
    _, _, ours = encoder(name)
    assert ours.head.weight is ours.encoder.embedding.symbols.words.weight
    x = ours.read(IDS)
    loss = ours.head(x).logsumexp(-1).sum()
    if ours.order is not None:
        loss = loss + ours.order(ours.pool(x)).logsumexp(-1).sum()
    loss.backward()
    assert all(weight.grad.abs().max() > 0 for weight in ours.parameters())


# Known mistakes -----------------------------------------------------------------------------------


def each_norm(model, change):
    for module in model.modules():
        if hasattr(module, "eps"):
            change(module)


def epsilon_of_the_library(model):
    each_norm(model, lambda norm: setattr(norm, "eps", 1e-5))


def types_forgotten(model):
    model.encoder.embedding.symbols.types.weight.zero_()


def types_exchanged(model):
    table = model.encoder.embedding.symbols.types.weight
    table.copy_(table.flip(0).clone())


def embedding_not_normalised(model):
    model.encoder.embedding.symbols.norm = nn.Identity()


def positions_behind_the_norm(model):
    symbols = model.encoder.embedding.symbols
    table, symbols.positions = symbols.positions, nn.Identity()
    symbols.norm = nn.Sequential(symbols.norm, table)


def norms_before(model):
    for block in dict.fromkeys(model.encoder.blocks):
        for around in block.residuals:
            around.pre = True


def norms_exchanged(model):
    for block in dict.fromkeys(model.encoder.blocks):
        first, second = block.residuals
        first.norm, second.norm = second.norm, first.norm


def gelu_by_tanh(model):
    for module in model.modules():
        if hasattr(module, "activation"):
            module.activation = partial(F.gelu, approximate="tanh")


def head_without_its_norm(model):
    model.head.norm = nn.Identity()


def head_without_its_bias(model):
    model.head.bias.zero_()


def pooled_without_tanh(model):
    model.pool.forward = lambda x, lengths=None: model.pool.W(x[:, 0])


def pooled_at_the_last(model):
    model.pool.forward = lambda x, lengths=None: model.pool.W(x[:, -1]).tanh()


def layers_passed_once(model):
    model.encoder.blocks = model.encoder.blocks[:1].extend([Skipped()] * 2)


class Skipped(nn.Module):
    """A layer that gives on what it is given."""

    def forward(self, x, *_, **__):
        return x, None


def keys_for_values(model):
    for attention in attentions(model):
        q, k, v = attention.W_in.split(attention.rows)
        attention.W_in.copy_(torch.cat([q, v, k]))


def attentions(model):
    return [module for module in model.modules() if hasattr(module, "W_in")]


def scores_scaled(model):
    for attention in attentions(model):
        d_k = attention.rows[0] // attention.n_heads
        attention.W_in[: attention.rows[0]] /= d_k**0.5


def scores_scaled_at_the_source(model):
    for block in model.decoder.blocks:
        attention = block.cross_attention
        attention.W_in[: attention.rows[0]] /= (attention.rows[0] // attention.n_heads) ** 0.5


def distances(model, is_causal, what):
    stack = model.decoder if is_causal else model.encoder
    bias = stack.blocks[0].self_attention.attend.bias
    n_buckets, max_distance, _ = bias.how
    bias.how = {
        "both sides": (n_buckets, max_distance, False),
        "one side": (n_buckets, max_distance, True),
        "farther": (n_buckets, 128, is_causal),
    }[what]


def distances_behind_alone(model):
    distances(model, False, "one side")


def distances_on_both_sides_in_the_decoder(model):
    distances(model, True, "both sides")


def distances_up_to_the_papers(model):
    distances(model, False, "farther")


def before_and_behind_exchanged(model):
    table = model.encoder.blocks[0].self_attention.attend.bias.table
    table.copy_(torch.cat(table.chunk(2)[::-1]).clone())


def bias_of_the_first_layer_alone(model):
    for block in model.encoder.blocks[1:]:
        block.self_attention.attend = BiasedAttention(lambda T, S: torch.zeros(T, S))


def bias_for_the_source_too(model):
    for block in model.decoder.blocks:
        block.cross_attention.attend = model.encoder.blocks[0].self_attention.attend


def output_not_damped(model):
    model.decoder.output.weight = nn.Parameter(model.decoder.output.weight * 24**0.5)


def embedding_scaled(model):
    model.encoder.embedding.symbols.weight.mul_(24**0.5)


def gate_and_value_exchanged(model):
    for module in model.modules():
        if hasattr(module, "W_gate"):
            module.W_gate, module.W_up = module.W_up, module.W_gate


def last_norm_forgotten(model):
    model.encoder.norm = nn.Identity()


def start_forgotten(model):
    model.shift = lambda target: target


def another_start(model):
    model.shift = lambda target: F.pad(target[:, :-1], (1, 0), value=1)


@pytest.mark.parametrize(
    "name, mistake",
    [
        ("BERT, another ε and activation", epsilon_of_the_library),
        ("BERT", types_forgotten),
        ("BERT", types_exchanged),
        ("BERT", embedding_not_normalised),
        ("BERT", positions_behind_the_norm),
        ("BERT", norms_before),
        ("BERT", norms_exchanged),
        ("BERT", gelu_by_tanh),
        ("BERT", keys_for_values),
        ("BERT", head_without_its_norm),
        ("BERT", head_without_its_bias),
        ("BERT", pooled_without_tanh),
        ("ALBERT", pooled_at_the_last),
        ("ALBERT", layers_passed_once),
        ("ALBERT", norms_exchanged),
        ("DistilBERT", norms_exchanged),
        ("DistilBERT", keys_for_values),
    ],
)
def test_a_known_mistake_in_an_encoder_is_found(name, mistake, encoder):
    theirs, _, ours = encoder(name)
    with torch.no_grad():
        mistake(ours)
    error, size = encoders_apart(ours, theirs)
    assert error > 1e-5 * size


@pytest.mark.parametrize(
    "name, mistake",
    [
        ("T5", scores_scaled),
        ("T5", scores_scaled_at_the_source),
        ("T5", keys_for_values),
        ("T5", distances_behind_alone),
        ("T5", distances_on_both_sides_in_the_decoder),
        ("T5", distances_up_to_the_papers),
        ("T5", before_and_behind_exchanged),
        ("T5", bias_of_the_first_layer_alone),
        ("T5", bias_for_the_source_too),
        ("T5", output_not_damped),
        ("T5", embedding_scaled),
        ("T5", last_norm_forgotten),
        ("T5", start_forgotten),
        ("T5", another_start),
        ("T5 1.1", gate_and_value_exchanged),
        ("T5, heads of another width", epsilon_of_the_library),
    ],
)
def test_a_known_mistake_in_t5_is_found(name, mistake, t5, wide_norms):
    theirs, _, ours = t5(name)
    with torch.no_grad():
        mistake(ours)
    error, size = t5s_apart(ours, theirs)
    assert error > 1e-5 * size


# Files --------------------------------------------------------------------------------------------


def test_berts_own_file_names_gain_and_bias_otherwise(encoder):
    """As the file has it that was published with the model, or was before."""
    theirs, folder, _ = encoder("BERT")
    stored = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): weight
        for name, weight in weights_of(folder).items()
    }
    assert any(name.endswith("LayerNorm.gamma") for name in stored)
    stored["bert.embeddings.position_ids"] = torch.arange(CONTEXT)[None]
    save_file(stored, folder / "model.safetensors")
    told = config_of(folder)
    for key in ("is_decoder", "add_cross_attention", "tie_word_embeddings", "layer_norm_eps"):
        del told[key]
    (folder / "config.json").write_text(json.dumps(told))
    ours = load_bert(folder, torch.float64)
    assert encoders_apart(ours, theirs)[0] < 1e-10
    norms = [module.eps for module in ours.modules() if isinstance(module, nn.LayerNorm)]
    assert set(norms) == {1e-12} == {theirs.config.layer_norm_eps}


@pytest.mark.parametrize(
    "name, copies",
    [
        (
            "BERT",
            {
                "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
                "cls.predictions.decoder.bias": "cls.predictions.bias",
            },
        ),
        ("DistilBERT", {"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"}),
        (
            "ALBERT",
            {
                "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
                "predictions.decoder.bias": "predictions.bias",
            },
        ),
        (
            "T5",
            {
                "lm_head.weight": "shared.weight",
                "encoder.embed_tokens.weight": "shared.weight",
                "decoder.embed_tokens.weight": "shared.weight",
            },
        ),
    ],
)
def test_what_is_stored_twice_has_to_be_the_same(name, copies, encoder, t5):
    theirs, folder, _ = (t5 if name == "T5" else encoder)(name)
    load = load_t5 if name == "T5" else ENCODERS[MADE[name][0]].load
    compare = t5s_apart if name == "T5" else encoders_apart
    told = config_of(folder)
    told.pop("scale_decoder_outputs", None)  # as older configs
    (folder / "config.json").write_text(json.dumps(told))
    stored = weights_of(folder)
    twice = stored | {copy: stored[name].clone() for copy, name in copies.items()}
    save_file(twice, folder / "model.safetensors")
    error, size = compare(load(folder, torch.float64), theirs)
    assert error < 1e-6 * size
    for copy in copies:
        save_file(twice | {copy: twice[copy] + 1}, folder / "model.safetensors")
        with pytest.raises(ValueError, match="holds (an output unlike|two) "):
            load(folder)


def test_t5s_own_files_have_a_table_that_is_used_nowhere_and_older_configs(t5):
    theirs, folder, _ = t5("T5 as published")
    stray = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    save_file(weights_of(folder) | {stray: torch.ones(32, 4)}, folder / "model.safetensors")
    told = config_of(folder)
    for key in (
        "relative_attention_max_distance",
        "feed_forward_proj",
        "num_decoder_layers",
        "scale_decoder_outputs",
        "tie_word_embeddings",
    ):
        del told[key]
    (folder / "config.json").write_text(json.dumps(told))
    ours = load_t5(folder, torch.float64)
    error, size = t5s_apart(ours, theirs)
    assert error < 1e-6 * size
    for stack, is_causal in ((ours.encoder, False), (ours.decoder, True)):  # no text is as long
        assert stack.blocks[0].self_attention.attend.bias.how == (32, 128, is_causal)


def test_t5_11s_own_config_says_that_its_output_is_not_the_embedding(t5):
    theirs, folder, _ = t5("T5 1.1")
    told = config_of(folder) | {"tie_word_embeddings": False}
    del told["scale_decoder_outputs"]
    (folder / "config.json").write_text(json.dumps(told))
    ours = load_t5(folder, torch.float64)
    error, size = t5s_apart(ours, theirs)
    assert error < 1e-6 * size
    stored = weights_of(folder)
    del stored["lm_head.weight"]
    save_file(stored, folder / "model.safetensors")
    with pytest.raises(ValueError, match="lacks .* lm_head.weight"):
        load_t5(folder)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_numbers_may_be_stored_in_half_precision(dtype, encoder, t5, tmp_path):
    for made, name, load in ((encoder, "ALBERT", load_albert), (t5, "T5", load_t5)):
        theirs, _, _ = made(name)
        ours = load(save(theirs.bfloat16(), tmp_path / name), dtype)
        assert all(weight.dtype == dtype for weight in ours.parameters())
        given = (IDS, LENGTHS) if name == "ALBERT" else (IDS, LENGTHS, TARGET)
        assert ours(*given).dtype == dtype


def test_what_a_config_tells_of_has_no_more_than_is_asked_for():
    told = BERT_SIZES | {"vocab_size": V, "type_vocab_size": 2, "hidden_act": "gelu"}
    sizes = PublishedConfig(Path("a config"), told)
    plain = built(BERT, sizes)
    assert plain.pool is None and plain.order is None
    pooled = built(BERT, sizes, pooled=True)
    assert isinstance(pooled.pool, nn.Module) and pooled.order is None
    ordered = built(BERT, sizes, pooled=True, ordered=True)
    assert count(ordered) - count(pooled) == 2 * 24 + 2


# What is refused ----------------------------------------------------------------------------------


def without_head(prefix: str, head: str):
    def change(stored):
        for name in list(stored):
            weight = stored.pop(name)
            if not name.startswith(head):
                stored[name.removeprefix(prefix)] = weight

    return change


REFUSED_ENCODER = REFUSED | {
    "decoder": (with_config(is_decoder=True), "is_decoder = True"),
    "untied": (with_config(tie_word_embeddings=False), "tie_word_embeddings = False"),
}
REFUSED_BERT = REFUSED_ENCODER | {
    "a weight missing": (
        with_weights(lambda stored: stored.pop("bert.encoder.layer.1.output.dense.bias")),
        "lacks .* bert.encoder.layer.1.output.dense.bias:",
    ),
    "no head": (
        with_weights(lambda s: [s.pop(name) for name in list(s) if name.startswith("cls.pred")]),
        r"head .*\(cls.predictions.bias\)",
    ),
    "an encoder alone, by its own names": (
        with_weights(without_head("bert.", "cls.")),
        r"head .*\(cls.predictions.bias\)",
    ),
    "two names": (
        with_weights(
            lambda s: s.update({"bert.embeddings.LayerNorm.gamma": torch.ones(24).double()})
        ),
        " bert.embeddings.LayerNorm.weight .*two names",
    ),
    "types of true": (with_config(type_vocab_size=True), "type_vocab_size = True"),
    "fewer blocks": (with_config(num_hidden_layers=1), "also .* bert.encoder.layer.1"),
    "another width": (
        with_config(max_position_embeddings=9),
        r"position_embeddings.weight .*\(20, 24\).*\(9, 24\)",
    ),
    "heads": (with_config(num_attention_heads=5), "5 heads .* 24"),
    "activation": (with_config(hidden_act="tanh"), "hidden_act = 'tanh'"),
    "epsilon": (with_config(layer_norm_eps="1e-12"), "layer_norm_eps = '1e-12'"),
    "relative": (
        with_config(position_embedding_type="relative_key"),
        "position_embedding_type = 'relative_key', .*'absolute'",
    ),
    "a decoder beside it": (with_config(add_cross_attention=True), "add_cross_attention = True"),
    "no size of a table": (with_config(type_vocab_size="2"), "type_vocab_size = '2'"),
    "whole numbers": (
        with_weights(lambda s: s.update({"cls.predictions.bias": torch.ones(V).char()})),
        "cls.predictions.bias .*torch.int8",
    ),
}
REFUSED_DISTILBERT = REFUSED_ENCODER | {
    "a size missing": (without_config("hidden_dim"), "config.json lacks 'hidden_dim'"),
    "an encoder alone, by its own names": (
        with_weights(without_head("distilbert.", "vocab_")),
        r"head .*\(vocab_projector.bias\)",
    ),
    "a pooler": (
        with_weights(lambda stored: stored.update({"distilbert.pooler.weight": torch.ones(2)})),
        "also .* distilbert.pooler.weight:",
    ),
}
REFUSED_ALBERT = REFUSED_ENCODER | {
    "groups": (with_config(num_hidden_groups=2), "num_hidden_groups = 2"),
    "inner": (with_config(inner_group_num=2), "inner_group_num = 2"),
    "another table": (
        with_config(embedding_size=9),
        r"albert.embeddings.word_embeddings.weight .*\(31, 10\).*\(31, 9\)",
    ),
    "no size": (with_config(embedding_size="9"), "embedding_size = '9'"),
    "a size of true": (with_config(embedding_size=True), "embedding_size = True"),
}
REFUSED_T5 = REFUSED | {
    "a weight missing": (
        with_weights(lambda s: s.pop("decoder.block.1.layer.1.EncDecAttention.k.weight")),
        "lacks .* decoder.block.1.layer.1.EncDecAttention.k.weight:",
    ),
    "a table for each layer": (
        with_weights(
            lambda s: s.update(
                {"encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight": TWO}
            )
        ),
        "also .* encoder.block.1.layer.0.SelfAttention.relative_attention_bias",
    ),
    "an encoder alone": (
        with_weights(lambda s: [s.pop(name) for name in list(s) if name.startswith("decoder")]),
        "lacks .* decoder.block.0.layer.0.SelfAttention.k.weight .* 27 ",
    ),
    "a decoder alone": (with_config(is_encoder_decoder=False), "is_encoder_decoder = False"),
    "feed-forward": (
        with_config(feed_forward_proj="gated-tanh"),
        "feed_forward_proj = 'gated-tanh', .*'relu', 'gated-gelu', 'gated-silu'",
    ),
    "two of them": (with_config(feed_forward_proj=["relu"]), r"feed_forward_proj = \['relu"),
    "no start": (without_config("decoder_start_token_id"), "lacks 'decoder_start_token_id'"),
    "a start of nothing": (with_config(decoder_start_token_id=None), "start .* 30, .* None"),
    "a start beyond": (with_config(decoder_start_token_id=V), "start .* 30, .* 31"),
    "heads": (
        with_config(d_kv=5),
        r"SelfAttention.o.weight .*\(24, 24\).*\(24, 20\)",
    ),
    "no heads": (with_config(d_kv=0), "d_kv = 0:"),
    "a word for a flag": (
        with_config(tie_word_embeddings="false"),
        "embeddings = 'false'",
    ),
    "a word for another": (
        with_config(scale_decoder_outputs="yes"),
        "decoder_outputs = 'yes'",
    ),
    "two ends": (with_config(eos_token_id=[1]), r"end .* 30, .* \[1\]"),
    "padding elsewhere": (with_config(pad_token_id=3), "pad_token_id = 3,"),
    "no layers": (with_config(num_decoder_layers=0), "num_decoder_layers = 0:"),
    "buckets": (with_config(relative_attention_num_buckets=6), "n_buckets .* 4, .* 6"),
    "near": (with_config(relative_attention_max_distance=4), "8 buckets .*max_distance .* 4, .* 4"),
    "epsilon": (with_config(layer_norm_epsilon=None), "layer_norm_epsilon = None"),
}
LOADS = {
    "bert": (load_bert, REFUSED_BERT),
    "distilbert": (load_distilbert, REFUSED_DISTILBERT),
    "albert": (load_albert, REFUSED_ALBERT),
    "t5": (load_t5, REFUSED_T5),
}


@pytest.fixture(scope="module")
def originals(encoder, t5) -> dict[str, Path]:
    names = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}
    return {kind: encoder(name)[1] for kind, name in names.items()} | {"t5": t5("T5")[1]}


@pytest.mark.parametrize(
    "kind, change, message",
    [
        pytest.param(kind, *refused, id=f"{kind}-{name}")
        for kind, (_, all_refused) in LOADS.items()
        for name, refused in all_refused.items()
    ],
)
def test_what_is_no_such_model_is_refused_in_a_sentence(kind, change, message, originals, tmp_path):
    folder = shutil.copytree(originals[kind], tmp_path / kind)
    change(folder)
    with pytest.raises(ValueError, match=message) as refused:
        LOADS[kind][0](folder)
    sentence = str(refused.value)
    assert "\n" not in sentence and sentence.endswith(".")


@pytest.mark.parametrize("kind", LOADS)
def test_a_pickle_is_never_opened(kind, originals, tmp_path, monkeypatch):
    folder = shutil.copytree(originals[kind], tmp_path / kind)
    with_a_pickle_alone(folder)
    opened = []
    monkeypatch.setattr(torch, "load", lambda *_, **__: opened.append(True))
    with pytest.raises(ValueError, match="pytorch_model.bin"):
        LOADS[kind][0](str(folder))
    assert not opened
