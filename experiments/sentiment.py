"""Is a random split a fair test? SST-2's phrases, dealt out at random and by group, and sentences.

Each model is at its best learning rate, or its best penalty, of four that are tried on the
validation phrases of the split by group. With it, it is trained three times on each split, and
three times on all phrases; the sentences with which GLUE judges are read by these last ones alone.
"""

from utils.data.files import DatasetError
from utils.data.sentiment import grouped_split, random_split, sst2
from utils.tasks.reading import MODELS, SEEDS, Recipe, as_task, learn, share_right, tune

PARAMETERS = {"model": list(MODELS[1:]), "steps": 600, "batch_size": 256, "dropout": 0.3}


def missing() -> str:
    try:
        sst2()
    except DatasetError as error:
        return str(error)
    return ""


def measure(model: str, steps: int, batch_size: int, dropout: float) -> dict:
    recipe, held = Recipe(steps, batch_size, dropout), sst2()
    grouped = as_task(*grouped_split(held.phrases))
    tasks = {
        "grouped": grouped,
        "leaking": as_task(*random_split(held.phrases)),
        "official": as_task(held.phrases, held.phrases, held.sentences),
    }
    tuned = tune(model, grouped, recipe)
    right = {
        name: [
            share_right(learn(model, task, tuned.setting, recipe, seed), task.test)
            for seed in SEEDS
        ]
        for name, task in tasks.items()
    }
    return {"setting": tuned.setting, "by setting": tuned.validation, **right}
