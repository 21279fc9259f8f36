# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 13, deeper: Drawing: a sentence becomes a picture
#
# This page goes beyond the evening of [Day 13](../13_drawing.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from statistics import fmean

import matplotlib.pyplot as plt
import torch

from utils.data.pictures import digits
from utils.data.scenes import draw, say, scenes, understand
from utils.drawing import gumbel_softmax, unmask_schedule
from utils.drawing.diffusion import Denoiser, denoise, denoising_loss
from utils.exercises.drawing import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import drawing as mechanisms
from utils.show.plotting import bars, curves, use_book_style
from utils.show.views import models
from utils.tasks import drawing as task
from utils.tasks import scenes_in_codes as coding

use_book_style()

# %%
coder = coding.restored_autoencoder(models.load("drawing_codes").weights)
writer = task.restored_writer(models.load("drawing_writer").weights)

# %% [markdown]
# (deeper-codebooks)=
# ## What keeps a codebook alive?
#
# *2 minutes.* **Are restarts the only remedy?** Three are common. *Restarts* are in the lesson. With *moving averages* {cite}`oord2017neural`, each code is the mean of the vectors that chose it lately, so it needs no loss and no learning rate of its own; here they are used alone and with restarts. *Gumbel-softmax*, which DALL·E uses, has no nearest vector at all (next section).

# %%
stored = experiments.load("codebooks")
in_use = {kind: stored.column("in use", kind=kind) for kind in coding.CODEBOOKS}
still_read = {kind: stored.column("read", kind=kind) for kind in coding.CODEBOOKS}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Restarts keep a codebook alive, with or without moving averages. Its loss alone, moving averages alone, and Gumbel-softmax with a KL weight of 0.0001 don't, all at the rate chosen for restarts. Perplexity of the codes of 300 new scenes, of 256 codes, after 600 steps. Mean and range of three seeds (stored experiment).", "name": "fig-draw-codebooks"}, "image": {"alt": "Five bars: learned, averaged alone, restarted, averaged and restarted, and Gumbel."}}
assert max(in_use["averaged alone"]) < 25 < min(in_use["averaged"])
names = {"averaged": "averaged and restarted"}
bars({names.get(kind, kind): of for kind, of in in_use.items()}, "codes in use (perplexity)")
plt.show()

# %% [markdown]
# (claim-dal-2)=

# %% tags=["evidence"]
alone, restarted = fmean(in_use["learned"]), fmean(in_use["restarted"])
claim(
    "dal-2",
    "Yes: left to its loss, a codebook of 256 has a perplexity of {alone:.0f}; with restarts, its perplexity is {restarted:.0f}.",
    alone=alone,
    restarted=restarted,
    holds=lambda alone, restarted: 1 < alone < 25 and restarted > 60,
    experiment="codebooks",
    scale=f"{stored.parameters['steps']} steps, 256 codes of width 16, 24 × 24 pixels, three seeds, one learning rate, chosen for restarts",
)

# %% tags=["evidence"]
observe(
    "After so short a training, that doesn't show in the pictures: the parser reads {alone:.0%} of the scenes that a codebook left alone has coded, and {restarted:.0%} of those coded with restarts. We left no codebook alone for longer.",
    alone=fmean(still_read["learned"]),
    restarted=fmean(still_read["restarted"]),
    holds=abs(fmean(still_read["learned"]) - fmean(still_read["restarted"])) < 0.15,
)

# %% [markdown]
# (deeper-codebook-size)=
# ## How many codes does a picture need?
#
# *2 minutes.* **Would a smaller codebook do, or a coarser grid?** Among $K$ codes, each takes $\log_2 K$ bits, and a grid of $n$ codes takes $n \log_2 K$. The page's grid has 6 × 6 codes of 256. A smaller codebook saves bits, and so does a coarser grid. A finer grid of four codes takes as many bits as the page's. All autoencoders were trained for equally many steps, with restarts. The shares are means of three seeds, and of two for the grids of 3 × 3 and 12 × 12.

# %%
sizes, grids = experiments.load("codebook_sizes"), experiments.load("code_grids")
page_codes = experiments.load("picture_codes")
read = {(6, K): sizes.column("read", n_codes=K) for K in sizes.parameters["n_codes"]}
read[6, 256] = page_codes.column("read")
for row in grids.rows:
    read.setdefault((row["grid"], row["codes"]), []).append(row["read"])
