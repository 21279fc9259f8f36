"""Can one network draw and describe? Half of the batches begin with the picture.

It is the page's writer with the same number of steps; so it sees half as many rows of each kind.
"described": share of new pictures of which it says what the parser reads in them, from their codes;
"chosen" as in `drawing_page`, of one drawing and of sixteen.
"""

from utils.data.scenes import drawn, scenes
from utils.show.views.models import load
from utils.tasks.drawing import (
    POOL,
    RATE,
    STEPS,
    B,
    SentencesAndCodes,
    described_rightly,
    descriptions,
    obeyed,
    painter,
    train_writer,
    writer,
)
from utils.tasks.scenes import restored_clip
from utils.tasks.scenes_in_codes import GRID, in_codes, restored_autoencoder

PARAMETERS = {"seed": [0, 1, 2], "described": 0.5, "steps": STEPS, "batch_size": B, "rate": RATE}
SHORT = {"seed": [0], "steps": 2, "batch_size": 8, "N": 2, "KNOWN": 20}
N, KNOWN = 60, POOL  # pictures and sentences for each share, scenes to learn from


def measure(seed: int, described: float, steps: int, batch_size: int, rate: float) -> dict:
    coder, held = restored_autoencoder(load("drawing_codes").weights), load("clip")
    clip = restored_clip(held.weights, held.header["temperature"])
    known, model = scenes(KNOWN, 0), writer(seed)
    codes = in_codes(coder, known)
    pairs = SentencesAndCodes(known, codes, steps, batch_size, described=described)
    train_writer(model, pairs, rate=rate, seed=seed)
    row = {}
    for n_things in (1, 2):
        for which in ("seen", "unseen"):
            shown = scenes(N, 7, n_things=(n_things,), part="test", pairs=which)
            pictures = drawn(shown, 3, "test", grid=GRID)
            said = descriptions(model, coder.encode(pictures))
            row[f"described, {n_things}, {which}"] = described_rightly(said, pictures)
            chosen = obeyed(painter(model), coder, clip, shown, tries=(1, 16)).chosen
            row[f"chosen of 1, {n_things}, {which}"] = chosen[0]
            row[f"chosen of 16, {n_things}, {which}"] = chosen[1]
    return row
