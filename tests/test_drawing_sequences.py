"""Day 13's sequences: a sentence and a picture in one row, and codes that are shown at once."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.drawing import (
    MaskedCodes,
    SharedVocabulary,
    describing_step,
    drawing_step,
    guided_logits,
    hide_codes,
    joint_loss,
    mask_share,
    masked_code_loss,
    unmask,
    unmask_schedule,
    without_sentences,
)
from utils.seq2seq import BOS, EOS, PAD
from utils.training.sampling import chooser, generate
from utils.transformer import DecoderOnly, TransformerConfig

VOCABULARY = SharedVocabulary(n_words=9, n_codes=5, longest=4, n_places=6)
WORDS = torch.tensor([[5, 7, PAD], [8, 4, 6]])
CODES = torch.tensor([[0, 4, 2, 2, 1, 3], [4, 4, 0, 1, 0, 2]])


def config(**others):
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 12, "n_layers": 2, "dropout": 0.0}
    return TransformerConfig(
        len(VOCABULARY), **sizes, norm="pre", positions="learned", max_len=12, **others
    )


@pytest.fixture
def gpt():
    torch.manual_seed(0)
    model = DecoderOnly(config(tied=False)).double().eval()
    nn.init.normal_(model.output.weight)  # no two logits are near each other
    return model


@pytest.fixture
def masked():
    torch.manual_seed(0)
    model = MaskedCodes(config(), VOCABULARY).double().eval()
    nn.init.normal_(model.encoder.embedding.positions.table, std=3)  # places differ
    nn.init.normal_(model.output.weight)
    return model


# One row ------------------------------------------------------------------------------------------


def test_words_a_mark_and_codes_that_no_word_has():
    assert len(VOCABULARY) == 15 and VOCABULARY.mark == 14 and VOCABULARY.context == 12
    rows = VOCABULARY.sentence_then_picture(WORDS, CODES)
    assert rows.tolist() == [
        [5, 7, 0, 0, 14, 9, 13, 11, 11, 10, 12],
        [8, 4, 6, 0, 14, 13, 13, 9, 10, 9, 11],
    ]
    assert torch.equal(VOCABULARY.codes_of(rows[:, 5:]), CODES)


def test_codes_and_then_words_between_their_ends():
    rows = VOCABULARY.picture_then_sentence(CODES, WORDS)
    assert rows[:, :6].tolist() == (CODES + 9).tolist()
    assert rows[:, 6:].tolist() == [[BOS, 5, 7, EOS, PAD, PAD], [BOS, 8, 4, 6, EOS, PAD]]
    full = torch.tensor([[5, 6, 7, 8]])
    assert VOCABULARY.picture_then_sentence(CODES[:1], full)[0, 6:].tolist() == [1, 5, 6, 7, 8, EOS]


@pytest.mark.parametrize(
    "words, codes, says",
    [
        (torch.ones(2, 5, dtype=torch.long), CODES, "at most 4 words here, not 5"),
        (WORDS + 1, CODES, "Ids run from 0 to 8 in this vocabulary, got 9"),
        (WORDS, CODES + 1, "Codes run from 0 to 4 in this codebook, got 5"),
        (WORDS, CODES[:, :5], r"Expected codes \(B, 6\), got \(2, 5\)"),
        (WORDS[:1], CODES, "1 sentences and 2 pictures: no pairs"),
        (WORDS.double(), CODES, "whole ids"),
    ],
)
def test_what_makes_no_row_is_refused(words, codes, says):
    for make in (
        lambda: VOCABULARY.sentence_then_picture(words, codes),
        lambda: VOCABULARY.picture_then_sentence(codes, words),
    ):
        with pytest.raises(ValueError, match=says):
            make()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
def test_codes_whose_ids_may_not_fit_into_their_kind_are_refused(dtype):
    vocabulary, codes = SharedVocabulary(250, 300, 4, 6), CODES.to(dtype)
    for make in (
        lambda: vocabulary.ids_of(codes),
        lambda: vocabulary.sentence_then_picture(WORDS, codes),
        lambda: vocabulary.picture_then_sentence(codes, WORDS),
    ):
        with pytest.raises(ValueError, match=" int64"):
            make()


def test_ids_that_are_no_codes_and_sizes_below_1_are_refused():
    for id in (8, 14):
        with pytest.raises(ValueError, match=" 0 to 4"):
            VOCABULARY.codes_of(torch.tensor([[id]]))
    with pytest.raises(ValueError, match="^n_places .* 1"):
        SharedVocabulary(9, 5, 4, 0)


# The loss -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["sentence first", "picture first"])
def test_the_loss_is_a_mean_of_words_and_a_mean_of_codes(order):
    first = order == "sentence first"
    make = VOCABULARY.sentence_then_picture if first else VOCABULARY.picture_then_sentence
    ids = make(WORDS, CODES) if first else make(CODES, WORDS)
    logits = torch.randn(*ids.shape, 15, dtype=torch.float64)
    words, codes = [], []
    for row, of_row in zip(ids.tolist(), logits.log_softmax(dim=-1), strict=True):
        for t, target in enumerate(row[1:]):
            if 9 <= target < 14:
                codes.append(-of_row[t, target])
            elif target not in (PAD, BOS, 14):
                words.append(-of_row[t, target])
    assert len(words) == (3 if first else 7) and len(codes) == (12 if first else 10)
    means = sum(words) / len(words), sum(codes) / len(codes)
    torch.testing.assert_close(joint_loss(logits, ids, VOCABULARY), means[0] / 8 + 7 * means[1] / 8)
    torch.testing.assert_close(joint_loss(logits, ids, VOCABULARY, (2.0, 0.0)), 2 * means[0])


def test_without_a_sentence_codes_alone_are_asked_for():
    ids = VOCABULARY.sentence_then_picture(torch.zeros_like(WORDS), CODES)
    logits = torch.randn(*ids.shape, 15, dtype=torch.float64)
    expected = F.cross_entropy(logits[:, 4:-1].flatten(0, 1), ids[:, 5:].flatten())
    torch.testing.assert_close(joint_loss(logits, ids, VOCABULARY, (1.0, 1.0)), expected)


def test_other_logits_and_weights_are_refused():
    ids = VOCABULARY.sentence_then_picture(WORDS, CODES)
    with pytest.raises(ValueError, match=r"Expected logits \(2, 11, 15\)"):
        joint_loss(torch.ones(2, 11, 14), ids, VOCABULARY)
    with pytest.raises(ValueError, match="weight .* 0"):
        joint_loss(torch.ones(2, 11, 15), ids, VOCABULARY, (-1.0, 1.0))
    for weights in ((1.0,), (1.0, 1.0, 1.0)):
        with pytest.raises(ValueError, match="two weights"):
            joint_loss(torch.ones(2, 11, 15), ids, VOCABULARY, weights)


def test_a_share_of_the_sentences_is_left_out_whole():
    words = torch.arange(1, 9).repeat(1000, 1)
    found = without_sentences(words, 0.2, torch.Generator().manual_seed(0))
    dropped = (found == PAD).all(dim=1)
    assert torch.equal(found[~dropped], words[~dropped]) and 150 < dropped.sum() < 250
    assert torch.equal(without_sentences(words, 0.0), words)
    with pytest.raises(ValueError, match="share"):
        without_sentences(words, 1.0)


# Drawing and describing ---------------------------------------------------------------------------


def drawn_plainly(model, words, weight):
    """All codes by an argmax, each from the whole row so far, read anew."""
    rows = torch.cat([VOCABULARY.padded(words), torch.full((len(words), 1), 14)], dim=1)
    for _ in range(6):
        without = rows.clone()
        without[:, :4] = PAD
        with_, without = (model(ids)[0][:, -1].log_softmax(dim=-1) for ids in (rows, without))
        logits = (1 - weight) * without + weight * with_
        code = logits[:, 9:14].argmax(dim=1, keepdim=True)
        rows = torch.cat([rows, code + 9], dim=1)
    return rows[:, 5:] - 9


@pytest.mark.parametrize("weight", [None, 3.0, 0.0, -2.0])
def test_drawing_goes_on_with_codes_alone_with_and_without_the_sentence(gpt, weight):
    step = drawing_step(gpt, VOCABULARY, *([] if weight is None else [weight]))
    first = torch.full((2,), VOCABULARY.mark)
    found = generate(step, VOCABULARY.padded(WORDS), first, 6, chooser(0))
    with torch.no_grad():
        plainly = drawn_plainly(gpt, WORDS, 1.0 if weight is None else weight)
        assert torch.equal(VOCABULARY.codes_of(found), plainly)


def test_guidance_matters_here_and_no_word_is_ever_drawn(gpt):
    plain, pushed = (drawn_plainly(gpt, WORDS, weight) for weight in (1.0, 3.0))
    assert not torch.equal(plain, pushed)
    nn.init.zeros_(gpt.output.weight[9:14])  # words and mark are likelier than all codes or less
    words = WORDS.repeat(50, 1)
    step = drawing_step(gpt, VOCABULARY, 2.0)
    found = generate(step, VOCABULARY.padded(words), torch.full((100,), 14), 6, chooser(1.0))
    assert 9 <= found.min() and found.max() < 14


def test_guided_logits_lie_on_a_line():
    with_, without = torch.randn(2, 3, 4)
    for weight, expected in ((0, without), (1, with_), (2, with_ + with_ - without)):
        torch.testing.assert_close(guided_logits(with_, without, weight), expected)
    with pytest.raises(ValueError, match="with and without"):
        guided_logits(with_, without[:1], 1.0)


def test_describing_goes_on_with_words_until_the_end(gpt):
    step = describing_step(gpt, VOCABULARY)
    first = torch.full((2,), BOS)
    found = generate(step, VOCABULARY.ids_of(CODES), first, 5, chooser(0), end=EOS)
    allowed = [2, 3, 4, 5, 6, 7, 8]
    for row, codes in zip(found, CODES, strict=True):
        ids = [*(codes + 9).tolist(), BOS]
        for word in row.tolist():
            with torch.no_grad():
                logits = gpt(torch.tensor([ids]))[0][0, -1]
            assert word == max(allowed, key=lambda id: logits[id])
            ids.append(word)
            if word == EOS:
                break


def test_a_model_of_another_vocabulary_is_refused(gpt):
    other = SharedVocabulary(9, 6, 4, 6)
    for make in (drawing_step, describing_step):
        with pytest.raises(ValueError, match=" 15 .* 16"):
            make(gpt, other)


# Masked codes -------------------------------------------------------------------------------------


def test_the_share_falls_along_a_cosine():
    assert mask_share(0) == 1 and mask_share(1) == pytest.approx(0, abs=1e-12)
    assert mask_share(0.5) == pytest.approx(math.sqrt(0.5))
    with pytest.raises(ValueError, match="from 0 to 1"):
        mask_share(1.1)


def test_a_schedule_shows_at_least_one_at_each_step_and_all_in_the_end():
    assert unmask_schedule(36, 8) == [35, 33, 29, 25, 20, 13, 7, 0]
    assert unmask_schedule(36, 1) == [0]
    for n in range(1, 40):
        for steps in range(1, n + 1):
            hidden = [n, *unmask_schedule(n, steps)]
            assert all(a > b for a, b in zip(hidden, hidden[1:], strict=False))
            assert len(hidden) == steps + 1 and hidden[-1] == 0
    with pytest.raises(ValueError, match="^3 codes .* 4 steps"):
        unmask_schedule(3, 4)


def test_shares_that_are_hidden_in_training_are_those_of_the_cosine():
    codes = torch.zeros(4000, 36, dtype=torch.long)
    hidden = hide_codes(codes, torch.Generator().manual_seed(0))
    shares = hidden.double().mean(dim=1)
    assert hidden.sum(dim=1).min() >= 1
    assert torch.equal(hidden, hide_codes(codes, torch.Generator().manual_seed(0)))
    assert abs(shares.mean() - 2 / math.pi - 1 / 72) < 0.03  # and half a code by rounding up
    assert (hidden.double().mean(dim=0) - shares.mean()).abs().max() < 0.05
    with pytest.raises(ValueError, match=r"Expected codes \(B, n\)"):
        hide_codes(codes[0])


def test_only_hidden_codes_are_asked_for():
    logits = torch.randn(2, 6, 5, dtype=torch.float64, requires_grad=True)
    hidden = torch.tensor([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0]]).bool()
    log_p = logits.log_softmax(dim=-1)
    places = [(0, 0), (0, 3), (1, 1)]
    expected = -sum(log_p[b, i, CODES[b, i]] for b, i in places) / 3
    loss = masked_code_loss(logits, CODES, hidden)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert (logits.grad[~hidden] == 0).all()
    with pytest.raises(ValueError, match="No code"):
        masked_code_loss(logits, CODES, hidden & False)
    with pytest.raises(ValueError, match=r"Expected logits \(B, n, K\)"):
        masked_code_loss(logits[:, :5], CODES, hidden)


def test_hidden_codes_are_not_seen_and_padding_is_not_read(masked):
    hidden = torch.zeros(2, 6, dtype=torch.bool)
    hidden[:, [1, 4]] = True
    lengths = torch.tensor([2, 3])
    logits = masked(CODES, hidden, WORDS, lengths)
    assert logits.shape == (2, 6, 5)
    other, words = CODES.clone(), WORDS.clone()
    other[:, [1, 4]], words[0, 2] = 3, 6
    torch.testing.assert_close(masked(other, hidden, words, lengths), logits)
    other[:, 0], words[1, 2] = 2, 5
    assert not torch.allclose(masked(other, hidden, WORDS, lengths)[0], logits[0])
    assert not torch.allclose(masked(CODES, hidden, words, lengths)[1], logits[1])
    bare = masked(CODES, hidden, WORDS, torch.zeros(2, dtype=torch.long))
    torch.testing.assert_close(bare, masked(CODES, hidden, WORDS[:, :0], torch.tensor([0, 0])))


@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_the_most_probable_codes_are_shown_first_and_noise_fades(masked, noise):
    words, lengths = WORDS.repeat(4, 1), torch.tensor([2, 3]).repeat(4)
    lots = (torch.Generator().manual_seed(0) for _ in range(2))
    how = {"steps": 4, "choose": chooser(0), "noise": noise}
    seen = []
    hook = masked.register_forward_pre_hook(lambda _, given: seen.append(given[1]))
    found = unmask(masked, words, lengths, generator=next(lots), **how)
    hook.remove()
    codes, hidden = torch.zeros(8, 6, dtype=torch.long), torch.ones(8, 6, dtype=torch.bool)
    generator = next(lots)
    for t, n_hidden in enumerate(unmask_schedule(6, 4), start=1):
        assert torch.equal(seen[t - 1], hidden)
        with torch.no_grad():
            p = masked(codes, hidden, words, lengths).softmax(dim=-1)
        gumbel = -torch.empty(8, 6).exponential_(generator=generator).log() * noise * (4 - t) / 4
        for b in range(8):
            unknown = hidden[b].nonzero()[:, 0].tolist()
            codes[b, unknown] = p[b, unknown].argmax(dim=-1)
            sure = {i: p[b, i].max().log().item() + gumbel[b, i].item() for i in unknown}
            surest = sorted(unknown, key=lambda i, sure=sure: -sure[i])
            hidden[b, surest[: len(unknown) - n_hidden]] = False
    assert torch.equal(found, codes) and len(codes.unique()) > 2


def test_noise_changes_the_order_and_a_seed_repeats_it(masked):
    lengths, words = torch.full((400,), 3), WORDS[1:].repeat(400, 1)

    def orders(noise, seed=0):
        """Which codes were hidden, step by step: (steps, B, n)."""
        seen = []
        hook = masked.register_forward_pre_hook(lambda _, given: seen.append(given[1]))
        how = {"steps": 6, "choose": chooser(0), "noise": noise}
        unmask(masked, words, lengths, generator=torch.Generator().manual_seed(seed), **how)
        hook.remove()
        return torch.stack(seen)

    assert [len(orders(noise)[3].unique(dim=0)) for noise in (0.0, 1e9)] == [1, 20]
    assert torch.equal(orders(3.0), orders(3.0)) and not torch.equal(orders(3.0), orders(3.0, 1))
    assert orders(3.0)[:, 0].sum(dim=1).tolist() == [6, *unmask_schedule(6, 6)[:-1]]


def test_masked_codes_refuse_what_does_not_fit(masked):
    lengths, hidden = torch.tensor([2, 3]), torch.ones(2, 6, dtype=torch.bool)
    with pytest.raises(ValueError, match="at least 13"):
        MaskedCodes(config(), SharedVocabulary(9, 5, 7, 6))
    with pytest.raises(ValueError, match=" 16 "):
        MaskedCodes(config(), SharedVocabulary(9, 6, 4, 6))
    with pytest.raises(ValueError, match="boolean"):
        masked(CODES, hidden[:, :5], WORDS, lengths)
    with pytest.raises(ValueError, match="A length is 13"):
        masked(CODES, hidden, WORDS, lengths + 4)
    for below in (-1, -5):
        with pytest.raises(ValueError, match=f" 0 words .* {below}"):
            masked(CODES, hidden, WORDS, torch.tensor([below, 3]))
    with pytest.raises(ValueError, match=" int64"):
        masked(CODES.byte(), hidden, WORDS, lengths)
