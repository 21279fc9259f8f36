"""How many pictures find their own sentence among the k nearest?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def recall_at_k(similarity: Tensor, own: Tensor, k: int) -> float:
    """Return the share of pictures whose own sentence is among the k most similar ones.

    Shapes: similarity (B, n) of each picture to each sentence; own (B,), the number of each
    picture's sentence, which several pictures may share.
    """
    nearest = similarity.topk(k, dim=1).indices  # (B, k)
    return (nearest == own[:, None]).any(dim=1).double().mean().item()


exercise = Exercise(recall_at_k, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, n: int, k: int, *, in_order: bool = False) -> tuple[Tensor, Tensor, int]:
    """Draw similarities in which the own sentence is often among the best."""
    own = torch.arange(B) if in_order else torch.randint(n, (B,))
    similarity = random(B, n)
    similarity[torch.arange(B), own] += 0.9
    return similarity, own, k


@exercise.stage("the nearest sentence, with sentence i for picture i")
def nearest():
    return [drawn(7, 7, 1, in_order=True)]


@exercise.stage("the nearest of several sentences, which pictures may share")
def shared():
    return [drawn(12, 5, 1), drawn(11, 16, 1)]


@exercise.stage("more than one of the nearest")
def more_than_one():
    return [drawn(13, 6, 2), drawn(29, 9, 3), drawn(31, 8, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def ranks(similarity: Tensor, own: Tensor) -> Tensor:
    """Return how many sentences are more similar to each picture than its own, (B,)."""
    return (similarity > similarity.gather(1, own[:, None])).sum(1)


def share(found: Tensor) -> float:
    return found.double().mean().item()


@exercise.mistake(
    "you ask each sentence for its picture, down a column: each picture is asked for its sentence."
)
def down_the_columns(similarity, own, k):
    its = similarity.gather(1, own[:, None])[:, 0]
    return share((similarity[:, own] > its).sum(0) < k)


@exercise.mistake("you count the nearest one alone: any of the k nearest will do.")
def first_alone(similarity, own, k):
    return share(ranks(similarity, own) < 1)


@exercise.mistake("you let one sentence too many count: the nearest one is the first of the k.")
def one_too_many(similarity, own, k):
    return share(ranks(similarity, own) <= k)


@exercise.mistake("you count the own sentence among those before it: the first has none before.")
def itself_before(similarity, own, k):
    return share(ranks(similarity, own) + 1 < k)


@exercise.mistake(
    "you count pictures whose own sentence is exactly the k-th: nearer ones count, too."
)
def exactly_k(similarity, own, k):
    return share(ranks(similarity, own) == k - 1)


@exercise.mistake(
    "these are the k least similar sentences: a high similarity means near, unlike a high distance."
)
def farthest(similarity, own, k):
    return recall_at_k(-similarity, own, k)


@exercise.mistake(
    "you divide by k: only one of k sentences can be the picture's own, and that is all it has to "
    "find."
)
def precision(similarity, own, k):
    return recall_at_k(similarity, own, k) / k


@exercise.mistake("that is how many pictures found theirs: return their share.")
def number(similarity, own, k):
    return float((ranks(similarity, own) < k).sum())


@exercise.mistake("that is in percent: a share lies between 0 and 1.")
def percent(similarity, own, k):
    return 100 * recall_at_k(similarity, own, k)


@exercise.mistake("that is the share of pictures that didn't find theirs.")
def missed(similarity, own, k):
    return share(ranks(similarity, own) >= k)


@exercise.mistake("you expect sentence i for picture i: `own` says which sentence is a picture's.")
def diagonal(similarity, own, k):
    return recall_at_k(similarity, torch.arange(len(own)), k)


@exercise.mistake(
    "that is the mean of 1 / rank, another measure: here a sentence is among the k nearest, or not."
)
def reciprocal_rank(similarity, own, k):
    return (1 / (1 + ranks(similarity, own).double())).mean().item()


@exercise.mistake("that is the mean rank: here a sentence is among the k nearest, or not.")
def mean_rank(similarity, own, k):
    return 1 + share(ranks(similarity, own))


@exercise.mistake(
    "these are answers for each picture: return the share of those that found theirs."
)
def of_each(similarity, own, k):
    return ranks(similarity, own) < k


@exercise.mistake(
    "you take the k largest of the whole table: each picture has k nearest sentences of its own."
)
def of_the_table(similarity, own, k):
    bound = similarity.flatten().topk(k).values[-1]
    return share(similarity.gather(1, own[:, None])[:, 0] >= bound)


@exercise.mistake(
    "`argsort` returns which sentence is first, second, …, not at which rank a sentence is: a "
    "second `argsort` would."
)
def sorted_once(similarity, own, k):
    order = similarity.argsort(dim=1, descending=True)
    return (order[torch.arange(len(own)), own] < k).double().mean().item()


@exercise.mistake("you divide by the number of sentences: it is a share of the pictures.")
def share_of_sentences(similarity, own, k):
    return recall_at_k(similarity, own, k) * len(own) / similarity.shape[1]


@exercise.mistake(
    "`rank[:, own]` takes the sentences of all pictures in each row: `rank[torch.arange(B), own]` "
    "takes one a row."
)
def ranks_of_all(similarity, own, k):
    rank = similarity.argsort(dim=1, descending=True).argsort(dim=1)
    return share(rank[:, own] < k)


@exercise.mistake(
    "`similarity[:, own]` takes the sentences of all pictures in each row: `similarity[torch."
    "arange(B), own]` takes one a row."
)
def similarities_of_all(similarity, own, k):
    return share((similarity > similarity[:, own]).sum(1) < k)


@exercise.mistake(
    "`topk` goes down the columns, to the pictures nearest to each sentence: with `dim=1` it finds "
    "the sentences nearest to each picture."
)
def topk_down_the_columns(similarity, own, k):
    return share((similarity.topk(k, dim=0).indices == own[:, None]).any(dim=1))


@exercise.mistake(
    "your `topk` finds pictures, with `dim=0`, and you compare them with numbers of sentences: it "
    "needs `dim=1`, and `own[:, None]`."
)
def pictures_for_sentences(similarity, own, k):
    return share((similarity.topk(k, dim=0).indices == own).any(dim=0))


@exercise.mistake(
    "you look for a picture's own sentence among the nearest of all pictures: `nearest == own[:, "
    "None]` looks in its row alone."
)
def among_all_nearest(similarity, own, k):
    return share(torch.isin(own, similarity.topk(k).indices))


@exercise.mistake(
    "a picture succeeds if any picture's sentence is near it: compare its row with its own one "
    "alone, `own[:, None]`."
)
def anyones(similarity, own, k):
    return share(torch.isin(similarity.topk(k).indices, own).any(dim=1))


@exercise.mistake(
    "`own` lies along the columns when you compare: `own[:, None]` gives each row its own sentence."
)
def own_as_a_row(similarity, own, k):
    return share((similarity.topk(k).indices == own).any(dim=1))


@exercise.mistake(
    "that is 1 whatever the similarities: the nearest sentence is at least as similar as the own "
    "one, so compare with the least of the k, and `any` goes along `dim=1`."
)
def always_1(similarity, own, k):
    its = similarity.gather(1, own[:, None])
    return share((similarity.topk(k).values >= its).any(dim=1))


@exercise.mistake(
    "`.T` turns the table round, but it still holds the pictures nearest to each sentence: take "
    "`topk` along each picture's row."
)
def topk_turned(similarity, own, k):
    return share((similarity.topk(k, dim=0).indices.T == own[:, None]).any(dim=1))


@exercise.mistake(
    "the diagonal holds the similarity to sentence i, not to picture i's own sentence: `own` gives "
    "its number."
)
def off_the_diagonal(similarity, own, k):
    return share(similarity.diagonal()[:, None] >= similarity.topk(k).values[:, -1:])


@exercise.mistake(
    "`all` wants each of the k nearest to be the picture's own sentence: `any` wants one of them."
)
def all_for_any(similarity, own, k):
    return share((similarity.topk(k).indices == own[:, None]).all(dim=1))
