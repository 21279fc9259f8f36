# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 11: Small models: distillation, int8 and LoRA
#
# **Today's question:** how small can we make a model that has learned to read, and what does each step cost?
#
# After today you can
#
# - say where a model's bytes are, and how many you save by dropping half of its blocks,
# - teach a small model what a large one knows, and not only what is correct,
# - find out which attention heads a model can do without,
# - store weights in a quarter of their bytes,
# - fine-tune a model for ten tasks without ten copies.
#
# It builds on [Day 10](10_pretraining.ipynb)'s reader and its hidden words. It takes 50 minutes to read and 28 to write four functions. At the end, three models of three sizes answer side by side, right here on the page, and you decide how many bits one of them gets.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from copy import deepcopy
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils.data import libraries
from utils.exercises.progress import checklist
from utils.exercises.small import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.pretraining import published_sizes, student_of
from utils.pretraining.low_rank import LowRank
from utils.pretraining.rounded import round_weight, with_rounded_weights
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import pretraining as before
from utils.show.mechanisms import small as mechanisms
from utils.show.plotting import COLOURS, bars, curves, use_book_style

# %% tags=["setup"]
from utils.show.views import Guesser, fewer_bits, guess, hidden_words, models, quiz
from utils.tasks import filling
from utils.tasks.articles import gaps_after, logits_at, share_of_vowels
from utils.tasks.distilling import distil, sizes_of
from utils.tasks.fine_tuning import classifier, fine_tune, with_labels
from utils.tasks.held_out import guessed
from utils.tasks.pretraining import Hidden, new_model, vocabulary
from utils.tasks.shrinking import right
from utils.tasks.smaller import bytes_of, one_by_one
from utils.tasks.two_bytes import restored

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("11_small")

# %% [markdown]
# ## Where we stand
#
# *2 minutes.* Yesterday's reader comes with the book: two blocks, trained for 1,500 steps. Today it is the **teacher**. Every task that it learns needs a fine-tuned copy of it, so its size matters. Where are its bytes?

# %%
teacher = restored(new_model(0), models.load("reader").weights)
parts = {
    "table of words": teacher.encoder.embedding,
    "attention, two blocks": nn.ModuleList(b.self_attention for b in teacher.encoder.blocks),
    "feed-forward, two blocks": nn.ModuleList(b.feed_forward for b in teacher.encoder.blocks),
}
numbers = {name: sizes_of(part).parameters for name, part in parts.items()}
numbers["head and norms"] = sizes_of(teacher).parameters - sum(numbers.values())

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Most of a small model's bytes are in its table of words. Kilobytes of yesterday's reader in float32, at four bytes per number (counted).", "name": "fig-small-parts"}, "image": {"alt": "Four bars. The table of words takes about 790 kilobytes. The two feed-forward layers together take 133, and so do the two attention layers; the head and the norms take about 30."}}
bars({name: round(4 * n / 1000) for name, n in numbers.items()}, "kilobytes")
plt.show()

# %% [markdown]
# We try the natural thing first: keep the first block, and drop the second.

# %% tags=["training"]
untaught = student_of(teacher, lambda blocks: deepcopy(blocks[:1])).eval()
found = {"teacher": guessed(teacher)["right"], "first block alone": guessed(untaught)["right"]}
large, small = sizes_of(teacher), sizes_of(untaught)
fewer = 1 - small.parameters / large.parameters

# %% tags=["evidence"]
observe(
    "The teacher finds {teacher:.0%} of the hidden words. Its first block alone finds {half:.0%}.",
    teacher=found["teacher"],
    half=found["first block alone"],
    holds=found["first block alone"] < found["teacher"] - 0.03,
)

# %% tags=["view"]
guess(
    "Half of the blocks are gone. What share of the model's parameters does that save?",
    ["about 10%", "about 40%", "50%"],
    right=0 if fewer < 0.25 else 1,
    because=f"It saves {fewer:.0%}: {large.parameters:,} parameters became {small.parameters:,}. The table of words is as large as before, and most of the parameters are in it.",
)

# %% [markdown]
# So we paid in quality and got little for it. That leaves two questions: can the smaller model become as good as the teacher, and where else can we save bytes?

# %% [markdown]
# ## The idea
#
# *1 minute.* Set the table of words aside for now. How many bytes do all other weights take, in the copies for all tasks together? It is a product of four factors: the number of blocks, the weights in each block, the bits in each weight, and the number of copies.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each of the four factors has a method that reduces it: today's steps.", "name": "fig-small-levers"}, "image": {"alt": "Four boxes with multiplication signs between them: blocks, weights each, bits each, copies. Below them, joined by arrows, are the methods: distillation; pruning and sharing; int8; LoRA."}}
mechanisms.levers()
plt.show()

# %% [markdown]
# We go through them from left to right. After each step we measure how much quality is lost, on hidden words or on the task of Days 8 and 10: which of five libraries is a sentence from?

