"""Vision Transformers and CLIP from their published layouts equal `transformers`, the reference.

The reference's models are small and random, written by itself, and compute in float64: compared to
1e-10. Timm's and torchvision's layouts are names and shapes that are stored here.
"""

import json
from pathlib import Path

import pytest
import torch
from published import (
    REFUSED,
    offline,
    randomised,
    save,
    weights_of,
    with_config,
    with_weights,
    without_config,
)
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F
from vits import OLDER, TIMM, TORCHVISION, layers, resized

from utils.transformer import Parts, TransformerConfig
from utils.vision import CLIP, CausalTextEncoder, VisionTransformer, load_clip, load_vit
from utils.vision.text import QuickFeedForward, last_pool, lengths_to, quick_gelu

SIZES = {"hidden_size": 24, "num_attention_heads": 4, "intermediate_size": 40} | {
    "num_hidden_layers": 2
}
PICTURES = {"image_size": 12, "patch_size": 4}
VITS = {  # name: the reference's model, and what its config has else
    "with a pooler": ("ViTModel", {}),
    "with classes": ("ViTForImageClassification", {"num_labels": 5}),
    "other sizes": (
        "ViTForImageClassification",
        {"num_labels": 3, "num_channels": 1, "patch_size": 3, "num_attention_heads": 1}
        | {"num_hidden_layers": 3, "layer_norm_eps": 1e-2, "hidden_act": "gelu_new"},
    ),
    "one patch": ("ViTModel", {"patch_size": 12, "hidden_act": "relu", "num_hidden_layers": 1}),
}
V, T, END = 31, 9, 29
CLIPS = {  # name: of pictures, of texts, of both
    "quick GELU": ({}, {}, {}),
    "GELU": ({"hidden_act": "gelu"}, {"hidden_act": "gelu"}, {}),
    "other widths": (
        {"hidden_size": 16, "patch_size": 3, "num_channels": 1, "layer_norm_eps": 1e-2},
        {"num_hidden_layers": 3, "intermediate_size": 17, "num_attention_heads": 2},
        {"projection_dim": 7},
    ),
    "the largest is the end": ({}, {"eos_token_id": 2}, {}),
    "one kind each": ({"hidden_act": "gelu_new"}, {"num_hidden_layers": 1}, {}),
}
GENERATOR = torch.Generator().manual_seed(0)
IDS = torch.randint(3, END, (4, T), generator=GENERATOR)
for row, length in enumerate((T, 2, 5, 7)):
    IDS[row, length - 1 :] = END
LENGTHS = torch.tensor([T, 2, 5, 7])

reference = pytest.fixture(offline, scope="module")


@pytest.fixture(scope="module")
def vit(reference, tmp_path_factory):
    """Return a function from a name to the reference's model, its folder, and ours."""

    def made(name: str) -> tuple[nn.Module, Path, VisionTransformer]:
        kind, more = VITS[name]
        config = reference.ViTConfig(**SIZES | PICTURES | more)
        theirs = randomised(getattr(reference, kind)(config))
        folder = save(theirs, tmp_path_factory.mktemp("vit"))
        return theirs, folder, load_vit(folder, torch.float64)

    return made


@pytest.fixture(scope="module")
def clip(reference, tmp_path_factory):
    def made(name: str) -> tuple[nn.Module, Path, CLIP]:
        of_pictures, of_texts, of_both = CLIPS[name]
        text = {"vocab_size": V, "max_position_embeddings": T, "eos_token_id": END}
        config = reference.CLIPConfig(
            vision_config=SIZES | PICTURES | of_pictures,
            text_config=SIZES | text | {"bos_token_id": 1} | of_texts,
            **{"projection_dim": 12} | of_both,
        )
        theirs = randomised(reference.CLIPModel(config))
        folder = save(theirs, tmp_path_factory.mktemp("clip"))
        return theirs, folder, load_clip(folder, torch.float64)

    return made


def images(model: VisionTransformer, n: int = 3) -> torch.Tensor:
    channels = getattr(model.encoder.embedding, "symbols", None)
    channels = model.encoder.embedding[0].symbols if channels is None else channels
    return torch.randn(n, channels.channels, 12, 12, generator=GENERATOR).double()


