"""The page's codes: pictures of scenes in 36 codes, and how many of them can still be read.

An autoencoder with a codebook learns from pictures that are all drawn anew. All shares are of
handwriting and of scenes that were not in training. "read": the parser reads the scene in what was
drawn from the codes; "before": in the picture itself, where it errs, too. "png bits" are of
pictures of the same scenes off the grid, as PNG files. "int8": with the weights in whole numbers,
as they are stored for the page, where the first seed is.
"""

from utils.data.scenes import drawn, scenes
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views.models import store
from utils.tasks.rounded import in_int8
from utils.tasks.scenes_in_codes import (
    POOL,
    RATE,
    STEPS,
    autoencoder,
    kept,
    png_bits,
    train_autoencoder,
)

PARAMETERS = {"seed": [0, 1, 2], "n_codes": [256], "steps": STEPS, "rate": RATE, "pool": POOL}
SHORT = {"seed": [0], "steps": 2, "pool": 20, "N": 6, "STORED": None}
N = 300  # pictures for each share
STORED = 0  # this seed


def measure(seed: int, n_codes: int, steps: int, rate: float, pool: int) -> dict:
    model = autoencoder(seed=seed, n_codes=n_codes)
    history = train_autoencoder(model, steps=steps, rate=rate, pool=scenes(pool, 0), seed=seed)
    rounded = with_rounded_weights(model).eval()
    if seed == STORED:
        store("drawing_codes", in_int8(model), made_by="experiments/picture_codes.py")
    mark = max(1, steps // 30)
    losses = history.step_loss
    row = {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "losses": [sum(losses[i : i + mark]) / mark for i in range(0, steps - mark + 1, mark)],
    }
    for n_things in (1, 2, 3):
        for pairs in ("seen", "unseen"):
            shown = scenes(N, 1, n_things=(n_things,), part="test", pairs=pairs)
            found = kept(model, shown)
            row[f"read, {n_things}, {pairs}"] = found.read
            row[f"before, {n_things}, {pairs}"] = found.before
    shown = scenes(N, 2, part="test")
    found = kept(model, shown)
    row |= {"error": found.error, "in use": found.in_use, "read": found.read}
    row["read, training handwriting"] = kept(model, shown, "train").read
    row["read in int8"] = kept(rounded, shown).read
    row["png bits"] = png_bits(drawn(shown, 0, "test"))
    return row
