"""Should the temperature of a contrastive loss be learned, or is a fixed one as good?

The page's CLIP, trained shortly on scenes of one to three things, with a temperature that is fixed,
or (0) learned, from 0.07 on; each at the best of its rates by the validation handwriting, found
with the first seed. "correct": as in `clip_batches`; "ends at": the temperature after training. A
list has a number for each seed.
"""

from utils.tasks import scenes as task
from utils.tasks.captions import PicturesAndSentences
from utils.tasks.patches import SEEDS, tuned

PARAMETERS = {"temperature": [0.0, 0.01, 0.07, 0.5], "steps": 384, "batch_size": 128}
SHORT = {"temperature": [0.0], "steps": 2, "batch_size": 8, "RATES": (1e-2,), "SEEDS": (0,)}
RATES = 1e-2, 2e-2, 4e-2


def measure(temperature: float, steps: int, batch_size: int) -> dict:
    def trained(rate: float, seed: int):
        model = task.clip(seed, temperature or 0.07)
        batches = PicturesAndSentences(steps, batch_size)
        task.train(model, batches, rate=rate, learn_temperature=not temperature, seed=seed)
        return model.eval()

    found = tuned(trained, task.found_both_ways, RATES, SEEDS)
    return {
        "rate": found.rate,
        "by rate": found.by_rate,
        "ends at": [model.temperature.item() for model in found.models],
        "correct": [task.found_both_ways(model, "test") for model in found.models],
    }
