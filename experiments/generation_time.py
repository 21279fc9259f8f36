"""What a decoder-only Transformer takes to generate a text, with and without a cache.

Greedy, one text from one symbol on. "uncached" reads the whole text again for each new symbol;
"state" puts new keys and values behind the old ones, which copies these; "cached" writes them into
memory that was taken before. "last_work" is the work for the last symbol alone. Seconds are of
processor time on one thread.
"""

import torch
from torch import Tensor

from utils.efficient import KVCache
from utils.measure.costs import seconds, work
from utils.transformer import DecoderOnly, TransformerConfig

PARAMETERS = {
    "method": ["uncached", "state", "cached"],
    "tokens": [32, 64, 128, 256, 512],
    "width": 256,
    "n_layers": 2,
}
SHORT = {}
SECONDS = ("seconds",)


def measure(method: str, tokens: int, width: int, n_layers: int) -> dict:
    torch.manual_seed(0)
    sizes = {"d_model": width, "n_heads": 4, "d_ff": 4 * width, "n_layers": n_layers}
    model = DecoderOnly(TransformerConfig(100, **sizes, norm="pre")).eval()
    total, before = (
        work(lambda n=n: generate(model, method, n)).total for n in (tokens, tokens - 1)
    )
    return {
        "work": total,
        "last_work": total - before,
        "seconds": seconds(lambda: generate(model, method, tokens)),
    }


@torch.no_grad()
def generate(model: DecoderOnly, method: str, tokens: int) -> Tensor:
    """Return the symbols (1, 1 + tokens), the same whatever the method."""
    ids, state = torch.zeros(1, 1, dtype=torch.long), None
    caches = [KVCache(tokens) for _ in range(model.config.n_layers)]
    for _ in range(tokens):
        if method == "uncached":
            logits, _ = model(ids)
        elif method == "state":
            logits, state = model(ids[:, -1:], state)
        else:
            logits, _ = model.read(ids[:, -1:], caches)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    return ids
