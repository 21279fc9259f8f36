"""The loss of a language model: at every position, about the token that comes next."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data.text import PAD
from utils.exercises.checking import Exercise, looping, random


def next_token_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """Return the mean cross-entropy of each next token; what is padding is not asked for.

    Shapes: logits (B, T, V) about what follows each token of ids (B, T); padding is id 0.
    """
    log_p = logits[:, :-1].log_softmax(dim=-1)  # nothing follows the last token
    targets = ids[:, 1:]
    nats = -log_p.gather(2, targets[:, :, None])[:, :, 0]
    return nats[targets != 0].mean()


exercise = Exercise(
    next_token_loss,
    runs=True,
    but=looping(lambda: texts(5, 4), lambda: texts(5, *6 * [4, 3, 2]), "texts"),
)


# What it is tried on ------------------------------------------------------------------------------


def texts(V: int, *lengths: int) -> tuple[Tensor, Tensor]:
    """Draw texts of these lengths, padded behind, and logits for them."""
    T = max(lengths)
    ids = torch.randint(1, V, (len(lengths), T))
    for row, length in zip(ids, lengths, strict=True):
        row[length:] = PAD
    return 2 * random(len(lengths), T, V), ids


@exercise.stage("one text of two tokens")
def two_tokens():
    return [texts(3, 2)]


@exercise.stage("one text")
def one_text():
    return [texts(5, 6)]


@exercise.stage("several texts of one length")
def one_length():
    return [texts(7, 4, 4, 4), *(texts(5, T, T) for T in (3, 5, 6, 8))]


@exercise.stage("texts of several lengths, padded with 0")
def several_lengths():
    return [texts(6, 5, 2, 7), texts(9, 3, 8)]


# What goes wrong ----------------------------------------------------------------------------------


def nats_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Return -log p of each target, (B, T)."""
    return F.cross_entropy(logits.mT, targets, reduction="none")


