"""Actions: what English says after the verb, Chinese often says before it."""

from typing import NamedTuple

from utils.data.translation import circumstances, lexicon
from utils.data.translation.phrases import OBJECTS, Phrases, Subject, form
from utils.data.translation.rules import NOTHING, Phrase, rule, words

VERBS = {
    "event": lexicon.EVENTS * 2 + lexicon.MOMENTS,
    "activity": lexicon.ACTIVITIES,
    "motion": [lexicon.verb("go goes went going", "去")],
    "placing": lexicon.PLACING,
    "giving": lexicon.GIVING,
    "state": lexicon.STATES,
    "study": lexicon.STUDYING,
    "weather": lexicon.WEATHER,
}
TENSES = {
    "event": ("past", "past", "past", "future", "habit", "progressive"),
    "activity": ("past", "future", "habit", "progressive"),
    "motion": ("past", "past", "future", "habit"),
    "placing": ("past", "past", "future"),
    "giving": ("past", "past", "future"),
    "state": ("present",),
    "study": ("past", "future", "habit", "progressive"),
    "weather": ("past",),
}
ADJUNCTS = {  # what each kind of clause has room for
    "event": ("time", "place", "company"),
    "activity": ("time", "place", "company"),
    "motion": ("time", "company"),
    "placing": ("time", "company"),
    "giving": ("time",),
    "state": (),
    "study": ("time", "place", "company"),
    "weather": ("time",),
}
ENGLISH_ORDER = {  # and then the verb, its object, and who with, where and when
    "statement": "early subject auxiliary adverb manner",
    "question": "auxiliary subject adverb manner",
    "command": "auxiliary adverb manner",
}
CHINESE_ORDER = {  # and then the verb and its object
    "statement": "early subject time adverb every auxiliary company place manner",
    "question": "subject time adverb every auxiliary company place manner",
    "command": "auxiliary time adverb company place manner",
}
BE = {"I": "am", "singular": "is", "plural": "are"}
ROOM = {"time": 1, "early": 1, "place": 2, "company": 2}
MARKED = ("that", "time", "place", "company")


class Clause(NamedTuple):
    """A phrase, and the names of what is in it: the kind of clause first."""

    phrase: Phrase
    parts: tuple[str, ...]


IT = Subject(rule("it", "")(), "singular")  # rains


