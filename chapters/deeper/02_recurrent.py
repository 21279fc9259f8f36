# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 2, deeper: The recurrent network
#
# This page goes beyond the evening of [Day 2](../02_recurrent.ipynb). It measures in full what the lesson says in a sentence, answers
# three more claims, and has seven more exercises. The sections don't need each other, but for the network that writes: three of them use it.
# So begin with the question that you would have asked. The layers are those of `utils.recurrent`, which give the same numbers as yours.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import convolution, recurrent
from utils.data.batches import Batches
from utils.data.docstrings import PARTS, docstring_text
from utils.data.pictures import digits
from utils.data.text import BOS, EOS, PAD, BucketedBatches, Vocabulary, pad, stream
from utils.exercises.recurrent import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.graphs import longest_chain

# %% tags=["setup"]
from utils.measure.jacobians import factor, noise, random_matrix, rounds_to_settle
from utils.show.display import observe, show_source, table
from utils.show.plotting import COLOURS, curves, use_book_style
from utils.tasks.characters import train_characters
from utils.tasks.memory import recall_ids
from utils.training import sampling
from utils.training.counting import KneserNey
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy, perplexity
from utils.training.recipes import clip_gradients

use_book_style()

# %% [markdown]
# (deeper-layer)=
# ## Is the layer right in full?
#
# *4 minutes.* The lesson compares states and gradients of whole sequences. What about padding, final states, and the equation of
# {eq}`eq-bptt` itself? Here is the book's layer: one step of it, and the loop. $W_x x_t$ needs no state, so it is computed for all steps in one product.

# %%
show_source(recurrent.RNN)

# %%
show_source(recurrent.Recurrent.unroll)

# %% tags=["evidence"]
torch.manual_seed(0)
theirs, ours = nn.RNN(3, 5, batch_first=True).double(), recurrent.RNN(3, 5).double()
ours.load_library(theirs)
x = torch.randn(2, 7, 3, dtype=torch.float64, requires_grad=True)
lengths = torch.tensor([7, 3])
packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
expected, expected_last = theirs(packed)
expected, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
outputs, last = ours(x, lengths=lengths)
torch.testing.assert_close(outputs, expected, rtol=1e-10, atol=1e-10)
torch.testing.assert_close(last, expected_last[0], rtol=1e-10, atol=1e-10)
gradients = [torch.autograd.grad(y.pow(2).sum(), x)[0] for y in (outputs, expected)]
torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-10)
print("outputs, final states and gradients agree, padding and all: ten digits")

# %% [markdown]
# The library has two biases for each unit, where only their sum counts. Now we let autograd keep $\partial \mathcal{L} / \partial a_t$, where $a_t$ is what is inside the tanh, and see
# whether these numbers fulfil the equation. The loss is half the sum of all squared states, so what each step sends to its own state is $h_t$ itself.

# %% tags=["evidence"]
W_x, W_h, b = (w.detach() for w in (ours.W_x, ours.W_h, ours.b))
insides, h, states = [], torch.zeros(2, 5, dtype=torch.float64), []
for x_t in x.unbind(dim=1):
    insides.append(x_t @ W_x.T + h @ W_h.T + b)
    h = torch.tanh(insides[-1])
    states.append(h)
loss = sum(h.pow(2).sum() for h in states) / 2
deltas = [*torch.autograd.grad(loss, insides, retain_graph=True), torch.zeros_like(h)]
for t, h in enumerate(states):
    torch.testing.assert_close(deltas[t], (1 - h**2) * (h + deltas[t + 1] @ W_h))
(ours(x)[0].pow(2).sum() / 2).backward()
torch.testing.assert_close(ours.b.grad, sum(deltas[:7]).sum(0))
torch.testing.assert_close(x.grad, torch.stack(deltas[:7], dim=1) @ W_x)
print("the deltas fulfil the equation, and sum to the gradients of the bias and the inputs")

# %% [markdown]
# (deeper-light)=
# ## How long can a state keep one bit?
#
# *6 minutes.* A light is switched on, or off, or nothing happens; most of the time, nothing happens. Is it on? The memory that this takes is one bit. Yesterday's causal network with four dilated
# layers sees 16 steps, and we train it on rows of 16 commands. Then somebody gives one command and goes away.


