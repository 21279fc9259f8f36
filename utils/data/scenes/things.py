"""Things, and how they lie to each other: what a scene is made of."""

from dataclasses import dataclass

SIDE = 24  # pixels of a picture, each way
COLOURS = {  # red, green and blue in 0..1
    "red": (1.0, 0.0, 0.0),
    "green": (0.0, 0.8, 0.0),
    "blue": (0.0, 0.3, 1.0),
    "yellow": (1.0, 0.9, 0.0),
    "purple": (0.8, 0.0, 1.0),
}
DIGITS = tuple("zero one two three four five six seven eight nine".split())
SHAPES = ("circle", "square", "triangle")
FORMS = (*DIGITS, *SHAPES)
SIZES = {"small": 8, "large": 14}  # pixels; a digit has 8
RELATIONS = ("left of", "right of", "above", "below", "inside")
OPPOSITE = {
    "left of": "right of",
    "right of": "left of",
    "above": "below",
    "below": "above",
    "inside": "around",
    "around": "inside",
}


@dataclass(frozen=True)
class Thing:
    """A handwritten digit, or a shape: filled if it is small, an outline if it is large.

    form: one of `FORMS`.
    colour: one of `COLOURS`.
    size: "small" or "large" for a shape, None for a digit.
    Raises: ValueError if there is no such form or colour, or the form doesn't have this size.
    """

    form: str
    colour: str
    size: str | None = None

    def __post_init__(self):
        if self.form not in FORMS:
            raise ValueError(f"No form is called {self.form!r}: choose from {', '.join(FORMS)}.")
        if self.colour not in COLOURS:
            raise ValueError(
                f"No colour is called {self.colour!r}: choose from {', '.join(COLOURS)}."
            )
        if self.form in DIGITS and self.size is not None:
            raise ValueError(f"A digit has one size: leave out {self.size!r} for {self.form}.")
        if self.form in SHAPES and self.size not in SIZES:
            raise ValueError(f'A {self.form} is "small" or "large", not {self.size!r}.')

    @property
    def side(self) -> int:
        """The pixels that it takes each way."""
        return SIZES[self.size or "small"]


@dataclass(frozen=True)
class Scene:
    """One to three things; relations[i] is how thing i lies to thing i + 1: one of `RELATIONS`.

    Raises: ValueError if there are no or too many things, or the relations aren't one fewer.
    """

    things: tuple[Thing, ...]
    relations: tuple[str, ...] = ()

    def __post_init__(self):
        if not 1 <= len(self.things) <= 3:
            raise ValueError(f"A scene has one to three things, not {len(self.things)}.")
        if len(self.relations) != len(self.things) - 1:
            raise ValueError(
                f"{len(self.things)} things need {len(self.things) - 1} relations, "
                f"not {len(self.relations)}."
            )
        if unknown := [name for name in self.relations if name not in RELATIONS]:
            raise ValueError(
                f"No relation is called {unknown[0]!r}: choose from {', '.join(RELATIONS)}."
            )


PAIRS_UNSEEN = frozenset(  # each form lacks one colour, and each colour two or three forms
    (form, list(COLOURS)[number % len(COLOURS)]) for number, form in enumerate(FORMS)
)


def exchanged(scene: Scene) -> list[Scene]:
    """Say something else with the same words: neighbours exchange their colours, or their places.

    No picture of the scene shows any of them. What is inside another keeps its place.
    """
    others = []
    for i, relation in enumerate(scene.relations):
        a, b = scene.things[i : i + 2]
        swaps = [(Thing(a.form, b.colour, a.size), Thing(b.form, a.colour, b.size))]
        swaps += [(b, a)] if relation != "inside" else []
        for swap in swaps:
            things = (*scene.things[:i], *swap, *scene.things[i + 2 :])
            others.append(Scene(things, scene.relations))
    return [other for other in dict.fromkeys(others) if other != scene]
