# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 10
#
# Exercises 10.1 to 10.6 are those of [BERT](../10_pretraining.ipynb), the others those of its [deeper page](../deeper/10_pretraining.ipynb). There is more than one right way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import copy

import torch
from torch.nn import functional as F

from utils.exercises.pretraining import check
from utils.pretraining import cast_dice, published_sizes
from utils.show.display import observe

# %% [markdown]
# (solution-10-1)=
# ## 10.1 Hide words
#
# What is asked for depends on the first dice alone, and on what a word is. What stands there depends on the second dice, and only where a word is asked for. The targets are read from the text, not from what has become of it: otherwise the model would be asked for `MASK`.


# %%
def mask_words(ids, dice, share):
    asked = (dice.hides < share) & (ids > 4)
    hidden = ids.masked_fill(asked & (dice.how < 0.8), 4)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, ids.masked_fill(~asked, -100)


mask_words = check("10.1", mask_words)

# %% [markdown]
# Over many words the shares come out as they should. A random word is now and then the one that was there, so a little less than a tenth are another word.

# %%
torch.manual_seed(0)
ids = torch.randint(5, 3070, (100, 1000))
hidden, target = mask_words(ids, cast_dice(ids.shape, 3070), 0.15)
asked = target != -100
of = hidden[asked]
shares = {"masked": of == 4, "same": of == ids[asked], "other": (of != 4) & (of != ids[asked])}

# %%
observe(
    "Asked for are {asked:.1%} of the words. Of these, {masked:.1%} became MASK, {same:.1%} stayed, and {other:.1%} became another word.",
    asked=asked.double().mean(),
    **{name: where.double().mean() for name, where in shares.items()},
    holds=abs(asked.double().mean() - 0.15) < 0.005
    and abs(shares["masked"].double().mean() - 0.8) < 0.01,
)

# %% [markdown]
# (solution-10-2)=
# ## 10.2 The loss of hidden words
#
# A mask of places picks vectors and targets alike, in the same order, from all texts of the batch. So the mean is over words, and a text of which nothing is asked adds nothing. `cross_entropy` leaves out targets of −100 by itself. That gives the same number; but the head has then made $V$ scores for each place of the batch, to throw most of them away.


# %%
def masked_word_loss(head, x, target):
    asked = target != -100
    return F.cross_entropy(head(x[asked]), target[asked])


masked_word_loss = check("10.2", masked_word_loss)

# %% [markdown]
# (solution-10-3)=
# ## 10.3 Soft targets
#
# `kl_div` takes the logarithms of what is learned first, and `"batchmean"` divides by the number of words; its plain mean would divide by $V$, too. The teacher's logits are detached, so that no gradient reaches it.


# %%
def soft_target_loss(student_logits, teacher_logits, tau):
    p = (teacher_logits.detach() / tau).softmax(dim=1)
    log_q = (student_logits / tau).log_softmax(dim=1)
    return tau**2 * F.kl_div(log_q, p, reduction="batchmean")


soft_target_loss = check("10.3", soft_target_loss)

# %% [markdown]
# Why $\tau^2$? The gradient of the divergence by a logit is $(q_i - p_i) / \tau$. And for a large $\tau$, both are near $1/V$ and differ by about $1/\tau$ of what the logits do: $1/\tau$ twice. With the factor, the gradient hardly depends on the temperature, so it keeps its weight beside the other parts of the loss:

# %%
torch.manual_seed(0)
teacher = torch.randn(50, 10, dtype=torch.float64)
student = torch.randn(50, 10, dtype=torch.float64, requires_grad=True)
norm = {}
for tau in (2.0, 8.0, 32.0):
    loss = soft_target_loss(student, teacher, tau)
    norm[tau] = torch.autograd.grad(loss, student)[0].norm().item()
observe(
    "At temperatures of 2, 8 and 32 the gradient's norm is {two:.3f}, {eight:.3f} and {last:.3f}.",
    **dict(zip(("two", "eight", "last"), norm.values())),
    holds=max(norm.values()) < 1.5 * min(norm.values()),
)

# %% [markdown]
# (solution-10-4)=
# ## 10.4 Every second block
#
# A slice picks the blocks, but they are still the teacher's own: the next step of the student's optimiser would change the teacher, and with it the targets. So each is copied, with all its weights. Why every second one, and not the lower half? The student is then to do in one block what the teacher does in two neighbours, and has a part of each stage of its work.


# %%
def every_second(blocks):
    return copy.deepcopy(list(blocks)[::2])


every_second = check("10.4", every_second)

# %% [markdown]
# (solution-10-5)=
# ## 10.5 Predict: how large is DistilBERT?
#
# A matrix of attention has $768 \cdot 768 + 768$ parameters, and there are four. The feed-forward layer has $768 \cdot 3072 + 3072$ on its way up, and $3072 \cdot 768 + 768$ on its way down. A norm has $2 \cdot 768$.

# %%
D, F_wide = 768, 3072
block = 4 * (D * D + D) + (D * F_wide + F_wide) + (F_wide * D + D) + 2 * 2 * D
tables = (30_522 + 512) * D + 2 * D
my_millions = (tables + 6 * block) / 1e6

check("10.5", my_millions)

# %%
made = published_sizes("DistilBERT")
bert = published_sizes("BERT-base")
assert made.total == tables + 6 * block
observe(
    "DistilBERT has {distilbert:.1f} million, BERT-base {bert:.1f}: {fewer:.0%} fewer, and not half, since {tables:.1f} million are in the tables, which stay.",
    distilbert=made.total / 1e6,
    bert=bert.total / 1e6,
    fewer=1 - made.total / bert.total,
    tables=tables / 1e6,
    holds=0.38 < 1 - made.total / bert.total < 0.41,
)

# %% [markdown]
# (solution-10-6)=
# ## 10.6 The angle to the teacher
#
# The mask comes first: what stands at padding means nothing, and its angle neither. The length of a vector is left free, because the student may have its own; only the direction is compared.


# %%
def cosine_loss(x_student, x_teacher, real):
    cos = F.cosine_similarity(x_student[real], x_teacher[real].detach(), dim=1)
    return (1 - cos).mean()


check("10.6", cosine_loss)
