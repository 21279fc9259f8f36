"""The gradient of a weight that reaches the loss by two roads, by hand."""

from utils.exercises.checking import Exercise, random


def backward(x: float, w: float, b: float, y: float) -> tuple[float, float]:
    """Return dL/dw and dL/db of L = (w·h - y)² with h = ReLU(w·x + b), by the chain rule."""
    z = w * x + b
    h = max(z, 0.0)
    e = 2 * (w * h - y)  # dL/dŷ
    dz = e * w if z > 0 else 0.0
    return e * h + dz * x, dz


exercise = Exercise(backward, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("x = 0, where w has one road only")
def one_road():
    return [(0.0, 2.0, 3.0, 1.0)]


@exercise.stage("an open gate")
def open_gate():
    return [(1.0, 2.0, 1.0, 5.0), (3.0, 1.0, -1.0, 4.0)]


@exercise.stage("a closed gate (w·x + b is negative)")
def closed_gate():
    return [(-2.0, 2.0, 1.0, 3.0)]


@exercise.stage("other numbers")
def other_numbers():
    """Draw x, w, b, y with one decimal, three gates open and two closed, none at the kink."""
    draws = (3 * random(40, 4)).round(decimals=1).tolist()
    usable = [(x, w, b, y) for x, w, b, y in draws if abs(w * x + b) > 0.5 and abs(w) > 0.5]
    opened = [(x, w, b, y) for x, w, b, y in usable if w * x + b > 0]
    closed = [(x, w, b, y) for x, w, b, y in usable if w * x + b < 0]
    return opened[:3] + closed[:2]


# What goes wrong ----------------------------------------------------------------------------------


def forward(x: float, w: float, b: float, y: float) -> tuple[float, float, float]:
    """Return h, whether its gate is open, and the error."""
    z = w * x + b
    h = max(z, 0.0)
    return h, float(z > 0), w * h - y


@exercise.mistake("w reaches the loss by two roads, and you came back by one: w also moves h.")
def second_road_forgotten(x, w, b, y):
    h, gate, e = forward(x, w, b, y)
    return 2 * e * h, 2 * e * w * gate


@exercise.mistake("w reaches the loss by two roads, and you came back by one: w also multiplies h.")
def first_road_forgotten(x, w, b, y):
    h, gate, e = forward(x, w, b, y)
    return 2 * e * w * gate * x, 2 * e * w * gate


@exercise.mistake(
    "a gradient went through a closed gate. What does h do when w·x + b is negative and moves a "
    "little?"
)
def gate_forgotten(x, w, b, y):
    h, _, e = forward(x, w, b, y)
    return 2 * e * (h + w * x), 2 * e * w


@exercise.mistake("at the ReLU you multiplied by its value. The chain rule asks for its slope.")
def value_for_slope(x, w, b, y):
    h, _, e = forward(x, w, b, y)
    return 2 * e * (h + w * h * x), 2 * e * w * h


@exercise.mistake("everything is half of what it should be. What is the derivative of a square?")
def no_2(x, w, b, y):
    h, gate, e = forward(x, w, b, y)
    return e * (h + w * gate * x), e * w * gate


@exercise.mistake("both signs are reversed: in (ŷ - y)², ŷ has a plus sign.")
def error_reversed(x, w, b, y):
    h, gate, e = forward(x, w, b, y)
    return -2 * e * (h + w * gate * x), -2 * e * w * gate


@exercise.mistake("on the road through h you left out a factor: how much does ŷ move when h moves?")
def outer_weight_skipped(x, w, b, y):
    h, gate, e = forward(x, w, b, y)
    return 2 * e * (h + gate * x), 2 * e * gate


@exercise.mistake("dL/dw comes first, then dL/db: yours are the other way round.")
def exchanged(x, w, b, y):
    return backward(x, w, b, y)[::-1]


@exercise.mistake(
    "on the road through h you left out the input: how much does z move when w moves?"
)
def input_skipped(x, w, b, y):
    h, gate, error = forward(x, w, b, y)
    return 2 * error * h + 2 * error * w * gate, 2 * error * w * gate


@exercise.mistake("you ask whether x is positive: the ReLU sees z = w·x + b.")
def gate_of_the_input(x, w, b, y):
    h, _, error = forward(x, w, b, y)
    dz = 2 * error * w * (x > 0)
    return 2 * error * h + dz * x, dz


@exercise.mistake("your error compares h with y: the prediction is w·h.")
def hidden_for_output(x, w, b, y):
    h, gate, _ = forward(x, w, b, y)
    dz = 2 * (h - y) * w * gate
    return 2 * (h - y) * h + dz * x, dz


@exercise.mistake("b has one road to the loss, through h: yours has a second.")
def bias_on_both_roads(x, w, b, y):
    h, gate, error = forward(x, w, b, y)
    dz = 2 * error * w * gate
    return 2 * error * h + dz * x, dz + 2 * error


@exercise.mistake("on the road through h you multiplied by h: how much does z move when w moves?")
def hidden_for_input(x, w, b, y):
    h, gate, error = forward(x, w, b, y)
    dz = 2 * error * w * gate
    return 2 * error * h + dz * h, dz


@exercise.mistake("your dL/db has a factor x: how much does z move when b moves?")
def bias_times_input(x, w, b, y):
    h, gate, error = forward(x, w, b, y)
    dz = 2 * error * w * gate
    return 2 * error * h + dz * x, dz * x
