"""Day 13's tasks: scenes in codes, batches of rows, what draws and describes, what is judged."""

import math
from io import BytesIO
from random import Random

import pytest
import torch
from PIL import Image
from torch import nn

from utils.data.scenes import LONGEST, PAIRS_UNSEEN, VOCABULARY, drawn, say, scenes, understand
from utils.seq2seq import BOS, EOS, PAD
from utils.tasks import drawing as task
from utils.tasks import masked_drawing, scenes_in_codes
from utils.tasks.scenes import clip

K = 8
POOL = scenes(60, 0)
TEST = scenes(6, 1, part="test")
READ = drawn(TEST, 0, "train", grid=scenes_in_codes.GRID)  # the parser reads all of these


@pytest.fixture(scope="module")
def pairs():
    codes = scenes_in_codes.in_codes(scenes_in_codes.autoencoder(n_codes=K, width=2), POOL)
    return task.SentencesAndCodes(POOL, codes, 4, 24, n_codes=K)


@pytest.fixture(scope="module")
def small_writer():
    return task.writer(n_codes=K, width=16, n_layers=1).eval()


# Scenes in codes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", scenes_in_codes.CODEBOOKS)
def test_training_lowers_the_loss_with_each_codebook(kind):
    model = scenes_in_codes.autoencoder(kind, n_codes=K, width=2)
    history = scenes_in_codes.train_autoencoder(model, kind, steps=25, batch_size=8, pool=POOL)
    assert history.step_loss[-1] < 0.9 * history.step_loss[0] and not model.training
    codes = scenes_in_codes.in_codes(model, POOL)
    assert codes.shape == (60, 36) and codes.max() < K
    if kind == "Gumbel":
        assert scenes_in_codes.COLDEST < model.codebook.tau < 0.1


@pytest.mark.parametrize(
    "kind, restarts",
    [("learned", 0), ("averaged alone", 0), ("restarted", 3), ("averaged", 3), ("Gumbel", 0)],
)
def test_codes_begin_anew_at_first_and_every_twenty_steps_until_three_quarters(
    kind, restarts, monkeypatch
):
    model, seen = scenes_in_codes.autoencoder(kind, n_codes=K, width=2), []
    monkeypatch.setattr(model.codebook, "restart_unused", seen.append, raising=False)
    for pictures, target in scenes_in_codes.Pictures(model, kind, 80, 2, POOL):
        assert torch.equal(pictures, target) and pictures.shape == (2, 3, 24, 24)
    assert len(seen) == restarts and all(z.shape[:1] == (2,) for z in seen)


def test_pictures_are_others_at_each_pass_and_the_same_for_a_seed():
    model, passes = scenes_in_codes.autoencoder(n_codes=K, width=2), []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        batches = scenes_in_codes.Pictures(model, "learned", 2, 3, POOL)
        passes.append(torch.cat([pictures for pictures, _ in batches]))
    assert torch.equal(passes[0], passes[1]) and not torch.equal(passes[0], passes[2])


class Remembers(nn.Module):
    """An autoencoder whose codes are numbers of pictures that it holds."""

    def __init__(self, pictures):
        super().__init__()
        self.pictures, self.codebook = pictures, scenes_in_codes.autoencoder(n_codes=64).codebook

    def encode(self, pictures):
        return torch.arange(len(pictures))[:, None].expand(-1, 36)

    def decode(self, codes):
        return self.pictures[codes[:, 0]]


def test_what_is_kept_is_a_share_an_error_and_what_is_in_use():
    found = scenes_in_codes.kept(Remembers(READ), TEST, "train")
    assert found.read == found.before == 1 and found.error == 0
    assert found.in_use == pytest.approx(6)
    dark = READ.clone()
    dark[:2] = 0
    found = scenes_in_codes.kept(Remembers(dark), TEST, "train")
    assert found.read == pytest.approx(4 / 6) and found.before == 1
    squares = (READ - dark).square().sum(dim=1).mean()
    assert found.error == pytest.approx(squares.item(), rel=1e-5)


def test_bits_are_those_of_the_file():
    pictures = drawn(TEST, 0, "test")
    assert scenes_in_codes.png_bits(pictures) > scenes_in_codes.png_bits(0 * pictures)
    bits = []
    for picture in pictures:
        file = BytesIO()
        pixels = (picture * 255).round().to(torch.uint8)
        Image.fromarray(pixels.movedim(0, 2).numpy()).save(file, "PNG", optimize=True)
        bits.append(8 * len(file.getvalue()))
    assert scenes_in_codes.png_bits(pictures) == pytest.approx(sum(bits) / 6)
    assert sum(bits) / 6 > 36 * math.log2(scenes_in_codes.K)


def test_no_other_codebook_is_known():
    with pytest.raises(ValueError, match="'plain'"):
        scenes_in_codes.autoencoder("plain")


# Rows ---------------------------------------------------------------------------------------------


def scene_of(ids):
    """The scene that words say, padded or ended."""
    found = VOCABULARY.decode(ids)
    return understand((" " if found[0].isascii() else "").join(found))


def test_a_row_is_a_scenes_sentence_and_the_codes_of_its_picture(pairs):
    codes, words, lengths = pairs.batch(Random(0))
    known = {tuple(row.tolist()): scene for row, scene in zip(pairs.codes, POOL, strict=True)}
    for of_picture, sentence, length in zip(codes, words, lengths, strict=True):
        assert (sentence != PAD).sum() == length
        assert tuple(of_picture.tolist()) in known
        scene = scene_of(sentence)
        assert scene in POOL
        assert PAIRS_UNSEEN.isdisjoint((t.form, t.colour) for t in scene.things)


