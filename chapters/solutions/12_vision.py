# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 12
#
# To the exercises of [Vision](../12_vision.ipynb), then to those of its [deeper page](../deeper/12_vision.ipynb). There is more than one correct way. A solution is good if the check passes and you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.vision import check
from utils.measure.costs import work
from utils.show.display import observe
from utils.transformer import EncoderBlock, TransformerConfig

# %% [markdown]
# (solution-patches)=
# ## Patches
#
# A view can cut an axis in two, but it can't move a number. So there are three moves: cut $H$ into rows of patches and rows within a patch, and $W$ in the same way; bring the axes into the order in which the numbers are to be read; and only then flatten. The order of the six axes says it all: picture, patch row, patch column, channel, row, column.


# %%
def patches(images, patch_size):
    cut = images.unflatten(3, (-1, patch_size)).unflatten(2, (-1, patch_size))
    B, C, rows, P, columns, _ = cut.shape
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, rows * columns, C * P * P)


patches = check("patches", patches)

# %% [markdown]
# Does the order within a patch matter? To the network it doesn't: it learns one weight for each number, wherever it is. But it decides which weights fit. In this order they are a kernel's, so a convolution's weights can be loaded, and `unfold`, which collects what a kernel sees, gives the same numbers in columns.

# %%
torch.manual_seed(0)
images = torch.rand(2, 3, 24, 12)
conv = nn.Conv2d(3, 8, kernel_size=4, stride=4)
tokens = F.linear(patches(images, 4), conv.weight.flatten(1), conv.bias)
torch.testing.assert_close(tokens, conv(images).flatten(2).mT)
torch.testing.assert_close(patches(images, 4), F.unfold(images, 4, stride=4).mT)

# %% [markdown]
# (solution-class-and-positions)=
# ## Class token and positions
#
# There is one class token for all pictures, so it is repeated along the batch, with `expand`, which copies nothing. It has to be in front *before* the positions are added. Otherwise the first patch would get the row $p_0$, and the class token would get none.


# %%
def class_and_positions(tokens, class_token, positions):
    first = class_token.expand(tokens.shape[0], 1, -1)
    return torch.cat([first, tokens], dim=1) + positions


class_and_positions = check("class_and_positions", class_and_positions)

# %% [markdown]
# One addition serves all pictures: the positions have no batch axis, so the same table is added to each. And because the class token is the same in every picture, its own row $p_0$ could be merged into it. The row exists only so that every position is treated the same way.

# %% [markdown]
# (solution-contrastive-loss)=
# ## The contrastive loss
#
# Divided by their lengths, the vectors' dot products are cosines. Row $i$ of the table is a classification with $B$ classes, and its target is $i$. Column $i$ is another one with the same target, and transposing the table makes rows of its columns.


# %%
def contrastive_loss(image_features, text_features, temperature):
    logits = F.normalize(image_features) @ F.normalize(text_features).T / temperature
    own = torch.arange(len(logits), device=logits.device)
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


contrastive_loss = check("contrastive_loss", contrastive_loss)

# %% [markdown]
# If all vectors are equal, nothing can be told apart, and the loss is that of a guess among $B$. And if all pairs fit perfectly? Even then it depends on the temperature: cosines reach from $-1$ to $1$, so at $\tau = 1$ a softmax can't be sure of anything.

# %%
B = 16
same, apart = torch.ones(B, 32), torch.eye(B, 32)
assert math.isclose(contrastive_loss(same, same, 0.07).item(), math.log(B), rel_tol=1e-5)
warm, cold = (contrastive_loss(apart, apart, tau).item() for tau in (1.0, 0.07))
print(f"16 perfect pairs: a loss of {warm:.2f} at a temperature of 1, {cold:.5f} at 0.07")

# %% [markdown]
# Are both ways needed? A softmax doesn't change if the same number is added to all of its logits. So a picture that fits *all* sentences a little too well costs nothing in its own row. The columns notice it, since there it competes with the other pictures. For a sentence that fits all pictures, it is the rows that notice.

# %% [markdown]
# (solution-zero-shot)=
# ## Zero-shot classification
#
# This is one row of the same table, with sentences that we choose. There is no loss and no diagonal, and $n$ has nothing to do with $B$. Without the division by the lengths, a sentence could win just by having a long vector.


# %%
def zero_shot(image_features, text_features, temperature):
    similarity = F.cosine_similarity(image_features[:, None], text_features, dim=-1)  # (B, n)
    return (similarity / temperature).softmax(dim=1)


zero_shot = check("zero_shot", zero_shot)

# %% [markdown]
# The most similar sentence is the same at any temperature. The temperature decides how sure the answer sounds:

# %%
picture, sentences = torch.randn(1, 8), torch.randn(4, 8)
sure = {tau: zero_shot(picture, sentences, tau) for tau in (1.0, 0.07)}
assert sure[1.0].argmax() == sure[0.07].argmax() and sure[1.0].max() < sure[0.07].max()

