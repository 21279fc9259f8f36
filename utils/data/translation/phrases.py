"""Who and what, where and when: the phrases that clauses are made of."""

from random import Random
from typing import NamedTuple

from utils.data.translation import circumstances, lexicon
from utils.data.translation.lexicon import Noun, Verb
from utils.data.translation.rules import NOTHING, Phrase, rule, words

PEOPLE = [noun for noun in lexicon.NOUNS if "person" in noun.kinds]
QUALITIES = {
    noun: [word for word in lexicon.ADJECTIVES if word.kinds & noun.kinds] for noun in lexicon.NOUNS
}
OBJECTS = {
    verb: [noun for noun in lexicon.NOUNS if noun.kinds & verb.kinds]
    for verb in lexicon.EVENTS + lexicon.MOMENTS + lexicon.STATES + lexicon.PLACING + lexicon.GIVING
}
DEEDS = {  # what may have been done to a noun
    noun: [verb for verb in lexicon.EVENTS + lexicon.MOMENTS if verb.kinds & noun.kinds]
    for noun in lexicon.NOUNS
}


class Subject(NamedTuple):
    """Who does it; agreement is "I", "singular" or "plural"; `every` asks for 都 later on."""

    phrase: Phrase
    agreement: str
    parts: tuple[str, ...] = ()
    every: bool = False


def form(verb: Verb, name: str) -> Phrase:
    """The verb in one of its forms, with what belongs to it: "plays football", 踢 足球."""
    return words(f"{getattr(verb, name)} {verb.rest}".strip(), verb.chinese)


