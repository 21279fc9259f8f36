"""Sentences: one clause, or two that are joined."""

from utils.lab.translation import lexicon
from utils.lab.translation.clauses import Clause, Clauses
from utils.lab.translation.rules import Phrase, rule

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
ACTIONS = ("event", "event", "activity", "motion", "placing", "giving")
TEMPLATES = {  # with what joins first, and in between; either way Chinese has the cause first
    "because": (
        ("because=1 {a} ,=2 {b}", "因为=1 {a} ，=2 所以~1 {b}"),
        ("{b} because=1 {a}", "因为=1 {a} ， 所以~1 {b}"),
    ),
    "if": (
        ("if=1 {a} ,=2 {b}", "如果=1 {a} 的话~1 ，=2 {b}"),
        ("{b} if=1 {a}", "如果=1 {a} 的话~1 ， {b}"),
    ),
    "when": (
        ("when=1 {a} ,=2 {b}", "{a} 的~1 时候=1 ，=2 {b}"),
        ("{b} when=1 {a}", "{a} 的~1 时候=1 ， {b}"),
    ),
    "after": (
        ("after=1 {a} ,=2 {b}", "{a} 以后=1 ，=2 {b}"),
        ("{b} after=1 {a}", "{a} 以后=1 ， {b}"),
    ),
    "before": (
        ("before=1 {a} ,=2 {b}", "{a} 以前=1 ，=2 {b}"),
        ("{b} before=1 {a}", "{a} 以前=1 ， {b}"),
    ),
    "although": (("although=1 {a} ,=2 {b}", "虽然=1 {a} ，=2 但是~1 {b}"),),
    "but": (("{a} ,=2 but=1 {b}", "{a} ，=2 但是=1 {b}"),),
    "so": (("{a} ,=2 so=1 {b}", "{a} ，=2 所以=1 {b}"),),
}


class Sentences(Clauses):
    """Draws sentences of about a wanted length."""

    def sentence(self, length: int, structures) -> tuple[Phrase, str]:
        """A phrase for the whole sentence and the name of what it is made of."""
        fitting = [name for name in structures if length >= LEAST.get(name, 3)]
        fitting = [name for name in fitting if length <= MOST.get(name, 25)] or list(structures)
        weights = [FREQUENCY[name] for name in fitting]
        name = self.random.choices(fitting, weights)[0]
        if name in JOINED:
            return self.joined(name, length)
        if name == "say":
            return self.say(length)
        clause = self.clause(name, length - 4)
        return clause.phrase, f"{name}({' '.join(clause.parts)})"

    def statement(self, spare: int) -> Clause:
        return self.clause(self.random.choices(*zip(*STATEMENTS.items()))[0], spare)

    def joined(self, name: str, length: int) -> tuple[Phrase, str]:
        spare = length - 9
        first = self.random.randint(0, max(spare, 0))
        kind = self.pick(ACTIONS)
        if name in ("because", "if", "when", "so", "although") and self.chance(0.15):
            kind = "weather"
        if name == "if":
            a = self.action(kind, first, "condition")
            b = self.action(self.pick(ACTIONS), spare - first, "future")
        elif name in ("when", "before"):
            a = self.action(kind, first, "past", plain=True)
            b = self.action(self.pick(ACTIONS), spare - first, "past")
        elif name == "after":
            a = self.action(kind, first, "past")
            b = self.action(self.pick(ACTIONS), spare - first, "past")
        else:
            a = self.action(kind, first) if kind == "weather" else self.statement(first)
            b = self.statement(spare - first)
        made = rule(*self.pick(TEMPLATES[name]))
        return made(a=a.phrase, b=b.phrase), f"{name}({' '.join(a.parts)}, {' '.join(b.parts)})"

    def say(self, length: int) -> tuple[Phrase, str]:
        """Someone says that something is so: 汤姆 说 他 昨天 买 了 一 本 书."""
        said = self.statement(length - 8)
        slots = {"who": self.person(), "verb": self.entry(lexicon.SAYING), "said": said.phrase}
        made = rule("{who} {verb} that~verb {said}", "{who} {verb} {said}")
        return made(**slots), f"say({' '.join(said.parts)})"


LEAST = dict.fromkeys(JOINED, 9) | {"say": 7, "question": 5, "placing": 6, "giving": 6}
LEAST |= {"passive": 6, "comparison": 5, "existence": 6, "who_question": 5, "identity": 4}
LEAST |= {"motion": 4, "command": 4}
MOST = dict.fromkeys(("existence", "identity"), 12) | dict.fromkeys(("state", "command"), 14)
MOST |= dict.fromkeys(("question", "who_question", "activity", "comparison", "motion"), 16)
MOST |= dict.fromkeys(("description",), 15) | {"event": 19, "placing": 17, "giving": 17}
MOST |= {"passive": 17}