def test_some_rows_have_no_sentence_and_some_batches_the_picture_first(pairs):
    batches = task.SentencesAndCodes(POOL, pairs.codes, 60, 24, n_codes=K, described=0.5)
    torch.manual_seed(0)
    rows = [ids for ids, _ in batches]
    first, second = ([ids for ids in rows if ids.shape[1] == n] for n in (64, 65))
    assert len(first) + len(second) == 60 and 15 < len(first) < 45
    empty = torch.cat([(ids[:, :LONGEST] == PAD).all(dim=1) for ids in first])
    assert 0.05 < empty.double().mean() < 0.2
    for ids in second:
        assert (ids[:, 36] == BOS).all() and ((ids == EOS).sum(dim=1) == 1).all()
        scene_of(ids[0, 37:])


def test_as_many_scenes_as_pictures_are_needed(pairs):
    with pytest.raises(ValueError, match="^6 scenes .* 60"):
        task.SentencesAndCodes(TEST, pairs.codes, 1, 1)
    with pytest.raises(ValueError, match="no scene"):
        task.SentencesAndCodes([], pairs.codes[:0], 1, 1)
    with pytest.raises(ValueError, match="no scene"):
        scenes_in_codes.train_autoencoder(scenes_in_codes.autoencoder(), steps=1, pool=[])


def test_training_a_writer_and_an_encoder_lowers_their_losses(pairs):
    pairs = task.SentencesAndCodes(POOL, pairs.codes, 30, 24, n_codes=K)
    for model, train in (
        (task.writer(n_codes=K, width=16, n_layers=1), task.train_writer),
        (
            masked_drawing.masked_writer(n_codes=K, width=16, n_layers=1),
            masked_drawing.train_masked,
        ),
    ):
        losses = train(model, pairs).step_loss
        assert sum(losses[-5:]) < 0.9 * sum(losses[:5]) and not model.training


def test_only_hidden_codes_are_targets(pairs):
    torch.manual_seed(0)
    for codes, hidden, words, lengths, target in masked_drawing.HiddenCodes(pairs):
        assert torch.equal(target[hidden], codes[hidden]) and (target[~hidden] < 0).all()
        assert torch.equal(lengths, (words != PAD).sum(dim=1)) and (lengths == 0).any()


# Drawing and describing ---------------------------------------------------------------------------


def test_sentences_become_codes_the_same_for_a_seed(small_writer):
    sentences = ["a red three", "红色的三", "a large blue circle above a green seven"]
    masked = masked_drawing.masked_writer(n_codes=K, width=16, n_layers=1).eval()
    for paint in (
        task.painter(small_writer, tau=0.9, top_k=5),
        task.painter(small_writer, guidance=2.0),
        masked_drawing.masked_painter(masked, steps=4),
    ):
        codes = paint(sentences, 0)
        assert codes.shape == (3, 36) and 0 <= codes.min() and codes.max() < K
        assert torch.equal(codes, paint(sentences, 0)) and not torch.equal(
            codes, paint(sentences, 1)
        )
        with pytest.raises(ValueError, match="'elephant'"):
            paint(["a red elephant"], 0)
        with pytest.raises(ValueError, match="empty"):
            paint([""], 0)
        with pytest.raises(ValueError, match="NoneType"):
            paint([None], 0)
        with pytest.raises(ValueError, match=r"\['a red three'\]"):
            paint("a red three", 0)


def test_descriptions_are_words_and_are_held_to_the_parser(small_writer):
    found = task.descriptions(small_writer, torch.randint(K, (5, 36)))
    assert len(found) == 5 and all(isinstance(sentence, str) for sentence in found)
    right = [say(scene, 1, "zh") for scene in TEST]
    assert task.described_rightly(right, READ) == 1
    wrong = ["three red", "", "a red elephant", *right[3:]]
    assert task.described_rightly(wrong, READ) == pytest.approx(0.5)


class SeesTheOrder(nn.Module):
    """A CLIP that finds the sentence of each scene in one of its pictures alone: a number."""

    def __init__(self, number, tries):
        super().__init__()
        self.number, self.tries = number, tries

    def encode_images(self, pictures):
        return (torch.arange(len(pictures)) % self.tries == self.number).float()[:, None]

    def encode_texts(self, ids, lengths):
        return torch.ones(len(ids), 1)


@pytest.mark.parametrize("number, share", [(0, 0.5), (1, 1.0), (2, 1 / 6)])
def test_shares_at_once_chosen_and_of_any_picture(number, share):
    pictures = torch.cat([READ, torch.zeros(1, 3, 24, 24)])
    right = torch.tensor([[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0], [1, 1, 1], [0, 1, 0]]).bool()
    asked = []

    def paint(sentences, seed):
        asked.append(seed)
        own = torch.arange(6).masked_fill(~right[:, seed - 5], 6)
        return own[:, None].expand(-1, 36)

    found = task.obeyed(
        paint, Remembers(pictures), SeesTheOrder(number, 3), TEST, tries=(1, 3), seed=5
    )
    assert asked == [5, 6, 7]
    assert found.chosen == pytest.approx([0.5, share])
    assert (found.any, found.varied) == pytest.approx((1.0, (5 * 2 + 1) / 18))


def test_the_books_own_models_fit_together():
    coder = scenes_in_codes.autoencoder(n_codes=K, width=2).eval()
    paint = task.painter(task.writer(n_codes=K, width=16, n_layers=1).eval())
    found = task.obeyed(paint, coder, clip().eval(), TEST[:2], tries=(1, 2), language="zh", way=1)
    assert all(0 <= share <= found.any <= 1 for share in found.chosen)