bits = {(side, K): int(side**2 * math.log2(K)) for side, K in read}

# %% tags=["evidence"]
assert {cut: len(of) for cut, of in read.items() if cut[0] != 6} == {(3, 256): 2, (12, 4): 2}
assert all(len(of) == 3 for (side, _), of in read.items() if side == 6)
rows = [
    [f"{side} × {side}", K, bits[side, K], f"{100 * fmean(read[side, K]):.0f}%"]
    for side, K in sorted(read, key=bits.get)
]
png = fmean(page_codes.column("png bits"))
table(
    [*rows, ["PNG file", "", f"{png:,.0f}", "all pixels kept"]],
    ["grid", "codes", "bits of a picture", "scenes still read"],
)

# %% tags=["evidence"]
coarse, small, large = (fmean(read[cut]) for cut in ((3, 256), (6, 16), (6, 256)))
assert 2 * bits[3, 256] == bits[6, 16] and coding.GRID == 4 < 24 / 3
observe(
    "With a codebook of 16, {small:.0%} of new scenes can still be read, and with one of 256, {large:.0%} can. With a grid of 3 × 3, only {coarse:.0%} can. But its codes take half the bits of those from the codebook of 16, and many things begin in the middle of its patches, so this doesn't show which way of saving bits is better.",
    small=small,
    large=large,
    coarse=coarse,
    holds=coarse + 0.2 < small and small + 0.05 < large,
)

# %% [markdown]
# (deeper-gumbel)=
# ## Gumbel-softmax: a choice with a slope
#
# *3 minutes.* **Can a network choose a code, and still have a gradient?** Let the encoder return a logit for each code, and sample one. To sample from softmax(logits), we can add noise to each logit and take the largest: $\operatorname{argmax}_k (l_k + g_k)$, where $g = -\ln(-\ln u)$ and $u$ is uniform. That is exact; it is called the **Gumbel-max trick**. The argmax has no slope, so a softmax at a temperature $\tau$ takes its place {cite}`jang2017categorical,maddison2017concrete`:
#
# $$
# w = \operatorname{softmax}\left(\frac{l + g}{\tau}\right) .
# $$ (eq-gumbel-softmax)
#
# The decoder reads the mixture of the vectors with these weights. While $\tau$ falls from 1 to 1/16, the mixture becomes a choice.

# %%
logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
torch.manual_seed(0)
rows = []
for tau in (1.0, 0.25, 1 / 16):
    w = gumbel_softmax(logits.expand(20_000, -1), tau)
    first = w.argmax(dim=1).bincount(minlength=4) / len(w)
    rows.append([f"{tau:.2f}", f"{w.max(dim=1).values.mean():.2f}", *(f"{p:.2f}" for p in first)])
rows.append(["softmax", "", *(f"{p:.2f}" for p in logits.softmax(dim=0))])

# %% tags=["evidence"]
assert coding.COLDEST == 1 / 16
table(rows, ["temperature", "largest weight", "0 largest", "1 largest", "2 largest", "3 largest"])

# %% [markdown]
# Whatever the temperature, each code wins as often as its probability says. Only how clearly it wins depends on the temperature.
#
# DALL·E also pulls the probabilities $p = \operatorname{softmax}(l)$ at each position towards equal shares, so that no code is forgotten {cite}`ramesh2021zero`. It adds to the loss, with a weight $\beta$, their **Kullback–Leibler divergence** from the uniform distribution:
#
# $$
# \operatorname{KL}(p \,\Vert\, \text{uniform}) = \sum_k p_k \ln \frac{p_k}{1 / K} = \ln K - H(p) .
# $$ (eq-kl-uniform)
#
# It is 0 if all codes are equally probable, and $\ln K$ if one code is certain. The bar *Gumbel* in the figure above has a weight of only $10^{-4}$, on the mean over positions. DALL·E's is 6.6, on sums over pixels and positions, which is far more. We tried no other weight.

# %% tags=["evidence"]
gumbel = fmean(in_use["Gumbel"])
assert coding.autoencoder("Gumbel").codebook.kl_weight == 1e-4
observe(
    "After {steps} steps, its codes have a perplexity of {gumbel:.0f}, and those of the codebook left alone {alone:.0f}: with so small a weight, Gumbel-softmax collapses, too.",
    steps=stored.parameters["steps"],
    gumbel=gumbel,
    alone=alone,
    holds=gumbel < 1.5 * alone and gumbel < restarted / 4,
)

