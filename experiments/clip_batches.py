"""Do larger batches make contrastive learning better, if equally many pictures are seen?

The page's CLIP, trained shortly on scenes of one to three things: each batch size for as many steps
as make up the same number of pictures, at the best of its rates by the validation handwriting,
found with the first seed. "correct": the share of pictures that find their sentence first among
100, averaged with that of sentences that find their picture and over three draws of test scenes; a
list has a number for each seed. "by rate": the same of the validation scenes.
"""

from utils.tasks import scenes as task
from utils.tasks.captions import PicturesAndSentences
from utils.tasks.patches import SEEDS, tuned

PARAMETERS = {"batch_size": [16, 64, 256], "pictures": 49_152}
SHORT = {"batch_size": [16], "pictures": 64, "RATES": (1e-2,), "SEEDS": (0,)}
RATES = 5e-3, 1e-2, 2e-2, 4e-2


def measure(batch_size: int, pictures: int) -> dict:
    def trained(rate: float, seed: int):
        model = task.clip(seed)
        task.train(
            model, PicturesAndSentences(pictures // batch_size, batch_size), rate=rate, seed=seed
        )
        return model.eval()

    found = tuned(trained, task.found_both_ways, RATES, SEEDS)
    return {
        "rate": found.rate,
        "by rate": found.by_rate,
        "temperature": [model.temperature.item() for model in found.models],
        "correct": [task.found_both_ways(model, "test") for model in found.models],
    }
