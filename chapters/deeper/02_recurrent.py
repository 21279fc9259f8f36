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
# This page goes beyond the evening of [Day 2](../02_recurrent.ipynb). It measures in full what the lesson only mentions, answers three more claims, and has eight more exercises. The sections don't depend on each other, except that
# three of them use the network that writes. So begin with the question that you would have asked. The layers come from `utils.recurrent`, and give the same numbers as yours.

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
from utils.show.mechanisms import recurrent as mechanisms
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
# ## Is the recurrent layer correct, with padding and all?
#
# *4 minutes.* The lesson compares the states and gradients of whole sequences. What about padding, final states, and {eq}`eq-bptt` itself? Here is the book's layer: one step of it, and the loop. $W_x x_t$ needs no state, so it is
# computed for all steps in one product.

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
print("outputs, final states and gradients agree to ten digits, padding and all")

# %% [markdown]
# The library has two biases per unit, though only their sum matters. Next we let autograd keep $\partial \mathcal{L} / \partial a_t$, where $a_t$ is the input of the tanh, and check whether these gradients satisfy {eq}`eq-bptt`. The
# loss is half the sum of all squared states, so the gradient that each step sends to its own state is $h_t$ itself.

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
print("the deltas satisfy the equation, and sum to the gradients of the bias and the inputs")

# %% [markdown]
# (deeper-light)=
# ## How long can a state keep one bit?
#
# *6 minutes.* A light is switched on, or off, or (most of the time) nothing happens. Is it on? To know, you have to remember one bit. Yesterday's causal network with four dilated layers sees 16 steps, so we train it on rows of 16
# commands. Then it gets a single command, followed by nothing but waits.


# %%
def light_switch(n: int, length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw commands (0 off, 1 on, 2 wait), and whether the light is on after each; both (n, length)."""
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
    "Four waits after *on*, the network puts the probability that the light is on at {on:.0%}; four waits after *off*, at {off:.0%}. After 16 waits it says {same:.0%} in both cases.",
    on=on,
    off=off,
    same=says_on[16][0],
    holds=on > off + 0.5 and all(math.isclose(*says_on[n], rel_tol=1e-5) for n in (16, 1000)),
)

# %% [markdown]
# After 16 waits the command is out of sight: the network gets the same 16 inputs in both cases, so it must give the same answer. No training can help. Now we take a recurrent network whose state is only eight numbers, ask it after
# each step, and train it with three seeds.


# %% tags=["evidence"]
def each_step(outputs: tuple, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy over all steps. Shapes: logits (B, T, V) and a state, targets (B, T)."""
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
sure = {}  # the least probability of the correct answer, after "off" and "on", in three networks
for steps in (16, 1000, 10_000):
    with torch.no_grad():
        answers = [net(then_wait(steps))[0][:, -1].softmax(-1) for net in keepers]
    sure[steps] = min(answer[light, light].item() for answer in answers for light in (0, 1))
observe(
    "After 16 waits, all three networks give the correct answer a probability of at least {near:.0%}; after 1,000 waits it is at least {far:.0%}, and after 10,000 at least {farther:.0%}.",
    near=sure[16],
    far=sure[1000],
    farther=sure[10_000],
    holds=min(sure.values()) > 0.8,
)

# %% [markdown]
# They were trained on 16 steps, and they keep the bit for ten thousand. What is in the state can stay there, whatever the length.
#
# (deeper-clipping)=
# ## When does training fail without gradient clipping?
#
# *4 minutes.* In the lesson, clipping helps a reader of words only at a high learning rate. Is there a case in which nothing works without clipping? Take a task with one thing to remember: the first of ten symbols, of which
# there are four kinds. A stored experiment used gradient descent at two learning rates with ten seeds each, and with weights $W_h$ large enough for the state to hold a symbol, and for gradients to explode.

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
    "At a rate of 2, {clipped} of ten networks learn it with clipping, and {bare} of ten without. At 0.1, {slow} learn it with clipping, and {slow_bare} without.",
    clipped=learned[2.0, True],
    bare=learned[2.0, False],
    slow=learned[0.1, True],
    slow_bare=learned[0.1, False],
    holds=min(learned[2.0, True], learned[0.1, True], learned[0.1, False]) > 7
    and learned[2.0, False] < 2,
)

