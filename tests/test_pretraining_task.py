"""Day 10's task: passages whose words are hidden anew, and what is tuned with a few labels."""

import math
from collections import Counter

import pytest
import torch
from torch import nn

from utils.data.libraries import LIBRARIES, sentences, unlabelled
from utils.data.text import EOS, PAD, UNK, pad
from utils.pretraining import IGNORE, MASK
from utils.show.views import models
from utils.tasks import fine_tuning, pretraining
from utils.tasks.fine_tuning import (
    RATES,
    TUNING,
    classifier,
    fine_tune,
    tune,
    tune_bag,
    with_labels,
)
from utils.tasks.pretraining import (
    HIDDEN,
    LEAST,
    PASSAGES,
    SHARE,
    B,
    Hidden,
    T,
    documents,
    hide,
    in_order,
    mixed,
    new_model,
    one_sentence,
    pretrain,
    vocabulary,
    with_muon,
)
from utils.tasks.reading import (
    SEEDS,
    SETTINGS,
    Recipe,
    as_ids,
    as_labelled,
    bag_of_words,
    said_by_libraries,
    share_right,
)
from utils.tasks.two_bytes import restored
from utils.training.optimisers import MuonAndAdamW

SENTENCES = [[10 * i + j for j in range(i + 1)] + [EOS] for i in range(1, 9)]  # 3 to 10 ids
SHORT = Recipe(steps=2, batch_size=32)


# Text ---------------------------------------------------------------------------------------------


def test_the_vocabulary_has_the_words_that_are_read_often_enough_and_the_mask():
    counts = Counter(word for of in unlabelled() for said in of for word in said)
    words = vocabulary()
    assert words.encode([HIDDEN]) == [MASK] and HIDDEN not in counts
    known = {word for word, count in counts.items() if count >= LEAST}
    assert set(words.symbols[MASK + 1 :]) == known and len(words) == MASK + 1 + len(known)
    assert vocabulary() is words


def test_documents_are_the_modules_sentences_and_hold_no_mask():
    words = vocabulary()
    assert len(documents()) == len(unlabelled())
    for ids, said in zip(documents()[::50], unlabelled()[::50], strict=True):
        assert len(ids) == len(said)
        for of_sentence, sentence in zip(ids, said, strict=True):
            assert of_sentence == [*words.encode(sentence), EOS]
    every = Counter(i for of in documents() for said in of for i in said)
    assert every[EOS] == sum(map(len, unlabelled())) and not every[MASK] and not every[PAD]
    assert 0 < every[UNK] < 0.1 * every.total()


# Passages -----------------------------------------------------------------------------------------


def drawn(passage, n: int = 200, *how) -> list[list[int]]:
    torch.manual_seed(0)
    return [passage(SENTENCES, *how) for _ in range(n)]


def split(ids: list[int]) -> list[list[int]]:
    """The sentences of a passage; the last may be cut off."""
    said = [[]]
    for each in ids:
        said[-1].append(each)
        if each == EOS:
            said.append([])
    return [each for each in said if each]


def test_one_sentence_is_each_of_them_some_day():
    found = drawn(one_sentence)
    assert {tuple(each) for each in found} == {tuple(each) for each in SENTENCES}


def test_in_order_are_neighbours_up_to_the_length_or_the_end():
    starts = set()
    for ids in drawn(in_order, 200, 12):
        start = next(i for i, said in enumerate(SENTENCES) if said[0] == ids[0])
        rest = [each for said in SENTENCES[start:] for each in said]
        assert ids == rest[:12]
        starts.add(start)
    assert starts == set(range(len(SENTENCES)))


def test_mixed_are_sentences_from_all_over_each_once_up_to_the_length():
    places = []
    for ids in drawn(mixed, 200, 25):
        assert len(ids) == 25
        *whole, last = split(ids)
        order = [SENTENCES.index(said) for said in whole]
        assert len(set(order)) == len(order)
        cut = [i for i, said in enumerate(SENTENCES) if said[: len(last)] == last]
        assert len(cut) == 1 and cut[0] not in order
        places.append((*order, *cut))
    assert {place for order in places for place in order} == set(range(len(SENTENCES)))
    assert {order[0] for order in places} == set(range(len(SENTENCES)))
    neighbours = [b == a + 1 for order in places for a, b in zip(order, order[1:], strict=False)]
    assert sum(neighbours) < 0.3 * len(neighbours)
    assert sorted(drawn(mixed, 1)[0]) == sorted(i for said in SENTENCES for i in said)


