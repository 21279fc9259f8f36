"""Day 9's task: to continue a text, in byte pairs, and what the text before a token is worth."""

import math
import re
from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor, nn

from utils.data.docstrings import docstring_text
from utils.data.text import SPECIAL
from utils.tokens import BytePairs, learn_merges_indexed
from utils.training.counting import KneserNey
from utils.training.loop import History
from utils.training.recipes import train_once
from utils.transformer import Tagger, TransformerConfig

N_MERGES = 256
T = 64  # tokens that a model reads at once
B = 8
STEPS = 800
RATE = 6e-3


def paragraphs(part: str) -> str:
    """The documentation that Days 3 and 7 read, each paragraph on one line."""
    text = docstring_text(part)
    return "\n".join(" ".join(p.split()) for p in re.split(r"\n\s*\n", text))


class Writing:
    """A text in three parts, cut into byte pairs that its training part has taught.

    source: "train", "validation" or "test" to the text of that part, such as `tiny_shakespeare`.
    tokens: the byte pairs; the first numbers are those of `utils.data.text`.
    """

    def __init__(self, source: Callable[[str], str] = paragraphs, n_merges: int = N_MERGES):
        self.source = source
        self.tokens = BytePairs.from_merges(
            learn_merges_indexed(source("train"), n_merges), SPECIAL
        )

    @cached_property
    def train(self) -> Tensor:
        """Ids (n,)."""
        return torch.tensor(self.tokens.encode(self.source("train")))

    @cached_property
    def validation(self) -> Tensor:
        """Pieces (n, T + 1), one behind the other; each last token is the next one's first."""
        ids = torch.tensor(self.tokens.encode(self.source("validation")))
        n = (len(ids) - 1) // T
        return ids[torch.arange(n)[:, None] * T + torch.arange(T + 1)]

    @cached_property
    def lengths(self) -> Tensor:
        """How many bytes each token stands for: (V,)."""
        names = len(SPECIAL)
        found = [len(self.tokens.pieces([i])[0]) for i in range(names, len(self.tokens))]
        return torch.tensor([0] * names + found)

    def spelled(self, ids: list[int]) -> list[str]:
        """Each token as a text of its own; a byte that is half a letter is a �."""
        return [self.tokens.decode([number]) for number in ids]

    def bits_per_byte(self, nats: Tensor) -> float:
        """What all tokens of the validation pieces cost, per byte. Shapes: nats (n, T)."""
        n_bytes = self.lengths[self.validation[:, 1:]].sum()
        return (nats.sum() / (math.log(2) * n_bytes)).item()

    @torch.no_grad()
    def nats(self, model: Callable[[Tensor], Tensor]) -> Tensor:
        """-log p of each next token in the validation pieces, (n, T).

        model: of ids (B, T) to logits (B, T, V).
        """
        found = []
        for rows in self.validation.split(32):
            log_p = model(rows[:, :-1]).log_softmax(dim=-1)
            found.append(-log_p.gather(2, rows[:, 1:, None])[:, :, 0])
        return torch.cat(found)

    def counted(self, order: int) -> Tensor:
        """The same from a table of counts (`KneserNey`), which reads no more than a model does."""
        table = KneserNey(self.train, order, len(self.tokens))
        return -table.log_probabilities(self.validation)[:, 1:]


# A model that sees both sides ---------------------------------------------------------------------


def train_both_sides(task: Writing, loss: Callable, steps: int = 300) -> tuple[Tagger, History]:
    """Train Day 6's encoder, which hides nothing, to say the token behind each position."""
    torch.manual_seed(0)
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2, "dropout": 0.0}
    config = TransformerConfig(len(task.tokens), **sizes, norm="pre", positions="rotary")
    model = Tagger(config, len(task.tokens))
    starts = torch.randint(len(task.train) - T, (steps, B, 1))
    batches = [(ids, ids) for ids in task.train[starts + torch.arange(T + 1)]]
    return model, train_once(model, loss, batches, learning_rate=RATE)


@torch.no_grad()
def nats_at_the_end(task: Writing, model: nn.Module, length: int = 32) -> Tensor:
    """-log p of the token behind the first `length` of each validation piece, (n,)."""
    log_p = model(task.validation[:, :length])[:, -1].log_softmax(dim=-1)
    return -log_p.gather(1, task.validation[:, length, None])[:, 0]
