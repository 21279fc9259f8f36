"""Written steps: a Transformer that may write its answer down after each symbol, and read it again.

A row holds each symbol and, after it, the answer so far: x_1 a_1 x_2 a_2 … Only the answers are
learned. Asked without steps, the same network reads the same symbols, but with a blank where an
answer would be (the "filler" of Pfau et al., 2024), so that both have as many positions to think
in; what differs is whether they may read what they said.

Shapes: ids and answers of words (n, T), rows (n, 2T).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data.formal import IGNORE_INDEX, Language
from utils.tasks.formal_languages import BLOCKS, HEADS, HELD_OUT, LONGEST, STEPS, B, D
from utils.training.loop import History
from utils.training.recipes import train_once
from utils.transformer import DecoderOnly, TransformerConfig


def blank(language: Language) -> int:
    """Return the id of the blank: symbols come first, then answers, then this."""
    return len(language.symbols) + len(language.classes)


def writer(language: Language, seed: int) -> DecoderOnly:
    """Return a GPT that reads symbols and writes answers, of the sizes of `formal_languages`.

    Its positions are rotary: it has to find the answer before, at whatever place it stands.
    """
    torch.manual_seed(seed)
    sizes = {"d_model": D, "n_heads": HEADS, "d_ff": 2 * D, "n_layers": BLOCKS}
    how = {"norm": "pre", "positions": "rotary", "tied": False, "dropout": 0.0}
    return DecoderOnly(TransformerConfig(blank(language) + 1, **sizes, **how))


def rows(language: Language, ids: Tensor, answers: Tensor, written: bool) -> Tensor:
    """Return symbols with the answer, or a blank, after each: (n, 2T).

    What follows a word's end has blanks, which no answer before can see.
    """
    asked = answers != IGNORE_INDEX
    after = torch.full_like(ids, blank(language))
    if written:
        after = torch.where(asked, len(language.symbols) + answers, after)
    return torch.stack([ids, after], dim=2).flatten(1)


def train_steps(
    model: DecoderOnly,
    language: Language,
    *,
    written: bool,
    steps: int = STEPS,
    rate: float,
    seed: int,
) -> History:
    """Train on words of 1 to 20 symbols; leave the model in evaluation mode.

    written: whether the model sees its answers, in training the correct ones.
    """
    words = language.draw(steps * B, 1, LONGEST, seed)
    read = rows(language, words.ids, words.answers, written)
    wanted = words.answers + len(language.symbols) * (words.answers != IGNORE_INDEX)
    batches = list(zip(read.split(B), wanted.split(B), strict=True))
    history = train_once(model, answer_loss, batches, learning_rate=rate, seed=seed)
    model.eval()
    return history


def answer_loss(outputs: tuple[Tensor, ...], wanted: Tensor) -> Tensor:
    """Return the mean surprise at the answers. Shapes: logits (B, 2T, V), wanted (B, T)."""
    return F.cross_entropy(outputs[0][:, 0::2].flatten(0, 1), wanted.flatten())


@torch.no_grad()
def answers_of(model: DecoderOnly, language: Language, ids: Tensor, *, written: bool) -> Tensor:
    """Return what a model answers after each symbol, one after another, (n, T).

    written: whether it reads its own answers; they are the likeliest ones, and may be wrong.
    """
    state, said, first = None, [], len(language.symbols)
    after = torch.full_like(ids[:, :1], blank(language))
    for t in range(ids.shape[1]):
        read = ids[:, t : t + 1] if t == 0 else torch.cat([after, ids[:, t : t + 1]], dim=1)
        logits, state = model(read, state)
        answer = logits[:, -1:, first : blank(language)].argmax(dim=-1)
        after = first + answer if written else after
        said.append(answer)
    return torch.cat(said, dim=1)


def share_last(
    model: DecoderOnly,
    language: Language,
    length: int,
    *,
    written: bool,
    n: int = 500,
    seed: int = HELD_OUT,
) -> float:
    """Return the share of words of a length after whose last symbol the answer is correct."""
    words = language.draw(n, length, length, seed)
    said = answers_of(model, language, words.ids, written=written)
    return (said == words.answers)[:, -1].double().mean().item()