# %% [markdown]
# We suspect the large steps: one of them can throw the weights so far that training never finds its way back. AdamW divides by the gradient's size, which hides much of this trouble.
#
# These networks also show what "any length" is worth. They were trained on exactly ten symbols; now they get nine, and eleven.
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
    "No: trained on ten symbols, networks recall the first of nine or eleven {other:.0%} of the time; another task's bit lasts 1,000 steps ({keep:.0%} sure).",
    keep=sure[1000],
    other=max(other),
    holds=lambda keep, other: keep > 0.8 and other < 0.5,
    scale="the symbol: 32 units, mean of ten seeds, the better of two rates; the bit: 8 units, three seeds, trained on 16 steps",
)

# %% [markdown]
# The weights can be applied to any length, but what they have learned may fit only one. These networks didn't learn to recall "the first": they learned something that comes out correct after ten steps. The networks with the light learned to keep it. Why the two differ isn't tested here: they have different tasks, widths and lengths.
#
# (deeper-writer)=
# ## How well does a recurrent language model write, compared with n-grams?
#
# *8 minutes.* The lesson's writer invents single words. On a long text, how does such a network compare with a model that only counts? Ours reads scikit-learn's docstrings, the texts that `help()` shows, and has to predict each next
# character. Some modules are held out. The text is one long sequence, cut into chunks: the state goes on from chunk to chunk, but the gradient doesn't.

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
# A counting model of order $n$ {cite}`shannon1951prediction`, or **n-gram** model, takes the previous $n - 1$ characters and looks up how often each character followed them. Where it has seen too little, it falls back on a shorter
# context, by the rules of Kneser and Ney {cite}`kneser1995improved`.

# %% tags=["evidence"] mystnb={"figure": {"caption": "After one epoch, the recurrent network beats counting at order 3, but not at order 6. Perplexity on the test text, by the order of the counting model (which looks at one character fewer).", "name": "fig-perplexity"}, "image": {"alt": "A falling curve that is flat from order six on; a dashed horizontal line for the network crosses it after order three."}}
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
    "After one epoch the network's perplexity is {wavers:.2f}. Counting has {three:.2f} at order 3, {four:.2f} at order 4 and {six:.2f} at order 6.",
    wavers=wavers,
    three=perplexities[3],
    four=perplexities[4],
    six=perplexities[6],
    holds=perplexities[6] < wavers < perplexities[3],
)

# %% [markdown]
# The network has no table of which character follows which. It has to make do with a state of 128 numbers, and was trained for seconds. Longer training and gates are tomorrow's subject.
#
# ### Sampling: greedy, temperature, top-k, top-p
#
# How should the model choose? **Greedy decoding** takes the most likely character each time. Besides the temperature, two more rules are common for sampling. **Top-k** {cite}`fan2018hierarchical` draws from the $k$ most likely
# characters, **top-p** {cite}`holtzman2020curious` from the smallest set whose probabilities add up to at least $p$.

# %%
show_source(sampling.top_p)


