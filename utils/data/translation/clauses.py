"""Clauses of every kind: what someone does, what is so, and questions and commands."""

from utils.data.translation import circumstances, lexicon
from utils.data.translation.actions import BE, VERBS, Actions, Clause
from utils.data.translation.phrases import QUALITIES, Subject
from utils.data.translation.rules import NOTHING, rule, words

JOBS = [noun for noun in lexicon.NOUNS if "job" in noun.kinds]
SCENE = [noun for noun in lexicon.NOUNS if noun.kinds & {"animal", "movable"}]
ADJECTIVES_OF_PEOPLE = [word for word in lexicon.ADJECTIVES if word.kinds & {"person", "predicate"}]
DESCRIBED = [n for n in lexicon.NOUNS if "person" not in n.kinds and QUALITIES[n] and not n.unit]
DEGREES = (
    ("", "很~1 {}"),
    ("very=2", "非常=2 {}"),
    ("not=2", "不=2 {}"),
    ("too=2", "太=2 {} 了~2"),
)


class Clauses(Actions):
    """Draws clauses of each kind, of about 4 + `spare` English words."""

    def clause(self, kind: str, spare: int) -> Clause:
        return self.action(kind, spare) if kind in VERBS else getattr(self, kind)(spare)

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
        return Clause(made(thing=thing, spot=self.entry(circumstances.SPOTS)), ("existence",))

    def passive(self, spare: int) -> Clause:
        """Something was done to it: 我 的 钥匙 昨天 被 司机 偷走 了."""
        english, chinese, kinds = self.pick(lexicon.SUFFERED)
        noun = self.pick([noun for noun in lexicon.NOUNS if noun.kinds & kinds])
        options = ("the", "this", "my") if noun.unit else ("the", "this", "my", "these", "the many")
        determiner = self.pick(options)
        be = "were" if determiner in ("these", "the many") else "was"
        timed = 3 < spare <= 8 and self.chance(0.7)  # after a clause, it would belong to that
        time = self.time("past") if timed else NOTHING
        made = rule(
            f"{{thing}} {be}~1~2 {english}=1 by=2 {{doer}} {{time}}",
            f"{{thing}} {{time}} 被=2 {{doer}} {chinese}=1 了~1",
        )
        thing = self.thing(noun, determiner, spare > 4 and self.chance(0.6))
        doer = self.who(spare) if spare > 8 else self.person()
        parts = ("passive", *["time"] * timed, *["who"] * (spare > 8))
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
        subject = Subject(words("who", "谁"), "singular")
        asked = self.action(kind, spare, "past", mood="who", subject=subject)
        return Clause(rule("{asked} ?=1", "{asked} ？=1")(asked=asked.phrase), asked.parts)

    def command(self, spare: int) -> Clause:
        """请 把 书 放 在 桌子 上."""
        kind = self.pick(("event", "placing", "placing", "giving"))
        nobody = Subject(NOTHING, "plural")
        told = self.action(kind, spare, "command", mood="command", subject=nobody)
        return Clause(told.phrase, told.parts)