def equal(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.dtype == theirs.dtype == torch.float64
    torch.testing.assert_close(ours, theirs, rtol=0.0, atol=1e-10)


def left(blocks: nn.ModuleList) -> list[torch.Tensor]:
    """A list into which each block's output is put."""
    found = []
    for block in blocks:
        block.register_forward_hook(lambda _, __, output: found.append(output[0]))
    return found


# Equal numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VITS)
@torch.no_grad()
def test_a_vision_transformer_equals_the_reference(vit, name):
    theirs, _, ours = vit(name)
    pictures, states = images(ours), left(ours.encoder.blocks)
    expected = theirs(pictures, output_hidden_states=True)
    found, weights = ours(pictures, need_weights=True)
    states = [ours.encoder.embedding(pictures), *states]
    for a, b in zip(states, expected.hidden_states, strict=True):
        equal(a, b)
    equal(found, expected.logits if "logits" in expected else expected.pooler_output)
    if "last_hidden_state" in expected:
        equal(ours.encoder.norm(states[-1]), expected.last_hidden_state)
    n_patches = 1 + (12 // theirs.config.patch_size) ** 2
    assert weights.shape[3:] == (n_patches, n_patches) and not ours.training


@pytest.mark.parametrize("name", CLIPS)
@torch.no_grad()
def test_clip_equals_the_reference(clip, name):
    theirs, _, ours = clip(name)
    theirs.logit_scale.fill_(2.3)
    ours.log_scale.fill_(2.3)
    pictures = images(ours.image_encoder)
    expected = theirs(
        pixel_values=pictures, input_ids=IDS, output_hidden_states=True, return_dict=True
    )
    of_pictures, of_texts = (
        left(encoder.encoder.blocks) for encoder in (ours.image_encoder, ours.text_encoder)
    )
    u, v = ours.encode_images(pictures), ours.encode_texts(IDS, LENGTHS)
    equal(u, expected.image_embeds)
    equal(v, expected.text_embeds)
    equal(u @ v.T / ours.temperature, expected.logits_per_image)
    equal(ours.encode_texts(IDS, None), v)
    embedding = ours.image_encoder.encoder.embedding
    for a, b in zip(
        [embedding(pictures), *of_pictures],
        theirs.vision_model(pictures, output_hidden_states=True).hidden_states,
        strict=True,
    ):
        equal(a, b)
    for a, b in zip(
        [ours.text_encoder.encoder.embedding(IDS), *of_texts[: len(of_texts) // 2]],
        theirs.text_model(IDS, output_hidden_states=True).hidden_states,
        strict=True,
    ):
        equal(a, b)


@torch.no_grad()
def test_the_scale_is_read_and_float32_stays_near(clip):
    theirs, folder, ours = clip("quick GELU")
    assert ours.log_scale.item() == theirs.logit_scale.item()
    small = load_clip(folder)
    pictures = images(ours.image_encoder)
    found = small.encode_images(pictures.float()).double()
    torch.testing.assert_close(found, ours.encode_images(pictures), rtol=0, atol=1e-5)
    assert load_clip(folder, torch.bfloat16).temperature.dtype == torch.bfloat16


@torch.no_grad()
def test_where_the_largest_number_is_the_end_the_first_of_it_counts(clip):
    theirs, _, ours = clip("the largest is the end")
    ids = torch.tensor([[3, 8, 30, 30], [3, 9, 30, 4], [30, 2, 2, 2]])
    expected = theirs.get_text_features(ids).pooler_output
    equal(ours.text_encoder(ids), expected)
    equal(ours.text_encoder(ids, torch.tensor([3, 3, 1])), expected)


# Timm and torchvision -----------------------------------------------------------------------------

SMALL = {768: 24, 2304: 72, 3072: 40, 16: 4, 197: 10, 1000: 5}  # twelve heads, pictures of 12


def stored_as(layout: str, stored: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The reference's weights under the names of another library, by the table of its names."""
    table = {"timm": TIMM, "torchvision": TORCHVISION}[layout]
    kinds = {  # what the names have in them: what the reference calls it
        ("cls_token", "class_token"): "vit.embeddings.cls_token",
        ("pos_embed",): "vit.embeddings.position_embeddings",
        ("patch_embed", "conv_proj"): "vit.embeddings.patch_embeddings.projection",
        ("norm1", "ln_1"): "vit.encoder.layer.{}.layernorm_before",
        ("norm2", "ln_2"): "vit.encoder.layer.{}.layernorm_after",
        ("attn.qkv", "in_proj"): "vit.encoder.layer.{}.attention.attention.",
        ("attn.proj", "out_proj"): "vit.encoder.layer.{}.attention.output.dense",
        ("fc1", "mlp.0"): "vit.encoder.layer.{}.intermediate.dense",
        ("fc2", "mlp.3"): "vit.encoder.layer.{}.output.dense",
        ("head",): "classifier",
        ("norm.", "encoder.ln."): "vit.layernorm",
    }
    found = {}
    for name, axes in table.items():
        called = next(to for marks, to in kinds.items() if any(mark in name for mark in marks))
        end = "." + name.replace("_", ".").rsplit(".", 1)[-1]
        for i in range(SIZES["num_hidden_layers"]):
            if called.endswith("."):
                parts = [
                    stored[called.format(i) + part + end] for part in ("query", "key", "value")
                ]
                weight = torch.cat(parts)
            else:
                weight = stored.get(called.format(i), stored.get(called.format(i) + end))
            found[name.format(i)] = weight.contiguous().clone()
            assert weight.shape == resized(axes, SMALL), name
    return found


def written(folder: Path, weights: dict[str, torch.Tensor], **config: object) -> Path:
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize(
    "layout, name", [("timm", "vit_base_patch4_12.some_tag"), ("torchvision", "vit_b_4")]
)
@torch.no_grad()
def test_other_layouts_hold_the_same_numbers(reference, tmp_path, layout, name, older):
    config = reference.ViTConfig(
        **SIZES | PICTURES | {"num_attention_heads": 12, "layer_norm_eps": 1e-6, "num_labels": 5}
    )
    theirs = randomised(reference.ViTForImageClassification(config))
    weights = stored_as(layout, weights_of(save(theirs, tmp_path / "theirs")))
    if older:
        for now, before in OLDER.items():
            weights = {key.replace(now, before): weight for key, weight in weights.items()}
    ours = load_vit(written(tmp_path, weights, architecture=name), torch.float64)
    pictures = images(ours)
    equal(ours(pictures), theirs(pictures).logits)
    headless = {key: weight for key, weight in weights.items() if "head" not in key}
    ours = load_vit(written(tmp_path, headless, architecture=name), torch.float64)
    equal(ours(pictures), theirs.vit(pictures).last_hidden_state[:, 0])


@pytest.mark.parametrize(
    "table, name", [(TIMM, "vit_base_patch16_224"), (TORCHVISION, "vit_b_16")], ids=str
)
def test_of_a_published_size_each_name_has_its_place(table, name, monkeypatch, tmp_path):
    """In no memory: names and shapes are compared before there are numbers."""
    weights = {key: torch.empty(axes, device="meta") for key, axes in layers(table, 12).items()}
    found = {}

    def filled(make, places, weights, folder, dtype):
        with torch.device("meta"):
            found.update(places(make())[0])
        assert found.keys() == weights.keys()
        assert all(found[key].shape == weight.shape for key, weight in weights.items())

    monkeypatch.setattr("utils.vision.published.filled", filled)
    monkeypatch.setattr("utils.vision.published.read_weights", lambda folder: weights)
    (tmp_path / "config.json").write_text(json.dumps({"architecture": name}))
    load_vit(tmp_path)
    assert sum(place.numel() for place in found.values()) == 86_567_656


@pytest.mark.parametrize(
    "table, of, n_heads",  # Dosovitskiy et al., 2021, table 1; Touvron et al., 2021, table 1
    [(TIMM, "vit_tiny", 3), (TIMM, "vit_small", 6), (TIMM, "vit_base", 12), (TIMM, "vit_large", 16)]
    + [(TIMM, "vit_huge", 16)]
    + [(TORCHVISION, "vit_b", 12), (TORCHVISION, "vit_l", 16), (TORCHVISION, "vit_h", 16)],
)
def test_the_name_tells_how_many_heads_there_are(tmp_path, table, of, n_heads):
    sizes = SMALL | {768: 48, 2304: 144}  # a width that all of them divide
    weights = {name: torch.zeros(resized(axes, sizes)) for name, axes in layers(table, 1).items()}
    name = f"{of}_patch4_12" if table is TIMM else f"{of}_4"
    model = load_vit(written(tmp_path, weights, architecture=name))
    weights = model(torch.zeros(1, 3, 12, 12), need_weights=True)[1]
    assert weights.shape == (1, 1, n_heads, 10, 10)


# What is refused ----------------------------------------------------------------------------------

GENERAL = {
    name: case for name, case in REFUSED.items() if "size" not in name and name != "no vocabulary"
}
OF_VIT = {
    "no width": (without_config("hidden_size"), "config.json lacks 'hidden_size'"),
    "a rectangle": (with_config(image_size=[12, 16]), r"image_size = \[12, 16\]: it is a whole"),
    "another size": (with_config(image_size=16), r"position_embeddings is \(1, 10, 24\), .* 17"),
    "patches that don't fit": (with_config(image_size=13), "Patches of 4 .* 13"),
    "other channels": (with_config(num_channels=4), r"projection.weight is \(24, 3, 4, 4\)"),
    "heads that don't divide": (with_config(num_attention_heads=5), "5 heads .* 24"),
    "no biases": (with_config(qkv_bias=False), "qkv_bias = False"),
    "another activation": (with_config(hidden_act="mish"), "hidden_act = 'mish'"),
    "a flat head": (
        with_weights(lambda stored: stored.update({"classifier.weight": torch.ones(3)})),
        "classifier.weight of 2 axes",
    ),
}


def with_end(number):
    """Change the one key in the inner table of texts."""

    def change(folder):
        file = folder / "config.json"
        told = json.loads(file.read_text())
        told["text_config"]["eos_token_id"] = number
        file.write_text(json.dumps(told))

    return change


OF_CLIP = {
    "no tower": (without_config("vision_config"), "config.json lacks 'hidden_"),
    "no end": (with_end([3]), r"eos_token_id = \[3\]: it is an id"),
    "an end below 0": (with_end(-1), f"eos_token_id = -1: it is an id from 0 to {V - 1}"),
    "an end behind the vocabulary": (with_end(V), f"eos_token_id = {V}: it is an id"),
    "no width": (without_config("projection_dim"), "config.json lacks 'projection_dim'"),
    "another width": (with_config(projection_dim=11), r"projection.weight is \(12, 24\)"),
}


@pytest.mark.parametrize("case", GENERAL | OF_VIT)
def test_a_folder_of_another_kind_is_refused_in_a_sentence(vit, case):
    change, message = (GENERAL | OF_VIT)[case]
    _, folder, _ = vit("with a pooler")
    change(folder)
    with pytest.raises(ValueError, match=message):
        load_vit(folder)


@pytest.mark.parametrize("case", GENERAL | OF_CLIP)
def test_another_clip_is_refused_in_a_sentence(clip, case):
    change, message = (GENERAL | OF_CLIP)[case]
    _, folder, _ = clip("quick GELU")
    change(folder)
    with pytest.raises(ValueError, match=message):
        load_clip(folder)


@pytest.mark.parametrize("dtype", ["float32", torch.int32])
def test_a_dtype_that_no_weight_has_is_refused_in_a_sentence(clip, dtype):
    with pytest.raises(ValueError, match=f"floating-point .*{dtype}"):
        load_clip(clip("quick GELU")[1], dtype)


@pytest.mark.parametrize(
    "config, change, message",
    [
        ({"architecture": "resnet50"}, None, "architecture = 'resnet50'"),
        ({"architecture": 3}, None, "architecture = 3"),
        ({"architecture": "vit_base_patch4_12", "global_pool": "avg"}, None, "global_pool = 'avg'"),
        *(
            ({"architecture": "vit_base_patch4_12", "model_args": arguments}, None, message)
            for arguments, message in (
                ({"global_pool": "map"}, "global_pool = 'map'"),
                ({"num_heads": 6}, "num_heads = 6"),
                ({"img_size": 12, "act_layer": "quick_gelu"}, "act_layer in model_args"),
                ({"qkv_bias": False}, "qkv_bias = False"),
                ({"class_token": True, "drop_path_rate": 0.1, "no_embed_class": 1}, "no_embed"),
            )
        ),
        ({"architecture": "vit_base_patch4_12"}, "pos_embed", "pos_embed of 3 axes is missing"),
        ({"architecture": "vit_base_patch4_12"}, "blocks.1.norm2.bias", "lacks .*1.norm2.bias:"),
        ({"architecture": "vit_small_patch4_12"}, "head.bias", "lacks the weight head.bias"),
        ({"architecture": "vit_b_4"}, None, "conv_proj.weight of 4 axes is missing"),
        ({}, None, "lacks 'model_type'"),
    ],
)
def test_what_is_no_layout_is_refused(tmp_path, config, change, message):
    weights = {name: torch.zeros(resized(axes, SMALL)) for name, axes in layers(TIMM, 2).items()}
    weights.pop(change, None)
    with pytest.raises(ValueError, match=message):
        load_vit(written(tmp_path, weights, **config))


@torch.no_grad()
def test_a_picture_of_another_size_or_with_transparency_is_refused(vit, clip):
    for model in (vit("with classes")[2], clip("quick GELU")[2].image_encoder):
        for shape, message in (((1, 3, 16, 16), "12 × 12"), ((1, 4, 12, 12), r"\(B, 3, H, W\)")):
            with pytest.raises(ValueError, match=message):
                model(torch.zeros(shape).double())


# The encoder of texts -----------------------------------------------------------------------------


def text_encoder() -> CausalTextEncoder:
    torch.manual_seed(0)
    config = TransformerConfig(
        V, d_model=8, n_heads=2, d_ff=12, n_layers=2, norm="pre", positions="learned", max_len=T
    )
    parts = Parts(feed_forward=QuickFeedForward)
    return CausalTextEncoder(config, 6, parts, END).double().eval()


def test_what_follows_the_end_changes_nothing():
    model = text_encoder()
    changed = IDS.clone()
    changed[1, 2:] = 7
    equal(model(changed), model(IDS))
    vectors, weights = model(IDS, need_weights=True)
    assert vectors.shape == (4, 6) and weights.shape == (4, 2, 2, T, T)
    assert (weights.triu(1) == 0).all() and not list(model.output.parameters())[1:]


def test_quick_gelu_is_a_gate_near_gelu():
    x = torch.linspace(-6, 6, 1001, dtype=torch.float64)
    equal(quick_gelu(x), x / (1 + (-1.702 * x).exp()))
    assert 0.01 < (quick_gelu(x) - F.gelu(x)).abs().max() < 0.03


def test_lengths_go_as_far_as_the_first_end():
    assert lengths_to(IDS, END).tolist() == LENGTHS.tolist() == lengths_to(IDS, None).tolist()
    x = torch.arange(24.0).view(2, 4, 3)
    assert last_pool(x, torch.tensor([1, 4])).tolist() == [[0, 1, 2], [21, 22, 23]]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: lengths_to(torch.tensor([[1, 2], [3, 4]]), 2), "Text 1 lacks the number 2"),
        (lambda: lengths_to(torch.ones(2, 3), 1), r"whole ids \(B, T\)"),
        (lambda: lengths_to(IDS[:0], END), r"at least one text, got \(0, 9\)"),
        (lambda: lengths_to([[1, 2]], 2), "at least one text, got a list"),
        (lambda: text_encoder()(IDS[:0]), r"at least one text, got \(0, 9\)"),
        (lambda: lengths_to(torch.ones(2, 3), None), r"whole ids \(B, T\)"),
        (lambda: last_pool(torch.ones(2, 3, 4), torch.tensor([1, 4])), "A length is 4"),
        (lambda: text_encoder()(IDS, torch.tensor([1])), "4 whole lengths"),
        (lambda: text_encoder()(torch.full((1, T + 1), END)), f"{T}"),
    ],
)
def test_texts_that_do_not_fit_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
