"""Does the page need a grid of 6 × 6? Grids of 3 × 3 and of 12 × 12 beside it, trained as long.

A coarse grid has 256 codes, as the page's has, and so a quarter of its bits; one more convolution
each way halves and doubles the sides. A fine grid has 4 codes, which makes as many bits as the
page's; its second convolution doesn't halve. "codes": how many there are. "read" and "in use" as in
`picture_codes`, of new scenes of one to three things. Things begin where a code of the page's grid
does, so some begin in the middle of a coarse one.
"""

from torch import nn

from utils.convolution import conv_relu
from utils.data.scenes import scenes
from utils.drawing import VQAutoencoder
from utils.tasks.scenes_in_codes import POOL, RATE, STEPS, autoencoder, kept, train_autoencoder

PARAMETERS = {"grid": [3, 12], "seed": [0, 1], "steps": STEPS, "rate": RATE, "pool": POOL}
SHORT = {"seed": [0], "steps": 2, "pool": 20, "N": 6}
N = 300  # pictures
CODES = {3: 256, 12: 4}
WIDE = 64  # channels of the encoder's second convolution


def measure(grid: int, seed: int, steps: int, rate: float, pool: int) -> dict:
    model = with_grid(autoencoder(seed=seed, n_codes=CODES[grid]), grid)
    train_autoencoder(model, steps=steps, rate=rate, pool=scenes(pool, 0), seed=seed)
    found = kept(model, scenes(N, 2, part="test"))
    return {"codes": CODES[grid], "read": found.read, "in use": found.in_use}


def with_grid(model: VQAutoencoder, grid: int) -> VQAutoencoder:
    """Give the page's autoencoder (24 × 24 pixels to 6 × 6 codes) another grid."""
    if grid == 12:
        model.encoder[1][0].stride = (1, 1)
        model.decoder[2] = nn.Identity()
    else:
        model.encoder.insert(2, conv_relu(WIDE, WIDE, 3, stride=2))
        model.decoder.insert(2, nn.Upsample(scale_factor=2))
        model.decoder.insert(3, conv_relu(WIDE, WIDE, 3))
    return model
