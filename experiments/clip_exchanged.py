"""Does the page's CLIP learn the order of words if its batches hold scenes in the same words?

Trained as in `clip_page`, but in the second half of the steps every second scene of several things
brings another one into its batch that is said with the same words, exchanged. "exchanged": of two
sentences with the same words the correct one. "named": of sixteen sentences the correct one, for
scenes whose form never had this colour; "mixed" for one, two or three things, as in `clip_page`.
"""

from utils.tasks import scenes as task
from utils.tasks.captions import PicturesAndSentences

PARAMETERS = {
    "seed": [0, 1, 2],
    "hard": 0.5,
    "steps": task.STEPS,
    "alone": task.ALONE,
    "batch_size": task.B,
    "rate": task.RATE,
}
SHORT = {"steps": 2, "alone": 1, "batch_size": 8, "seed": [0], "N": 20}
N = 300  # pictures for each share


def measure(seed: int, hard: float, steps: int, alone: int, batch_size: int, rate: float) -> dict:
    model = task.clip(seed)
    batches = PicturesAndSentences(steps, batch_size, alone=alone, hard=hard)
    task.train(model, batches, rate=rate, seed=seed)
    model.eval()
    row = {f"named, {kind}": task.named(model, N, kind=kind) for kind in ("easy", "hard")}
    for n_things in (1, 2, 3):
        row[f"named, mixed, {n_things}"] = task.named(model, N, n_things=(n_things,))
    for language in ("en", "zh"):
        for name, share in task.told_from_exchanged(model, N, language=language).items():
            row[f"exchanged {name}, {language}"] = share
    return row
