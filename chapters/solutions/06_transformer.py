# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 6
#
# First come the solutions for [The Transformer](../06_transformer.ipynb), then those for its [deeper page](../deeper/06_transformer.ipynb). There is more than one correct way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math
from functools import partial
from statistics import mean

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

# %%
from utils.exercises.transformer import check
from utils.exercises.transformer.checkpoint_average import echo_texts
from utils.positions import sinusoidal
from utils.self_attention import dot_product_attention
from utils.seq2seq import BOS, EOS, PAD
from utils.show.display import observe, table
from utils.transformer import (
    DecoderBlock,
    DecoderOnly,
    FeedForward,
    ScaledEmbedding,
    TransformerConfig,
)

# %% [markdown]
# (solution-layer-norm)=
# ## Layer norm
#
# `keepdim=True` keeps the averaged axis, so that the mean broadcasts against $x$ again.


# %%
def layer_norm(x, gain, bias, eps=1e-5):
    deviation = x - x.mean(dim=-1, keepdim=True)
    variance = deviation.square().mean(dim=-1, keepdim=True)
    return gain * deviation / (variance + eps).sqrt() + bias


layer_norm = check("layer_norm", layer_norm)

# %% [markdown]
# `x.var(dim=-1, correction=0, keepdim=True)` returns the same variance. Without `correction=0` it would divide by $D - 1$.

# %% [markdown]
# (solution-block)=
# ## A Transformer block
#
# The norm is on the sublayer's path. The other path, from $x$ to the sum, has nothing on it.


# %%
def block(x, norms, sublayers):
    for norm, f in zip(norms, sublayers):
        x = x + f(norm(x))
    return x


block = check("block", block)

# %% [markdown]
# (solution-decoder-block)=
# ## A decoder block
#
# Only the decoder's stream is normalised, and only its own later words are hidden from it: the encoder's output comes normalised, and all of the source is there from the start.


# %%
def decoder_block(x, memory, real, norms, own, cross, think):
    x = x + own(norms[0](x), is_causal=True)[0]
    x = x + cross(norms[1](x), memory, mask=real)[0]
    return x + think(norms[2](x))


decoder_block = check("decoder_block", decoder_block)

# %% [markdown]
# Your `block` can do it as well: `block(x, norms, [lambda y: own(y, is_causal=True)[0], lambda y: cross(y, memory, mask=real)[0], think])`.

# %% [markdown]
# (solution-write-translation)=
# ## Greedy translation
#
# The source is encoded once. At each step the decoder reads all words so far, and only the logits of the last position are new.


# %%
@torch.no_grad()
def write(model, source, longest=14):
    found, ids = model.encode(source), source.new_full((len(source), 1), BOS)
    for _ in range(longest):
        logits = model.decode(ids, found)  # (B, T, V)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, 1:]


write = check("write_translation", write)

# %% [markdown]
# Each step computes the earlier positions again. Tomorrow's cache keeps their keys and values.

# %% [markdown]
# (solution-decoder-block-parameters)=
# ## Count a decoder block
#
# There are two attention layers of four square matrices each, however many heads they have, one feed-forward layer, and three norms with a gain and a bias. And
# every matrix has a bias.

# %%
D, D_ff = 64, 256
attention = 4 * (D * D + D)
feed_forward = (D * D_ff + D_ff) + (D_ff * D + D)
my_count = 2 * attention + feed_forward + 3 * (D + D)
block = DecoderBlock(TransformerConfig(vocab_size=1, d_model=D, n_heads=4, d_ff=D_ff))
assert my_count == sum(p.numel() for p in block.parameters())
check("decoder_block_parameters", my_count)

# %% [markdown]
# (solution-unscaled-embedding)=
# ## Predict: the embedding's scale
#
# The squares of 512 numbers with a variance of 1/512 sum to about 1. In a position's vector, the squares of each sine and its
# cosine sum to 1, and there are 256 such pairs. So the ratio is $\sqrt{256} = 16$: the symbol is a whisper next to its position.

# %%
torch.manual_seed(0)
symbols = ScaledEmbedding(1000, 512).weight.detach()
ratio = (sinusoidal(1000, 512).norm(dim=1) / symbols.norm(dim=1)).mean().item()
print(f"{ratio:.0f} times as long")
check("unscaled_embedding", 16)

# %% [markdown]
# With the factor, a symbol's vector is about $\sqrt 2$ times as long as its position's.

# %% [markdown]
# (solution-pre-norm-deviation)=
# ## Predict: a pre-norm stack's output
#
# The variances of independent numbers add up: 1 from the input, and 1 from each of 24 sublayers. The standard deviation is $\sqrt{25} = 5$, and the last sublayer
# contributes one part in 25 of the variance. The deeper a pre-norm stack is, the less each further block changes.

