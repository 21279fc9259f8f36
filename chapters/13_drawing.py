# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 13: Drawing: a sentence becomes a picture
#
# **Today's question:** how can a network that writes one token after another draw a picture?
#
# After today you can
#
# - write a picture as 36 codes, with an encoder, a codebook and a decoder,
# - pass a gradient through a choice that has none,
# - explain why a codebook collapses, and measure how much of it is in use,
# - put a sentence and its picture in one row, for Day 9's GPT to learn,
# - sample a picture with a temperature, and let CLIP choose the best drawing.
#
# Today builds on [Day 1](01_convolution.ipynb)'s convolutions, [Day 9](09_gpt.ipynb)'s GPT and [Day 12](12_vision.ipynb)'s scenes and CLIP. It takes 47 minutes to read and 31 to write five functions; the exercises at its end take another half an hour. At the end you type a sentence, and a model on this page draws sixteen pictures of it, best first.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import drawing
from utils.data.scenes import drawn, say, scenes, shows, understand
from utils.drawing import Quantised, perplexity_of_codes
from utils.exercises.drawing import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe
from utils.show.mechanisms import drawing as mechanisms
from utils.show.plotting import curves, heat_map, image_grid, use_book_style
from utils.show.views import guess, models, quiz, say_and_draw
from utils.tasks import captions
from utils.tasks import drawing as task
from utils.tasks import scenes as naming
from utils.tasks import scenes_in_codes as coding

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("13_drawing")

# %% [markdown]
# ## Where we stand
#
# *4 minutes.* Yesterday, a network found the sentence for a picture. Today we go the other way: given a sentence, find a picture. Why not turn the network around: a sentence in, 24 × 24 pixels out, and the squared error as its loss? Let us try. Its input is the count of each word in the sentence, and it learns from 2,000 scenes of one thing. (Today, things lie on a grid with cells of 4 × 4 pixels; soon we cut pictures along it.)

# %%
symbols = task.vocabulary()
one_thing = scenes(2000, seed=0, n_things=(1,))
targets = drawn(one_thing, seed=0, grid=coding.GRID)  # (2000, 3, 24, 24)


def word_counts(sentences):
    ids, _ = captions.as_ids(sentences)  # (B, T)
    return F.one_hot(ids, symbols.n_words).sum(dim=1).float()  # (B, words)


# %% tags=["training"]
known = word_counts([say(scene) for scene in one_thing])
torch.manual_seed(0)
pixels = nn.Linear(128, 3 * 24 * 24)
backwards = nn.Sequential(
    nn.Linear(symbols.n_words, 128), nn.ReLU(), pixels, nn.Unflatten(1, (3, 24, 24))
)
optimiser = torch.optim.Adam(backwards.parameters(), lr=1e-3)
for _ in range(400):
    rows = torch.randint(len(known), (64,))
    loss = F.mse_loss(backwards(known[rows]), targets[rows])
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

# %%
sentences = ["a red three", "a small blue circle"]
many = [drawn([understand(sentence)] * 500, seed=0, grid=coding.GRID) for sentence in sentences]
with torch.no_grad():
    answers = backwards(word_counts(sentences)).clamp(min=0)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The network answers with a smear. Three drawings of each sentence, the mean of 500 drawings, and the network's answer. The last two are brightened.", "name": "fig-draw-means"}, "image": {"alt": "Two rows of five pictures. First, three red threes at different positions, then a red pattern all over the picture, without any form, and another that is rougher and as formless. Then the same with blue circles."}}
pictures = []
for drawings_of, answer in zip(many, answers):
    pictures += [*drawings_of[:3], *(of / of.max() for of in (drawings_of.mean(dim=0), answer))]
image_grid(pictures, ["1", "2", "3", "mean", "network"] * 2, columns=5)
plt.show()

# %% [markdown]
# The network isn't to blame. A sentence has many pictures: *a red three* may be at any position, in any handwriting. If several answers are correct, the squared error is smallest for their mean, and the mean of all red threes is a red smear.
#
# A writer of text doesn't have this problem. Asked how a sentence goes on, Day 9's GPT gives a probability to each possible token, **samples one of them**, and goes on from there. If it could draw, it would continue the left half of a three with the right half of the same three.
#
# So let a GPT write the picture. If each number were a token, a picture would have 24 · 24 · 3 = 1,728 of them, and attention compares each with all before it.

# %% tags=["view"]
guess(
    "A picture is written in 1,728 tokens or in 36. How many times as many attention scores does the longer row need?",
    ["about 50", "about 2,300", "about 80,000"],
    right="about 2,300",
    because=f"There are {1728 / 36:.0f} times as many tokens, and each is compared with {1728 / 36:.0f} times as many: {(1728 / 36) ** 2:,.0f} times as many scores.",
)

