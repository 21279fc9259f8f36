"""Should the temperature of a contrastive loss be learned, or is a fixed one as good?

The page's CLIP, trained shortly, with a temperature that is fixed or (0) learned, from 0.07 on.
"correct": the share of pictures that find their sentence first among 100, averaged with that of
sentences that find their picture; "hard": named among sixteen sentences with the same form or the
same colour; "ends at": the temperature after training. New handwriting; a list has a number for
each seed.
"""

from statistics import fmean

from utils.tasks import scenes as task

PARAMETERS = {"temperature": [0.0, 0.01, 0.03, 0.07, 0.2, 1.0], "steps": 768, "batch_size": 128}
SHORT = {"temperature": [0.0], "steps": 2, "batch_size": 8, "SEEDS": (0,), "N": 20}
SEEDS = 0, 1, 2
N = 300  # pictures for each share


def measure(temperature: float, steps: int, batch_size: int) -> dict:
    models = []
    for seed in SEEDS:
        model = task.clip(seed, temperature=temperature or 0.07)
        batches = task.PicturesAndSentences(steps, batch_size, alone=steps // 2)
        task.train(model, batches, learn_temperature=not temperature, seed=seed)
        models.append(model.eval())
    return {
        "ends at": [model.temperature.item() for model in models],
        "correct": [fmean(task.retrieved(model)) for model in models],
        "hard": [task.named(model, N, kind="hard", pairs="seen") for model in models],
    }
