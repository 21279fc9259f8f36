"""Draw a picture code by code, from a sentence."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from utils.exercises.checking import Exercise

Model = Callable[[Tensor], Tensor]


def draw_codes(
    model: Model, start: Tensor, n: int, n_words: int, tau: float, draw: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return n codes for each sentence, drawn one after another.

    start: (B, T), words and the mark, the last id of V. model gives logits (B, T, V) of ids (B, T).
    Of these, only codes may be drawn: ids n_words to V - 2, of codes 0 to V - 2 - n_words.
    tau: the temperature, by which logits are divided.
    draw: takes the probabilities (B, …) of what may be drawn, and gives the index (B,) of one each.
    Shapes: codes (B, n).
    """
    ids = start
    for _ in range(n):
        logits = model(ids)[:, -1, n_words:-1]  # (B, K), of codes alone
        codes = draw((logits / tau).softmax(dim=1))
        ids = torch.cat([ids, n_words + codes[:, None]], dim=1)
    return ids[:, start.shape[1] :] - n_words


exercise = Exercise(draw_codes, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@cache
def model_of(n_words: int, n_codes: int) -> Model:
    """Logits that depend on all ids and their positions; words and the mark are the likeliest."""
    V = n_words + n_codes + 1
    generator = torch.Generator().manual_seed(V)
    table, output = torch.randn(2, V, 12, dtype=torch.float64, generator=generator)

    def model(ids: Tensor) -> Tensor:
        if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
            raise ValueError("`model` takes a tensor of ids (B, T).")
        turns = torch.arange(1, ids.shape[1] + 1)[:, None] * torch.arange(1, 13)
        x = (table[ids] * turns.double().sin()).cumsum(dim=1)  # (B, T, 12)
        logits = 2 * (1.7 * x @ output.T).sin()
        logits[..., :n_words] += 1.5
        logits[..., -1] += 4
        return logits

    return model


def sum_to_one(p: Tensor) -> Tensor:
    if not isinstance(p, Tensor) or p.dim() != 2:
        raise ValueError("`draw` takes probabilities of one position, a row for each sentence.")
    if (p < 0).any() or not torch.allclose(p.sum(dim=1), torch.ones(len(p), dtype=p.dtype)):
        raise ValueError(f"`draw` takes probabilities, and yours add up to {p[0].sum():.4f}.")
    return p


def likeliest(p: Tensor) -> Tensor:
    return sum_to_one(p).argmax(dim=1)


@cache
def at(place: float) -> Callable[[Tensor], Tensor]:
    """Draw what the sum of the probabilities reaches this with."""

    def draw(p: Tensor) -> Tensor:
        return (sum_to_one(p).cumsum(dim=1) > place).int().argmax(dim=1)

    return draw


def given(n_words: int, n_codes: int, n: int, tau: float, draw: Callable, *shape: int) -> tuple:
    words = torch.randint(n_words, shape)
    start = torch.cat([words, torch.full((len(words), 1), n_words + n_codes)], dim=1)
    return model_of(n_words, n_codes), start, n, n_words, tau, draw


@exercise.stage("one code, the likeliest, at a temperature of 1")
def one_code():
    return [given(5, 7, 1, 1.0, likeliest, 1, 3)]


@exercise.stage("several codes, of which each depends on those before")
def several_codes():
    return [given(5, 7, 4, 1.0, likeliest, 1, 2), given(6, 11, 5, 1.0, at(0.5), 3, 4)]


@exercise.stage("other temperatures")
def other_temperatures():
    return [given(8, 13, 9, tau, at(place), 4, 3) for tau, place in ((0.4, 0.6), (2.5, 0.3))]


# What goes wrong ----------------------------------------------------------------------------------


def drawing(model, start, n, n_words, draw, change, fed=None, row=-1) -> Tensor:
    """Draw with one thing done otherwise: what is made of logits (B, V), what is fed, which row."""
    ids, found = start, []
    for i in range(n):
        chosen = draw(change(model(ids)[:, row if i == 0 else -1]))
        found.append(chosen)
        ids = torch.cat([ids, (chosen if fed is None else fed(chosen))[:, None]], dim=1)
    return torch.stack(found, dim=1)


def hidden(logits: Tensor, n_words: int, fill: float = -torch.inf) -> Tensor:
    logits = logits.clone()
    logits[:, :n_words], logits[:, -1] = fill, fill
    return logits


@exercise.mistake(
    "words may be drawn, too: hide the logits of all that is no code, with -infinity or by a slice."
)
def words_not_hidden(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: (x / tau).softmax(1)) - n_words


@exercise.mistake("the mark may be drawn, too: it is the last id, and no code.")
def mark_not_hidden(model, start, n, n_words, tau, draw):
    def change(x):
        return (x[:, n_words:] / tau).softmax(1)

    return drawing(model, start, n, n_words, draw, change, lambda c: n_words + c)


@exercise.mistake("you hide the codes, and draw words: it is the other way round.")
def codes_hidden(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: (x[:, :n_words] / tau).softmax(1))


@exercise.mistake(
    "what is no code gets a logit of 0, which is as likely as others: its probability is 0 only "
    "where the logit is -infinity."
)
def hidden_by_0(model, start, n, n_words, tau, draw):
    def change(x):
        return (hidden(x, n_words, 0.0) / tau).softmax(1)

    return drawing(model, start, n, n_words, draw, change) - n_words


@exercise.mistake(
    "you cut words and the mark off after the softmax, in which they had a share: what is left no "
    "longer adds up to 1."
)
def not_whole(model, start, n, n_words, tau, draw):
    def change(x):
        return (x / tau).softmax(1)[:, n_words:-1]

    return drawing(model, start, n, n_words, draw, change, lambda c: n_words + c)


@exercise.mistake(
    "the softmax comes before the cut, so words and the mark keep their share; and the temperature "
    "belongs to logits, not to probabilities."
)
def not_whole_and_divided(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: x.softmax(1)[:, n_words:-1] / tau)


@exercise.mistake(
    "the softmax comes before the cut, so words and the mark keep their share; and the temperature "
    "is missing."
)
def not_whole_without_tau(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: x.softmax(1)[:, n_words:-1])


@exercise.mistake(
    "you cut words off after the softmax, in which they had a share, and the mark may still be "
    "drawn."
)
def not_whole_with_mark(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: (x / tau).softmax(1)[:, n_words:])


@exercise.mistake(
    "you take the softmax twice: of probabilities, it makes all codes nearly equally likely."
)
def softmax_twice(model, start, n, n_words, tau, draw):
    def change(x):
        return (x / tau).softmax(1)[:, n_words:-1].softmax(1)

    return drawing(model, start, n, n_words, draw, change, lambda c: n_words + c)


@exercise.mistake("your softmax is over sentences: which numbers should add up to 1?")
def softmax_over_sentences(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: (x[:, n_words:-1] / tau).softmax(0))


@exercise.mistake(
    "you divide probabilities by the temperature, which belongs to logits: they don't add up to 1."
)
def probabilities_divided(model, start, n, n_words, tau, draw):
    def change(x):
        return x[:, n_words:-1].softmax(1) / tau

    return drawing(model, start, n, n_words, draw, change, lambda c: n_words + c)


@exercise.mistake("you multiply by the temperature: a low one should sharpen the choice.")
def multiplied(model, start, n, n_words, tau, draw):
    return draw_codes(model, start, n, n_words, 1 / tau, draw)


@exercise.mistake("the temperature has no effect: it divides the logits.")
def no_temperature(model, start, n, n_words, tau, draw):
    return draw_codes(model, start, n, n_words, 1.0, draw)


@exercise.mistake("the softmax is missing: `draw` takes probabilities, and these are logits.")
def logits_drawn(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: x[:, n_words:-1] / tau)


@exercise.mistake("the likeliest code is always taken: let `draw` decide.")
def always_the_likeliest(model, start, n, n_words, tau, draw):
    return draw_codes(model, start, n, n_words, tau, likeliest)


@exercise.mistake(
    "codes are read as words: what the model reads next is n_words + code, as it was trained."
)
def read_as_words(model, start, n, n_words, tau, draw):
    return drawing(model, start, n, n_words, draw, lambda x: (x[:, n_words:-1] / tau).softmax(1))


@exercise.mistake(
    "you move what is drawn by n_words twice: an index among all V symbols is an id already."
)
def moved_twice(model, start, n, n_words, tau, draw):
    def change(x):
        return (hidden(x, n_words) / tau).softmax(1)

    return drawing(model, start, n, n_words, draw, change, lambda c: n_words + c)


@exercise.mistake("these are ids: return codes, which count from 0.")
def ids_returned(model, start, n, n_words, tau, draw):
    return n_words + draw_codes(model, start, n, n_words, tau, draw)


@exercise.mistake("the sentence is returned, too: return the codes alone.")
def sentence_returned(model, start, n, n_words, tau, draw):
    codes = draw_codes(model, start, n, n_words, tau, draw)
    return torch.cat([start, n_words + codes], dim=1)


@exercise.mistake("the sentence is returned, too, and moved by n_words: return the codes alone.")
def whole_row_moved(model, start, n, n_words, tau, draw):
    return torch.cat([start - n_words, draw_codes(model, start, n, n_words, tau, draw)], dim=1)


@exercise.mistake("the mark is returned, too, as if it were a code: it is the last id of `start`.")
def mark_returned(model, start, n, n_words, tau, draw):
    codes = draw_codes(model, start, n, n_words, tau, draw)
    return torch.cat([start[:, -1:] - n_words, codes], dim=1)


@exercise.mistake(
    "all codes are drawn from the logits of position 0, which know the first word alone: what "
    "follows now is predicted where the row ends."
)
def always_position_0(model, start, n, n_words, tau, draw):
    codes = draw((model(start)[:, 0, n_words:-1] / tau).softmax(1))
    return codes[:, None].repeat(1, n)


@exercise.mistake(
    "your logits are those of the last position but one, which have not read the last id."
)
def last_but_one(model, start, n, n_words, tau, draw):
    return draw_codes(lambda ids: model(ids[:, :-1]), start, n, n_words, tau, draw)


@exercise.mistake(
    "the first code is drawn from the logits of the first word: what follows the mark is at the "
    "last position."
)
def first_position(model, start, n, n_words, tau, draw):
    def change(x):
        return (x[:, n_words:-1] / tau).softmax(1)

    return drawing(model, start, n, n_words, draw, change, lambda c: n_words + c, row=0)


@exercise.mistake(
    "all codes come from the same logits: the model has to read each code before the next is drawn."
)
def never_read(model, start, n, n_words, tau, draw):
    codes = draw((model(start)[:, -1, n_words:-1] / tau).softmax(1))
    return codes[:, None].repeat(1, n)


@exercise.mistake(
    "the model reads the last code alone: it needs the sentence and all codes so far."
)
def last_alone(model, start, n, n_words, tau, draw):
    ids, found = start, []
    for _ in range(n):
        found.append(draw((model(ids)[:, -1, n_words:-1] / tau).softmax(1)))
        ids = n_words + found[-1][:, None]
    return torch.stack(found, dim=1)


@exercise.mistake("one code too many: the mark itself is followed by the first of n codes.")
def one_more(model, start, n, n_words, tau, draw):
    return draw_codes(model, start, n + 1, n_words, tau, draw)


@exercise.mistake("one code too few: the mark itself is followed by the first of n codes.")
def one_less(model, start, n, n_words, tau, draw):
    return draw_codes(model, start, n - 1, n_words, tau, draw)


@exercise.mistake("rows and columns have changed places: a row belongs to a sentence.")
def turned(model, start, n, n_words, tau, draw):
    return draw_codes(model, start, n, n_words, tau, draw).T.contiguous()