# %% [markdown]
# So a picture needs a shorter spelling.
#
# ## The idea
#
# *2 minutes.* An **autoencoder** is a network that returns its input, by way of something smaller. Its **encoder** turns the picture into 6 × 6 vectors, one for each patch of 4 × 4 pixels. Each vector is replaced by the nearest of 256 learned ones, the **codebook**, and only its number is kept: the **code**. Its **decoder** draws the picture from the codes. To replace a vector by the nearest of a list is called *vector quantisation*, hence the name: a **VQ-VAE** {cite}`oord2017neural`. (VAE, variational autoencoder, is an earlier kind.)
#
# This decoder doesn't draw smears, because it needn't guess. Its codes tell it which three, and where.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A picture fits into 36 symbols. The encoder returns a vector for each patch, and the codebook turns each vector into a number. The decoder draws a picture from the numbers. The cells of the most frequent code aren't shaded.", "name": "fig-draw-parts"}, "image": {"alt": "On the left is a black picture with a red three. An arrow, encoder, leads to a grid of six by six numbers, and an arrow, decoder, from there to a picture that looks nearly the same."}}
held = models.load("drawing_codes")
coder = coding.restored_autoencoder(held.weights)
example = many[0][:1]
with torch.no_grad():
    codes = coder.encode(example)  # (1, 36)
    mechanisms.three_parts(example[0], codes[0], coder.decode(codes)[0])
plt.show()

# %% [markdown]
# Then a GPT learns rows that begin with a sentence and go on with the codes of its picture. Between the two is a **mark**, a symbol that says: the picture begins here. To draw, we give it a sentence, and it continues. That is the first **DALL·E** {cite}`ramesh2021zero`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One row for both: words (blue), padding, a mark (yellow), and codes (orange), whose ids come after those of the words. Lowest line: the loss gives 1/8 to the mean over words and 7/8 to that over codes; the first symbol, padding and the mark don't count.", "name": "fig-draw-row"}, "image": {"alt": "A row of boxes: a, red, three, pad, mark, three codes, and dots. Below are their ids. The lowest row is the loss: one eighth under red and three, seven eighths under the codes; the cells under a, pad and mark are hatched."}}
said = "a red three".split()
ids = captions.as_ids([" ".join(said)])[0][0].tolist()
mechanisms.shared_row(said, ids, codes[0, :3].tolist(), n_words=symbols.n_words, mark=symbols.mark)
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Codes: the nearest vector
#
# *8 minutes, 6 of them yours.* The encoder is built from Day 1's layers: two convolutions with a stride of 2, and a residual block. For each patch, it returns a vector $z$ of width $D = 16$. (Convolutions also look at the neighbours, so two black patches may get different codes.) The codebook has $K$ vectors $e_1, \dots, e_K$ of the same width. The code is the number of the nearest one, and the decoder reads that vector instead of $z$:
#
# $$
# c = \operatorname*{argmin}_k \lVert z - e_k \rVert, \qquad q = e_c .
# $$ (eq-nearest-code)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each vector becomes the nearest one of the codebook, and only its number is kept. Here each vector has two numbers, and there are five codes.", "name": "fig-draw-nearest"}, "image": {"alt": "A plane with a dozen small dots and five large numbered marks. A thin line joins each dot to its nearest mark."}}
marks = torch.tensor([[-2.2, 0.8], [-1.0, -0.7], [0.4, 0.9], [2.1, 0.3], [0.7, -0.6]])
torch.manual_seed(0)
mechanisms.nearest(marks[torch.arange(13) % 5] + 0.35 * torch.randn(13, 2), marks)
plt.show()

# %% [markdown]
# ```{exercise} The nearest code
# :label: exercise-nearest-codes
#
# *6 minutes.* Compute {eq}`eq-nearest-code` for n vectors: return the codes, and the codebook's vectors that belong to them. Their gradient must reach the codebook. ([Solution](solutions/13_drawing.ipynb#solution-nearest-codes))
# ```


# %%
def nearest_codes(z, codebook):
    """Shapes: z (n, D), codebook (K, D); returns codes (n,) and q (n, D)."""
    raise NotImplementedError


nearest_codes = check("nearest_codes", nearest_codes)

# %%
check.show_reference("nearest_codes")

# %% [markdown]
# ### Straight-through: a gradient for the encoder
#
# *8 minutes, 6 of them yours.* Now there is a choice in the middle of the network. Move $z$ a little, and $q$ doesn't move at all, until it jumps. The derivative of a choice is 0 wherever it exists, so the encoder would get no gradient and learn nothing.
#
# The way out is a trick: **straight-through** {cite}`bengio2013estimating`. Forward, the decoder reads $q$. Backward, $z$ gets the gradient of $q$, as if nothing had happened between them. If a larger $q$ would lower the loss, $z$ becomes larger, and perhaps the next choice will be a different one.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Straight-through: forward, the nearest code replaces z. Backward, the gradient jumps over this step.", "name": "fig-draw-straight"}, "image": {"alt": "A row of boxes from encoder through z, nearest and q to decoder, joined by arrows. Below them, dashed arrows lead back; one jumps from q to z past the box nearest."}}
mechanisms.straight_through()
plt.show()

# %% [markdown]
# ```{exercise} Straight-through
# :label: exercise-straight-through
#
# *6 minutes.* Return a tensor equal to q, whose gradient goes to z unchanged, and not to q. (`detach` returns the same numbers as a constant, whose gradient is 0.) ([Solution](solutions/13_drawing.ipynb#solution-straight-through))
# ```


