# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 15: Limits and growth: what a network can compute, and what size buys
#
# **Today's question:** what can a network compute at all, and what does it gain from being larger?
#
# After today you can
#
# - set by hand three weights that compute parity, for words of any length,
# - explain why a linear recurrence needs negative gates, and join its steps in pairs,
# - count with the cells of an LSTM,
# - explain why a Transformer hardly learns parity, and let it write its steps down,
# - plan a training run: from money and days to weights and tokens,
# - tell a sudden ability from a strict measure.
#
# Today builds on [Day 2](02_recurrent.ipynb)'s RNN, [Day 3](03_gates.ipynb)'s LSTM, [Day 6](06_transformer.ipynb)'s blocks and [Day 9](09_gpt.ipynb)'s GPT. It takes 55 minutes to read and 37 to write five functions; the closing exercises take another 19. Near the end you race three weights against a Transformer on a thousand symbols.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean

import matplotlib.pyplot as plt
import numpy as np
import torch

from utils import computation, scaling
from utils.data.formal import LANGUAGES
from utils.exercises.limits import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import forecasting, growth
from utils.show.mechanisms import limits as mechanisms
from utils.show.plotting import curves, use_book_style
from utils.show.views import guess, long_word, plan_a_training, quiz
from utils.tasks import formal_languages as task

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("15_limits")

# %% [markdown]
# ## Where we stand
#
# *5 minutes.* Yesterday's switch had a one-line rule: each time it is thrown, the level flips. The LSTM followed it; the Transformer guessed. Why? The rule is called **running parity**: after each symbol of a word of zeros and ones, is the number of ones so far odd?

# %%
WORD = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1]

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Running parity: each 1 flips the level, which is the answer; each 0 leaves it as it is.", "name": "fig-lim-parity"}, "image": {"alt": "A row of zeros and ones. Below it, a line goes up or down at each one and stays as it is at each zero."}}
forecasting.switched(WORD)
plt.show()

# %% [markdown]
# An article on RNNs and Transformers lists the rules that Transformers learn, and parity comes first {cite}`unsigned2025architectures`. We test that. An RNN and a Transformer of two blocks read words of 1 to 20 symbols, answer after each symbol, and then get longer words.

# %% tags=["view"]
guess(
    f"Both see {300 * task.B:,} words of up to 20 symbols. Which of them is correct after 160 symbols?",
    ["both", "only the Transformer", "only the RNN", "neither"],
    right="only the RNN",
    because="Beyond twenty symbols, the Transformer guesses; chance is 50%.",
)

# %% tags=["training"]
parity = LANGUAGES["parity"]
LENGTHS = [1, 2, 3, 5, 7, 10, 14, 20, 40, 80, 160]


def trained(kind, steps=300, rate=1e-2, seed=0):
    """A network after training, and its share of correct last answers by length."""
    model = task.network(kind, parity, seed)
    task.train_network(model, parity, steps=steps, rate=rate, seed=seed)
    return model, {T: task.shares_correct(model, parity, T, T).last for T in LENGTHS}


models = {kind: trained(kind) for kind in ("RNN", "Transformer, sinusoidal")}
by_length = {kind: (LENGTHS, [100 * x for x in of.values()]) for kind, (_, of) in models.items()}
rnn, transformer = (of for _, of in models.values())
sizes = [sum(w.numel() for w in model.parameters()) for model, _ in models.values()]


# %%
def by_symbols(lines):
    """Draw shares over lengths, with the longest words of training, and what a guess reaches."""
    ax = curves(lines, "symbols", "correct (%)", logx=True)
    ax.axvline(task.LONGEST, color="0.3", linestyle=":", linewidth=1)
    ax.axhline(50, color="0.3", linestyle="--", linewidth=1)
    ax.set_xticks(LENGTHS[::2], LENGTHS[::2])
    ax.minorticks_off()
    plt.show()


# %% tags=["evidence"] mystnb={"figure": {"caption": "The RNN answers correctly at every length. The Transformer is at chance (50%, dashed) even within its training lengths (left of the dotted line). Share of 500 new words whose last answer is correct.", "name": "fig-lim-trained"}, "image": {"alt": "Two curves over word lengths from 1 to 160. One stays at 100%. The other begins there, falls steeply before 20, and stays near 50%."}}
by_symbols(by_length)

# %% tags=["evidence"]
observe(
    "On words of 20 symbols, the RNN answers {rnn:.0%} correctly and the Transformer answers {transformer:.0%}. The Transformer has {times:.1f} times as many weights.",
    rnn=rnn[20],
    transformer=transformer[20],
    times=sizes[1] / sizes[0],
    holds=rnn[20] > 0.95 and transformer[14] < 0.7 and transformer[20] < 0.7,
)

# %% [markdown]
# The RNN needed only 300 steps; perhaps the Transformer needs more. A stored experiment gives it five times as many, with the best of three learning rates, five seeds and five ways to encode positions (none, sinusoidal, learned, rotary, [ALiBi](deeper/05_self_attention.ipynb#deeper-rotary)). At each length, we count the best of the five ways.

# %%
stored = experiments.load("parity")


