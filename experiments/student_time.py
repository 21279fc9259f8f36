"""How long does a sentence take to read, for a teacher and for a student of half its blocks?

"ours" are today's encoders of two blocks and of one, "published" have the sizes of BERT-base and
of DistilBERT, with weights as they begin. DistilBERT's authors read pairs of sentences one by one
on a CPU, of about 32 tokens; 128 is what such a model is often given. Milliseconds of processor
time on one thread, in float32, for reading alone: each the quickest of several rounds, in turn.
"""

import math
import time
from pathlib import Path

import torch
from torch import Tensor

from utils.measure.costs import one_thread
from utils.pretraining import MASK, PUBLISHED, MaskedLanguageModel, student_of
from utils.pretraining.published import built
from utils.tasks.pretraining import new_model
from utils.tokens.tables import PublishedConfig

SETTINGS = {  # models, sentences at once, words of each
    "ours, one sentence": ("ours", 1, 16),
    "ours, 32 sentences": ("ours", 32, 16),
    "published, 32 tokens": ("published", 1, 32),
    "published, 128 tokens": ("published", 1, 128),
}
PARAMETERS = {"setting": list(SETTINGS), "rounds": 15}
NAMES = "teacher", "student"
SECONDS = NAMES


def measure(setting: str, rounds: int) -> dict:
    which, batch_size, length = SETTINGS[setting]
    models = dict(zip(NAMES, ours() if which == "ours" else published(), strict=True))
    quickest = dict.fromkeys(NAMES, math.inf)
    with one_thread(), torch.inference_mode():
        ids = torch.randint(MASK + 1, models["teacher"].config.vocab_size, (batch_size, length))
        for _ in range(rounds):
            for name, model in models.items():
                quickest[name] = min(quickest[name], 1000 * seconds(model, ids))
    return quickest


def seconds(model: MaskedLanguageModel, ids: Tensor) -> float:
    start = time.process_time()
    model.read(ids)
    return time.process_time() - start


def ours() -> list[MaskedLanguageModel]:
    teacher = new_model(0).eval()
    return [teacher, student_of(teacher).eval()]


def published() -> list[MaskedLanguageModel]:
    of = (PUBLISHED[name] for name in ("BERT-base", "DistilBERT"))
    return [built(layout, PublishedConfig(Path(layout.kind), told)).eval() for layout, told in of]
