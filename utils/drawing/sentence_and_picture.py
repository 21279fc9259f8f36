"""Day 13: a sentence and a picture in one row of symbols, which Day 9's GPT goes on with.

Shapes: words (B, T) are ids, padded with PAD behind their ends; codes (B, n) are whole numbers from
0 to K - 1. Ids of both together are (B, longest + 1 + n), logits (B, T, V).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_ids, check_share, check_sizes
from utils.drawing.codes import check_codes, check_weight
from utils.language import cached_step
from utils.seq2seq import BOS, EOS, PAD
from utils.transformer import DecoderOnly

Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class SharedVocabulary:
    """Numbers for words, then for codes, then for a mark that begins a picture.

    All sentences get the same length, so that each place of a picture has a position of its own:
    DALL·E, too, fills them up with padding that is read (Ramesh et al., 2021, §2.2).

    n_words: of the words' vocabulary, whose ids stay as they are; PAD, BOS and EOS are among them.
    n_codes: K, of the codebook; code c has the id n_words + c.
    longest: words of a sentence, at most.
    n_places: codes of a picture.
    Raises: ValueError if a size is below 1.
    """

    n_words: int
    n_codes: int
    longest: int
    n_places: int

    def __post_init__(self):
        check_sizes(**vars(self))

    def __len__(self) -> int:
        return self.n_words + self.n_codes + 1

    @property
    def mark(self) -> int:
        """The last id: a picture begins behind it."""
        return self.n_words + self.n_codes

    @property
    def context(self) -> int:
        """How many symbols the longest row has: a picture, its sentence, and both ends of this."""
        return self.n_places + self.longest + 2

    def padded(self, words: Tensor) -> Tensor:
        """Fill sentences up. Shapes: words (B, T) to (B, longest).

        Raises: ValueError if ids are no words, or a sentence is too long.
        """
        check_ids(words, self.n_words)
        if words.shape[1] > self.longest:
            raise ValueError(
                f"A sentence has at most {self.longest} words here, not {words.shape[1]}."
            )
        return F.pad(words, (0, self.longest - words.shape[1]), value=PAD)

    def ids_of(self, codes: Tensor) -> Tensor:
        """Return codes as ids, which no word has. Shapes: (B, n_places) to the same.

        Raises: ValueError if a code is not a whole number from 0 to K - 1, or a picture has more or
        fewer.
        """
        check_codes(codes, self.n_codes)
        if codes.dim() != 2 or codes.shape[1] != self.n_places:
            raise ValueError(f"Expected codes (B, {self.n_places}), got {tuple(codes.shape)}.")
        return codes + self.n_words

    def codes_of(self, ids: Tensor) -> Tensor:
        """Return codes of their ids: what `ids_of` undoes. Shapes: (B, n) to the same.

        Raises: ValueError if an id is no code's.
        """
        check_codes(ids - self.n_words, self.n_codes)
        return ids - self.n_words

    def sentence_then_picture(self, words: Tensor, codes: Tensor) -> Tensor:
        """Return what is learned for drawing: words, the mark, codes.

        Shapes: words (B, T), codes (B, n_places) to ids (B, longest + 1 + n_places).
        Raises: ValueError as `padded` and `ids_of` do, or if there isn't one sentence for each.
        """
        check_pairs(words, codes)
        ids = self.ids_of(codes)
        return torch.cat([self.padded(words), ids.new_full((len(ids), 1), self.mark), ids], dim=1)

    def picture_then_sentence(self, codes: Tensor, words: Tensor) -> Tensor:
        """Return what is learned for describing: codes, BOS, words, EOS, and padding.

        Shapes: codes (B, n_places), words (B, T) to ids (B, n_places + 1 + longest + 1).
        Raises: ValueError as `sentence_then_picture` does.
        """
        check_pairs(words, codes)
        words = F.pad(self.padded(words), (0, 1), value=PAD)
        ends = (words != PAD).sum(dim=1, keepdim=True)
        words = words.scatter(1, ends, EOS)
        begin = codes.new_full((len(codes), 1), BOS)
        return torch.cat([self.ids_of(codes), begin, words], dim=1)

    def kinds(self, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
        """Return which ids a sentence may go on with, its EOS too, and which are codes: (V,) each.

        PAD and BOS are neither, and the mark is neither.
        """
        ids = torch.arange(len(self), device=device)
        is_word = (ids < self.n_words) & (ids != PAD) & (ids != BOS)
        return is_word, (ids >= self.n_words) & (ids != self.mark)


def joint_loss(
    logits: Tensor,
    ids: Tensor,
    vocabulary: SharedVocabulary,
    weights: tuple[float, float] = (1 / 8, 7 / 8),
) -> Tensor:
    """Return the cross-entropy of each next word and of each next code, weighted.

    Each is a mean over its own symbols of the batch; padding, BOS and the mark are not asked for.
    DALL·E's weights are 1/8 and 7/8, since drawing is what it is for (Ramesh et al., 2021, §2.2).

    weights: of words and of codes.
    Shapes: logits (B, T, V), about what follows each of ids (B, T), in either order.
    Raises: ValueError if the logits don't fit the ids, there aren't two weights, or one is below 0.
    """
    if len(weights) != 2:
        raise ValueError(f"There are two weights, of words and of codes, got {weights}.")
    for weight in weights:
        check_weight("the weight of a part", weight)
    check_ids(ids, len(vocabulary))
    if logits.shape != (*ids.shape, len(vocabulary)):
        raise ValueError(
            f"Expected logits {(*ids.shape, len(vocabulary))} for ids {tuple(ids.shape)}, got "
            f"{tuple(logits.shape)}."
        )
    target = ids[:, 1:]
    nats = F.cross_entropy(logits[:, :-1].mT, target, reduction="none")
    parts = [kind[target] for kind in vocabulary.kinds(ids.device)]
    means = [(nats * part).sum() / part.sum().clamp(min=1) for part in parts]
    return weights[0] * means[0] + weights[1] * means[1]


def without_sentences(
    words: Tensor, share: float, generator: torch.Generator | None = None
) -> Tensor:
    """Leave a share of the sentences out, so that the model learns to draw without one, too.

    (Ho & Salimans, 2022, algorithm 1.) What is left out is all padding.
    Shapes: words (B, T) to the same.
    Raises: ValueError if the share is not from 0 to below 1.
    """
    check_share("share", share)
    dropped = torch.rand(len(words), generator=generator).to(words.device) < share
    return words.masked_fill(dropped[:, None], PAD)


def guided_logits(with_sentence: Tensor, without: Tensor, weight: float) -> Tensor:
    """Move logits away from those without the sentence (Ho & Salimans, 2022, eq. 6).

    Of codes it is done with logits (Gafni et al., 2022): without + weight · (with - without).
    weight: 1 leaves the logits with the sentence as they are, and 0 forgets it.
    Shapes: (B, V) each to (B, V).
    Raises: ValueError if the shapes differ.
    """
    if with_sentence.shape != without.shape:
        raise ValueError(
            f"Expected the same logits with and without the sentence, got "
            f"{tuple(with_sentence.shape)} and {tuple(without.shape)}."
        )
    return without + weight * (with_sentence - without)


def drawing_step(model: DecoderOnly, vocabulary: SharedVocabulary, guidance: float = 1.0) -> Step:
    """Return a step of drawing for `training.sampling.generate`: `cached_step`, but codes alone.

    Drawing begins with the state `vocabulary.padded(words)`, (B, longest), and the first symbols
    (B,) are all the mark. Whatever is no code gets a logit of -inf.

    guidance: the weight in `guided_logits`; at 1 the second pass, without the sentence, is saved.
    Raises: ValueError as `cached_step` does, or if the model has another vocabulary.
    """
    check_vocabulary(model, vocabulary)
    step = cached_step(model, vocabulary.context)
    _, is_code = vocabulary.kinds(model.output.weight.device)

    def draw(symbols: Tensor, unread: Tensor) -> tuple[Tensor, Tensor]:
        if guidance == 1:
            logits, unread = step(symbols, unread)
        else:
            both, state = step(symbols.repeat(2), torch.cat([unread, torch.full_like(unread, PAD)]))
            logits, unread = guided_logits(*both.chunk(2), guidance), state[: len(symbols)]
        return logits.masked_fill(~is_code, -torch.inf), unread

    return draw


def describing_step(model: DecoderOnly, vocabulary: SharedVocabulary) -> Step:
    """Return a step of describing for `training.sampling.generate`: words and EOS alone.

    Describing begins with the state `vocabulary.ids_of(codes)`, (B, n_places), and the first
    symbols (B,) are all BOS.
    Raises: ValueError as `drawing_step` does.
    """
    check_vocabulary(model, vocabulary)
    step = cached_step(model, vocabulary.context)
    is_word, _ = vocabulary.kinds(model.output.weight.device)

    def describe(symbols: Tensor, unread: Tensor) -> tuple[Tensor, Tensor]:
        logits, unread = step(symbols, unread)
        return logits.masked_fill(~is_word, -torch.inf), unread

    return describe


def check_pairs(words: Tensor, codes: Tensor) -> None:
    """Raise a ValueError if there isn't one sentence for each picture."""
    if len(words) != len(codes):
        raise ValueError(f"{len(words)} sentences and {len(codes)} pictures: no pairs.")


def check_vocabulary(model: DecoderOnly, vocabulary: SharedVocabulary) -> None:
    """Raise a ValueError if a model has another vocabulary."""
    if model.config.vocab_size != len(vocabulary):
        raise ValueError(
            f"The model knows {model.config.vocab_size} symbols; words, codes and the mark are "
            f"{len(vocabulary)}."
        )
