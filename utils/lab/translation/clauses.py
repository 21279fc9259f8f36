"""Clauses: what English says at the end, Chinese often says before the verb."""

from typing import NamedTuple

from utils.lab.translation import lexicon
from utils.lab.translation.phrases import OBJECTS, QUALITIES, Phrases, Subject, form
from utils.lab.translation.rules import NOTHING, Phrase, rule, words

VERBS = {
    "event": lexicon.EVENTS * 2 + lexicon.MOMENTS,
    "activity": lexicon.ACTIVITIES,
    "motion": [lexicon.verb("go goes went going", "去")],
    "placing": lexicon.PLACING,
    "giving": lexicon.GIVING,
    "state": lexicon.STATES,
    "weather": lexicon.WEATHER,
}
TENSES = {
    "event": ("past", "past", "past", "future", "habit", "progressive"),
    "activity": ("past", "future", "habit", "progressive"),
    "motion": ("past", "past", "future", "habit"),
    "placing": ("past", "past", "future"),
    "giving": ("past", "past", "future"),
    "state": ("present",),
    "weather": ("past",),
}
ADJUNCTS = {  # what each kind of clause has room for
    "event": ("time", "place", "company"),
    "activity": ("time", "place", "company"),
    "motion": ("time", "company"),
    "placing": ("time", "company"),
    "giving": ("time",),
    "state": (),
    "weather": ("time",),
}
ENGLISH_ORDER = {
    "statement": ("early", "subject", "auxiliary", "adverb", "manner"),
    "question": ("auxiliary", "subject", "adverb", "manner"),
    "command": ("auxiliary", "adverb", "manner"),
}
CHINESE_ORDER = (
    "early subject time adverb every auxiliary company place manner"  # and then the verb
).split()
BE = {"I": "am", "singular": "is", "plural": "are"}
JOBS = [noun for noun in lexicon.NOUNS if "job" in noun.kinds]
SCENE = [noun for noun in lexicon.NOUNS if noun.kinds & {"animal", "movable"}]
ADJECTIVES_OF_PEOPLE = [word for word in lexicon.ADJECTIVES if word.kinds & {"person", "predicate"}]
DESCRIBED = [n for n in lexicon.NOUNS if "person" not in n.kinds and QUALITIES[n] and not n.unit]


class Clause(NamedTuple):
    """A phrase, and the names of what is in it: the kind of clause first."""

    phrase: Phrase
    parts: tuple[str, ...]


