"""What Day 10's families are asked: nothing gives the answer away, and padding changes nothing."""

import pytest
import torch
from torch.nn import functional as F

from utils.data.libraries import sentences
from utils.data.text import EOS, PAD, pad
from utils.pretraining import IGNORE, MASK
from utils.tasks import gaps as task
from utils.tasks.families import FAMILIES, Classifies, Noised, learn
from utils.tasks.gaps import Gap, chances, fills, follows, gaps, nats, passages, second_halves
from utils.tasks.pretraining import vocabulary

BEFORE, AFTER = [10, 11, 12], [13, 14, EOS]
CLOSE = {"rtol": 1e-4, "atol": 1e-4}

each = pytest.mark.parametrize("name", FAMILIES)
each_that_writes = pytest.mark.parametrize("name", [*FAMILIES][1:])


@pytest.fixture(scope="module")
def models() -> dict:
    return {name: make(0).eval() for name, make in FAMILIES.items()}


def said(model, before, word, after) -> torch.Tensor:
    return chances(model, [model.asks(before, word, after)])[0]


# Asking -------------------------------------------------------------------------------------------


@each
def test_the_word_that_is_asked_for_is_not_shown(name, models):
    one, other = (said(models[name], BEFORE, word, AFTER) for word in (40, 41))
    torch.testing.assert_close(one, other, **CLOSE)
    example = models[name].asks(BEFORE, 40, AFTER)
    assert example.target[example.place] == 40 and 40 not in example.source


@each
def test_what_is_before_counts_and_what_is_behind_only_for_those_that_read_it(name, models):
    plain = said(models[name], BEFORE, 40, AFTER)
    others = said(models[name], [10, 11, 30], 40, AFTER), said(models[name], BEFORE, 40, [30, 14])
    changed = [not torch.allclose(plain, other, **CLOSE) for other in others]
    assert changed == [True, name != "decoder"]


@each
def test_only_words_have_a_chance(name, models):
    log_p = said(models[name], BEFORE, 40, AFTER)
    assert log_p.shape == (len(vocabulary()),)
    assert log_p[: MASK + 1].eq(-torch.inf).all() and log_p[MASK + 1 :].isfinite().all()
    assert log_p.exp().sum().item() == pytest.approx(1, abs=1e-4)


@each_that_writes
def test_what_follows_is_what_the_model_says_word_by_word(name, models):
    model = models[name]
    asked = [model.asks(BEFORE, 40, AFTER), model.asks(BEFORE, 41, [*AFTER, 20, 21])]
    found = follows(model, asked)
    for example, sum_of_all in zip(asked, found, strict=True):
        with torch.no_grad():
            logits = model.head(model(*model.inputs([example])))[0]
        log_p = -F.cross_entropy(logits, torch.tensor(example.target), reduction="none")
        assert sum_of_all.item() == pytest.approx(log_p[example.place + 1 :].sum().item(), abs=1e-3)


def test_a_second_look_takes_the_word_that_fits_what_follows(models, monkeypatch):
    model = models["decoder"]
    hidden = [Gap(BEFORE, 40, AFTER), Gap(BEFORE, 41, [])]
    assert fills(model, hidden) == (0.0, 0.0)
    monkeypatch.setattr(task, "CANDIDATES", len(vocabulary()) - MASK - 1)
    monkeypatch.setattr(
        task,
        "follows",
        lambda _, asked: torch.tensor([1e3 * (e.target[e.place] in (40, 41)) for e in asked]),
    )
    at_once, looked_again = fills(model, [hidden[0], hidden[1]._replace(word=40)])
    assert at_once == 0 and looked_again >= 0.5


def test_nats_are_the_mean_over_the_words(models):
    hidden = [Gap(BEFORE, 40, AFTER), Gap([10], 41, [])]
    apart = [nats(models["encoder"], [gap]) for gap in hidden]
    assert nats(models["encoder"], hidden) == pytest.approx(sum(apart) / 2, abs=1e-4)


# Reading ------------------------------------------------------------------------------------------


@each
def test_padding_changes_no_class(name, models):
    classifier = Classifies(models[name], 5)
    torch.nn.init.normal_(classifier.output.weight)
    texts = [[10, 11, 12, 13, 14], [20, 21]]
    together = classifier(*pad(texts))
    for row, text in enumerate(texts):
        torch.testing.assert_close(together[row], classifier(*pad([text]))[0], **CLOSE)
    assert classifier.family is not models[name]


@each_that_writes
def test_a_batch_asks_for_every_symbol_of_its_targets(name, models):
    torch.manual_seed(0)
    (batch,) = Noised(1, models[name])
    *inputs, target = batch
    x = models[name](*inputs)
    assert x.shape[:2] == target.shape and not (target == PAD).any()
    assert (target != IGNORE).sum(dim=1).min() > 0
    if name == "decoder":
        goes_on = target[:, 1:] != IGNORE
        assert torch.equal(inputs[0][:, 1:][goes_on], target[:, :-1][goes_on])


@each
def test_a_step_of_learning_changes_all_of_a_model(name):
    model = FAMILIES[name](1)
    before = {key: weight.clone() for key, weight in model.named_parameters()}
    history = learn(model, 2)
    assert len(history.step_loss) == 2
    still = [key for key, weight in model.named_parameters() if torch.equal(weight, before[key])]
    assert still == []


def test_the_families_are_about_of_one_size(models):
    sizes = [sum(weight.numel() for weight in model.parameters()) for model in models.values()]
    assert max(sizes) / min(sizes) < 1.08


# What is held out ---------------------------------------------------------------------------------


def test_a_gap_is_a_known_word_of_its_sentence():
    held = sentences().validation[:200]
    hidden = gaps(held)
    words = vocabulary().symbols
    assert len(hidden) > 190 and hidden == gaps(held) != gaps(held, seed=1)
    texts = [[*vocabulary().encode(sentence.words), EOS] for sentence in held]
    for before, word, after in hidden:
        assert word > MASK and words[word] not in ("<name>", "<number>")
        assert [*before, word, *after] in texts


def test_passages_are_of_one_module_and_their_second_halves_are_asked_for():
    texts = passages(sentences().validation, 64)
    assert len(texts) > 100 and {len(text) for text in texts} == {64}
    asked = second_halves(texts[:1])
    assert [gap.word for gap in asked] == [word for word in texts[0][32:] if word > MASK]
    assert all([*gap.before, gap.word] == texts[0][: len(gap.before) + 1] for gap in asked)