# %% tags=["evidence"]
def step(ids: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Read one character of each of B texts. Shapes: (B,) to logits (B, V)."""
    logits, state = writer.model(ids[:, None], state)
    return logits[:, 0], state


def write(choose, start: str = "The ") -> torch.Tensor:
    """16 texts of 400 characters (16, 400) that continue a beginning."""
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
# Which is best? We want two things, and they conflict. The text should be like the docstrings: the counting model of order 5 judges that, by its perplexity. And it shouldn't repeat itself: we measure the share of its eight-character
# pieces that are distinct.


# %% tags=["evidence"]
def judged(ids: torch.Tensor) -> float:
    """Perplexity of texts (n, 400) under the counting model of order 5."""
    return perplexity(-counting[5].log_probabilities(ids).mean())


def variety(ids: torch.Tensor) -> float:
    """Share of the pieces of eight characters, within texts (n, 400), that differ."""
    pieces = ids.unfold(1, 8, 1).tolist()  # (n, 393, 8)
    return sum(len(set(map(tuple, text))) / len(text) for text in pieces) / len(pieces)


rows = len(docstrings["validation"]) // 400
written["the docstrings"] = docstrings["validation"][: 400 * rows].view(rows, 400)
surprise = {name: judged(ids) for name, ids in written.items()}
varied = {name: variety(ids) for name, ids in written.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "No rule is best at both: the farther right, the more varied the text; the higher up, the more surprising to a model that counts. 16 texts of 400 characters for each rule.", "name": "fig-sampling"}, "image": {"alt": "Points over variety from zero to one. Greedy writing is far to the left and low, a temperature of 0.3 in the middle and low, temperatures of 1 and above to the right and high. The others and the docstrings are to the right, in between."}}
figure, ax = plt.subplots(figsize=(7, 4.2))
for (name, value), marker in zip(surprise.items(), "osD^vPX*", strict=True):
    ax.scatter(varied[name], value, marker=marker, s=90, label=name)
ax.set(xlabel="share of distinct pieces", ylabel="perplexity to order 5", yscale="log")
ax.legend(fontsize=10)
plt.show()

# %% tags=["evidence"]
observe(
    "Greedy decoding goes in circles: only {greedy:.0%} of its pieces are distinct. At temperature 1, {varied:.0%} are, and the perplexity is {free:.1f}. Top-p at 0.9 has a "
    "perplexity of {top:.1f}, and the docstrings themselves have {real:.1f}.",
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
# No rule is best at both: each pays for likeness with variety.
#
# (deeper-kinds)=
# ## Do all four kinds of recurrent networks work?
#
# *9 minutes.* The lesson shows four ways to use a recurrence, and trains two of them. Can the same layer serve all four? Here is one of each: a word's language, a picture's name, a number in words, and the next character.
#
# **One to many.** Describing pictures is the best-known task of this kind {cite}`vinyals2015show`. Ours is tiny: a handwritten digit is turned into the first state, and a language model of letters spells its name from there.

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
# In training, the network's input is the correct word, preceded by a start symbol, and its target is the same word, followed by an end symbol. Padding doesn't count. After training, the network reads its own output.


# %%
def real_steps(outputs: tuple, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy over all steps that are not padding."""
    return F.cross_entropy(outputs[0].flatten(0, 1), targets.flatten(), ignore_index=PAD)


def say(model: nn.Module, state: torch.Tensor, length: int) -> torch.Tensor:
    """The most likely symbol at each step, starting from a first state. Shapes: (B, N) to (B, ≤ length)."""

    def step(ids, state):
        logits, state = model(ids[:, None], state)
        return logits[:, 0], state

    first = torch.full((len(state),), BOS)
    return sampling.generate(step, state, first, length, lambda logits: logits.argmax(-1), end=EOS)


# %% tags=["evidence"]
def learned_to_spell(seed: int) -> float:
    """Share of new digits whose name a network spells correctly, after ten epochs."""
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
    "The network spells the names of {share:.0%} of the new digits correctly.",
    share=spelled,
    holds=spelled > 0.7,
)

# %% [markdown]
# **First read, then write.** When the output differs in length from the input, one network reads all of the input, and its last state becomes the first state of another, which writes. Day 4 is about such pairs. Here one
# network reads the digits of a number below a thousand, and another writes it in words: 307 is *three hundred seven*.

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
    """One network reads digits, another writes words from its last state on."""

    def __init__(self):
        super().__init__()
        self.read = recurrent.SequenceClassifier(len(figures), 16, recurrent.RNN(16, 64), 64)
        self.write = recurrent.LanguageModel(len(spoken), 16, recurrent.RNN(16, 64))

    def forward(self, source: torch.Tensor, lengths: torch.Tensor, ids: torch.Tensor) -> tuple:
        return self.write(ids, torch.tanh(self.read(source, lengths)))


# %% tags=["evidence"]
def learned_to_say(seed: int) -> float:
    """Share of 200 unseen numbers that a network writes without a mistake."""
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
    "The pair writes {share:.0%} of 200 unseen numbers without a mistake.",
    share=counted,
    holds=counted > 0.6,
)

