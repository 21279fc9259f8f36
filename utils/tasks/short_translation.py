"""Short English sentences into Chinese: a task that is learned within seconds."""

from collections.abc import Iterable, Sequence
from itertools import product

import torch
from torch import Tensor, nn

from utils.data.text import BOS, EOS, Vocabulary, pad
from utils.data.translation import sentences
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, sequence_loss
from utils.tasks.translation import train_translator
from utils.training.loop import History

ASKED = "I love deep learning"
KINDS = ("state", "study", "activity", "motion")
LONGEST = 8  # English words
WHO = {
    "I": "我",
    "we": "我们",
    "they": "他们",
    "Tom and Mary": "汤姆 和 玛丽",
    "these children": "这些 孩子",
    "those students": "那些 学生",
}
DOES = {  # what goes on, and how both languages say it: Chinese says when and with whom first
    "love": ("{who} love {what}", "{who} 爱 {what}"),
    "do not like": ("{who} do not like {what}", "{who} 不 喜欢 {what}"),
    "study every day": ("{who} study {what} every day", "{who} 每天 学习 {what}"),
    "studied yesterday": ("{who} studied {what} yesterday", "{who} 昨天 学习 了 {what}"),
    "studied with Anna": ("{who} studied {what} with Anna", "{who} 和 安娜 一起 学习 了 {what}"),
}
WHAT = {
    "deep learning": "深度 学习",
    "machine learning": "机器 学习",
    "English": "英语",
    "Chinese": "汉语",
    "music": "音乐",
}


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


def menus() -> tuple[list[tuple[str, list[str]]], list[tuple[str, str]]]:
    """What to put a sentence together of, and all sentences with their translations.

    Returns: (label, options) of each menu; (English, Chinese) in the order of `itertools.product`.
    """
    tables = {"who": WHO, "does": DOES, "what": WHAT}
    pairs = []
    for who, does, what in product(WHO, DOES, WHAT):
        english, chinese = DOES[does]
        translated = chinese.format(who=WHO[who], what=WHAT[what])
        pairs.append((english.format(who=who, what=what), translated))
    return [(label, list(options)) for label, options in tables.items()], pairs


def recurrent(task: ShortTask, epochs: int) -> tuple[Seq2Seq, History]:
    """Day 4's network with attention, trained on the task, and the history of its training."""
    english, chinese = zip(*task.train, strict=True)
    rows = zip(*task.source(english), strict=True)
    shown = [row[:n].tolist() for row, n in rows], task.target(chinese)
    sizes = len(task.english), len(task.chinese), 48, 64
    model = Seq2Seq(Seq2SeqConfig(*sizes, attention="dot", style="Luong"))
    how = {"epochs": epochs, "batch_size": 32, "learning_rate": 6e-3}
    return model, train_translator(model, sequence_loss, *shown, **how)


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
