"""How many labels does reading save? Which of five libraries says this, told by a few examples.

Three encoders have guessed hidden words in text without labels, in passages of three kinds: single
sentences, neighbouring ones in order, and sentences mixed from a whole module. The same network
from scratch and a bag of words have read nothing. With each number of labels each has four
settings, of which the one is taken that is best on the validation part with the first seed; then
it is tuned with three seeds. A seed has labels of its own, and an encoder that was pre-trained with
it. "loss" is of hidden words in the sentences of the validation modules, in passages of each kind,
in nats, with the same dice for all; "loss by frequency" is of how often each word occurs.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from utils.data.libraries import LIBRARIES, everything, sentences
from utils.data.text import EOS, pad
from utils.pretraining import IGNORE, MaskedLanguageModel, masked_word_loss
from utils.tasks import pretraining
from utils.tasks.fine_tuning import classifier, tune, tune_bag
from utils.tasks.pretraining import PASSAGES, SHARE, Hidden, hide, new_model, pretrain
from utils.tasks.reading import SEEDS, Tuned, as_labelled, share_right

PARAMETERS = {
    "start": [*PASSAGES, "from scratch", "bag of words"],
    "steps": pretraining.STEPS,
}
LABELS = (30, 100, 300, 1000, 2500)
N_WORDS = 16_384  # of held-out text, in passages of each kind


def data():
    return pretraining.data()


def measure(start: str, steps: int) -> dict:
    if start == "bag of words":
        return by_labels(tune_bag)
    models = {seed: new_model(seed) for seed in SEEDS}
    if start in PASSAGES:
        for seed, model in models.items():
            pretrain(model, Hidden(steps, start), seed)
    row = by_labels(lambda n: tune(lambda seed: classifier(models[seed], len(LIBRARIES)), n))
    for passage in PASSAGES:
        row[f"loss, {passage}"] = [loss(model, passage) for model in models.values()]
        row[f"loss by frequency, {passage}"] = loss_by_frequency(passage)
    return row


def by_labels(tuned_with: Callable[[int], Tuned]) -> dict:
    """The settings, and how much is right with each seed, for each number of labels."""
    row = {}
    validation, test = map(as_labelled, sentences()[1:])
    for n in LABELS:
        found = tuned_with(n)
        row |= {
            f"setting, {n} labels": found.setting,
            f"by setting, {n} labels": found.by_setting,
            f"validation, {n} labels": [share_right(a, validation) for a in found.answers],
            f"test, {n} labels": [share_right(a, test) for a in found.answers],
        }
    return row


@cache
def held_out() -> list[list[list[int]]]:
    """The validation part's sentences as ids, module by module, in the order of their sources."""
    kept, words = set(sentences().validation), pretraining.vocabulary()
    of_module = defaultdict(list)
    for sentence in everything():
        if sentence in kept:
            of_module[sentence.module].append([*words.encode(sentence.words), EOS])
    return list(of_module.values())


def asked(passage: str) -> tuple[Tensor, Tensor, Tensor]:
    """Held-out passages of a kind, with words hidden: ids (B, T), lengths (B,), targets (B, T)."""
    torch.manual_seed(0)
    sizes = torch.tensor([float(sum(map(len, module))) for module in held_out()])
    rows, n_words = [], 0
    while n_words < N_WORDS:
        rows.append(PASSAGES[passage](held_out()[sizes.multinomial(1).item()]))
        n_words += len(rows[-1])
    ids, lengths = pad(rows)
    hidden, target = hide(ids, SHARE)
    return hidden, lengths, target


@torch.no_grad()
def loss(model: MaskedLanguageModel, passage: str) -> float:
    """Mean loss of the words that are hidden in held-out passages of a kind, in nats."""
    hidden, lengths, target = asked(passage)
    return masked_word_loss(model.head, model.read(hidden, lengths), target).item()


def loss_by_frequency(passage: str) -> float:
    """The same for guesses by how often each word occurs in the text that is read, plus one."""
    read = [word for module in pretraining.documents() for said in module for word in said]
    counts = torch.tensor(read).bincount(minlength=len(pretraining.vocabulary())) + 1.0
    target = asked(passage)[2]
    return -(counts / counts.sum()).log()[target[target != IGNORE]].mean().item()
