"""All codes at once: Day 6's encoder predicts hidden codes, and fills a picture in a few steps.

It has as many blocks, the width and the steps of training of the page's writer. "chosen" as in
`drawing_page`, for 1 to 16 steps of drawing.
"""

from utils.data.scenes import scenes
from utils.show.views.models import load
from utils.tasks.drawing import POOL, RATE, STEPS, B, SentencesAndCodes, obeyed
from utils.tasks.masked_drawing import masked_painter, masked_writer, train_masked
from utils.tasks.scenes import restored_clip
from utils.tasks.scenes_in_codes import in_codes, restored_autoencoder

PARAMETERS = {"seed": [0, 1, 2], "steps": STEPS, "batch_size": B, "rate": RATE}
SHORT = {"seed": [0], "steps": 2, "batch_size": 8, "N": 2, "KNOWN": 20, "PASSES": (1, 2)}
N, KNOWN = 60, POOL  # sentences for each share, scenes to learn from
PASSES = 1, 4, 8, 16  # steps of drawing


def measure(seed: int, steps: int, batch_size: int, rate: float) -> dict:
    coder, held = restored_autoencoder(load("drawing_codes").weights), load("clip")
    clip = restored_clip(held.weights, held.header["temperature"])
    known, model = scenes(KNOWN, 0), masked_writer(seed)
    pairs = SentencesAndCodes(known, in_codes(coder, known), steps, batch_size)
    train_masked(model, pairs, rate=rate, seed=seed)
    row = {}
    for passes in PASSES:
        paint = masked_painter(model, steps=passes)
        for which in ("seen", "unseen"):
            shown = scenes(N, 7, n_things=(1,), part="test", pairs=which)
            chosen = obeyed(paint, coder, clip, shown, tries=(1, 16)).chosen
            row[f"chosen of 1, {passes}, {which}"] = chosen[0]
            row[f"chosen of 16, {passes}, {which}"] = chosen[1]
    return row
