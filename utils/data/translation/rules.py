"""Rules that write a phrase in two languages at once, and know which word stands for which.

This is a synchronous grammar (Aho and Ullman, 1969; Chiang, 2007): a rule has an English and a
Chinese side with the same slots, in whatever order each language wants them.
"""

from functools import cache
from typing import NamedTuple


class Phrase(NamedTuple):
    """Words on both sides; links (t, s) join Chinese word t with English word s."""

    english: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()
    sure: tuple[tuple[int, int], ...] = ()
    maybe: tuple[tuple[int, int], ...] = ()  # possible without being sure


NOTHING = Phrase()


class Rule:
    """A pair of templates: `{slot}` takes a phrase, every other item is a word with its labels.

    `book=1` and `书=1` share a sure link, since both bear the label 1; with `~` on either side
    the link is only possible. A label may name a slot: `the~noun` may stand for all its words.
    """

    def __init__(self, english: str, chinese: str):
        self.english, english_labels = parse(english)
        self.chinese, chinese_labels = parse(chinese)
        links = [
            (t, s, t_sure and s_sure)
            for t, t_label, t_sure in chinese_labels
            for s, s_label, s_sure in english_labels
            if t_label == s_label and not t == s == t_label  # a slot brings its own links along
        ]
        self.links = [
            link for link in links if isinstance(link[0], int) and isinstance(link[1], int)
        ]
        self.slot_links = [link[:2] for link in links if link not in self.links]

    def __call__(self, **slots: Phrase) -> Phrase:
        english, english_at = fill(self.english, slots, side=0)
        chinese, chinese_at = fill(self.chinese, slots, side=1)
        sure, maybe = [], []
        for t, s, is_sure in self.links:
            (sure if is_sure else maybe).append((chinese_at[t], english_at[s]))
        for t, s in self.slot_links:
            ours = range(chinese_at[t], chinese_at[t] + (len(slots[t][1]) if t in slots else 1))
            theirs = range(english_at[s], english_at[s] + (len(slots[s][0]) if s in slots else 1))
            maybe += [(i, j) for i in ours for j in theirs]
        for name, phrase in slots.items():
            if phrase.sure or phrase.maybe:
                t, s = chinese_at[name], english_at[name]
                sure += [(i + t, j + s) for i, j in phrase.sure]
                maybe += [(i + t, j + s) for i, j in phrase.maybe]
        return Phrase(tuple(english), tuple(chinese), tuple(sure), tuple(maybe))


def parse(template: str):
    """Split a template into its items, (name, is a slot), and its labels, (item, label, sure)."""
    items, labels = [], []
    for place, item in enumerate(template.split()):
        if item.startswith("{"):
            name = item[1:-1]
            items.append((name, True))
            labels.append((name, name, False))
            continue
        pieces = item.replace("~", " ~").replace("=", " =").split()
        items.append((pieces[0], False))
        labels += [(place, label[1:], label[0] == "=") for label in pieces[1:]]
    return items, labels


def fill(items, slots: dict, side: int) -> tuple[list[str], dict]:
    """Write one side's words; say where each item, known by its place, and each slot begins."""
    words, at = [], {}
    for place, (name, is_slot) in enumerate(items):
        if is_slot:
            at[name] = len(words)
            words += slots[name][side]
        else:
            at[place] = len(words)
            words.append(name)
    return words, at


@cache
def rule(english: str, chinese: str) -> Rule:
    """The rule with these two templates."""
    return Rule(english, chinese)


@cache
def words(english: str, chinese: str) -> Phrase:
    """A phrase without slots. Unlabelled words are linked one to one, or else all with all."""
    if not any(mark in english + chinese for mark in "=~"):
        sides = english.split(), chinese.split()
        one_to_one = len(sides[0]) == len(sides[1])
        english, chinese = (
            " ".join(f"{word}={i if one_to_one else 0}" for i, word in enumerate(side))
            for side in sides
        )
    return rule(english, chinese)()
