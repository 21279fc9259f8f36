"""Words whose language is to be told, as a task: in ids, by counting letters, and in training."""

from collections.abc import Callable

import torch
from babel import Locale
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.data.dates import LANGUAGES, language_words, more_training_words
from utils.data.text import EOS, PAD, UNK, BucketedBatches, Vocabulary, pad
from utils.recurrent import RNN, Embedding
from utils.training.loop import History, fit
from utils.training.metrics import accuracy
from utils.training.recipes import rise_and_fall

WORDS = dict(zip(("train", "validation", "test"), language_words(), strict=True))
LETTERS = Vocabulary("".join(word.text for word in WORDS["train"]))
NAMES = [Locale.parse(language).get_display_name("en") for language in LANGUAGES]


def as_ids(part: str) -> tuple[list[list[int]], Tensor]:
    """The words of a part, as lists of ids, and their languages, numbered as in NAMES, (n,)."""
    classes = [LANGUAGES.index(word.language) for word in WORDS[part]]
    return [LETTERS.encode(word.text) for word in WORDS[part]], torch.tensor(classes)


def count_letters(longest: int) -> float:
    """The share of validation words that a logistic regression on counts names rightly.

    longest: it counts pieces of a word of up to so many letters; an edge of a word is a letter.
    """
    texts = {part: [word.text for word in words] for part, words in WORDS.items()}
    classes = {part: as_ids(part)[1].numpy() for part in WORDS}
    counts = CountVectorizer(analyzer="char_wb", ngram_range=(1, longest))
    model = make_pipeline(counts, LogisticRegression(max_iter=500))
    model.fit(texts["train"], classes["train"])
    return model.score(texts["validation"], classes["validation"])


def clip_by(clip: Callable, optimiser: torch.optim.Optimizer) -> None:
    """Before each step, let `clip`, a function of a list of gradients, shorten them."""

    def shorten(optimiser, *_) -> None:
        weights = [w for group in optimiser.param_groups for w in group["params"]]
        shortened = clip([w.grad for w in weights])
        for weight, gradient in zip(weights, shortened, strict=True):
            weight.grad = gradient

    optimiser.register_step_pre_hook(shorten)


def train_reader(
    model: nn.Module,
    clip: Callable | None = None,
    *,
    optimiser: torch.optim.Optimizer | None = None,
    epochs: int = 8,
    seed: int = 0,
) -> History:
    """Train a model of ids (B, T) and lengths (B,), which gives logits (B, 12), to name languages.

    clip: shortens a list of gradients before each step. optimiser: instead of Adam with a learning
    rate that rises to 0.01 and falls again.
    """
    batches = BucketedBatches(*as_ids("train"), batch_size=64, shuffle=True)
    how = {"optimiser": optimiser}
    if optimiser is None:
        how = _rise_and_fall(model, clip, epochs * len(batches))
    return fit(
        model,
        batches,
        F.cross_entropy,
        **how,
        epochs=epochs,
        seed=seed,
        metrics={"accuracy": accuracy},
        validation=BucketedBatches(*as_ids("validation"), batch_size=256),
    )


def descend(model: nn.Module, rate: float, clip: Callable | None, seed: int) -> float:
    """Train as `train_reader` does, by three epochs of gradient descent alone.

    Returns: the share of validation words that are named rightly.
    """
    optimiser = torch.optim.SGD(model.parameters(), lr=rate)
    if clip:
        clip_by(clip, optimiser)
    history = train_reader(model, optimiser=optimiser, epochs=3, seed=seed)
    return history.validation["accuracy"][-1]


def to_continue(part: str) -> tuple[Tensor, Tensor]:
    """What a writer reads and what it is to say next, (n, T) each, with PAD behind the end.

    It reads a word's language, as the id len(LETTERS) + its number, and then the word; it says the
    word, and EOS.
    """
    ids, classes = as_ids(part)
    read = [[len(LETTERS) + of, *word] for of, word in zip(classes.tolist(), ids, strict=True)]
    return pad(read)[0], pad([[*word, EOS] for word in ids])[0]


