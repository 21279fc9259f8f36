"""The recipes that lessons and experiments share, on models small enough to look into."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.pictures import Split
from utils.data.sequences import IGNORE_INDEX, copying, delayed_recall, echo, sorting
from utils.data.text import EOS, stream
from utils.recurrent import RNN, LanguageModel, SequenceClassifier, Streaming
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, greedy_decode, sequence_loss
from utils.tasks.characters import train_characters
from utils.tasks.digits import train_digits
from utils.tasks.memory import recall_ids, train_recall
from utils.tasks.sorting import train_sorter
from utils.tasks.translation import train_translator
from utils.training.metrics import exact_match
from utils.training.recipes import clip_gradients, train_once


def gradient_after(max_norm: float, *gradients: list[float]) -> torch.Tensor:
    """The step that plain descent takes after clipping, all tensors in one row."""
    tensors = [nn.Parameter(torch.zeros(len(g))) for g in gradients]
    optimiser = torch.optim.SGD(tensors, lr=1.0)
    clip_gradients(optimiser, max_norm)
    for tensor, gradient in zip(tensors, gradients, strict=True):
        tensor.grad = torch.tensor(gradient)
    optimiser.step()
    return -torch.cat([tensor.detach() for tensor in tensors])


def test_clipping_shortens_all_gradients_together_and_leaves_short_ones():
    torch.testing.assert_close(gradient_after(1.0, [3.0], [0.0, 4.0]), torch.tensor([0.6, 0, 0.8]))
    torch.testing.assert_close(gradient_after(9.0, [3.0], [0.0, 4.0]), torch.tensor([3.0, 0, 4]))


def test_a_stream_says_where_it_begins_and_asks_for_the_next_symbol():
    pieces = stream(torch.arange(21), batch_size=2, length=4)
    assert [bool(begins) for _, begins, _ in pieces] == [True, False, False]
    for ids, _, target in pieces:
        assert torch.equal(target, ids + 1)


def test_recall_asks_for_the_first_symbol_by_its_id():
    sequences, first = delayed_recall(6, 5, seed=3)
    ids, asked = recall_ids(6, 5, seed=3)
    assert torch.equal(F.one_hot(ids, 4).float().transpose(1, 2), sequences)
    assert torch.equal(asked, first) and torch.equal(ids[:, 0], first)


def test_recall_of_three_symbols_is_learned_and_training_stops():
    torch.manual_seed(0)
    model = SequenceClassifier(4, 4, RNN(4, 16), 4)
    steps, right = train_recall(model, 3, seed=0)
    assert steps <= 300 and right > 0.95


class Lengths(nn.Module):
    """Guesses, and remembers how long the sequences were that it was trained on."""

    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(4))
        self.seen = []

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.seen.append(ids.shape[1])
        return self.logits.expand(len(ids), 4)


def test_recall_shows_shorter_sequences_only_if_asked_to():
    fixed, mixed = Lengths(), Lengths()
    assert train_recall(fixed, 30, rounds=2)[0] == 100
    train_recall(mixed, 30, mixed_lengths=True, rounds=2)
    assert set(fixed.seen) == {30} and len(fixed.seen) == 100
    assert min(mixed.seen) < 5 and 25 < max(mixed.seen) <= 30
    middle = sorted(mixed.seen)[50]
    assert 5 <= middle <= 11  # uniform in the logarithm: the geometric mean of 2 and 30 is 7.7


def test_recall_is_learned_at_the_rate_that_is_asked_for():
    usual, still = Lengths(), Lengths()
    train_recall(usual, 3, rounds=1)
    train_recall(still, 3, learning_rate=0.0, rounds=1)
    assert usual.logits.abs().min() > 0 and not still.logits.any()


def test_a_model_of_text_learns_a_text_that_repeats():
    torch.manual_seed(0)
    text = torch.tensor([4, 5, 6] * 400)
    model = Streaming(LanguageModel(7, 4, RNN(4, 8)))
    how = {"epochs": 5, "batch_size": 4, "length": 10, "learning_rate": 2e-2}
    history = train_characters(model, text, text[:100], **how)
    assert history.validation["loss"][-1] < 0.2 < history.train["loss"][0]


def test_a_translator_learns_to_copy_two_symbols():
    torch.manual_seed(0)
    sources = torch.randint(3, 6, (600, 2)).tolist()
    model = Seq2Seq(Seq2SeqConfig(6, 6, 8, 16, attention="dot", style="Luong"))
    ended = [[*source, EOS] for source in sources]
    train_translator(model, sequence_loss, ended, sources, epochs=6, batch_size=20, seed=0)
    source = torch.tensor(ended[:50])
    written = greedy_decode(model, source, torch.full((50,), 3), max_len=4)
    right = exact_match(written, ended[:50], EOS)
    assert right > 0.9


class Ranks(nn.Linear):
    """Judges by every symbol's share of the sequence, and by the place."""

    def __init__(self):
        super().__init__(5, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        T = ids.shape[1]
        shares = F.one_hot(ids, 3).float().mean(dim=1, keepdim=True).expand(-1, T, -1)
        place = torch.linspace(0, 1, T)[None, :, None].expand(len(ids), -1, -1)
        return super().forward(torch.cat([shares, place, place.square()], dim=-1))


def test_a_sorter_learns_to_sort():
    torch.manual_seed(0)
    how = {"warm_up": True, "length": 6, "n_symbols": 3, "steps": 100, "seed": 0}
    learned = train_sorter(Ranks(), 0.3, **how)
    assert learned["accuracy"] > 0.8 and len(learned["losses"]) == 10
    assert learned["loss"] < 0.5 < learned["losses"][0]


def steps_of(monkeypatch, train, kind=torch.optim.Adam) -> list[tuple[dict, float]]:
    """The settings of each of Adam's steps in a training, and the norm of its gradients."""
    taken = []

    def step(self, *given, **options):
        group = self.param_groups[0]
        gradients = [parameter.grad.flatten() for parameter in group["params"]]
        taken.append((dict(group), torch.cat(gradients).norm().item()))
        return adam(self, *given, **options)

    adam = kind.step
    with monkeypatch.context() as patch:
        patch.setattr(kind, "step", step)
        train()
    return taken


def settings(monkeypatch, **how) -> list[tuple[float, float, float]]:
    """Learning rate, β₂ and ε of each of Adam's steps while a sorter is trained."""

    def train():
        train_sorter(Ranks(), 0.25, length=4, n_symbols=3, steps=30, **how)

    groups = [group for group, _ in steps_of(monkeypatch, train)]
    return [(group["lr"], group["betas"][1], group["eps"]) for group in groups]


def test_a_sorters_rate_rises_or_not_and_falls_as_the_root(monkeypatch):
    rising = [rate for rate, _, _ in settings(monkeypatch, warm_up=True)]
    at_once = [rate for rate, _, _ in settings(monkeypatch, warm_up=False)]
    assert rising[:10] == pytest.approx([0.025 * k for k in range(1, 11)])
    assert at_once[:10] == [0.25] * 10
    assert rising[10:] == pytest.approx([0.25 * (10 / k) ** 0.5 for k in range(11, 31)])
    assert at_once[10:] == rising[10:]


def test_a_sorters_adam_is_the_papers_or_another(monkeypatch):
    assert settings(monkeypatch, warm_up=False)[0][1:] == (0.98, 1e-9)
    other = settings(monkeypatch, warm_up=False, beta_2=0.9, epsilon=1e-3)
    assert other[0][1:] == other[-1][1:] == (0.9, 1e-3)


class Loud(nn.Linear):
    """Judges by ten thousand times what it has learned, so its gradients are large."""

    def __init__(self, n_classes=4, per_step=False):
        super().__init__(1, n_classes, bias=False)
        nn.init.zeros_(self.weight)
        self.per_step = per_step

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        ones = torch.ones(*ids.shape[: 2 if self.per_step else 1], 1)
        return 1e4 * super().forward(ones)


def test_gradients_are_clipped_where_it_is_said(monkeypatch):
    def recall():
        train_recall(Loud(), 3, rounds=1)

    def once():
        sequences, first = recall_ids(64, 3, seed=0)
        train_once(Loud(), F.cross_entropy, [(sequences, first)] * 4, learning_rate=1e-3)

    for train, steps in ((recall, 50), (once, 4)):
        norms = [norm for _, norm in steps_of(monkeypatch, train)]
        assert len(norms) == steps and norms == pytest.approx([1.0] * steps, rel=1e-3)

    def sort():
        train_sorter(Loud(3, per_step=True), 0.1, warm_up=True, length=4, n_symbols=3, steps=30)

    assert min(norm for _, norm in steps_of(monkeypatch, sort)) > 10


def test_recall_is_trained_at_one_rate(monkeypatch):
    taken = steps_of(monkeypatch, lambda: train_recall(Loud(), 3, rounds=1))
    assert {group["lr"] for group, _ in taken} == {3e-3}


def test_the_rate_of_most_recipes_rises_and_falls(monkeypatch):
    sequences, first = recall_ids(64, 3, seed=0)

    def once():
        train_once(Loud(), F.cross_entropy, [(sequences, first)] * 40, learning_rate=0.2)

    rates = [group["lr"] for group, _ in steps_of(monkeypatch, once)]
    peak = rates.index(max(rates))
    assert max(rates) == pytest.approx(0.2, rel=0.01) and 8 <= peak <= 16
    assert rates == sorted(rates[:peak]) + sorted(rates[peak:], reverse=True)
    assert rates[0] < 0.01 and rates[-1] < 0.001


class Partly(Lengths):
    """Knows the answer to the first of the sequences that it is judged by, and to no other."""

    def __init__(self, known: int):
        super().__init__()
        self.known, self.judged = known, []

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        guess = super().forward(ids)
        if self.training:
            return guess
        self.judged.append(ids)
        says = torch.cat([ids[: self.known, 0], (ids[self.known :, 0] + 1) % 4])
        return guess + F.one_hot(says, 4) * 1e3


@pytest.mark.parametrize(("known", "rounds"), [(500, 1), (498, 1), (497, 3)])
def test_recall_stops_once_more_than_995_in_1000_are_right(known, rounds):
    model = Partly(known)
    steps, right = train_recall(model, 6, seed=2, rounds=3)
    assert steps == 50 * rounds == len(model.seen) and right == known / 1000
    *validated, tested = model.judged
    assert len(validated) == rounds and all(torch.equal(ids, validated[0]) for ids in validated)
    assert len(validated[0]) == 500 and torch.equal(tested, recall_ids(1000, 6, 2_000_002)[0])


class Constant(nn.Module):
    """Says the same of every picture."""

    def __init__(self, logits: list[float]):
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.logits.expand(len(images), -1)


def test_a_reader_of_digits_learns_a_tenth_of_each_label_from_all_classes(monkeypatch):
    labels = torch.tensor([0, 1, 1, 2])
    pictures = Split(torch.rand(4, 1, 8, 8), labels)
    logits = [2.0, -1.0, 0.5]
    model = Constant(logits)
    histories = []

    def train():
        how = {"epochs": 10, "learning_rate": 0.3, "validation": pictures}
        histories.append(train_digits(model, pictures, **how))

    taken = steps_of(monkeypatch, train, torch.optim.AdamW)
    by_class = -torch.tensor(logits).log_softmax(0)
    expected = 0.9 * by_class[labels].mean() + 0.1 * by_class.mean()
    (history,) = histories
    assert history.step_loss[0] == pytest.approx(expected.item(), rel=1e-6)
    assert len(history.step_loss) == len(taken) == 10 == len(history.validation["accuracy"])
    rates = [group["lr"] for group, _ in taken]
    assert max(rates) == pytest.approx(0.3, rel=0.05) and rates[0] < 0.02 > rates[-1]


def test_another_seed_shows_a_reader_its_pictures_in_another_order():
    generator = torch.Generator().manual_seed(0)
    pictures = torch.rand(256, 1, 2, 2, generator=generator)
    digits = Split(pictures, torch.randint(10, (256,), generator=generator))
    learned = []
    for seed in (0, 0, 1):
        model = nn.Sequential(nn.Flatten(), nn.Linear(4, 10))
        for parameter in model.parameters():
            nn.init.zeros_(parameter)
        train_digits(model, digits, epochs=1, seed=seed)
        learned.append(model[1].weight)
    assert torch.equal(learned[0], learned[1]) and not torch.equal(learned[0], learned[2])


def test_each_batch_is_seen_once():
    torch.manual_seed(0)
    model = nn.Linear(1, 1, bias=False)
    seen = []
    model.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].item()))
    batches = [(torch.tensor([[float(k)]]), torch.zeros(1, 1)) for k in range(1, 5)]
    history = train_once(model, F.mse_loss, batches, learning_rate=0.1)
    assert seen == [1, 2, 3, 4] == list(range(1, 1 + len(history.step_loss)))


