# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 13
#
# To the exercises of [Drawing](../13_drawing.ipynb), then to those of its [deeper page](../deeper/13_drawing.ipynb). There is more than one correct way. A solution is good if the check passes and you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch.nn import functional as F

from utils.exercises.drawing import check

# %% [markdown]
# (solution-nearest-codes)=
# ## The nearest code
#
# `cdist` returns the distance of each vector from each one of the codebook, an $n \times K$ table. The smallest number in row $i$ is in the column of the code. Indexing the codebook with all codes at once then collects the vectors that belong to them.


# %%
def nearest_codes(z, codebook):
    codes = torch.cdist(z, codebook).argmin(dim=1)
    return codes, codebook[codes]


nearest_codes = check("nearest_codes", nearest_codes)

# %% [markdown]
# There is a cheaper way. Multiplied out, the squared distance is $\lVert z \rVert^2 - 2 \langle z, e_k \rangle + \lVert e_k \rVert^2$. The first part is the same for all codes, so it can't change which one is nearest. The other two need only a matrix product and $K$ lengths. The last part has to stay: by the dot product alone, a long vector of the codebook would be chosen too often.

# %%
torch.manual_seed(0)
z, codebook = torch.randn(200, 4), torch.randn(16, 4)
codes, q = nearest_codes(z, codebook)
products = z @ codebook.T  # (200, 16)
assert torch.equal(codes, (codebook.square().sum(dim=1) - 2 * products).argmin(dim=1))
agree = (products.argmax(dim=1) == codes).float().mean().item()
print(f"the largest dot product chooses the nearest code for {agree:.0%} of 200 random vectors")

# %% [markdown]
# (solution-straight-through)=
# ## Straight-through
#
# Written as $z + (q - z)$, the result has the numbers of $q$. If the bracket is a constant, the derivative with respect to $z$ is 1, and the one with respect to $q$ is 0. `detach` makes it a constant.


# %%
def straight_through(z, q):
    return z + (q - z).detach()


straight_through = check("straight_through", straight_through)

# %% [markdown]
# The gradient is taken at $q$, although it goes to $z$. For the sum of squares it is $2q$:

# %%
z, q = z.requires_grad_(), q.requires_grad_()
straight_through(z, q).square().sum().backward()
torch.testing.assert_close(z.grad, 2 * q.detach())
assert q.grad is None

# %% [markdown]
# So it is a wrong gradient: that of the true function is 0, or doesn't exist. It helps as long as $z$ and $q$ are close together, because then the loss has nearly the same slope at both. That is one more reason for the commitment in the next loss.

# %% [markdown]
# (solution-vq-loss)=
# ## The codebook's loss
#
# It is the same squared distance twice, each time with the other end held fixed.


# %%
def vq_loss(z, q, beta):
    codebook = F.mse_loss(q, z.detach())
    commitment = F.mse_loss(z, q.detach())
    return codebook + beta * commitment


vq_loss = check("vq_loss", vq_loss)

# %% [markdown]
# Its value is $1 + \beta$ times the mean squared distance, but the two gradients are not alike: the code moves to the vector at full strength, and the vector to the code with a weight of $\beta$. Without `detach`, both ends would get $1 + \beta$.

# %%
z.grad = None
loss = vq_loss(z, q, 0.25)
torch.testing.assert_close(loss, 1.25 * F.mse_loss(z, q))
to_z, to_q = torch.autograd.grad(loss, (z, q))
torch.testing.assert_close(to_z, -0.25 * to_q)

# %% [markdown]
# (solution-sentence-and-codes)=
# ## A sentence and its codes
#
# Adding `n_words` puts all codes after the words, so no number is used twice. The mark gets the number after the last code. It has to be a column, one mark for each row, and `new_full` gives it the type and the device of the codes.


# %%
def sentence_and_codes(words, codes, n_words, n_codes):
    mark = codes.new_full((len(codes), 1), n_words + n_codes)
    return torch.cat([words, mark, codes + n_words], dim=1)


sentence_and_codes = check("sentence_and_codes", sentence_and_codes)

