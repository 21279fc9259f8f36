"""The page's CLIP: sentences for pictures, and how often it finds them.

Two small encoders learn from pictures of scenes, all drawn anew for each batch, with sentences in
English and Chinese: first from all scenes of one thing, then from scenes of one to three. All
shares are of handwriting that was not in training, and of scenes of two or three things that were
not; "unseen" have a form in a colour that no training picture showed. The number of steps was
chosen by such shares of the first seed.

"named": of sixteen sentences the correct one; the others are "easy" (any other thing), "hard" (the
same form or the same colour) or "mixed" (also words exchanged), for scenes of one, two or three
things. "pictures" and "sentences" find theirs first among 100. "exchanged": of two sentences in the
same words the correct one. "int8": the same with the weights in whole numbers, as they are stored
for the page, where the first seed is.
"""

from utils.data.scenes import VOCABULARY
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views.models import store
from utils.tasks.captions import PicturesAndSentences
from utils.tasks.patches import encoder_config
from utils.tasks.rounded import in_int8
from utils.tasks.scenes import (
    ALONE,
    RATE,
    STEPS,
    WIDTH,
    B,
    P,
    clip,
    encoders,
    named,
    retrieved,
    told_from_exchanged,
    train,
)

PARAMETERS = {
    "seed": [0, 1, 2],
    "steps": STEPS,
    "alone": ALONE,
    "batch_size": B,
    "rate": RATE,
}
SHORT = {"steps": 2, "alone": 1, "batch_size": 128, "seed": [0], "N": 20, "STORED": None}
N = 300  # pictures for each share
STORED = 0  # this seed


def measure(seed: int, steps: int, alone: int, batch_size: int, rate: float) -> dict:
    model = clip(seed)
    batches = PicturesAndSentences(steps, batch_size, alone=alone)
    history = train(model, batches, rate=rate, seed=seed)
    model.eval()
    rounded = with_rounded_weights(model).eval()
    if seed == STORED:
        store(
            "clip",
            in_int8(encoders(model)),
            made_by="experiments/clip_page.py",
            heads=encoder_config(WIDTH, 1).n_heads,
            patch_size=P,
            temperature=model.temperature.item(),
            words=list(VOCABULARY.symbols),
        )
    mark = max(1, steps // 30)
    losses = history.step_loss
    row = {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "temperature": model.temperature.item(),
        "losses": [sum(losses[i : i + mark]) / mark for i in range(0, steps - mark + 1, mark)],
    }
    for pairs in ("seen", "unseen"):
        for kind in ("easy", "hard"):
            for language in ("en", "zh"):
                row[f"named, {kind}, {pairs}, {language}"] = named(
                    model, N, kind=kind, pairs=pairs, language=language
                )
        for n_things in (1, 2, 3):
            row[f"named, mixed, {n_things}, {pairs}"] = named(
                model, N, pairs=pairs, n_things=(n_things,)
            )
        for language in ("en", "zh"):
            row[f"pictures, {pairs}, {language}"], row[f"sentences, {pairs}, {language}"] = (
                retrieved(model, pairs=pairs, language=language)
            )
        row[f"named in int8, hard, {pairs}"] = named(rounded, N, kind="hard", pairs=pairs)
    row["named, hard, training handwriting"] = named(
        model, N, kind="hard", pairs="seen", part="train"
    )
    for language in ("en", "zh"):
        for name, share in told_from_exchanged(model, N, language=language).items():
            row[f"exchanged {name}, {language}"] = share
    return row