# %%
def straight_through(z, q):
    """Shapes: z and q (n, D); returns (n, D)."""
    raise NotImplementedError


straight_through = check("straight_through", straight_through)

# %%
check.show_reference("straight_through")

# %% [markdown]
# ### A loss for the codebook
#
# *8 minutes, 5 of them yours.* The gradient now goes past the codebook, so the codebook needs a loss of its own. Each of its vectors should move towards the encoder's vectors that choose it. The encoder's vectors should stay near their code's vector; nothing else would keep them there, and the codebook might never catch up. This second pull is the **commitment**, with a weight $\beta$ of 0.25:
#
# $$
# \mathcal{L} = \lVert \operatorname{sg}[z] - q \rVert^2 + \beta\, \lVert z - \operatorname{sg}[q] \rVert^2 .
# $$ (eq-vq-loss)
#
# Here sg is the **stop-gradient**: it keeps a number, but treats it as a constant. Both parts measure the same distance; they differ in the vector that they move.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Both parts of the loss shorten the same distance. The first moves the codebook's vector q, the second, more weakly, the encoder's vector z.", "name": "fig-draw-pulls"}, "image": {"alt": "Two points, z and q. A long arrow leads from q towards z, a short one from z towards q."}}
mechanisms.two_pulls(commitment=0.25)
plt.show()

# %% [markdown]
# ```{exercise} The codebook's loss
# :label: exercise-vq-loss
#
# *5 minutes.* Compute {eq}`eq-vq-loss`, with means over all $n \cdot D$ squares in place of squared norms. ([Solution](solutions/13_drawing.ipynb#solution-vq-loss))
# ```


# %%
def vq_loss(z, q, beta):
    """Shapes: z and q (n, D); returns a scalar tensor."""
    raise NotImplementedError


vq_loss = check("vq_loss", vq_loss)

# %%
check.show_reference("vq_loss")

# %% [markdown]
# Your three functions make a codebook:


# %%
class YourCodebook(drawing.Codebook):
    """Vectors z (B, D, 6, 6) become the nearest of `self.table` (K, D)."""

    def forward(self, z):
        vectors = z.permute(0, 2, 3, 1).flatten(0, 2)  # (B · 36, D)
        codes, q = nearest_codes(vectors, self.table)
        self.uses += codes.bincount(minlength=self.K)
        read = straight_through(vectors, q).view(len(z), 6, 6, -1).permute(0, 3, 1, 2)
        return Quantised(read, codes.view(len(z), -1), vq_loss(vectors, q, 0.25))


# %% [markdown]
# ### How many codes are in use?
#
# *3 minutes.* We train the autoencoder on Day 12's scenes, drawn anew for each of 100 batches. Its loss is a cross-entropy for each colour value (from 0 to 1, like a probability), plus {eq}`eq-vq-loss`. How many codes does it use? A rare code should count for less than a common one. So we take the **perplexity** of the codes, $e^{H}$, where $H = -\sum_k p_k \ln p_k$ is the **entropy** of their shares $p_k$. If $n$ codes are used equally often, the perplexity is $n$.

# %% tags=["view"]
guess(
    "The codebook has 256 vectors. After 100 steps, what is the perplexity of its codes?",
    ["below 4", "about 30", "above 200"],
    right="below 4",
    because="An unused code gets no gradient.",
)

# %% tags=["training"]
pool = scenes(2000, seed=0)
pictures = drawn(pool[:200], seed=1, grid=coding.GRID)
in_use = {}
for kind, name in (("learned", "left alone"), ("restarted", "with restarts")):
    yours = coding.autoencoder(kind)
    yours.codebook = YourCodebook(coding.K, coding.D)
    with torch.no_grad():
        in_use["before"] = perplexity_of_codes(yours.encode(pictures), coding.K)
    coding.train_autoencoder(yours, kind, steps=100, pool=pool)
    with torch.no_grad():
        in_use[name] = perplexity_of_codes(yours.encode(pictures), coding.K)

# %% tags=["evidence"]
assert coding.EVERY == 20  # steps between restarts
observe(
    "Before training, the codes have a perplexity of {before:.1f}. After 100 steps, it is {alone:.1f} if the codebook is left alone, and {restarts:.0f} with restarts (see below).",
    before=in_use["before"],
    alone=in_use["left alone"],
    restarts=in_use["with restarts"],
    holds=max(in_use["before"], in_use["left alone"]) < 4 < in_use["with restarts"] / 2,
)

# %% [markdown]
# At first, all vectors $z$ lie close together, so the same few codes are nearest to all of them. If the codebook is left alone, little changes. A codebook vector that is chosen moves towards those that choose it, so it is chosen again. One that is never chosen gets no gradient, so it never comes closer. This is called **codebook collapse**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A code that is never chosen never moves: one is nearest to all vectors, and the other four get no gradient. The vectors are those of “Codes: the nearest vector”, with another codebook.", "name": "fig-draw-collapse"}, "image": {"alt": "A dozen small dots. All thin lines lead to one numbered mark in their midst; the other four marks are at the edge, and no line reaches them."}}
far = torch.tensor([[-4.5, 2.6], [-4.2, -2.4], [0.0, 0.1], [4.6, 2.2], [4.0, -2.6]])
torch.manual_seed(0)
mechanisms.nearest(marks[torch.arange(13) % 5] + 0.35 * torch.randn(13, 2), far)
plt.show()