def asked(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return -log p of each next token, and whether it is real: (B, T - 1) each."""
    return nats_of(logits[:, :-1], ids[:, 1:]), ids[:, 1:] != PAD


@exercise.mistake(
    "the targets are not shifted: each position is asked for the token that it has just read."
)
def not_shifted(logits, ids):
    return nats_of(logits, ids)[ids != PAD].mean()


@exercise.mistake("shifted the wrong way: each position is asked for the token before its own.")
def shifted_back(logits, ids):
    return nats_of(logits[:, 1:], ids[:, :-1])[ids[:, :-1] != PAD].mean()


@exercise.mistake("shifted by two: the next token is one place on.")
def shifted_twice(logits, ids):
    targets = ids.roll(-2, 1)
    targets[:, -2:] = PAD
    real = targets != PAD
    return nats_of(logits, targets)[real].mean()


@exercise.mistake(
    "`roll` brings the first token round to the end: nothing follows the last one, so it is not "
    "asked."
)
def rolled(logits, ids):
    targets = ids.roll(-1, 1)
    return nats_of(logits, targets)[targets != PAD].mean()


@exercise.mistake("the padding is counted: the model is asked to say 0 behind the end of a text.")
def padding_counted(logits, ids):
    return asked(logits, ids)[0].mean()


@exercise.mistake("the padding's loss is gone, but it is still counted in what you divide by.")
def padding_in_the_denominator(logits, ids):
    nats, real = asked(logits, ids)
    return (nats * real).mean()


@exercise.mistake("only the last position is asked: each of them has a token that comes next.")
def last_position_alone(logits, ids):
    nats, real = asked(logits, ids)
    last = real.sum(1, keepdim=True) - 1
    return nats.gather(1, last).mean()


@exercise.mistake("a token of a short text weighs more than one of a long: average all at once.")
def mean_of_means(logits, ids):
    nats, real = asked(logits, ids)
    return ((nats * real).sum(1) / real.sum(1)).mean()


@exercise.mistake("the losses are added up: a longer text would have a larger loss.")
def sum_for_mean(logits, ids):
    nats, real = asked(logits, ids)
    return nats[real].sum()


@exercise.mistake("that is the perplexity: the loss is the mean of the logarithms, without exp.")
def perplexity(logits, ids):
    nats, real = asked(logits, ids)
    return nats[real].mean().exp()


@exercise.mistake("a mean of perplexities: average the logarithms, and leave exp out.")
def mean_of_perplexities(logits, ids):
    nats, real = asked(logits, ids)
    return nats[real].exp().mean()


@exercise.mistake("a loss is positive: it is minus the logarithm of a chance.")
def sign(logits, ids):
    nats, real = asked(logits, ids)
    return -nats[real].mean()


@exercise.mistake("the softmax runs along the positions: it should run along the vocabulary.")
def softmax_over_positions(logits, ids):
    log_p = logits[:, :-1].log_softmax(dim=1)
    _, real = asked(logits, ids)
    return -log_p.gather(2, ids[:, 1:, None])[:, :, 0][real].mean()


@exercise.mistake("these are logits, not logarithms of chances: the softmax is missing.")
def no_softmax(logits, ids):
    _, real = asked(logits, ids)
    return -logits[:, :-1].gather(2, ids[:, 1:, None])[:, :, 0][real].mean()


@exercise.mistake("minus the chance, not minus its logarithm.")
def no_logarithm(logits, ids):
    nats, real = asked(logits, ids)
    return -(-nats[real]).exp().mean()


@exercise.mistake("the softmax is taken twice: `cross_entropy` wants logits, not chances.")
def softmax_twice(logits, ids):
    nats, real = asked(logits.softmax(-1), ids)
    return nats[real].mean()


@exercise.mistake("these are bits: the book's losses are in nats, with the natural logarithm.")
def bits(logits, ids):
    nats, real = asked(logits, ids)
    return nats[real].mean() / torch.tensor(2.0, dtype=torch.float64).log()


@exercise.mistake(
    "you cut logits and targets at the same end, so nothing is shifted: each position is asked for "
    "the token that it has just read."
)
def both_cut_at_the_end(logits, ids):
    return nats_of(logits[:, :-1], ids[:, :-1])[ids[:, :-1] != PAD].mean()


@exercise.mistake("you look for padding in what is read: it is the target that may be padding.")
def padding_of_the_input(logits, ids):
    return asked(logits, ids)[0][ids[:, :-1] != PAD].mean()


@exercise.mistake("you divide by all tokens, but nobody asks for the first one of a text.")
def first_tokens_counted(logits, ids):
    nats, real = asked(logits, ids)
    return nats[real].sum() / (ids != PAD).sum()


@exercise.mistake(
    "you divide by all positions of the batch: divide by the tokens that are asked for."
)
def divided_by_all_positions(logits, ids):
    nats, real = asked(logits, ids)
    return nats[real].sum() / ids.numel()


@exercise.mistake(
    "you flatten before you shift: the last position of a text is asked for the first token of the "
    "next text."
)
def flattened_before_shifting(logits, ids):
    targets = ids.flatten()[1:]
    return F.cross_entropy(logits.flatten(0, 1)[:-1], targets, ignore_index=PAD)


@exercise.mistake("`cross_entropy` takes logits (n, V) and targets (n,): flatten both.")
def not_flattened(logits, ids):
    return F.cross_entropy(logits[:, :-1], ids[:, 1:], ignore_index=PAD)


@exercise.mistake(
    "you divide by the length of a row: the mean is over all tokens that are asked for."
)
def divided_by_T(logits, ids):
    n, real = asked(logits, ids)
    return (n * real).sum() / ids.shape[1]


@exercise.mistake(
    "you divide by the number of texts: the mean is over all tokens that are asked for."
)
def divided_by_texts(logits, ids):
    n, real = asked(logits, ids)
    return (n * real).sum() / len(ids)


@exercise.mistake("that is a loss for each token: return their mean.")
def each_token(logits, ids):
    n, real = asked(logits, ids)
    return n[real]


@exercise.mistake(
    "`reshape` and `view` to (B, V, T) cut the same numbers anew: to exchange two axes, transpose."
)
def cut_anew(logits, ids):
    B, T, V = logits.shape
    nats = F.cross_entropy(logits[:, :-1].reshape(B, V, T - 1), ids[:, 1:], reduction="none")
    return nats[ids[:, 1:] != PAD].mean()


@exercise.mistake(
    "you cut logits and targets at the same end, the beginning, so nothing is shifted: each "
    "position is asked for the token that it has just read."
)
def both_cut_at_the_beginning(logits, ids):
    return nats_of(logits[:, 1:], ids[:, 1:])[ids[:, 1:] != PAD].mean()


@exercise.mistake(
    "that is the logarithm of the mean probability: the loss is the mean of the logarithms."
)
def logarithm_of_the_mean(logits, ids):
    n, real = asked(logits, ids)
    return -(-n[real]).exp().mean().log()


@exercise.mistake(
    "you set the logits at padding to 0, which is a loss of ln V there: leave these losses out."
)
def padded_logits_at_zero(logits, ids):
    real = ids[:, 1:] != PAD
    return nats_of(logits[:, :-1] * real[:, :, None], ids[:, 1:]).mean()


@exercise.mistake("a text with padding is left out altogether: its real tokens are targets, too.")
def padded_texts_left_out(logits, ids):
    n, real = asked(logits, ids)
    return n[real.all(1)].mean()


@exercise.mistake(
    "`logits[:-1]` and `ids[1:]` leave out a text of the batch: tokens are along the second axis, "
    "`[:, :-1]`."
)
def shifted_along_the_batch(logits, ids):
    return F.cross_entropy(logits[:-1].flatten(0, 1), ids[1:].flatten(), ignore_index=PAD)


@exercise.mistake(
    "`logits[:-1]` leaves out the last text, where it should leave out each text's last position, "
    "`logits[:, :-1]`."
)
def logits_without_a_text(logits, ids):
    return F.cross_entropy(logits[:-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)


@exercise.mistake(
    "only the last position is asked, and for the token that it has just read: shift, and ask all."
)
def last_position_about_itself(logits, ids):
    return F.cross_entropy(logits[:, -1], ids[:, -1], ignore_index=PAD)


@exercise.mistake(
    "an index of all targets takes each of them at every position: `gather` takes one at each."
)
def every_target_at_every_position(logits, ids):
    targets = ids[:, 1:]
    return -logits[:, :-1].log_softmax(-1)[..., targets][..., targets != PAD].mean()


@exercise.mistake(
    "your index takes the targets of all texts in each text: put `torch.arange(B)[:, None]` in "
    "front, or use `gather`."
)
def targets_of_all_texts(logits, ids):
    log_p, targets = logits[:, :-1].log_softmax(-1), ids[:, 1:]
    return -log_p[:, torch.arange(targets.shape[1]), targets][:, targets != PAD].mean()


@exercise.mistake(
    "`torch.arange(B)` lies along the positions: `torch.arange(B)[:, None]` gives each text a row."
)
def texts_along_the_positions(logits, ids):
    log_p, targets = logits[:, :-1].log_softmax(-1), ids[:, 1:]
    picked = log_p[torch.arange(len(ids)), torch.arange(targets.shape[1]), targets]
    return -picked[targets != PAD].mean()
