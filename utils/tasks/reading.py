"""Reading as a task: texts as ids, the models that are compared, and how each is trained."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_choice
from utils.classification import (
    CLSEncoder,
    MeanOfEmbeddings,
    RecurrentClassifier,
    TextCNN,
    max_pool,
)
from utils.data.libraries import sentences
from utils.data.reviews import reviews
from utils.data.text import BucketedBatches, Vocabulary, pad
from utils.recurrent import LSTM, Bidirectional
from utils.training.loop import History, fit, mode
from utils.training.metrics import accuracy
from utils.training.recipes import rise_and_fall
from utils.transformer import EncoderOnly, TransformerConfig

# Texts --------------------------------------------------------------------------------------------


class Labelled(NamedTuple):
    """Texts, as their words, and the class of each, (n,)."""

    texts: list[Sequence[str]]
    labels: Tensor


class Task(NamedTuple):
    """What is to be told apart, in three parts; the vocabulary is that of the training texts."""

    train: Labelled
    validation: Labelled
    test: Labelled
    vocabulary: Vocabulary
    n_classes: int


def as_labelled(part: Sequence) -> Labelled:
    """Keep of each example its `words` and its `label`."""
    return Labelled([each.words for each in part], torch.tensor([each.label for each in part]))


def as_task(
    train: Sequence,
    validation: Sequence,
    test: Sequence,
    n_train: int | None = None,
    least: int = 1,
) -> Task:
    """Make a task of examples that have `words` and a `label`, of the first n_train of the first.

    least: how often a word occurs in the training texts if it is in the vocabulary.
    Raises: ValueError if there are no such words.
    """
    parts = [as_labelled(part) for part in (train[:n_train], validation, test)]
    counts = Counter(word for text in parts[0].texts for word in text)
    vocabulary = Vocabulary(word for word, count in counts.items() if count >= least)
    return Task(*parts, vocabulary, int(parts[0].labels.max()) + 1)


def as_ids(part: Labelled, vocabulary: Vocabulary) -> tuple[list[list[int]], Tensor]:
    """Number the words of each text; keep the labels."""
    return [vocabulary.encode(text) for text in part.texts], part.labels


def reviews_task(n_train: int = 6000) -> Task:
    """Good reviews (1) and bad ones (0)."""
    return as_task(*reviews()[:3], n_train)


def said_by_libraries() -> list[np.ndarray]:
    """All that the libraries say, as bytes: the data of what is measured with it."""
    said = "\n".join(sentence.text for part in sentences() for sentence in part)
    return [np.frombuffer(said.encode(), dtype=np.uint8)]


def libraries_task(n_train: int | None = None) -> Task:
    """Which library says it, numbered as in LIBRARIES; without n_train, of all its sentences.

    A word that occurs once in training is unknown, so that something is learned of such words.
    """
    return as_task(*sentences(), n_train, least=2)


# Models -------------------------------------------------------------------------------------------

D, DROPOUT = 64, 0.1
KERNEL = 3  # words that a text CNN sees at once
NETWORKS: dict[str, Callable[..., nn.Module]] = {  # of vocab_size, n_classes and dropout
    "mean of embeddings": lambda V, n, p: MeanOfEmbeddings(V, D, n, p),
    "text CNN": lambda V, n, p: TextCNN(V, D, n, 2 * D, (KERNEL,), p),
    "BiLSTM": lambda V, n, p: RecurrentClassifier(V, Bidirectional(LSTM(D, D), LSTM(D, D)), n, p),
    "Transformer": lambda V, n, p: EncoderOnly(transformer(V, p), n),
    "Transformer, maximum": lambda V, n, p: EncoderOnly(transformer(V, p), n, pool=max_pool),
    "Transformer, [CLS]": lambda V, n, p: CLSEncoder(transformer(V, p), n),
}
MODELS = ("majority", "bag of words", *list(NETWORKS)[:4])
POOLINGS = tuple(NETWORKS)[3:]  # of a Transformer, the mean first
RATES = (1e-3, 3e-3, 1e-2, 3e-2)  # learning rates to choose from
SEEDS = (0, 1, 2)
STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # as many of a bag of words: C, the inverse of its penalty


def transformer(vocab_size: int, dropout: float = DROPOUT) -> TransformerConfig:
    """Two blocks of the size that is trained here."""
    return TransformerConfig(
        vocab_size,
        d_model=D,
        n_heads=4,
        d_ff=2 * D,
        n_layers=2,
        norm="pre",
        positions="rotary",
        dropout=dropout,
    )


def bag_of_words(C: float) -> Pipeline:
    """TF-IDF and a logistic regression, of texts as their words (scikit-learn's)."""
    return make_pipeline(TfidfVectorizer(analyzer=list), LogisticRegression(C=C, max_iter=2000))


# Training -----------------------------------------------------------------------------------------


class Recipe(NamedTuple):
    """How each network of a comparison is trained, but for its learning rate."""

    steps: int  # or what is missing to whole epochs more
    batch_size: int = 64
    dropout: float = DROPOUT


def train_classifier(
    model: nn.Module,
    train: tuple[list[list[int]], Tensor],
    validation: tuple[list[list[int]], Tensor] | None = None,
    *,
    epochs: int,
    learning_rate: float,
    batch_size: int = 64,
    seed: int = 0,
) -> History:
    """Train a model of ids (B, T) and lengths (B,), with logits (B, n_classes), on texts as ids.

    Trained with `rise_and_fall`, in batches of texts of similar length.
    """
    batches = BucketedBatches(*train, batch_size=batch_size, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(
        model,
        batches,
        F.cross_entropy,
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        metrics={"accuracy": accuracy},
        validation=validation and BucketedBatches(*validation, batch_size=256),
    )


@torch.no_grad()
def logits_of(model: nn.Module, ids: list[list[int]]) -> Tensor:
    """Return what a model says of texts as ids, (n, n_classes), without dropout."""
    with mode(model, training=False):
        parts = [model(*pad(ids[i : i + 256])) for i in range(0, len(ids), 256)]
    return torch.cat(parts)


def trained(name: str, task: Task, rate: float, recipe: Recipe, seed: int = 0) -> nn.Module:
    """Train one of NETWORKS; return it in evaluation mode."""
    torch.manual_seed(seed)
    model = NETWORKS[name](len(task.vocabulary), task.n_classes, recipe.dropout)
    train_classifier(
        model,
        as_ids(task.train, task.vocabulary),
        epochs=math.ceil(recipe.steps / math.ceil(len(task.train.labels) / recipe.batch_size)),
        learning_rate=rate,
        batch_size=recipe.batch_size,
        seed=seed,
    )
    return model.eval()


def learn(
    name: str, task: Task, setting: float, recipe: Recipe, seed: int = 0
) -> Callable[[Labelled], Tensor]:
    """Train a model; return what gives its logits (n, n_classes) for a part.

    name: one of MODELS or POOLINGS. setting: a learning rate; of a bag of words, C; a majority has
    none. Only networks need the recipe.
    Raises: ValueError if there is no such model.
    """
    check_choice("model", name, {*MODELS, *POOLINGS})
    if name == "majority":
        log_p = (torch.bincount(task.train.labels, minlength=task.n_classes) + 1).log()
        return lambda part: log_p.expand(len(part.labels), -1)
    if name == "bag of words":
        fitted = bag_of_words(setting).fit(task.train.texts, task.train.labels.numpy())
        return lambda part: torch.from_numpy(fitted.predict_log_proba(part.texts))
    model = trained(name, task, setting, recipe, seed)
    return lambda part: logits_of(model, as_ids(part, task.vocabulary)[0])


class Tuned(NamedTuple):
    """The setting that was chosen, and how much of the validation part is right with each."""

    setting: float
    validation: list[float]


def tune(name: str, task: Task, recipe: Recipe, seed: int = 0) -> Tuned:
    """Choose the learning rate, or a bag of words' C, on the validation part: of four for each.

    Raises: ValueError as `learn` does.
    """
    settings = STRENGTHS if name == "bag of words" else RATES
    right = [
        share_right(learn(name, task, setting, recipe, seed), task.validation)
        for setting in settings
    ]
    return Tuned(settings[right.index(max(right))], right)


def share_right(answer: Callable[[Labelled], Tensor], part: Labelled) -> float:
    """Return how much of a part gets its label from what `learn` returned."""
    return (answer(part).argmax(dim=1) == part.labels).double().mean().item()


def compared(
    name: str, task: Task, parts: Mapping[str, Labelled], recipe: Recipe
) -> dict[str, float | list[float]]:
    """Tune a model with the first seed, train it with all of SEEDS, and judge it on the parts.

    Returns: the setting, what of the validation part was right with each, and of each part what is
        right, seed by seed.
    """
    tuned = tune(name, task, recipe, SEEDS[0])
    answers = [learn(name, task, tuned.setting, recipe, seed) for seed in SEEDS]
    right = {part: [share_right(a, held) for a in answers] for part, held in parts.items()}
    return {"setting": tuned.setting, "by setting": tuned.validation, **right}
