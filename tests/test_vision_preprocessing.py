"""Pictures and texts reach a published model as with `transformers`: to the last bit, the last id.

The reference is its processors with Pillow, and its tokeniser.
"""

import json
import os
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image
from published import offline

from utils.tokens.published import BYTE_OF, read_byte_pairs
from utils.vision import (
    Preprocessing,
    WordEndPairs,
    preprocess,
    read_preprocessing,
    read_word_end_pairs,
)
from utils.vision.word_ends import BEGIN, END, MARK

SIDES = (64, 48), (48, 64), (33, 57), (17, 90), (30, 30), (8, 8), (101, 100), (5, 1)
MODES = "RGB", "RGBA", "L", "LA", "P", "CMYK", "1"
SMALL = {"size": {"shortest_edge": 28}, "crop_size": {"height": 24, "width": 20}}
HALF = [0.5, 0.5, 0.5]
TEXTS = [
    "a photo of a cat.",
    "  A Photo\tof TWO cats!! it's the cats' ",
    "they've 12 cats, we'll see 3.5 dogs' don't''s",
    "Straße ÀÉÎ ΣΑΣ İstanbul ǅ ﬁ cafe\u0301 ½ Ⅷ",
    "一个红色的圆在左边。 你好",
    "😀👍🏽 हिन्दी ไทย <|endoftext|> x<-y; </w> __init__",
    "a\x00b\x1f\x7f\u200b\u2028z\x85",
    "",
    "the the theta that " * 3,
]
MERGES = ["t h", "th e</w>", "c a", "ca t", "cat s</w>", "ca t</w>", "th a", "tha t</w>"] + [
    "p h", "o t", "ph ot", "phot o</w>", "! !</w>", "' s</w>", "th e", "Ã ł", "ä ¸",
]  # fmt: skip

reference = pytest.fixture(offline, scope="module")


def picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    channels = 4 if mode in ("RGBA", "CMYK") else 2 if mode == "LA" else 3
    generator = np.random.default_rng(width * height)
    pixels = generator.integers(0, 256, (height, width, channels), dtype=np.uint8)
    if mode in ("RGBA", "CMYK", "LA"):
        return Image.fromarray(pixels, mode)
    return Image.fromarray(pixels).convert(mode)


def expected(processor, image: Image.Image) -> torch.Tensor:
    return processor(image, return_tensors="pt")["pixel_values"][0]


# Pictures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", SIDES)
def test_pictures_of_all_sizes_are_clips_to_the_last_bit(reference, sides):
    image = picture(*sides)
    for told, how in (
        ({}, Preprocessing()),
        (SMALL, Preprocessing(28, (24, 20))),
        (SMALL | {"resample": 2}, Preprocessing(28, (24, 20), "bilinear")),
    ):
        found = preprocess(image, how)
        assert torch.equal(found, expected(reference.CLIPImageProcessorPil(**told), image))
        assert found.dtype == torch.float32 and found.is_contiguous()


@pytest.mark.parametrize("mode", MODES)
def test_pictures_in_all_modes_are_brought_to_colours(reference, mode):
    image = picture(40, 50, mode)
    assert torch.equal(preprocess(image), expected(reference.CLIPImageProcessorPil(), image))


def test_one_colour_of_a_palette_may_be_transparent(reference):
    image = picture(40, 50, "P")
    image.info["transparency"] = image.getpixel((20, 25))
    assert torch.equal(preprocess(image), expected(reference.CLIPImageProcessorPil(), image))
    assert not torch.equal(preprocess(image), preprocess(picture(40, 50, "P")))


@pytest.mark.parametrize("sides", SIDES)
def test_pictures_are_the_vision_transformers_to_the_last_bit(reference, sides):
    told = {"size": {"height": 32, "width": 20}, "image_mean": HALF, "image_std": HALF}
    image = picture(*sides)
    how = Preprocessing((32, 20), None, "bilinear", (0.5,) * 3, (0.5,) * 3)
    theirs = reference.ViTImageProcessorPil(**told)
    assert torch.equal(preprocess(image, how), expected(theirs, image))


