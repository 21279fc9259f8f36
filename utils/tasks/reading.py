"""Reading as a task: texts as ids, the models that are compared, and how each is trained."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
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
from utils.data.libraries import NAME, NUMBER, sentences
from utils.data.reviews import reviews
from utils.data.text import BucketedBatches, Vocabulary, pad
from utils.recurrent import LSTM, Bidirectional
from utils.tokens import BytePairs
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


MASKS = {NAME: "@", NUMBER: "#"}  # one character each: neither is in a sentence


def plain(words: Sequence[str]) -> str:
    """Write the words of a sentence as a text, each with a space before it."""
    return "".join(f" {MASKS.get(word, word)}" for word in words)


class PairVocabulary:
    """Byte pairs in a vocabulary's place: they number a text, given as its words; none is unknown.

    merges: as `utils.tokens.learn_merges` has learned them of `plain` texts.
    """

    def __init__(self, merges: Sequence[tuple[int, int]]):
        self.pairs = BytePairs.from_merges(merges)

    def __len__(self) -> int:
        return len(self.pairs)

    def encode(self, words: Sequence[str]) -> list[int]:
        return self.pairs.encode(plain(words))


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

D, DROPOUT = 48, 0.1
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
SETTINGS = {  # four to choose from for each: learning rates, and of a bag of words C
    "bag of words": (0.1, 1.0, 10.0, 100.0),  # the inverse of its penalty
    **dict.fromkeys(NETWORKS, (1e-3, 3e-3, 1e-2, 3e-2)),
}
SEEDS = (0, 1, 2)


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


Answer = Callable[[Labelled], Tensor]  # gives a part's logits (n, n_classes)


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


def learn(name: str, task: Task, setting: float, recipe: Recipe, seed: int = 0) -> Answer:
    """Train a model; return what it answers.

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
    """A model at the setting that was chosen, with each of SEEDS."""

    setting: float
    by_setting: list[float]  # how much of the validation part is right, with the first seed
    answers: list[Answer]


def tuned(name: str, task: Task, recipe: Recipe) -> Tuned:
    """Choose a model's setting on the validation part, of four, and learn with each of SEEDS.

    Raises: ValueError as `learn` does.
    """
    first, *others = SEEDS
    tried = {each: learn(name, task, each, recipe, first) for each in SETTINGS.get(name, (0.0,))}
    right = {each: share_right(answer, task.validation) for each, answer in tried.items()}
    best = max(right, key=right.get)
    answers = [tried[best], *(learn(name, task, best, recipe, seed) for seed in others)]
    return Tuned(best, [*right.values()], answers)


def share_right(answer: Answer, part: Labelled) -> float:
    """Return how much of a part gets its label."""
    return (answer(part).argmax(dim=1) == part.labels).double().mean().item()
