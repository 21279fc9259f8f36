"""What does each part of DistilBERT's recipe bring? Students of half the blocks of their teacher.

A teacher of two blocks has read without labels. A student of one begins with every second of its
blocks, embedding and head included, or from nothing, and reads on with masked words, soft targets
and the angle between last vectors, or without one of them, all for equally many steps; the teacher
that reads on does so, too. One model of one block has no teacher, and reads as long as teacher and
student together. One teacher has four blocks, and its student two. "loss" in nats and "right" are
of hidden words in held-out text; "labels" are of sentences from five libraries, tuned as in
`few_labels`.
"""

from collections.abc import Callable
from functools import cache, partial

from utils.pretraining import MaskedLanguageModel, student_of
from utils.tasks import pretraining
from utils.tasks.distilling import Weights, distil, sizes_of
from utils.tasks.held_out import guessed, told_apart
from utils.tasks.pretraining import N_LAYERS, STEPS, Hidden, new_model, pretrain
from utils.tasks.reading import SEEDS

Student = Callable[[MaskedLanguageModel, int, int], MaskedLanguageModel]


@cache
def teacher_of(seed: int, n_layers: int) -> MaskedLanguageModel:
    model = new_model(seed, n_layers)
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
    n_layers = teacher.config.n_layers
    made = new_model(seed, n_layers // 2) if from_nothing else student_of(teacher)
    batches, of_student = Hidden(steps), seed + 1000  # other batches than the teacher has read
    if weights is None:
        pretrain(made, batches, of_student)
    else:
        distil(teacher, made, batches, of_student, weights=weights)
    return made


def unchanged(teacher: MaskedLanguageModel, seed: int, steps: int) -> MaskedLanguageModel:
    return teacher


def reading_on(teacher: MaskedLanguageModel, seed: int, steps: int) -> MaskedLanguageModel:
    made = new_model(seed)
    made.load_state_dict(teacher.state_dict())
    pretrain(made, Hidden(steps), seed + 1000)
    return made


def alone(teacher: MaskedLanguageModel, seed: int, steps: int) -> MaskedLanguageModel:
    """A model of a student's size, which nobody teaches."""
    made = new_model(seed, teacher.config.n_layers // 2)
    pretrain(made, Hidden(STEPS + steps), seed)
    return made


MODELS: dict[str, tuple[int, Student]] = {  # the teacher's blocks, and what becomes of it
    "teacher": (N_LAYERS, unchanged),
    "teacher, reading on": (N_LAYERS, reading_on),
    "student": (N_LAYERS, partial(student, weights=Weights())),
    "without soft targets": (N_LAYERS, partial(student, weights=Weights(soft=0.0))),
    "without the angle": (N_LAYERS, partial(student, weights=Weights(cosine=0.0))),
    "without masked words": (N_LAYERS, partial(student, weights=Weights(words=0.0))),
    "from nothing": (N_LAYERS, partial(student, weights=Weights(), from_nothing=True)),
    "without a teacher": (N_LAYERS, student),
    "without a teacher, from nothing": (N_LAYERS, partial(student, from_nothing=True)),
    "alone, as long as both": (N_LAYERS, alone),
    "teacher of four blocks": (4, unchanged),
    "student of two blocks": (4, partial(student, weights=Weights())),
}
PARAMETERS = {"model": list(MODELS), "steps": 400}
SHORT = {
    "steps": 4,
    "STEPS": 4,
    "SEEDS": (0,),
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
    "N_PASSAGES": 16,
}


def data():
    return pretraining.data()


def measure(model: str, steps: int) -> dict:
    n_layers, become = MODELS[model]
    models = {seed: become(teacher_of(seed, n_layers), seed, steps) for seed in SEEDS}
    words = [guessed(made) for made in models.values()]
    row = {name: [each[name] for each in words] for name in words[0]}
    row["parameters"] = sizes_of(models[0]).parameters
    return row | told_apart(models, 100) | told_apart(models, 1000)
