# %% [markdown]
# # Solutions of Day 9
#
# To the exercises of [GPT](../09_gpt.ipynb), then to those of its [deeper page](../deeper/09_gpt.ipynb). There is more than one correct way. A solution is good if the check passes and you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch.nn import functional as F

from utils.exercises.gpt import check
from utils.show.display import observe
from utils.training.metrics import bits_per_byte
from utils.training.sampling import temperature, top_p

# %% [markdown]
# (solution-next-token-loss)=
# ## The next-token loss at every position
#
# The logits at $t$ predict the token at $t + 1$. So drop the last logits, which have no target, and the first token, which is never a target: what remains lines up. Trimming both at the same end, `cross_entropy(logits[:, :-1], ids[:, :-1])`, would ask each position for the token that it has just read. The mean is taken over all real targets, not over texts; otherwise a token in a short text would count for more.


# %%
def next_token_loss(logits, ids):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)


next_token_loss = check("next_token_loss", next_token_loss)

# %% [markdown]
# A model that knows nothing gives all $V$ tokens the same logit, and its loss is $\ln V$:

# %%
ids = torch.randint(1, 516, (4, 65))
loss = next_token_loss(torch.zeros(4, 65, 516), ids).item()
assert math.isclose(loss, math.log(516), rel_tol=1e-5)

# %% [markdown]
# (solution-forward)=
# ## GPT's forward pass
#
# The same table is used twice: its rows embed the input, and the last vectors are compared with them. The blocks add to the residual stream by themselves, so each one reads what the one before has left there. Nothing in this function hides the future; the blocks do that.


# %%
def gpt(ids, table, blocks, norm):
    x = math.sqrt(table.shape[1]) * F.embedding(ids, table)
    for block in blocks:
        x = block(x)
    return F.linear(norm(x), table)


gpt = check("forward", gpt)

# %% [markdown]
# (solution-next-chances)=
# ## The probabilities of the next token: temperature and top-p
#
# A token stays if the probabilities of all likelier tokens add up to less than $p$. So the likeliest one always stays. `order` says which position each sorted probability came from, and so takes the cut back there. Instead of scaling what is left, this solution sets the other logits to $-\infty$ and takes the softmax once more.


# %%
def next_chances(logits, tau, p):
    logits = logits / tau
    likely, order = logits.softmax(dim=0).sort(descending=True)
    late = order[likely.cumsum(dim=0) - likely >= p]
    return logits.index_fill(0, late, -math.inf).softmax(dim=0)


next_chances = check("next_chances", next_chances)

# %% [markdown]
# Does the order matter? With a low temperature first, a few tokens hold nearly all the probability; with top-p first, tokens come in that the temperature would have shut out. The book's filters do the same with logits:

# %%
logits = torch.tensor([2.0, 1.2, 0.6, 0.2, -0.6, -1.0])
found = top_p(temperature(logits, 0.7), 0.8).softmax(dim=0)
torch.testing.assert_close(next_chances(logits, 0.7, 0.8), found)
late = top_p(logits, 0.8).isfinite().sum().item()
print((found > 0).sum().item(), "tokens are left; with top-p before the temperature", late)

# %% [markdown]
# (solution-half-and-half)=
# ## Half and half: the mixture of two language models
#
# Turn the surprises into probabilities, take their mean, and turn it back into a surprise. In logarithms this can't underflow: $\ln(e^{a} + e^{b})$ is `logaddexp`.


# %%
def half_and_half(ours, theirs):
    return math.log(2) - torch.logaddexp(-ours, -theirs)


half_and_half = check("half_and_half", half_and_half)

# %% [markdown]
# Take two models and two tokens: each model is nearly certain of one token and lost at the other. The mean of their surprises is what it would cost to choose the model by a coin; the mixture costs far less.

# %%
ours, theirs = torch.tensor([0.1, 6.0]), torch.tensor([6.0, 0.1])
print(
    f"{half_and_half(ours, theirs).mean():.2f} nats per token, not {(ours + theirs).mean() / 2:.2f}"
)

# %% [markdown]
# (solution-blocks-to-copy)=
# ## Predict: how many blocks does copying take?
#
# Two. With one block, a head can find where the current letter occurred before. But it needs the letter *after* that, and no position knows yet which letter came before its own. A first block has to write that down; then a second one can search for it.

# %%
my_blocks = 2

check("blocks_to_copy", my_blocks)

# %% [markdown]
# (solution-future-positions)=
# ## Predict: how far does a new token reach?
#
# Three: the third position itself, and the two after it. The first two can't see it. The second has it as its *target*, but a target goes into the loss, not into the logits.

# %%
my_positions = 3

check("future_positions", my_positions)

# %% [markdown]
# (solution-bits-per-byte)=
# ## Predict: bits per byte
#
# A perplexity of 32 is a choice among 32 equally likely tokens, and that takes $\log_2 32 = 5$ bits. These 5 bits pay for 2.5 bytes.

# %%
my_bits = math.log2(32) / 2.5

check("bits_per_byte", my_bits)

# %%
print(bits_per_byte(math.log(32), n_tokens=2, n_bytes=5))

