"""Sentences: one clause, or two that are joined."""

from functools import cache
from itertools import accumulate

from utils.data.translation import lexicon
from utils.data.translation.actions import Clause
from utils.data.translation.clauses import Clauses
from utils.data.translation.rules import Phrase, rule

STATEMENTS = {  # how often
    "event": 6,
    "activity": 2,
    "motion": 2,
    "placing": 3,
    "giving": 2,
    "state": 2,
    "passive": 2,
    "description": 2,
    "comparison": 2,
    "identity": 1,
    "existence": 1,
    "weather": 1,
    "study": 1,
}
OTHERS = {"question": 2, "who_question": 1, "command": 2}
JOINED = {
    "because": 3,
    "if": 2,
    "when": 2,
    "after": 1,
    "before": 1,
    "although": 1,
    "but": 1,
    "so": 1,
}
SAYING = {"say": 2}
FREQUENCY = STATEMENTS | OTHERS | JOINED | SAYING
STRUCTURES = tuple(FREQUENCY)
ACTIONS = ("event", "activity", "motion", "placing", "giving", "weather")
MOODS = {  # tense and mood of both clauses, where what joins them asks for some
    "if": (("condition", "statement"), ("future", "statement")),
    "when": (("past", "when"), ("past", "statement")),
    "before": (("past", "when"), ("past", "statement")),
    "after": (("past", "after"), ("past", "statement")),
}
TEMPLATES = {  # with what joins first, and in between; either way Chinese has the cause first,
    # and a comma, which stands for an English one, or may stand for what joins
    "because": (
        ("because=1 {a} ,=2 {b}", "因为=1 {a} ，=2 所以~1 {b}"),
        ("{b} because=1 {a}", "因为=1 {a} ，~1 所以~1 {b}"),
    ),
    "if": (
        ("if=1 {a} ,=2 {b}", "如果=1 {a} 的话~1 ，=2 {b}"),
        ("{b} if=1 {a}", "如果=1 {a} 的话~1 ，~1 {b}"),
    ),
    "when": (
        ("when=1 {a} ,=2 {b}", "{a} 的~1 时候=1 ，=2 {b}"),
        ("{b} when=1 {a}", "{a} 的~1 时候=1 ，~1 {b}"),
    ),
    "after": (
        ("after=1 {a} ,=2 {b}", "{a} 以后=1 ，=2 {b}"),
        ("{b} after=1 {a}", "{a} 以后=1 ，~1 {b}"),
    ),
    "before": (
        ("before=1 {a} ,=2 {b}", "{a} 以前=1 ，=2 {b}"),
        ("{b} before=1 {a}", "{a} 以前=1 ，~1 {b}"),
    ),
    "although": (("although=1 {a} ,=2 {b}", "虽然=1 {a} ，=2 但是~1 {b}"),),
    "but": (("{a} ,=2 but=1 {b}", "{a} ，=2 但是=1 {b}"),),
    "so": (("{a} ,=2 so=1 {b}", "{a} ，=2 所以=1 {b}"),),
}


# English words that each kind of sentence is good for, if not all of them
FROM = dict.fromkeys(JOINED, 9) | dict.fromkeys(("placing", "giving", "passive", "existence"), 6)
FROM |= dict.fromkeys(("comparison", "question", "who_question"), 5)
FROM |= dict.fromkeys(("motion", "command", "identity"), 4) | {"say": 7}
UP_TO = dict.fromkeys(("state", "description", "existence", "identity"), 12)
UP_TO |= dict.fromkeys(("activity", "motion", "study", "comparison", "passive", "command"), 14)
UP_TO |= dict.fromkeys(("placing", "giving", "question", "who_question"), 17)
UP_TO |= {"event": 19, "say": 21, "weather": 4}


class Sentences(Clauses):
    """Draws sentences of about a wanted length."""

    def sentence(self, length: int, structures) -> tuple[Phrase, str]:
        """A phrase for the whole sentence and the name of what it is made of."""
        name = self.kind(structures, length)
        if name in JOINED:
            return self.joined(name, length)
        if name == "say":
            return self.say(length)
        clause = self.clause(name, length - 4)
        parts = " ".join(clause.parts)
        return clause.phrase, parts if name in STATEMENTS else f"{name}({parts})"

    def kind(self, names, length: int) -> str:
        """One of the names, as often as it should be, that is good for this length."""
        names, weights = fitting(tuple(names), length)
        return self.random.choices(names, cum_weights=weights)[0]

    def joined(self, name: str, length: int) -> tuple[Phrase, str]:
        """Two clauses, and what joins them."""
        length -= 2
        first, second = MOODS.get(name, (None, None))
        a = self.part(first, self.random.randint(4, max(4, length - 4)))
        b = self.part(second, length - len(a.phrase.english))
        made = rule(*self.pick(TEMPLATES[name]))
        return made(a=a.phrase, b=b.phrase), f"{name}({' '.join(a.parts)}, {' '.join(b.parts)})"

    def part(self, mood: tuple[str, str] | None, length: int) -> Clause:
        if mood is None:
            return self.clause(self.kind(STATEMENTS, length), length - 4)
        kinds = ACTIONS[:-1] if "future" in mood else ACTIONS
        return self.action(self.kind(kinds, length), length - 4, *mood)

    def say(self, length: int) -> tuple[Phrase, str]:
        """Someone says that something is so: 汤姆 说 他 昨天 买 了 一 本 书."""
        slots = {"who": self.person(), "verb": self.entry(lexicon.SAYING)}
        length -= len(slots["who"].english) + 2
        said = self.clause(self.kind(STATEMENTS, length), length - 4)
        made = rule("{who} {verb} that~verb {said}", "{who} {verb} {said}")
        return made(said=said.phrase, **slots), f"say({' '.join(said.parts)})"


@cache
def fitting(names: tuple[str, ...], length: int) -> tuple[list[str], list[int]]:
    """Those of the names that are good for this length, or else all; their weights, added up."""
    good = [name for name in names if FROM.get(name, 3) <= length <= UP_TO.get(name, length)]
    good = good or list(names)
    return good, list(accumulate(FREQUENCY[name] for name in good))