# %%
def light_switch(n: int, length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw commands, 0 off, 1 on, 2 wait, and whether the light is on after each; both (n, length)."""
    generator = torch.Generator().manual_seed(seed)
    commands = torch.randint(2, (n, length), generator=generator)
    waits = torch.rand(n, length, generator=generator) < 0.8
    waits[:, 0] = False
    latest = torch.where(waits, 0, torch.arange(length)).cummax(dim=1).values  # step of a command
    return torch.where(waits, 2, commands), commands.gather(1, latest)


def then_wait(steps: int) -> torch.Tensor:
    """Two rows of commands (2, steps + 1): "off" and "on", and then nothing happens."""
    return torch.cat([torch.tensor([[0], [1]]), torch.full((2, steps), 2)], dim=1)


# %% tags=["evidence", "training"]
torch.manual_seed(0)
reaching = convolution.RecallNet(4, doubling=True, n_symbols=3)
commands, light = light_switch(2000, 16, seed=0)
one_hot = F.one_hot(commands, 3).float().transpose(1, 2)  # (n, 3, 16)
optimiser = torch.optim.AdamW(reaching.parameters(), lr=3e-3)
batches = Batches(one_hot, light[:, -1], batch_size=100, shuffle=True)
_ = fit(reaching, batches, F.cross_entropy, optimiser, epochs=8)

# %% tags=["evidence"]
says_on = {}  # probability that the light is on, after "off" and after "on"
for steps in (4, 16, 1000):
    rows = F.one_hot(then_wait(steps), 3).float().transpose(1, 2)
    says_on[steps] = reaching(rows).softmax(1)[:, 1].tolist()
off, on = says_on[4]
observe(
    "Four waits after *on*, the network gives a light that is on a probability of {on:.0%}, four waits after *off* {off:.0%}. After 16 waits both are {same:.0%}.",
    on=on,
    off=off,
    same=says_on[16][0],
    holds=on > off + 0.5 and all(math.isclose(*says_on[n], rel_tol=1e-5) for n in (16, 1000)),
)

# %% [markdown]
# From 16 waits on, the command is out of sight: the network gets the same 16 numbers in both cases, so it must give the same answer. No training can help. Now a recurrent network with a
# state of only eight numbers, asked after each step, from three seeds.


# %% tags=["evidence"]
def each_step(outputs: tuple, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy over all steps. Shapes: logits (B, T, V) beside a state, targets (B, T)."""
    return F.cross_entropy(outputs[0].flatten(0, 1), targets.flatten())


def learn_switch(seed: int) -> nn.Module:
    """A network of eight units, trained on rows of 16 commands."""
    torch.manual_seed(seed)
    network = recurrent.LanguageModel(3, 4, recurrent.RNN(4, 8))
    batches = Batches(*light_switch(2000, 16, seed), batch_size=100, shuffle=True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-2)
    fit(network, batches, each_step, optimiser, epochs=5, seed=seed)
    return network


# %% tags=["evidence", "training"]
keepers = [learn_switch(seed) for seed in range(3)]
sure = {}  # the least probability of the right answer, after "off" and "on", in three networks
for steps in (16, 1000, 10_000):
    with torch.no_grad():
        answers = [net(then_wait(steps))[0][:, -1].softmax(-1) for net in keepers]
    sure[steps] = min(answer[light, light].item() for answer in answers for light in (0, 1))
observe(
    "After 16 waits the three give the right answer a probability of {near:.0%} or more, after 1,000 waits {far:.0%}, and after 10,000 {farther:.0%}.",
    near=sure[16],
    far=sure[1000],
    farther=sure[10_000],
    holds=min(sure.values()) > 0.8,
)

# %% [markdown]
# They were trained on 16 steps, and keep the bit for ten thousand. A state is a place where something can be kept, and the length is free.
#
# (deeper-clipping)=
# ## When does training break without clipping?
#
# *4 minutes.* The lesson clips a reader of words, and gains something at a high learning rate alone. Is there a case in which nothing works without it? Take a task with one thing to remember: which of four symbols was the first, of ten. A stored experiment used gradient descent at two learning rates, from ten seeds, with weights $W_h$ that are large
# enough to hold a symbol, and to explode.

# %% tags=["evidence"]
clipping = experiments.load("clipping")
hows = [(rate, clipped) for rate in (0.1, 2.0) for clipped in (True, False)]
learned = {}  # how many of ten networks recall the first symbol
for rate, clipped in hows:
    shares = clipping.column("test, 10 symbols", learning_rate=rate, clipped=clipped)
    learned[rate, clipped] = sum(share > 0.95 for share in shares)
rows = [
    [str(rate), "yes" if clipped else "no", f"{learned[rate, clipped]} of 10"]
    for rate, clipped in hows
]
table(rows, ["learning rate", "clipped", "seeds that learn it"])

# %% tags=["evidence"]
observe(
    "At a rate of 2, {clipped} of ten clipped networks learn it, and {bare} of the others; at 0.1, {slow} and {slow_bare}.",
    clipped=learned[2.0, True],
    bare=learned[2.0, False],
    slow=learned[0.1, True],
    slow_bare=learned[0.1, False],
    holds=min(learned[2.0, True], learned[0.1, True], learned[0.1, False]) > 7
    and learned[2.0, False] < 2,
)

# %% [markdown]
# We suspect the large steps: one of them can throw the weights so far that training doesn't find the way back. AdamW divides by the gradient's size and hides much of this trouble.
#
# These networks also tell what "any length" is worth. They were trained on exactly ten symbols, and get nine and eleven.
#
# (claim-rnn-1)=

# %% tags=["evidence"]
other = [
    clipping.spread(f"test, {n} symbols", learning_rate=rate, clipped=True)[0]
    for n in (9, 11)
    for rate in (0.1, 2.0)
]
claim(
    "rnn-1",
    "Yes, if training asks at each step: a light is kept 1,000 steps ({keep:.0%} sure). Trained at ten alone, nine or eleven reach {other:.0%}.",
    keep=sure[1000],
    other=max(other),
    holds=lambda keep, other: keep > 0.8 and other < 0.5,
    scale="8 units, three seeds, the light is asked for at each step; 32 units, mean of ten seeds, the better of two rates, the symbol is asked for at the end",
)

# %% [markdown]
# The weights fit any length. But the second kind of network didn't learn "the first": it learned something that comes out right after ten steps.
#
# (deeper-writer)=
# ## How well does it write, and how well do tables?
#
# *8 minutes.* The lesson's writer makes single words. Given a long text, how does a network compare with a model that only counts? It reads scikit-learn's docstrings, which `help()` shows, and has to say each next character. Some modules are held out.
# The text is one long sequence, cut into chunks: the state goes on from chunk to chunk while the gradient doesn't.

# %%
show_source(recurrent.Streaming)

# %% tags=["evidence", "training"]
symbols = Vocabulary(docstring_text("train"))
docstrings = {part: torch.tensor(symbols.encode(docstring_text(part))) for part in PARTS}
torch.manual_seed(0)
writer = recurrent.Streaming(recurrent.LanguageModel(len(symbols), 32, recurrent.RNN(32, 128)))
how = {"batch_size": 16, "length": 32, "learning_rate": 8e-3}
_ = train_characters(writer, docstrings["train"], docstrings["validation"], epochs=1, **how)
judged_on = stream(docstrings["test"], 16, len(docstrings["test"]))
test_nats = evaluate(writer, judged_on, F.cross_entropy)["loss"]

# %% [markdown]
# A counting model of order $n$ {cite}`shannon1951prediction` looks at the $n - 1$ characters before, and looks up what has followed them. Where it has seen too little, it falls back on a shorter
# context, by the rules of Kneser and Ney {cite}`kneser1995improved`.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Perplexity on the test's text of models that count, by their order (they look at one character fewer), and of the recurrent network after one epoch.", "name": "fig-perplexity"}, "image": {"alt": "A falling curve that is flat from order six on; a dashed horizontal line for the network crosses it after order three."}}
orders = range(1, 8)
counting = {n: KneserNey(docstrings["train"], n, len(symbols)) for n in orders}
perplexities = {
    n: perplexity(-model.log_probabilities(docstrings["test"]).mean())
    for n, model in counting.items()
}
wavers = perplexity(test_nats)
ax = curves({"counting": (orders, list(perplexities.values()))}, "order (characters)", "perplexity")
ax.axhline(wavers, linestyle="--", color=COLOURS[1], label="recurrent, one epoch")
ax.legend()
plt.show()

# %% tags=["evidence"]
observe(
    "After one epoch the network's perplexity is {wavers:.2f}. Order 3 gets {three:.2f}, order 4 {four:.2f}, order 6 {six:.2f}.",
    wavers=wavers,
    three=perplexities[3],
    four=perplexities[4],
    six=perplexities[6],
    holds=perplexities[6] < wavers < perplexities[3],
)

# %% [markdown]
# The network has no table of what follows what. It has to get along with 128 numbers, and was trained for seconds. What a longer training
# gives, and what gates add, is tomorrow's matter.
#
# ### How should it choose?
#
# Taking the most likely character each time is called **greedy**. Besides the temperature, two more rules are common. **Top-k** {cite}`fan2018hierarchical` draws among the $k$ most likely ones, **top-p** {cite}`holtzman2020curious` among the
# fewest that together have the probability $p$.

# %%
show_source(sampling.top_p)


# %% tags=["evidence"]
def step(ids: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Read one character of each of B texts. Shapes: (B,) to logits (B, V)."""
    logits, state = writer.model(ids[:, None], state)
    return logits[:, 0], state


def write(choose, start: str = "The ") -> torch.Tensor:
    """16 texts of 400 characters (16, 400) that go on from a beginning."""
    ids = torch.tensor([symbols.encode(start)] * 16)
    with torch.no_grad():
        _, state = writer.model(ids[:, :-1])
    return sampling.generate(step, state, ids[:, -1], 400, choose)


def drawn_from(keep):
    """A way of choosing: filter the logits, then draw."""
    chance = torch.Generator().manual_seed(0)
    return lambda logits: sampling.sample(keep(logits), chance)


# %% tags=["evidence"]
filters = {
    "temperature 0.3": lambda logits: sampling.temperature(logits, 0.3),
    "temperature 0.7": lambda logits: sampling.temperature(logits, 0.7),
    "temperature 1": lambda logits: logits,
    "temperature 1.5": lambda logits: sampling.temperature(logits, 1.5),
    "top-k, 5": lambda logits: sampling.top_k(logits, 5),
    "top-p, 0.9": lambda logits: sampling.top_p(logits, 0.9),
}
written = {"greedy": write(lambda logits: logits.argmax(-1))}
written |= {name: write(drawn_from(keep)) for name, keep in filters.items()}

# %% tags=["evidence", "nbval-ignore-output"]
for name, ids in written.items():
    print(f"{name:16}", repr("".join(symbols.decode(ids[0, :100]))))

# %% [markdown]
# Which is best? Two things are wanted, and they pull apart. The text should be like the docstrings: the counting model of order 5 judges it, by its perplexity. And it should not
# repeat itself: we count what share of its pieces of eight characters are different.


# %% tags=["evidence"]
def judged(ids: torch.Tensor) -> float:
    """Perplexity of texts (n, 400) to the counting model of order 5."""
    return perplexity(-counting[5].log_probabilities(ids).mean())


def variety(ids: torch.Tensor) -> float:
    """Share of the pieces of eight characters, within texts (n, 400), that differ."""
    pieces = ids.unfold(1, 8, 1).tolist()  # (n, 393, 8)
    return sum(len(set(map(tuple, text))) / len(text) for text in pieces) / len(pieces)


rows = len(docstrings["validation"]) // 400
written["the docstrings"] = docstrings["validation"][: 400 * rows].view(rows, 400)
surprise = {name: judged(ids) for name, ids in written.items()}
varied = {name: variety(ids) for name, ids in written.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "16 texts of 400 characters written in each way. Right: more varied. Up: more surprising to a model that counts.", "name": "fig-sampling"}, "image": {"alt": "Points over variety from zero to one. Greedy writing is far to the left and low, a temperature of 0.3 in the middle and low, temperatures of 1 and above to the right and high. The others and the docstrings are to the right, in between."}}
figure, ax = plt.subplots(figsize=(7, 4.2))
for (name, value), marker in zip(surprise.items(), "osD^vPX*", strict=True):
    ax.scatter(varied[name], value, marker=marker, s=90, label=name)
ax.set(xlabel="share of different pieces", ylabel="perplexity to order 5", yscale="log")
ax.legend(fontsize=10)
plt.show()

# %% tags=["evidence"]
observe(
    "Greedy writing goes in circles: {greedy:.0%} of its pieces differ. At temperature 1 it is {varied:.0%}, with a perplexity of {free:.1f}; top-p at 0.9 has {top:.1f}, "
    "the docstrings {real:.1f}.",
    greedy=varied["greedy"],
    varied=varied["temperature 1"],
    free=surprise["temperature 1"],
    top=surprise["top-p, 0.9"],
    real=surprise["the docstrings"],
    holds=varied["greedy"] < 0.5
    and varied["temperature 1"] > 0.9
    and surprise["temperature 1"] > 2 * surprise["the docstrings"]
    and surprise["top-p, 0.9"] < surprise["temperature 1"] * 2 / 3
    and varied["top-p, 0.9"] > 0.6,
)

# %% [markdown]
# No way is best in both: each buys likeness with variety.
#
# (deeper-kinds)=
# ## Do all four kinds work?
#
# *9 minutes.* The lesson shows four ways to use a recurrence, and trains two of them. Does the same layer serve for all? Here is one of each, with the same layer: a word's language, a picture's name, a number in words, and the next character.
#
# **One to many.** Describing pictures is the best known task of this kind {cite}`vinyals2015show`. Ours is the smallest of them: a handwritten digit is made the first state, and a language model of letters spells its name from there.

# %%
names = "zero one two three four five six seven eight nine".split()
alphabet = Vocabulary("".join(names))


class Speller(nn.Module):
    """A picture is the first state of a model of letters. Shapes: (B, 1, 8, 8), (B, T) to logits."""

    def __init__(self):
        super().__init__()
        self.look = nn.Linear(64, 64)
        self.write = recurrent.LanguageModel(len(alphabet), 8, recurrent.RNN(8, 64))

    def start(self, images: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.look(images.flatten(1)))

    def forward(self, images: torch.Tensor, ids: torch.Tensor) -> tuple:
        return self.write(ids, self.start(images))


# %% [markdown]
# In training the network reads the right word, with a sign for its beginning in front, and has to say the same word, with a sign
# for its end behind. Padding doesn't count. Afterwards it reads what it has said itself.


# %%
def real_steps(outputs: tuple, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy over all steps that are not padding."""
    return F.cross_entropy(outputs[0].flatten(0, 1), targets.flatten(), ignore_index=PAD)


def say(model: nn.Module, state: torch.Tensor, length: int) -> torch.Tensor:
    """The most likely symbol at each step, from a first state on. Shapes: (B, N) to (B, ≤ length)."""

    def step(ids, state):
        logits, state = model(ids[:, None], state)
        return logits[:, 0], state

    first = torch.full((len(state),), BOS)
    return sampling.generate(step, state, first, length, lambda logits: logits.argmax(-1), end=EOS)


# %% tags=["evidence"]
def learned_to_spell(seed: int) -> float:
    """Share of new digits whose name a network spells right, after ten epochs."""
    torch.manual_seed(seed)
    speller, data = Speller(), digits("file order")
    read, told = (
        pad([ends(alphabet.encode(names[label])) for label in data.train.labels.tolist()])[0]
        for ends in (lambda word: [BOS, *word], lambda word: [*word, EOS])
    )
    optimiser = torch.optim.AdamW(speller.parameters(), lr=5e-3)
    clip_gradients(optimiser, 1.0)
    batches = Batches(data.train.images, read, told, batch_size=64, shuffle=True)
    fit(speller, batches, real_steps, optimiser, epochs=10, seed=seed)
    images, labels = data.test
    with torch.no_grad():
        said = say(speller.write, speller.start(images), 6)
    right = ("".join(alphabet.decode(row)) for row in said)
    return sum(word == names[i] for word, i in zip(right, labels.tolist())) / len(labels)


# %% tags=["evidence", "training"]
spelled = learned_to_spell(seed=0)
observe(
    "Of the names of new digits {share:.0%} are spelled right.", share=spelled, holds=spelled > 0.7
)

# %% [markdown]
# **First read, then write.** When the output has another length than the input, one network reads all of it, and its last state is the first state of
# another that writes. Day 4 is about such pairs. Here one reads the figures of a number below a thousand, and another writes it in
# words: 307 is *three hundred seven*.

# %%
teens = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
spoken = Vocabulary([*names, *teens, *tens, "hundred"])
figures = Vocabulary("0123456789")


def in_words(number: int) -> list[str]:
    """A number below a thousand, in words."""
    if number < 20:
        return [(names + teens)[number]]
    if number < 100:
        return [tens[number // 10 - 2], *(in_words(number % 10) if number % 10 else ())]
    rest = in_words(number % 100) if number % 100 else []
    return [names[number // 100], "hundred", *rest]


print(*in_words(307), "|", *in_words(40), "|", *in_words(999))


# %%
class NumberReader(nn.Module):
    """One network reads figures, another writes words from its last state on."""

    def __init__(self):
        super().__init__()
        self.read = recurrent.SequenceClassifier(len(figures), 16, recurrent.RNN(16, 64), 64)
        self.write = recurrent.LanguageModel(len(spoken), 16, recurrent.RNN(16, 64))

    def forward(self, source: torch.Tensor, lengths: torch.Tensor, ids: torch.Tensor) -> tuple:
        return self.write(ids, torch.tanh(self.read(source, lengths)))


# %% tags=["evidence"]
def learned_to_say(seed: int) -> float:
    """Share of 200 numbers that it never saw which a network writes without a mistake."""
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(seed)).tolist()
    known, unseen = order[:800], order[800:]
    torch.manual_seed(seed)
    model = NumberReader()
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    clip_gradients(optimiser, 1.0)
    pairs = [figures.encode(str(n)) for n in known], [spoken.encode(in_words(n)) for n in known]
    batches = BucketedBatches(*pairs, batch_size=40, shuffle=True)
    fit(model, batches, real_steps, optimiser, epochs=30, seed=seed)
    source, lengths = pad([figures.encode(str(n)) for n in unseen])
    with torch.no_grad():
        said = say(model.write, torch.tanh(model.read(source, lengths)), 6)
    return sum(spoken.decode(row) == in_words(n) for row, n in zip(said, unseen)) / len(unseen)


# %% tags=["evidence", "training"]
counted = learned_to_say(seed=0)
observe(
    "Of 200 numbers that it never saw, {share:.0%} are written without a mistake.",
    share=counted,
    holds=counted > 0.6,
)

# %% [markdown]
# It did not learn a thousand numbers by heart. It learned how numbers are said, and that takes memory: between the *three* and the
# *seven* of 307 it has to say *hundred*, and to know what comes after.
#
# **Many to one** is the lesson's reader: a stored experiment, `words`, trained one of 128 units, from three seeds. **In step** is the network that writes docstrings.

# %% [markdown]
# (claim-rnn-6)=

# %% tags=["evidence"]
told = experiments.load("words").column("test", layer="RNN")
claim(
    "rnn-6",
    "Yes: it names {told:.0%} of languages, spells {spelled:.0%} of digits, says {amounts:.0%} of numbers. In step, perplexity {wavers:.1f} beats triples ({three:.1f}).",
    told=min(told),
    spelled=spelled,
    amounts=counted,
    wavers=wavers,
    three=perplexities[3],
    holds=lambda told, spelled, amounts, wavers, three: (
        told > 0.6 and spelled > 0.7 and amounts > 0.6 and wavers < three
    ),
    scale="64 to 128 units; words: the worst of three stored seeds, all else: one",
)

# %% [markdown]
# (deeper-growth)=
# ## When does a network with a tanh explode?
#
# *8 minutes.* In the lesson, random networks with a spectral radius of 1.05 let a gradient vanish. What would it take for it to explode? The product of many Jacobians changes by a mean factor per step. Its logarithm is called the largest **Lyapunov exponent**,
#
# $$
# \lambda = \lim_{T \to \infty} \frac{1}{T} \log \lVert J_T\, J_{T-1} \cdots J_1 \rVert .
# $$ (eq-lyapunov)
#
# Where the factor $e^\lambda$ is below 1 the gradient vanishes, above 1 it explodes. We measure it over spectral radii up to 5, and inputs of several sizes.

# %% tags=["evidence"]
radii = [0.5, 0.85, 1.05, 1.5, 2.0, 3.0, 4.0, 5.0]
sizes = [0.1, 1.0, 3.0]
factors = {
    (r, size): [factor(random_matrix(r, s), noise(250, size, s)) for s in range(3)]
    for r in radii
    for size in sizes
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Factor per step by which a gradient changes on its way back, mean and range of three random networks. Above 1 it explodes, below it vanishes. A linear network would follow the diagonal.", "name": "fig-growth"}, "image": {"alt": "Curves over the spectral radius from 0.5 to 5, all rising, all below the diagonal from a radius of 1 on; they cross the line at 1 between radii of about 1.5 for small inputs and 3 for large ones."}}
lines = {"linear": (radii[:5], radii[:5])}
for size in sizes:
    three = zip(*(factors[r, size] for r in radii))
    lines[f"inputs of size {size}"] = radii, list(three)
ax = curves(lines, "spectral radius of $W_h$", "factor per step")
ax.axhline(1, color="black", linewidth=1)
plt.show()

# %% tags=["evidence"]
mean = {key: sum(values) / 3 for key, values in factors.items()}
observe(
    "At a radius of 2 the factor is {calm:.2f} with inputs of size 0.1, and {driven:.2f} with inputs of size 3. At 5 it is {wild:.2f} or more.",
    calm=mean[2.0, 0.1],
    driven=mean[2.0, 3.0],
    wild=min(mean[5.0, size] for size in sizes),
    holds=mean[2.0, 0.1] > 1.03
    and max(factors[2.0, 3.0]) < 0.9
    and all(max(factors[1.05, size]) < 1 < 1.1 < min(factors[5.0, size]) for size in sizes),
)

# %% [markdown]
# So above a norm of 1, no number of $W_h$ alone decides: the same weights make a gradient vanish under large inputs and explode under small ones. Large random
# networks without inputs become chaotic above a radius of 1 {cite}`sompolinsky1988chaos`; inputs calm them.
#
# ### Norm or spectral radius?
#
# The bound in {eq}`eq-jacobians` speaks of the norm, the lesson's figure of the spectral radius. How far can the two lie apart? Five matrices, the norm of their 100th power, and what becomes of a gradient with a tanh and inputs of size 1:


# %% tags=["evidence"]
def rotation(size: int, seed: int) -> torch.Tensor:
    """A random orthogonal matrix: it turns vectors and keeps their length."""
    W = torch.randn(size, size, generator=torch.Generator().manual_seed(seed))
    return torch.linalg.qr(W)[0]


matrices = {
    "0.95 × orthogonal": 0.95 * rotation(64, 0),
    "orthogonal": rotation(64, 0),
    "shear": torch.tensor([[0.8, 4.0], [0.0, 0.8]]),
    "random, radius 1.05": random_matrix(1.05, 0),
    "random, radius 5": random_matrix(5.0, 0),
}


# %% tags=["evidence"]
def facts(W: torch.Tensor) -> dict[str, float]:
    """Norm, spectral radius, largest and last norm of 100 powers, and the factor with a tanh."""
    powers, power = [], torch.eye(len(W), dtype=torch.float64)
    for _ in range(100):
        power = W.double() @ power
        powers.append(torch.linalg.matrix_norm(power, 2).item())
    return {
        "norm": torch.linalg.matrix_norm(W, 2).item(),
        "radius": torch.linalg.eigvals(W).abs().max().item(),
        "largest": max(powers),
        "last": powers[-1],
        "tanh": factor(W, noise(250, 1.0, 0, len(W))),
    }


measured = {name: facts(W) for name, W in matrices.items()}
rows = [
    [name, f"{f['norm']:.2f}", f"{f['radius']:.2f}", f"{f['last']:.0e}",
     "vanishes" if f["tanh"] < 1 else "explodes"]
    for name, f in measured.items()
]  # fmt: skip
table(rows, ["W", "norm", "radius", "W¹⁰⁰", "with tanh"])

# %% tags=["evidence"]
shear = measured["shear"]
observe(
    "The shear has a norm of {norm:.1f}. Its powers grow to {largest:.1f}, and the 100th has a norm of {last:.0e}.",
    norm=shear["norm"],
    largest=shear["largest"],
    last=shear["last"],
    holds=shear["norm"] > 4 and shear["largest"] > 8 and shear["last"] < 1e-6,
)

# %% [markdown]
# The shear's powers vanish in the end, since its spectral radius is 0.8; on the way they grow first. The orthogonal matrix keeps every gradient as long as it is, for ever. With a tanh and inputs it no longer does.
#
# (deeper-trained)=
# ## What did training make of the writer's weights?
#
# *5 minutes.* Random weights are one thing. Where does training take them? We let the network that writes docstrings read held-out text, and measure the same numbers before and after training.

# %% tags=["evidence"]
trained = writer.model
torch.manual_seed(0)
fresh = recurrent.LanguageModel(len(symbols), 32, recurrent.RNN(32, 128))
text = docstrings["validation"][: 16 * 1500].view(16, 1500)


@torch.no_grad()
def inner(model: nn.Module) -> dict[str, float]:
    """Radius of W_h, how flat the tanh is on real text, and the factor per step there."""
    projected = model.layer.project(model.embedding(text))
    h = model.layer(model.embedding(text))[0]
    return {
        "radius": torch.linalg.eigvals(model.layer.W_h).abs().max().item(),
        "saturated": (h.abs() > 0.95).float().mean().item(),
        "factor": factor(model.layer.W_h, projected[0, :300]),
    }


# %% tags=["evidence"]
before, after = inner(fresh), inner(trained)
observe(
    "Training raised the spectral radius from {low:.2f} to {high:.2f}, and {flat:.0%} of the units are beyond ±0.95. The gradient still shrinks, to {factor:.2f} of its size at a mean step.",
    low=before["radius"],
    high=after["radius"],
    flat=after["saturated"],
    factor=after["factor"],
    holds=before["radius"] < 1 < 1.5 < after["radius"]
    and before["saturated"] < 0.05 < 0.3 < after["saturated"]
    and max(before["factor"], after["factor"]) < 0.9,
)

# %% [markdown]
# The spectral radius is far above 1, and the gradient vanishes, because many units sit near -1 or 1, where the tanh is flat.


# %% tags=["evidence"]
def gradient_back(model: nn.Module, steps: int = 60) -> list[float]:
    """Norm of the gradient of a loss by the state k steps earlier, over that by its own state."""
    h, states = torch.zeros(16, 128), []
    for projected_t in model.layer.project(model.embedding(text[:, :100])).unbind(dim=1):
        h = model.layer.step(projected_t, h)
        states.append(h)
    loss = F.cross_entropy(model.output(h), text[:, 100])
    norms = [g.norm().item() for g in torch.autograd.grad(loss, states)][::-1]
    return [norm / norms[0] for norm in norms[:steps]]


back = {name: gradient_back(model) for name, model in (("untrained", fresh), ("trained", trained))}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Gradient of the loss at one step by the state k steps earlier, relative to its own, in the network that writes.", "name": "fig-gradient-back"}, "image": {"alt": "Two falling lines on a logarithmic axis; the one of the trained network falls more slowly, to below one millionth after sixty steps, the untrained one further."}}
lines = {name: (range(60), norms) for name, norms in back.items()}
curves(lines, "steps back", "relative size", logy=True)
plt.show()

# %% tags=["evidence"]
observe(
    "After 20 steps {fresh:.0e} of the gradient is left before training, and {trained:.0e} after it.",
    fresh=back["untrained"][20],
    trained=back["trained"][20],
    holds=3 * back["untrained"][20] < back["trained"][20],
)


# %% [markdown]
# That also says what truncation costs. We compare the gradient of $W_h$ over 64 steps, whole, with the one that is cut into chunks.


# %% tags=["evidence"]
def gradient_in_chunks(model: nn.Module, k: int) -> torch.Tensor:
    """Gradient of W_h over 64 steps, cut after every k."""
    model.zero_grad()
    state = None
    for begin in range(0, 64, k):
        logits, state = model(text[:, begin : begin + k], state)
        targets = text[:, begin + 1 : begin + k + 1]
        F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum").backward()
        state = recurrent.detach(state)
    return model.layer.W_h.grad.flatten().clone()


# %% tags=["evidence"]
whole = gradient_in_chunks(trained, 64)
likeness = [
    F.cosine_similarity(gradient_in_chunks(trained, k), whole, dim=0).item() for k in (1, 4, 16)
]
observe(
    "Cut after each step, the gradient has a cosine of {one:.2f} with the whole; cut after 4, of {four:.2f}; after 16, of {sixteen:.2f}.",
    one=likeness[0],
    four=likeness[1],
    sixteen=likeness[2],
    holds=likeness[0] < 0.85 and likeness[0] < likeness[1] < likeness[2] > 0.93,
)

# %% [markdown]
# Cutting after 16 loses little. But this network was trained on chunks of 32, so it never had reason to look further.
#
# (deeper-probe)=
# ## What does the state know?
#
# *4 minutes.* What does the card hold, in the end? A **linear probe** {cite}`alain2016understanding` asks: can the character of $k$ steps ago be read off the
# state, by a linear map that is fitted to half of the texts and tested on the other half?


# %% tags=["evidence"]
def probe(model: nn.Module, k: int) -> float:
    """Share of characters k steps back that a linear map reads off the state, on other texts."""
    with torch.no_grad():
        h = model.layer(model.embedding(text))[0][:, 30:]  # (16, T, N)
    h = torch.cat([h, torch.ones_like(h[:, :, :1])], dim=2)
    past = text[:, 30 - k : text.shape[1] - k]
    known, targets = h[:8].flatten(0, 1), F.one_hot(past[:8].flatten(), len(symbols)).float()
    ridge = known.T @ known + torch.eye(known.shape[1])
    weights = torch.linalg.solve(ridge, known.T @ targets)
    return accuracy(h[8:].flatten(0, 1) @ weights, past[8:].flatten())


distances = [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20]
probed = {
    name: [probe(model, k) for k in distances]
    for name, model in (("trained", trained), ("untrained", fresh))
}
blind = (text == text.flatten().mode().values).float().mean().item()  # always the same character

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of characters that can be read off the state, by how long ago they were read.", "name": "fig-probe"}, "image": {"alt": "Two falling curves. The untrained network's stays near one for three steps and falls to chance at about eight; the trained network's falls from the second step on and is at chance after about six."}}
lines = {name: (distances, shares) for name, shares in probed.items()}
ax = curves(lines, "steps ago", "share read off the state")
ax.axhline(blind, color="black", linewidth=1)
ax.set_xticks(range(0, 21, 5))
plt.show()

# %% tags=["evidence"]
observe(
    "Of characters three steps ago {fresh:.0%} can be read off the untrained state, and {trained:.0%} off the trained one; of those 15 steps ago {far:.0%}, "
    "as much as a guess gets.",
    fresh=probed["untrained"][3],
    trained=probed["trained"][3],
    far=probed["trained"][9],
    holds=probed["untrained"][3] > 0.7
    and probed["trained"][3] < probed["untrained"][3] - 0.1
    and max(abs(shares[9] - blind) for shares in probed.values()) < 0.05,
)

# %% [markdown]
# A surprise: a linear map finds *more* of the last characters in the untrained network. Random weights mix everything in. The trained
# network has to say what comes next, and for that it need not know each letter of the last word. Of these it keeps less in a form that
# is easy to read; what a cleverer reader would find, this probe can't tell. Both are one network from one seed.
#
# (deeper-parallel)=
# ## Must a recurrence wait?
#
# *6 minutes.* A step can't begin before the one that it needs. How long is the longest chain of operations that wait for
# each other? The graph that autograd keeps for the way back tells.

# %%
show_source(longest_chain)

# %% tags=["evidence"]
layer = recurrent.RNN(3, 5)
causal = convolution.RecallNet(8, doubling=True, n_symbols=3)
spans = (64, 128, 256)
chains = {
    "recurrent layer": [longest_chain(layer(torch.randn(1, T, 3))[1]) for T in spans],
    "8 dilated convolutions": [longest_chain(causal(torch.randn(1, 3, T))) for T in spans],
}
assert len(set(chains["8 dilated convolutions"])) == 1
table([[name, *counts] for name, counts in chains.items()], ["steps", *map(str, spans)])

# %% [markdown]
# The convolutions wait for their layers, and not for the length. But must a recurrence wait? If it is *linear*, two steps can be joined
# into one before anything has come in {cite}`blelloch1990prefix,martin2018parallelizing`. Then the chain has the length of a logarithm.


# %% tags=["evidence"]
def in_rounds(a: float, x: torch.Tensor) -> tuple[torch.Tensor, int]:
    """All h_t = a h_{t-1} + x_t (T,) at once, in rounds that double how far each has seen."""
    h, rounds, reach = x, 0, 1
    while reach < len(x):
        earlier = torch.cat([h.new_zeros(reach), h[:-reach]])
        h, rounds, reach = h + a**reach * earlier, rounds + 1, 2 * reach
    return h, rounds


x = torch.randn(500, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
at_once, rounds = in_rounds(0.9, x)
one_by_one = [x[0]]
for value in x[1:]:
    one_by_one.append(0.9 * one_by_one[-1] + value)
torch.testing.assert_close(at_once, torch.stack(one_by_one), rtol=1e-10, atol=1e-10)
print(f"{len(x)} steps in {rounds} rounds")

# %% [markdown]
# With a tanh between them, two steps can't be joined like this. But one can guess all states at once, and take one step from all guesses
# at once, again and again {cite}`song2021accelerating`. Each round makes one more state exact. If the network forgets fast, all of them
# are right long before. If it is chaotic, small errors grow, and nothing is right before its turn.

# %% tags=["evidence"]
settled = {
    radius: [
        rounds_to_settle(random_matrix(radius, s).double(), noise(500, 1.0, s).double())
        for s in range(3)
    ]
    for radius in (1.05, 5.0)
}

# %% [markdown]
# (claim-rnn-5)=

# %% tags=["evidence"]
claim(
    "rnn-5",
    "Yes, if it has a tanh and is chaotic: 500 steps take {wild} rounds. One that forgets takes {calm}, a linear one {linear}.",
    wild=min(settled[5.0]),
    calm=max(settled[1.05]),
    linear=rounds,
    holds=lambda wild, calm, linear: wild > 450 and calm < 150 and linear < 20,
    scale="64 units, spectral radii 5 and 1.05, inputs of variance 1, three seeds; states exact to 1e-10",
)

# %% [markdown]
# Rounds cost work, since each computes all steps again. (Nor does a clock decide it here: the time of the book's own loop is mostly the cost of its many small calls.) Recurrences without a tanh between the steps come on a later day.
#
# (deeper-budget)=
# ## What could it compute, and what does training find?
#
# *4 minutes.* In theory, a recurrent network can compute whatever a computer can {cite}`siegelmann1995computational`. The theorem is about units that are *saturated-linear*, 0 below 0, 1 above 1 and linear between, with rational weights, numbers of unlimited precision and as much time as they want. Ours have a tanh and 32 bits. And a theorem says that weights exist. Does training find them?
#
# The lesson's stored experiment trained networks of 112 units to say which symbol was the first. What does the gradient say about it, before training?


# %% tags=["evidence"]
def reaches_first(length: int, seed: int) -> float:
    """Gradient of an untrained network's loss by its first input, over that by its last."""
    torch.manual_seed(seed)
    network = recurrent.SequenceClassifier(4, 8, recurrent.RNN(8, 112), 4)
    ids, first = recall_ids(100, length, seed)
    x = network.embedding(ids).detach().requires_grad_()
    F.cross_entropy(network.output(network.layer(x)[1]), first).backward()
    norms = x.grad.norm(dim=(0, 2))  # (T,)
    return (norms[0] / norms[-1]).item()


reach = {n: [reaches_first(n, seed) for seed in range(3)] for n in (10, 20, 50)}
observe(
    "The first of 10 symbols gets {ten:.0e} of the last one's gradient or more, the first of 20 at most {twenty:.0e}, the first of 50 at most {fifty:.0e}.",
    ten=min(reach[10]),
    twenty=max(reach[20]),
    fifty=max(reach[50]),
    holds=min(reach[10]) > 1e-3 > max(reach[20]) and max(reach[50]) < 1e-9,
)

# %% [markdown]
# From a billionth, learning is a matter of luck. Is it one of patience, too? The lesson's experiment stopped after 600 steps, at one learning rate. Another one gave the network 3,000, at three rates and with three seeds.

# %% tags=["evidence"]
patience = experiments.load("recall_patience")
arrived = {n: [s for s in patience.column("steps", length=n) if s < 3000] for n in (20, 50)}
observe(
    "From 20 symbols alone {twenty} of 9 networks learn it, from 50 alone {fifty}; none of them takes more than {slowest} steps.",
    twenty=len(arrived[20]),
    fifty=len(arrived[50]),
    slowest=max(arrived[20] + arrived[50]),
    holds=0 < len(arrived[50]) < len(arrived[20]) < 9 and max(arrived[20] + arrived[50]) < 1500,
)

# %% [markdown]
# So it is luck, in the seed and in the rate: those who arrive, arrive soon. Short sequences build the road that long ones
# then use. We did not even sort them; to go from easy to hard would be a **curriculum** {cite}`bengio2009curriculum`. It is a cure where
# the same thing can be asked of short sequences. Where what has to be kept always lies far back, there are none to mix in. We would like a network in
# which the road is there from the beginning. Whether there is one, tomorrow's lesson measures.

# %% [markdown]
# ## Exercises
#
# *125 minutes.* Which of these seven would you like to write? The numbers go on from the lesson's. All solutions are on [a page of their own](../solutions/02_recurrent.ipynb).
#
# ```{exercise} A card that is rewritten slowly
# :label: exercise-leaky-units
#
# *Core, 15 minutes.* In {eq}`eq-rnn` the whole card is rewritten at every step. **Leaky** units keep
# most of it:
#
# $$
# h_t = (1 - \alpha)\, h_{t-1} + \alpha \tanh(W_x x_t + W_h h_{t-1} + b) .
# $$
#
# Write the layer. The state before the first step is given, and it is the same for all sequences of
# the batch. You may loop over time, but not over the batch.
# ([Solution](../solutions/02_recurrent.ipynb#solution-leaky-units))
# ```


# %%
def leaky_rnn(x, start, W_x, W_h, b, leak: float) -> torch.Tensor:
    """Shapes: x (B, T, D), start (N,), W_x (N, D), W_h (N, N), b (N,).

    Returns: the states after each step (B, T, N).
    """
    raise NotImplementedError


check("leaky_units", leaky_rnn)

# %% [markdown]
# ```{exercise} Predict: which one explodes?
# :label: exercise-matrix-powers
#
# *Core, 10 minutes.* Without the tanh, 100 steps multiply a gradient by the 100th power of $W_h$.
# For one of these matrices, that can make it more than a thousand times as long. For which one? Look
# at the numbers first, and commit yourself to `"a"`, `"b"`, `"c"` or `"d"`.
#
# $$
# a = \begin{pmatrix} 0.9 & 5 \\ 0 & 0.9 \end{pmatrix} \quad
# b = \begin{pmatrix} 0.6 & -0.8 \\ 0.8 & 0.6 \end{pmatrix} \quad
# c = \begin{pmatrix} 0.5 & 0.6 \\ 0.6 & 0.5 \end{pmatrix} \quad
# d = \begin{pmatrix} 0 & 4 \\ 0.2 & 0 \end{pmatrix}
# $$
#
# ([Solution](../solutions/02_recurrent.ipynb#solution-matrix-powers))
# ```

# %%
my_matrix = None

check("matrix_powers", my_matrix)

# %% [markdown]
# ```{exercise} Several texts in one row
# :label: exercise-packed-sequences
#
# *Core, 15 minutes.* Padding wastes time. One can also lay short texts behind each other, as many as fit
# into a row. Then no text may know anything of the one before it. `starts` is `True` where a new text
# begins: before this step, the state is set to zero. A row may begin in the middle of a text; its
# state begins at zero too. Write the layer of {eq}`eq-rnn` for such rows.
# ([Solution](../solutions/02_recurrent.ipynb#solution-packed-sequences))
# ```


# %%
def packed_rnn(x, starts, W_x, W_h, b) -> torch.Tensor:
    """Shapes: x (B, T, D), starts (B, T) True or False, W_x (N, D), W_h (N, N), b (N,).

    Returns: the states after each step (B, T, N).
    """
    raise NotImplementedError


check("packed_sequences", packed_rnn)

# %% [markdown]
# ```{exercise} What the padding says
# :label: exercise-perplexity-of-lines
#
# *Core, 10 minutes.* `nats` holds $-\log p$ of each right character, with the natural logarithm, as
# `F.cross_entropy(…, reduction="none")` gives it. The lines are padded at the end. What is the model's
# perplexity? Every real character counts alike, whether its line is short or long.
# ([Solution](../solutions/02_recurrent.ipynb#solution-perplexity-of-lines))
# ```


# %%
def perplexity_of_lines(nats: torch.Tensor, lengths: torch.Tensor) -> float:
    """Shapes: nats (B, T), lengths (B,) whole numbers."""
    raise NotImplementedError


check("perplexity_of_lines", perplexity_of_lines)

# %% [markdown]
# ```{exercise} How many may speak?
# :label: exercise-top-p
#
# *Core, 15 minutes.* Top-k always leaves k characters to choose from, top-p sometimes many and
# sometimes one. How many? First comes the temperature. Then the most likely characters are taken, one
# after the other, until together they have a probability of at least p.
# ([Solution](../solutions/02_recurrent.ipynb#solution-top-p))
# ```


# %%
def nucleus_size(logits: torch.Tensor, temperature: float, p: float) -> torch.Tensor:
    """Shapes: logits (B, V) to whole numbers (B,): how many characters top-p keeps."""
    raise NotImplementedError


check("top_p", nucleus_size)

# %% [markdown]
# ```{exercise} A threshold that moves
# :label: exercise-min-p
#
# *Stretch, 15 minutes.* **Min-p** {cite}`nguyen2025turning` asks each character alone: are you at least
# `share` times as likely as the most likely one? When the model is sure, the threshold is high, and when
# it wavers, it is low. Write it, with the temperature first.
# ([Solution](../solutions/02_recurrent.ipynb#solution-min-p))
# ```


# %%
def min_p(logits: torch.Tensor, temperature: float, share: float) -> torch.Tensor:
    """Shapes: logits (B, V) to the probabilities from which to draw (B, V)."""
    raise NotImplementedError


check("min_p", min_p)

# %% [markdown]
# ```{exercise} A memory that nobody trained
# :label: exercise-spectral-radius
#
# *Research, 45 minutes.* In an **echo state network** {cite}`jaeger2001short` $W_x$ and $W_h$ are random
# and stay so; only the output layer is fitted. How much does such a state know of the past? Write
# `with_radius` first: it scales a matrix to a given spectral radius. Then take 100 tanh
# units without biases, with $W_x$ uniform between -0.1 and 0.1. Feed them one random
# number a step, uniform between -1 and 1. Find by least squares how well the input of $k$ steps ago can be
# read off the state, on steps that you held back. What is the largest $k$ for which more than half of the
# variance is explained? Measure it for radii of 0.5, 0.95 and 1.5, over three seeds. Can you find
# a $W_h$ with a radius of at most 1 that remembers twice as long as the best of these?
# ([Solution](../solutions/02_recurrent.ipynb#solution-spectral-radius))
# ```


# %%
def with_radius(W_h: torch.Tensor, radius: float) -> torch.Tensor:
    """A multiple of W_h (N, N) whose largest eigenvalue has the magnitude `radius`."""
    raise NotImplementedError


check("spectral_radius", with_radius)
