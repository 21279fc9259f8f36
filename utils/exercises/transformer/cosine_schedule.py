"""A learning rate that rises linearly and falls along half a cosine wave."""

import math

from utils.exercises.checking import Exercise


def rate(step: int, peak: float, warmup: int, total: int, floor: float) -> float:
    """Return the rate of a step; steps count from 1.

    It is `peak` at step `warmup`, and `floor` from step `total` on.
    """
    if step <= warmup:
        return peak * step / warmup
    return floor + (peak - floor) * half_a_wave(progress(step, warmup, total))


def progress(step: int, warmup: int, total: int) -> float:
    return min((step - warmup) / (total - warmup), 1.0)


def half_a_wave(progress: float) -> float:
    return (1 + math.cos(math.pi * progress)) / 2


exercise = Exercise(rate, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("the first step")
def first_step():
    return [(1, 0.5, 4, 20, 0.1)]


@exercise.stage("the rise and the peak")
def rise():
    return [(3, 0.7, 4, 20, 0.1), (4, 0.5, 4, 20, 0.1)]


@exercise.stage("the fall")
def fall():
    return [(5, 0.5, 4, 20, 0.1), (9, 0.8, 4, 20, 0.05), (63, 0.3, 10, 80, 0.02)]


@exercise.stage("the end")
def end():
    return [(20, 0.5, 4, 20, 0.1)]


@exercise.stage("steps after the end")
def after_the_end():
    return [(27, 0.5, 4, 20, 0.1)]


# What goes wrong ----------------------------------------------------------------------------------


def falling(share: float, step: int, peak: float, warmup: int, total: int, floor: float) -> float:
    """Return the rate when this share of the fall is still to come."""
    return peak * step / warmup if step <= warmup else floor + (peak - floor) * share


@exercise.mistake("your first step has rate 0, and learns nothing: steps count from 1.")
def from_0(step, peak, warmup, total, floor):
    return rate(step - 1, peak, warmup, total, floor)


@exercise.mistake("you are one step ahead: after how many steps should the peak be reached?")
def one_ahead(step, peak, warmup, total, floor):
    return rate(step + 1, peak, warmup, total, floor)


@exercise.mistake("your line starts with 0 at the first step, and jumps after `warmup`.")
def line_from_the_first_step(step, peak, warmup, total, floor):
    return rate(step - (step <= warmup), peak, warmup, total, floor)


@exercise.mistake("your wave goes down to 0 and is cut off at the floor: it should end flat.")
def cut_off(step, peak, warmup, total, floor):
    whole = rate(step, peak, warmup, total, 0.0)
    return whole if step <= warmup else max(floor, whole)


@exercise.mistake("your warm-up doesn't start from 0: the floor applies only to the fall.")
def rising_from_the_floor(step, peak, warmup, total, floor):
    if step <= warmup:
        return floor + (peak - floor) * step / warmup
    return rate(step, peak, warmup, total, floor)


@exercise.mistake("where is the warm-up? Your first steps are already the largest.")
def no_warmup(step, peak, warmup, total, floor):
    return rate(max(step, warmup), peak, warmup, total, floor)


@exercise.mistake("the rate jumps at the peak: where does the fall begin?")
def fall_from_step_0(step, peak, warmup, total, floor):
    share = half_a_wave(min(step / total, 1.0))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("a whole wave returns to the peak: how much of it falls?")
def whole_wave(step, peak, warmup, total, floor):
    share = half_a_wave(2 * progress(step, warmup, total))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake(
    "how long is the fall? You divide by all steps, but the warm-up is not part of it."
)
def divided_by_all_steps(step, peak, warmup, total, floor):
    share = half_a_wave(min((step - warmup) / total, 1.0))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("your wave rises: where should it start?")
def upside_down(step, peak, warmup, total, floor):
    share = 1 - half_a_wave(progress(step, warmup, total))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("a quarter of a wave arrives steeply: it should be flat at both ends.")
def quarter_of_a_wave(step, peak, warmup, total, floor):
    share = math.cos(math.pi / 2 * progress(step, warmup, total))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("yours falls in a straight line: the wave is flat at both ends.")
def line(step, peak, warmup, total, floor):
    share = 1 - progress(step, warmup, total)
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("after the end your wave rises again: the rate should stay at the floor.")
def rising_again(step, peak, warmup, total, floor):
    share = half_a_wave((step - warmup) / (total - warmup))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("yours falls to 0: you forgot the floor.")
def no_floor(step, peak, warmup, total, floor):
    return rate(step, peak, warmup, total, 0.0)


@exercise.mistake("you add the floor on top: the rate gets larger than the peak.")
def above_the_floor(step, peak, warmup, total, floor):
    return rate(step, peak, warmup, total, 0.0) + floor * (step > warmup)


@exercise.mistake(
    "your line reaches the peak at `warmup`, but starts with 0 at the first step: it should start "
    "one step earlier."
)
def line_between_first_and_peak(step, peak, warmup, total, floor):
    if step <= warmup:
        return peak * (step - 1) / (warmup - 1)
    return rate(step, peak, warmup, total, floor)


@exercise.mistake(
    "your line is one step too long: at step `warmup`, it has not yet reached the peak."
)
def line_too_long(step, peak, warmup, total, floor):
    if step <= warmup:
        return peak * step / (warmup + 1)
    return rate(step, peak, warmup, total, floor)


@exercise.mistake("your fall starts one step late: the peak is the rate of one step, not of two.")
def fall_too_late(step, peak, warmup, total, floor):
    return rate(step - (step > warmup), peak, warmup, total, floor)


@exercise.mistake("a cosine falls until π: yours has hardly started to fall when it ends.")
def no_pi(step, peak, warmup, total, floor):
    share = (1 + math.cos(progress(step, warmup, total))) / 2
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("a cosine goes from 1 down to -1: yours falls far below the floor.")
def cosine_alone(step, peak, warmup, total, floor):
    share = math.cos(math.pi * progress(step, warmup, total))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("after the end your rate is 0: it should stay at the floor.")
def nothing_after_the_end(step, peak, warmup, total, floor):
    return rate(step, peak, warmup, total, floor) * (step <= total)


@exercise.mistake("`math.cos` takes radians: half a wave ends at π, not at 180.")
def in_degrees(step, peak, warmup, total, floor):
    share = (1 + math.cos(180 * progress(step, warmup, total))) / 2
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("1 + cos falls from 2 to 0: halve it, or the rate jumps to twice the peak.")
def not_halved(step, peak, warmup, total, floor):
    share = 2 * half_a_wave(progress(step, warmup, total))
    return falling(share, step, peak, warmup, total, floor)


@exercise.mistake("the floor is a rate itself, not a share of the peak.")
def floor_as_a_share(step, peak, warmup, total, floor):
    return rate(step, peak, warmup, total, floor * peak)


@exercise.mistake(
    "your rate falls like one over a root, as on the page: here it follows half a cosine wave."
)
def inverse_root(step, peak, warmup, total, floor):
    return peak * min(step / warmup, (warmup / step) ** 0.5)