# %% [markdown]
# (solution-cost-of-patches)=
# ## Predict: what do smaller patches cost?
#
# Half the side means four times as many patches, so the matrices cost four times as much, and the pairs sixteen times, since each patch is paired with all of them, itself included. But which of the two parts is larger? Divided by $D$, a patch costs $12 D = 9{,}216$ in the matrices and $2 n = 392$ in the pairs. So the factor is much nearer to 4 than to 16.

# %%
D, few, many = 768, (224 // 16) ** 2, (224 // 8) ** 2
my_factor = many * (12 * D + 2 * many) / (few * (12 * D + 2 * few))

check("cost_of_patches", my_factor)

# %% [markdown]
# We count the operations of one such block:

# %%
sizes = {"d_model": D, "n_heads": 12, "d_ff": 4 * D, "n_layers": 1, "dropout": 0.0}
block = EncoderBlock(TransformerConfig(vocab_size=1, **sizes)).eval()
counted = {}
for n in (few, many):
    x = torch.zeros(1, n, D)
    counted[n] = work(lambda x=x: block(x)).products
observe(
    "With {few} patches, one block takes {small:.2f} billion operations; with {many}, it takes {large:.2f} billion: {factor:.2f} times as many.",
    few=few,
    many=many,
    small=counted[few] / 1e9,
    large=counted[many] / 1e9,
    factor=counted[many] / counted[few],
    holds=abs(counted[many] / counted[few] - my_factor) < 1e-6,
)

# %% [markdown]
# Halve it again, and the pairs catch up: with $n = 3{,}136$ patches, $2n$ is two thirds of $12 D$.

# %% [markdown]
# (solution-unpatch)=
# ## Unpatch
#
# The same moves, in reverse: name the axes that the flattening hid, bring them back, and merge each pair. The patch's side follows from the other sizes: $C P^2$ numbers make a patch. Within the axis of patches, the number of *columns* has to come last, since patches go row by row.


# %%
def unpatch(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    named = patches.unflatten(2, (C, P, P)).unflatten(1, (H // P, W // P))
    return named.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)


check("unpatch", unpatch)

# %%
assert torch.equal(unpatch(patches(images, 4), 3, 24, 12), images)
torch.testing.assert_close(
    unpatch(patches(images, 3), 3, 24, 12),
    F.fold(patches(images, 3).mT, (24, 12), kernel_size=3, stride=3),
)

# %% [markdown]
# (solution-recall-at-k)=
# ## Recall at k
#
# We don't need to sort. The own sentence is among the $k$ nearest if fewer than $k$ sentences are more similar. `gather` picks each picture's own similarity out of its row, whichever column it is in.


# %%
def recall_at_k(similarity, own, k):
    its = similarity.gather(1, own[:, None])  # (B, 1)
    better = (similarity > its).sum(dim=1)
    return (better < k).double().mean().item()


check("recall_at_k", recall_at_k)

# %% [markdown]
# A guess gets $k/n$, so always say how many sentences there were to choose from:

# %%
torch.manual_seed(0)
guessed = recall_at_k(torch.rand(20_000, 50), torch.randint(50, (20_000,)), 5)
print(f"guessing, 5 of 50: {guessed:.2f}")

# %% [markdown]
# (solution-told-apart)=
# ## Told apart
#
# Each of the two questions has two halves, and both have to be answered correctly. If one half were enough, a model that always prefers the same sentence would get every pair. A tie is not an answer: to a bag of words, the two sentences *are* the same sentence, and it should get no pair at all. Thrush et al. {cite}`thrush2022winoground` collected 400 such pairs of photographs and sentences, and none of the models that they tried did much better than a guess.


# %%
def told_apart(similarity):
    own = similarity.diagonal(dim1=1, dim2=2)  # (n, 2)
    of_pictures = similarity[:, [0, 1], [1, 0]]  # of each picture to the other's sentence
    of_sentences = similarity[:, [1, 0], [0, 1]]  # of each sentence to the other's picture
    sentences = (own > of_pictures).all(dim=1)
    pictures = (own > of_sentences).all(dim=1)
    both = sentences & pictures
    return tuple(found.double().mean().item() for found in (sentences, pictures, both))


check("told_apart", told_apart)

# %% [markdown]
# What would guessing get? With four random similarities, a quarter for each of the first two questions. For both together the own two have to be the two largest of four, which is so in one of six cases: more than a quarter of a quarter.

# %%
torch.manual_seed(0)
random = told_apart(torch.rand(60_000, 2, 2))
print("guessing:", ", ".join(f"{share:.2f}" for share in random))
assert all(abs(a - b) < 0.01 for a, b in zip(random, (1 / 4, 1 / 4, 1 / 6)))

bag = torch.rand(1000, 2, 1).expand(-1, -1, 2)  # both sentences get the same similarity
assert told_apart(bag)[0] == 0

# %% [markdown]
# (solution-position-likeness)=
# ## The likeness of positions
#
# All cosines are one product of matrices. The only difficulty is where they belong: the table has a row and a column for each *position in the sequence*, and patches are numbered row by row, so each of its two axes is cut into rows and columns of the plane.


# %%
def position_likeness(positions, rows, columns):
    p = F.normalize(positions[1:], dim=1).unflatten(0, (rows, columns))
    return torch.einsum("ijd,kld->ijkl", p, p)


check("position_likeness", position_likeness)

# %% [markdown]
# What would it look like if each position were the sum of a vector for its row and a vector for its column? A cross: half of the numbers agree with every patch in the same row, and half with every patch in the same column. Dosovitskiy et al. {cite}`dosovitskiy2021image` saw such crosses in their figure 7.

# %%
torch.manual_seed(0)
of_rows, of_columns = torch.randn(4, 1, 4096), torch.randn(1, 4, 4096)
crossed = torch.cat([torch.randn(1, 4096), (of_rows + of_columns).flatten(0, 1)])
print(position_likeness(crossed, 4, 4)[1, 2].round(decimals=1) + 0.0)

# %% [markdown]
# (solution-attention-distance)=
# ## Attention distance
#
# A head's weights are probabilities, so the sum of weight times distance is an expected distance. The class token has no position in the plane, so it leaves both as a query and as a key. What it received has to be shared out among the rest: otherwise a head that mostly looks at the class token would seem to look near.


# %%
def attention_distance(weights, rows, columns):
    at = torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).double()  # (n, 2)
    far = (at[:, None] - at).norm(dim=2)
    weights = F.normalize(weights[:, :, 1:, 1:], p=1, dim=3)
    return torch.einsum("bhqk,qk->bhq", weights.double(), far).mean(dim=(0, 2))


check("attention_distance", attention_distance)

# %% [markdown]
# What does the number mean? Compare it with a head that looks at all patches alike. A head far below that number looks at its neighbourhood.

# %%
alike = torch.full((1, 1, 17, 17), 1 / 17)
observe(
    "A head that attends to all 16 patches alike has an attention distance of {far:.2f} patches.",
    far=attention_distance(alike, 4, 4).item(),
    holds=abs(attention_distance(alike, 4, 4).item() - 2) < 0.05,
)

# %% [markdown]
# (solution-roll-out)=
# ## Roll-out
#
# Row $t$ of a layer's matrix says of which inputs its output $t$ is mixed. These inputs are mixtures themselves, so the matrices are multiplied, with the later layer on the left. Only the class token's row is needed, so we can carry a single vector down from the last layer to the first, which is cheaper than a product of matrices.


# %%
def roll_out(weights):
    mixture = F.one_hot(torch.tensor(0), weights.shape[-1]).to(weights.dtype)
    for layer in weights.mean(dim=1).flip(0):
        mixture = (mixture @ layer + mixture) / 2
    return mixture[1:]


check("roll_out", roll_out)

# %% [markdown]
# It knows nothing of values, of the sizes of vectors, or of the feed-forward layers. Half and half is an assumption, too: the residual path may carry nine tenths. So it is an estimate of what *could* have arrived. What the answer depends on is another question, which the next exercise asks directly.

# %% [markdown]
# (solution-occlusion)=
# ## Occlusion
#
# Every patch is hidden in a fresh copy of the picture. The copies make one batch, so the model is called only twice. The result depends on the value that is painted: black is harmless where the ground is black, and is a strange dark square in a photograph.


# %%
def occlusion(score, image, patch_size, value):
    P, (_, H, W) = patch_size, image.shape
    hidden = []
    for top in range(0, H, P):
        for left in range(0, W, P):
            copy = image.clone()
            copy[:, top : top + P, left : left + P] = value
            hidden.append(copy)
    falls = score(image[None]) - score(torch.stack(hidden))
    return falls.reshape(H // P, W // P)


check("occlusion", occlusion)

# %% [markdown]
# For a linear score nothing is lost by asking patch by patch: painted black, each patch takes away its own part, and the parts add up to the whole. A network isn't linear, and there they needn't: two patches that say the same thing can each be hidden at no cost.

# %%
w, image = torch.randn(2, 3, 6, 9)
falls = occlusion(lambda images: (images * w).sum(dim=(1, 2, 3)), image, 3, 0.0)
torch.testing.assert_close(falls.sum(), (image * w).sum())

# %% [markdown]
# (solution-several-ways)=
# ## A class in several ways
#
# Only directions count in CLIP's space, so each sentence first becomes a direction. Their mean points between them, and it is shorter than 1 unless they all agree. Whether it is a sum or a mean makes no difference, because it is divided by its length anyway.


# %%
def several_ways(sentences):
    return F.normalize(F.normalize(sentences, dim=2).sum(dim=1), dim=1)


check("several_ways", several_ways)

# %% [markdown]
# Why is the last division needed? Without it, a class whose sentences disagree would have a shorter vector, and with it smaller similarities to every picture.