class Actions(Phrases):
    """Draws clauses in which someone does something, of about 4 + `spare` English words."""

    def action(self, kind: str, spare: int, tense="", mood="statement", subject=None) -> Clause:
        """Someone does something, perhaps somewhere, at some time, with someone."""
        verb = self.pick(VERBS[kind])
        tense = tense or self.pick(TENSES[kind])
        if verb in lexicon.MOMENTS and tense in ("habit", "progressive"):
            tense = "past"
        if verb.base == "work" and tense == "past":  # 工作 了 asks for how long
            verb = lexicon.ACTIVITIES[0]
        if verb.base == "leave" and (tense != "past" or mood == "command"):
            verb = lexicon.PLACING[0]  # 忘 is what has happened, not what one plans
        if verb in lexicon.MOMENTS and mood == "command":
            verb = self.pick(lexicon.OPENING)  # nobody can be told to see or to lose
        subject = subject or (IT if kind == "weather" else self.subject(spare))
        firm = subject.every or tense == "progressive" or mood in ("question", "when", "after")
        negative = not firm and kind != "weather" and spare > 1 and self.chance(0.25)
        spare -= len(subject.phrase.english) - 1 + 2 * negative + (tense == "future")
        done = " 了~verb" if tense == "past" and not negative and mood != "when" else ""
        slots = {"subject": subject.phrase}
        slots["auxiliary"] = self.auxiliary(tense, mood, subject.agreement, negative)
        slots["verb"] = form(verb, form_name(tense, mood, subject.agreement, negative))
        core, spare = self.complement(kind, verb, tense, spare, slots, done, firm or negative)
        self.circumstances(kind, tense, mood, spare, slots)
        if not (firm or negative) and kind != "weather":
            self.adverbs(kind, tense, slots)
        if subject.every:
            slots["every"] = NOTHING
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
            return ("{verb}", "{verb}" + done), spare + (2 if kind == "weather" else 1)
        if kind == "motion":
            slots["goal"], slots["by"] = self.entry(circumstances.DESTINATIONS), NOTHING
            if spare > 1 and self.chance(0.6):
                slots["by"] = self.entry(circumstances.VEHICLES)
            spare -= len(slots["goal"].english) + len(slots["by"].english)
            return ("{verb} to~verb~goal {goal} {by}", "{by} {verb}" + done + " {goal}"), spare
        if kind == "study" or verb.base in ("like", "love") and self.chance(0.3):
            slots["object"] = self.entry(lexicon.SUBJECTS)
            return ("{verb} {object}", "{verb}" + done + " {object}"), spare
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
            slots["spot"] = self.entry(circumstances.SPOTS)
            chinese = f"把~verb {{{name}}} {{verb}} 在~verb~spot{done} {{spot}}"
            return (f"{{verb}} {{{name}}} {{spot}}", chinese), spare
        if kind == "giving":
            slots["receiver"] = self.other(slots["subject"])
            chinese = f"把~verb {{{name}}} {{verb}} 给~1{done} {{receiver}}"
            return (f"{{verb}} {{{name}}} to~1 {{receiver}}", chinese), spare
        return (f"{{verb}} {{{name}}}", f"{{verb}}{done} {{{name}}}"), spare

    def circumstances(self, kind: str, tense: str, mood: str, spare: int, slots: dict) -> None:
        """Add time, place and company while there is room. After a clause, time comes early."""
        if tense in ("progressive", "present"):
            return
        options = list(ADJUNCTS[kind])
        if "that" in slots:
            options = (
                ["early"] if mood not in ("question", "who", "command") and ADJUNCTS[kind] else []
            )
        self.random.shuffle(options)
        for name in options:
            if spare < ROOM[name] or self.chance(0.1):
                continue
            if name == "place":
                slots[name] = self.place()
            elif name == "company":
                slots[name] = self.companion(self.other(slots["subject"]))
            else:
                slots[name] = self.time(tense)
            spare -= len(slots[name].english)

    def adverbs(self, kind: str, tense: str, slots: dict) -> None:
        if self.chance(0.8) or tense in ("present", "condition"):
            return
        if tense == "habit" and "time" not in slots:
            slots["adverb"] = self.entry(circumstances.FREQUENCIES)
        elif kind in ("event", "activity") and tense != "habit" and self.chance(0.5):
            slots["manner"] = self.entry(circumstances.MANNERS)
        else:
            slots["adverb"] = self.entry(circumstances.ADVERBS[: 1 + (tense == "past")])


def form_name(tense: str, mood: str, agreement: str, negative: bool) -> str:
    """Which form of the verb goes with its tense, its subject, and what stands before it."""
    if tense == "progressive":
        return tense
    if negative or tense == "future" or mood in ("question", "command"):
        return "base"
    if tense == "past":
        return tense
    return "third" if agreement == "singular" else "base"


def assembled(mood: str, slots: dict, english: str, chinese: str) -> Phrase:
    """English has company, place and time at the end, Chinese before the verb."""
    mood = mood if mood in ENGLISH_ORDER else "statement"
    ours = [f"{{{name}}}" for name in ENGLISH_ORDER[mood].split() if name in slots]
    end = [f"{{{name}}}" for name in ("company", "place", "time") if name in slots]
    theirs = [
        "都~subject" if name == "every" else f"{{{name}}}"
        for name in CHINESE_ORDER[mood].split()
        if name in slots
    ]
    return rule(" ".join([*ours, english, *end]), " ".join([*theirs, chinese]))(**slots)