# %%
torch.manual_seed(0)
x = torch.randn(10_000)
for _ in range(2 * 12):
    x = x + torch.randn(10_000)
print(f"deviation {x.std().item():.1f}")
check("pre_norm_deviation", 5)

# %% [markdown]
# In a real stack all sublayers read the same growing sum, so their outputs are not independent. The sandwich of {numref}`exercise-sandwich-norm` makes
# the other half of the assumption true: the norm after each sublayer brings its output to a standard deviation of 1.

# %% [markdown]
# (solution-rms-norm)=
# ## RMS norm
#
# RMSNorm subtracts nothing. So the two norms agree where there is nothing to subtract anyway: for any $x$ whose mean is 0. If the outputs of the layer before
# always summed to 0, RMSNorm would be layer norm.


# %%
def rms_norm(x: torch.Tensor, gain: torch.Tensor, eps: float) -> torch.Tensor:
    return gain * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


check("rms_norm", rms_norm)

# %% [markdown]
# (solution-forgotten-mask)=
# ## Predict: a mask forgotten
#
# Without the mask, the answer is in the input, one position further on. The model learns to attend to it. Nothing ever taught it
# what to do without an answer, so with the mask it attends elsewhere and is sure of what it finds.


# %%
def loss_on_digits(model: DecoderOnly, is_causal: bool, seed: int) -> torch.Tensor:
    """Predict each next digit of 32 random texts of 17, with the mask or without."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(10, (32, 17), generator=generator)
    x, _ = model.stack.run(model.stack.embedding(ids[:, :-1]), is_causal=is_causal)
    return F.cross_entropy(model.output(x)[:, :-1].flatten(0, 1), ids[:, 1:-1].flatten())


# %% [markdown]
# The last position is left out: the digit that it has to predict is not in the input, so it can't be read off.

# %%
torch.manual_seed(0)
model = DecoderOnly(
    TransformerConfig(10, d_model=32, n_heads=2, d_ff=64, n_layers=1, norm="pre", dropout=0)
)
optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(200):
    loss = loss_on_digits(model, is_causal=False, seed=step)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

# %%
with torch.no_grad():
    without, with_mask = (
        loss_on_digits(model, is_causal, seed=1000).item() for is_causal in (False, True)
    )
observe(
    "Without the mask the loss is {without:.3f}, with the mask {with_mask:.1f}; ln 10 is {guess:.1f}.",
    without=without,
    with_mask=with_mask,
    guess=math.log(10),
    holds=without < 0.1 and with_mask > 1.5 * math.log(10),
)
check("forgotten_mask", "far above ln 10")

# %% [markdown]
# The warning sign is a training loss that is too good to be true. On digits that nobody can foresee, everything below $\ln 10$ is.

# %% [markdown]
# (solution-shifted-target)=
# ## From sentences to a shifted batch
#
# Start with two tensors full of PAD. Each row gets one symbol more than its sentence has.


# %%
def shifted(targets):
    T = max(len(target) for target in targets) + 1
    read, say = torch.full((2, len(targets), T), PAD)
    for i, target in enumerate(targets):
        n = len(target)
        read[i, : n + 1] = torch.tensor([BOS, *target])
        say[i, : n + 1] = torch.tensor([*target, EOS])
    return read, say


check("shifted_target", shifted)

# %% [markdown]
# (solution-tensor2tensor-positions)=
# ## Sinusoids as they were run
#
# Both ends are included, so the exponent grows from 0 to 1 in $n - 1$ equal steps. The angles deserve double precision:
# single precision keeps few decimals of a large angle.


# %%
def add_waves(x: torch.Tensor, start: int) -> torch.Tensor:
    _, T, d_model = x.shape
    n = d_model // 2
    exponents = torch.arange(n, dtype=torch.float64) / (n - 1)
    places = torch.arange(start, start + T, dtype=torch.float64)
    angles = places[:, None] / 10_000**exponents  # (T, n)
    waves = torch.cat([angles.sin(), angles.cos()], dim=1)
    return x + F.pad(waves, (0, d_model % 2))


check("tensor2tensor_positions", add_waves)

# %% [markdown]
# To the model, these are only the paper's columns in another order, and the matrix that reads them can learn that order. The wavelengths
# do differ; we guess that this matters little, but we haven't tested it.

# %% [markdown]
# (solution-left-padding)=
# ## Padding on the left
#
# Count the real symbols up to each position. The first real symbol is the first one counted, and has position 0.


# %%
def embed(ids: torch.Tensor, symbols: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    real = ids != PAD
    places = (real.cumsum(dim=1) - 1).clamp(min=0)
    x = math.sqrt(symbols.shape[1]) * symbols[ids] + positions[places]
    return x * real[..., None]


check("left_padding", embed)

# %% [markdown]
# (solution-sandwich-norm)=
# ## Sandwich norm
#
# The norms are on the sublayer's path. The other path, from $x$ to the sum, has nothing on it.


# %%
def sandwich(x: torch.Tensor, sublayers: list) -> torch.Tensor:
    def norm(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:])

    for f in sublayers:
        x = x + norm(f(norm(x)))
    return norm(x)


check("sandwich_norm", sandwich)

# %% [markdown]
# (solution-swiglu)=
# ## SwiGLU
#
# One product goes through SiLU; the other doesn't.


# %%
def swiglu(x, W_gate, W_up, W_down) -> torch.Tensor:
    return (F.silu(x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


check("swiglu", swiglu)

# %% [markdown]
# Two matrices of $D \cdot 3072$ weights have as many as three of $D \cdot 2048$: two thirds of the width, whatever $D$ is.

# %%
assert 2 * 3072 == 3 * 2048

# %% [markdown]
# (solution-pairs-against-feed-forward)=
# ## Predict: when all pairs cost most
#
# Each of the two products over all pairs takes $T \cdot T \cdot D$ multiplications, and each matrix of the feed-forward layer $T \cdot D \cdot F$. So they cost the
# same at $T = F$, whatever the width of the model. PyTorch's counter agrees; on the device "meta" it counts without computing.


# %%
def operations(T: int, D: int = 512, d_ff: int = 2048, h: int = 8) -> tuple[int, int]:
    """Count those of the products over all pairs, and those of the feed-forward layer."""
    heads = torch.empty(1, h, T, D // h, device="meta")
    with FlopCounterMode(display=False) as pairs:
        dot_product_attention(heads, heads, heads, need_weights=True)
    with torch.device("meta"), FlopCounterMode(display=False) as positions:
        FeedForward(D, d_ff)(torch.empty(1, T, D))
    return pairs.get_total_flops(), positions.get_total_flops()


# %%
rows = [(T, *operations(T)) for T in (512, 1024, 2048, 4096)]
table(
    [[T, f"{pairs / 1e9:.1f}", f"{positions / 1e9:.1f}"] for T, pairs, positions in rows],
    ["T", "all pairs, billions of operations", "feed-forward layer"],
)

# %%
assert [pairs == positions for _, pairs, positions in rows] == [False, False, True, False]
check("pairs_against_feed_forward", 2048)

# %% [markdown]
# (solution-prefix-mask)=
# ## Prefix language model: the mask
#
# A key can be seen if it is not later than the query, *or* if it is in the prefix. In both cases it must be real.


# %%
def prefix_mask(prefixes: torch.Tensor, lengths: torch.Tensor, T: int) -> torch.Tensor:
    at = torch.arange(T)
    earlier = at[None, :] <= at[:, None]  # (T, T): query, key
    given = at < prefixes[:, None, None]  # (B, 1, T)
    real = at < lengths[:, None, None]
    return (earlier | given) & real


check("prefix_mask", prefix_mask)

# %% [markdown]
# With prefixes of 0 it is a decoder's mask, and with prefixes as long as the sequences an encoder's.

# %% [markdown]
# (solution-smoothed-divergence)=
# ## Label smoothing: a loss that can reach 0
#
# `torch.xlogy(q, q)` is $q \log q$, and 0 where $q$ is 0.


# %%
def smoothed_divergence(logits, target, real, prior, smoothing: float) -> torch.Tensor:
    right = F.one_hot(target, len(prior)).to(prior)
    q = (1 - smoothing) * right + smoothing * prior  # (B, T, V)
    terms = torch.xlogy(q, q) - q * logits.log_softmax(dim=-1)
    return terms.sum(dim=-1)[real].mean()


check("smoothed_divergence", smoothed_divergence)

# %% [markdown]
# The entropy that is subtracted doesn't depend on the model. So the gradient is that of the cross-entropy, and both
# train alike. Only the printed number changes its meaning: whatever is left above 0 is the model's fault.

# %% [markdown]
# (solution-cosine-schedule)=
# ## Warm-up and cosine decay
#
# After the peak, compute how much of the fall is already done: a share from 0 to 1, and no more than 1.


# %%
def rate(step: int, peak: float, warmup: int, total: int, floor: float) -> float:
    if step <= warmup:
        return peak * step / warmup
    progress = min(1, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2


check("cosine_schedule", rate)

# %% [markdown]
# (solution-layer-norm-gradient)=
# ## Layer norm: the backward pass
#
# Write $h = g \odot \partial L / \partial y$, the gradient with respect to $\hat x$, and $s = \sqrt{\sigma^2 + \varepsilon}$. Directly, $x$ gets $h / s$. Through $\mu$, which is
# subtracted from all, each number of $x$ gets the mean of $-h/s$. Through $s$, which divides all, it gets $-\hat x / s$ times the mean of $h \odot \hat x$. Together:
#
# $$
# \frac{\partial L}{\partial x} = \frac{1}{s}\Big( h - \overline{h} - \hat x\, \overline{h \odot \hat x} \Big).
# $$


# %%
def layer_norm_gradient(x, gain, eps: float, grad_y) -> tuple:
    s = (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt()
    normed = (x - x.mean(dim=-1, keepdim=True)) / s
    h = grad_y * gain
    pull = normed * (h * normed).mean(dim=-1, keepdim=True)
    grad_x = (h - h.mean(dim=-1, keepdim=True) - pull) / s
    return grad_x, (grad_y * normed).sum(dim=(0, 1)), grad_y.sum(dim=(0, 1))


check("layer_norm_gradient", layer_norm_gradient)

# %% [markdown]
# If the same number is added to all of $x$, the mean removes it again and $y$ doesn't change. So the loss can't change in that direction, and
# therefore the gradient sums to 0. Nearly the same holds for stretching $x$; there, $\varepsilon$ keeps it from being exact.

# %% [markdown]
# (solution-checkpoint-average)=
# ## Average checkpoints
#
# `zip` goes through all checkpoints at once, one parameter at a time.


# %%
def average(checkpoints: list[list[torch.Tensor]], last: int) -> list[torch.Tensor]:
    return [torch.stack(versions).mean(dim=0) for versions in zip(*checkpoints[-last:])]


check("checkpoint_average", average)

# %% [markdown]
# The loss leaves out the first two symbols, which can't be predicted.


# %%
def excess(model: DecoderOnly, texts: torch.Tensor, surprise: float) -> torch.Tensor:
    """Return how far the model's loss is above the lowest possible one."""
    logits, _ = model(texts[:, :-1])
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), texts[:, 2:].flatten()) - surprise


