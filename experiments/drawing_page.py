"""The page's writer: sentences become pictures, and the parser reads what was drawn.

Day 9's GPT learns rows of sentences, in English and Chinese, and the codes that the page's
autoencoder makes of pictures of them; "unseen" sentences have a form in a colour that no training
picture showed. Sentences of two or three things were not in training either. The steps, the rate
and the temperature were chosen by such shares of the first seed.

"chosen of n": share of sentences, by the number of things, that the parser reads in that of n
drawings which Day 12's CLIP finds the most similar; "chosen of 1" is the first drawing. "any": in
one of sixteen at least. "varied": different pictures among the sixteen of a sentence. "guided":
with a guidance of 2. "int8": with the weights in whole numbers, as they are stored for the page,
where the first seed is.
"""

from utils.data.scenes import scenes
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views.models import load, store
from utils.tasks.drawing import (
    POOL,
    RATE,
    STEPS,
    TRIES,
    B,
    SentencesAndCodes,
    facts_for_page,
    obeyed,
    painter,
    train_writer,
    writer,
)
from utils.tasks.rounded import in_int8
from utils.tasks.scenes import restored_clip
from utils.tasks.scenes_in_codes import in_codes, restored_autoencoder

PARAMETERS = {"seed": [0, 1, 2], "steps": STEPS, "batch_size": B, "rate": RATE, "pool": POOL}
SHORT = {"seed": [0], "steps": 2, "batch_size": 8, "pool": 20, "N": 2, "STORED": None}
N = 60  # sentences for each share
GUIDANCE = 2.0
STORED = 0  # this seed


def measure(seed: int, steps: int, batch_size: int, rate: float, pool: int) -> dict:
    coder, held = restored_autoencoder(load("drawing_codes").weights), load("clip")
    clip = restored_clip(held.weights, held.header["temperature"])
    known = scenes(pool, 0)
    model = writer(seed)
    pairs = SentencesAndCodes(known, in_codes(coder, known), steps, batch_size)
    history = train_writer(model, pairs, rate=rate, seed=seed)
    if seed == STORED:
        store(
            "drawing_writer",
            in_int8(model),
            made_by="experiments/drawing_page.py",
            **facts_for_page(model),
        )
    mark = max(1, steps // 30)
    losses = history.step_loss
    row = {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "losses": [sum(losses[i : i + mark]) / mark for i in range(0, steps - mark + 1, mark)],
    }
    for pairs_of in ("seen", "unseen"):
        for n_things in (1, 2, 3):
            shown = scenes(N, 7, n_things=(n_things,), part="test", pairs=pairs_of)
            found = obeyed(painter(model), coder, clip, shown)
            for n, share in zip(TRIES, found.chosen, strict=True):
                row[f"chosen of {n}, {n_things}, {pairs_of}"] = share
            row[f"any, {n_things}, {pairs_of}"] = found.any
            row[f"varied, {n_things}, {pairs_of}"] = found.varied
            guided = obeyed(painter(model, guidance=GUIDANCE), coder, clip, shown)
            row[f"guided, chosen of 1, {n_things}, {pairs_of}"] = guided.chosen[0]
            row[f"guided, chosen of 16, {n_things}, {pairs_of}"] = guided.chosen[-1]
        alone = scenes(N, 7, n_things=(1,), part="test", pairs=pairs_of)
        chinese = obeyed(painter(model), coder, clip, alone, language="zh")
        row[f"chosen of 16, 1, {pairs_of}, zh"] = chinese.chosen[-1]
        rounded = with_rounded_weights(model).eval()
        row[f"in int8, 1, {pairs_of}"] = obeyed(painter(rounded), coder, clip, alone).chosen[-1]
    return row