# %% [markdown]
# (deeper-guidance)=
# ## Guidance: how does a picture obey its sentence?
#
# *3 minutes.* **The writer knows two things: what pictures look like, and what this sentence asks for. Can we turn up the second?** In training, one sentence in ten was left out, so the writer can also draw a picture without one. The difference between its logits with and without the sentence is what the sentence adds. **Classifier-free guidance** {cite}`ho2022classifier,gafni2022make` exaggerates it by a weight $w$:
#
# $$
# l = l_{\text{without}} + w\,(l_{\text{with}} - l_{\text{without}}) .
# $$ (eq-guidance)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Guidance exaggerates what the sentence changes: the code that it makes likelier becomes likelier still. Logits of four codes, invented for this picture (bars), and their softmax (below).", "name": "fig-draw-guided"}, "image": {"alt": "Three groups of four bars. Without a sentence, the first is highest; with it, the second; guided, three times, the second is far above the others."}}
without, with_sentence = torch.tensor([[1.0, 0.5, 0.0, -0.5], [0.5, 1.5, 0.0, -1.0]])
mechanisms.guided(without, with_sentence, scale=3)
plt.show()

# %% [markdown]
# ```{exercise} Guided logits
# :label: exercise-guided-logits
#
# *Core, 4 minutes.* Compute {eq}`eq-guidance`. ([Solution](../solutions/13_drawing.ipynb#solution-guided-logits))
# ```


# %%
def guided_logits(with_sentence, without, weight):
    """Shapes: (B, V) each; returns (B, V)."""
    raise NotImplementedError


check("guided_logits", guided_logits)

# %%
page = experiments.load("drawing_page").rows  # three seeds
guided = {
    (which, n, how): [row[f"{how}chosen of {n}, 1, {which}"] for row in page]
    for which in ("seen", "unseen")
    for n in (1, 16)
    for how in ("", "guided, ")
}
asked = scenes(40, 8, n_things=(1,), part="test", pairs="unseen")
apart = {weight: task.apart(writer, asked, guidance=weight) for weight in (1.0, 2.0, 4.0)}

# %% tags=["evidence"]
assert task.DROPPED == 0.1  # one sentence in ten
rows = [
    [
        {"seen": "known", "unseen": "new"}[which],
        n,
        *(f"{100 * fmean(guided[which, n, how]):.0f}%" for how in ("", "guided, ")),
    ]
    for which in ("seen", "unseen")
    for n in (1, 16)
]
table(rows, ["combinations", "drawings to choose from", "w = 1", "w = 2"])

# %% tags=["evidence"]
best_plain, best_guided = (fmean(guided["unseen", 16, how]) for how in ("", "guided, "))
observe(
    "With the best of sixteen, guidance gains nothing that three seeds could show: {plain:.0%} of new combinations are drawn correctly at w = 1 ({low:.0%} to {high:.0%}), and {pushed:.0%} at w = 2.",
    plain=best_plain,
    low=min(guided["unseen", 16, ""]),
    high=max(guided["unseen", 16, ""]),
    pushed=best_guided,
    holds=min(guided["unseen", 16, ""]) <= best_guided <= max(guided["unseen", 16, ""]),
)

# %% tags=["evidence"]
observe(
    "Does guidance cost variety? Not much in this one writer: two drawings of the same sentence differ in {one:.0%} of their codes at w = 1, in {two:.0%} at w = 2 and in {four:.0%} at w = 4.",
    one=apart[1.0],
    two=apart[2.0],
    four=apart[4.0],
    holds=min(apart.values()) > 0.7 * apart[1.0],
)

# %% [markdown]
# (claim-dal-5)=

# %% tags=["evidence"]
plain, pushed = (fmean(guided["unseen", 1, how]) for how in ("", "guided, "))
different = len(set(scenes(60, 7, n_things=(1,), part="test", pairs="unseen")))
claim(
    "dal-5",
    "Yes: without guidance, {plain:.0%} of sentences about new combinations are drawn correctly; with a weight of 2, {pushed:.0%} are.",
    plain=plain,
    pushed=pushed,
    holds=lambda plain, pushed: pushed > plain + 0.05 and plain > 0.05,
    experiment="drawing_page",
    scale=f"one thing, one drawing for each of 60 sentences ({different} different ones), a temperature of 0.7; steps, rate and temperature chosen by the first seed; three seeds",
)

