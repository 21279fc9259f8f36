"""What is said of a scene, in English and in Chinese, and what a sentence means."""

import re
from collections.abc import Iterable
from string import Formatter

from utils.data.scenes.things import COLOURS, FORMS, OPPOSITE, RELATIONS, Scene, Thing
from utils.data.text import Vocabulary

SENTENCES = {  # by the number of things a, b, c; relations are r, s, and their opposites R, S
    "en": {
        1: (
            "{a}",
            "there is {a}",
            "this is {a}",
            "I can see {a}",
            "a picture of {a}",
        ),
        2: (
            "{a} is {r[of]} {b}",
            "{a} {r[short]} {b}",
            "{r[of]} {b} is {a}",
            "there is {a} {r[of]} {b}",
            "{b} with {a} {r[it]}",
        ),
        3: (
            "{a} is {r[of]} {b}, which is {s[of]} {c}",
            "{a} {r[short]} {b}, which is {s[short]} {c}",
            "{a}, {R[it]} {b}, and {S[that]} {c}",
            "there is {b}: {a} is {r[it]}, and {c} is {S[it]}",
            "{b} with {a} {r[it]} and {c} {S[it]}",
        ),
    },
    "zh": {
        1: (
            "一个{a}",
            "有一个{a}",
            "这是一个{a}",
            "我看到一个{a}",
            "图里有一个{a}",
        ),
        2: (
            "{a}在{b}{r[of]}",
            "{b}{r[short]}有一个{a}",
            "一个{a}在一个{b}{r[of]}",
            "{b}{r[of]}是{a}",
            "图里有一个{b}，它{r[of]}有一个{a}",
        ),
        3: (
            "{a}在{b}{r[short]}，后者在{c}{s[short]}",
            "{b}{r[short]}有{a}，{S[short]}有{c}",
            "{a}{R[short]}是{b}，后者{S[short]}是{c}",
            "有一个{b}，{r[short]}是{a}，{S[short]}是{c}",
            "{b}在{a}{R[short]}，也在{c}{s[short]}",
        ),
    },
}
WAYS = {"en": 5, "zh": 5}  # in which each scene is said
LONGEST = 27  # words of a sentence

PHRASES = {  # what `SENTENCES` calls for: {r[of]}, {r[short]} ...
    "en": {
        relation: dict(of=of, short=short, it=it, that=f"{of} that")
        for relation, of, short, it in (
            ("left of", "to the left of", "left of", "to its left"),
            ("right of", "to the right of", "right of", "to its right"),
            ("above", "above", "above", "above it"),
            ("below", "below", "below", "below it"),
            ("inside", "inside", "in", "inside it"),
            ("around", "around", "around", "around it"),
        )
    },
    "zh": {
        "left of": dict(of="的左边", short="左边"),
        "right of": dict(of="的右边", short="右边"),
        "above": dict(of="的上面", short="上面"),
        "below": dict(of="的下面", short="下面"),
        "inside": dict(of="里面", short="里"),
        "around": dict(of="外面", short="外面"),
    },
}

CHINESE = dict(zip(COLOURS, "红绿蓝黄紫", strict=True))
CHINESE |= dict(zip(FORMS, [*"零一二三四五六七八九", "圆形", "方形", "三角形"], strict=True))
CHINESE |= {"small": "小", "large": "大"}


def say(scene: Scene, way: int = 0, language: str = "en") -> str:
    """Say a scene in one of `WAYS[language]` ways, in English ("en") or Chinese ("zh").

    Raises: ValueError if there is no such way or language.
    """
    if language not in WAYS:
        raise ValueError(f'No scene is said in {language!r}: say "en" or "zh".')
    if not 0 <= way < WAYS[language]:
        raise ValueError(f"There are the ways 0 to {WAYS[language] - 1}: {way}?")
    slots, n_things = {}, len(scene.things)
    for name, thing in zip("abc", scene.things, strict=False):
        slots[name] = _named(thing, language, n_things)
    for name, relation in zip("rs", scene.relations, strict=False):
        slots[name] = PHRASES[language][relation]
        slots[name.upper()] = PHRASES[language][OPPOSITE[relation]]
    return SENTENCES[language][n_things][way].format(**slots)