def last(kind, rates=stored.parameters["rate"]):
    """The mean shares of correct last answers by length, at the rate that is best in training."""
    by_rate = [stored.select(kind=kind, rate=rate) for rate in rates]
    rows = max(by_rate, key=lambda rows: fmean(row["in training"] for row in rows))
    return {T: fmean(of) for T, of in zip(rows[0]["length"], zip(*(row["last"] for row in rows)))}


kinds = [kind for kind in stored.parameters["kind"] if kind.startswith("Transformer")]
best_of = {T: max(last(kind)[T] for kind in kinds) for T in (20, 40, 160)}

# %% tags=["evidence"]
observe(
    "After 1,500 steps, the best of the five ways answers {inside:.0%} correctly at 20 symbols, {beyond:.0%} at 40, and {far:.0%} at 160.",
    inside=best_of[20],
    beyond=best_of[40],
    far=best_of[160],
    holds=best_of[40] < 0.6 and best_of[160] < 0.6 and best_of[20] > 0.6,
)

# %% [markdown]
# It has learned something about its lengths, but not the rule.

# %% [markdown]
# ## The idea
#
# *1 minute.* **A network has only so many steps in which to follow a rule.** A recurrent network has one for each symbol. A Transformer has one for each layer, however long the word is.
#
# Two questions are easily confused. What *can* a network compute, if its weights are chosen well? We set them by hand. And what does it *learn*? We train it. Last, a network that can do its task grows: what does that buy?
#
# ## Step by step
#
# ### Parity in three weights
#
# *10 minutes, 8 of them yours.* Take an RNN with a single unit, whose activation function is the absolute value:
#
# $$
# h_t = |W_x x_t + W_h h_{t-1} + b|, \qquad h_0 = 0 .
# $$ (eq-fold)
#
# A fold is all that parity needs.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The absolute value folds the number line at 0: −1 lands on 1.", "name": "fig-lim-fold"}, "image": {"alt": "Three number lines from −1 to 1, dashed below 0. Dots at 1 and at 0 stay; from −1, a bent arrow leads to 1."}}
mechanisms.folded([1, 0, -1])
plt.show()

# %% [markdown]
# ```{exercise} Parity in three weights
# :label: exercise-parity-weights
#
# *8 minutes.* The unit of {eq}`eq-fold` starts with $h_0 = 0$, and each symbol $x_t$ is 0 or 1. Find three weights such that $h_t$ is 1 if the number of ones up to $x_t$ is odd, and 0 if it is even. ([Solution](solutions/15_limits.ipynb#solution-parity-weights))
# ```


# %%
def parity_weights():
    """Returns: three numbers, W_x, W_h and b."""
    raise NotImplementedError


parity_weights = check("parity_weights", parity_weights)

# %%
check.show_reference("parity_weights")

# %% [markdown]
# Three weights read ten thousand symbols.

# %%
W_x, W_h, b = map(float, parity_weights())
torch.manual_seed(0)
long = torch.randint(2, (1, 10_000))
states = computation.parity_rnn(W_x, W_h, b)(long).argmax(dim=-1)
correct = (states == parity.truth(long)).sum().item()

# %% tags=["evidence"]
observe(
    "Three weights give {correct:,} of {n:,} answers correctly.",
    correct=correct,
    n=long.numel(),
    holds=correct == long.numel(),
)

# %% [markdown]
# ### One sign: gates below zero
#
# *11 minutes, 5 of them yours.* Three weights are enough, so why use anything else? Because an RNN is slow: each step waits for the one before. Many newer recurrences leave out the activation function:
#
# $$
# h_t = a_t \odot h_{t-1} + u_t .
# $$ (eq-linear-recurrence)
#
# The gate $a_t$ and the input $u_t$ depend on $x_t$ alone, so those of all positions can be computed at once. And two steps in a row equal one step of the same form. So neighbouring steps are joined into pairs, and pairs into fours, and $T$ steps take $\log_2 T$ rounds {cite}`blelloch1990prefix`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three rounds instead of eight steps: in each round, every position takes in the result of another, first 1, then 2, then 4 positions back (dark: finished).", "name": "fig-lim-scan"}, "image": {"alt": "Four rows of eight cells. Arrows lead from each row to the next, over distances of one, two and four cells."}}
mechanisms.scan_rounds(8)
plt.show()

# %% [markdown]
# ```{exercise} Two steps are one
# :label: exercise-two-steps
#
# *5 minutes.* A step turns a state $h$ into $a \odot h + u$. After the step $(a_1, u_1)$ comes the step $(a_2, u_2)$. Return the gate and the input of the single step that has the same effect as both. ([Solution](solutions/15_limits.ipynb#solution-two-steps))
# ```


# %%
def two_steps(a_1, u_1, a_2, u_2):
    """Shapes: four times (B, N); returns a (B, N) and u (B, N)."""
    raise NotImplementedError


two_steps = check("two_steps", two_steps)

# %%
check.show_reference("two_steps")
show_source(computation.by_scan)