# %% [markdown]
# So we **restart** unused codes: every 20 steps, the vector of each is moved onto one of the encoder's vectors {cite}`dhariwal2020jukebox`. (The [deeper page](deeper/13_drawing.ipynb) tries other remedies.)
#
# **Enough for tonight?** This is a good place to stop: you can write a picture in 36 symbols. Next, a sentence begins the row.
#
# ### One row for a sentence and its picture
#
# *8 minutes, 6 of them yours.* A language model has one vocabulary. Ours gets the words first, then the 256 codes, then the mark. So code 17 is not word 17, but the number of words plus 17. All sentences are padded to the same length, so each of the picture's 36 codes is always at the same position in the row.

# %% [markdown]
# ```{exercise} A sentence and its codes
# :label: exercise-sentence-and-codes
#
# *6 minutes.* Join words, mark and codes into one row of ids. Words keep their ids from 0 to n_words - 1. Code c becomes n_words + c. The mark has the last id, n_words + n_codes. ([Solution](solutions/13_drawing.ipynb#solution-sentence-and-codes))
# ```


# %%
def sentence_and_codes(words, codes, n_words, n_codes):
    """Shapes: words (B, T), codes (B, n); returns ids (B, T + 1 + n)."""
    raise NotImplementedError


sentence_and_codes = check("sentence_and_codes", sentence_and_codes)

# %%
check.show_reference("sentence_and_codes")

# %% [markdown]
# The network is Day 9's GPT: causal self-attention over the whole row, and the cross-entropy of each next symbol. The loss has DALL·E's weights: the codes count for 7/8 and the words for 1/8, because the model is trained to draw (an exercise at the end).
#
# ### Draw
#
# *9 minutes, 8 of them yours.* Now the row begins with a sentence and the mark. The network gives logits for the next symbol; we keep only those of codes, so words get no probability. We divide them by Day 2's temperature $\tau$, take the softmax, and sample a code. We append the code to the row, and do all this 36 times.

# %% [markdown]
# ```{exercise} Draw code by code
# :label: exercise-draw-codes
#
# *8 minutes.* Sample n codes for each row. Use only the logits of codes, whose ids go from n_words to the one before the mark, and divide them by tau. `draw` takes probabilities and returns a sampled index for each row. The model must read each code's id before the next is sampled. Return the codes, counted from 0. ([Solution](solutions/13_drawing.ipynb#solution-draw-codes))
# ```


# %%
def draw_codes(model, start, n, n_words, tau, draw):
    """Shapes: start (B, T), words and mark; model gives (B, T, V); returns codes (B, n)."""
    raise NotImplementedError


draw_codes = check("draw_codes", draw_codes)

# %%
check.show_reference("draw_codes")

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We compare your functions with PyTorch's and with the book's own. If we always take the likeliest code, drawing leaves nothing to luck, so `draw_codes` can be compared, too.

# %% tags=["evidence"]
torch.manual_seed(0)
z, table = torch.randn(50, 4, dtype=torch.float64), torch.randn(9, 4, dtype=torch.float64)
codes, q = nearest_codes(z, table)
assert torch.equal(codes, torch.cdist(z, table).argmin(dim=1))
torch.testing.assert_close(straight_through(z, q), q)
torch.testing.assert_close(vq_loss(z, q, 0.25), drawing.codebook_loss(z, q, 0.25))

words, codes = torch.randint(3, symbols.n_words, (4, symbols.longest)), torch.randint(256, (4, 36))
row = sentence_and_codes(words, codes, symbols.n_words, symbols.n_codes)
assert torch.equal(row, symbols.sentence_then_picture(words, codes))
print("codes, losses and rows agree")

# %% tags=["evidence"]
gpt = task.writer().eval()  # untrained
with torch.no_grad():
    ids = symbols.padded(captions.as_ids(sentences)[0])
    start = torch.cat([ids, torch.full((2, 1), symbols.mark)], dim=1)
    likeliest = draw_codes(
        lambda row: gpt(row)[0], start, 36, symbols.n_words, 1.0, lambda p: p.argmax(dim=1)
    )
assert torch.equal(likeliest, task.painter(gpt, tau=0)(sentences, seed=0))
print("drawings agree")

# %% [markdown]
# ## Train it
#
# *8 minutes.* Training takes too long for a lesson, so the autoencoder and the GPT are both stored. How much of a picture do 36 codes keep? Here are new scenes, in new handwriting, and the pictures that the decoder draws from their codes.