def test_passages_are_of_128_words_and_rows_of_a_batch_as_many_as_fit():
    for name in PASSAGES:
        torch.manual_seed(0)
        batches = list(Hidden(20, name))
        assert len(batches) == len(Hidden(20, name)) == 20
        for ids, lengths, target in batches:
            assert ids.shape == target.shape and len(lengths) == len(ids)
            assert lengths.max() == ids.shape[1] <= T and lengths.min() > 0
            real = torch.arange(ids.shape[1]) < lengths[:, None]
            assert ((ids == PAD) == ~real).all() and (target[~real] == IGNORE).all()
        n_words = sum(lengths.sum().item() for _, lengths, _ in batches) / 20
        if name == "one sentence":  # drawn by its document's length, and alike within that
            assert n_words == pytest.approx(B * T, rel=0.1) and batches[0][0].shape[1] < T / 2
        else:
            assert len(batches[0][0]) == B and 0.7 * B * T < n_words <= B * T


def test_fewer_words_are_fewer_rows():
    assert next(iter(Hidden(1, n_words=3 * T)))[0].shape[0] == 3


def test_a_passage_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="'shuffled': .*'one sentence"):
        Hidden(1, "shuffled")


@pytest.fixture
def of_two_documents(monkeypatch) -> None:
    """One of nine words, three times as long as the other."""
    held = ([list(range(20, 29))],), ([[40, 41, 42]],)
    monkeypatch.setattr(pretraining, "documents", lambda: tuple(of for (of,) in held))


def test_a_document_that_is_longer_is_read_more_often(of_two_documents):
    torch.manual_seed(0)
    found = Counter(n for _, lengths, _ in Hidden(200, n_words=10 * T) for n in lengths.tolist())
    share = found[9] / found.total()
    assert found.total() == 2000 and abs(share - 0.75) < 5 * math.sqrt(0.75 * 0.25 / 2000)


def test_words_are_hidden_anew_each_time_and_half_of_them(of_two_documents):
    """Of one text, which is read again and again."""
    torch.manual_seed(0)
    patterns = [
        tuple((row != IGNORE).tolist())
        for _, lengths, target in Hidden(100, n_words=4 * T)
        for row, n in zip(target, lengths, strict=True)
        if n == 9
    ]
    asked = torch.tensor(patterns, dtype=torch.double)
    assert len(set(patterns)) > 0.5 * min(len(patterns), 2**9)
    assert abs(asked.mean() - SHARE) < 5 * math.sqrt(SHARE * (1 - SHARE) / asked.numel())
    assert asked.mean(dim=0).min() > 0.3 and asked.mean(dim=0).max() < 0.7


def test_the_same_seed_gives_the_same_batches_and_another_one_others():
    def first(seed: int):
        torch.manual_seed(seed)
        return next(iter(Hidden(1)))

    assert all(torch.equal(a, b) for a, b in zip(first(3), first(3), strict=True))
    assert not torch.equal(first(3)[0], first(4)[0])


def test_what_hides_words_can_be_another():
    def nothing_but_the_first(ids):
        target = torch.full_like(ids, IGNORE)
        target[:, 0] = ids[:, 0]
        return ids, target

    ids, _, target = next(iter(Hidden(1, mask=nothing_but_the_first)))
    assert MASK not in ids and torch.equal(target[:, 0], ids[:, 0])
    assert (target[:, 1:] == IGNORE).all()


def test_a_random_word_may_be_the_vocabularys_last():
    torch.manual_seed(0)
    hidden, _ = hide(torch.full((100, 1000), MASK + 1), 0.9)
    assert hidden.max() == len(vocabulary()) - 1 and hidden.min() == MASK


# Pre-training -------------------------------------------------------------------------------------