# %% [markdown]
# In most such layers, gates lie between 0 and 1, as in Day 3's LSTM. They can forget, but not flip a sign. A gate of −1 can.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A gate of −1 at each 1 flips the state, so its sign is the parity. A gate between 0 and 1 can only shrink it.", "name": "fig-lim-gates"}, "image": {"alt": "The word 1011010 and two rows of bars. With a gate of 0.5 at each one, bars shrink from 1 to 0.0625. With a gate of −1, they stay 1 long and turn over at each one."}}
bits = torch.tensor([1, 0, 1, 1, 0, 1, 0])
runs = {}
for name, at_one in (("a gate of 0.5", 0.5), ("a gate of −1", -1.0)):
    a = torch.where(bits == 1, at_one, 1.0)
    states = torch.cat([torch.ones(1), a.cumprod(dim=0)])  # h_0 = 1, and no input
    runs[name] = (a.tolist(), states.tolist())
mechanisms.gate_turns("".join(map(str, bits.tolist())), runs)
plt.show()

# %% [markdown]
# Can't the input $u_t$ flip the state? On a run of ones, gate and input stay the same, so each change of the state is $a$ times the one before. With a gate between 0 and 1, the state moves in one direction only, but parity flips at each 1.
#
# So we train the same layer twice: with gates $\sigma(\cdot)$, between 0 and 1, and with gates $2\sigma(\cdot) - 1$, between −1 and 1 {cite}`grazzi2025unlocking`.

# %% tags=["view"]
guess(
    "What changes if gates may lie below zero?",
    [
        "nothing: 32 units are enough",
        "parity is learned a little faster",
        "parity is learned at all",
    ],
    right="parity is learned at all",
    because="With gates between 0 and 1, the layer is no better than chance beyond the shortest words.",
)

# %% tags=["training"]
signs = {kind: trained(kind) for kind in ("gates in (0, 1)", "gates in (-1, 1)")}
by_sign = {kind: (LENGTHS, [100 * x for x in of.values()]) for kind, (_, of) in signs.items()}
positive, signed = (of for _, of in signs.values())
layer = signs["gates in (-1, 1)"][0]
gates = layer.layer.gates(layer.embedding(torch.tensor([[1]])))

# %% tags=["evidence"] mystnb={"figure": {"caption": "With gates between −1 and 1, the layer learns parity; with gates between 0 and 1, it doesn't. Share of 500 new words whose last answer is correct.", "name": "fig-lim-signs"}, "image": {"alt": "Two curves over word lengths from 1 to 160. One stays at 100% or just below. The other falls to 50% within a few symbols."}}
by_symbols(by_sign)

# %% tags=["evidence"]
observe(
    "With gates in (0, 1), {positive:.0%} of words of 20 symbols get a correct answer; with gates in (−1, 1), {signed:.0%} do. The lowest of these gates at a 1 is {lowest}.",
    positive=positive[20],
    signed=signed[20],
    lowest=f"{gates.min():.3f}".replace("-", "−"),
    holds=max(positive[10], positive[20]) < 0.7 and signed[20] > 0.95 and gates.min() < -0.9,
)

# %% [markdown]
# That is nearly −1, but only nearly: a little of the state is lost at each symbol, so on long words it fades.

# %%
one = last("gates in (-1, 1)")
two = [last("blocks, gates in (-1, 1)", [rate])[80] for rate in stored.parameters["rate"]]

# %% tags=["evidence"]
observe(
    "After the stored experiment's 1,500 steps, one layer still answers {one:.0%} correctly at 160 symbols. Two blocks with such gates do worse: at 80 symbols, they answer {low:.0%} to {high:.0%} correctly, depending on the learning rate.",
    one=one[160],
    low=min(two),
    high=max(two),
    holds=one[160] > 0.9 > max(two),
)

# %% [markdown]
# ### Counting with two cells
#
# *10 minutes, 8 of them yours.* Parity takes one bit of memory. Other rules take a number: in the words aⁿbⁿ, some *a* are followed by just as many *b*. To predict after each letter which letters may follow, a network must know two things: whether as many *b* as *a* have been read, and whether any *b* has been read. An LSTM can count. With the gates of {doc}`Day 3 <03_gates>` wide open, a cell adds up everything written into it {cite}`gers2001lstm`: $c_t = c_{t-1} + g_t$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A cell that adds ½ at each a and ¼ at each b doesn't show where the word may end. Answers: which letters may follow.", "name": "fig-lim-cells"}, "image": {"alt": "The letters aaabbb. The bars of a cell grow: 0.5, 1, 1.5, 1.75, 2 and 2.25. The answers below are a or b three times, b twice, and end."}}
anbn = LANGUAGES["anbn"]
ids = anbn.encode("aaabbb")
follow = [anbn.classes[i].replace("ab", "a or b") for i in anbn.truth(ids)[0]]
cell = torch.where(ids[0] == 0, 0.5, 0.25).cumsum(dim=0)
mechanisms.counting_cells("aaabbb", {"cell": cell.tolist()}, follow)
plt.show()

# %% [markdown]
# ```{exercise} What the letters write
# :label: exercise-counter-writes
#
# *8 minutes.* With open gates, an LSTM adds a number from −1 to 1 to each cell at each letter, starting at 0. Choose the numbers that *a* and *b* add to each of two cells. In a word $a^n b^n$, the first cell should be 0 exactly where as many *b* as *a* have been read, the second exactly where no *b* has been read yet. ([Solution](solutions/15_limits.ipynb#solution-counter-writes))
# ```


