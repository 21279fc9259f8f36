"""Reading as a task: what is handed to the models, what they learn, and how they are compared."""

from typing import NamedTuple

import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from utils.data.libraries import LIBRARIES, sentences
from utils.data.reviews import reviews
from utils.tasks import reading
from utils.tasks.reading import (
    MODELS,
    NETWORKS,
    POOLINGS,
    SEEDS,
    SETTINGS,
    Labelled,
    Recipe,
    as_ids,
    as_labelled,
    as_task,
    learn,
    libraries_task,
    logits_of,
    reviews_task,
    said_by_libraries,
    share_right,
    train_classifier,
    trained,
    tuned,
)
from utils.training.metrics import accuracy


class Said(NamedTuple):
    words: tuple[str, ...]
    label: int


def said(*texts: str) -> list[Said]:
    """Texts that end with their label."""
    return [Said(tuple(text.split()[:-1]), int(text.split()[-1])) for text in texts]


TRAIN = said("good film 1", "bad film 0", "a good plot 1", "a bad plot 0", "so good 1", "so bad 0")
OTHERS = said("good wine 1", "such a bad film 0", "bad 0"), said("so good a plot 1")
TASK = as_task(TRAIN, *OTHERS)
ORDER = said(*(f"{a} {b} {c} {int(a > b)}" for a in "pqrs" for b in "pqrs" for c in "xy" if a != b))


# Texts --------------------------------------------------------------------------------------------


def test_a_task_knows_the_words_that_it_trains_on_and_no_others():
    words = set(TASK.vocabulary.symbols[4:])
    assert words == {"good", "film", "bad", "a", "plot", "so"}
    assert TASK.n_classes == 2 and len(TASK.train.texts) == 6
    ids, labels = as_ids(TASK.validation, TASK.vocabulary)
    unknown = TASK.vocabulary.encode(["wine"])
    assert ids[0][1:] == unknown and labels.tolist() == [1, 0, 0]
    assert TASK.vocabulary.decode(ids[2]) == ["bad"]


def test_a_task_of_the_first_examples_knows_their_words_alone():
    task = as_task(TRAIN, *OTHERS, 2)
    assert set(task.vocabulary.symbols[4:]) == {"good", "bad", "film"}
    assert len(task.train.labels) == 2 and len(task.validation.labels) == 3


def test_rare_words_can_be_left_out():
    task = as_task(TRAIN, *OTHERS, least=3)
    assert set(task.vocabulary.symbols[4:]) == {"good", "bad"}
    with pytest.raises(ValueError, match="one symbol"):
        as_task(TRAIN, *OTHERS, least=4)


def test_reviews_and_libraries_are_those_of_the_data():
    task, held = reviews_task(500), reviews()
    assert task.train.texts == [review.words for review in held.train[:500]]
    assert task.test.labels.tolist() == [review.label for review in held.test]
    task = libraries_task(40)
    assert task.train.texts == [sentence.words for sentence in sentences().train[:40]]
    assert task.n_classes == len(LIBRARIES)
    assert len(libraries_task().train.texts) == len(sentences().train)
    (letters,) = said_by_libraries()
    assert sentences().test[-1].text.encode() in letters.tobytes()


# Models -------------------------------------------------------------------------------------------


def test_all_networks_are_of_one_size_and_read_what_they_are_given():
    sizes = {}
    for name, make in NETWORKS.items():
        torch.manual_seed(0)
        model = make(50, 3, 0.5)
        sizes[name] = sum(weight.numel() for weight in model.parameters())
        assert model.eval()(torch.tensor([[4, 5, 0]]), torch.tensor([2])).shape == (1, 3)
        dropped = {m.p for m in model.modules() if isinstance(m, torch.nn.Dropout)}
        assert dropped == {0.5}
    assert sizes["BiLSTM"] == pytest.approx(sizes["Transformer"], rel=0.1)
    assert len({sizes[name] for name in POOLINGS}) == 1
    assert MODELS == ("majority", "bag of words", *list(NETWORKS)[:4]) and POOLINGS[0] in MODELS
    assert {*SETTINGS} == {*MODELS[1:], *POOLINGS}
    assert {len({*settings}) for settings in SETTINGS.values()} == {4}


def test_the_majority_says_the_most_frequent_class():
    task = as_task(said("a 0", "b 2", "c 2", "d 1"), *OTHERS)
    logits = learn("majority", task, 0.0, Recipe(0))(task.validation)
    assert logits.shape == (3, 3) and logits.argmax(dim=1).tolist() == [2, 2, 2]


