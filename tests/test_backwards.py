"""Words backwards as a task: what is drawn, how it is judged, and how stored tables are read."""

import pytest
import torch

from utils.data.dates import LOCALES, corpus
from utils.data.text import pad
from utils.seq2seq import EOS, greedy_decode
from utils.tasks import backwards
from utils.tasks.dates import one_of_each, shown_first
from utils.training.metrics import exact_match


def test_words_have_the_lengths_and_letters_that_are_asked_for():
    words = backwards.random_words(300, range(2, 5), seed=0)
    assert {len(word) for word in words} == {2, 3, 4}
    assert {letter for word in words for letter in word} == set(range(3, 9))
    assert words == backwards.random_words(300, range(2, 5), seed=0)
    assert words != backwards.random_words(300, range(2, 5), seed=1)
    assert backwards.as_text(backwards.as_ids("faced")) == "faced"
    assert backwards.as_text([*backwards.as_ids("face"), EOS, 3]) == "face"


def test_what_is_whole_is_what_greedy_decoding_gets_right():
    torch.manual_seed(0)
    model = backwards.speller("attention")
    words = backwards.random_words(600, range(2, 5), seed=0)
    backwards.train_backwards(model, words, epochs=3, learning_rate=1e-2)
    new = backwards.random_words(200, [3], seed=1)
    ((source, lengths, read, target),) = backwards.pairs(new, batch_size=200)
    with torch.no_grad():
        share = backwards.whole(model.eval()(source, lengths, read), target)
    written = greedy_decode(model, *pad([[*word, EOS] for word in new]), max_len=9)
    assert share == pytest.approx(exact_match(written, target, EOS))
    assert 0.05 < share < 0.98


def test_a_word_with_one_wrong_letter_or_no_end_is_not_whole():
    target = torch.tensor([[4, 3, EOS], [5, EOS, 0]])
    right = torch.nn.functional.one_hot(target, 9).float()
    assert backwards.whole(right, target) == 1
    for place in ((0, 1), (0, 2), (1, 1)):
        wrong = right.clone()
        wrong[place] = torch.eye(9)[7]
        assert backwards.whole(wrong, target) == 0.5
    wrong = right.clone()
    wrong[1, 2] = torch.eye(9)[7]  # behind the end nothing counts
    assert backwards.whole(wrong, target) == 1


def test_the_models_differ_in_what_is_handed_over():
    sizes = {}
    for name in ("vector of 48", "vector of 96", "attention"):
        model = backwards.speller(name)
        sizes[name] = model.decoder.layer.hidden_size, hasattr(model.decoder, "attention")
    assert sizes == {
        "vector of 48": (48, False),
        "vector of 96": (96, False),
        "attention": (48, True),
    }


ROWS = [
    {"model": "a", "learning_rate": rate, "seed": seed, "validation": shares}
    for rate, seed, shares in (
        (0.1, 0, [0.0, 0.4, 0.6]),
        (0.1, 1, [0.2, 0.6, 0.8]),
        (0.3, 0, [0.5, 0.9, 0.5]),
        (0.3, 1, [0.5, 0.9, 0.6]),
    )
]


def test_the_best_rate_is_that_of_the_last_pass_in_the_mean_of_seeds():
    assert backwards.best_runs(ROWS) == {"a": ROWS[:2]}
    assert backwards.best_runs(ROWS[1:]) == {"a": ROWS[1:2]}
    later = [ROWS[0], ROWS[3]]  # both end at 0.6, and the second is there earlier
    assert backwards.best_runs(later) == backwards.best_runs(later[::-1]) == {"a": ROWS[3:]}


def test_an_arrival_is_the_first_pass_that_reaches_the_share():
    runs = backwards.best_runs(ROWS)
    reached = [backwards.arrivals(runs, share)["a"] for share in (0.1, 0.5, 0.65, 0.9)]
    assert reached == [1, 2, 3, None]


def test_there_is_one_date_of_each_locale():
    shown = one_of_each(corpus(10, 600).test)
    assert [example.locale for example in shown] == list(LOCALES)
    assert all(any(letter.isalpha() for letter in example.text) for example in shown)
    named = shown_first(corpus(10, 600).test)
    assert [(locale, text) for locale, _, text in named] == [(e.locale, e.text) for e in shown]
    assert len({name for _, name, _ in named}) == len(LOCALES)