def test_sorting_puts_the_same_symbols_in_order():
    ids, ordered = sorting(7, 5, seed=3, n_symbols=4)
    assert ids.shape == ordered.shape == (7, 5) and set(ids.flatten().tolist()) <= set(range(4))
    assert ordered.tolist() == [sorted(row) for row in ids.tolist()]
    assert torch.equal(sorting(7, 5, seed=3, n_symbols=4)[0], ids)
    assert not torch.equal(sorting(7, 5, seed=4, n_symbols=4)[0], ids)


def test_an_echo_asks_for_what_stood_before():
    ids, targets = echo(6, 5, seed=3, distance=2)
    assert (targets[:, :2] == IGNORE_INDEX).all()
    assert torch.equal(targets[:, 2:], ids[:, :3])
    with pytest.raises(ValueError, match=" 5 .* 5 "):
        echo(6, 5, seed=3, distance=5)


def test_a_copy_is_asked_for_from_the_sign_on():
    ids, targets = copying(6, 4, seed=3, n_symbols=7)
    assert ids.shape == targets.shape == (6, 8)
    assert (ids[:, 4] == 7).all() and ids[:, :4].max() < 7
    assert (targets[:, :4] == IGNORE_INDEX).all() and torch.equal(targets[:, 4:], ids[:, :4])
    assert torch.equal(ids[:, 5:], targets[:, 4:-1])  # the truth so far
    assert F.cross_entropy(torch.zeros(6, 8, 8).transpose(1, 2), targets).item() == pytest.approx(
        torch.tensor(8.0).log().item()
    )