# %% [markdown]
# Training follows the exercise: the texts are new at each step.


# %%
def train(language: int) -> tuple[DecoderOnly, list[list[torch.Tensor]]]:
    torch.manual_seed(language)
    sizes = dict(d_model=32, n_heads=2, d_ff=64, n_layers=1)
    model = DecoderOnly(TransformerConfig(6, norm="pre", dropout=0, **sizes))
    optimiser, checkpoints = torch.optim.Adam(model.parameters(), lr=0.01), []
    for step in range(1, 401):
        loss = excess(model, *echo_texts(16, 24, language, seed=step))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 10 == 0:
            checkpoints.append([p.detach().clone() for p in model.parameters()])
    return model, checkpoints


# %% [markdown]
# Each set of parameters is judged on a thousand new texts.


# %%
@torch.no_grad()
def judge(model: DecoderOnly, weights: list[torch.Tensor], language: int) -> float:
    for parameter, weight in zip(model.parameters(), weights):
        parameter.copy_(weight)
    return excess(model, *echo_texts(1000, 24, language, seed=0)).item()


# %%
found = {}
for language in range(3):
    model, checkpoints = train(language)
    of = partial(judge, model, language=language)
    found[language] = {
        "newest": of(checkpoints[-1]),
        "mean loss of the last five": mean(map(of, checkpoints[-5:])),
        "loss of the mean of five": of(average(checkpoints, 5)),
        "loss of the mean of all": of(average(checkpoints, len(checkpoints))),
    }

# %%
single, five, whole = (
    [row[name] for row in found.values()] for name in list(found[0])[1:]
)  # of three languages each
observe(
    "The mean of the last five checkpoints is {five:.4f} nats above the lowest possible loss. The five themselves are {single:.4f} above it on average, and the mean of all is "
    "{whole:.4f} above it. Means of three languages.",
    five=mean(five),
    single=mean(single),
    whole=mean(whole),
    holds=1.25 * mean(five) < mean(single) < mean(whole) / 2,
)

# %% [markdown]
# On average over three languages, the mean of the last five checkpoints is closer to the lowest possible loss than the five themselves; the mean of all is further away. At a constant rate the parameters never come to rest. They circle a good point, each checkpoint on another side of it, and the mean of a few is nearer to the middle than they are.
# Its loss is not the mean of their losses: near a minimum the loss curves upwards, so the loss of a mean is below the mean of the losses. Averaging doesn't help while the checkpoints are still on their way, all on one side. That is
# why the mean of all, with its long way from the start, is far from good. And where the rate falls to 0, there is little left to average.
