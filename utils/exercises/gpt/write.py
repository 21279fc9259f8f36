"""Writing with a cache: read the beginning once, then one token after the other."""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise

Read = Callable[[Tensor, int], Tensor]


def write(
    begin: Callable[[], Read], prompt: Sequence[int], n: int, choose: Callable[[Tensor], int]
) -> list[int]:
    """Return the prompt's ids and n more.

    begin() opens an empty cache, and gives read(ids, start): it reads ids (1, T) that stand from
    position `start` on, and gives the logits (1, T, V) of what follows each. What it has read, it
    holds. choose turns the logits (V,) of one position into an id.
    """
    read, text, new = begin(), list(prompt), list(prompt)
    for _ in range(n):
        logits = read(torch.tensor([new]), len(text) - len(new))
        new = [choose(logits[0, -1])]
        text += new
    return text


def counted(answer: Callable) -> Callable:
    """An answer whose caches together read no more than the prompt and n tokens.

    One cache may read more: then it holds something twice, and what it says gives that away.
    """

    @functools.wraps(answer)
    def within(begin, prompt, n, choose):
        opened, most = [], len(prompt) + n

        def begin_counted() -> Read:
            read = begin()
            opened.append(0)

            def read_counted(ids: Tensor, start: int) -> Tensor:
                logits = read(ids, start)
                opened[-1] += ids.shape[1]
                if len(opened) > 1 and sum(opened) > most:
                    raise ValueError(f"{sum(opened)} tokens are read; the text has {most}.")
                return logits

            return read_counted

        return answer(begin_counted, prompt, n, choose)

    return within


def needless_reading(answer: Callable) -> str:
    """What has to be said of an answer that reads more, or more often, than it needs."""
    prompt, n, lengths = [3, 1, 4], 4, []

    def begin_counted() -> Read:
        read = begin()

        def read_counted(ids: Tensor, start: int) -> Tensor:
            lengths.append(ids.shape[1])
            return read(ids, start)

        return read_counted

    answer(begin_counted, list(prompt), n, best)
    if sum(lengths) >= len(prompt) + n:
        return "you read the last token, too, although nothing is written after it."
    if len(lengths) > n:
        return "you read the prompt one token at a time: `read` takes it all at once, faster."
    return ""


exercise = Exercise(write, gradient=False, runs=True, through=counted, but=needless_reading)


# What it is tried on ------------------------------------------------------------------------------

V = 97


def begin() -> Read:
    """A model whose logits depend on all that it holds, and on where each id stands."""
    held: list[tuple[int, int]] = []

    def read(ids: Tensor, start: int) -> Tensor:
        if not isinstance(ids, Tensor) or ids.dim() != 2 or len(ids) != 1:
            raise ValueError("`read` takes a tensor of ids (1, T), and a position.")
        rows = []
        for place, id in enumerate(ids[0].tolist(), start):
            held.append((place, id))
            mixed = sum((31 * at + 7) * (one + 11) * (i + 3) for i, (at, one) in enumerate(held))
            rows.append([float((mixed * (v + 5) + v * v * (place + 1)) % 211) for v in range(V)])
        return torch.tensor([rows], dtype=torch.float64)

    return read


def one_row(logits: Tensor) -> Tensor:
    """Logits, if they are those of one position. Raises: ValueError if they are not."""
    if not isinstance(logits, Tensor) or logits.shape != (V,):
        raise ValueError("`choose` takes the logits (V,) of one position.")
    if logits.min() >= 0 and abs(logits.sum() - 1) < 1e-4:
        raise ValueError("`choose` wants logits, as read() returns them, not chances.")
    return logits


def best(logits: Tensor) -> int:
    return int(one_row(logits).argmax())


def least(logits: Tensor) -> int:
    return int(one_row(logits).argmin())


@exercise.stage("one token from one")
def one_from_one():
    return [(begin, [5], 1, best)]


@exercise.stage("one token behind three")
def one_behind_three():
    return [(begin, [3, 1, 4], 1, best)]


@exercise.stage("several tokens, another choice")
def several():
    return [(begin, [3, 1, 4], 6, least), (begin, [2, 7, 1, 8], 5, best)]


@exercise.stage("nothing to add")
def nothing():
    return [(begin, [6, 2], 0, best)]


# What goes wrong ----------------------------------------------------------------------------------


def going_on(begin, prompt, n, choose, start=None, asked=-1, fed=None, first=None) -> list[int]:
    """Write with one thing done otherwise: the positions, the row that is asked, what is fed."""
    read, text, new = begin(), list(prompt), list(prompt)
    for i in range(n):
        at = len(text) - len(new)
        logits = read(torch.tensor([new]), at if start is None else start(at, len(text), i))
        row = asked if i == 0 or first is None else -1
        new = [choose(logits[0, row])]
        text += new
        new = new if fed is None else fed(text)
    return text