# %%
shown = scenes(8, seed=11, part="test")
originals = drawn(shown, seed=5, part="test", grid=coding.GRID)
with torch.no_grad():
    again = coder.decode(coder.encode(originals))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Colours and positions survive in 36 codes, and most forms do: eight scenes (top), and the pictures drawn from their codes (bottom).", "name": "fig-draw-kept"}, "image": {"alt": "Two rows of eight pictures of one to three coloured digits and shapes. Each picture below looks much like the one above it, with digits a little smoother."}}
image_grid([*originals, *again], columns=8)
plt.show()

# %% [markdown]
# Who judges thousands of drawings? A **parser**: it finds things by their colour, compares large shapes with their outlines, reads small forms with a classifier trained on the training handwriting, and compares all this with the sentence. No drawing network was trained to please it, so none has learned to fool it, and we count its own errors.

# %%
coded = experiments.load("picture_codes").rows  # three seeds
read, before = (
    {n: fmean(row[f"{when}, {n}, seen"] for row in coded) for n in (1, 2, 3)}
    for when in ("read", "before")
)
png_bits = fmean(row["png bits"] for row in coded)

# %% tags=["evidence"]
observe(
    "The parser reads {before:.0%} of pictures of one thing correctly, and {read:.0%} after they are redrawn from their codes. With three things, it reads {before_3:.0%} and {read_3:.0%}. The codes take {bits} bits; a PNG file of such a picture takes {png:,.0f}, but it keeps every pixel.",
    before=before[1],
    read=read[1],
    before_3=before[3],
    read_3=read[3],
    bits=36 * 8,
    png=png_bits,
    holds=read[1] > 0.8 > read[3] > 0.3 and before[1] > 0.9 and png_bits > 4 * 36 * 8,
)

# %% [markdown]
# Now the GPT, our **writer**: three of Day 9's blocks of width 96, trained on scenes of one to three things in English and Chinese. Some combinations of a form and a colour were kept out of its training. We call them **new**; *a blue seven* is one. Your `draw_codes` draws sixteen pictures of it.

# %%
stored = models.load("drawing_writer")
writer = task.restored_writer(stored.weights)
ONE, TWO = "a blue seven", "a red three left of a blue four"


@torch.no_grad()
def drawings(sentence, n, seed, tau=0.7):
    """Pictures (n, 3, 24, 24) of one sentence, drawn with your function."""
    words = symbols.padded(captions.as_ids([sentence] * n)[0])
    start = torch.cat([words, torch.full((n, 1), symbols.mark)], dim=1)
    torch.manual_seed(seed)
    found = draw_codes(
        lambda ids: writer(ids)[0],
        start,
        36,
        symbols.n_words,
        tau,
        lambda p: p.multinomial(1)[:, 0],
    )
    return coder.decode(found)


sixteen = drawings(ONE, 16, seed=0)
accepted = [shows(picture, understand(ONE)) for picture in sixteen]

# %% tags=["evidence"]
observe(
    "The parser accepts {n} of sixteen drawings of *{asked}*.",
    asked=ONE,
    n=sum(accepted),
    holds=0 < sum(accepted) < 16,
)

# %% [markdown]
# We drew with $\tau = 0.7$. What does the temperature change?

# %%
by_tau = [drawings("a red three", 8, seed=1, tau=tau) for tau in (0.3, 0.7, 1.5)]

# %% tags=["evidence"] mystnb={"figure": {"caption": "At a low temperature, the three ends up in the last corner; at a high one, it may fall apart, or a second thing may appear. Eight drawings of a red three at a temperature of 0.3 (top), 0.7 and 1.5 (bottom).", "name": "fig-draw-tau"}, "image": {"alt": "Three rows of eight pictures. In the first, all red threes and sevens are in the lower right corner. In the second, they are in several positions. In the third, several are hard to read, and two have a second thing in another colour."}}
corner, _, anywhere = (of[..., 12:, 12:].sum() / of.sum() for of in by_tau)  # share of the ink
assert corner > 0.8 and anywhere < 0.5
assert not all(shows(picture, understand("a red three")) for picture in by_tau[-1])
image_grid(torch.cat(by_tau), columns=8)
plt.show()

# %% [markdown]
# A likely reason: at each position, black is more probable than the beginning of a three. So at a low temperature, the writer puts the three off until only one corner is left.
#
# Back to the sixteen blue sevens. We don't have to take the first one. DALL·E drew 512 pictures for each sentence, and **let CLIP choose** those that fit best. We have yesterday's CLIP, so we take the drawing whose vector is most similar to that of the sentence.

# %%
held = models.load("clip")
clip = naming.restored_clip(held.weights, held.header["temperature"])
with torch.no_grad():
    fit = clip.encode_images(sixteen) @ clip.encode_texts(*captions.as_ids([ONE]))[0]

# %% tags=["evidence"] mystnb={"figure": {"caption": "CLIP chooses the framed drawing: sixteen drawings of one sentence, the most similar to it first. The parser accepts those with a tick.", "name": "fig-draw-best"}, "image": {"alt": "Under the sentence, a blue seven, are two rows of eight small pictures with falling numbers. The first is framed, and most of those with high numbers have a tick."}}
mechanisms.best_of(sixteen, fit, ONE, accepted)
plt.show()

# %% [markdown]
# How much does the choice help?