# %% [markdown]
# ## Step by step
#
# ### Distillation: fewer blocks
#
# *20 minutes, 10 of them yours.* A small model, the **student**, could read the same text on its own. Or the teacher could help it: that is **distillation** {cite}`hinton2015distilling`. The text only tells us which word was hidden. The teacher tells us more: that *matrix* would have been nearly as good, and *image* would not.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A text gives one hard target; a teacher gives soft ones, a probability for every word. A temperature τ above 1 (Day 2) brings out the unlikely words. The logits are invented for this picture.", "name": "fig-pre-soft"}, "image": {"alt": "Three rows over array, matrix, tensor, image, axis. The text gives them 1, 0, 0, 0 and 0. The teacher at temperature 1 gives 0.76, 0.17, 0.06, 0.01 and 0.01; at temperature 2 it gives 0.51, 0.24, 0.15, 0.05 and 0.04."}}
likely = torch.tensor([5.0, 3.5, 2.5, 0.5, 0.0])
before.soft("array matrix tensor image axis".split(), likely, 0, [1, 2])
plt.show()

# %% [markdown]
# Let $p$ be the softmax of the teacher's logits divided by $\tau$, and $q$ the same for the student. The student should agree with its teacher at all hidden positions $M$:
#
# $$
# \mathcal{L}_\text{soft} = \frac{\tau^2}{|M|} \sum_{t \in M} \sum_{i=1}^{V} p_{t,i} \ln \frac{p_{t,i}}{q_{t,i}} .
# $$ (eq-soft-targets)
#
# Both models' logits are divided by $\tau$, so that a student with the teacher's logits has a loss of 0. A higher temperature makes the gradients smaller, by a factor of about $1/\tau^2$: one $1/\tau$ arises because $p$ and $q$ come closer together, and the other comes from the division. The factor $\tau^2$ makes up for that.
#
# ```{exercise} Distillation: soft targets
# :label: exercise-soft-targets
#
# *6 minutes.* Compute {eq}`eq-soft-targets`. Some probabilities are so small that a computer rounds them to 0, so work with logarithms throughout. ([Solution](solutions/11_small.ipynb#solution-soft-targets))
# ```


# %%
def soft_target_loss(student_logits, teacher_logits, tau):
    """Shapes: logits (n, V) of both, for n hidden words; returns a scalar tensor."""
    raise NotImplementedError


soft_target_loss = check("soft_targets", soft_target_loss)

# %%
check.show_reference("soft_targets")

# %% [markdown]
# And which weights does a student start with? **DistilBERT** {cite}`sanh2019distilbert` starts as half of its teacher: with its table, its head, and every second one of its blocks.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A student starts from every second block of its teacher. Ours takes one block of two, and the table and the head (not drawn) as well.", "name": "fig-pre-halved"}, "image": {"alt": "On the left is a tower of 12 blocks, BERT, with arrows from blocks 0, 2, 4, 6, 8 and 10 to the six blocks of DistilBERT. On the right is our teacher of two blocks, with an arrow from block 0 to the student's only block."}}
before.halved([("BERT", "DistilBERT", 12), ("our teacher", "student", 2)])
plt.show()

# %% [markdown]
# ```{exercise} Every second block
# :label: exercise-every-second
#
# *4 minutes.* Given a list of blocks, return every second one, starting with the first, in order. Return copies: training the student must leave its teacher as it is. ([Solution](solutions/11_small.ipynb#solution-every-second))
# ```


# %%
def every_second(blocks):
    """A list of blocks, which are modules, to a list of half as many."""
    raise NotImplementedError


every_second = check("every_second", every_second)

# %%
check.show_reference("every_second")

# %% [markdown]
# Student and teacher read the same text. The student's loss has three parts: yesterday's loss on the hidden words; your loss on the soft targets; and one minus the cosine of the angle between its last vectors and the teacher's (an exercise at the end, {numref}`exercise-cosine`).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "DistilBERT's recipe, with a teacher of four blocks: blocks 0 and 2 are copied (dashed), and three losses teach the student.", "name": "fig-pre-recipe"}, "image": {"alt": "Above is a teacher of four blocks in a row, and below it is a student of two. Dashed arrows lead from the teacher's blocks 0 and 2 to the student's. After each row come its vectors and its probabilities of words. Arrows marked cosine and soft targets lead from the teacher's vectors and probabilities to the student's, and one marked masked words from the hidden word to the student's probabilities."}}
mechanisms.recipe()
plt.show()

# %%
show_source(distil)

# %% [markdown]
# You teach a student for 60 steps, which takes seconds. Another, taught for 400, is stored.

# %% tags=["training"]
yours = student_of(teacher, every_second)
distil(teacher, yours, Hidden(60), seed=1000, soft_targets=soft_target_loss)
student = restored(new_model(0, n_layers=1), models.load("small_reader").weights)
found |= {"yours": guessed(yours.eval())["right"], "student": guessed(student)["right"]}

