"""Short English sentences into Chinese: a task that is learned within seconds."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import torch
from torch import Tensor, nn

from utils.data.text import BOS, EOS, Vocabulary, pad
from utils.data.translation import sentences
from utils.seq2seq import Seq2Seq, Seq2SeqConfig
from utils.transformer import Transformer, TransformerConfig

ASKED = "I love deep learning"
KINDS = ("state", "study", "activity", "motion")
LONGEST = 8  # English words


class ShortTask:
    """Sentences of four kinds with at most eight words; `ASKED` is in none of the parts.

    train, validation, test: lists of (English, Chinese), words with spaces between them; the last
        two hold 400 each. english, chinese: the vocabularies.
    """

    def __init__(self, drawn: int = 24_000):
        pairs = [
            (" ".join(pair.source), " ".join(pair.target))
            for pair in sentences(drawn, seed=0, structures=KINDS)
            if len(pair.source) <= LONGEST
        ]
        pairs = [pair for pair in pairs if pair[0] != ASKED]
        self.train, self.validation, self.test = pairs[:-800], pairs[-800:-400], pairs[-400:]
        self.english = Vocabulary(word for english, _ in self.train for word in english.split())
        self.chinese = Vocabulary(word for _, chinese in self.train for word in chinese.split())

    def source(self, texts: Iterable[str]) -> tuple[Tensor, Tensor]:
        """English sentences as ids (B, S), each ended by EOS, and their lengths (B,).

        Raises: ValueError if a word is in no sentence of the training set.
        """
        return pad([[*self.english.encode(text.split(), strict=True), EOS] for text in texts])

    def target(self, texts: Iterable[str]) -> list[list[int]]:
        """Chinese sentences as lists of ids, without EOS."""
        return [self.chinese.encode(text.split(), strict=True) for text in texts]

    def texts(self, written: Tensor) -> list[str]:
        """What was written (B, T), up to EOS."""
        return [" ".join(self.chinese.decode(row)) for row in written]

    def exact(self, written: Tensor, part: Sequence[tuple[str, str]]) -> float:
        """Share of sentences (B, T) that are word for word what the grammar says."""
        said = zip(self.texts(written), part, strict=True)
        return sum(text == chinese for text, (_, chinese) in said) / len(part)


def as_rows(
    task: ShortTask, part: Sequence[tuple[str, str]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return sources as lists of ids, each ended by EOS, and targets, which are not."""
    english, chinese = zip(*part, strict=True)
    ids = [[*task.english.encode(text.split(), strict=True), EOS] for text in english]
    return ids, task.target(chinese)


def at_best(runs, model: str) -> list[dict]:
    """Return a model's rows of a stored experiment, at the rate that is best on validation.

    runs: as `utils.measure.experiments.load` gives them.
    """
    rows = [runs.select(model=model, rate=rate) for rate in runs.parameters["rate"]]
    return max(rows, key=lambda of_rate: fmean(row["validation"] for row in of_rate))


def recurrent(task: ShortTask) -> Seq2Seq:
    """Day 4's network, with its additive score, untrained, about as large as the Transformer."""
    sizes = len(task.english), len(task.chinese), 60, 84
    return Seq2Seq(Seq2SeqConfig(*sizes, attention="additive", style="Luong"))


def transformer(task: ShortTask, positions: str | None) -> Transformer:
    """The lesson's Transformer from the book's blocks, untrained."""
    sizes = {"d_model": 48, "n_heads": 4, "d_ff": 160, "n_layers": 2, "dropout": 0.0}
    both = len(task.english), len(task.chinese)
    return Transformer(TransformerConfig(*both, norm="pre", positions=positions, **sizes))


MODELS: dict[str, Callable[[ShortTask], nn.Module]] = {
    "Day 4's network": recurrent,
    "without positions": lambda task: transformer(task, None),
    "Transformer": lambda task: transformer(task, "sinusoidal"),
}


def from_lesson(model: nn.Module) -> Seq2Seq:
    """The book's network with the weights of Day 4's `Translator`, an additive score in it.

    It is in double precision and in evaluation mode.
    """
    (V, D), (W, _), N = model.source.weight.shape, model.target.weight.shape, len(model.v)
    book = Seq2Seq(Seq2SeqConfig(V, W, D, N, attention="additive", style="Luong")).double().eval()
    encoder, decoder, score = book.encoder, book.decoder, book.decoder.attention.score
    encoder.layer.load_library(model.encoder)
    decoder.layer.load_library(model.decoder)
    twins = [(encoder.embedding, model.source), (decoder.embedding, model.target)]
    twins += [(decoder.bridge[0], model.bridge), (decoder.combine, model.W_c)]
    for twin, own in [*twins, (decoder.output, model.output)]:
        twin.load_state_dict(own.state_dict())
    score.load_state_dict({"W_a.weight": model.W_a, "U_a.weight": model.U_a, "v": model.v})
    return book


@torch.no_grad()
def steps_apart(model: nn.Module) -> float:
    """Largest difference of a model's logits, a sentence alone step by step and padded at once.

    model: of sources (B, S), lengths (B,) and what the decoder reads (B, T), such as `Seq2Seq`; it
        has at least 9 symbols to read and 8 to write.
    """
    source, lengths = pad([[3, 4, 5, 6, EOS], [7, 8, EOS]])
    target_in = torch.tensor([[BOS, 3, 4, 5], [BOS, 6, 7, 3]])
    whole = model(source, lengths, target_in)
    state, memory = model.encode(source[1:, :3], lengths[1:])  # the second sentence, alone
    steps = []
    for symbol in target_in[1]:
        logits, state, _ = model.decoder(symbol.view(1, 1), state, memory)
        steps.append(logits[0, 0])
    return (torch.stack(steps) - whole[1]).abs().max().item()