class Phrases:
    """Draws phrases; `spare` says for how many more English words there is room."""

    def __init__(self, random: Random):
        self.random = random

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, options):
        return options[int(self.random.random() * len(options))]

    def entry(self, table) -> Phrase:
        return words(*self.pick(table)[:2])

    # Things ---------------------------------------------------------------------------------------

    def quality(self, noun: Noun) -> Phrase:
        """An adjective before its noun: 新, 有趣 的, 非常 大 的."""
        if not QUALITIES[noun]:
            return NOTHING
        adjective = self.pick(QUALITIES[noun])
        if adjective.comparative and self.chance(0.2):
            return words(f"very=2 {adjective.english}=1", f"非常=2 {adjective.chinese}=1 的~1")
        particle = "" if adjective.chinese in "新旧老大小好热" else " 的~1"
        return words(f"{adjective.english}=1", f"{adjective.chinese}=1{particle}")

    def thing(self, noun: Noun, determiner: str, adjective: bool = False) -> Phrase:
        """A noun with its determiner, of which ONE and MANY list the kinds."""
        slots = {"quality": NOTHING}
        if adjective and determiner != "my":
            slots["quality"] = self.quality(noun)
        if "number" in determiner:
            slots["number"] = self.entry(lexicon.NUMBERS)
        single = determiner in ONE
        slots["noun"] = words(noun.singular if single else noun.plural, noun.chinese)
        measure, unit = f"{noun.measure}~noun~number", ""
        if noun.unit and (determiner == "a" or "number" in slots):
            measure, unit = f"{noun.measure}=2", f"{noun.unit[not single]}=2 of~2 "
        if determiner == "a":
            first = unit or (slots["quality"].english or slots["noun"].english)[0]
            article = "an" if first[0] in "aeiou" else "a"
            templates = f"{article}~1~noun {unit}", f"一~1 {measure} "
        elif determiner == "my":
            _, _, english, chinese, _ = self.pick(lexicon.PRONOUNS)
            templates = f"{english}=1 ", f"{chinese}=1 的~1 "
        else:
            english, chinese = self.pick({**ONE, **MANY}[determiner])
            templates = english.replace("UNIT ", unit), chinese.replace("MEASURE", measure)
        english, chinese = (side + "{quality} {noun}" for side in templates)
        people = " 们~noun" if determiner == "the people" else ""
        return rule(english, chinese + people)(**slots)

    def definite(self, noun: Noun, spare: int = 0) -> Phrase:
        """Something known: the, this, those two, my."""
        if "person" in noun.kinds:
            options = ("plain the", "plain the", "the people", "this", "those number")
            options += ("my",) * ("own" in noun.kinds)
        elif noun.unit:
            options = ("the", "this", "my")
        else:
            options = ("the", "the", "this", "these", "the many", "those number", "my")
        return self.thing(noun, self.pick(options), spare > 0 and self.chance(0.5))

    def object(self, noun: Noun, spare: int, known: bool = False) -> Phrase:
        """What a verb acts on; known: no a, three or some, which do not go with 没有."""
        if "person" in noun.kinds and self.chance(0.4):
            if self.chance(0.5):
                _, english, _, chinese, _ = self.pick(lexicon.PRONOUNS[2:])
                return words(english, chinese)
            return self.person()
        if known or self.chance(0.4):
            return self.definite(noun, spare)
        new = self.pick(("a", "a", "number", "number", "some"))
        return self.thing(noun, new, spare > 0 and self.chance(0.5))

    def moved(self, noun: Noun, spare: int) -> Phrase:
        """What 把 takes before the verb: something known, of which "the book" is just 书."""
        options = ("plain the", "plain the", "this", "the many", "these", "those number", "my")
        return self.thing(noun, self.pick(options), spare > 0 and self.chance(0.4))

    def that(self, noun: Noun, spare: int) -> Phrase:
        """Something with a relative clause: the book that Tom bought, 汤姆 买 的 书."""
        time = self.entry(circumstances.PAST_TIMES) if spare > 5 and self.chance(0.5) else NOTHING
        pronoun = "who" if "person" in noun.kinds else "that"
        made = rule(
            f"the~noun {{noun}} {pronoun}~9 {{subject}} {{verb}} {{time}}",
            "{subject} {time} {verb} 的~9~verb {noun}",
        )
        return made(
            noun=words(noun.singular, noun.chinese),
            subject=self.subject(0).phrase if self.chance(0.4) else self.person(),
            verb=form(self.pick(DEEDS[noun]), "past"),
            time=time,
        )

    # People ---------------------------------------------------------------------------------------

    def person(self) -> Phrase:
        """One person in a word or two: Mary, the teacher, my mother."""
        choice = self.random.random()
        if choice < 0.35:
            return self.entry(lexicon.NAMES)
        if choice < 0.55:
            _, _, english, chinese, _ = self.pick(lexicon.PRONOUNS)
            kin = self.entry(lexicon.KIN)
            return rule(f"{english}=1 {{kin}}", f"{chinese}=1 {{kin}}")(kin=kin)
        return self.thing(self.pick(PEOPLE), self.pick(("plain the", "plain the", "this")))

    def other(self, someone: Phrase) -> Phrase:
        """One person who is not someone."""
        person = self.person()
        while person.english[-1] in someone.english:
            person = self.person()
        return person

    def subject(self, spare: int) -> Subject:
        """Whoever does something, at most as long as there is room for."""
        choice = self.random.random()
        if spare < 1 or choice < 0.2:
            if self.chance(0.4):
                return Subject(self.entry(lexicon.NAMES), "singular")
            english, _, _, chinese, agreement = self.pick(lexicon.PRONOUNS)
            return Subject(words(english, chinese), agreement)
        if spare > 4 and choice < 0.45:
            return Subject(self.who(spare), "singular", ("who",))
        if choice < 0.65:
            return Subject(self.person(), "singular")
        noun = self.pick(PEOPLE)
        many, one = words(noun.plural, noun.chinese), words(noun.singular, noun.chinese)
        if spare > 1 and choice < 0.75:
            pair = rule("{one} and=1 {other}", "{one} 和=1 {other}")
            names = self.random.sample(lexicon.NAMES, 2)
            one, other = (words(*name) for name in names)
            if self.chance(0.5):
                other = self.thing(noun, "plain the")
            return Subject(pair(one=one, other=other), "plural", ("and",))
        if spare > 1 and choice < 0.8:
            made = rule("all=1 the~1 {noun}", "所有=1 的~1 {noun}")
            return Subject(made(noun=many), "plural", ("every",), every=True)
        if choice < 0.85:
            made = rule("every=1 {noun}", f"每=1 {noun.measure}~noun~1 {{noun}}")
            return Subject(made(noun=one), "singular", ("every",), every=True)
        determiner = self.pick(("the people", "these", "number", "those number"))
        return Subject(self.thing(noun, determiner, spare > 2 and self.chance(0.5)), "plural")

    def who(self, spare: int) -> Phrase:
        """Someone with a relative clause: the man who bought the book, 买 书 的 男人."""
        person = self.pick(PEOPLE)
        slots = {"noun": words(person.singular, person.chinese)}
        if self.chance(0.3):
            slots["verb"] = form(self.pick(lexicon.ACTIVITIES), "third")
            slots["place"] = self.place()
            return rule("the~noun {noun} who~9 {verb} {place}", "{place} {verb} 的~9~verb {noun}")(
                **slots
            )
        verb = self.pick(lexicon.EVENTS)
        slots["verb"] = form(verb, "past")
        kind = self.pick(("plain the", "plain the", "a", "number"))
        slots["object"] = self.thing(self.pick(OBJECTS[verb]), kind, spare > 7 and self.chance(0.4))
        slots["time"] = (
            self.entry(circumstances.PAST_TIMES) if spare > 7 and self.chance(0.4) else NOTHING
        )
        slots["place"] = self.place() if spare > 9 and self.chance(0.4) else NOTHING
        done = "" if kind == "plain the" else " 了~verb"
        return rule(
            "the~noun {noun} who~9 {verb} {object} {place} {time}",
            "{time} {place} {verb}" + done + " {object} 的~9~verb {noun}",
        )(**slots)

    # Where and when -------------------------------------------------------------------------------

    def place(self) -> Phrase:
        english, chinese = self.pick(circumstances.PLACES)
        return words(english, "在~1~2~3 " + chinese)

    def companion(self, who: Phrase) -> Phrase:
        return rule("with=1 {who}", "和=1 {who} 一起~1")(who=who)

    def time(self, tense: str) -> Phrase:
        if tense == "habit":
            return self.entry(circumstances.HABITS)
        past = tense == "past"
        if self.chance(0.85):
            return self.entry(circumstances.PAST_TIMES if past else circumstances.FUTURE_TIMES)
        english, chinese = self.pick(
            (("days=2", "天=2"), ("weeks=2", "个~2 星期=2"), ("years=2", "年=2"))
        )
        number = self.entry(lexicon.NUMBERS)
        if past:
            return rule(f"{{number}} {english} ago=3", f"{{number}} {chinese} 前=3")(number=number)
        return rule(f"in=3 {{number}} {english}", f"{{number}} {chinese} 后=3")(number=number)


# Determiners: the English and the Chinese template that stand before the noun
ONE = {
    "a": (),
    "my": (),
    "plain the": (("the~noun ", ""),),
    "the": (("the~1~noun ", "那~1 MEASURE "),),
    "this": (("this=1 ", "这=1 MEASURE~1 "), ("that=1 ", "那=1 MEASURE~1 ")),
}
MANY = {
    "the many": (("the~1~noun ", "那些~1 "),),
    "the people": (("the~noun ", ""),),
    "these": (("these=1 ", "这些=1 "), ("those=1 ", "那些=1 ")),
    "number": (("{number} UNIT ", "{number} MEASURE "),),
    "those number": (
        ("these=1 {number} UNIT ", "这=1 {number} MEASURE "),
        ("those=1 {number} UNIT ", "那=1 {number} MEASURE "),
    ),
    "some": (("some=1 ", "一些=1 "),),
    "bare": (("", ""),),
}