# %%
result = experiments.load("drawing_page")
drawn_page = result.rows  # three seeds
TRIES = 1, 2, 4, 8, 16
KINDS = {"seen": "known combinations", "unseen": "new combinations"}
by_tries = {
    name: [fmean(row[f"chosen of {n}, 1, {pairs}"] for row in drawn_page) for n in TRIES]
    for pairs, name in KINDS.items()
}
first_new, *_, best_new = by_tries["new combinations"]
by_seed = [row["chosen of 16, 1, unseen"] for row in drawn_page]
different = {
    pairs: len(set(scenes(60, seed=7, n_things=(1,), part="test", pairs=pairs))) for pairs in KINDS
}

# %% tags=["view"]
guess(
    f"Single drawings of new combinations are correct for {first_new:.0%} of sentences. What if CLIP chooses one of sixteen?",
    ["about as many: CLIP can't tell them apart", "about 60%", "more than 80%"],
    right="more than 80%",
    because=f"It is {best_new:.0%}. CLIP learned which picture fits a sentence, and that is the question here.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Drawing more and letting CLIP choose pays off, above all for combinations that training never showed. Share of sentences about one thing that the parser reads in the chosen picture. Mean of three seeds (stored experiment).", "name": "fig-draw-tries"}, "image": {"alt": "Two rising curves over 1, 2, 4, 8 and 16 drawings: known combinations above, new combinations below."}}
ax = curves(
    {name: (TRIES, 100 * torch.tensor(of)) for name, of in by_tries.items()},
    "drawings to choose from",
    "drawn correctly (%)",
    logx=True,
)
ax.set_xticks(TRIES, TRIES)
plt.show()

# %% [markdown]
# ## Look inside
#
# *3 minutes.* What does a code mean? We fill a picture with one of the codes that black patches have, put one other code in the middle, and see what the decoder draws.

# %%
with torch.no_grad():
    ground = coder.encode(torch.zeros(1, 3, 24, 24))[0, 14].item()
    alone = torch.full((coding.K, 36), ground)
    alone[:, 14] = torch.arange(coding.K)
    strokes = coder.decode(alone)[:, :, 6:14, 6:14]  # what lies around the patch
ink = strokes.amax(dim=1).flatten(1).sum(dim=1)
order = ink.argsort(descending=True)[:48]

# %% tags=["evidence"] mystnb={"figure": {"caption": "A code is a piece of a stroke in a colour. Drawn alone, on black: the 48 codes with the most ink.", "name": "fig-draw-codes"}, "image": {"alt": "Three rows of sixteen small pictures: blobs, corners and bars in red, green, blue, yellow and purple."}}
image_grid(strokes[order], columns=16)
plt.show()

# %% [markdown]
# How does the writer compose a picture? At each of the 36 positions, it gives a probability to each code. Their entropy, in bits, measures how uncertain it is.

# %%
places = 0, 9, 18, 27, 36
on_the_way = task.on_the_way(writer, coder, TWO, places, seed=56)
doubts = task.doubts(writer, coder, scenes(200, seed=3, n_things=(1,), part="test"))  # (36,), bits

# %% tags=["evidence"] mystnb={"figure": {"caption": "A picture is written row by row, like a page. The picture after 0, 9, 18, 27 and 36 codes; squares without a code are still empty.", "name": "fig-draw-way"}, "image": {"alt": "Five pictures: the first is empty; in the others, more and more rows are drawn, from the top down, until all digits are there."}}
mechanisms.code_by_code(dict(zip(places, on_the_way)))
plt.show()

# %% tags=["evidence"] mystnb={"figure": {"caption": "The writer is least certain of the very first code, and most certain in the last row, where hardly anything begins. Entropy of the next code, in bits (at most 8), at each position; mean over 200 scenes of one thing.", "name": "fig-draw-doubts"}, "image": {"alt": "A map of six by six positions, lightest at the top left, light in the upper middle, and dark in the last row and the last column."}}
assert doubts.argmax() == 0 and doubts.view(6, 6).mean(dim=1).argmin() == 5
heat_map(doubts.view(6, 6), xlabel="column", ylabel="row", value_label="bits")
plt.show()

# %% [markdown]
# ## Show someone
#
# *5 minutes.* Type a sentence, in English or Chinese, and watch sixteen pictures of it appear, code by code. CLIP puts the best one first. Try a red zero or a blue seven, which no training picture showed. Then find a sentence that it never gets right.

# %% tags=["view"]
ready = [ONE, TWO, "红色的零", "a small green circle in a large yellow square"]
say_and_draw("drawing_writer", "drawing_codes", "clip", sentences=ready)

# %% [markdown]
# ## Where it breaks
#
# *4 minutes.* One thing is easy. With two, the second one has to be correct as well, and lie on the correct side of the first. When a drawing is wrong, what failed: the codes, the writer, or CLIP? To find out, we let the parser read redrawn pictures, and all sixteen drawings of each sentence.