def test_muon_gets_the_blocks_matrices_and_adamw_all_else():
    model = new_model(0)
    optimiser, schedule = with_muon(model, model.encoder.blocks, 14)
    assert isinstance(optimiser, MuonAndAdamW)
    assert [group["weight_decay"] for group in optimiser.param_groups] == [0.1, 0.0]
    muon, adamw = optimiser.param_groups
    names = {id(weight): name for name, weight in model.named_parameters()}
    matrices = {names[id(weight)] for weight in muon["params"]}
    expected = {
        name
        for name, weight in model.named_parameters()
        if name.startswith("encoder.blocks.") and weight.dim() == 2
    }
    assert matrices == expected and len(matrices) == 4 * len(model.encoder.blocks)
    assert {names[id(weight)] for weight in adamw["params"]} == set(names.values()) - matrices
    assert adamw["weight_decay"] == 0
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    optimiser.step()
    norm = torch.stack([weight.grad.norm() for weight in model.parameters()]).norm()
    assert norm.item() == pytest.approx(1, rel=1e-3)
    rates = []
    for _ in range(14):
        rates.append([group["lr"] for group in optimiser.param_groups])
        optimiser.step()
        if len(rates) < 14:
            schedule.step()
    highest = [max(of) for of in zip(*rates, strict=True)]
    assert highest == pytest.approx([pretraining.MATRIX_RATE, pretraining.RATE])
    assert rates[1] == pytest.approx(highest)  # a seventh of 14 steps, counted from 0
    assert rates[-1][0] < 0.01 * highest[0] and rates[0][0] < 0.1 * highest[0]


@pytest.fixture(scope="module")
def read_a_little():
    """A model of one block that has read for 100 steps, and its losses."""
    model = new_model(0, n_layers=1)
    history = pretrain(model, Hidden(100), seed=0)
    return model, history.step_loss


def test_a_few_steps_know_more_than_how_often_each_word_occurs(read_a_little):
    """It begins where all words are alike, and guesses better than with the same word each time."""
    losses = torch.tensor(read_a_little[1])
    counts = torch.tensor([i for of in documents() for said in of for i in said if i > MASK])
    p = counts.bincount().double() / len(counts)
    entropy = -(p[p > 0] * p[p > 0].log()).sum()
    assert abs(losses[0] - math.log(len(vocabulary()))) < 1.5
    assert losses[-20:].mean() < entropy - 0.1


def test_the_same_seed_pre_trains_the_same_model():
    def losses(seed: int) -> list[float]:
        return pretrain(new_model(0, n_layers=1), Hidden(3, n_words=2 * T), seed).step_loss

    assert losses(0) == losses(0) and losses(0)[0] != losses(1)[0]


def test_models_of_two_seeds_differ_and_those_of_one_do_not():
    tables = [new_model(seed, n_layers=1).head.weight for seed in (0, 0, 1)]
    assert torch.equal(tables[0], tables[1]) and not torch.equal(tables[0], tables[2])


def test_the_data_of_what_is_measured_is_what_the_libraries_say():
    (mine,), (theirs,) = pretraining.data(), said_by_libraries()
    assert (mine == theirs).all()


# Labels -------------------------------------------------------------------------------------------


def test_each_seed_has_labels_of_its_own_and_the_same_parts_to_judge_with():
    tasks = [with_labels(100, seed) for seed in SEEDS]
    texts = [set(map(tuple, task.train.texts)) for task in tasks]
    assert all(
        len(task.train.labels) == 100 and len(of) == 100
        for task, of in zip(tasks, texts, strict=True)
    )
    assert not set.intersection(*texts[:2]) and not texts[2] & (texts[0] | texts[1])
    for task in tasks:
        for part, held in zip(task[1:3], sentences()[1:], strict=True):
            assert part.texts == as_labelled(held).texts
            assert torch.equal(part.labels, as_labelled(held).labels)
        assert task.vocabulary is vocabulary() and task.n_classes == len(LIBRARIES)


