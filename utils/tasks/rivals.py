"""Day 9's writers side by side: networks of several days, a table of counts, compressors, mixtures.

Shapes: ids (B, T) are tokens, logits (B, T, V) are about the token that follows each; surprises
(n - 1,) are -ln p of all tokens of a text (n,) but the first.
"""

import copy
import lzma
import math
import zlib
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from utils.arguments import check_choice
from utils.data.docstrings import PARTS
from utils.recurrent import LSTM, LanguageModel
from utils.tasks.letters import pieces
from utils.tasks.writing import STEPS, B, T, Writing
from utils.training.counting import KneserNey
from utils.training.recipes import tag_loss, train_once
from utils.transformer import DecoderOnly, TransformerConfig

# Networks -----------------------------------------------------------------------------------------


class LogitsAlone(nn.Module):
    """A language model that returns no state beside its logits: ids (B, T) to logits (B, T, V)."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        return self.model(ids)[0]


def gpt(vocab_size: int, d_model: int = 96, n_layers: int = 2, n_heads: int = 4) -> LogitsAlone:
    """The lesson's GPT: pre-norm, GELU, rotary positions, and a table that begins small."""
    model = _decoder(vocab_size, d_model, n_layers, n_heads, activation="gelu", positions="rotary")
    nn.init.normal_(model.output.weight, std=0.02)
    return LogitsAlone(model)


def _decoder(vocab_size: int, d_model: int, n_layers: int, n_heads: int, **how: str) -> DecoderOnly:
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": 4 * d_model, "n_layers": n_layers}
    return DecoderOnly(TransformerConfig(vocab_size, **sizes, norm="pre", dropout=0.0, **how))


NETWORKS: dict[str, Callable[[int], LogitsAlone]] = {  # of V; with 516 tokens 273,000 weights each
    "LSTM": lambda V: LogitsAlone(LanguageModel(V, 64, LSTM(64, 166))),
    "Day 6's blocks": lambda V: LogitsAlone(
        _decoder(V, 96, 2, 4, activation="relu", positions="sinusoidal")
    ),
    "GPT": gpt,
}


def trained(name: str, task: Writing, rate: float, seed: int) -> LogitsAlone:
    """Train one of NETWORKS with the lesson's recipe; each reads the same pieces of the text.

    Raises: ValueError if there is no such network.
    """
    check_choice("name", name, NETWORKS)
    torch.manual_seed(seed)
    model = NETWORKS[name](len(task.tokens))
    batches = pieces(task.ids["train"], STEPS, B, T, seed)
    train_once(model, tag_loss, batches, learning_rate=rate, seed=seed)
    return model.eval()


# Parts of a text, and what they cost --------------------------------------------------------------


def asked_about(task: Writing, part: str) -> Writing:
    """The same task, which asks about another part where it asked about the validation text.

    Raises: ValueError if there is no such part.
    """
    check_choice("part", part, PARTS)
    other = copy.copy(task)
    other.ids = task.ids | {"validation": task.ids[part]}
    other.text = task.text | {"validation": task.text[part]}
    return other


def compressed(text: str, read: str = "") -> dict[str, float]:
    """Bits for each byte of a text that gzip needs, and xz after it has read another text.

    gzip looks back 32 kilobytes at most, so that another text would be no help to it.
    """
    size, gzip, both, alone = (
        len(text.encode()),
        len(zlib.compress(text.encode(), 9)),
        *(len(lzma.compress(each.encode(), preset=9)) for each in (read + text, read)),
    )
    return {"gzip": 8 * gzip / size, "xz": 8 * (both - alone) / size}


# A table of counts --------------------------------------------------------------------------------


def counted(table: KneserNey, text: Tensor, window: int | None = None) -> Tensor:
    """Surprises of a table on a text (n,), in windows as `metrics.surprises` reads them: (n - 1,).

    Without a window the text is read without a break.
    """
    window = len(text) - 1 if window is None else window
    whole = (len(text) - 1) // window * window
    rows = [text[: whole + 1].unfold(0, window + 1, window)] if whole else []
    if len(text) > whole + 1:
        rows.append(text[None, whole:])
    return -torch.cat([table.log_probabilities(row)[:, 1:].flatten() for row in rows])


def best_table(
    task: Writing, orders: Iterable[int], window: int | None = None
) -> tuple[KneserNey, dict[int, float]]:
    """The table of a training text that suits the validation text best, and the bits of all orders.

    Bits are for each byte; orders at which numbers would be too large for `KneserNey` are left out.
    """
    V, found, best = len(task.tokens), {}, None
    for order in orders:
        if V**order < 2**63:
            table = KneserNey(task.ids["train"], order, V)
            found[order] = task.per_byte(counted(table, task.ids["validation"], window))
            best = table if found[order] == min(found.values()) else best
    return best, found


# Two that speak together --------------------------------------------------------------------------


def mixed(ours: Tensor, theirs: Tensor, share: float = 0.5) -> Tensor:
    """Surprises of a mixture: of each probability, `share` is ours, and the rest theirs.

    Raises: ValueError if the share is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise ValueError(f"share is {share}: a mixture of two has more than 0 and less than 1.")
    of_ours, of_theirs = math.log(share) - ours.double(), math.log(1 - share) - theirs.double()
    return -torch.logaddexp(of_ours, of_theirs)


SHARES = [k / 20 for k in range(1, 20)]


def best_share(ours: Tensor, theirs: Tensor) -> float:
    """The share of SHARES with which a mixture is least surprised."""
    return min(SHARES, key=lambda share: mixed(ours, theirs, share).mean().item())
