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
# To the exercises of [BERT](../10_pretraining.ipynb), then to those of its [deeper page](../deeper/10_pretraining.ipynb). There is more than one right way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import copy
import math

import torch
from torch.nn import functional as F

from utils.data.text import BOS, EOS
from utils.exercises.pretraining import check
from utils.pretraining import cast_dice, draw_spans, published_sizes, put_back, relative_buckets
from utils.show.display import observe

# %% [markdown]
# (solution-mask-words)=
# ## Masking: hide words
#
# What is asked for depends on the first dice alone, and on what a word is. What stands there depends on the second dice, and only where a word is asked for. The targets are read from the text, not from what has become of it: otherwise the model would be asked for `MASK`.


# %%
def mask_words(ids, dice, share):
    asked = (dice.hides < share) & (ids > 4)
    hidden = ids.masked_fill(asked & (dice.how < 0.8), 4)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, ids.masked_fill(~asked, -100)


mask_words = check("mask_words", mask_words)

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
# (solution-masked-word-loss)=
# ## Masked language model: the loss of hidden words
#
# A mask of places picks vectors and targets alike, in the same order, from all texts of the batch. So the mean is over words, and a text of which nothing is asked adds nothing. `cross_entropy` leaves out targets of −100 by itself. That gives the same number; but the head has then made $V$ scores for each place of the batch, to throw most of them away.


# %%
def masked_word_loss(head, x, target):
    asked = target != -100
    return F.cross_entropy(head(x[asked]), target[asked])


masked_word_loss = check("masked_word_loss", masked_word_loss)

# %% [markdown]
# (solution-soft-targets)=
# ## Distillation: soft targets
#
# `kl_div` takes the logarithms of what is learned first, and `"batchmean"` divides by the number of words; its plain mean would divide by $V$, too. The teacher's logits are detached, so that no gradient reaches it.


# %%
def soft_target_loss(student_logits, teacher_logits, tau):
    p = (teacher_logits.detach() / tau).softmax(dim=1)
    log_q = (student_logits / tau).log_softmax(dim=1)
    return tau**2 * F.kl_div(log_q, p, reduction="batchmean")


soft_target_loss = check("soft_targets", soft_target_loss)

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
# (solution-every-second)=
# ## DistilBERT: every second block
#
# A slice picks the blocks, but they are still the teacher's own: the next step of the student's optimiser would change the teacher, and with it the targets. So each is copied, with all its weights. Why every second one, and not the lower half? The student is then to do in one block what the teacher does in two neighbours, and has a part of each stage of its work.


# %%
def every_second(blocks):
    return copy.deepcopy(list(blocks)[::2])


every_second = check("every_second", every_second)

# %% [markdown]
# (solution-distilberts-size)=
# ## Predict: how large is DistilBERT?
#
# A matrix of attention has $768 \cdot 768 + 768$ parameters, and there are four. The feed-forward layer has $768 \cdot 3072 + 3072$ on its way up, and $3072 \cdot 768 + 768$ on its way down. A norm has $2 \cdot 768$.

# %%
D, F_wide = 768, 3072
block = 4 * (D * D + D) + (D * F_wide + F_wide) + (F_wide * D + D) + 2 * 2 * D
tables = (30_522 + 512) * D + 2 * D
my_millions = (tables + 6 * block) / 1e6

check("distilberts_size", my_millions)

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
# (solution-cosine)=
# ## Distillation: the angle to the teacher
#
# The mask comes first: what stands at padding means nothing, and its angle neither. The length of a vector is left free, because the student may have its own; only the direction is compared.


# %%
def cosine_loss(x_student, x_teacher, real):
    cos = F.cosine_similarity(x_student[real], x_teacher[real].detach(), dim=1)
    return (1 - cos).mean()


check("cosine", cosine_loss)

# %% [markdown]
# (solution-ordered-pair)=
# ## Next sentence, or sentence order: two questions about a pair
#
# First decide what is shown, then lay it out: ids and types know nothing of the question. The types say which part stands where, not which was written first. Had they moved along with the parts, a model could read the answer off the first of them.


# %%
def ordered_pair(first, second, other, question, die):
    shown, label = [first, second], int(die >= 0.5)
    if label:
        shown = [first, other] if question == "next" else [second, first]
    ids, types = [BOS], [0]
    for kind, part in enumerate(shown):
        ids += [*part, EOS]
        types += [kind] * (len(part) + 1)
    return ids, types, label


check("ordered_pair", ordered_pair)

# %% [markdown]
# (solution-hide-spans)=
# ## T5: spans with sentinels
#
# From the last span to the first, nothing that is still to be replaced moves. From the first to the last, one would have to remember how much shorter the source has become, or copy what stays piece by piece, as the book does.