def test_a_tensor_of_bytes_is_a_picture_too():
    image = picture(40, 30)
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)
    assert torch.equal(preprocess(pixels), preprocess(image))
    grey = torch.from_numpy(np.array(image.convert("L")))[None]
    assert torch.equal(preprocess(grey), preprocess(image.convert("L")))


@pytest.mark.parametrize("name", ["CLIPImageProcessorPil", "ViTImageProcessorPil"])
def test_what_the_reference_has_written_is_read(reference, tmp_path, name):
    theirs = getattr(reference, name)()
    theirs.save_pretrained(tmp_path)
    image = picture(300, 250)
    assert torch.equal(preprocess(image, read_preprocessing(tmp_path)), expected(theirs, image))


@pytest.mark.parametrize("mode", ["RGBa", "La"])
def test_colours_that_are_multiplied_by_what_covers_lie_on_white_too(mode):
    image = picture(40, 50, mode.upper()).convert(mode)
    assert torch.equal(preprocess(image), preprocess(image.convert(mode.upper())))
    assert not torch.equal(
        preprocess(image), preprocess(image.convert(mode.upper()).convert("RGB"))
    )


def cut_short(kind: str) -> Image.Image:
    file = BytesIO()
    picture(40, 50).save(file, kind)
    return Image.open(BytesIO(file.getvalue()[:-900]))


OLD = {"size": 28, "crop_size": 24, "do_center_crop": True, "resample": 3} | {
    "image_mean": HALF, "image_std": HALF, "do_resize": True, "do_normalize": True,
}  # fmt: skip


def written(folder, **told):
    (folder / "preprocessor_config.json").write_text(json.dumps(told))
    return folder


def test_older_files_tell_of_one_side(tmp_path):
    half = (0.5, 0.5, 0.5)
    found = read_preprocessing(written(tmp_path, **OLD))
    assert found == Preprocessing(28, (24, 24), "bicubic", half, half)
    uncut = {key: value for key, value in OLD.items() if "crop" not in key and key != "resample"}
    found = read_preprocessing(written(tmp_path, **uncut))
    assert found == Preprocessing((28, 28), None, "bilinear", half, half)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"do_normalize": False}, "do_normalize = False"),
        ({"rescale_factor": 1 / 127.5}, "rescale_factor"),
        ({"rescale_factor": None}, "rescale_factor = None"),
        ({"do_flip_channel_order": True}, "do_flip_channel_order = True"),
        ({"resample": 9}, "resample = '9'"),
        ({"size": {"longest_edge": 30}}, "lacks 'height'"),
        ({"size": {"shortest_edge": 30, "longest_edge": 60}}, "longest_edge = 60"),
        ({"size": "28"}, "size = '28': it is a table"),
        ({"size": 0}, "size = 0"),
        ({"size": {}}, "lacks 'height'"),
        ({"crop_size": {"height": 24}}, "lacks 'width'"),
        ({"crop_size": {"shortest_edge": 24}}, "lacks 'height'"),
        ({"crop_size": 30}, r"cut of \(30, 30\)"),
        ({"image_mean": [0.5]}, "three numbers"),
        ({"image_mean": [0.5, 0.5, "0"]}, "three numbers"),
        ({"image_std": [0.5, 0.5, 0]}, "std, so it is above 0"),
    ],
)
def test_another_preprocessing_is_refused_in_a_sentence(tmp_path, changed, message):
    with pytest.raises(ValueError, match=message):
        read_preprocessing(written(tmp_path, **OLD | changed))


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: preprocess(torch.zeros(3, 4, 4)), "uint8, .*float32"),
        (lambda: preprocess(torch.zeros(4, 5, 6, dtype=torch.uint8)), r"transparency, .*\(4, 5, 6"),
        (lambda: preprocess(torch.zeros(3, 0, 4, dtype=torch.uint8)), r"\(3, 0, 4\)"),
        (lambda: preprocess(torch.zeros(5, 6, dtype=torch.uint8)), r"\(5, 6\)"),
        (lambda: preprocess("cat.png"), "got a str"),
        (lambda: preprocess(Image.new("RGB", (0, 3))), r"\(0, 3\) pixels"),
        (lambda: preprocess(Image.new("I;16", (4, 3))), "mode I;16 has more than 8 bits"),
        (lambda: preprocess(Image.new("F", (4, 3))), "mode F has more than 8 bits"),
        (lambda: preprocess(cut_short("PNG")), "can't be read .*fetch its file again"),
        (lambda: preprocess(cut_short("JPEG")), "can't be read .*fetch its file again"),
        (lambda: Preprocessing(0), "height .* 0"),
        (lambda: Preprocessing(20, (24, 20)), r"cut of \(24, 20\)"),
        (lambda: Preprocessing(resampling="area"), "resampling 'area'"),
        (lambda: Preprocessing(mean=(0.5,)), "mean has a number"),
        (lambda: Preprocessing(std=(0.5, 0.5, 0.0)), "above 0"),
        (lambda: read_preprocessing("nowhere"), "no folder nowhere"),
    ],
)
def test_what_is_no_picture_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