# %% [markdown]
# (solution-write)=
# ## Write with a key–value cache
#
# At first the whole prompt is new, and after that one token at a time, so each token is read once. A new token comes after everything that has been read, so `start` is the length of the text without it. However many tokens are new, only the logits at the last one count.


# %%
def write(begin, prompt, n, choose):
    read, text, start = begin(), list(prompt), 0
    for _ in range(n):
        logits = read(torch.tensor([text[start:]]), start)
        start = len(text)
        text.append(choose(logits[0, -1]))
    return text


check("write", write)

# %% [markdown]
# If the position were reset to 0, a model with rotary positions would rotate the new query as if it came first, and all its distances to the cached keys would be wrong. No error is raised; the text only gets worse. That is why this mistake is so common.

# %% [markdown]
# (solution-gated-width)=
# ## SwiGLU: a gate's fair width
#
# The plain layer has $2 D F$ weights, the gated one $3 D F'$. So $F' = \frac{2}{3} F$; for the usual $F = 4D$ that is $\frac{8}{3} D$, the odd number in today's configurations. With integers, you round up by negating, rounding down, and negating again.


# %%
def gated_width(d_ff: int, multiple: int) -> int:
    return -(-2 * d_ff // (3 * multiple)) * multiple


check("gated_width", gated_width)

# %% [markdown]
# Llama's first model is 4,096 wide, and rounds to multiples of 256:

# %%
print(gated_width(4 * 4096, 256))

# %% [markdown]
# (solution-qk-norm)=
# ## Query–key norm: normed queries and keys
#
# Each vector is divided by the root mean square of its own numbers, and multiplied by its gain. With gains of 1 a normed vector has the length $\sqrt{d_k}$, so a product of two is at most $d_k$, and a score at most $d_k / \sqrt{d_k} = \sqrt{d_k}$. The gains let a head be sharper than that, if it pays. Here only their product $g_q \odot g_k$ counts; with rotary positions, which rotate queries and keys after the gains are applied, each of the two matters.


# %%
def qk_norm_scores(q, k, g_q, g_k, eps):
    def normed(x, gain):
        return gain * x * (x.square().mean(dim=-1, keepdim=True) + eps).rsqrt()

    return normed(q, g_q) @ normed(k, g_k).mT / math.sqrt(q.shape[-1])


check("qk_norm", qk_norm_scores)

# %%
torch.manual_seed(0)
q, k, one = 100 * torch.randn(1, 1, 50, 16), torch.randn(1, 1, 50, 16), torch.ones(16)
most = qk_norm_scores(q, k, one, one, 1e-6).abs().max().item()
observe(
    "The largest of 2,500 scores between long vectors, 16 wide, is {most:.1f}; the bound is {bound:.0f}.",
    most=most,
    bound=math.sqrt(16),
    holds=most <= math.sqrt(16),
)

# %% [markdown]
# (solution-neighbouring-pairs)=
# ## Llama's rotary pairs: from halves to neighbours
#
# In each head, row $i$ and row $i + d_k/2$ rotate together. Cut a head's rows into two halves, and take from them in turn: 0, $d_k/2$, 1, $d_k/2 + 1$ … Queries and keys are reordered in the same way, so their products stay as they were. Values aren't rotated.


# %%
def neighbouring_pairs(W_q, W_k, W_v, n_heads, n_kv_heads):
    def dealt(W, n):
        first, second = W.unflatten(0, (n, -1)).chunk(2, dim=1)  # (n, d_k / 2, D) each
        return torch.stack([first, second], dim=2).flatten(0, 2)

    return dealt(W_q, n_heads), dealt(W_k, n_kv_heads), W_v


check("neighbouring_pairs", neighbouring_pairs)

# %% [markdown]
# (solution-c-attn)=
# ## GPT-2's c_attn: three matrices from one
#
# A library that computes $x W$ stores the transpose of the matrix that $W x$ needs. The thirds are side by side in its columns, and one below the other in ours.


# %%
def from_c_attn(weight, bias):
    D = len(weight)
    parts = [(weight[:, i : i + D].T, bias[i : i + D]) for i in (0, D, 2 * D)]
    return tuple(x for part in parts for x in part)


check("c_attn", from_c_attn)

# %% [markdown]
# (solution-shard-gradients)=
# ## Data parallelism: the gradient of the whole batch
#
# The mean over all examples is $\frac{1}{n} \sum_r n_r \bar g_r$: each process counts as many times as it has examples. With equal shards that is the mean of the means.


# %%
def whole_gradient(gradients, sizes):
    n = sum(sizes)
    return [
        sum(size / n * g for size, g in zip(sizes, of_all, strict=True))
        for of_all in zip(*gradients, strict=True)
    ]


check("shard_gradients", whole_gradient)

# %% [markdown]
# (solution-prefix-matching)=
# ## Induction heads: the prefix-matching score
#
# The symbol that followed an earlier occurrence is one position to its right, so shift the table of equal symbols by one position. Rows in which nothing is marked have nothing to find, and are left out.


# %%
def prefix_matching(weights, ids):
    earlier = (ids[:, :, None] == ids[:, None]).tril(-1)
    followed = F.pad(earlier, (1, 0))[:, :, :-1]
    asked = followed.any(dim=2)
    return (weights * followed).sum(dim=2)[asked].mean()


check("prefix_matching", prefix_matching)