def test_more_labels_than_there_are_is_refused():
    n = len(sentences().train)
    assert len(with_labels(n).train.labels) == n
    with pytest.raises(ValueError, match=f" {n} sentences: .* {n // 2 + 1} "):
        with_labels(n // 2 + 1, seed=1)


def test_a_classifier_is_a_copy_that_begins_with_all_classes_alike(read_a_little):
    model, _ = read_a_little
    made = classifier(model, 5)
    ids, lengths, _ = next(iter(Hidden(1, n_words=2 * T)))
    assert torch.equal(made(ids, lengths), torch.zeros(2, 5))
    mine, copied = model.encoder.state_dict(), made.encoder.state_dict()
    assert all(torch.equal(mine[name], copied[name]) for name in mine)
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(1.0)
    assert not any(
        torch.equal(mine[name], copied[name]) for name, _ in model.encoder.named_parameters()
    )


def test_tuning_leaves_the_pre_trained_model_as_it_was_and_moves_all_of_the_copy(read_a_little):
    model, _ = read_a_little
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    made = classifier(model, 5)
    begun = {name: weight.clone() for name, weight in made.named_parameters()}
    assert fine_tune(made, with_labels(96), 1e-2, recipe=SHORT) is made and not made.training
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    assert not any(torch.equal(begun[name], weight) for name, weight in made.named_parameters())


@pytest.mark.parametrize("n_train, epochs", [(64, 3), (200, 1), (20, 5)])
def test_tuning_takes_the_recipes_steps_in_whole_epochs(n_train, epochs, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        fine_tuning, "train_classifier", lambda model, train, **how: asked.update(how)
    )
    fine_tune(nn.Identity(), with_labels(n_train), 0.3, seed=7, recipe=Recipe(5, batch_size=32))
    assert asked == {"epochs": epochs, "learning_rate": 0.3, "batch_size": 32, "seed": 7}


class Constant(nn.Module):
    """Answers one class whatever it reads."""

    def __init__(self, answer: int):
        super().__init__()
        self.answer = answer

    def forward(self, ids, lengths):
        return torch.eye(5)[self.answer].expand(len(ids), 5)


def test_the_rate_that_is_best_on_the_validation_part_is_taken_for_each_seed(monkeypatch):
    """Here each rate makes a model that has learned its rank, and the third is best."""
    tuned, made = [], []

    def make(seed):
        made.append((seed, torch.rand(()).item()))

    def learned(model, task, rate, seed, recipe):
        tuned.append((rate, seed, tuple(task.train.texts[0]), recipe))
        return Constant(RATES.index(rate) if rate != RATES[2] else 4)

    def judged(answer, part):
        assert part.texts == as_labelled(sentences().validation).texts
        return [0.2, 0.25, 0.0, 0.3, 0.4][answer(part)[0].argmax()]

    monkeypatch.setattr(fine_tuning, "fine_tune", learned)
    monkeypatch.setattr(fine_tuning, "share_right", judged)
    found = tune(make, 40)
    assert found.setting == RATES[2] and found.by_setting == [0.2, 0.25, 0.4, 0.3]
    first = [tuple(with_labels(40, seed).train.texts[0]) for seed in SEEDS]
    trials = [(rate, 0) for rate in RATES] + [(RATES[2], 1), (RATES[2], 2)]
    assert tuned == [(rate, seed, first[seed], TUNING) for rate, seed in trials]
    draws = [torch.rand((), generator=torch.Generator().manual_seed(seed)).item() for seed in SEEDS]
    assert made == [(seed, draws[seed]) for _, seed in trials]
    assert len(found.answers) == len(SEEDS)


def test_an_answer_is_what_the_tuned_model_says(read_a_little):
    """And what is tuned is the same each time, whatever was drawn before."""
    model, _ = read_a_little
    recipe = Recipe(steps=1, batch_size=32)
    found = tune(lambda seed: classifier(model, 5), 32, recipe)
    part = as_labelled(sentences().test[:40])
    for seed, answer in enumerate(found.answers):
        torch.manual_seed(99)
        task = with_labels(32, seed)
        again = fine_tune(classifier(model, 5), task, found.setting, seed, recipe)
        with torch.no_grad():
            expected = again(*pad(as_ids(part, task.vocabulary)[0]))
        torch.testing.assert_close(answer(part), expected)


def test_a_bag_of_words_is_tuned_on_the_same_labels():
    found = tune_bag(60)
    assert found.setting in SETTINGS["bag of words"] and len(found.by_setting) == 4
    validation = as_labelled(sentences().validation)
    by_hand = []
    for C in SETTINGS["bag of words"]:
        train = with_labels(60).train
        fitted = bag_of_words(C).fit(train.texts, train.labels.numpy())
        right = fitted.predict(validation.texts) == validation.labels.numpy()
        by_hand.append(right.mean().item())
    assert found.by_setting == pytest.approx(by_hand)
    assert found.setting == SETTINGS["bag of words"][by_hand.index(max(by_hand))]
    shares = [share_right(answer, validation) for answer in found.answers]
    assert shares[0] == max(found.by_setting) and len(set(shares)) == len(SEEDS)


def test_with_other_versions_of_the_libraries_the_words_are_a_stored_readers(monkeypatch):
    monkeypatch.setattr(pretraining, "unlabelled", lambda: ())
    monkeypatch.setattr(pretraining, "other_version", lambda name: "another" * (name == "scipy"))
    known = vocabulary.__wrapped__()
    assert known.symbols == vocabulary().symbols
    restored(new_model(0), models.load("reader").weights)  # they are as many as it was trained on
