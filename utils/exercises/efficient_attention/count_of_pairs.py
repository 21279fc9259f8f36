"""How many scores does a window with global positions need?"""

from utils.efficient import window_mask
from utils.exercises.checking import Exercise


def count_pairs(T: int, window: int, n_global: int) -> int:
    """Count the pairs of a window to both sides whose first positions see, and are seen by, all."""
    return int(window_mask(T, window, global_positions=range(n_global)).sum())


exercise = Exercise(count_pairs, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a window without global positions")
def none_global():
    return [(6, 1, 0), (11, 3, 0)]


@exercise.stage("one global position")
def one_global():
    return [(9, 2, 1)]


@exercise.stage("several")
def several_global():
    return [(20, 2, 3), (31, 5, 4), (17, 1, 7)]


@exercise.stage("a window wider than the sequence")
def wide_window():
    return [(5, 8, 0), (6, 9, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "your global positions work in one direction: they see everything, *and* everything sees them."
)
def one_way(T, window, n_global):
    seen = window_mask(T, window)
    seen[:, :n_global] = True
    return int(seen.sum())


@exercise.mistake("you count global positions within the window twice.")
def overlap(T, window, n_global):
    return count_pairs(T, window, 0) + 2 * T * n_global - n_global**2


@exercise.mistake("near the beginning, a global position is also in the window: count it once.")
def overlap_in_rows(T, window, n_global):
    local = sum(int(row.sum()) for row in window_mask(T, window)[n_global:])
    return n_global * T + local + (T - n_global) * n_global


@exercise.mistake("`window` is the reach to one side, not to both together.")
def both_sides_together(T, window, n_global):
    return count_pairs(T, window // 2, n_global)


@exercise.mistake("nothing is causal here: a window reaches forward, too.")
def causal(T, window, n_global):
    later = window_mask(T, window)[n_global:].triu(n_global + 1)
    return count_pairs(T, window, n_global) - int(later.sum())


@exercise.mistake("near the ends of the sequence, a window has fewer positions.")
def no_ends(T, window, n_global):
    beyond = sum(max(0, min(n_global, t - window)) for t in range(n_global, T))
    return n_global * T + (T - n_global) * (2 * window + 1) + beyond


@exercise.mistake("within its window, a position also sees itself.")
def not_itself(T, window, n_global):
    return count_pairs(T, window, n_global) - (T - n_global)


@exercise.mistake("t seeing s and s seeing t are two pairs, each with a score of its own.")
def unordered_pairs(T, window, n_global):
    return (count_pairs(T, window, n_global) + T) // 2


@exercise.mistake(
    "your formula is correct for windows that fit: a wider one sees everything, and no more."
)
def window_beyond_the_sequence(T, window, n_global):
    if window < T:
        return count_pairs(T, window, n_global)
    return T * (2 * window + 1) - window * (window + 1)


@exercise.mistake("those are all pairs: the pattern leaves most of them out.")
def all_pairs(T, window, n_global):
    return T**2


@exercise.mistake("your window is one short: `window` positions on either side, and t itself.")
def one_short(T, window, n_global):
    return count_pairs(T, window - 1, n_global)


@exercise.mistake("you leave out the window's last position: a `range` stops before its end.")
def last_left_out(T, window, n_global):
    reached = sum(t + window < T for t in range(n_global, T))
    return count_pairs(T, window, n_global) - reached


@exercise.mistake("one position too many is global: they are 0 to `n_global` - 1.")
def one_more_global(T, window, n_global):
    return count_pairs(T, window, n_global + 1)


@exercise.mistake("you leave out the global positions: they add whole rows and columns.")
def window_alone(T, window, n_global):
    return count_pairs(T, window, 0)


@exercise.mistake("you count twice where the rows and columns of global positions cross.")
def corners_twice(T, window, n_global):
    return count_pairs(T, window, n_global) + n_global**2