@exercise.mistake(
    "positions are reset: each new token says that it stands at 0, but others came before it."
)
def positions_reset(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: 0)


@exercise.mistake("each new token says that it stands right behind the prompt: positions go on.")
def positions_stand_still(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: min(at, len(prompt)))


@exercise.mistake("positions count from 0: behind T tokens, the next one stands at T.")
def positions_one_on(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: at + (i > 0))


@exercise.mistake("positions count the new tokens alone: the prompt stands in front of them.")
def positions_without_the_prompt(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: max(i - 1, 0))


@exercise.mistake("the whole text is fed again, and the cache holds it twice: feed what is new.")
def fed_again(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, fed=list)


@exercise.mistake("the cache is empty at each token: begin() once, and keep what it gives.")
def cache_forgotten(begin, prompt, n, choose):
    text, new = list(prompt), list(prompt)
    for _ in range(n):
        logits = begin()(torch.tensor([new]), len(text) - len(new))
        new = [choose(logits[0, -1])]
        text += new
    return text


@exercise.mistake("the text is read anew for each token: begin() once, and then feed what is new.")
@counted
def read_anew(begin, prompt, n, choose):
    text = list(prompt)
    for _ in range(n):
        text.append(choose(begin()(torch.tensor([text]), 0)[0, -1]))
    return text


@exercise.mistake("`choose` wants the row of one position, (V,): logits[0, -1], without the batch.")
def batch_kept(begin, prompt, n, choose):
    read, text, new = begin(), list(prompt), list(prompt)
    for _ in range(n):
        new = [choose(read(torch.tensor([new]), len(text) - len(new))[:, -1])]
        text += new
    return text


@exercise.mistake("`choose` wants logits, as read() returns them, not chances.")
def chances_chosen(begin, prompt, n, choose):
    return write(begin, prompt, n, lambda logits: choose(logits.softmax(dim=0)))


@exercise.mistake(
    "the first token is drawn from the first position: what follows the prompt stands at the last."
)
def first_position(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, asked=0, first=True)


@exercise.mistake("only the prompt's last token is read: what stands before it is never held.")
def prompt_unread(begin, prompt, n, choose):
    read, text = begin(), list(prompt)
    for _ in range(n):
        logits = read(torch.tensor([text[-1:]]), len(text) - 1)
        text.append(choose(logits[0, -1]))
    return text


@exercise.mistake("the prompt's last token is read twice: the cache holds it already.")
def last_token_twice(begin, prompt, n, choose):
    read, text = begin(), list(prompt)
    read(torch.tensor([text]), 0)
    for _ in range(n):
        logits = read(torch.tensor([text[-1:]]), len(text) - 1)
        text.append(choose(logits[0, -1]))
    return text


@exercise.mistake("the prompt is missing: return it, and what follows.")
def prompt_left_out(begin, prompt, n, choose):
    return write(begin, prompt, n, choose)[len(prompt) :]


@exercise.mistake("the best token is always taken: let `choose` decide.")
def always_the_best(begin, prompt, n, choose):
    return write(begin, prompt, n, best)


@exercise.mistake("one token too many: n are to be added, the first of them by the prompt itself.")
def one_more(begin, prompt, n, choose):
    return write(begin, prompt, n + 1, choose)


@exercise.mistake("one token too few: the prompt itself brings the first.")
def one_less(begin, prompt, n, choose):
    return write(begin, prompt, max(n - 1, 0), choose)


@exercise.mistake("n counts the prompt's tokens, too: n more are asked for.")
def n_in_all(begin, prompt, n, choose):
    return write(begin, prompt, max(n - len(prompt), 0), choose)


@exercise.mistake("that is a tensor: return a list of ids, which `.tolist()` makes of it.")
def tensor_returned(begin, prompt, n, choose):
    return torch.tensor(write(begin, prompt, n, choose))


@exercise.mistake(
    "`start` is the position of the first id that you feed; yours is the one after the last."
)
def start_after_what_is_fed(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: T)


@exercise.mistake(
    "all new tokens come from the same logits: each has to be read before the next is chosen."
)
def stale(begin, prompt, n, choose):
    read, text = begin(), list(prompt)
    logits = read(torch.tensor([text]), 0)[0, -1]
    for _ in range(n):
        text.append(choose(logits))
    return text


@exercise.mistake("your positions begin with 1: the prompt's first token stands at 0.")
def positions_from_1(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: at + 1)


@exercise.mistake("positions count the new tokens, from 1 on: the prompt's tokens count as well.")
def new_tokens_counted_from_1(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, start=lambda at, T, i: i)


@exercise.mistake("two tokens are fed each time, and the cache holds the first of them already.")
def last_two_fed(begin, prompt, n, choose):
    return going_on(begin, prompt, n, choose, fed=lambda text: text[-2:])