# %% [markdown]
# The pair didn't learn a thousand numbers by heart. It learned how numbers are put into words, and that takes memory: between the *three* and the *seven* of 307 it has to write *hundred*, and still know what comes next.
#
# **Many to one** is the lesson's reader: a stored experiment, `words`, trained one of 128 units with three seeds. **Many to many, in step** is the network that writes docstrings.

# %% [markdown]
# (claim-rnn-6)=

# %% tags=["evidence"]
told = experiments.load("words").column("test", layer="RNN")
claim(
    "rnn-6",
    "Yes: it names {told:.0%} of languages, spells {spelled:.0%} of digits, and writes {amounts:.0%} of numbers; in step, its perplexity of {wavers:.1f} beats triples ({three:.1f}).",
    told=min(told),
    spelled=spelled,
    amounts=counted,
    wavers=wavers,
    three=perplexities[3],
    holds=lambda told, spelled, amounts, wavers, three: (
        told > 0.6 and spelled > 0.7 and amounts > 0.6 and wavers < three
    ),
    scale="64 to 128 units; words: the worst of three stored seeds; everything else: one seed",
)

# %% [markdown]
# (deeper-growth)=
# ## When do gradients explode in a network with a tanh?
#
# *8 minutes.* In the lesson, gradients vanish in random networks with a spectral radius of 1.05. What would it take for them to explode? The product of many Jacobians grows or shrinks by a mean factor per step. The logarithm of
# that factor is the largest **Lyapunov exponent**,
#
# $$
# \lambda = \lim_{T \to \infty} \frac{1}{T} \log \lVert J_T\, J_{T-1} \cdots J_1 \rVert .
# $$ (eq-lyapunov)
#
# If the factor $e^\lambda$ is below 1, the gradient vanishes; if it is above 1, the gradient explodes. We measure the factor for spectral radii up to 5 and inputs of several sizes.

# %% tags=["evidence"]
radii = [0.5, 0.85, 1.05, 1.5, 2.0, 3.0, 4.0, 5.0]
sizes = [0.1, 1.0, 3.0]
factors = {
    (r, size): [factor(random_matrix(r, s), noise(250, size, s)) for s in range(3)]
    for r in radii
    for size in sizes
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The larger the inputs, the larger the spectral radius that it takes for a gradient to explode (a factor per step above 1). Mean and range of three random networks; a linear one would follow the diagonal.", "name": "fig-growth"}, "image": {"alt": "Curves over the spectral radius from 0.5 to 5, all rising, all below the diagonal from a radius of 1 on; they cross the line at 1 between radii of about 1.5 for small inputs and 3 for large ones."}}
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
    "At a radius of 2 the factor is {calm:.2f} with inputs of size 0.1, and {driven:.2f} with inputs of size 3. At a radius of 5 it is at least {wild:.2f}, whatever the inputs.",
    calm=mean[2.0, 0.1],
    driven=mean[2.0, 3.0],
    wild=min(mean[5.0, size] for size in sizes),
    holds=mean[2.0, 0.1] > 1.03
    and max(factors[2.0, 3.0]) < 0.9
    and all(max(factors[1.05, size]) < 1 < 1.1 < min(factors[5.0, size]) for size in sizes),
)

# %% [markdown]
# So above a norm of 1, no single number of $W_h$ decides: with the same weights, a gradient vanishes under large inputs and explodes under small ones. Large random
# networks without inputs become chaotic above a radius of 1 {cite}`sompolinsky1988chaos`; inputs calm them.
#
# ### Norm or spectral radius?
#
# The bound in {eq}`eq-jacobians` is about the norm, but the lesson's figure is about the spectral radius. How far apart can the two be? Here are five matrices, the norm of their 100th power, and the fate of a gradient with a tanh
# and inputs of size 1:


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
    "The shear has a norm of {norm:.1f}. Its powers grow to a norm of {largest:.1f}, but that of the 100th is {last:.0e}.",
    norm=shear["norm"],
    largest=shear["largest"],
    last=shear["last"],
    holds=shear["norm"] > 4 and shear["largest"] > 8 and shear["last"] < 1e-6,
)