# %% [markdown]
# (deeper-describing)=
# ## Can the same network describe?
#
# *3 minutes.* **If a row may begin with a sentence and go on with a picture, why not the other way round?** Half of the batches of another writer begin with the 36 codes, and a sentence follows. To draw, we give it a sentence; to describe, the codes. Nothing else is new.

# %%
both = experiments.load("describing").rows
described = {
    (n, which): [row[f"described, {n}, {which}"] for row in both]
    for n in (1, 2)
    for which in ("seen", "unseen")
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "One network describes most pictures of one thing in a known combination, few of two things, and hardly any of new combinations. Share of new pictures that it describes correctly from their codes. Mean and range of three seeds (stored experiment).", "name": "fig-draw-described"}, "image": {"alt": "Four bars: one thing and two things, each in known and in new combinations. The bars of new combinations are hardly there."}}
known, new, hard, hardest = map(fmean, described.values())
assert known > 0.65 > 0.4 > hard > 0.1 > max(new, hardest)
names = {"seen": "known", "unseen": "new"}
bars(
    {
        f"{n} thing{'s' * (n > 1)}, {names[which]}": [100 * of for of in runs]
        for (n, which), runs in described.items()
    },
    "described correctly (%)",
)
plt.show()

# %% [markdown]
# A describing writer is a language model of sentences, too. In training, no sentence said *a blue seven*, and no picture showed one. For a picture of one, it must write a sentence that it never met.

# %%
one_drawing, best = (
    {
        (who, which): fmean(row[f"chosen of {n}, 1, {which}"] for row in rows)
        for who, rows in (("both", both), ("only draws", page))
        for which in names
    }
    for n in (1, 16)
)

# %% tags=["evidence"]
observe(
    "The writer that does both has seen half as many rows of each kind, and a single drawing suffers: {one:.0%} of sentences about known combinations are drawn correctly, where the writer that only draws manages {only_one:.0%}. With the best of sixteen, it is {sixteen:.0%} and {only_sixteen:.0%}. With new combinations and the best of sixteen, it is {new:.0%} and {only_new:.0%}.",
    one=one_drawing["both", "seen"],
    only_one=one_drawing["only draws", "seen"],
    sixteen=best["both", "seen"],
    only_sixteen=best["only draws", "seen"],
    new=best["both", "unseen"],
    only_new=best["only draws", "unseen"],
    holds=one_drawing["both", "seen"] < one_drawing["only draws", "seen"] - 0.2
    and best["both", "seen"] > 0.85
    and best["both", "unseen"] < best["only draws", "unseen"] - 0.2,
)

# %% [markdown]
# (claim-dal-6)=

# %% tags=["evidence"]
claim(
    "dal-6",
    "Yes, if the combination is known: it describes {says:.0%} of such pictures correctly and draws {draws:.0%} of such sentences. It describes {new:.0%} of new ones.",
    says=fmean(described[1, "seen"]),
    draws=best["both", "seen"],
    new=fmean(described[1, "unseen"]),
    holds=lambda says, draws, new: says > 0.65 and draws > 0.85 and new < 0.2,
    experiment="describing",
    scale="one thing, new handwriting; the best of 16; steps, rate and temperature of the writer that only draws, so half as many rows of each kind; three seeds",
)

# %% [markdown]
# (deeper-at-once)=
# ## All codes at once: MaskGIT
#
# *5 minutes.* **Must a picture be written like a page, from the top left to the bottom right?** A sentence has an order, a picture doesn't. **MaskGIT** {cite}`chang2022maskgit` learns like Day 10's BERT: some of the 36 codes are hidden, and an encoder, which sees both sides, predicts them. To draw a picture, it begins with all codes hidden, predicts all at once, keeps those of which it is most certain, and predicts the others again. (Some noise is added to the certainty, less at each step, so that drawings differ.) The number still hidden after step $t$ of $T$ falls along a cosine: $\lfloor n \cos(\tfrac{\pi}{2} \tfrac{t}{T}) \rfloor$. So it keeps few at first, while little is known.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "All codes are predicted at once, and in each of eight steps some are kept, few at first and more later. The order is random in this picture.", "name": "fig-draw-unmasking"}, "image": {"alt": "Eight pictures of six by six squares, with ever fewer squares covered; the last shows a red three left of a blue seven."}}
scene = draw(understand("a red three left of a blue seven"), seed=1)
rank = torch.randperm(36, generator=torch.Generator().manual_seed(1))
hidden = torch.stack([rank < left for left in unmask_schedule(36, steps=8)])
mechanisms.unmasking(scene.expand(8, -1, -1, -1), hidden)
plt.show()

