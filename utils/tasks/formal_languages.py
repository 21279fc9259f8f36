"""Formal languages as a task: networks of many kinds learn to answer after each symbol.

All read words of up to 20 symbols, with one recipe: what differs is the network, and the rate at
which each learns best. Shapes: ids (B, T) to logits (B, T, C), for the C answers of a language.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from utils.arguments import check_choice
from utils.computation import LinearRecurrence, RecurrentMixer, Transducer
from utils.data.formal import IGNORE_INDEX, Language
from utils.positions import Alibi
from utils.recurrent import LSTM, RNN
from utils.self_attention import BiasedAttention, MultiHeadAttention
from utils.training.loop import History
from utils.training.recipes import tag_loss, train_once
from utils.training.tuning import losses_by_rate
from utils.transformer import Encoder, Parts, TransformerConfig

D, HEADS, BLOCKS = 32, 2, 2
LONGEST = 20  # symbols of the longest word in training
STEPS, B, RATES = 1500, 64, (1e-3, 3e-3, 1e-2)
START = 2**-8  # the rate with which the search for the best begins
TABLE = 640  # positions that are learned, or not: training shows the first 20
HELD_OUT, CHOOSING = 10**6, 2 * 10**6  # seeds that no training has: to test, to choose a rate by
SPANS = (1, 20), (21, 40), (41, 80), (81, 160)  # shortest and longest words that are asked
TABLED = (  # kinds of the table of languages: two ways to read on, blocks with each mixer
    "RNN",
    "LSTM",
    "blocks, gates in (0, 1)",
    "blocks, gates in (-1, 1)",
    "Transformer, none",
    "Transformer, sinusoidal",
    "Transformer, learned",
    "Transformer, rotary",
    "Transformer, ALiBi",
)


class CausalTagger(nn.Module):
    """Blocks of Day 6 that see what comes before, and give an answer after each symbol.

    parts: what is in the place of attention, or added to its scores.
    Raises: ValueError if there is no symbol, or learned positions end.
    """

    def __init__(self, config: TransformerConfig, n_classes: int, parts: Parts):
        super().__init__()
        self.encoder = Encoder(config, parts)
        self.output = nn.Linear(config.d_model, n_classes)

    def forward(self, ids: Tensor) -> Tensor:
        x, _ = self.encoder.run(self.encoder.embedding(ids), is_causal=True)
        return self.output(x)


def _recurrent(layer: Callable[[int, int], nn.Module]) -> Callable[[int, int], nn.Module]:
    return lambda V, C: Transducer(V, D, layer(D, D), C)


def _blocks(
    positions: str | None = None, parts: Callable[[], Parts] = Parts, n_layers: int = BLOCKS
) -> Callable[[int, int], nn.Module]:
    def make(V: int, C: int) -> nn.Module:
        sizes = {"d_model": D, "n_heads": HEADS, "d_ff": 2 * D, "n_layers": n_layers}
        how = {"norm": "pre", "positions": positions, "max_len": TABLE, "dropout": 0.0}
        return CausalTagger(TransformerConfig(V, **sizes, **how), C, parts())

    return make


def _with_alibi() -> Parts:
    attend = BiasedAttention(Alibi(HEADS))
    return Parts(attention=partial(MultiHeadAttention, attend=attend))


def _with_gates(lowest: float) -> Parts:
    return Parts(attention=partial(RecurrentMixer, lowest=lowest))


KINDS = {  # of V symbols and C answers
    "RNN": _recurrent(RNN),
    "LSTM": _recurrent(LSTM),
    "gates in (0, 1)": _recurrent(partial(LinearRecurrence, lowest=0)),
    "gates in (-1, 1)": _recurrent(partial(LinearRecurrence, lowest=-1)),
    "blocks, gates in (0, 1)": _blocks(parts=partial(_with_gates, 0)),
    "blocks, gates in (-1, 1)": _blocks(parts=partial(_with_gates, -1)),
    "Transformer, none": _blocks(),
    "Transformer, sinusoidal": _blocks("sinusoidal"),
    "Transformer, learned": _blocks("learned"),
    "Transformer, rotary": _blocks("rotary"),
    "Transformer, ALiBi": _blocks(parts=_with_alibi),
}


def network(kind: str, language: Language, seed: int) -> nn.Module:
    """Return an untrained network of a kind for a language.

    Raises: ValueError if the kind is unknown.
    """
    check_choice("kind of network", kind, KINDS)
    torch.manual_seed(seed)
    return KINDS[kind](len(language.symbols), len(language.classes))


def of_depth(n_blocks: int, language: Language, seed: int) -> nn.Module:
    """Return an untrained Transformer with sinusoidal positions and so many blocks.

    Raises: ValueError if there is no block.
    """
    torch.manual_seed(seed)
    make = _blocks("sinusoidal", n_layers=n_blocks)
    return make(len(language.symbols), len(language.classes))


def train_network(
    model: nn.Module, language: Language, *, steps: int = STEPS, rate: float, seed: int
) -> History:
    """Train on words of 1 to 20 symbols that are seen once each; leave it in evaluation mode.

    Adam at a rate that rises and falls, gradients clipped to a norm of 1. All answers count.
    """
    words = language.draw(steps * B, 1, LONGEST, seed)
    batches = list(zip(words.ids.split(B), words.answers.split(B), strict=True))
    history = train_once(model, tag_loss, batches, learning_rate=rate, seed=seed)
    model.eval()
    return history


class Shares(NamedTuple):
    """How much is answered correctly."""

    last: float  # of the answers after the last symbol
    all: float  # of all answers
    words: float  # of the words with no wrong answer


@torch.no_grad()
def shares_correct(
    model: Callable[[Tensor], Tensor],
    language: Language,
    shortest: int,
    longest: int,
    *,
    n: int = 500,
    seed: int = HELD_OUT,
) -> Shares:
    """Return the shares of correct answers to n words that have from shortest to longest symbols.

    Raises: ValueError as `Language.draw` does.
    """
    ids, answers, lengths = language.draw(n, shortest, longest, seed)
    correct, asked = model(ids).argmax(dim=-1) == answers, answers != IGNORE_INDEX
    last = correct[torch.arange(n), lengths - 1]
    return Shares(
        last=last.double().mean().item(),
        all=correct[asked].double().mean().item(),
        words=(correct | ~asked).all(dim=1).double().mean().item(),
    )


def table_row(
    kind: str,
    language: Language,
    *,
    steps: int,
    seeds: Sequence[int],
    deeper: Language | None = None,
) -> dict[str, float | list[float]]:
    """Train a network from each seed at one rate, and return the shares that are correct.

    The rate is the one at which the first seed answers best other words of the training's lengths:
    no worse than at a quarter of it or at four times as much. "rates" has all that were tried, "by
    rate" these shares. "words" and "last" have a number for each seed, with the greatest length of
    each of SPANS in their names.
    deeper: the same language with other words, as brackets that are nested deeper; "deeper" has the
        share of its words of the second span for each seed.
    """
    models = {}

    def trained(rate: float, seed: int) -> nn.Module:
        model = network(kind, language, seed)
        train_network(model, language, steps=steps, rate=rate, seed=seed)
        return model

    def wrong_at(rate: float) -> float:
        models[rate] = trained(rate, seeds[0])
        return 1 - shares_correct(models[rate], language, 1, LONGEST, seed=CHOOSING).all

    by_rate = losses_by_rate(wrong_at, START, factor=4)
    rate = min(by_rate, key=by_rate.get)
    models = [models[rate], *(trained(rate, seed) for seed in seeds[1:])]
    row = {"rate": rate, "rates": sorted(by_rate)}
    row["by rate"] = [1 - by_rate[tried] for tried in row["rates"]]
    for span in SPANS:
        found = [shares_correct(model, language, *span) for model in models]
        row[f"words to {span[1]}"] = [of.words for of in found]
        row[f"last to {span[1]}"] = [of.last for of in found]
    if deeper:
        row["deeper"] = [shares_correct(model, deeper, *SPANS[1]).words for model in models]
    return row