# %% [markdown]
# The shear's powers vanish in the end, since its spectral radius is 0.8, but they grow first. The orthogonal matrix keeps the length of every gradient for ever. With a tanh and inputs, it no longer does.
#
# (deeper-trained)=
# ## What does training do to the spectral radius, and what does truncation lose?
#
# *7 minutes.* So much for random weights. Where does training take them? We let the network that writes docstrings read held-out text, and measure the same numbers before and after training.

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
    "Training raised the spectral radius from {low:.2f} to {high:.2f}, and pushed {flat:.0%} of the units beyond ±0.95. The gradient still shrinks, on average to {factor:.2f} of its size per step.",
    low=before["radius"],
    high=after["radius"],
    flat=after["saturated"],
    factor=after["factor"],
    holds=before["radius"] < 1 < 1.5 < after["radius"]
    and before["saturated"] < 0.05 < 0.3 < after["saturated"]
    and max(before["factor"], after["factor"]) < 0.9,
)

# %% [markdown]
# The spectral radius is far above 1, and yet the gradient vanishes, because many units sit near -1 or 1, where the tanh is flat.


# %% tags=["evidence"]
def gradient_back(model: nn.Module, steps: int = 60) -> list[float]:
    """Norm of a loss's gradient for the state k steps earlier, relative to that for its own state."""
    h, states = torch.zeros(16, 128), []
    for projected_t in model.layer.project(model.embedding(text[:, :100])).unbind(dim=1):
        h = model.layer.step(projected_t, h)
        states.append(h)
    loss = F.cross_entropy(model.output(h), text[:, 100])
    norms = [g.norm().item() for g in torch.autograd.grad(loss, states)][::-1]
    return [norm / norms[0] for norm in norms[:steps]]


back = {name: gradient_back(model) for name, model in (("untrained", fresh), ("trained", trained))}

# %% tags=["evidence"] mystnb={"figure": {"caption": "After training, more of the gradient gets back, though it still vanishes: the gradient of one step's loss with respect to the state k steps earlier, relative to that step's own state.", "name": "fig-gradient-back"}, "image": {"alt": "Two falling lines on a logarithmic axis; the one of the trained network falls more slowly, to below one millionth after sixty steps, the untrained one further."}}
lines = {name: (range(60), norms) for name, norms in back.items()}
curves(lines, "steps back", "relative size", logy=True)
plt.show()

# %% tags=["evidence"]
observe(
    "Twenty steps back, {fresh:.0e} of the gradient is left in the untrained network, and {trained:.0e} in the trained one.",
    fresh=back["untrained"][20],
    trained=back["trained"][20],
    holds=3 * back["untrained"][20] < back["trained"][20],
)


# %% [markdown]
# ### Truncated backpropagation: what is lost?
#
# The backward pass needs every state of the forward pass, and those of a long text don't fit into memory. **Truncated backpropagation** {cite}`williams1990efficient` cuts the text into chunks.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "At a cut, the state goes on, but no gradient comes back.", "name": "fig-truncated"}, "image": {"alt": "Six states in a row, each with an input below. Thin arrows lead from state to state, all the way. Thick arrows lead back from h 2 to h 1 to h 0, and from h 5 to h 4 to h 3. Between h 2 and h 3 a dashed line, labelled detach, and no thick arrow. Above each half: one backward pass."}}
mechanisms.truncated()
plt.show()

# %% [markdown]
# If the gradient fades anyway, little can be lost. We compare the full gradient of $W_h$ over 64 steps with the one that is cut into chunks.


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
    "Cut after every step, the gradient has a cosine of {one:.2f} with the full one. Cut after every 4 steps, the cosine is {four:.2f}, and after every 16, {sixteen:.2f}.",
    one=likeness[0],
    four=likeness[1],
    sixteen=likeness[2],
    holds=likeness[0] < 0.85 and likeness[0] < likeness[1] < likeness[2] > 0.93,
)

