"""Is a random split a fair test? SST-2's phrases, dealt out at random and by group, and sentences.

Each model is at its best learning rate, or its best penalty, of four that are tried on the
validation phrases of the split by group. With it, it is trained three times on each split, and
three times on all phrases. All of them also read the sentences with which GLUE judges.
"""

from utils.data.files import DatasetError
from utils.data.sentiment import Phrase, grouped_split, random_split, sst2
from utils.tasks.reading import (
    MODELS,
    SEEDS,
    Answer,
    Recipe,
    Task,
    as_labelled,
    as_task,
    learn,
    share_right,
    tuned,
)

RUN = 6
PARAMETERS = {"model": list(MODELS), "steps": 400, "batch_size": 256, "dropout": 0.5}
SHORT = {
    "steps": 4,
    "SEEDS": (0, 1),
    "sst2": "lambda: SST2(*2 * [[Phrase(tuple(bin(i)), i % 2) for i in range(32, 999)]])",
}


def missing() -> str:
    try:
        sst2()
    except DatasetError as error:
        return str(error)
    return ""


def measure(model: str, steps: int, batch_size: int, dropout: float) -> dict:
    recipe, held = Recipe(steps, batch_size, dropout), sst2()
    sentences = as_labelled(held.sentences)
    splits = {split.__name__: split(held.phrases) for split in (random_split, grouped_split)}
    tasks = {name: as_task(*parts) for name, parts in splits.items()}
    setting, by_setting, by_group = tuned(model, tasks["grouped_split"], recipe)
    whole = as_task(held.phrases, held.phrases, held.sentences)

    def learned(task: Task) -> list[Answer]:
        return [learn(model, task, setting, recipe, seed) for seed in SEEDS]

    answers = {
        "grouped_split": by_group,
        "random_split": learned(tasks["random_split"]),
        "all": learned(whole),
    }
    found = {"setting": setting, "by setting": by_setting}
    for name, of_split in answers.items():
        found[f"{name}, sentences"] = [share_right(answer, sentences) for answer in of_split]
        if name in tasks:
            test = tasks[name].test
            found[f"{name}, phrases"] = [share_right(answer, test) for answer in of_split]
    if model == "majority":  # what the splits leak, and how long the texts are, once
        for name, (train, _, test) in splits.items():
            found |= {f"{name}, leak": leak(test, train), f"{name}, words": mean_length(test)}
        found["sentences, leak"] = leak(held.sentences, held.phrases)
        found["sentences, words"] = mean_length(held.sentences)
    return found


def leak(judged: list[Phrase], trained: list[Phrase]) -> float:
    """Of the texts that have `RUN` words: how many share as many in a row with those trained on."""
    seen = {run for phrase in trained for run in runs(phrase)}
    long = [phrase for phrase in judged if len(phrase.words) >= RUN]
    return sum(any(run in seen for run in runs(phrase)) for phrase in long) / len(long)


def runs(phrase: Phrase) -> list[tuple[str, ...]]:
    """All `RUN` words in a row."""
    return [phrase.words[i : i + RUN] for i in range(len(phrase.words) - RUN + 1)]


def mean_length(phrases: list[Phrase]) -> float:
    """In words."""
    return sum(len(phrase.words) for phrase in phrases) / len(phrases)