class Clauses(Phrases):
    """Draws clauses of each kind, of about 4 + `spare` English words."""

    def clause(self, kind: str, spare: int) -> Clause:
        return self.action(kind, spare) if kind in VERBS else getattr(self, kind)(spare)

    # Who does what --------------------------------------------------------------------------------

    def action(self, kind: str, spare: int, tense="", mood="statement", subject=None) -> Clause:
        """Someone does something, perhaps somewhere, at some time, with someone."""
        verb = self.pick(VERBS[kind])
        tense = tense or self.pick(TENSES[kind])
        if verb in lexicon.MOMENTS and tense in ("habit", "progressive"):
            tense = "past"
        if verb.base == "work" and tense == "past":
            verb = lexicon.ACTIVITIES[0]
        if verb.base == "leave":  # 忘 is what has happened, not what one plans
            verb = verb if tense == "past" and mood != "command" else lexicon.PLACING[0]
        if kind == "weather":
            subject = Subject(rule("it", "")(), "singular")
        subject = subject or self.subject(spare)
        firm = subject.every or tense == "progressive" or mood in ("question", "when", "after")
        negative = not firm and kind != "weather" and spare > 1 and self.chance(0.25)
        spare -= len(subject.phrase.english) - 1 + 2 * negative + (tense == "future")
        slots = {"subject": subject.phrase}
        slots["auxiliary"] = self.auxiliary(tense, mood, subject.agreement, negative)
        base = negative or tense == "future" or mood in ("question", "command")
        slots["verb"] = form(verb, "base" if base else FORMS[tense](subject.agreement))
        if tense == "progressive":
            slots["verb"] = form(verb, "progressive")
        done = " 了~verb" if tense == "past" and not negative and mood != "when" else ""
        core, spare = self.complement(kind, verb, tense, spare, slots, done, firm or negative)
        self.circumstances(kind, tense, mood, spare, slots)
        if not (firm or negative) and kind != "weather":
            self.adverbs(kind, tense, slots)
        if subject.every:
            slots["every"] = rule("", "都")()
        parts = [kind, tense] + ["not"] * negative + [n for n in MARKED if n in slots]
        parts += ["time"] * ("early" in slots) + list(subject.parts)
        return Clause(assembled(mood, slots, *core), tuple(parts))

    def auxiliary(self, tense: str, mood: str, agreement: str, negative: bool) -> Phrase:
        """What stands before the verb: did not, 没有; will, 会; is (reading), 正在."""
        if mood == "command":
            return words("do~1 not=1", "不要=1") if negative else words("please", "请")
        if tense == "progressive":
            return words(f"{BE[agreement]}~1", "正在~1")
        if tense == "future":
            modal = self.pick(lexicon.MODALS)
            return words(*modal[2:]) if negative else words(*modal[:2])
        do = "did" if tense == "past" else "does" if agreement == "singular" else "do"
        if mood == "question":
            return rule(do, "")()
        if not negative:
            return NOTHING
        return words(f"{do}~1 not=1", "没有=1" if tense == "past" else "不=1")

    def complement(self, kind, verb, tense, spare, slots, done, known):
        """Fill in what follows the English verb; give both templates, and the room left."""
        if kind in ("activity", "weather"):
            return ("{verb}", "{verb}" + done), spare + 1
        if kind == "motion":
            slots["goal"], slots["by"] = self.entry(lexicon.DESTINATIONS), NOTHING
            if spare > 1 and self.chance(0.6):
                slots["by"] = self.entry(lexicon.VEHICLES)
            spare -= len(slots["goal"].english) + len(slots["by"].english)
            return ("{verb} to~verb~goal {goal} {by}", "{by} {verb}" + done + " {goal}"), spare
        noun = self.pick(OBJECTS[verb])
        moves = kind in ("placing", "giving")
        spare -= 3 * moves
        if spare > 3 and tense in ("past", "present") and self.chance(0.45):
            slots["that"] = self.that(noun, spare)
        elif moves:
            slots["object"] = self.moved(noun, spare - 1)
        elif tense == "habit" or (kind == "state" and self.chance(0.5)):
            slots["object"] = self.thing(noun, "bare", spare > 1 and self.chance(0.5))
        else:
            slots["object"] = self.object(noun, spare - 1, known or kind == "state")
        name = "that" if "that" in slots else "object"
        spare -= len(slots[name].english) - 1
        if kind == "placing":
            slots["spot"] = self.entry(lexicon.SPOTS)
            chinese = f"把~verb {{{name}}} {{verb}} 在~verb~spot{done} {{spot}}"
            return (f"{{verb}} {{{name}}} {{spot}}", chinese), spare
        if kind == "giving":
            slots["receiver"] = self.person()
            chinese = f"把~verb {{{name}}} {{verb}} 给~1{done} {{receiver}}"
            return (f"{{verb}} {{{name}}} to~1 {{receiver}}", chinese), spare
        return (f"{{verb}} {{{name}}}", f"{{verb}}{done} {{{name}}}"), spare

    def circumstances(self, kind: str, tense: str, mood: str, spare: int, slots: dict) -> None:
        """Add time, place and company while there is room. After a clause, time comes early."""
        if tense in ("progressive", "present"):
            return
        options = list(ADJUNCTS[kind])
        if "that" in slots:
            options = ["early"] if mood not in ("question", "command") and ADJUNCTS[kind] else []
        self.random.shuffle(options)
        for name in options:
            if spare < ROOM[name] or self.chance(0.1):
                continue
            draw = {"place": self.place, "company": self.companion}.get(name)
            slots[name] = draw() if draw else self.time(tense)
            spare -= len(slots[name].english)

    def adverbs(self, kind: str, tense: str, slots: dict) -> None:
        if self.chance(0.8) or tense in ("present", "condition"):
            return
        if tense == "habit" and "time" not in slots:
            slots["adverb"] = self.entry(lexicon.FREQUENCIES)
        elif kind in ("event", "activity") and tense != "habit" and self.chance(0.5):
            slots["manner"] = self.entry(lexicon.MANNERS)
        else:
            slots["adverb"] = self.entry(lexicon.ADVERBS[: 1 + (tense == "past")])

    # What is said of whom -------------------------------------------------------------------------

    def known(self, spare: int):
        """A thing or a person to speak of, its adjectives, and is or are."""
        if self.chance(0.5):
            subject = self.subject(spare)
            while subject.every or "and" in subject.parts:
                subject = self.subject(spare)
            return subject, ADJECTIVES_OF_PEOPLE
        noun = self.pick(DESCRIBED)
        if spare > 4:
            return Subject(self.that(noun, spare), "singular", ("that",)), QUALITIES[noun]
        determiner = self.pick(("the", "this", "my", "these"))
        agreement = "plural" if determiner == "these" else "singular"
        return Subject(self.thing(noun, determiner), agreement), QUALITIES[noun]

    def description(self, spare: int) -> Clause:
        """Someone or something is so: 这 本 书 很 有趣, 不 有趣, 太 有趣 了."""
        subject, adjectives = self.known(spare)
        adjective = self.pick([word for word in adjectives if "色" not in word.chinese])
        english, chinese = self.pick(DEGREES[: 4 if spare > 0 else 1])
        made = rule(
            f"{{subject}} {BE[subject.agreement]}~1 {english} {adjective.english}=1",
            f"{{subject}} {chinese.format(f'{adjective.chinese}=1')}",
        )
        return Clause(made(subject=subject.phrase), ("description", *subject.parts))

    def comparison(self, spare: int) -> Clause:
        """One is more so than another: 汤姆 比 玛丽 高."""
        subject, adjectives = self.known(spare - 3)
        adjective = self.pick([word for word in adjectives if word.comparative])
        if adjectives is ADJECTIVES_OF_PEOPLE:
            other = self.person()
        else:
            fitting = [noun for noun in DESCRIBED if adjective in QUALITIES[noun]]
            other = self.thing(self.pick(fitting), self.pick(("the", "this", "my")))
        much = spare > 2 and self.chance(0.4)
        more = " ".join(f"{word}=1" for word in adjective.comparative.split())
        made = rule(
            f"{{subject}} {BE[subject.agreement]}~1 {'much=2 ' * much}{more} than=3 {{other}}",
            f"{{subject}} 比=3 {{other}} {adjective.chinese}=1 {'得多=2' * much}",
        )
        return Clause(made(subject=subject.phrase, other=other), ("comparison", *subject.parts))

    def identity(self, spare: int) -> Clause:
        """Someone is something: 玛丽 是 一 位 老师."""
        subject = self.subject(spare)
        while subject.every or "and" in subject.parts:
            subject = self.subject(spare)
        determiner = "bare" if subject.agreement == "plural" else "a"
        job = self.thing(self.pick(JOBS), determiner, spare > 0 and self.chance(0.5))
        made = rule(f"{{subject}} {BE[subject.agreement]}=1 {{job}}", "{subject} 是=1 {job}")
        return Clause(made(subject=subject.phrase, job=job), ("identity", *subject.parts))

    def existence(self, spare: int) -> Clause:
        """Something is somewhere: 桌子 上 有 一 本 书."""
        kind = self.pick(("a", "number"))
        thing = self.thing(self.pick(SCENE), kind, spare > 1 and self.chance(0.7))
        be = "is" if kind == "a" else "are"
        made = rule(f"there=1 {be}=1 {{thing}} {{spot}}", "{spot} 有=1 {thing}")
        return Clause(made(thing=thing, spot=self.entry(lexicon.SPOTS)), ("existence",))

    def passive(self, spare: int) -> Clause:
        """Something was done to it: 我 的 钥匙 昨天 被 司机 偷走 了."""
        english, chinese, kinds = self.pick(lexicon.SUFFERED)
        noun = self.pick([noun for noun in lexicon.NOUNS if noun.kinds & kinds])
        options = ("the", "this", "my") if noun.unit else ("the", "this", "my", "these", "the many")
        determiner = self.pick(options)
        be = "were" if determiner in ("these", "the many") else "was"
        time = self.time("past") if spare > 3 and self.chance(0.7) else NOTHING
        made = rule(
            f"{{thing}} {be}~1~2 {english}=1 by=2 {{doer}} {{time}}",
            f"{{thing}} {{time}} 被=2 {{doer}} {chinese}=1 了~1",
        )
        thing = self.thing(noun, determiner, spare > 4 and self.chance(0.6))
        doer = self.who(spare) if spare > 8 else self.person()
        parts = ("passive", *["time"] * (time is not NOTHING), *["who"] * (spare > 8))
        return Clause(made(thing=thing, doer=doer, time=time), parts)

    # Questions and commands -----------------------------------------------------------------------

    def question(self, spare: int) -> Clause:
        """Yes or no: 你 昨天 读 了 那 本 书 吗 ？"""
        kind = self.pick(("event", "event", "activity", "motion", "state", "placing", "giving"))
        asked = self.action(kind, spare - 1, mood="question")
        made = rule("{asked} ?=1", "{asked} 吗~1 ？=1")
        return Clause(made(asked=asked.phrase), asked.parts)

    def who_question(self, spare: int) -> Clause:
        """谁 昨天 买 了 那 本 书 ？"""
        kind = self.pick(("event", "motion", "placing", "giving"))
        subject = Subject(words("who", "谁"), "singular", every=False)
        asked = self.action(kind, spare, "past", subject=subject)
        return Clause(rule("{asked} ?=1", "{asked} ？=1")(asked=asked.phrase), asked.parts)

    def command(self, spare: int) -> Clause:
        """请 把 书 放 在 桌子 上."""
        kind = self.pick(("event", "placing", "placing", "giving"))
        nobody = Subject(NOTHING, "plural")
        told = self.action(kind, spare, "command", mood="command", subject=nobody)
        return Clause(told.phrase, told.parts)