# Texts --------------------------------------------------------------------------------------------


def vocabulary() -> dict[str, int]:
    letters = list(BYTE_OF)
    made = ["".join(merge.split(" ")) for merge in MERGES]
    tokens = [*letters, *(letter + "</w>" for letter in letters), *made, BEGIN, END]
    return {token: number for number, token in enumerate(tokens)}


@pytest.fixture(scope="module")
def theirs(reference):
    pairs = [tuple(merge.split(" ")) for merge in MERGES]
    return reference.CLIPTokenizer(vocab=vocabulary(), merges=pairs)


def older(folder):
    (folder / "vocab.json").write_text(json.dumps(vocabulary()))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *MERGES, ""]), "utf-8")
    return folder


@pytest.mark.parametrize("of", ["one file", "two files"])
def test_texts_are_cut_as_clips_are(theirs, tmp_path, of):
    if of == "one file":
        theirs.save_pretrained(tmp_path)
        assert (tmp_path / "tokenizer.json").exists()
    ours = read_word_end_pairs(tmp_path if of == "one file" else older(tmp_path))
    assert len(ours) == len(vocabulary())
    for text in TEXTS:
        parts = [part for part in text.split(END) if END not in text or part]
        for part in parts:  # a special token is never found in a text, as in all tokenisers here
            ids = ours.encode(part)
            assert ids == theirs.encode(part, add_special_tokens=False), part
            assert ours.decode(ids) == theirs.decode(ids)
    assert ours.pieces(ours.encode("The cats"))[0] == b"the</w>"


@pytest.mark.parametrize("max_len", [77, 6, 2])
def test_batches_are_clips(theirs, tmp_path, max_len):
    ours, texts = read_word_end_pairs(older(tmp_path)), [text for text in TEXTS if END not in text]
    ids, lengths = ours.batch(texts, max_len)
    expected = theirs(texts, padding=True, truncation=True, max_length=max_len, return_tensors="pt")
    assert torch.equal(ids, expected["input_ids"])
    assert torch.equal(lengths, expected["attention_mask"].sum(dim=1))


def test_a_special_token_is_never_found_in_a_text(tmp_path):
    ours = read_word_end_pairs(older(tmp_path))
    assert not {ours.special[BEGIN], ours.special[END]} & set(ours.encode(BEGIN + "a" + END))


def without(token):
    return lambda folder: (folder / "vocab.json").write_text(
        json.dumps({key: n for key, n in vocabulary().items() if key != token})
    )