# %% [markdown]
# ```{exercise} How many codes are still hidden?
# :label: exercise-unmask-schedule
#
# *Stretch, 8 minutes.* Return how many of n codes are hidden after each of the steps: by the cosine, rounded down. But each step shows at least one code, and the last one shows all. ([Solution](../solutions/13_drawing.ipynb#solution-unmask-schedule))
# ```


# %%
def unmask_schedule(n, steps):
    """Returns: a list of whole numbers, one for each step; the last one is 0."""
    raise NotImplementedError


check("unmask_schedule", unmask_schedule)

# %%
at_once = experiments.load("masked_pictures").rows
PASSES = 1, 4, 8, 16
by_passes = {
    f"{name}, {of}": (
        PASSES,
        100
        * torch.tensor([[row[f"chosen of {n}, {k}, {which}"] for k in PASSES] for row in at_once]),
    )
    for which, name in (("seen", "known"), ("unseen", "new"))
    for n, of in ((1, "one drawing"), (16, "best of 16"))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "One step isn't enough: codes that are sampled at the same time don't depend on each other. From eight to sixteen steps, only new combinations with the best of sixteen still gain much. Share of sentences about one thing that are drawn correctly, by the number of steps. Mean and range of three seeds (stored experiment).", "name": "fig-draw-steps"}, "image": {"alt": "Four curves over 1, 4, 8 and 16 steps. All begin near the bottom and rise to 8 steps, most of them steeply; after that, only new combinations with the best of 16 rise clearly."}}
gains = {name: (of[:, 3] - of[:, 2]).mean().item() for name, (_, of) in by_passes.items()}
assert gains.pop("new, best of 16") > 9 > 6 > max(gains.values())
ax = curves(by_passes, "steps", "drawn correctly (%)", logx=True)
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
ax.set_xticks(PASSES, PASSES)
plt.show()

# %%
symbols = task.vocabulary()
once = symbols.longest + 1 + symbols.n_places  # a sentence, the mark, and codes
eight = 8 * (symbols.n_places + symbols.longest)
in_eight, new_eight = (
    fmean(row[f"chosen of 16, 8, {which}"] for row in at_once) for which in ("seen", "unseen")
)

# %% tags=["evidence"]
observe(
    "With the best of sixteen, eight steps draw {eight_read:.0%} of known combinations correctly, and the writer's 36 steps {page_read:.0%}. With new combinations, the shares are {new_eight:.0%} and {new_page:.0%}. Steps of training, learning rate and temperature were chosen for the writer. MaskGIT has the same number of steps and the same rate, and we tuned neither its temperature nor its noise. And each of the eight steps passes all codes and words through the network, {eight} positions in all. The writer, with Day 9's cache, passes each of its {once} positions once.",
    eight_read=in_eight,
    page_read=best["only draws", "seen"],
    new_eight=new_eight,
    new_page=best["only draws", "unseen"],
    eight=eight,
    once=once,
    holds=in_eight > 0.85 and new_eight < best["only draws", "unseen"] - 0.05 and eight > 4 * once,
)

# %% [markdown]
# So all codes at once take fewer steps, but not less work. Do they take less time?

# %%
timed = experiments.load("drawing_time")
taken = {(row["way"], row["pictures"]): (1000 * row["seconds"], row["work"]) for row in timed.rows}
(slow, little), (quick, much) = (taken[way, 1] for way in ("one by one", "at once"))
many, many_at_once = (taken[way, 16][0] for way in ("one by one", "at once"))

# %% tags=["evidence"]
observe(
    "On one core, the writer takes {slow:.0f} ms for one picture, and eight steps take {quick:.0f} ms, with {times:.0f} times the operations. For sixteen pictures together, the writer takes {many:.0f} ms, and eight steps {many_at_once:.0f} ms.",
    slow=slow,
    quick=quick,
    times=much / little,
    many=many,
    many_at_once=many_at_once,
    holds=quick < 0.8 * slow and many < 0.8 * many_at_once and much > 4 * little,
)