# %%
THINGS = 1, 2, 3
KINDS_OF = {
    "redrawn from codes": ("read, {n}, seen", coded),
    "one of 16 drawings at least": ("any, {n}, seen", drawn_page),
    "CLIP's choice of 16": ("chosen of 16, {n}, seen", drawn_page),
    "first drawing": ("chosen of 1, {n}, seen", drawn_page),
}
by_things = {
    kind: torch.tensor([[row[name.format(n=n)] for n in THINGS] for row in rows])  # (seeds, 3)
    for kind, (name, rows) in KINDS_OF.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "With two things, a correct drawing is nearly always among the sixteen, but CLIP often doesn't find it. With three, all parts fail more often. Share of pictures or sentences for which the parser reads the correct scene; known combinations, mean and range of three seeds (stored experiments).", "name": "fig-draw-things"}, "image": {"alt": "Four falling curves over one, two and three things. The first drawing falls most steeply, then CLIP's choice; both begin near the top. At least one of sixteen stays near the top for two things and falls for three."}}
assert by_things["one of 16 drawings at least"][:, 1].min() > 0.9
assert all((of[:, 2] < of[:, 1]).all() for of in by_things.values())
ax = curves({kind: (THINGS, 100 * of) for kind, of in by_things.items()}, "things", "correct (%)")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
ax.set_xticks(THINGS)
plt.show()

# %%
two = {
    f"{name}_{pairs}": fmean(row[f"{how}, 2, {pairs}"] for row in drawn_page)
    for name, how in {"any": "any", "chosen": "chosen of 16"}.items()
    for pairs in KINDS
}
guided = {
    pairs: fmean(row[f"guided, chosen of 16, 2, {pairs}"] for row in drawn_page) for pairs in KINDS
}
key = "chosen of 16, 2, seen"
gains = [100 * (row[f"guided, {key}"] - row[key]) for row in drawn_page]  # of each seed

# %% tags=["evidence"]
observe(
    "For {any_seen:.0%} of sentences about two things in known combinations, at least one of the sixteen drawings is correct. CLIP chooses a correct one for {chosen_seen:.0%}. With new combinations, the two shares are {any_unseen:.0%} and {chosen_unseen:.0%}.",
    holds=all(two[f"chosen_{pairs}"] + 0.1 < two[f"any_{pairs}"] for pairs in KINDS),
    **two,
)

# %% [markdown]
# So CLIP often passes over a correct drawing. Yesterday, this same CLIP could hardly tell which of two things is red. (One of sixteen can beat redrawing, because a single correct drawing is enough.) Here are sixteen drawings, in CLIP's order.

# %%
pair = drawings(TWO, 16, seed=0)
with torch.no_grad():
    fit_two = clip.encode_images(pair) @ clip.encode_texts(*captions.as_ids([TWO]))[0]
accepted = [shows(picture, understand(TWO)) for picture in pair]
first = fit_two.argmax()
exchanged = shows(pair[first], understand("a red four left of a blue three"))
wrong = "has the two digits exchanged" if exchanged else "is another scene"

# %% tags=["evidence"] mystnb={"figure": {"caption": "CLIP's favourite is framed: sixteen drawings of one sentence, the most similar first. Correct ones have a tick.", "name": "fig-draw-pair"}, "image": {"alt": "Under the sentence, a red three left of a blue four, are two rows of eight small pictures of red and blue digits with falling numbers. The first is framed and has no tick; four others have one."}}
mechanisms.best_of(pair, fit_two, TWO, accepted)
plt.show()

# %% tags=["evidence"]
observe(
    "Of these sixteen drawings, {n} are correct. CLIP's favourite {favourite}.",
    n=sum(accepted),
    favourite="is correct" if accepted[first] else wrong,
    holds=sum(accepted) < 12,
)

# %% [markdown]
# Could the writer itself obey better? **Guidance**, on the [deeper page](deeper/13_drawing.ipynb), makes the sentence count for more.

# %% tags=["evidence"]
observe(
    "With guidance, CLIP's choice is correct for {seen:.0%} of sentences about two things in known combinations (by seed, {least:.0f} to {most:.0f} points more than without) and for {unseen:.0%} in new ones. We tried only plain and guided drawing, and only on scenes of two things that weren't in training.",
    holds=all(guided[pairs] > two[f"chosen_{pairs}"] + 0.03 for pairs in KINDS),
    least=min(gains),
    most=max(gains),
    **guided,
)

# %% [markdown]
# ## What we found
#
# *2 minutes.* Three claims that you will often read, and our answers. Three more are on the [deeper page](deeper/13_drawing.ipynb).
#
# (claim-dal-1)=

# %% tags=["evidence"]
claim(
    "dal-1",
    "Yes, if the picture is simple: redrawn from 36 codes, {one:.0%} of new scenes of one thing are read correctly, and {three:.0%} with three.",
    one=read[1],
    three=read[3],
    holds=lambda one, three: one > 0.8 and 0.3 < three < one - 0.15,
    experiment="picture_codes",
    scale="24 × 24 pixels, 256 codes, known combinations, things on the grid of the patches; three seeds",
)

# %% [markdown]
# (claim-dal-3)=