def next_letter(logits: Tensor, wanted: Tensor) -> Tensor:
    """Mean cross-entropy of what is to be said next. Shapes: (B, T, V) and (B, T)."""
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)


def train_writer(model: nn.Module, clip: Callable, *, epochs: int = 8, seed: int = 0) -> float:
    """Train a model of ids (B, T), which gives logits (B, T, V), to say what comes next.

    Returns: the mean cross-entropy of the validation words, in nats per letter.
    """
    batches = Batches(*to_continue("train"), batch_size=64, shuffle=True)
    how = _rise_and_fall(model, clip, epochs * len(batches))
    fit(model, batches, next_letter, **how, epochs=epochs, seed=seed)
    with torch.no_grad():
        read, wanted = to_continue("validation")
        return next_letter(model(read), wanted).item()


def _rise_and_fall(model: nn.Module, clip: Callable | None, steps: int) -> dict:
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    if clip:
        clip_by(clip, optimiser)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=steps)
    return {"optimiser": optimiser, "schedule": schedule}


def endings(length: int) -> tuple[Tensor, Tensor]:
    """The last letters of all words that have so many, as ids (n, length); their languages (n,)."""
    words = [pair for part in WORDS for pair in zip(*as_ids(part), strict=True)]
    long = [(word[-length:], language) for word, language in words if len(word) >= length]
    return torch.tensor([word for word, _ in long]), torch.tensor([int(of) for _, of in long])


# A reader that lives in the page ------------------------------------------------------------------


class LetterReader(nn.Module):
    """Name a word's language after each letter: ids (B, T) and lengths (B,) to logits (B, T, 12).

    After the last letter, its logits stay. In training, dropout hides numbers, and now and then a
    letter is one that it has never seen.
    """

    def __init__(self, vocab_size: int, d_model: int, hidden_size: int, dropout: float):
        super().__init__()
        self.embedding = Embedding(vocab_size, d_model)
        self.layer, self.dropout = RNN(d_model, hidden_size), nn.Dropout(dropout)
        self.output = nn.Linear(hidden_size, len(NAMES))

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        if self.training:
            ids = torch.where(torch.rand(ids.shape) < 0.02, UNK, ids)
        states = self.dropout(self.layer(self.dropout(self.embedding(ids)))[0])  # (B, T, N)
        t = torch.arange(ids.shape[1]).minimum(lengths[:, None] - 1)  # (B, T)
        return self.output(states)[torch.arange(len(ids))[:, None], t]


def letters_of_more_words() -> Vocabulary:
    return Vocabulary("".join(word.text for word in more_training_words()))


def train_letter_reader(model: LetterReader, known: Vocabulary, epochs: int, seed: int) -> None:
    """Train on `more_training_words`; the answer after the last letter counts most."""

    def loss(logits: Tensor, classes: Tensor) -> Tensor:
        on_the_way = logits.transpose(1, 2), classes[:, None].expand(logits.shape[:2])
        return F.cross_entropy(logits[:, -1], classes) + 0.3 * F.cross_entropy(*on_the_way)

    words = more_training_words()
    classes = torch.tensor([LANGUAGES.index(word.language) for word in words])
    ids = [known.encode(word.text) for word in words]
    batches = BucketedBatches(ids, classes, batch_size=64, shuffle=True)
    optimiser, schedule = rise_and_fall(model, 3e-3, epochs * len(batches))
    fit(model, batches, loss, optimiser, epochs=epochs, seed=seed, schedule=schedule)
    model.eval()


@torch.no_grad()
def named(model: LetterReader, known: Vocabulary, part: str) -> float:
    """The share of a part's words whose language it names rightly after the last letter."""
    classes = as_ids(part)[1]
    logits = model(*pad([known.encode(word.text) for word in WORDS[part]]))
    return accuracy(logits[:, -1], classes)
