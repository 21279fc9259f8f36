"""How many codes are in use? Count the rare ones for less."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def perplexity_of_codes(codes: Tensor, K: int) -> float:
    """Return exp of the entropy of the codes' shares, in nats: n where n codes are used equally.

    Shapes: codes (B, n), whole numbers from 0 to K - 1, over all of which the shares are taken.
    """
    shares = codes.flatten().bincount(minlength=K).double() / codes.numel()
    used = shares[shares > 0]
    return math.exp(-(used * used.log()).sum())


exercise = Exercise(perplexity_of_codes, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("two codes, used equally often")
def two_codes():
    return [(torch.tensor([[0, 1, 1, 0]]), 2)]


@exercise.stage("codes that are used more and less often")
def unequally():
    return [(torch.tensor([[0, 1, 2, 2, 1, 2, 2]]), 3), (torch.tensor([[3, 0, 1, 2, 0, 0]]), 4)]


@exercise.stage("several pictures, and codes that are never used")
def several():
    ids = torch.randint(5, (3, 8))
    return [(ids + 2, 9), (torch.randint(6, (4, 6)) ** 2, 32), (torch.randint(3, (2, 5)), 6)]


@exercise.stage("one code for everything")
def one_code():
    return [(torch.full((2, 3), 4), 7)]


# What goes wrong ----------------------------------------------------------------------------------


def shares_of(codes: Tensor, K: int) -> Tensor:
    return codes.flatten().bincount(minlength=K).double() / codes.numel()


def entropy(shares: Tensor) -> float:
    return torch.special.entr(shares).sum().item()


@exercise.mistake(
    "codes that are never used make it NaN, as 0 · log 0 is: leave them out, for p log p goes to 0 "
    "as p does."
)
def not_a_number(codes, K):
    shares = shares_of(codes, K)
    return math.exp(-(shares * shares.log()).sum())


@exercise.mistake("that is the entropy: the perplexity is exp of it.")
def entropy_alone(codes, K):
    return entropy(shares_of(codes, K))


@exercise.mistake("that is the entropy in bits: it counts yes-or-no questions, not codes.")
def entropy_in_bits(codes, K):
    return entropy(shares_of(codes, K)) / math.log(2)


@exercise.mistake("that is the entropy as a part of the largest possible: it never exceeds 1.")
def part_of_the_largest(codes, K):
    return entropy(shares_of(codes, K)) / math.log(K)


@exercise.mistake(
    "you take exp of each code's part of the entropy, and add up: exp is of the sum, taken once."
)
def exp_before_the_sum(codes, K):
    return torch.special.entr(shares_of(codes, K)).exp().sum().item()


@exercise.mistake("that is how many codes are used at all: one that is used once counts in full.")
def distinct(codes, K):
    return float(len(codes.unique()))


@exercise.mistake("that is 2 to the power of an entropy in nats: the base has to be the same.")
def base_two(codes, K):
    return 2 ** entropy(shares_of(codes, K))


@exercise.mistake("that is exp of an entropy in bits: take the natural logarithm.")
def logarithm_to_two(codes, K):
    return math.exp(entropy(shares_of(codes, K)) / math.log(2))


@exercise.mistake("the minus is missing: the logarithm of a share is below 0.")
def sign(codes, K):
    return math.exp(-entropy(shares_of(codes, K)))


@exercise.mistake("that is a share of the codebook: return how many codes are in use.")
def share_of_the_codebook(codes, K):
    return math.exp(entropy(shares_of(codes, K))) / K


@exercise.mistake("your shares are parts of K: divide by how many codes were counted.")
def divided_by_K(codes, K):
    return math.exp(entropy(shares_of(codes, K) * codes.numel() / K))


@exercise.mistake("these are counts, not shares: divide by how many codes there are in all.")
def counts(codes, K):
    return math.exp(max(-700.0, entropy(shares_of(codes, K) * codes.numel())))


@exercise.mistake(
    "you add up the squares of the shares, which is another measure: a perplexity takes their "
    "logarithms."
)
def squares(codes, K):
    return 1 / shares_of(codes, K).square().sum().item()


@exercise.mistake(
    "that is the mean over pictures: a picture uses few codes, but all of them together use many."
)
def mean_of_pictures(codes, K):
    return sum(math.exp(entropy(shares_of(row, K))) for row in codes) / len(codes)


@exercise.mistake(
    "you divide by the number of pictures: a share is a part of all codes of all pictures."
)
def divided_by_pictures(codes, K):
    return math.exp(max(-700.0, entropy(shares_of(codes, K) * codes.shape[1])))


@exercise.mistake(
    "a mean over the codebook: an entropy is the sum of -p log p, since p is the weight already."
)
def mean_for_sum(codes, K):
    return math.exp(entropy(shares_of(codes, K)) / K)


@exercise.mistake(
    "you average the entropies of the pictures: a picture uses few codes, but another picture may "
    "use others."
)
def mean_entropy_of_pictures(codes, K):
    return math.exp(sum(entropy(shares_of(row, K)) for row in codes) / len(codes))


@exercise.mistake(
    "that is the mean over positions: shares are taken over all codes of all pictures at once."
)
def mean_of_positions(codes, K):
    return mean_of_pictures(codes.T, K)


@exercise.mistake("the shares are missing as weights: a rare code should count for less.")
def not_weighted(codes, K):
    shares = shares_of(codes, K)
    return math.exp(-shares[shares > 0].log().sum())


@exercise.mistake(
    "you average the logarithms over the codes in use: then a rare code counts as much as any."
)
def equally_weighted(codes, K):
    shares = shares_of(codes, K)
    return math.exp(-shares[shares > 0].log().mean())


@exercise.mistake("you take a softmax of counts: a share is a count, divided by all counts.")
def softmax_of_counts(codes, K):
    return math.exp(entropy(codes.flatten().bincount(minlength=K).double().softmax(0)))


@exercise.mistake("that is the part of the codebook that is used at all, however rarely.")
def part_in_use(codes, K):
    return len(codes.unique()) / K