# %% [markdown]
# Cutting after 16 steps loses little. But this network was trained on chunks of 32, so it never had a reason to look farther.
#
# (deeper-probe)=
# ## What does the state remember? A linear probe
#
# *4 minutes.* What does the state still hold of earlier characters? A **linear probe** {cite}`alain2016understanding` asks whether the character from $k$ steps ago can be read off the state by a linear map, fitted to half of the
# texts and tested on the other half.


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

# %% tags=["evidence"] mystnb={"figure": {"caption": "The untrained state shows more of the past than the trained one: share of characters that can be read off the state, by how long ago they were read.", "name": "fig-probe"}, "image": {"alt": "Two falling curves. The untrained network's stays near one for three steps and falls to chance at about eight; the trained network's falls from the second step on and is at chance after about six."}}
lines = {name: (distances, shares) for name, shares in probed.items()}
ax = curves(lines, "steps ago", "share read off the state")
ax.axhline(blind, color="black", linewidth=1)
ax.set_xticks(range(0, 21, 5))
plt.show()

# %% tags=["evidence"]
observe(
    "Three steps later, {fresh:.0%} of the characters can be read off the untrained state, and {trained:.0%} off the trained one. After 15 steps, {far:.0%} can be "
    "read off the trained state, about as many as a blind guess gets.",
    fresh=probed["untrained"][3],
    trained=probed["trained"][3],
    far=probed["trained"][9],
    holds=probed["untrained"][3] > 0.7
    and probed["trained"][3] < probed["untrained"][3] - 0.1
    and max(abs(shares[9] - blind) for shares in probed.values()) < 0.05,
)

# %% [markdown]
# A surprise: a linear map finds *more* of the last characters in the untrained network. Random weights mix everything in. The trained network has to predict the next character, and for that it needn't know each letter of the last
# word. So it keeps fewer of them in a form that is easy to read; whether a cleverer probe would find them, this one can't tell. (Both networks come from a single seed.)
#
# (deeper-parallel)=
# ## Can a recurrent network be computed in parallel?
#
# *6 minutes.* A step can't begin before the previous one has ended. How long is the longest chain of operations that wait for one another? We can read it off the graph that autograd keeps for the backward pass.

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
# With convolutions, the chain grows with the number of layers, not with the length. But does a recurrence have to wait? If it is *linear*, two steps can be joined into one before any input arrives
# {cite}`blelloch1990prefix,martin2018parallelizing`. Then the chain grows only with the logarithm of the length.


# %% tags=["evidence"]
def in_rounds(a: float, x: torch.Tensor) -> tuple[torch.Tensor, int]:
    """All h_t = a h_{t-1} + x_t (T,) at once, in rounds that double each one's reach."""
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
# With a tanh between them, two steps can't be joined like this. But you can guess all states at once, take one step from each guess, and repeat {cite}`song2021accelerating`. Each round makes at least one more state exact. If the
# network forgets fast, all of them are exact long before their turn. If it is chaotic, small errors grow, and no state is exact before its turn.

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
    "Yes, if it has a tanh and is chaotic: 500 steps take {wild} rounds. A network that forgets takes {calm} rounds, a linear one {linear}.",
    wild=min(settled[5.0]),
    calm=max(settled[1.05]),
    linear=rounds,
    holds=lambda wild, calm, linear: wild > 450 and calm < 150 and linear < 20,
    scale="64 units, spectral radii 5 and 1.05, inputs of variance 1, three seeds; states exact to 1e-10",
)

# %% [markdown]
# Rounds cost work, since each of them computes all steps again. (We don't time them: the book's own loop spends its time mostly on many small calls.) Recurrences without a tanh between the steps come on a later day.
#
# (deeper-budget)=
# ## What can a recurrent network compute, and what does training find?
#
# *4 minutes.* In theory, a recurrent network can compute anything that a computer can {cite}`siegelmann1995computational`. The theorem is about units that are *saturated-linear* (0 below 0, 1 above 1, and linear in between), with
# rational weights, unlimited precision and as much time as they want. Ours have a tanh and 32 bits. And the theorem only says that such weights exist. Does training find them?
#
# The lesson's stored experiment trained networks of 112 units to name the first symbol. How much of the gradient reaches that symbol before training?


