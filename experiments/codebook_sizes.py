"""Does the page need 256 codes? Codebooks of 16 and 64 beside it, trained as long.

"read" and "in use" as in `picture_codes`, of new scenes of one to three things.
"""

from utils.data.scenes import scenes
from utils.tasks.scenes_in_codes import POOL, RATE, STEPS, autoencoder, kept, train_autoencoder

PARAMETERS = {"n_codes": [16, 64], "seed": [0, 1, 2], "steps": STEPS, "rate": RATE, "pool": POOL}
SHORT = {"n_codes": [16], "seed": [0], "steps": 2, "pool": 20, "N": 6}
N = 300  # pictures


def measure(n_codes: int, seed: int, steps: int, rate: float, pool: int) -> dict:
    model = autoencoder(seed=seed, n_codes=n_codes)
    train_autoencoder(model, steps=steps, rate=rate, pool=scenes(pool, 0), seed=seed)
    found = kept(model, scenes(N, 2, part="test"))
    return {"read": found.read, "in use": found.in_use}