def test_a_bag_of_words_is_scikit_learns():
    answer = learn("bag of words", TASK, 3.0, Recipe(0))
    counts = TfidfVectorizer(token_pattern=r"\S+")
    texts = [" ".join(text) for text in TASK.train.texts]
    fitted = LogisticRegression(C=3.0, max_iter=2000)
    fitted.fit(counts.fit_transform(texts), TASK.train.labels.numpy())
    expected = fitted.predict_log_proba(
        counts.transform([" ".join(text) for text in TASK.validation.texts])
    )
    torch.testing.assert_close(answer(TASK.validation), torch.from_numpy(expected))


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match="model 'oracle'"):
        learn("oracle", TASK, 1.0, Recipe(0))


# Training -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_what_sees_the_order_learns_it(name):
    task = as_task(ORDER, ORDER, ORDER)
    right = share_right(learn(name, task, 1e-2, Recipe(80, 8, 0.0)), task.test)
    if name == "mean of embeddings":
        assert right == 0.5  # as many of one bag as of the other
    else:
        assert right == 1


def test_training_is_told_of_and_judged_without_dropout():
    task = as_task(ORDER, ORDER, ORDER)
    ids = as_ids(task.train, task.vocabulary)
    torch.manual_seed(0)
    model = NETWORKS["BiLSTM"](len(task.vocabulary), 2, 0.4)
    history = train_classifier(model, ids, ids, epochs=3, learning_rate=1e-2, batch_size=8)
    assert len(history.train["accuracy"]) == 3 and len(history.step_loss) == 9
    judged = accuracy(logits_of(model, ids[0]), ids[1])
    assert history.validation["accuracy"][-1] == pytest.approx(float(judged))
    assert model.training  # as before
    assert "accuracy" not in train_classifier(model, ids, epochs=1, learning_rate=1e-2).validation


def test_logits_of_many_texts_are_those_of_each():
    model = NETWORKS["Transformer"](9, 2, 0.3)
    ids = [[4 + (i + t) % 5 for t in range(1 + i % 7)] for i in range(300)]
    logits = logits_of(model, ids)
    assert logits.shape == (300, 2) and not logits.requires_grad
    model.eval()
    for i in (0, 6, 255, 256, 299):
        alone = model(torch.tensor([ids[i]]))[0]
        torch.testing.assert_close(logits[i], alone, rtol=0, atol=1e-5)


def test_steps_are_rounded_up_to_epochs(monkeypatch):
    taken = []
    monkeypatch.setattr(
        reading, "train_classifier", lambda model, train, **how: taken.append(how["epochs"])
    )
    for steps, batch_size in ((1, 4), (6, 4), (7, 4), (7, 3), (10, 100)):  # 24 examples
        task = as_task(ORDER, ORDER, ORDER)
        model = trained("text CNN", task, 1e-2, Recipe(steps, batch_size))
        assert not model.training
    assert taken == [1, 1, 2, 1, 10]


def test_a_seed_decides_all():
    task, recipe = as_task(ORDER, ORDER, ORDER), Recipe(4, 8)
    first, again, other = (
        learn("text CNN", task, 1e-2, recipe, seed)(task.test) for seed in (0, 0, 1)
    )
    assert torch.equal(first, again) and not torch.equal(first, other)


# Comparing ----------------------------------------------------------------------------------------


@pytest.fixture
def learned(monkeypatch) -> list[tuple]:
    """What is asked of `learn`, which then gives a model that is right at one setting alone."""
    asked = []

    def learn(name, task, setting, recipe, seed=0):
        asked.append((name, setting, seed))
        good = setting == SETTINGS.get(name, (0.0,) * 3)[2]

        def answer(part: Labelled) -> torch.Tensor:
            logits = torch.nn.functional.one_hot(part.labels, 2).double()
            if not good:
                logits[0] = 1 - logits[0]
            return logits + seed / 10

        return answer

    monkeypatch.setattr(reading, "learn", learn)
    return asked


@pytest.mark.parametrize("name", SETTINGS)
def test_each_model_is_tried_at_four_settings_and_learns_with_each_seed(learned, name):
    setting, by_setting, answers = tuned(name, TASK, Recipe(1))
    settings, (first, *others) = SETTINGS[name], SEEDS
    assert setting == settings[2]
    assert learned == [
        *((name, each, first) for each in settings),
        *((name, setting, seed) for seed in others),
    ]
    assert by_setting == [1.0 if i == 2 else pytest.approx(2 / 3) for i in range(4)]
    assert [float(answer(TASK.test).min()) for answer in answers] == [0, 0.1, 0.2]
    assert len(SEEDS) == 3


def test_a_majority_has_nothing_to_be_tuned(learned):
    assert tuned("majority", TASK, Recipe(1))[:2] == (0.0, [1.0])
    assert learned == [("majority", 0.0, seed) for seed in SEEDS]


def test_what_is_right_is_a_share_of_the_part():
    part = as_labelled(said("a 0", "b 1", "c 1", "d 0"))
    logits = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, 1.0], [1.0, 0.0]])
    assert share_right(lambda _: logits, part) == 0.75