def words(sentence: str) -> list[str]:
    """Take a sentence apart: English words in small letters, Chinese characters, no punctuation.

    Raises: ValueError if it is no string, or has no word or one that no scene is described with.
    """
    if not isinstance(sentence, str):
        raise ValueError(f"A sentence is a string, not {type(sentence).__name__}.")
    found = _split(sentence)
    if not found:
        raise ValueError("The sentence is empty: say what there is, as in 'a red three'.")
    if unknown := [word for word in found if word not in VOCABULARY.symbols]:
        raise ValueError(f"No scene is described with {unknown[0]!r}: choose another word.")
    return found


def understand(sentence: str) -> Scene:
    """Give the scene that a sentence says, in any of the ways of `say`: its inverse.

    Typed sentences may leave out "to the", or say "the" for "a".
    Raises: ValueError as `words` does, or if the sentence isn't one of these.
    """
    found = words(sentence)
    plain = " ".join(found) if found[0].isascii() else "".join(found)
    for pattern in _PATTERNS:
        if match := pattern.fullmatch(plain):
            return _scene(match.groupdict())
    raise ValueError(f"{sentence!r} describes no scene: try 'a red three left of a blue seven'.")


def _split(sentence: str) -> list[str]:
    return re.findall(r"[a-z]+|[^\sa-z,.;:!?，。；：！？、]", sentence.lower())


def _named(thing: Thing, language: str, n_things: int) -> str:
    """A red three, 红色的三. Among three things, 红色的小圆形 is 红色小圆形, which is shorter."""
    parts = [thing.size, thing.colour, thing.form] if thing.size else [thing.colour, thing.form]
    if language == "en":
        return " ".join(["a", *parts])
    colour, form = CHINESE[thing.colour] + "色", CHINESE[thing.form]
    if thing.size is None:
        return f"{colour}的{form}"
    return f"{colour}{'的' if n_things < 3 else ''}{CHINESE[thing.size]}{form}"


def _any(name: str, choices: Iterable[str]) -> str:
    """A group of this name that matches one of the choices, the longest that is possible."""
    return f"(?P<{name}>{'|'.join(sorted(choices, key=len, reverse=True))})"


def _pattern(template: str, language: str) -> re.Pattern:
    """What `say` makes of a template, with groups for the relations and for the parts of things."""
    pattern = ""
    for literal, field, _, _ in Formatter().parse(template):
        pattern += re.sub("[,:，]|一个", "", literal.lower())
        if field and field in "abc":
            parts = (COLOURS, ("small", "large"), FORMS)
            if language == "zh":
                parts = ([CHINESE[part] for part in choices] for choices in parts)
            colour, size, form = map(_any, (f"{field}_{part}" for part in _PARTS), parts)
            pattern += (
                f"(?:a|the) (?:{size} )?{colour} {form}"
                if language == "en"
                else f"(?:一个)?{colour}色的?{size}?{form}"
            )
        elif field:
            name, style = field[0], field[2:-1]
            styles = ("of", "short") if style in ("of", "short") else (style,)
            relations = RELATIONS if name.islower() else map(OPPOSITE.get, RELATIONS)
            pattern += _any(name, {PHRASES[language][r][s] for r in relations for s in styles})
    return re.compile(pattern)


def _scene(found: dict[str, str | None]) -> Scene:
    """The scene whose parts a pattern found."""
    things, relations = [], []
    for name in "abc":
        if f"{name}_form" in found:
            colour, size, form = (_ENGLISH.get(found[f"{name}_{part}"]) for part in _PARTS)
            things.append(Thing(form, colour, size))
    for name in "rs":
        if name in found:
            relations.append(_MEANING[found[name]])
        elif name.upper() in found:
            relations.append(OPPOSITE[_MEANING[found[name.upper()]]])
    return Scene(tuple(things), tuple(relations))


_PARTS = ("colour", "size", "form")
_ENGLISH = {word: word for word in CHINESE} | {word: name for name, word in CHINESE.items()}
_MEANING = {
    phrase: relation
    for phrases in PHRASES.values()
    for relation, styles in phrases.items()
    for phrase in styles.values()
}
_PATTERNS = [
    _pattern(template, language)
    for language, by_number in SENTENCES.items()
    for templates in by_number.values()
    for template in templates
]


def _all_words() -> set[str]:
    """The words of all sentences, which their templates and the names of things say in full."""
    literals = [
        literal
        for by_number in SENTENCES.values()
        for templates in by_number.values()
        for template in templates
        for literal, *_ in Formatter().parse(template)
    ]
    return set(_split(" ".join([*literals, *_MEANING, *_ENGLISH, "a the 一 个 色 的"])))


VOCABULARY = Vocabulary(_all_words())