# %% tags=["evidence"]
judged = f"60 sentences about one thing, in English ({different['seen']} different ones for known combinations, {different['unseen']} for new ones); steps, rate and temperature chosen by the first seed"
claim(
    "dal-3",
    "Yes: with one drawing per sentence, {seen:.0%} of known combinations are drawn correctly, and {unseen:.0%} of new ones are.",
    seen=by_tries["known combinations"][0],
    unseen=by_tries["new combinations"][0],
    holds=lambda seen, unseen: 0.3 < unseen < seen < 0.97,
    experiment="drawing_page",
    scale=f"{judged}; three blocks, width 96, {result.parameters['steps']:,} steps; three seeds",
)

# %% [markdown]
# (claim-dal-4)=

# %% tags=["evidence"]
claim(
    "dal-4",
    "Yes: of sixteen, CLIP chooses a correct drawing for {seen:.0%} of known and {unseen:.0%} of new combinations; single drawings are correct for {first:.0%} and {first_new:.0%}.",
    seen=by_tries["known combinations"][-1],
    unseen=by_tries["new combinations"][-1],
    first=by_tries["known combinations"][0],
    first_new=by_tries["new combinations"][0],
    holds=lambda seen, unseen, first, first_new: (
        seen > first + 0.05 and unseen > first_new + 0.1 and first_new < first
    ),
    experiment="drawing_page",
    scale=f"{judged}; Day 12's CLIP chooses; three seeds, {min(by_seed):.0%} to {max(by_seed):.0%} of new combinations",
)

# %% [markdown]
# ## Exercises
#
# Two more are on the [deeper page](deeper/13_drawing.ipynb), and all solutions are on [a page of their own](solutions/13_drawing.ipynb).

# %% [markdown]
# ```{exercise} Predict: how many bytes?
# :label: exercise-bytes-in-codes
#
# *Core, 4 minutes.* A codebook has 64 vectors, and a picture has 36 codes. How many bytes are needed to store the codes of one picture, if all codes take the same number of bits, and no more than needed? ([Solution](solutions/13_drawing.ipynb#solution-bytes-in-codes))
# ```

# %%
bytes_in_codes = None  # a whole number
check("bytes_in_codes", bytes_in_codes)

# %% [markdown]
# ```{exercise} How many codes are in use?
# :label: exercise-perplexity-of-codes
#
# *Core, 7 minutes.* Return the perplexity of codes: $e^H$, where $H$ is the entropy, in nats, of the codes' shares. An unused code adds nothing. ([Solution](solutions/13_drawing.ipynb#solution-perplexity-of-codes))
# ```


# %%
def perplexity_of_codes(codes, K):
    """Shapes: codes (B, n), from 0 to K - 1; returns a number from 1 to K."""
    raise NotImplementedError


check("perplexity_of_codes", perplexity_of_codes)

# %% [markdown]
# ```{exercise} The loss on both parts
# :label: exercise-picture-loss
#
# *Core, 9 minutes.* A row holds words and codes. Return (1 - share) times the mean cross-entropy over all words of the batch, plus share times that over all codes. The logits at each position predict the next id. Padding (0) and the mark (the last id) don't count as targets. ([Solution](solutions/13_drawing.ipynb#solution-picture-loss))
# ```


# %%
def picture_loss(logits, ids, n_words, share):
    """Shapes: logits (B, T, V), ids (B, T); returns a scalar tensor."""
    raise NotImplementedError


check("picture_loss", picture_loss)

# %% [markdown]
# ```{exercise} The best of many
# :label: exercise-best-of
#
# *Core, 8 minutes.* CLIP gives a vector to each of B sentences and to n drawings of each. For each sentence, return the index of the drawing whose cosine with it is largest. The vectors aren't normalised. ([Solution](solutions/13_drawing.ipynb#solution-best-of))
# ```


# %%
def best_of(pictures, sentences):
    """Shapes: pictures (B, n, E), sentences (B, E); returns (B,)."""
    raise NotImplementedError


check("best_of", best_of)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "write a picture as 36 codes, with an encoder, a codebook and a decoder": "nearest_codes bytes_in_codes",
    "pass a gradient through a choice that has none": "straight_through vq_loss",
    "explain why a codebook collapses, and measure how much of it is in use": "perplexity_of_codes",
    "put a sentence and its picture in one row, for Day 9's GPT to learn": "sentence_and_codes picture_loss",
    "sample a picture with a temperature, and let CLIP choose the best drawing": "draw_codes best_of",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So a writer can draw, once a picture is written in codes. Words and pictures are both sequences to it. Today we could check each drawing, because its sentence says what is correct. **Tomorrow**, the sequence is a series of numbers, and we predict the next one before it is known.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`oord2017neural`: the VQ-VAE. Section 3 has the codebook, straight-through and the loss.
# - {cite:t}`ramesh2021zero`: DALL·E, with 8,192 codes in a grid of 32 × 32 and 12 billion parameters.
# - {cite:t}`razavi2019generating`: two grids of codes, for large pictures.
# - {cite:t}`chang2022maskgit`: all codes at once, in a few steps; the [deeper page](deeper/13_drawing.ipynb) builds it.
