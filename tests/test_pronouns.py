"""Sentences with a gap and a pronoun: one antecedent each, parts that share nothing, links."""

import re

import pytest
import torch
from torch import nn

from utils.data import pronouns
from utils.data.pronouns import PLURAL, SAID_OF, SINGULAR, Sentence
from utils.data.text import PAD
from utils.tasks.pronouns import (
    VOCABULARY,
    as_ids,
    shares_right,
    train_pronouns,
    without_link,
)

SENTENCE = Sentence(
    tuple("the animals near the gates _ not cross the street because it is too wide".split()),
    gap=5,
    subject=1,
    pronoun=11,
    antecedent=9,
    said=14,
)


@pytest.fixture(scope="module")
def parts() -> pronouns.Corpus:
    return pronouns.corpus(seed=3, n_train=300, n_held_out=60)


def everything(parts: pronouns.Corpus) -> list[Sentence]:
    return [sentence for part in parts for sentence in part]


def test_one_noun_and_no_other_fits_the_pronoun(parts):
    for s in everything(parts):
        number = {"it": set(PLURAL), "they": set(SINGULAR)}[s.words[s.pronoun]]
        (nouns,) = [set(nouns) for nouns, said in SAID_OF.values() if s.words[s.said] in said]
        nouns |= {PLURAL[noun] for noun in nouns}
        assert [n for n, word in enumerate(s.words) if word in number & nouns] == [s.antecedent]


def test_the_places_are_those_of_what_they_are_called(parts):
    for s in everything(parts):
        assert s.words[s.gap] == "_" and s.words[s.pronoun] in ("it", "they")
        assert s.words[s.pronoun - 1] == "because" and s.words[s.said - 1] == "too"
        assert {s.subject, s.antecedent} <= set(s.nouns)
        ends = [n for n, word in enumerate(s.words) if word in ("near", "_")]
        assert s.subject == ends[0] - 1  # the last word of "the small dog", before anything else
        assert s.form == ("do" if s.words[s.subject].endswith("s") else "does")


def test_no_place_and_no_clue_alone_is_always_right(parts):
    ranks = [s.nouns.index(s.antecedent) for s in parts.train]
    assert all(ranks.count(rank) > 0.1 * len(ranks) for rank in (0, 1, 2))
    assert 0.3 < sum(s.pronoun < s.antecedent for s in parts.train) / len(ranks) < 0.7
    before = [max(n for n in s.nouns if n < s.gap) for s in parts.train]
    agree = [
        (s.words[n] in SINGULAR) == (s.words[s.subject] in SINGULAR)
        for s, n in zip(parts.train, before, strict=True)
    ]
    assert sum(agree) < 0.8 * len(agree)


def test_the_parts_have_their_sizes_and_share_no_sentence(parts):
    assert [len(part) for part in parts] == [300, 60, 60, 60]
    assert len({s.words for s in everything(parts)}) == 480


def test_what_is_unseen_is_not_in_the_other_parts(parts):
    def pairs(part):
        nouns = (s.words[s.antecedent] for s in part)
        return {(SINGULAR.get(n, n), s.words[s.said]) for n, s in zip(nouns, part, strict=True)}

    known = pairs(parts.train) | pairs(parts.validation) | pairs(parts.test)
    assert not known & pairs(parts.unseen_pairs)


def test_a_seed_gives_the_same_sentences_and_another_gives_others(parts):
    assert pronouns.corpus(seed=3, n_train=300, n_held_out=60) == parts
    assert pronouns.corpus(seed=4, n_train=300, n_held_out=60).train != parts.train


def test_ids_and_what_is_wanted_where():
    ids, wanted = as_ids([SENTENCE, SENTENCE._replace(words=SENTENCE.words[:-1])])
    assert ids.shape == wanted.shape == (2, 15)
    assert VOCABULARY.decode(ids[0]) == list(SENTENCE.words)
    assert ids[1, -1] == PAD
    assert (wanted != PAD).nonzero().tolist() == [[0, 5], [0, 11], [1, 5], [1, 11]]
    assert VOCABULARY.decode(wanted[0, [5, 11]]) == ["do", "street"]


