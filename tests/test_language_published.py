"""GPT-2 and Llama from their published layouts give the logits of `transformers`, their reference.

The reference's models are small and random, and written by itself. In float64 it computes GPT-2
all through. Of Llama it computes norms and angles in float32: as it is, it is compared to 1e-6 of
the largest logit; and with norms and angles in float64 to 1e-10, both models turning by the
reference's frequencies, which are found equal to ours as far as float32 goes.
"""

import json
import shutil
from pathlib import Path

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
)
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from utils.language import RotaryHalves, load_gpt2, load_llama
from utils.positions import Rotary
from utils.tasks.generation import generate
from utils.tokens import read_byte_pairs
from utils.tokens.published import BYTE_OF
from utils.transformer import DecoderOnly

V, CONTEXT = 31, 20
LLAMA_31 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0} | {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "original_max_position_embeddings": 64,
}
GPT2S = {
    "GPT-2": {"n_embd": 24, "n_layer": 2, "n_head": 4},
    "its own output, another d_ff": {
        **{"n_embd": 20, "n_layer": 3, "n_head": 2, "n_inner": 36, "tie_word_embeddings": False},
        **{"activation_function": "relu", "layer_norm_epsilon": 1e-2},
    },
    "exact GELU": {"n_embd": 12, "n_layer": 1, "n_head": 3, "activation_function": "gelu"},
    "SiLU": {"n_embd": 12, "n_layer": 1, "n_head": 1, "activation_function": "silu"},
}
LLAMAS = {
    "Llama 2": {"num_attention_heads": 4, "rms_norm_eps": 1e-5},
    "grouped queries, tied": {
        **{"num_attention_heads": 6, "num_key_value_heads": 2, "tie_word_embeddings": True},
        **{"rms_norm_eps": 1e-2, "num_hidden_layers": 3, "intermediate_size": 36},
        **{"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    },
    "one head of keys": {"num_attention_heads": 3, "num_key_value_heads": 1, "hidden_act": "gelu"},
    "linear": {
        "num_attention_heads": 2,
        "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0},
    },
    "Llama 3.1": {
        **{"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 32},
        "max_position_embeddings": 512,
        **{"rope_parameters": LLAMA_31},
    },
}
each_gpt2 = pytest.mark.parametrize("name", GPT2S)
each_llama = pytest.mark.parametrize("name", LLAMAS)
IDS = torch.randint(0, V, (3, CONTEXT), generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([CONTEXT, 7, 1])

reference = pytest.fixture(offline, scope="module")


@pytest.fixture(scope="module")
def gpt2(reference, tmp_path_factory):
    """Return a function from a name to the reference's model, and the folder that it is in."""

    def made(name: str) -> tuple[nn.Module, Path]:
        config = reference.GPT2Config(
            vocab_size=V, n_positions=CONTEXT, bos_token_id=1, eos_token_id=2, **GPT2S[name]
        )
        model = randomised(reference.GPT2LMHeadModel(config))
        return model, save(model, tmp_path_factory.mktemp("gpt2"))

    return made


@pytest.fixture(scope="module")
def llama(reference, tmp_path_factory):
    sizes = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2}
    sizes["max_position_embeddings"] = CONTEXT

    def made(name: str, **how: object) -> tuple[nn.Module, Path]:
        config = reference.LlamaConfig(vocab_size=V, **sizes | LLAMAS[name])
        model = randomised(reference.LlamaForCausalLM(config))
        return model, save(model, tmp_path_factory.mktemp("llama"), **how)

    return made


@torch.no_grad()
def off_by(ours: DecoderOnly, theirs: nn.Module) -> tuple[float, float]:
    """How far logits are apart at most, and how large: whole texts, from a cache, and padded."""
    found, expected = [], []
    for T in (1, 7, CONTEXT):
        found.append(ours(IDS[:, :T])[0])
        expected.append(theirs(IDS[:, :T]).logits)
    first, state = ours(IDS[:, :6])
    second, _ = ours(IDS[:, 6:], state)
    found.append(torch.cat([first, second], dim=1))
    expected.append(expected[-1])
    real = torch.arange(CONTEXT) >= CONTEXT - LENGTHS[:, None]  # padding stands in front
    found.append(ours(IDS, lengths=LENGTHS)[0][real])
    positions = (real.cumsum(dim=1) - 1).clamp(min=0)
    padded = theirs(IDS, attention_mask=real.long(), position_ids=positions)
    expected.append(padded.logits[real])
    pairs = list(zip(found, expected, strict=True))
    assert all(a.shape == b.shape and a.dtype == torch.float64 for a, b in pairs)
    return (
        max((a - b).abs().max().item() for a, b in pairs),
        max(b.abs().max().item() for b in expected),
    )


# Equal logits -------------------------------------------------------------------------------------


@each_gpt2
def test_gpt2_gives_the_references_logits(name, gpt2):
    theirs, folder = gpt2(name)
    ours = load_gpt2(folder, torch.float64)
    error, size = off_by(ours, theirs)
    assert error < 1e-10 and size > 1
    assert not ours.training and ours.config.dropout == 0
    tied = ours.output.weight is ours.stack.embedding.symbols.weight
    assert tied == GPT2S[name].get("tie_word_embeddings", True)


@each_llama
def test_llama_gives_the_references_logits(name, llama, reference, monkeypatch):
    theirs, folder = llama(name)
    ours = load_llama(folder, torch.float64)
    error, size = off_by(ours, theirs)
    assert error < 1e-6 * size and size > 1
    assert not ours.training and ours.config.dropout == 0

    def norm(self, x):
        mean_square = x.pow(2).mean(-1, keepdim=True)
        return self.weight * x * torch.rsqrt(mean_square + self.variance_epsilon)

    def angles(self, x, position_ids):
        half = position_ids[..., None].double() * self.inv_freq.double()
        both = torch.cat([half, half], dim=-1)
        return both.cos(), both.sin()

    code = reference.models.llama.modeling_llama
    monkeypatch.setattr(code.LlamaRMSNorm, "forward", norm)
    monkeypatch.setattr(code.LlamaRotaryEmbedding, "forward", angles)
    frequencies = theirs.model.rotary_emb.inv_freq.double()
    for block in ours.stack.blocks:
        rotary = block.self_attention.rotary
        torch.testing.assert_close(rotary.frequencies, frequencies, rtol=1e-6, atol=0)
        rotary.frequencies = frequencies
    assert off_by(ours, theirs)[0] < 1e-10


def test_llama_31_slows_some_waves_wholly_some_partly_and_some_not(llama):
    _, folder = llama("Llama 3.1")
    rotary = load_llama(folder).stack.blocks[0].self_attention.rotary
    share = rotary.frequencies / (500.0 ** (-torch.arange(4).double() / 4))
    assert share[0] == 1 and share[-1] == pytest.approx(1 / 8)
    assert ((share > 0.13) & (share < 0.99)).any()


def test_what_is_written_is_what_the_reference_writes(gpt2, llama):
    for (theirs, folder), load in ((gpt2("GPT-2"), load_gpt2), (llama("Llama 3.1"), load_llama)):
        given = IDS[:, :5]
        whole = theirs.generate(
            given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=9,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        assert torch.equal(generate(load(folder, torch.float64), given, 9, tau=0), whole[:, 5:])


# Known mistakes -----------------------------------------------------------------------------------


def each_attention(model):
    return [block.self_attention for block in model.stack.blocks]


def output_not_transposed(model):
    for attention in each_attention(model):
        attention.W_o.weight.copy_(attention.W_o.weight.T.clone())


def heads_before_parts(model):
    """c_attn read as query, key and value of the first head, then of the second …"""
    for attention in each_attention(model):
        D, h = model.config.d_model, model.config.n_heads
        rows = attention.W_in.unflatten(0, (h, 3, D // h)).transpose(0, 1)
        attention.W_in.copy_(rows.flatten(0, 2).clone())


def keys_for_values(model):
    for attention in each_attention(model):
        q, k, v = attention.W_in.split(attention.rows)
        attention.W_in.copy_(torch.cat([q, v, k]))


def embedding_scaled(model):
    model.stack.embedding.symbols = Scaled(model.stack.embedding.symbols)


def exact_gelu(model):
    for block in model.stack.blocks:
        block.feed_forward.activation = F.gelu


def positions_one_off(model):
    table = model.stack.embedding.positions.table
    table.copy_(table.roll(1, 0))


def norms_exchanged(model):
    for block in model.stack.blocks:
        first, second = block.residuals
        first.norm, second.norm = second.norm, first.norm


def neighbours_turned(model):
    for attention in each_attention(model):
        attention.rotary = Rotary(attention.rotary.d_k)


def base_forgotten(model):
    for attention in each_attention(model):
        attention.rotary = RotaryHalves(attention.rotary.d_k)


def gate_and_value_exchanged(model):
    for block in model.stack.blocks:
        f = block.feed_forward
        f.W_gate, f.W_up = f.W_up, f.W_gate


def epsilon_of_the_paper(model):
    for module in model.modules():
        if hasattr(module, "eps"):
            module.eps = 1e-5


def keys_of_other_queries(model):
    """Heads of queries in another order: the first, fourth, … share a head of keys."""
    for attention in each_attention(model):
        h, n_kv = attention.n_heads, attention.n_kv_heads
        rows = attention.W_in[: attention.d_model].unflatten(0, (h // n_kv, n_kv, -1))
        attention.W_in[: attention.d_model] = rows.transpose(0, 1).flatten(0, 2).clone()


class Scaled(nn.Module):
    def __init__(self, symbols):
        super().__init__()
        self.symbols = symbols

    def forward(self, ids):
        return self.symbols.embedding_dim**0.5 * self.symbols(ids)


@pytest.mark.parametrize(
    "kind, name, mistake",
    [
        ("gpt2", "GPT-2", output_not_transposed),
        ("gpt2", "GPT-2", heads_before_parts),
        ("gpt2", "GPT-2", keys_for_values),
        ("gpt2", "GPT-2", embedding_scaled),
        ("gpt2", "GPT-2", exact_gelu),
        ("gpt2", "GPT-2", positions_one_off),
        ("gpt2", "GPT-2", norms_exchanged),
        ("gpt2", "its own output, another d_ff", epsilon_of_the_paper),
        ("llama", "Llama 2", neighbours_turned),
        ("llama", "Llama 2", keys_for_values),
        ("llama", "Llama 2", gate_and_value_exchanged),
        ("llama", "grouped queries, tied", base_forgotten),
        ("llama", "grouped queries, tied", keys_of_other_queries),
        ("llama", "grouped queries, tied", epsilon_of_the_paper),
        ("llama", "linear", base_forgotten),
        ("llama", "Llama 3.1", embedding_scaled),
    ],
)
def test_a_known_mistake_is_found(kind, name, mistake, gpt2, llama):
    theirs, folder = (gpt2 if kind == "gpt2" else llama)(name)
    ours = (load_gpt2 if kind == "gpt2" else load_llama)(folder, torch.float64)
    with torch.no_grad():
        mistake(ours)
    error, size = off_by(ours, theirs)
    assert error > 1e-5 * size


# Files --------------------------------------------------------------------------------------------


def test_what_was_read_can_be_trained(llama):
    ours = load_llama(llama("grouped queries, tied")[1])
    ours(IDS)[0].logsumexp(-1).sum().backward()
    assert all(weight.grad.abs().max() > 0 for weight in ours.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_numbers_may_be_stored_in_half_precision(dtype, gpt2, tmp_path):
    theirs, _ = gpt2("exact GELU")
    theirs = theirs.bfloat16()
    ours = load_gpt2(save(theirs, tmp_path), dtype)
    assert ours.output.weight.dtype == dtype
    assert torch.equal(
        ours.stack.blocks[0].feed_forward.W_2.weight.bfloat16().T,
        theirs.transformer.h[0].mlp.c_proj.weight,
    )
    assert ours(IDS)[0].dtype == dtype


def test_a_model_in_several_files_is_read_as_one(llama):
    theirs, folder = llama("Llama 3.1", max_shard_size="9KB")
    assert len(list(folder.glob("*.safetensors"))) > 3
    ours = load_llama(folder, torch.float64)
    error, size = off_by(ours, theirs)
    assert error < 1e-6 * size


def test_gpt2s_own_file_has_no_prefix_and_its_causal_mask(gpt2):
    """As the file has it that was published with the model."""
    theirs, folder = gpt2("GPT-2")
    mask = torch.ones(1, 1, CONTEXT, CONTEXT).tril()
    stored = {n.removeprefix("transformer."): w for n, w in weights_of(folder).items()}
    stored |= {"h.0.attn.bias": mask, "h.1.attn.masked_bias": torch.tensor(-1e4)}
    save_file(stored, folder / "model.safetensors")
    told = config_of(folder)
    for name in ("tie_word_embeddings", "n_inner", "scale_attn_weights", "add_cross_attention"):
        del told[name]
    (folder / "config.json").write_text(json.dumps(told))
    assert off_by(load_gpt2(folder, torch.float64), theirs)[0] < 1e-10


@pytest.mark.parametrize(
    "older",
    [
        {"rope_theta": 10_000.0, "rope_scaling": {"type": "linear", "factor": 4.0}},
        {"rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    ],
)
def test_older_configs_tell_of_rotary_positions_in_another_way(older, llama):
    theirs, folder = llama("linear")
    told = config_of(folder) | older
    for name in ("rope_parameters", "head_dim", "num_key_value_heads", "attention_bias"):
        del told[name]
    (folder / "config.json").write_text(json.dumps(told))
    stored = weights_of(folder)
    stored["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(6)
    save_file(stored, folder / "model.safetensors")
    error, size = off_by(load_llama(folder, torch.float64), theirs)
    assert error < 1e-6 * size


def test_the_context_before_it_was_stretched_may_stand_beside_the_table(llama):
    theirs, folder = llama("Llama 3.1")
    told = config_of(folder)
    told["original_max_position_embeddings"] = told["rope_parameters"].pop(
        "original_max_position_embeddings"
    )
    (folder / "config.json").write_text(json.dumps(told))
    error, size = off_by(load_llama(folder, torch.float64), theirs)
    assert error < 1e-6 * size


def test_an_empty_context_beside_the_table_says_nothing(llama):
    folder = llama("Llama 3.1")[1]
    told = config_of(folder) | {"original_max_position_embeddings": None}
    (folder / "config.json").write_text(json.dumps(told))
    load_llama(folder)


def test_without_scaling_the_base_is_the_papers(llama):
    _, folder = llama("Llama 2")
    told = config_of(folder)
    del told["rope_parameters"]
    (folder / "config.json").write_text(json.dumps(told | {"rope_scaling": None}))
    rotary = load_llama(folder).stack.blocks[0].self_attention.rotary
    assert torch.equal(rotary.frequencies, RotaryHalves(6).frequencies)


def test_an_output_that_is_stored_beside_its_embedding_has_to_be_the_same(gpt2):
    _, folder = gpt2("GPT-2")
    stored = weights_of(folder)
    table = stored["transformer.wte.weight"]
    save_file(stored | {"lm_head.weight": table.clone()}, folder / "model.safetensors")
    assert torch.equal(load_gpt2(folder, torch.float64).output.weight, table)
    for other in (table + 1, 1.0001 * table, table[1:]):
        save_file(stored | {"lm_head.weight": other.clone()}, folder / "model.safetensors")
        with pytest.raises(ValueError, match="output unlike"):
            load_gpt2(folder)


def test_the_tokeniser_is_read_from_the_same_folder(gpt2):
    """Of GPT-2's two files, here with a single merge."""
    _, folder = gpt2("GPT-2")
    letters = sorted(BYTE_OF)
    vocabulary = {letter: number for number, letter in enumerate([*letters, "he"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\nh e\n", encoding="utf-8")
    tokens = read_byte_pairs(folder)
    assert tokens.decode(tokens.encode("hehé")) == "hehé" and len(tokens.encode("hehé")) == 4


# What is refused ----------------------------------------------------------------------------------


REFUSED_GPT2 = REFUSED | {
    "a weight missing": (
        with_weights(lambda stored: stored.pop("transformer.h.1.ln_2.bias")),
        "lacks .* h.1.ln_2.bias:",
    ),
    "more blocks": (with_config(n_layer=3), "lacks .* h.2.attn.c_attn.bias .* 11 "),
    "fewer blocks": (with_config(n_layer=1), "also .* h.1.attn.c_attn.bias .* 11 "),
    "another width": (with_config(n_positions=9), r"wpe.weight .*\(20, 24\).*\(9, 24\)"),
    "whole numbers": (
        with_weights(lambda s: s.update({"transformer.wte.weight": torch.ones(V, 24).char()})),
        "wte.weight .*torch.int8",
    ),
    "heads": (with_config(n_head=5), "5 heads .* 24"),
    "activation": (with_config(activation_function="tanh"), "activation_function = 'tanh'"),
    "two activations": (
        with_config(activation_function=["relu"]),
        r"activation_function = \['relu'\], .*'gelu', 'gelu_new'",
    ),
    "epsilon": (with_config(layer_norm_epsilon="1e-5"), "layer_norm_epsilon = '1e-5'"),
    "no scale": (with_config(scale_attn_weights=False), "scale_attn_weights = False"),
    "scale by depth": (with_config(scale_attn_by_inverse_layer_idx=True), "_layer_idx = True"),
    "cross-attention": (with_config(add_cross_attention=True), "add_cross_attention = True"),
    "untied": (with_config(tie_word_embeddings=False), "lacks .* lm_head.weight"),
    "a word for a flag": (
        with_config(tie_word_embeddings="false"),
        "embeddings = 'false'",
    ),
    "an inner size of true": (with_config(n_inner=True), "n_inner = True"),
    "too many layers": (with_config(n_layer=10**6), "n_layer = 1000000: .* 1000"),
    "beyond any machine": (
        with_config(n_embd=10**9, n_inner=10**9, n_head=1),
        "config.json .*too large",
    ),
    "two names": (
        with_weights(lambda stored: stored.update({"wte.weight": torch.ones(V, 24)})),
        " wte.weight .*two names",
    ),
}
SLOWED = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0} | {
    "original_max_position_embeddings": 8
}
REFUSED_LLAMA = REFUSED | {
    "a weight missing": (
        with_weights(lambda stored: stored.pop("model.norm.weight")),
        "lacks .* model.norm.weight:",
    ),
    "another width": (
        with_config(num_key_value_heads=1),
        r"layers.0.self_attn.k_proj.weight .*\(16, 32\).*\(8, 32\)",
    ),
    "heads": (with_config(num_key_value_heads=3), "3 heads .* 4 "),
    "head width": (with_config(head_dim=16), "head_dim = 16, .* 8 "),
    "biases": (with_config(attention_bias=True), "attention_bias = True"),
    "more biases": (with_config(mlp_bias=True), "mlp_bias = True"),
    "activation": (with_config(hidden_act="tanh"), "hidden_act = 'tanh'"),
    "epsilon": (with_config(rms_norm_eps=True), "rms_norm_eps = True"),
    "scaling": (
        with_config(rope_parameters={"rope_type": "yarn", "factor": 2.0}),
        "config.json .*rope_type = 'yarn', .*'default', 'linear', 'llama3'",
    ),
    "scaling told twice": (
        with_config(rope_scaling={"rope_type": "linear", "factor": 2.0}),
        "rope_parameters and rope_scaling",
    ),
    "two bases": (with_config(rope_theta=7.0), "rope_theta = 500.0, .* 7.0"),
    "two contexts": (
        with_config(rope_parameters=SLOWED, original_max_position_embeddings=16),
        "original_max_position_embeddings = 8, .* 16 ",
    ),
    "waves that overlap": (
        with_config(rope_parameters=SLOWED | {"low_freq_factor": 4.0}),
        "low_freq_factor = 4.0: .*high_freq_factor, .* 4.0",
    ),
    "a key that is unknown": (
        with_config(rope_parameters=SLOWED | {"beta_fast": 32.0}),
        "beta_fast .*rope_type = 'llama3'",
    ),
    "layers of two kinds": (
        with_config(rope_parameters={"full_attention": {"rope_type": "default"}}),
        "full_attention .*rope_type = 'default'",
    ),
    "a word for a flag": (
        with_config(tie_word_embeddings="false"),
        "embeddings = 'false'",
    ),
    "no factor": (with_config(rope_parameters={"rope_type": "linear"}), "lacks 'factor'"),
    "base": (with_config(rope_parameters={"rope_theta": 0}), "rope_theta = 0:"),
    "part": (
        with_config(rope_parameters={"partial_rotary_factor": 0.5}),
        "partial_rotary_factor = 0.5, .* 1.0 ",
    ),
    "no table": (with_config(rope_parameters="llama3"), "rope_parameters = 'llama3'"),
}


@pytest.fixture(scope="module")
def originals(gpt2, llama) -> dict[str, Path]:
    return {"gpt2": gpt2("GPT-2")[1], "llama": llama("Llama 3.1")[1]}


@pytest.mark.parametrize(
    "kind, load, change, message",
    [
        pytest.param(kind, load, *refused, id=f"{kind}-{name}")
        for kind, load, all_refused in (
            ("gpt2", load_gpt2, REFUSED_GPT2),
            ("llama", load_llama, REFUSED_LLAMA),
        )
        for name, refused in all_refused.items()
    ],
)
def test_what_is_no_such_model_is_refused_in_a_sentence(
    kind, load, change, message, originals, tmp_path
):
    folder = shutil.copytree(originals[kind], tmp_path / kind)
    change(folder)
    with pytest.raises(ValueError, match=message) as refused:
        load(folder)
    sentence = str(refused.value)
    assert "\n" not in sentence and sentence.endswith(".")


def test_a_pickle_is_never_opened(originals, tmp_path, monkeypatch):
    folder = shutil.copytree(originals["gpt2"], tmp_path / "gpt2")
    with_a_pickle_alone(folder)
    opened = []
    monkeypatch.setattr(torch, "load", lambda *_, **__: opened.append(True))
    with pytest.raises(ValueError, match="pytorch_model.bin"):
        load_gpt2(str(folder))
    assert not opened