# %% [markdown]
# What if codes kept their numbers? Then code 3 and word 3 would share a row of the table of embeddings, and an output. The network could still tell them apart by their positions, but one vector would have to serve for both.

# %% [markdown]
# (solution-draw-codes)=
# ## Draw code by code
#
# The slice `n_words:-1` drops the words in front and the mark at the end, so the index that `draw` returns is already a code. What the model reads next is an id, so `n_words` is added again. The row grows by one column per step, and at the end everything after the start is the picture.


# %%
def draw_codes(model, start, n, n_words, tau, draw):
    ids = start
    for _ in range(n):
        logits = model(ids)[:, -1, n_words:-1]  # (B, K)
        code = draw((logits / tau).softmax(dim=1))
        ids = torch.cat([ids, code[:, None] + n_words], dim=1)
    return ids[:, -n:] - n_words


draw_codes = check("draw_codes", draw_codes)

# %% [markdown]
# One can also hide the other logits, by a value of $-\infty$. The probabilities are the same:

# %%
logits, n_words = torch.randn(2, 12), 5
hidden = logits.clone()
hidden[:, :n_words], hidden[:, -1] = -math.inf, -math.inf
torch.testing.assert_close(
    hidden.softmax(dim=1)[:, n_words:-1], logits[:, n_words:-1].softmax(dim=1)
)

# %% [markdown]
# As it is written here, the model reads the whole row again for every code. Day 9's cache of keys and values saves that, and the book's own `drawing_step` uses it.

# %% [markdown]
# (solution-bytes-in-codes)=
# ## Predict: how many bytes?
#
# A code is one of 64, and $2^6 = 64$, so six bits are enough. The codes are $36 \cdot 6 = 216$ bits, and a byte has eight. The codebook doesn't count, since it is stored once for all pictures.

# %%
my_bytes = 36 * 6 // 8

check("bytes_in_codes", my_bytes)

# %% [markdown]
# The picture itself has $24 \cdot 24 \cdot 3 = 1{,}728$ numbers. With a byte for each, the codes take a sixty-fourth of its space. A codebook four times as large costs only two bits more per code: with 256 vectors, a code is exactly one byte, and the picture takes 36.

# %% [markdown]
# (solution-perplexity-of-codes)=
# ## How many codes are in use?
#
# `bincount` counts the codes, also those with a count of 0 if it gets a `minlength`. A share of 0 adds nothing to the entropy, but in Python $0 \cdot \ln 0$ is *not a number*. So we take only the shares above 0.


# %%
def perplexity_of_codes(codes, K):
    shares = codes.flatten().bincount(minlength=K).double() / codes.numel()
    used = shares[shares > 0]
    return math.exp(-(used * used.log()).sum().item())


check("perplexity_of_codes", perplexity_of_codes)

# %% [markdown]
# Why not count the codes that occur at all? Because one use in a thousand would count as much as a code on which half of the picture depends. Here are two codebooks in which four codes occur: in the first all four are used equally often, in the second one of them does nearly everything.

# %%
equally = torch.arange(4).repeat(25)[None]
hardly = torch.cat([torch.zeros(97, dtype=torch.long), torch.tensor([1, 2, 3])])[None]
assert math.isclose(perplexity_of_codes(equally, 256), 4)
print(f"equally often: {perplexity_of_codes(equally, 256):.1f}")
print(f"97 of 100 are the same: {perplexity_of_codes(hardly, 256):.1f}")

# %% [markdown]
# (solution-picture-loss)=
# ## The loss on both parts
#
# As on Day 9, the last logits and the first id are dropped, so that each position is compared with the id after it. With `reduction="none"`, we get one cross-entropy per position. Then two masks, made from the *targets*, say which of them belong to words and which to codes. Padding and the mark are in neither.


# %%
def picture_loss(logits, ids, n_words, share):
    target, mark = ids[:, 1:], logits.shape[2] - 1
    nats = F.cross_entropy(logits[:, :-1].mT, target, reduction="none")  # (B, T - 1)
    words = nats[(target > 0) & (target < n_words)]
    codes = nats[(target >= n_words) & (target < mark)]
    return (1 - share) * words.mean() + share * codes.mean()


