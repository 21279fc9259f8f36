"""The encoder that Days 10 and 11 read with, what it learns on the way, and how small it can be.

A teacher of two blocks reads for 1,500 steps, as the lesson's does. After some of them: the share
of hidden words that it finds, and how often its first guess begins with a vowel, after *an* and
after *a*, and once the one has become the other. "losses" are means of 20 steps. A student with
half of the blocks learns from it for 400 steps. Both are tuned with 100 labels and with 1,000, each
at the best of four rates by the validation part. Then the tuned student loses half of its heads,
and its numbers become whole ones, of 8 bits and of 4; nothing is tuned afterwards. In "int8, LoRA"
a student in int8 is frozen, and changes of rank 4 are tuned. Shares are those of the test part. Of
the first seed, teacher and student are stored for the pages, in two bytes for each weight.
"""

from functools import partial

from utils.pretraining import student_of
from utils.pretraining.low_rank import n_trained
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views.models import store
from utils.tasks import pretraining
from utils.tasks.articles import after_articles
from utils.tasks.distilling import distil, sizes_of
from utils.tasks.fine_tuning import RATES, classifier, with_labels
from utils.tasks.held_out import guessed
from utils.tasks.pretraining import Hidden, new_model, pretrain, vocabulary
from utils.tasks.shrinking import at_best_rate, right
from utils.tasks.smaller import Watched, as_rounded, bytes_of, of_low_rank, one_by_one
from utils.tasks.two_bytes import in_two_bytes
from utils.training.loop import mode

PARAMETERS = {"seed": [0, 1, 2], "steps": 1500, "taught": 400}
SHORT = {
    "steps": 4,
    "taught": 4,
    "N_LABELS": (100,),
    "RATES": (3e-3,),
    "LORA_RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
    "N_PASSAGES": 16,
    "STORED": None,
}
STORED = 0  # the seed
MARKS = 0, 50, 100, 150, 200, 300, 400, 600, 800, 1000, 1250
TAUGHT_MARKS = 0, 25, 50, 100, 150, 200, 300
N_LABELS = 100, 1000
RANK, LORA_RATES = 4, (1e-3, 3e-3, 1e-2, 3e-2)


def data():
    return pretraining.data()


def measure(seed: int, steps: int, taught: int) -> dict:
    teacher, row = new_model(seed), {}
    seen = []
    look = partial(note, teacher, seen, articles=True)
    history = pretrain(teacher, Watched(Hidden(steps), MARKS, look), seed)
    look(steps)
    teacher.eval()
    row |= columns("teacher", seen)
    row["losses"] = [sum(some) / len(some) for some in in_twenties(history.step_loss)]

    student, seen = student_of(teacher), []
    look = partial(note, student, seen, articles=False)
    distil(teacher, student, Watched(Hidden(taught), TAUGHT_MARKS, look), seed + 1000)
    look(taught)
    student.eval()
    row |= columns("student", seen)

    for name, model in (("teacher", teacher), ("student", student)):
        row[f"{name}, loss"] = guessed(model)["loss"]
        row[f"{name} in int8, found"] = guessed(with_rounded_weights(model))["right"]
        if seed == STORED:
            file = {"teacher": "reader", "student": "small_reader"}[name]
            store(
                file,
                in_two_bytes(model),
                made_by="experiments/reader_page.py",
                heads=model.config.n_heads,
                words=list(vocabulary().symbols),
            )
    for n_labels in N_LABELS:
        row |= tuned(teacher, student, n_labels, seed)
    return row


def note(model, seen: list, steps: int, articles: bool) -> None:
    """Judge a model on its way, without a change to it."""
    with mode(model, training=False):
        found = {"steps": steps, "found": guessed(model)["right"]}
        seen.append(found | (after_articles(model) if articles else {}))


def columns(name: str, seen: list[dict]) -> dict:
    """What was noted, a list for each number."""
    return {f"{name}: {column}": [each[column] for each in seen] for column in seen[0]}


def in_twenties(losses: list[float]) -> list[list[float]]:
    return [losses[first : first + 20] for first in range(0, len(losses), 20)]


def tuned(teacher, student, n_labels: int, seed: int) -> dict:
    """The share of test sentences that each step gets right, and the bytes that it keeps."""
    task = with_labels(n_labels, seed)
    found = {}
    for name, model in (("teacher", teacher), ("student", student)):
        best = at_best_rate(partial(classifier, model, task.n_classes), RATES, task, seed)
        found[name] = best.model, bytes_of(best.model)
    for name, model, size in one_by_one(found["student"][0], task):
        found[name] = model, size
    base = as_rounded(student)
    best = at_best_rate(partial(of_low_rank, base, task.n_classes, RANK), LORA_RATES, task, seed)
    row = {"LoRA, trained": n_trained(best.model)}
    row[f"int8, LoRA, {n_labels} labels"] = right(best.model, task, task.test)
    for name, (model, size) in found.items():
        row[f"{name}, {n_labels} labels"] = right(model, task, task.test)
        row[f"{name}, bytes"] = size
    row["student, parameters"] = sizes_of(student).parameters
    return row