# %%
def hide_given_spans(ids, spans, sentinels):
    source, target = list(ids), [sentinels[len(spans)]]
    for (start, end), sentinel in reversed([*zip(spans, sentinels)]):
        target = [sentinel, *ids[start:end], *target]
        source[start:end] = [sentinel]
    return source, target


check("hide_spans", hide_given_spans)

# %% [markdown]
# Nothing is lost: source and target give the text back.

# %%
text = [*range(20, 60)]
spans = draw_spans(len(text), share=0.3, generator=torch.Generator().manual_seed(0))
marks = [*range(99, 80, -1)]
assert put_back(*hide_given_spans(text, spans, marks), marks) == text

# %% [markdown]
# (solution-decoder-reads)=
# ## T5: the decoder's input
#
# First what is to be said: the words, the end, and -100. What is read is the same, moved to the right by one place, with the start in front. An embedding has no row -100, so what moved along becomes padding. In a shorter target, the decoder then reads the end too. That does no harm: nothing is asked there.


# %%
def decoder_reads(targets, start, end, pad):
    rows = [torch.tensor([*target, end]) for target in targets]
    says = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)
    reads = F.pad(says[:, :-1], (1, 0), value=start)
    return reads.masked_fill(reads == -100, pad), says


check("decoder_reads", decoder_reads)

# %% [markdown]
# T5 begins with its padding symbol, BART with its end. The start is any symbol that isn't asked for at the first place, as long as it is the same in training and when the model writes.

# %% [markdown]
# (solution-lora)=
# ## LoRA: a change of low rank
#
# The detour needs $r\,(d_{in} + n)$ products for each input, where $B A$, multiplied out, would need $d_{in}\,n$: so in training one goes $A$ first, then $B$. Afterwards it pays to multiply them out once. That this is possible at all is because nothing bends between $A$ and $B$.


# %%
def lora_layer(x, W, A, B, alpha):
    scale = alpha / len(A)
    return x @ W.T + scale * (x @ A.T) @ B.T, W + scale * B @ A


check("lora", lora_layer)

# %% [markdown]
# (solution-shared-gradient)=
# ## The gradient of a shared layer
#
# Give each layer a copy of $W$. The loss then depends on $n$ matrices, and each has a gradient of its own. If all of them move together, the loss changes by the sum of what each would change, so the shared matrix gets the sum.


# %%
def shared_gradient(x, W, n, arriving):
    copies = [W.detach().clone().requires_grad_() for _ in range(n)]
    h = x
    for each in copies:
        h = h + torch.tanh(h @ each.T)
    return sum(torch.autograd.grad((h * arriving).sum(), copies))


check("shared_gradient", shared_gradient)

# %% [markdown]
# Autograd does the same with a single $W$: whenever a weight is met on the way back, its gradient is added to what is there already. A layer that was copied in the forward pass, with `clone` and `detach` or `deepcopy`, is met once and gets a part of it. The first step already takes the copies apart.

# %% [markdown]
# (solution-int8-rows)=
# ## Quantisation: rows in int8
#
# The largest number of a row comes out as 127 or -127, whatever its size, and no number is off by more than half a step. A row of zeros has nothing to scale; with a scale of 0 its weights would be $0/0$.


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
# (solution-importance)=
# ## Pruning: the importance of heads
#
# A gate multiplies all numbers of its head's context, so by the chain rule its slope is the sum, over all of them, of number times gradient. The size comes before the mean: a head that helps one text and harms another matters to both.


# %%
def importance(contexts, gradients):
    slopes = (contexts * gradients).sum(dim=(2, 3))  # (B, h)
    return slopes.abs().mean(dim=0)


check("importance", importance)

# %% [markdown]
# (solution-relative-buckets)=
# ## T5's relative positions: a bucket for each distance
#
# Both sides are counted alike, by $|t - s|$, and $n$ is added to what is ahead. The formula is turned over: a logarithm tells how many buckets behind the near ones a distance is, and it is rounded down. Distances below $n/2$ would have a negative one, so the logarithm is taken of $n/2$ at least, and they are put back at the end.


# %%
def buckets(behind, n_buckets, max_distance):
    n = n_buckets // 2
    near = n // 2
    distance = behind.abs()
    share = (distance.clamp(min=near) / near).log() / math.log(max_distance / near)
    far = (near + (share * (n - near)).long()).clamp(max=n - 1)
    return torch.where(distance < near, distance, far) + n * (behind < 0)


check("relative_buckets", buckets)

# %% [markdown]
# T5's own are 32 buckets for distances up to 128. They are the layer's:

# %%
distances = torch.arange(200)[:, None] - torch.arange(200)
assert torch.equal(buckets(distances, 32, 128), relative_buckets(200, 200))