# %%
long = experiments.load("reader_page")
steps = long.column("student: steps")[0]
shares = [[100 * share for share in run] for run in long.column("student: found")]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Within a few hundred steps the student catches up with its teacher (dashed): hidden words found in held-out text. Means and ranges of three stored runs of 400 steps, each with a teacher of its own; the dashed line is the teacher of this page, and the diamond is your student after 60 steps.", "name": "fig-small-taught"}, "image": {"alt": "A rising curve over 400 steps with a band, which comes close to a dashed horizontal line. A diamond lies on or near the curve at 60 steps."}}
ax = curves({"student": (steps, shares)}, "step", "found (%)")
ax.axhline(100 * found["teacher"], color="gray", linestyle="dashed", linewidth=1)
ax.plot([60], [100 * found["yours"]], "D", color=COLOURS[1], markersize=9)
plt.show()

# %% tags=["evidence"]
observe(
    "Untaught, half of the teacher finds {half:.0%} of the hidden words; it finds {yours:.0%} after your 60 steps and {student:.0%} after 400. The teacher finds {teacher:.0%}.",
    half=found["first block alone"],
    yours=found["yours"],
    student=found["student"],
    teacher=found["teacher"],
    holds=found["first block alone"] < found["yours"] < found["student"] + 0.02
    and found["student"] > found["teacher"] - 0.03,
)

# %% [markdown]
# Which gift helped, the teacher's blocks or its lessons? In a stored experiment, students got one of them, both, or neither. Each was then fine-tuned with 100 labels, at the best of four learning rates. (For the one that got neither, the highest of the four was best, so a still higher one might serve it a little better.)

# %%
distilled, timed = experiments.load("distilled"), experiments.load("student_time")
rivals = {
    "teacher": "teacher",
    "student": "student",
    "its start, no lessons": "without a teacher",
    "its lessons, random start": "from nothing",
    "neither": "without a teacher, from nothing",
    "neither, 1,900 steps": "alone, as long as both",
}

# %%
quality = {
    n: {name: distilled.column(f"{n} labels", model=of)[0] for name, of in rivals.items()}
    for n in (100, 1000)
}
part = {
    n: {name: fmean(of[name]) / fmean(of["teacher"]) for name in of} for n, of in quality.items()
}
assert min(part[100]["its start, no lessons"], part[100]["its lessons, random start"]) > 0.97

# %% tags=["evidence"] mystnb={"figure": {"caption": "Either gift is enough, and so is more reading: test sentences classified correctly after 100 labels. The one-block models read for 400 steps, except for the last one, which reads for 1,900, as many as teacher and student together. Mean and range of three seeds (stored experiment).", "name": "fig-pre-small"}, "image": {"alt": "Six bars. The teacher, the student, the start without lessons, the lessons from a random start, and neither after 1,900 steps are all between 43 and 51 percent; neither after 400 steps is at 35."}}
bars({name: [100 * share for share in of] for name, of in quality[100].items()}, "correct (%)")
plt.show()

# %% [markdown]
# The student is as good as its teacher. For telling libraries apart, either gift alone, blocks or lessons, would have been enough, and so would reading for nearly five times as many steps. So with a teacher, a student needs less *reading*, which matters where the teacher already exists, as BERT did.
#
# ### Pruning: fewer heads
#
# *2 minutes.* What about the weights inside a block? *Are sixteen heads really better than one?* ask Michel et al. {cite}`michel2019sixteen`. They multiply the output of each head by a **gate** $\xi$. At $\xi = 1$ nothing changes; at $\xi = 0$ the head is silent. How strongly the loss depends on the gate is the head's **importance**, and one backward pass computes it for all heads ({numref}`exercise-importance`).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each head has a gate after it. Where the gate is 0, the head's rows of W_q, W_k and W_v and its columns of W_o can be cut out.", "name": "fig-pre-gates"}, "image": {"alt": "Four boxes, head 0 to head 3, each with an arrow to a gate; the gates of heads 0, 1 and 3 are 1, that of head 2 is 0. Arrows lead from the gates to a box W_o; the one from head 2 is dashed."}}
mechanisms.gates()
plt.show()