FORMS = {
    "past": lambda agreement: "past",
    "progressive": lambda agreement: "progressive",
    **dict.fromkeys(
        ("habit", "present", "condition"),
        lambda agreement: "third" if agreement == "singular" else "base",
    ),
}
ROOM = {"time": 1, "early": 1, "place": 2, "company": 2}
MARKED = ("that", "time", "place", "company")
DEGREES = (
    ("", "很~1 {}"),
    ("very=2", "非常=2 {}"),
    ("not=2", "不=2 {}"),
    ("too=2", "太=2 {} 了~2"),
)


def assembled(mood: str, slots: dict, english: str, chinese: str) -> Phrase:
    """English has company, place and time at the end, Chinese before the verb."""
    ours = [
        f"{{{name}}}"
        for name in ENGLISH_ORDER.get(mood, ENGLISH_ORDER["statement"])
        if name in slots
    ]
    end = [f"{{{name}}}" for name in ("company", "place", "time") if name in slots]
    theirs = [f"{{{name}}}" for name in CHINESE_ORDER if name in slots]
    if mood == "command":
        theirs.insert(0, theirs.pop(theirs.index("{auxiliary}")))
        ours.remove("{subject}") if "{subject}" in ours else None
    return rule(" ".join([*ours, english, *end]), " ".join([*theirs, chinese]))(**slots)
