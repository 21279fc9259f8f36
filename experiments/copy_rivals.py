"""Who learns to copy forty symbols within 400 steps: a GRU, one with attention, or a Transformer?

The GRU holds the symbols in its state; Day 4's network attends to them, with its additive score,
and so does the Transformer. Each is about as large as the others, at four learning rates, with
three seeds. `validation` and `test` are the shares of right symbols in new copies, with the truth
so far given; by chance, 0.1.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.sequences import copying
from utils.recurrent import GRU, LanguageModel
from utils.seq2seq import BOS, EOS, Seq2Seq, Seq2SeqConfig
from utils.training.metrics import accuracy
from utils.training.recipes import train_once
from utils.transformer import DecoderOnly, TransformerConfig

PARAMETERS = {
    "model": ["GRU", "Day 4's network", "Transformer"],
    "rate": [5e-3, 1e-2, 2e-2, 4e-2],
    "length": 40,
    "seed": [0, 1, 2],
}
SHORT = {"length": 5, "STEPS": 50}
STEPS = 400
SHIFT = 3  # symbols stand behind PAD, BOS and EOS


class Copier(nn.Module):
    """Day 4's network, asked as a language model is: ids (B, 2T) to logits (B, T, 10) of copies."""

    def __init__(self, length: int):
        super().__init__()
        self.length = length
        sizes = 10 + SHIFT, 10 + SHIFT, 24, 32
        self.network = Seq2Seq(Seq2SeqConfig(*sizes, attention="additive", style="Luong"))

    def forward(self, ids: Tensor) -> tuple[Tensor, None]:
        T = self.length
        start, end = (ids.new_full((len(ids), 1), sign) for sign in (BOS, EOS))
        source = torch.cat([ids[:, :T] + SHIFT, end], dim=1)
        read = torch.cat([start, ids[:, T + 1 :] + SHIFT], dim=1)
        logits = self.network(source, torch.full((len(ids),), T + 1), read)
        return logits[..., SHIFT:], None


def build(model: str, length: int) -> nn.Module:
    if model == "GRU":
        return LanguageModel(11, 32, GRU(32, 62))
    if model == "Day 4's network":
        return Copier(length)
    sizes = {"d_model": 32, "n_heads": 2, "d_ff": 64, "n_layers": 2}
    return DecoderOnly(TransformerConfig(11, tied=False, norm="pre", dropout=0.0, **sizes))


def loss(outputs: tuple, targets: Tensor) -> Tensor:
    logits, _ = outputs
    return F.cross_entropy(logits.transpose(1, 2), targets[:, -logits.shape[1] :])


def measure(model: str, rate: float, length: int, seed: int) -> dict:
    torch.manual_seed(seed)
    built = build(model, length)
    ids, targets = copying(32 * STEPS, length, seed)
    batches = list(zip(ids.split(32), targets.split(32), strict=True))
    history = train_once(built, loss, batches, learning_rate=rate, seed=seed)
    right = {}
    for name, new in (("validation", 1_000_000), ("test", 2_000_000)):
        ids, targets = copying(500, length, seed + new)
        with torch.no_grad():
            logits, _ = built.eval()(ids)
        right[name] = accuracy(logits[:, -length:], targets[:, -length:])
    return {
        "parameters": sum(p.numel() for p in built.parameters()),
        "losses": torch.tensor(history.step_loss).view(-1, 25).mean(dim=1).tolist(),
        **right,
    }
