"""Writing words backwards: the smallest task for which the whole source has to be known."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import torch
from torch import Tensor, nn

from utils.data.text import EOS, PAD, BucketedBatches
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, sequence_loss
from utils.training.loop import History, evaluate, fit
from utils.training.recipes import rise_and_fall

LETTERS = "abcdef"
FIRST = 3  # the id of the first letter; those below are PAD, BOS and EOS
VOCAB_SIZE = FIRST + len(LETTERS)


def random_words(n: int, lengths: Sequence[int], seed: int) -> list[list[int]]:
    """Words in ids, whose lengths and letters are drawn by chance, each as likely as the others."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(lengths), (n,), generator=generator).tolist()
    return [
        (FIRST + torch.randint(len(LETTERS), (lengths[k],), generator=generator)).tolist()
        for k in drawn
    ]


def as_ids(word: str) -> list[int]:
    """The ids of a word's letters."""
    return [FIRST + LETTERS.index(letter) for letter in word]


def as_text(ids: Sequence[int] | Tensor) -> str:
    """The letters of ids, up to EOS."""
    ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
    return "".join(LETTERS[i - FIRST] for i in ids[: ids.index(EOS) if EOS in ids else None])


def pairs(words: Sequence[Sequence[int]], batch_size: int, shuffle: bool = False):
    """Batches of the words and of the words backwards."""
    sources, targets = [[*word, EOS] for word in words], [word[::-1] for word in words]
    return BucketedBatches(sources, targets, batch_size, shuffle)


def whole(logits: Tensor, target: Tensor) -> float:
    """Share of words of which each letter and the end are the most probable.

    The decoder is fed the truth; but greedy decoding gets exactly these words right, since up to
    its first mistake it is fed the truth, too. Shapes: logits (B, T, V), target (B, T).
    """
    right = (logits.argmax(dim=-1) == target) | (target == PAD)
    return right.all(dim=1).double().mean().item()


def train_backwards(
    model: nn.Module,
    words: Sequence[Sequence[int]],
    *,
    epochs: int,
    learning_rate: float,
    seed: int = 0,
    validation: Sequence[Sequence[int]] | None = None,
) -> History:
    """Train a model to write words backwards, 64 at a time; judge it after each pass by `whole`.

    Trained with `rise_and_fall`.
    """
    batches = pairs(words, batch_size=64, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(
        model,
        batches,
        sequence_loss,
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        metrics={"whole": whole},
        validation=validation and pairs(validation, batch_size=500),
    )


def speller(name: str) -> Seq2Seq:
    """An encoder and decoder: through a "vector of 48" numbers, of 96, or with "attention" (48)."""
    score = "additive" if name == "attention" else None
    hidden_size = 48 if name == "attention" else int(name.removeprefix("vector of "))
    config = Seq2SeqConfig(VOCAB_SIZE, VOCAB_SIZE, 16, hidden_size, attention=score, style="Luong")
    return Seq2Seq(config)


def right_by_length(model: nn.Module, lengths: Sequence[int]) -> dict[int, float]:
    """Share of 500 new words of each length that a model writes backwards without a mistake."""
    drawn = {length: random_words(500, [length], 1_000_000 + length) for length in lengths}
    return {
        length: evaluate(model, pairs(words, 500), sequence_loss, {"whole": whole})["whole"]
        for length, words in drawn.items()
    }


def measure(
    name: str, *, n_words: int, longest: int, epochs: int, learning_rate: float, seed: int
) -> dict:
    """Train a `speller` on words of 2 to `longest` letters, and judge it by their length.

    Returns: its parameters; the share of 1,000 validation words of the longest quarter that are
    right after each pass; and of 500 test words of each length, up to half as long again.
    """
    torch.manual_seed(seed)
    model = speller(name)
    words = random_words(n_words, range(2, longest + 1), seed)
    long = random_words(1000, range(3 * longest // 4, longest + 1), seed + 2_000_000)
    how = {"epochs": epochs, "learning_rate": learning_rate, "seed": seed}
    history = train_backwards(model, words, validation=long, **how)
    right = right_by_length(model, range(2, 3 * longest // 2 + 1))
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "validation": history.validation["whole"],
        "length": list(right),
        "right": list(right.values()),
    }


def best_runs(rows: Iterable[Mapping]) -> dict[str, list[Mapping]]:
    """{model: the rows of its best learning rate} of a stored table, one row for each seed.

    The best has the highest mean share of validation words that are right at the end, and among
    equals the highest over all passes.
    """
    found: dict[str, dict[float, list[Mapping]]] = {}
    for row in rows:
        found.setdefault(row["model"], {}).setdefault(row["learning_rate"], []).append(row)
    return {model: max(of.values(), key=_how_good) for model, of in found.items()}


def _how_good(rows: Sequence[Mapping]) -> tuple[float, float]:
    """Mean share of validation words that are right: after the last pass, and after all of them."""
    shares = [row["validation"] for row in rows]
    return fmean(of[-1] for of in shares), fmean(share for of in shares for share in of)


def arrivals(runs: Mapping[str, Sequence[Mapping]], share: float) -> dict[str, int | None]:
    """{model: passes after which this share of validation words is right, in the mean of seeds}.

    None where it never is.
    """
    means = {
        model: [fmean(of) for of in zip(*(row["validation"] for row in rows), strict=True)]
        for model, rows in runs.items()
    }
    return {
        model: next((passed for passed, mean in enumerate(of, start=1) if mean >= share), None)
        for model, of in means.items()
    }