# %% [markdown]
# Each step has a cost of its own, however few positions it computes. For a single picture, this cost counts most, so eight steps take less time than 36. For sixteen, the operations count most. So the steps of MaskGIT pay where a processor has room to compute many positions at the same time.

# %% [markdown]
# (deeper-diffusion)=
# ## What does diffusion do differently?
#
# *5 minutes.* **Many picture generators write no row of codes. What do they do?** They **take noise away** {cite}`sohl2015deep,ho2020denoising`. In training, data are mixed with noise; over $T$ steps, its share grows from almost none to nearly all:
#
# $$
# x_t = \sqrt{\bar\alpha_t}\, x_0 + \sqrt{1 - \bar\alpha_t}\, \varepsilon , \qquad \varepsilon \sim \mathcal{N}(0, I) ,
# $$ (eq-diffusion)
#
# and a network learns to predict the noise $\varepsilon$ from $x_t$ and $t$, with the squared error. Didn't the squared error give a smear? Yes, and it still does: from pure noise, the best guess is the mean of all data. But we only go a small step towards it, add a little new noise, and ask again. So the guess becomes sharper with each step.
#
# A picture would need a large network. Points in the plane need one of a few thousand parameters. Our data are the ink of a handwritten three: points sampled from its pixels.

# %%
show_source(denoising_loss)
show_source(denoise)

# %% tags=["training"]
images, labels = digits("file order").train
three = images[labels == 3][0, 0]  # (8, 8)
spots = torch.distributions.Categorical(three.flatten())
torch.manual_seed(0)


def points(n):
    """Points (n, 2) from the ink of a three."""
    at = spots.sample((n,))
    x, y = at % 8 + torch.rand(n), 8 - at // 8 - torch.rand(n)
    return (torch.stack([x, y], dim=1) - 4) / 1.5


model = Denoiser(T=100)
optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 3000)
for _ in range(3000):
    loss = denoising_loss(model, points(256))
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    falling.step()
way = denoise(model, torch.randn(1000, 2))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Noise becomes a three: 1,000 points after 0, 40, 70, 90 and 100 steps, and 1,000 points of the data (right).", "name": "fig-draw-diffusion"}, "image": {"alt": "Six scatter plots. The first is a round cloud; in the next ones the points gather on the strokes of a three; the last, the data, looks like the fifth."}}
shown = {f"after {t}": way[t] for t in (0, 40, 70, 90, 100)} | {"data": points(1000)}
figure, axes = plt.subplots(1, 6, figsize=(9.5, 2.2), sharex=True, sharey=True)
for ax, (title, of) in zip(axes, shown.items()):
    ax.scatter(*of.T, s=1.5)
    ax.set(title=title, aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
    ax.axis("off")
plt.show()

# %% tags=["evidence"]
far = {
    name: torch.cdist(of, points(2000)).min(dim=1).values.mean().item()
    for name, of in shown.items()
}
observe(
    "The network has {n:,} parameters. The points begin {noise:.2f} from the nearest point of the data, on average, and end at {end:.2f}; points of the data themselves are at {data:.2f}.",
    n=sum(weight.numel() for weight in model.parameters()),
    noise=far["after 0"],
    end=far["after 100"],
    data=far["data"],
    holds=far["after 100"] < far["after 0"] / 2,
)

# %% [markdown]
# That is a toy, and it shows only the principle. Real systems do it with pictures, many of them not in pixels but in the vectors of an autoencoder like ours, often without a codebook {cite}`rombach2022high`, and the sentence steers each step, with the guidance of this page.
#
# (deeper-real)=
# ## What do real systems need?
#
# *1 minute.* **What separates our writer from DALL·E, which has 12 billion parameters?** The parts are the same: codes, a row, next-token loss, and a CLIP that chooses. DALL·E's grid has 32 × 32 positions and its codebook 8,192 codes. Its sentences have up to 256 tokens, and it was trained on 250 million pictures with their captions {cite}`ramesh2021zero`. VQGAN gets sharper pictures from fewer codes, with a loss that compares features instead of pixels, and a second network that judges whether a picture looks real {cite}`esser2021taming`. We have none of this, and our pictures have 24 × 24 pixels. What we have is a world whose truth is known, so each drawing can be judged.