def told(**changed):
    def change(folder):
        (folder / "tokenizer.json").write_text(json.dumps(changed))

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda folder: (folder / "vocab.json").unlink(), "vocab.json .*No such file"),
        (lambda folder: (folder / "merges.txt").unlink(), "merges.txt can't be read"),
        (lambda folder: (folder / "merges.txt").write_bytes(b"\xff"), "merges.txt can't be read"),
        (lambda folder: (folder / "merges.txt").write_text("a"), "one is 'a'"),
        (lambda folder: (folder / "merges.txt").write_text("a 语"), "'语' is not written in bytes"),
        (lambda folder: (folder / "vocab.json").write_text('{"a": -1}'), "whole one"),
        (without(END), "endoftext.* has no number"),
        (without("a</w>"), r"b'a\\xff' has no number"),
        (without("cat"), "b'cat' has no number"),
        (told(model={}), "lacks 'type'"),
        (told(model={"type": "BPE", "end_of_word_suffix": None}), "end_of_word_suffix = None"),
        (told(model={"type": "BPE"}), "lacks 'end_of_word_suffix'"),
        (told(model={"type": "WordPiece"}), "type = 'WordPiece'"),
        (
            told(model={"type": "BPE", "end_of_word_suffix": "</w>"}),
            "lacks .normalizer.",
        ),
    ],
)
def test_another_tokeniser_is_refused_in_a_sentence(tmp_path, change, message):
    change(older(tmp_path))
    with pytest.raises(ValueError, match=message):
        read_word_end_pairs(tmp_path)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"normalizer": None}, "normalizer"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "pre_tokenizer"),
        ({("normalizer", "normalizers", 1, "content"): ""}, "content = ''"),
        ({("normalizer", "normalizers", 1, "pattern"): {"Regex": " "}}, "pattern = "),
        ({("pre_tokenizer", "pretokenizers", 0, "behavior"): "Isolated"}, "behavior = "),
        ({("pre_tokenizer", "pretokenizers", 0, "invert"): False}, "invert = False"),
        ({("pre_tokenizer", "pretokenizers", 1, "add_prefix_space"): True}, "add_prefix_space = "),
        ({("added_tokens", 0, "content"): "<|image|>"}, r"content = '<\|image\|>'"),
        ({("added_tokens", 0, "content"): [1]}, r"content = \[1\]"),
        ({("added_tokens", 0, "id"): 3}, "id = 3"),
    ],
)
def test_another_way_to_cut_is_refused(theirs, tmp_path, changed, message):
    theirs.save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    told = json.loads(file.read_text("utf-8"))
    for place, value in changed.items():
        *way, last = [place] if isinstance(place, str) else place
        part = told
        for step in way:
            part = part[step]
        part[last] = value
    file.write_text(json.dumps(told), "utf-8")
    with pytest.raises(ValueError, match=f"tokenizer.json has {message}"):
        read_word_end_pairs(tmp_path)


def test_a_folder_that_may_not_be_entered_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)  # nor the superuser
    for read in (read_word_end_pairs, read_byte_pairs):
        with pytest.raises(ValueError, match="entered"):
            read(tmp_path)


def test_merges_of_numbers_are_refused(theirs, tmp_path):
    theirs.save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    told = json.loads(file.read_text("utf-8"))
    told["model"]["merges"] = [[1, 2]]
    file.write_text(json.dumps(told), "utf-8")
    with pytest.raises(ValueError, match=" token 1 .*bytes"):
        read_word_end_pairs(tmp_path)


def test_a_batch_needs_texts_and_room(tmp_path):
    ours = read_word_end_pairs(older(tmp_path))
    assert isinstance(ours, WordEndPairs) and ours.ids[b"a" + MARK] == vocabulary()["a</w>"]
    with pytest.raises(ValueError, match="max_len .* 1"):
        ours.batch(["a"], 1)
    with pytest.raises(ValueError, match="no text"):
        ours.batch([])
    with pytest.raises(ValueError, match=r"\['a'\].* string"):
        ours.batch("a")
    with pytest.raises(ValueError, match=r"\(T,\).*\(1, 3\)"):
        ours.decode(ours.batch(["a"])[0])