# %%
def counter_writes():
    """Returns: two rows of two numbers: what a and b add to the first cell, then the second."""
    raise NotImplementedError


check("counter_writes", counter_writes)

# %%
check.show_reference("counter_writes")

# %%
counter = computation.counter_lstm()  # the book's two cells
ids = anbn.encode("a" * 1000 + "b" * 1000)
assert (counter(ids).argmax(dim=-1) == anbn.truth(ids)).all()  # not one answer is wrong

# %% [markdown]
# ### Why a Transformer hardly learns parity
#
# *13 minutes, 8 of them yours.* Why did the Transformer guess? Attention takes a weighted mean. If it weights $n$ symbols equally, flipping one of them moves the mean by only $1/n$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The longer the word, the less the framed symbol moves the mean.", "name": "fig-lim-mean"}, "image": {"alt": "Words of 4, 16 and 64 cells, light and dark in turn, the first framed. Below each is a bar, the mean, and an orange piece at its end: a quarter, a sixteenth, and a sixty-fourth of the whole."}}
mechanisms.one_of_many([[0, 1] * (n // 2) for n in (4, 16, 64)])
plt.show()

# %% [markdown]
# Parity is the worst case, because *every* flip changes the answer. The number of flips, out of $n$, that change the answer is the rule's **sensitivity** at that word {cite}`hahn2020theoretical`.
#
# ```{exercise} How sensitive is an answer?
# :label: exercise-sensitivity
#
# *8 minutes.* `answer` is a function that returns a whole number, or True or False, for a word of n symbols, each 0 or 1. Flip one symbol of the word at a time, and return how many of the n flips change the answer. ([Solution](solutions/15_limits.ipynb#solution-sensitivity))
# ```


# %%
def sensitivity(answer, word):
    """Shapes: word (n,), a tensor of 0 and 1; returns a whole number from 0 to n."""
    raise NotImplementedError


sensitivity = check("sensitivity", sensitivity)

# %%
check.show_reference("sensitivity")


# %%
def last_answer(name):
    return lambda word: int(LANGUAGES[name].truth(word[None])[0, -1])


torch.manual_seed(0)
words = torch.randint(2, (200, 20))
ASKED = {"the first symbol": "first", "more ones than zeros": "majority", "parity": "parity"}
found = {
    asked: [int(sensitivity(last_answer(name), word)) for word in words]
    for asked, name in ASKED.items()
}
table(
    [[name, f"{fmean(of):.1f}"] for name, of in found.items()], ["answer", "flips that change it"]
)

# %% [markdown]
# Hahn proved this for whole Transformers: with fixed weights, flipping one of $n$ symbols moves the output at any other position by at most a constant divided by $n$. So on long words, no single symbol can *surely* decide an answer; the sensitivity counts the symbols that must.
#
# Is parity out of reach, then? No: a small move can still cross the line between two answers. Two blocks compute it, with weights set by hand {cite}`chiang2022overcoming`. Each position $i$ knows $i/n$, and whether $i$ is even. The first block finds the share of ones, $k/n$. The second finds the position $k$, which has that share, and reads whether $k$ is even.


# %%
def moved(size, T, seed):
    """The share of correct answers at length T after each weight has moved by about `size`."""
    machine = computation.ParityTransformer(dtype=torch.float64)
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in machine.parameters():
            weight += size * torch.randn_like(weight)
    ids, answers, _ = parity.draw(200, T, T, seed=1)
    return (machine(ids).argmax(dim=1) == answers[:, -1]).double().mean().item()


as_set = [moved(0, T, 0) for T in (5, 20, 80, 320)]
after = {T: fmean(moved(0.001, T, seed) for seed in range(5)) for T in (5, 20, 80)}

# %% tags=["evidence"]
observe(
    "The Transformer set by hand answers {right:.0%} of words of up to 320 symbols correctly. If each of its weights moves by about 0.001, it answers {short:.0%} correctly at 5 symbols, {middle:.0%} at 20 and {long:.0%} at 80.",
    right=min(as_set),
    short=after[5],
    middle=after[20],
    long=after[80],
    holds=min(as_set) == 1 and after[5] > 0.9 and after[80] < 0.65,
)

# %% [markdown]
# That holds in general: if an answer depends on every symbol of a long word, small changes of the weights destroy it, so training hardly ever finds such weights {cite}`hahn2024sensitive`. **What can be computed isn't always learned.**
#
# ### Written steps: a state on paper
#
# *4 minutes.* People who can't keep a number in mind write it down. So can a Transformer: it writes its answer after each symbol, and reads it at the next.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Without steps, one answer depends on all symbols. With steps, it depends on one symbol and on the answer before it. Blue: symbols; green: answers; empty: blanks.", "name": "fig-lim-steps"}, "image": {"alt": "Above, six symbols with an arrow from each to a single answer. Below, symbols and answers take turns, and each answer has two arrows, from its symbol and from the answer before."}}
answers = parity.truth(torch.tensor([WORD[:6]]))[0].tolist()
mechanisms.steps_written([*map(str, WORD[:6])], [*map(str, answers)])
plt.show()

# %% [markdown]
# That is the smallest **chain of thought** {cite}`wei2022chain`. In training, the network reads the correct answers; in the test, its own. For a fair comparison, the same network without written steps reads a blank in place of each answer {cite}`pfau2024lets`. A second task is harder: five cups, a ball under the first, and each symbol swaps the cups at two positions. Where is the ball?

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The ball's path under five cups, while pairs of cups are swapped.", "name": "fig-lim-cups"}, "image": {"alt": "Five rows of positions over six swaps; each swap is a crossing of two lines. One line, the ball's, is coloured."}}
mechanisms.cups([(1, 2), (3, 5), (2, 4), (1, 4), (2, 5), (1, 3)], 5)
plt.show()

# %%
steps = experiments.load("parity_steps")


def best_rate(language, written):
    """The last answers' shares (seeds, lengths), at the rate with the smaller mean loss."""
    rates = steps.parameters["rate"]
    rows = [steps.select(language=language, written=written, rate=rate) for rate in rates]
    return [row["last"] for row in min(rows, key=lambda of: fmean(row["loss"] for row in of))]


tasks = {"parity": "parity", "swaps": "five cups"}
by_steps = {
    f"{name}, {'written' if written else 'blanks'}": (
        steps.rows[0]["length"],
        100 * torch.tensor(best_rate(language, written)),
    )
    for language, name in tasks.items()
    for written in (True, False)
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "With its answers written down, the Transformer follows both rules up to the longest words of its training (20 symbols), and no further. Share of 200 new words whose last answer is correct, mean and range of five seeds (stored experiment).", "name": "fig-lim-written"}, "image": {"alt": "Four curves over lengths of 10 to 80 symbols: two for written answers, two for blanks."}}
ax = curves(by_steps, "symbols", "correct (%)", logx=True)
ax.set_xticks(steps.rows[0]["length"], steps.rows[0]["length"])
ax.minorticks_off()
plt.show()

# %% [markdown]
# On longer words no step is harder, but it has learned only the lengths that it saw. With blanks it fails sooner, but 750 steps are few.
#
# **Enough for tonight?** This is a good place to stop.
#
# ## Is it right?
#
# *1 minute.* We compare your joined steps, and the book's rounds, with a plain loop.

# %% tags=["evidence"]
torch.manual_seed(0)
a, u = torch.rand(3, 2, 4), torch.randn(3, 2, 4)
joined = two_steps(a[:, 0], u[:, 0], a[:, 1], u[:, 1])[1]
torch.testing.assert_close(joined, computation.by_loop(a, u)[:, -1])
torch.testing.assert_close(computation.by_scan(a, u), computation.by_loop(a, u))
print("steps and rounds agree")

# %% [markdown]
# ## Train it
#
# *13 minutes, 8 of them yours.* Most tasks aren't like parity: a GPT can always predict its text a little better. What does that cost? As a rule of thumb, each weight takes part in six operations for each token {cite}`kaplan2020scaling`. With $N$ weights and $D$ tokens, that is
#
# $$
# C = 6\,N D .
# $$ (eq-six)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Six operations for each weight and token: two forward, four backward.", "name": "fig-lim-six"}, "image": {"alt": "A weight between an input and an output. Forward: a multiplication and an addition. Backward: the same for the gradient of the input, and the same for the gradient of the weight."}}
growth.six_operations()
plt.show()

# %% [markdown]
# ```{exercise} Plan a training run
# :label: exercise-plan-run
#
# *8 minutes.* A GPU costs `price` per hour. At its best it does `throughput` operations per second; a training run achieves the share `utilisation` of that. All of `money` is spent on GPUs that run day and night for `days` days; their number need not be whole. The run takes $C = 6 N D$ operations, and $D$ should be `tokens_per_weight` times $N$. Return the number of GPUs, the weights $N$ and the tokens $D$. ([Solution](solutions/15_limits.ipynb#solution-plan-run))
# ```


# %%
def plan_run(money, days, price, throughput, utilisation, tokens_per_weight):
    """Returns: three numbers: GPUs, weights, tokens."""
    raise NotImplementedError


plan_run = check("plan_run", plan_run)

# %%
check.show_reference("plan_run")

# %% [markdown]
# A million dollars and 30 days buy:

# %%
gpus, weights, tokens = plan_run(1e6, 30, 2, 1e15, 0.4, 20)
print(f"{gpus:.0f} GPUs, {weights / 1e9:.0f} billion weights, {tokens / 1e9:,.0f} billion tokens")

# %% [markdown]
# {cite:t}`hoffmann2022training` describe the loss by a **scaling law**, with a floor $E$ and two terms that fall as powers:
#
# $$
# L(N, D) = E + \frac{A}{N^\alpha} + \frac{B}{D^\beta} .
# $$ (eq-law)
#
# Seven sizes of Day 9's GPT each read 0.1, 0.2, 0.4 and 0.8 million tokens of a text, each at a learning rate better than its half and its double. We fit the law to these 28 runs and *predict* the loss of an eighth size before it is trained, at the seventh's rate. How sure are we? We draw 28 of the runs with replacement, fit again, and do that two hundred times: a **bootstrap** {cite}`efron1979bootstrap`. Each prediction is moved by one run's distance from the law, slightly enlarged; the middle 90% are our interval.

# %%
ladder = experiments.load("ladder")
N, D, losses = (ladder.column(name) for name in ("parameters", "tokens", "test"))
(step,) = experiments.load("ladder_step").rows
told = scaling.extrapolate(
    scaling.fit_scaling_law, N, D, losses, at=(step["parameters"], step["tokens"]), draws=200
)
law = scaling.fit_scaling_law(N, D, losses)
grid = torch.logspace(3.9, 6.55, 50)

# %% tags=["view"]
guess(
    "The eighth GPT has more than twice the weights of the seventh. Where is its loss?",
    ["in the predicted interval", "above it: size buys less than predicted", "below it"],
    right="in the predicted interval",
    because=f"Predicted: {step['low']:.2f} to {step['high']:.2f} nats. Measured: {step['test']:.2f}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The eighth loss (star) lies in the 90% interval that was predicted for it (bar). Loss by number of weights for four lengths of text (points), and the fitted law (lines).", "name": "fig-lim-ladder"}, "image": {"alt": "Four falling curves over weights from nine thousand to three million, one for each length of text, with seven points each. At the end of the lowest curve are an interval and a star."}}
_, ax = plt.subplots()
for k, d in enumerate(sorted(set(D))):
    points = [(n, loss) for n, tokens, loss in zip(N, D, losses) if tokens == d]
    ax.plot(*zip(*points), "o^sD"[k], color=f"C{k}", label=f"{d / 1e6:.1f} million tokens")
    ax.plot(grid, law.loss(grid, d), color=f"C{k}", linewidth=1)
ends = [[abs(step["test"] - step[end])] for end in ("low", "high")]
ax.errorbar(step["parameters"], step["test"], ends, fmt="k*", ecolor="0.5", capsize=7)
ax.set(xscale="log", xlabel="weights", ylabel="loss (nats)")
ax.legend()
plt.show()

# %% [markdown]
# ### Ten times more to spend
#
# *2 minutes.* Your budget grows tenfold: a larger model, or more text? With the operations fixed, a larger model reads less, so the **compute-optimal** size is in between. We try three budgets on six or seven sizes each.

# %%
equal = experiments.load("equal_operations")
budgets = {}
for row in equal.rows:
    budgets.setdefault(row["budget"], []).append((row["parameters"], row["test"]))
curves_of = {f"C = {C:.0e}": tuple(zip(*sorted(points))) for C, points in sorted(budgets.items())}
best = {C: scaling.parabola_minimum(*zip(*points)) for C, points in sorted(budgets.items())}
exponent = scaling.growth(list(best), [of.N for of in best.values()])

# %% tags=["evidence"] mystnb={"figure": {"caption": "For each budget there is a best size, and it grows with the budget. Loss by number of weights, with the same number of operations along each curve (iso-FLOP curve); crosses mark the lowest points of fitted parabolas (stored experiment).", "name": "fig-lim-equal"}, "image": {"alt": "Three curves in the form of a U over weights; each has its lowest point further right and lower than the one before."}}
ax = curves(curves_of, "weights", "loss (nats)", logx=True)
ax.plot(*zip(*[(of.N, of.loss) for of in best.values()]), "x", color="0.2", markersize=9)
plt.show()

# %% tags=["evidence"]
observe(
    "The best size grows as C to the power of {exponent:.2f}: with ten times the operations, it has {times:.1f} times the weights.",
    exponent=exponent,
    times=10**exponent,
    holds=0.5 < exponent < scaling.KAPLAN_EXPONENT,
)

# %% [markdown]
# {cite:t}`kaplan2020scaling` found an exponent of 0.73, and Hoffmann et al. about 0.5, at which weights and tokens grow alike. The [deeper page](deeper/15_limits.ipynb) explains why theirs differ, and how uncertain ours is.

# %% [markdown]
# ## Look inside
#
# *3 minutes.* Some abilities are said to appear suddenly when a model becomes large enough {cite}`wei2022emergent`. Take Day 9's GPT that adds. We score the same answers by the share of correct *digits*, and by the share of *exact* answers, with all four digits correct. If digits are correct independently, the second is the product of their probabilities, $p^4$ if all are alike {cite}`schaeffer2023emergent`.

# %%
jump = experiments.load("jump")
WIDTHS = sorted(jump.parameters["width"])
exact_by_width = {w: [100 * row["exact"] for row in jump.select(width=w)] for w in WIDTHS}
low, *_, high = sorted(max(exact_by_width.values(), key=np.ptp))
shown = [[w, *(f"{x:.0f}%" for x in of)] for w, of in exact_by_width.items()]
table(shown, ["width", "exact: seed 0", "seed 1", "seed 2"])

between = [of for w, of in exact_by_width.items() if 16 <= w <= 48]
assert fmean(max(of) - min(of) for of in between) > np.ptp([fmean(of) for of in between])

# %% [markdown]
# So between widths 16 and 48, the seed decides more than the width. The loss tells how far each network has come, so we sort all 21 by it.

# %%
rows = sorted(jump.rows, key=lambda row: row["nats"], reverse=True)
nats = [row["nats"] for row in rows]
named = {"digits": "by digit", "exact": "exact", "product of the digits": "independent"}
by_loss = {name: [100 * row[of] for row in rows] for name, of in named.items()}
middle = (nats[0] + nats[-1]) / 2  # of the loss
digits, exact = (np.interp(-middle, -np.array(nats), by_loss[of]) for of in ("digits", "exact"))
off = max(abs(row["exact"] - row["independent"]) for row in rows)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The digits improve all along; exact answers follow late. The product of the four digits' shares, which treats digits as independent, predicts them. 21 networks (stored experiment).", "name": "fig-lim-by-loss"}, "image": {"alt": "21 points for each of three measures, over the loss, which falls from left to right. Digits rise from the beginning; exact answers stay near zero for half of the way and then rise steeply, and the prediction lies on them."}}
_, ax = plt.subplots()
for (name, shares), mark in zip(by_loss.items(), "os^"):
    ax.plot(nats, shares, mark, markersize=5, label=name)
ax.set(xlabel="loss (nats)", ylabel="correct (%)")
ax.legend()
ax.invert_xaxis()
plt.show()

# %% tags=["evidence"]
observe(
    "When the loss has fallen halfway, {digits:.0f}% of digits are correct and {exact:.0f}% of answers are exact. The digits predict the exact answers to within {off:.0f} points.",
    digits=digits,
    exact=exact,
    off=100 * off,
    holds=digits > 60 and exact < 40 and off < 0.05,
)

# %% [markdown]
# So a strict measure can make steady growth look like a jump. Whether abilities jump *with size* isn't decided here: three seeds and 300 steps are too few.
#
# ## Show someone
#
# *10 minutes.* Plan a training run. For our own runs, the *ladder*, the band shows how sure the fit is, not whether the law still holds there.

# %% tags=["view"]
ours = "our ladder, on one text"
plan_a_training(
    {
        ours: [law, *told.laws],
        "Hoffmann et al. (2022), fitted by Besiroglu et al. (2024)": [scaling.BESIROGLU],
    },
    {ours: list(zip(N, D, losses))},
    gpus=scaling.GPUS,
)

# %% [markdown]
# The three weights race an RNN and a Transformer, trained for longer than above on the same lengths. Take a thousand symbols. Then move a weight.

# %% tags=["view"]
long_word("parity", word="".join(map(str, long[0, :60].tolist())))

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* **A recurrent network can compute whatever a computer can**: that has been proved, for numbers with as many digits as needed {cite}`siegelmann1995computational`. The proof keeps a stack in one number. To push a bit onto the stack, divide by four and add 1/4 for a 0 or 3/4 for a 1; to pop it, undo that.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One number holds a stack. A push squeezes the line into its second quarter (0) or its last (1), so the newest bit is the first digit.", "name": "fig-lim-stack"}, "image": {"alt": "Four strips of four cells, one below the other. Dashed lines lead from the ends of each strip to one coloured cell of the next. A mark, q, is in the cell."}}
bits = [1, 0, 1]
numbers = [0.0]
for bit in bits:
    numbers.append(computation.push(numbers[-1], bit))
mechanisms.stack_in_a_number(bits, numbers)
plt.show()

# %% [markdown]
# Each bit takes two binary digits, and a computer's numbers have only so many. How deep can brackets of two kinds, one bit each, be nested? And with a little noise at each step?

# %%
deepest = {
    name: computation.deepest_stack(computation.StackMachine(dtype, noise))
    for name, dtype, noise in (
        ("float32", torch.float32, 0.0),
        ("float32, noise of 0.001", torch.float32, 1e-3),
    )
}
table([[name, depth] for name, depth in deepest.items()], ["numbers", "deepest stack"])

# %% [markdown]
# The theorem is true: two such stacks and a few fixed rules make a computer, if numbers never end. Ours do. The parity machine has no such limit: its states are 0 and 1, so nothing is rounded. Noise would add up in it, too; the [deeper page](deeper/15_limits.ipynb) has a machine that corrects it.
#
# ## What we found
#
# *3 minutes.* Five claims; five more are on the [deeper page](deeper/15_limits.ipynb).
#
# (claim-comp-1)=

# %% tags=["evidence"]
written = fmean(of[1] for of in best_rate("parity", True))
claim(
    "comp-1",
    "No, not the rule: after 20 symbols, the best of five ways answers {inside:.0%} correctly; after 40, {beyond:.0%}. RNNs reach {rnn:.0%}, written steps reach {written:.0%}.",
    inside=best_of[20],
    beyond=best_of[40],
    rnn=last("RNN")[40],
    written=written,
    holds=lambda inside, beyond, rnn, written: beyond < 0.6 < inside < 0.95 < min(rnn, written),
    experiment="parity",
    scale="words of 1 to 20 symbols; two blocks of width 32; 1,500 steps, best of three rates; five seeds; RNN after 40; written after 20 (750 steps)",
)

# %% [markdown]
# (claim-comp-4)=

# %% tags=["evidence"]
with_steps_, without = (fmean(of[1] for of in best_rate("swaps", w)) for w in (True, False))
claim(
    "comp-4",
    "Can't tell here: without written steps, two trained blocks find the ball after 20 swaps in {without:.0%} (a guess: 20%); with them, in {written:.0%}.",
    without=without,
    written=with_steps_,
    holds=lambda without, written: without < 0.3 and written > 0.9,
    experiment="parity_steps",
    scale="two blocks of width 32; words of 1 to 20 swaps; 750 steps at the best of three rates; five seeds",
)

# %% [markdown]
# Most experts believe that *no* Transformer of fixed depth can follow every swap, but it isn't proved: see the [deeper page](deeper/15_limits.ipynb).
#
# (claim-comp-6)=

# %% tags=["evidence"]
claim(
    "comp-6",
    "Can't tell here: the proof needs exact numbers. In float32, a stack in one number holds {single} brackets; with a noise of a thousandth, {noisy}.",
    single=deepest["float32"],
    noisy=deepest["float32, noise of 0.001"],
    holds=lambda single, noisy: noisy + 3 < single < 20,
    scale="weights set by hand; 200 random stacks for each depth",
)

# %% [markdown]
# (claim-scale-1)=

# %% tags=["evidence"]
claim(
    "scale-1",
    "Yes, but whether there is a floor can't be told. Predicted with one: {predicted:.2f} nats ({low:.2f} to {high:.2f}); without: {without:.2f}; measured: {measured:.2f}.",
    predicted=step["predicted"],
    low=step["low"],
    high=step["high"],
    without=scaling.fit_kaplan_law(N, D, losses).loss(step["parameters"], step["tokens"]),
    measured=step["test"],
    holds=lambda predicted, low, high, without, measured: (
        low <= measured <= high and measured - 0.2 < without < predicted < measured + 0.2
    ),
    experiment="ladder_step",
    scale="GPTs of 9 thousand to 3 million weights; 0.1 to 0.8 million tokens of one text; one seed; without a floor: Kaplan's law",
)

# %% [markdown]
# (claim-scale-4)=

# %% tags=["evidence"]
claim(
    "scale-4",
    "Can't tell here: at one width, seeds get {low:.0f}% to {high:.0f}%. With the loss halfway down, {digits:.0f}% of digits and {exact:.0f}% of answers are correct.",
    low=low,
    high=high,
    digits=digits,
    exact=exact,
    holds=lambda low, high, digits, exact: high > low + 80 and digits > exact + 20,
    experiment="jump",
    scale="sums of three digits; two blocks, 8 to 64 wide; 300 steps; each at the best of three rates; three seeds",
)

# %% [markdown]
# ## Exercises
#
# Three more are on the [deeper page](deeper/15_limits.ipynb), and all solutions are on [a page of their own](solutions/15_limits.ipynb).

# %% [markdown]
# ```{exercise} Predict: how many brackets fit into float64?
# :label: exercise-brackets-in-float64
#
# *Core, 5 minutes.* The stack of brackets is one number from 0 to 1, and each open bracket takes two of its binary digits. A float32 holds 24 of them, and a float64 holds 53. How many open brackets, of whatever kinds, can a float64 hold without losing a digit? ([Solution](solutions/15_limits.ipynb#solution-brackets-in-float64))
# ```

# %%
brackets_in_float64 = None  # a whole number
check("brackets_in_float64", brackets_in_float64)

# %% [markdown]
# ```{exercise} Written steps
# :label: exercise-with-steps
#
# *Core, 8 minutes.* After each symbol, a Transformer should write the answer so far, and read it again. Turn symbols $x$ and answers $a$ into its inputs, $x_1 a_1 x_2 a_2 \dots$, and its targets. The ids of answers follow those of symbols: answer $a$ has the id `n_symbols` + $a$. At a symbol, the target is the id of its answer. At an answer, the target is −100, which the loss ignores. ([Solution](solutions/15_limits.ipynb#solution-with-steps))
# ```


# %%
def with_steps(symbols, answers, n_symbols):
    """Shapes: symbols and answers (B, T); returns inputs (B, 2T) and targets (B, 2T)."""
    raise NotImplementedError


check("with_steps", with_steps)

# %% [markdown]
# ```{exercise} All or nothing, and digit by digit
# :label: exercise-shares-correct
#
# *Core, 6 minutes.* Given the predicted and true digits of n answers, return the share of answers without a mistake and the share of correct digits. ([Solution](solutions/15_limits.ipynb#solution-shares-correct))
# ```


# %%
def shares_correct(predicted, target):
    """Shapes: predicted and target (n, k), digits; returns two numbers from 0 to 1."""
    raise NotImplementedError


check("shares_correct", shares_correct)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "set by hand three weights that compute parity, for words of any length": "parity_weights brackets_in_float64",
    "explain why a linear recurrence needs negative gates, and join its steps in pairs": "two_steps",
    "count with the cells of an LSTM": "counter_writes",
    "explain why a Transformer hardly learns parity, and let it write its steps down": "sensitivity with_steps",
    "plan a training run: from money and days to weights and tokens": "plan_run",
    "tell a sudden ability from a strict measure": "shares_correct",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So a network's form decides which rules it can follow; its size and its text decide how low its loss falls. A recurrence with signed gates keeps a state, and trains on all positions at once, as attention does. **Next**, you could go on to recurrences that choose what to keep.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`chiang2022overcoming`: parity by hand in a Transformer.
# - {cite:t}`hahn2024sensitive`: why training hardly ever finds such weights.
# - {cite:t}`grazzi2025unlocking`: which gates keep which states.
# - {cite:t}`hoffmann2022training`: the law, and how to spend a budget.
# - {cite:t}`schaeffer2023emergent`: whether abilities appear suddenly.