def test_a_twin_differs_in_one_word_and_means_another_noun(parts):
    twin = pronouns.twin(SENTENCE)
    assert twin is None  # there are animals, but "it" is one
    one = SENTENCE._replace(words=("the", "animal", *SENTENCE.words[2:]))
    twin = pronouns.twin(one)
    differ = [
        n for n, both in enumerate(zip(one.words, twin.words, strict=True)) if len({*both}) > 1
    ]
    assert differ == [14] and twin.antecedent == 1
    assert pronouns.twin(twin).words == one.words
    found = [(s, pronouns.twin(s)) for s in parts.test]
    assert any(twin is None for _, twin in found)
    assert all(twin.antecedent != s.antecedent for s, twin in found if twin is not None)


def test_shares_of_right_answers(parts):
    part = parts.test[:10]
    _, wanted = as_ids(part)
    assert shares_right(wanted, part) == {"gap": 1.0, "pronoun": 1.0}
    said = nn.functional.pad(wanted, (0, 3))  # wider than needed
    said[4, part[4].pronoun] += 1
    assert shares_right(said, part) == {"gap": 1.0, "pronoun": 0.9}
    for few in (wanted[:9], wanted[:, :-1]):
        with pytest.raises(ValueError, match=f"^10 .*{re.escape(str(tuple(few.shape)))}"):
            shares_right(few, part)


def test_a_link_is_taken_away_and_nothing_else(parts):
    part = parts.test[:7]
    queries, keys = ([getattr(s, name) for s in part] for name in ("pronoun", "said"))
    mask = without_link(part, queries, keys)
    T = max(len(s.words) for s in part)
    assert mask.shape == (7, T, T) and mask.dtype == torch.bool
    hidden = [[i, *link] for i, link in enumerate(zip(queries, keys, strict=True))]
    assert (~mask).nonzero().tolist() == hidden
    with pytest.raises(ValueError, match="^7 .* 6 .* 7"):
        without_link(part, queries[:6], keys)


def test_training_makes_a_model_better(parts):
    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(len(VOCABULARY), len(VOCABULARY))

        def forward(self, ids):
            return self.table(ids) + self.table(ids).mean(dim=1, keepdim=True)

    def loss(logits, wanted):
        return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)

    torch.manual_seed(0)
    history = train_pronouns(Bag(), loss, parts, epochs=3, learning_rate=0.1)
    assert history.train["loss"][-1] < 0.8 * history.train["loss"][0]
    assert len(history.validation["loss"]) == 3


def test_the_first_noun_of_its_number_is_often_but_not_always_meant(parts):
    for s in everything(parts):
        plural = s.words[s.pronoun] == "they"
        same = [n for n in s.nouns if (s.words[n] in SINGULAR) == plural]
        assert pronouns.first_of_its_number(s) == same[0] and s.antecedent in same
    hits = [pronouns.first_of_its_number(s) == s.antecedent for s in everything(parts)]
    assert 0.6 < sum(hits) / len(hits) < 0.9


def test_number_decides_where_no_other_noun_has_the_antecedents():
    for s in pronouns.corpus(seed=0).test[:50]:
        same = [n for n in s.nouns if (s.words[n] in PLURAL) == (s.words[s.antecedent] in PLURAL)]
        assert pronouns.number_decides(s) == (same == [s.antecedent])


def test_what_is_never_said_of_a_noun_is_said_of_it_in_the_unseen_pairs_alone(parts):
    for s in everything(parts):
        kept = s in parts.unseen_pairs
        assert (s.words[s.said] == pronouns.never_said(s.words[s.antecedent])) == kept


def test_the_menus_hold_all_that_can_be_said_first_with_it_and_then_with_they():
    *_, (label, reasons, first) = pronouns.menus()
    half = len(reasons) // 2
    assert label == "reason" and reasons[first] == "it is too tired"
    assert [one.replace("they are", "it is") for one in reasons[half:]] == reasons[:half]
    assert {one.split()[-1] for one in reasons} == {
        word for _, said in pronouns.SAID_OF.values() for word in said
    }
