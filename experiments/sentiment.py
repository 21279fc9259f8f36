"""Is a random split a fair test? SST-2's phrases, dealt out at random and by group, and sentences.

Each model is at its best learning rate, or its best penalty, of four that are tried on the
validation phrases of the split by group. With it, it is trained three times on each split, and
three times on all phrases. All of them also read the sentences with which GLUE judges.
"""

from utils.data.files import DatasetError
from utils.data.sentiment import Phrase, grouped_split, lie_inside, random_split, sst2
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

PARAMETERS = {"model": list(MODELS), "steps": 400, "batch_size": 256, "dropout": 0.5}


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
    if model == "majority":  # what the splits leak, once
        for name, parts in splits.items():
            found[f"{name}, leak"] = leak(parts.test, parts.train)
        found["sentences, leak"] = leak(held.sentences, held.phrases)
    return found


def leak(judged: list[Phrase], trained: list[Phrase]) -> float:
    """How much of what is judged lies inside what was trained on."""
    inside = lie_inside(judged, trained)
    return sum(inside) / len(inside)