# %%
heads = experiments.load("pruned_heads")
draws = [f"at random, {i}" for i in range(heads.parameters["draws"])]
orders = {
    "least important first": heads.column("least first"),
    "at random": [curve for draw in draws for curve in heads.column(draw)],
    "most important first": heads.column("most first"),
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Half of the sixteen heads can be silenced at hardly any cost, unless they are the most important ones: accuracy on the test sentences, with nothing tuned afterwards. Means and ranges of three seeds, with four random draws each (stored experiment).", "name": "fig-pre-heads"}, "image": {"alt": "Three falling curves over 0 to 16 silent heads, each with a band, from about 50 percent to about 35 percent. With the least important silenced first, the curve falls little until twelve are silent, and steeply from there on; in random order, it does nearly the same. With the most important first, it falls from the fifth head on."}}
lines = {name: (range(17), 100 * torch.tensor(of)) for name, of in orders.items()}
curves(lines, "silent heads", "correct (%)")
plt.show()

# %% [markdown]
# So half of our heads could be removed. But attention holds only a small part of our bytes ({numref}`fig-small-parts`), so removing them saves little. The [deeper page](deeper/11_small.ipynb#deeper-pruned) cuts the heads out.
#
# ### Sharing: one block, used again and again
#
# *1 minute.* ALBERT {cite}`lan2020albert` saves weights another way: all of its layers share one block. That has to be decided before pre-training.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "ALBERT uses one block for all four passes, and so does the Universal Transformer, which adds signals for position (p) and pass (t). Boxes with the same letter have the same weights.", "name": "fig-pre-shared"}, "image": {"alt": "Three columns of four boxes, one above the other. On the left are blocks of their own: A, B, C and D. In the middle is ALBERT: A four times. On the right is the Universal Transformer: A four times, with an arrow before each, from p plus t 1, p plus t 2, p plus t 3 and p plus t 4."}}
mechanisms.passes()
plt.show()

# %%
shared = {row["encoder"]: row for row in experiments.load("shared_layers").rows}
kinds = "four blocks", "one block, shared", "four narrower blocks"
correct = {kind: fmean(shared[kind]["1000 labels"]) for kind in kinds}
saved = 1 - shared[kinds[1]]["parameters"] / shared[kinds[0]]["parameters"]

# %% tags=["evidence"]
observe(
    "Using one block for all four passes saves {saved:.0%} of the parameters. With 1,000 labels this model classifies {one:.0%} of the sentences correctly; four blocks classify {four:.0%}, and four narrower blocks of the same total size classify {narrow:.0%}.",
    saved=saved,
    **dict(zip(("four", "one", "narrow"), correct.values())),
    holds=0.2 < saved < 0.4
    and correct[kinds[1]] + 0.01 < correct[kinds[0]]
    and abs(correct[kinds[2]] - correct[kinds[1]]) < 0.03,
)

# %% [markdown]
# Every pass still has to be computed, so sharing saves memory but no time. We don't take this step.
#
# ### Quantisation: fewer bits in a weight
#
# *13 minutes, 10 of them yours.* So far we have counted numbers. But how large is a number? A weight in float32 takes four bytes. In **int8** it takes one: an integer $q$ from $-127$ to $127$, multiplied by a scale $s$ that its whole row shares, $w \approx s\,q$. The scale is the largest absolute value in the row, divided by 127.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With a scale for each row (middle), small and large weights both stay precise; with one scale for all (right), the small row becomes coarse.", "name": "fig-pre-int8"}, "image": {"alt": "On the left are two rows of four weights: small ones up to 1.27 and large ones up to 12.7. In the middle are integers up to 127 in both rows, with the scales 0.01 and 0.1. On the right, with a single scale of 0.1, the small row has only 3, minus 13, 0 and 6."}}
some = torch.tensor([[0.31, -1.27, 0.02, 0.64], [12.7, 5.0, -0.4, 8.1]])
ways = {"a scale for each row": True, "one for all": False}
mechanisms.rounding(
    some, {name: round_weight(some, by_row=by_row) for name, by_row in ways.items()}
)
plt.show()

# %% [markdown]
# ```{exercise} Rows in int8
# :label: exercise-int8-rows
#
# *10 minutes.* Round a weight matrix, row by row, with `torch.round`. Return the integers and the scales. A row of zeros gets a scale of 1: why not 0?
# ([Solution](solutions/11_small.ipynb#solution-int8-rows))
# ```


# %%
def int8_rows(W):
    """Return whole numbers from -127 to 127, as int8, and the scales: W ≈ scale · whole.

    A row of zeros has a scale of 1. Shapes: W (n, d) to (n, d) and (n, 1).
    """
    raise NotImplementedError


int8_rows = check("int8_rows", int8_rows)

# %%
check.show_reference("int8_rows")

# %% tags=["view"]
guess(
    "Every weight of the student is rounded to one of 255 values, and nothing is tuned afterwards. How many of the hidden words that it used to find does it now miss?",
    ["too few to measure", "about a tenth of them", "about half of them"],
    right=0,
    because="An error of at most half a step in each weight hardly moves a sum of 64 products.",
)

# %% [markdown]
# With your function we round every matrix of the student, the table of words included, and train nothing afterwards.


# %%
@torch.no_grad()
def in_int8(model):
    """A copy of a model with the values that int8 leaves."""
    made = deepcopy(model)
    for weight in made.parameters():
        if weight.dim() == 2:
            whole, scale = int8_rows(weight)
            weight.copy_(scale * whole)
    return made


found["student in int8"] = guessed(in_int8(student))["right"]
kept = bytes_of(with_rounded_weights(student))

# %% tags=["evidence"]
observe(
    "The student takes {small:,} bytes in int8 and {large:,} in float32. It finds {rounded:.1%} of the hidden words; before rounding, it found {exact:.1%}.",
    small=kept,
    large=bytes_of(student),
    rounded=found["student in int8"],
    exact=found["student"],
    holds=0.25 < kept / bytes_of(student) < 0.3
    and abs(found["student in int8"] - found["student"]) < 0.01,
)

# %% [markdown]
# Nearly three quarters of the bytes are gone, and nothing is lost. ([Is it faster, too?](deeper/11_small.ipynb#deeper-int8))
#
# **Enough for tonight?** This is a good place to stop: the model is small. The rest makes copies of it cheap.
#
# ### LoRA: fewer numbers in a copy
#
# *12 minutes, 8 of them yours.* One factor is left: the copies. **LoRA** {cite}`hu2022lora` freezes the model and adds to each chosen weight matrix a change of **low rank**, the product of two thin matrices:
#
# $$
# W' = W + \tfrac{\alpha}{r}\, B A
# $$ (eq-lora)
#
# The **rank** $r$ is a small number: $A$ has $r$ rows, and $B$ has $r$ columns. The number $\alpha$ sets how much the change counts. Only $A$ and $B$ are trained. $B$ starts at 0, so before training, $W' = W$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "LoRA adds a detour of width r next to the frozen weight. After training, the product B A is merged into W, and the detour is gone.", "name": "fig-pre-lora"}, "image": {"alt": "An input x leads along two paths to a sum. The upper path goes through a large square, W, marked frozen. The lower one goes through A, which is wide and low, and B, which is narrow and high, with r numbers between them. After B comes alpha over r."}}
mechanisms.detour()
plt.show()

# %% [markdown]
# ```{exercise} LoRA: a change of low rank
# :label: exercise-lora
#
# *8 minutes.* Return the outputs of a layer with LoRA, and the single weight matrix that gives the same outputs after training.
# ([Solution](solutions/11_small.ipynb#solution-lora))
# ```


# %%
def lora_layer(x, W, A, B, alpha):
    """Return the outputs, and the merged weight.

    Shapes: x (..., d_in), W (n, d_in), A (r, d_in), B (n, r) to (..., n) and (n, d_in).
    """
    raise NotImplementedError


lora_layer = check("lora", lora_layer)

# %%
check.show_reference("lora")

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four tasks need four copies of the whole model, or one frozen model and four small changes.", "name": "fig-small-copies"}, "image": {"alt": "On the left are four large boxes, W1 to W4, for tasks 1 to 4. On the right is one large box, W, frozen, with arrows to four small boxes, B1 A1 to B4 A4."}}
mechanisms.copies()
plt.show()

# %% tags=["view"]
guess(
    "The encoder is frozen, and only LoRA's thin matrices and the new layer are trained. At rank 4, what share of all the parameters is that?",
    ["about a tenth", "about a hundredth", "about a thousandth"],
    right=1,
    because="The table of words is frozen with the rest, and the two thin matrices beside each chosen weight matrix hold few numbers.",
)

# %%
lora = experiments.load("lora")
ranks = [1, 2, 4, 8, 16]
ways = ["frozen", *(f"rank {rank}" for rank in ranks), "full"]
trained = {way: lora.column(f"{way}, trained")[0] for way in ways}
after = {way: lora.column(f"{way}, 1000 labels") for way in ways}

# %% tags=["evidence"] mystnb={"figure": {"caption": "By training a hundredth of the parameters, LoRA gets part of the way from a frozen encoder to a tuned one: accuracy on the test sentences after 1,000 labels, by the number of trained parameters. From left to right: only the new layer, LoRA at ranks 1 to 16, all weights. Means and ranges of three seeds (stored experiment).", "name": "fig-pre-ranks"}, "image": {"alt": "A curve over the number of trained parameters on a logarithmic axis, with a band. It rises from the frozen encoder on the left to the fully tuned one on the right; between the ranks there is little difference."}}
lines = {"": (list(trained.values()), 100 * torch.tensor([*zip(*after.values(), strict=True)]))}
ax = curves(lines, "trained parameters", "correct (%)", logx=True)
ax.set_ylim(40, 60)
plt.show()

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We compare your functions with PyTorch's and with the book's own.

# %% tags=["evidence"]
torch.manual_seed(0)
z, v = torch.randn(2, 6, 40).double() * 3
log_q, log_p = ((of / 2).log_softmax(dim=1) for of in (z, v))
expected = 4 * nn.KLDivLoss(reduction="batchmean", log_target=True)(log_q, log_p)
torch.testing.assert_close(soft_target_loss(z, v, 2.0), expected, rtol=1e-10, atol=1e-10)

W = torch.randn(5, 7).double()
for ours, theirs in zip(int8_rows(W), round_weight(W), strict=True):
    assert torch.equal(ours.double(), theirs.double())
change = LowRank(W, (0, 5), rank=2, alpha=8.0).double()
nn.init.normal_(change.B)
merged = lora_layer(torch.randn(3, 7).double(), W, change.A, change.B, 8.0)[1]
torch.testing.assert_close(merged, change(W), rtol=1e-10, atol=1e-10)
print("losses, integers and merged weights agree")

# %% [markdown]
# ## Train it
#
# *3 minutes.* Now we take these steps one after the other, on the libraries' sentences. You fine-tune the stored student with 1,000 labels. Then it loses the less important half of its heads, and its weights are rounded, first to 8 bits and then to 4. Nothing is tuned afterwards.

# %% tags=["training"]
task = with_labels(1000)
rate = distilled.column("rate, 1000 labels", model="student")[0]
tuned = fine_tune(classifier(student, 5), task, rate)
ladder = {"student": (right(tuned, task, task.validation), bytes_of(tuned))}
for name, model, size in one_by_one(tuned, task):
    ladder[name] = right(model, task, task.validation), size
accuracy = {name: share for name, (share, _) in ladder.items()}

# %% tags=["evidence"]
observe(
    "Your student classifies {student:.1%} of the validation sentences correctly. With half of its heads it manages {heads:.1%}. That smaller model manages {eight:.1%} in 8 bits and {four:.1%} in 4 bits.",
    student=accuracy["student"],
    heads=accuracy["half of the heads"],
    eight=accuracy["8 bits"],
    four=accuracy["4 bits"],
    holds=accuracy["half of the heads"] > accuracy["student"] - 0.06
    and abs(accuracy["8 bits"] - accuracy["half of the heads"]) < 0.015
    and accuracy["4 bits"] > accuracy["8 bits"] - 0.06,
)

# %% [markdown]
# Here are the same steps for three seeds, on the test sentences, with teacher and student each fine-tuned at the best of four learning rates.

# %%
NAMES = ["teacher", "student", "half of the heads", "8 bits", "4 bits"]
size = {name: long.column(f"{name}, bytes")[0] for name in NAMES}
tested = {n: {name: long.column(f"{name}, {n} labels") for name in NAMES} for n in (100, 1000)}
mean = {name: fmean(tested[1000][name]) for name in NAMES}
low = long.column("int8, LoRA, 1000 labels")
more = 4 * long.column("LoRA, trained")[0]

# %%
rows = []
for name in NAMES:
    shares = (tested[n][name] for n in (100, 1000))
    told = [f"{fmean(of):.1%} ({min(of):.1%} to {max(of):.1%})" for of in shares]
    rows.append([name, f"{size[name] / 1000:,.0f}", *told])
sizes = [size[name] / 1000 for name in NAMES]
shares = 100 * torch.tensor([tested[1000][name] for name in NAMES]).T
table(rows, ["model", "kilobytes", "correct, 100 labels", "1,000 labels"])

# %% tags=["evidence"] mystnb={"figure": {"caption": "From one megabyte to a quarter of one, at hardly any cost: test sentences classified correctly after 1,000 labels, from the teacher (right) to 4 bits (left). Means and ranges of three seeds (stored experiment).", "name": "fig-small-ladder"}, "image": {"alt": "A curve over kilobytes from 127 to 1,056, nearly level. From right to left: teacher, student, half of the heads, 8 bits, 4 bits."}}
ax = curves({"": (sizes, shares)}, "kilobytes", "correct (%)")
ax.set_ylim(30, 65)
ax.set_xlim(0)
for name, x, y in zip(NAMES, sizes, shares.mean(dim=0).tolist(), strict=True):
    off = (0, -18 if name == "student" else 12)
    ax.annotate(name, (x, y), off, textcoords="offset points", ha="center", fontsize=8)
plt.show()

# %% tags=["evidence"]
observe(
    "As the model shrinks from {large:.2f} to {small:.2f} MB, its accuracy goes from {teacher:.1%} to {eight:.1%}. For each further task, LoRA on the frozen int8 student adds {more:,} bytes and reaches {low:.1%}.",
    large=size["teacher"] / 1e6,
    small=size["8 bits"] / 1e6,
    teacher=mean["teacher"],
    eight=mean["8 bits"],
    more=more,
    low=fmean(low),
    holds=0.2 < size["8 bits"] / size["teacher"] < 0.26
    and mean["8 bits"] > mean["teacher"] - 0.05
    and fmean(low) > 0.4
    and more < size["8 bits"] / 10,
)

# %% [markdown]
# ## Look inside
#
# *5 minutes.* What do the models still have in common? Hide a word in a sentence that none of them has read, and move the slider: from the teacher to its student, to the untaught half of the teacher, and to the student in 4 bits.

# %% tags=["view"]
texts = [
    list(before.SENTENCE),
    "change the dimensions of an array".split(),
    "the model according to the given training data".split(),
]
four_bits = with_rounded_weights(student, 4)
named = {"teacher": teacher, "student": student}
named |= {"half of the teacher, untaught": untaught, "student in 4 bits": four_bits}
shares = [found["teacher"], found["student"]]
shares += [found["first block alone"], guessed(four_bits)["right"]]

# %% tags=["view"]
guessers = [
    Guesser(
        name,
        bytes_of(m, 4 if m is four_bits else 32),
        share,
        [filling.guesses(m, t) for t in texts],
    )
    for (name, m), share in zip(named.items(), shares)
]
hidden_words(texts, guessers, measure="hidden words found", amount="bytes")

# %% [markdown]
# ## Show someone
#
# *6 minutes.* The teacher, its student, and the student in as many bits as you allow fill the same gap. All three run here on the page; the third's weights are rounded as you move the slider. Find a sentence on which they agree at 8 bits, and the number of bits at which they no longer do.

# %% tags=["view"]
fewer_bits(
    {"teacher": "reader", "student": "small_reader"},
    names=libraries.NAMES,
    sentence="Take elements from an ___ along an axis.",
)

# %% [markdown]
# Or, in JupyterLab:

# %% tags=["nbval-ignore-output"]
for name, model in named.items():
    [(word, p), *_] = filling.fill(model, "Compute the ___ of a matrix.")[0]
    print(f"{name:32}{word:12}{p:4.0%}")

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* If 8 bits cost nothing and 4 bits cost little, why not 2? We round the student to fewer and fewer bits. Yesterday's reader had also learned when a word begins with a vowel, so we test that, too: after *an*, and after the same *an* changed to *a*.


# %%
bits = [2, 3, 4, 5, 6, 8]
by_bits = {"found": [], "vowels after an": [], "an changed to a": []}
for n in bits:
    rounded = with_rounded_weights(student, n)
    by_bits["found"].append(guessed(rounded)["right"])
    for name, shown in (("vowels after an", "an"), ("an changed to a", "a")):
        logits = logits_at(rounded, gaps_after("an", shown))
        by_bits[name].append(share_of_vowels(logits, vocabulary().symbols))
at_bits = dict(zip(bits, by_bits["found"]))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Down to 4 bits little is lost, and a vowel still follows *an*; with 2 bits, hardly anything is left. Shares of hidden words found, and of first guesses that begin with a vowel, for the stored student with its weights rounded and no further training.", "name": "fig-small-bits"}, "image": {"alt": "Three curves over 2 to 8 bits. The share of hidden words found is level from 8 down to 4 bits and falls below. The shares of vowels after an and after a stay far apart down to 4 bits or so and come together at 2."}}
lines = {name: (bits, [100 * share for share in of]) for name, of in by_bits.items()}
ax = curves(lines, "bits for each weight", "share (%)")
ax.set_xticks(bits)
plt.show()

# %% tags=["evidence"]
observe(
    "In 8 bits it finds {eight:.1%} of the hidden words; in 4 bits it finds {four:.1%}, and in 2 bits it finds {two:.1%}. In 4 bits, its first guess after *an* begins with a vowel in {vowels:.0%} of the gaps; in 2 bits, it does so in {none:.0%}.",
    eight=at_bits[8],
    four=at_bits[4],
    two=at_bits[2],
    vowels=by_bits["vowels after an"][2],
    none=by_bits["vowels after an"][0],
    holds=at_bits[8] - 0.05 < at_bits[4]
    and at_bits[2] < at_bits[4] - 0.1
    and by_bits["vowels after an"][2] > 0.8,
)

# %% [markdown]
# In 2 bits a weight is −1, 0 or 1 times its row's scale, which is too coarse for weights that weren't trained for it. A model with so few bits has to be trained with the rounding in place.

# %% [markdown]
# ## What we found
#
# *2 minutes.* Three claims that you will often read, and our answers. Five more are on the [deeper page](deeper/11_small.ipynb).
#
# (claim-pre-5a)=

# %%
distilbert, bert = (published_sizes(name).total for name in ("DistilBERT", "BERT-base"))

# %% tags=["evidence"]
claim(
    "pre-5a",
    "Yes: by the published sizes, DistilBERT has {fewer:.0%} fewer parameters. With half the blocks, ours has only {ours:.0%} fewer, since most are in its table.",
    fewer=1 - distilbert / bert,
    ours=fewer,
    holds=lambda fewer, ours: 0.38 < fewer < 0.41 and 0.05 < ours < 0.2,
    counted=True,
    scale="the papers' sizes, built as shapes without numbers; our teacher and its student",
)

# %% [markdown]
# (claim-pre-5c)=

# %% tags=["evidence"]
claim(
    "pre-5c",
    "Yes: the student reaches {few:.0%} of its teacher's accuracy with 100 labels, {more:.0%} with 1,000. Trained alone for 1,900 steps, it reaches {alone:.0%} and {longer:.0%}.",
    few=part[100]["student"],
    more=part[1000]["student"],
    alone=part[100]["neither, 1,900 steps"],
    longer=part[1000]["neither, 1,900 steps"],
    holds=lambda few, more, alone, longer: (
        0.97 < few < 1.03 and 0.97 < more < 1.03 and alone > 0.93 and 0.93 < longer < 0.99
    ),
    experiment="distilled",
    scale="one of two blocks, 400 steps; which of five libraries; four learning rates each, three seeds",
)

# %% [markdown]
# (claim-pre-8)=

# %%
stored = experiments.load("int8")
exact, eight, four = (
    fmean(stored.column(f"{form}, accuracy"))
    for form in ("float32", "int8 by row", "4 bits by row")
)
on_disk = [stored.column(f"{form}, bytes on disk")[0] for form in ("int8 by row", "float32")]

# %% tags=["evidence"]
claim(
    "pre-8",
    "Yes: with {share:.0%} of the bytes, the encoder classifies {small:.1%} of the sentences correctly; in float32, {full:.1%}. Even in 4 bits, it manages {four:.1%}.",
    share=on_disk[0] / on_disk[1],
    small=eight,
    full=exact,
    four=four,
    holds=lambda share, small, full, four: (
        0.25 < share < 0.35 and abs(small - full) < 0.005 and full - 0.02 < four < full + 0.01
    ),
    scale="five libraries' sentences, 1,000 labels; 2 blocks of width 64; three seeds; weights rounded after tuning",
    experiment="int8",
)

# %% [markdown]
# **How small can we make it?** With half of the blocks, half of the heads and 8 bits per weight, the model shrinks to a quarter of its size, and our test shows hardly any loss. With 4 bits it shrinks to an eighth and loses little. With 2 bits it falls apart.

# %% [markdown]
# ## Exercises
#
# One more is on the [deeper page](deeper/11_small.ipynb), and all solutions are on [a page of their own](solutions/11_small.ipynb).
#
# ```{exercise} Predict: how large is DistilBERT?
# :label: exercise-distilberts-size
#
# *Warm-up, 4 minutes.* DistilBERT has one table of 30,522 words, one of 512 positions, and 6 blocks, 768 wide. A block has four matrices for attention, a feed-forward layer with 3,072 hidden units (all with biases), and two layer norms. One more norm comes after the tables. Exactly how many parameters does it have?
# ([Solution](solutions/11_small.ipynb#solution-distilberts-size))
# ```

# %%
my_parameters = None

check("distilberts_size", my_parameters)

# %% [markdown]
# ```{exercise} Cosine loss
# :label: exercise-cosine
#
# *Core, 8 minutes.* Return the third part of the student's loss: one minus the cosine of the angle between its vector and its teacher's, averaged over all positions that aren't padding. The cosine is the dot product of the two vectors, divided by the product of their lengths.
# ([Solution](solutions/11_small.ipynb#solution-cosine))
# ```


# %%
def cosine_loss(x_student, x_teacher, real):
    """Shapes: vectors (B, T, D) of both; real (B, T), False at padding; returns a scalar tensor."""
    raise NotImplementedError


check("cosine", cosine_loss)

# %% [markdown]
# ```{exercise} The importance of heads
# :label: exercise-importance
#
# *Stretch, 10 minutes.* A gate $\xi = 1$ multiplies all the numbers in a head's context. Given the contexts, and the gradient of each text's loss with respect to them, return the importance of each head: the mean of $|\partial \mathcal{L} / \partial \xi|$ over the texts.
# ([Solution](solutions/11_small.ipynb#solution-importance))
# ```


# %%
def importance(contexts, gradients):
    """Shapes: contexts and gradients (B, h, T, d_v) to importances (h,)."""
    raise NotImplementedError


check("importance", importance)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "say where a model's bytes are, and how many you save by dropping half of its blocks": "distilberts_size",
    "teach a small model what a large one knows, and not only what is correct": "soft_targets every_second cosine",
    "find out which attention heads a model can do without": "importance",
    "store weights in a quarter of their bytes": "int8_rows",
    "fine-tune a model for ten tasks without ten copies": "lora",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **What comes next** joins Days 9 and 10: one half of a model reads, and the other writes. It begins on [Day 10's deeper page](deeper/10_pretraining.ipynb#deeper-spans), where such a model fills gaps of several words, and [every task becomes text](deeper/10_pretraining.ipynb#deeper-text-to-text).

# %% [markdown]
# ## Further reading
#
# - {cite:t}`hinton2015distilling`, where soft targets come from.
# - {cite:t}`sanh2019distilbert`: DistilBERT, in five pages.
# - {cite:t}`dettmers2022llm`: int8 for models with billions of weights, and the few columns that resist it.
# - {cite:t}`hu2022lora`: LoRA.
