# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 11
#
# To the exercises of [Small models](../11_small.ipynb), then to that of its [deeper page](../deeper/11_small.ipynb). There is more than one correct way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import copy

import torch
from torch.nn import functional as F

from utils.exercises.small import check
from utils.pretraining import published_sizes
from utils.show.display import observe

# %% [markdown]
# (solution-soft-targets)=
# ## Distillation: soft targets
#
# `kl_div` takes the student's logarithms first, and `"batchmean"` divides by the number of words; its plain mean would also divide by $V$. The teacher's logits are detached, so that no gradient reaches the teacher. And `log_softmax` stays finite where a probability is rounded to 0.


# %%
def soft_target_loss(student_logits, teacher_logits, tau):
    p = (teacher_logits.detach() / tau).softmax(dim=1)
    log_q = (student_logits / tau).log_softmax(dim=1)
    return tau**2 * F.kl_div(log_q, p, reduction="batchmean")


soft_target_loss = check("soft_targets", soft_target_loss)

# %% [markdown]
# Why $\tau^2$? The gradient of the divergence with respect to a logit is $(q_i - p_i) / \tau$. And for a large $\tau$, both probabilities are near $1/V$, and their difference is proportional to the difference of the logits divided by $\tau$. So $1/\tau$ comes in twice. With the factor, the gradient hardly depends on the temperature, so the soft targets keep their weight in the whole loss:

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
# (solution-every-second)=
# ## DistilBERT: every second block
#
# A slice picks the blocks, but they are still the teacher's own: the next step of the student's optimiser would change the teacher, and with it the targets. So each block is copied, with all its weights. Why every second one, and not the lower half? Because the student then has a part of each stage of its teacher's work, and one of its blocks has to do the work of two neighbouring ones.


# %%
def every_second(blocks):
    return copy.deepcopy(list(blocks)[::2])


every_second = check("every_second", every_second)

# %% [markdown]
# (solution-int8-rows)=
# ## Quantisation: rows in int8
#
# The number with the largest absolute value in a row becomes 127 or −127, whatever its size, and no number is off by more than half a step. A row of zeros has nothing to scale; with a scale of 0 its weights would be $0/0$.


# %%
def int8_rows(W):
    largest = W.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest / 127, 1.0)
    return (W / scale).round().to(torch.int8), scale


check("int8_rows", int8_rows)

# %%
W = torch.randn(3, 50) * torch.tensor([[0.01], [1.0], [100.0]])
q, scale = int8_rows(W)
assert ((scale * q - W).abs() <= 0.501 * scale).all()

# %% [markdown]
# (solution-lora)=
# ## LoRA: a change of low rank
#
# The detour takes $r\,(d_{in} + n)$ products for each input, where $B A$, multiplied out, would take $d_{in}\,n$. So in training we apply $A$ first, then $B$; afterwards it pays to multiply them out once. That is possible only because there is no nonlinearity between $A$ and $B$.


# %%
def lora_layer(x, W, A, B, alpha):
    scale = alpha / len(A)
    return x @ W.T + scale * (x @ A.T) @ B.T, W + scale * B @ A


check("lora", lora_layer)

# %% [markdown]
# (solution-distilberts-size)=
# ## Predict: how large is DistilBERT?
#
# An attention matrix, with its bias, has $768 \cdot 768 + 768$ parameters, and there are four of them. The feed-forward layer has $768 \cdot 3072 + 3072$ on its way up, and $3072 \cdot 768 + 768$ on its way down. A norm has $2 \cdot 768$: a gain and a bias.

# %%
D, F_wide = 768, 3072
block = 4 * (D * D + D) + (D * F_wide + F_wide) + (F_wide * D + D) + 2 * 2 * D
tables = (30_522 + 512) * D + 2 * D
my_parameters = tables + 6 * block

check("distilberts_size", my_parameters)

# %%
made = published_sizes("DistilBERT")
bert = published_sizes("BERT-base")
assert made.total == my_parameters
observe(
    "DistilBERT has {distilbert:.1f} million parameters and BERT-base {bert:.1f} million: {fewer:.0%} fewer, not half, since the tables stay as they are, with {tables:.1f} million.",
    distilbert=made.total / 1e6,
    bert=bert.total / 1e6,
    fewer=1 - made.total / bert.total,
    tables=tables / 1e6,
    holds=0.38 < 1 - made.total / bert.total < 0.41,
)

# %% [markdown]
# (solution-cosine)=
# ## Distillation: the angle to the teacher
#
# The mask comes first: the vectors at padding mean nothing, and neither do their angles. The length of a vector doesn't count, because the student may choose its own; only the direction is compared.


# %%
def cosine_loss(x_student, x_teacher, real):
    cos = F.cosine_similarity(x_student[real], x_teacher[real].detach(), dim=1)
    return (1 - cos).mean()


check("cosine", cosine_loss)

# %% [markdown]
# (solution-importance)=
# ## Pruning: the importance of heads
#
# A gate multiplies all the numbers in its head's context, so by the chain rule the slope is the sum, over all of them, of number times gradient. The absolute value comes before the mean, because a head that helps one text and harms another matters to both.


# %%
def importance(contexts, gradients):
    slopes = (contexts * gradients).sum(dim=(2, 3))  # (B, h)
    return slopes.abs().mean(dim=0)


check("importance", importance)

# %% [markdown]
# (solution-shared-gradient)=
# ## The gradient of a shared layer
#
# Give each layer a copy of $W$. The loss then depends on $n$ matrices, and each has a gradient of its own. If all of them move together, the loss changes by the sum of their effects, so the shared matrix gets the sum of the gradients.


# %%
def shared_gradient(x, W, n, arriving):
    copies = [W.detach().clone().requires_grad_() for _ in range(n)]
    h = x
    for each in copies:
        h = h + torch.tanh(h @ each.T)
    return sum(torch.autograd.grad((h * arriving).sum(), copies))


check("shared_gradient", shared_gradient)

# %% [markdown]
# Autograd does the same with a single $W$: whenever it meets a weight on the way back, it adds to the gradient that has collected there so far. A layer that was copied in the forward pass, with `clone` and `detach` or with `deepcopy`, is met only once and gets only a part of its gradient. The first step of the optimiser then makes the copies differ.
