"""Do larger batches make contrastive learning better, if equally many pictures are seen?

The page's CLIP, trained shortly: each batch size for as many steps as make up the same number of
pictures, the first half with scenes of one thing, at the best of its rates by the validation
handwriting, found with the first seed. "correct": the share of pictures that find their sentence
first among 100, averaged with that of sentences that find their picture; "hard": named among
sixteen sentences with the same form or the same colour. Test handwriting; a list has a number for
each seed. "by rate": the first share, of the validation handwriting.
"""

from statistics import fmean

from utils.tasks import scenes as task

PARAMETERS = {"batch_size": [16, 64, 256], "pictures": 98_304}
SHORT = {"batch_size": [16], "pictures": 64, "RATES": (1e-2,), "SEEDS": (0,), "N": 20}
RATES = 5e-3, 1e-2, 2e-2, 4e-2
SEEDS = 0, 1, 2
N = 300  # pictures for each share


def measure(batch_size: int, pictures: int) -> dict:
    def trained(rate: float, seed: int):
        model = task.clip(seed)
        steps = pictures // batch_size
        batches = task.PicturesAndSentences(steps, batch_size, alone=steps // 2)
        task.train(model, batches, rate=rate, seed=seed)
        return model.eval()

    def correct(model, part: str) -> float:
        return fmean(fmean(task.retrieved(model, part=part, seed=seed)) for seed in range(3))

    first, *others = SEEDS
    tried = {rate: trained(rate, first) for rate in RATES}
    by_rate = {rate: correct(model, "validation") for rate, model in tried.items()}
    best = max(by_rate, key=by_rate.get)
    models = [tried[best], *(trained(best, seed) for seed in others)]
    return {
        "rate": best,
        "by rate": list(by_rate.values()),
        "temperature": [model.temperature.item() for model in models],
        "correct": [correct(model, "test") for model in models],
        "hard": [task.named(model, N, kind="hard", pairs="seen") for model in models],
    }