check("picture_loss", picture_loss)

# %% [markdown]
# Each part has a mean of its own. With one mean over all symbols, the weights would depend on how long the sentences are: 36 codes and four words would give the codes nine tenths of the loss, and a longer sentence would give them less.

# %% [markdown]
# (solution-best-of)=
# ## The best of many
#
# A sentence is compared with its own $n$ drawings, so it gets an axis of size 1, and `cosine_similarity` repeats it along that axis. The index of the largest cosine in each row is the answer.


# %%
def best_of(pictures, sentences):
    return F.cosine_similarity(pictures, sentences[:, None], dim=2).argmax(dim=1)


check("best_of", best_of)

# %% [markdown]
# How much could choosing help? Suppose that each drawing is correct with probability $p$, independently of the others. Then at least one of $n$ is correct with probability $1 - (1 - p)^n$. A judge that is never wrong would reach that:

# %%
for p in (0.05, 0.1, 0.2):
    print(f"p = {p}: {1 - (1 - p) ** 4:.0%} with 4 drawings, {1 - (1 - p) ** 16:.0%} with 16")

# %% [markdown]
# Two things can keep us below that. CLIP may choose a wrong drawing although there is a correct one. And the drawings aren't independent: they all come from one model, which may misunderstand the same sentence every time.

# %% [markdown]
# (solution-guided-logits)=
# ## Guided logits
#
# The difference of the two logits is what the sentence adds. We begin without the sentence and go `weight` times as far: at 0 it is ignored, at 1 we arrive at the logits with the sentence, and above 1 we go past them.


# %%
def guided_logits(with_sentence, without, weight):
    return without + weight * (with_sentence - without)


check("guided_logits", guided_logits)

# %% [markdown]
# In probabilities, this is $p(c) \cdot \left( p(c \mid s) / p(c) \right)^w$, up to a factor that makes the sum 1. By Bayes' rule the ratio is proportional to $p(s \mid c)$: how well the sentence fits if this code comes next. So there is a classifier after all, although none was trained, and guidance raises its answer to the power $w$ {cite}`ho2022classifier`. (Their own weight counts from 0, and ours is theirs plus 1.)

# %%
torch.manual_seed(0)
given, alone = torch.randn(2, 3, 8, dtype=torch.float64)
guided = guided_logits(given, alone, 3.0).softmax(dim=1)
p_given, p_alone = given.softmax(dim=1), alone.softmax(dim=1)
by_ratio = p_alone * (p_given / p_alone) ** 3
torch.testing.assert_close(guided, by_ratio / by_ratio.sum(dim=1, keepdim=True))

# %% [markdown]
# Where the sentence changes nothing, both logits are equal, and no weight has any effect.

# %% [markdown]
# (solution-unmask-schedule)=
# ## How many codes are still hidden?
#
# The cosine falls slowly at first and fast at the end. So the first steps, which know least, show only a few codes, and the last ones show more. Rounding down could leave as many hidden as before, and then a step would show nothing; `min` takes care of that.


# %%
def unmask_schedule(n, steps):
    hidden = []
    for t in range(1, steps + 1):
        before = hidden[-1] if hidden else n
        by_cosine = math.floor(n * math.cos(math.pi / 2 * (t / steps)))
        hidden.append(min(before - 1, by_cosine))
    return hidden


check("unmask_schedule", unmask_schedule)

# %% [markdown]
# In eight steps, the 36 codes of a picture become known like this:

# %%
hidden = unmask_schedule(36, 8)
shown = [before - after for before, after in zip([36, *hidden], hidden)]
print("still hidden:  ", hidden)
print("shown per step:", shown)
assert sum(shown) == 36 and min(shown) > 0

# %% [markdown]
# With as many steps as codes, `min` decides every time: each step shows one code, as in the GPT. But the order is free.

# %%
assert unmask_schedule(36, 36) == list(range(35, -1, -1))
