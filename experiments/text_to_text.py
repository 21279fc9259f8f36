"""One model that is told its task by a prefix, or three models of its size?

The tasks: translate a grammar's English sentences into Chinese, name the library that says a
sentence, and fill a gap of one word. All is text: a source begins with the task's name, and the
model writes its answer word by word. A step is a batch of one task. The model of all tasks takes as
many steps of each as the model of that task, or as many in all, and one model that translates has a
third of them. Each has three rates, of which the one that is best on validation data is taken,
found with the first seed. A number is the share of the test sentences that are answered without a
mistake, seed by seed.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import torch
from torch import Tensor

from utils.data.libraries import LIBRARIES, NAME, NUMBER, Sentence, sentences
from utils.data.text import EOS, SPECIAL, Vocabulary, pad
from utils.data.translation import Pair, corpus
from utils.pretraining import hide_spans
from utils.seq2seq import PAD, greedy_decode, sequence_loss, shift
from utils.tasks import pretraining
from utils.tasks.families import N_SENTINELS, at_rates, encoder_decoder
from utils.tasks.reading import SEEDS
from utils.training.loop import fit, seeded
from utils.transformer import Transformer

TASKS = "translate", "classify", "fill"
TOGETHER = "all, steps of each", "all, steps in all"
PARAMETERS = {"model": [*TASKS, "translate, a third", *TOGETHER], "steps": 420}
SHORT = {"steps": 6, "FACTORS": (1.0,), "N_JUDGED": 16, "SEEDS": (0,)}
FACTORS = (0.5, 1.0, 2.0)
B, N_LAYERS, N_JUDGED = 32, 2, 500
SHARE = 0.15  # of the words are gaps, when it learns
SENTINELS = [f"<{number}>" for number in range(N_SENTINELS)]
translations = cache(corpus)


def data() -> list:
    return pretraining.data()


def measure(model: str, steps: int) -> dict:
    tasks = TASKS if model in TOGETHER else (model.split(",")[0],)
    if model == "all, steps of each":
        steps *= len(tasks)
    if model.endswith("a third"):
        steps //= len(TASKS)
    first, *others = SEEDS
    tried = [trained(tasks, steps, factor, first) for factor in FACTORS]
    found = [sum(right(one, task, "validation") for task in tasks) / len(tasks) for one in tried]
    best = max(range(len(FACTORS)), key=found.__getitem__)
    models = [tried[best], *(trained(tasks, steps, FACTORS[best], seed) for seed in others)]
    row = {"factor": FACTORS[best], "by factor": found}
    row["parameters"] = sum(weight.numel() for weight in models[0].parameters())
    return row | {
        task: [right(one, task, "test") for one in models] if task in tasks else None
        for task in TASKS
    }


# Everything is text -------------------------------------------------------------------------------


@cache
def words() -> Vocabulary:
    """One vocabulary for all models: the tasks' words, their names, and what marks a gap."""
    known = {word for pair in translations(0).train for word in (*pair.source, *pair.target)}
    known.update(pretraining.vocabulary().symbols[len(SPECIAL) :])
    return Vocabulary([*known, *SENTINELS, *LIBRARIES, *map(prefix, TASKS)])


def prefix(task: str) -> str:
    return f"{task}:"


def part_of(task: str, part: str) -> Sequence[Pair | Sentence]:
    return getattr(translations(0) if task == "translate" else sentences(), part)


def as_text(task: str, given: Pair | Sentence, share: float) -> tuple[Sequence, Sequence]:
    """Source and target, in words; of the places that can be gaps a share is, at least one."""
    if task == "translate":
        return given.source, given.target
    if task == "classify":
        return given.words, [LIBRARIES[given.label]]
    places = can_be_gaps(given.words)
    drawn = torch.randperm(len(places))[: max(1, round(share * len(places)))].sort().values
    hidden = [places[number] for number in drawn.tolist()]
    return hide_spans(given.words, [(t, t + 1) for t in hidden], SENTINELS)


def can_be_gaps(words: Sequence[str]) -> list[int]:
    """Places of known words that are no names or numbers."""
    known = pretraining.vocabulary().encode(words)
    return [
        t
        for t, (word, number) in enumerate(zip(words, known, strict=True))
        if number >= len(SPECIAL) and word not in (NAME, NUMBER)
    ]


def as_ids(task: str, source: Sequence[str], target: Sequence[str]) -> tuple[list, list]:
    return words().encode([prefix(task), *source]), [*words().encode(target), EOS]


class InTurn:
    """Batches (source, lengths, target_in, target) of one task after the other, drawn anew."""

    def __init__(self, tasks: Sequence[str], steps: int):
        self.tasks, self.steps = tasks, steps

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        for step in range(self.steps):
            task = self.tasks[step % len(self.tasks)]
            held = part_of(task, "train")
            drawn = [held[row] for row in torch.randint(len(held), (B,)).tolist()]
            pairs = [as_ids(task, *as_text(task, each, SHARE)) for each in drawn]
            source, lengths = pad([source for source, _ in pairs])
            target, _ = pad([target for _, target in pairs])
            yield source, lengths, shift(target), target


# Training and judging -----------------------------------------------------------------------------


def trained(tasks: Sequence[str], steps: int, factor: float, seed: int) -> Transformer:
    model, blocks = encoder_decoder(len(words()), N_LAYERS, seed)
    optimiser, schedule = at_rates(model, blocks, steps, factor)
    batches = InTurn(tasks, steps)
    fit(model, batches, sequence_loss, optimiser, epochs=1, seed=seed, schedule=schedule)
    return model.eval()


@cache
def judged(task: str, part: str) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """Sources and their lengths, and targets; of a sentence with gaps, one is asked for."""
    with seeded(0, 0):
        texts = [as_text(task, given, share=0.0) for given in part_of(task, part)[:N_JUDGED]]
    pairs = [as_ids(task, *text) for text in texts]
    return pad([source for source, _ in pairs]), pad([target for _, target in pairs])[0]


def right(model: Transformer, task: str, part: str) -> float:
    """The share of a part that a model answers without a mistake."""
    source, target = judged(task, part)
    T = target.shape[1]
    written = greedy_decode(model, *source, max_len=T)
    written = torch.nn.functional.pad(written, (0, T - written.shape[1]), value=PAD)
    return (written == target).all(dim=1).double().mean().item()
