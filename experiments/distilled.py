"""What does each part of DistilBERT's recipe bring? Students of half the blocks of their teacher.

A teacher of four blocks has read without labels. A student of two begins with every second of its
blocks, embedding and head included, or from nothing, and reads on with masked words, soft targets
and the angle between last vectors, or without one of them, all for equally many steps; the teacher
that reads on does so, too. "loss" is that of hidden words in the text of the test part's modules,
which nobody has read. Then each is tuned with labels, seed by seed at the best of four rates on
the validation part; "100 labels" and "1000 labels" are how much of the test part is then right.
"""

from collections.abc import Callable
from functools import cache, partial

from torch import nn

from utils.pretraining import MaskedLanguageModel, every_second
from utils.tasks.distilling import Weights, distil, sizes_of, unseen_loss
from utils.tasks.fine_tuning import RATES, classifier, fine_tune, with_labels
from utils.tasks.pretraining import STEPS, Hidden, data, new_model, pretrain  # noqa: F401
from utils.tasks.reading import Labelled, as_ids, logits_of, share_right

Student = Callable[[MaskedLanguageModel, int, int], MaskedLanguageModel]


@cache
def teacher_of(seed: int) -> MaskedLanguageModel:
    model = new_model(seed)
    pretrain(model, Hidden(STEPS), seed)
    return model.eval()


def student(
    teacher: MaskedLanguageModel,
    seed: int,
    steps: int,
    *,
    weights: Weights | None = None,
    from_nothing: bool = False,
) -> MaskedLanguageModel:
    """Train a student for some steps; without weights, it reads alone."""
    made = new_model(seed, n_layers=2) if from_nothing else every_second(teacher)
    batches, of_student = Hidden(steps), seed + 1000  # other batches than the teacher has read
    if weights is None:
        pretrain(made, batches, of_student)
    else:
        distil(teacher, made, batches, of_student, weights=weights)
    return made


def reading_on(teacher: MaskedLanguageModel, seed: int, steps: int) -> MaskedLanguageModel:
    made = new_model(seed)
    made.load_state_dict(teacher.state_dict())
    pretrain(made, Hidden(steps), seed + 1000)
    return made


MODELS: dict[str, Student] = {
    "teacher": lambda teacher, seed, steps: teacher,
    "teacher, reading on": reading_on,
    "student": partial(student, weights=Weights()),
    "without soft targets": partial(student, weights=Weights(soft=0.0)),
    "without the angle": partial(student, weights=Weights(cosine=0.0)),
    "without masked words": partial(student, weights=Weights(words=0.0)),
    "from nothing": partial(student, weights=Weights(), from_nothing=True),
    "without a teacher": student,
    "without a teacher, from nothing": partial(student, from_nothing=True),
}
PARAMETERS = {"seed": [0, 1, 2], "model": list(MODELS), "steps": 250}


def measure(seed: int, model: str, steps: int) -> dict:
    made = MODELS[model](teacher_of(seed), seed, steps)
    row = {"parameters": sizes_of(made).parameters, "loss": unseen_loss(made)}
    for n_train in (100, 1000):
        row |= tuned(made, n_train, seed)
    return row


def tuned(made: MaskedLanguageModel, n_train: int, seed: int) -> dict[str, float]:
    """What share of the test part is right after tuning at the best rate, and that rate."""
    task = with_labels(n_train, seed)

    def right(model: nn.Module, part: Labelled) -> float:
        return share_right(lambda of: logits_of(model, as_ids(of, task.vocabulary)[0]), part)

    tried = {rate: fine_tune(classifier(made, task.n_classes), task, rate, seed) for rate in RATES}
    best = max(RATES, key=lambda rate: right(tried[rate], task.validation))
    return {f"{n_train} labels": right(tried[best], task.test), f"rate, {n_train} labels": best}