# %% tags=["evidence"]
def reaches_first(length: int, seed: int) -> float:
    """Gradient of an untrained network's loss for its first input, relative to that for its last."""
    torch.manual_seed(seed)
    network = recurrent.SequenceClassifier(4, 8, recurrent.RNN(8, 112), 4)
    ids, first = recall_ids(100, length, seed)
    x = network.embedding(ids).detach().requires_grad_()
    F.cross_entropy(network.output(network.layer(x)[1]), first).backward()
    norms = x.grad.norm(dim=(0, 2))  # (T,)
    return (norms[0] / norms[-1]).item()


reach = {n: [reaches_first(n, seed) for seed in range(3)] for n in (10, 20, 50)}
observe(
    "Relative to the last symbol, the first of 10 gets at least {ten:.0e} of the gradient, the first of 20 at most {twenty:.0e}, and the first of 50 at most {fifty:.0e}.",
    ten=min(reach[10]),
    twenty=max(reach[20]),
    fifty=max(reach[50]),
    holds=min(reach[10]) > 1e-3 > max(reach[20]) and max(reach[50]) < 1e-9,
)

# %% [markdown]
# With less than a billionth of the gradient, learning is a matter of luck. Is it a matter of patience, too? The lesson's experiment stopped after 600 steps, at one learning rate. Another one allowed 3,000 steps, at three rates with
# three seeds each.

# %% tags=["evidence"]
patience = experiments.load("recall_patience")
arrived = {n: [s for s in patience.column("steps", length=n) if s < 3000] for n in (20, 50)}
observe(
    "Trained on 20 symbols alone, {twenty} of 9 networks learn the task; on 50 alone, {fifty} do. None of those takes more than {slowest} steps.",
    twenty=len(arrived[20]),
    fifty=len(arrived[50]),
    slowest=max(arrived[20] + arrived[50]),
    holds=0 < len(arrived[50]) < len(arrived[20]) < 9 and max(arrived[20] + arrived[50]) < 1500,
)

# %% [markdown]
# So it is luck, in the seed and in the rate: the networks that learn the task learn it soon. Mixing in short sequences helps, because they open a way that the long ones can then use. We didn't even sort them; going from easy to hard
# would be a **curriculum** {cite}`bengio2009curriculum`.
#
# That cure works if the same question can be asked of short sequences. If the thing to keep always lies far back, there are none to mix in. Then we would like a network in which the way is open from the beginning. Tomorrow's lesson
# tries to build one.

# %% [markdown]
# ## Exercises
#
# *145 minutes.* Which of these eight would you like to write? Their numbers continue the lesson's. All solutions are on [a page of their own](../solutions/02_recurrent.ipynb).
#
# ```{exercise} Truncated backpropagation through time
# :label: exercise-truncated-backpropagation
#
# *Stretch, 20 minutes.* Truncate backpropagation, this time with autograd. Cut the sequences into chunks of `k` steps; the last chunk may be shorter. The loss is $\frac{1}{2}\sum_t \lVert h_t - y_t \rVert^2$, summed over the batch.
# The states go on from chunk to chunk, but the gradients stop: `h.detach()` has the same numbers, cut off from the graph. What is the gradient of $W_h$, summed over all chunks? `torch.autograd.grad(loss, W_h)` returns a tuple.
# ([Solution](../solutions/02_recurrent.ipynb#solution-truncated-backpropagation))
# ```


# %%
def truncated_gradient(x, y, start, W_x, W_h, b, k: int) -> torch.Tensor:
    """Shapes: x (B, T, D), y (B, T, N), start (B, N), W_x (N, D), W_h (N, N), b (N,).

    Returns: the gradient of W_h (N, N).
    """
    W_h = W_h.clone().requires_grad_()
    raise NotImplementedError


check("truncated_backpropagation", truncated_gradient)

