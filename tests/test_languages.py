"""Words whose language is to be told: what is read and said, clipping, and both trainings."""

import math

import pytest
import torch
from torch import nn

from utils.data.dates import LANGUAGES
from utils.data.text import EOS, PAD, pad
from utils.recurrent import RNN, LanguageModel, SequenceClassifier
from utils.tasks import languages
from utils.tasks.languages import (
    LETTERS,
    NAMES,
    WORDS,
    LetterReader,
    as_ids,
    clip_by,
    count_letters,
    descend,
    endings,
    named,
    next_letter,
    to_continue,
    train_letter_reader,
    train_reader,
    train_writer,
)


class Writer(LanguageModel):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return super().forward(ids)[0]


def reader() -> nn.Module:
    torch.manual_seed(0)
    return SequenceClassifier(len(LETTERS), 8, RNN(8, 16), len(NAMES))


@pytest.mark.parametrize("part", WORDS)
def test_ids_spell_the_words_and_name_their_languages(part):
    ids, languages = as_ids(part)
    for word, spelled, of in zip(WORDS[part], ids, languages.tolist(), strict=True):
        assert "".join(LETTERS.decode(spelled)) == word.text or part != "train"
        assert LANGUAGES[of] == word.language
    assert dict(zip(LANGUAGES, NAMES, strict=True))["fi"] == "Finnish"


def test_a_writer_reads_language_and_word_and_says_word_and_end():
    read, wanted = to_continue("validation")
    ids, languages = as_ids("validation")
    for row in (0, 100, 515):
        n = len(ids[row])
        assert read[row, : n + 1].tolist() == [len(LETTERS) + languages[row], *ids[row]]
        assert wanted[row, : n + 1].tolist() == [*ids[row], EOS]
        assert set(read[row, n + 1 :].tolist() + wanted[row, n + 1 :].tolist()) <= {PAD}


def test_the_loss_leaves_padding_out():
    logits = torch.randn(1, 3, 5, generator=torch.Generator().manual_seed(0))
    some, all_ = torch.tensor([[4, 1, PAD]]), torch.tensor([[4, 1, 2]])
    expected = -logits.log_softmax(-1)[0, [0, 1], [4, 1]].mean()
    torch.testing.assert_close(next_letter(logits, some), expected)
    assert not torch.isclose(next_letter(logits, all_), expected)


def test_endings_are_the_last_letters_of_the_long_words():
    ids, languages = endings(12)
    long = [word for part in WORDS.values() for word in part if len(word.text) >= 12]
    assert len(ids) == len(languages) == len(long) and ids.shape[1] == 12
    assert "".join(LETTERS.decode(ids[7])) == long[7].text[-12:]
    assert LANGUAGES[languages[7]] == long[7].language


def test_what_clips_has_the_last_word_before_a_step():
    weights = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1))]
    optimiser = torch.optim.SGD(weights, lr=1.0)
    clip_by(lambda gradients: [g / 4 for g in gradients], optimiser)
    for weight in weights:
        weight.grad = torch.full_like(weight, 2.0)
    optimiser.step()
    assert [weight.tolist() for weight in weights] == [[0.5, 0.5], [0.5]]


def test_longer_pieces_tell_more():
    assert 2 / 12 < count_letters(1) < count_letters(2) - 0.1


def test_a_reader_learns_and_clips_if_asked():
    lengths = []

    def clip(gradients):
        lengths.append(math.sqrt(sum((g**2).sum() for g in gradients)))
        return gradients

    history = train_reader(reader(), clip, epochs=2)
    assert history.validation["accuracy"][-1] > 0.25 and len(lengths) == 130
    before = len(lengths)
    assert descend(reader(), 0.5, None, seed=0) > 0.2
    assert len(lengths) == before
    descend(reader(), 0.5, clip, seed=0)
    assert len(lengths) == before + 195


def test_a_writer_learns():
    torch.manual_seed(0)
    model = Writer(len(LETTERS) + len(NAMES), 8, RNN(8, 16))
    assert train_writer(model, lambda gradients: gradients, epochs=2) < math.log(22)


def test_a_letter_reader_answers_after_each_letter_and_stays_with_its_last_answer():
    torch.manual_seed(0)
    model = LetterReader(len(LETTERS), 8, 16, dropout=0.5).eval()
    words = [LETTERS.encode(word) for word in ("maanantai", "mai", "m")]
    logits = model(*pad(words))
    for row, word in enumerate(words):
        for t in range(logits.shape[1]):
            read = word[: t + 1]
            alone = model(*pad([read]))[0, -1]
            torch.testing.assert_close(logits[row, t], alone)


def test_a_letter_reader_learns_and_is_judged_by_its_last_answer(monkeypatch):
    few = [word for word in languages.WORDS["train"] if word.language in ("fi", "es")][:200]
    monkeypatch.setattr(languages, "more_training_words", lambda: few)
    monkeypatch.setitem(languages.WORDS, "test", few)
    torch.manual_seed(0)
    model = LetterReader(len(LETTERS), 8, 32, dropout=0.0)
    assert named(model.eval(), LETTERS, "test") < 0.4
    train_letter_reader(model, LETTERS, epochs=30, seed=0)
    assert not model.training and named(model, LETTERS, "test") > 0.6
    assert languages.letters_of_more_words().symbols[4:] == tuple(
        sorted({letter for word in few for letter in word.text})
    )