# %% [markdown]
# ```{exercise} Leaky units
# :label: exercise-leaky-units
#
# *Core, 15 minutes.* In {eq}`eq-rnn` the whole state is rewritten at every step. **Leaky** units keep
# most of it:
#
# $$
# h_t = (1 - \alpha)\, h_{t-1} + \alpha \tanh(W_x x_t + W_h h_{t-1} + b) .
# $$
#
# Write the layer. The state before the first step is given; it is the same for all sequences of the
# batch. You may loop over time, but not over the batch.
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
# For one of these matrices, that can make it more than a thousand times as long. Which one? Look
# at the numbers first, and commit to `"a"`, `"b"`, `"c"` or `"d"`.
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
# ```{exercise} Packing: several texts in one row
# :label: exercise-packed-sequences
#
# *Core, 15 minutes.* Padding wastes time. Instead, you can put short texts one after another, as many as
# fit into a row. But then no text may know anything about the previous one. `starts` is `True` where a new
# text begins: before that step, the state is reset to zero. A row may begin in the middle of a text;
# its state starts at zero, too. Write the layer of {eq}`eq-rnn` for such rows.
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
# ```{exercise} Perplexity without padding
# :label: exercise-perplexity-of-lines
#
# *Core, 10 minutes.* `nats` holds $-\log p$ of each correct character, with the natural logarithm, as
# `F.cross_entropy(…, reduction="none")` returns it. The lines are padded at the end. Return the model's
# perplexity. Every real character counts the same, whether its line is short or long.
# ([Solution](../solutions/02_recurrent.ipynb#solution-perplexity-of-lines))
# ```


# %%
def perplexity_of_lines(nats: torch.Tensor, lengths: torch.Tensor) -> float:
    """Shapes: nats (B, T), lengths (B,) integers."""
    raise NotImplementedError


check("perplexity_of_lines", perplexity_of_lines)

# %% [markdown]
# ```{exercise} Top-p sampling
# :label: exercise-top-p
#
# *Core, 15 minutes.* Top-k always leaves k characters to choose from; top-p sometimes leaves many, and
# sometimes one. How many? Apply the temperature first. Then take the most likely characters, one
# after another, until together they have a probability of at least p.
# ([Solution](../solutions/02_recurrent.ipynb#solution-top-p))
# ```


# %%
def nucleus_size(logits: torch.Tensor, temperature: float, p: float) -> torch.Tensor:
    """Shapes: logits (B, V) to integers (B,): how many characters top-p keeps."""
    raise NotImplementedError


check("top_p", nucleus_size)

# %% [markdown]
# ```{exercise} Min-p sampling
# :label: exercise-min-p
#
# *Stretch, 15 minutes.* **Min-p** {cite}`nguyen2025turning` asks each character by itself: are you at
# least `share` times as likely as the most likely one? When the model is sure, the threshold is high;
# when it wavers, the threshold is low. Write it, and apply the temperature first.
# ([Solution](../solutions/02_recurrent.ipynb#solution-min-p))
# ```


# %%
def min_p(logits: torch.Tensor, temperature: float, share: float) -> torch.Tensor:
    """Shapes: logits (B, V) to the probabilities to draw from (B, V)."""
    raise NotImplementedError


check("min_p", min_p)

# %% [markdown]
# ```{exercise} Echo state network
# :label: exercise-spectral-radius
#
# *Research, 45 minutes.* In an **echo state network** {cite}`jaeger2001short`, $W_x$ and $W_h$ are random
# and stay so; only the output layer is fitted. How much of the past does such a state hold? First write
# `with_radius`, which scales a matrix to a given spectral radius. Then take 100 tanh units without
# biases, with $W_x$ uniform between -0.1 and 0.1. Feed them one random number per step, uniform between
# -1 and 1. Use least squares to find how well the input from $k$ steps ago can be read off the state, on
# steps that you held out. What is the largest $k$ for which more than half of the variance is
# explained? Measure it for radii of 0.5, 0.95 and 1.5, with three seeds each. Can you find a $W_h$ with
# a radius of at most 1 that remembers twice as long as the best of these?
# ([Solution](../solutions/02_recurrent.ipynb#solution-spectral-radius))
# ```


# %%
def with_radius(W_h: torch.Tensor, radius: float) -> torch.Tensor:
    """A multiple of W_h (N, N) whose largest eigenvalue has the magnitude `radius`."""
    raise NotImplementedError


check("spectral_radius", with_radius)
