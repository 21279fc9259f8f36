"""How many GiB does the cache of a large language model need for one sequence?"""

from utils.exercises.checking import Prediction


def gib(n_layers: int = 80, n_kv_heads: int = 8, size: int = 2, kinds: int = 2) -> float:
    """Return the GiB of a cache for 4096 positions, whose heads are 128 wide.

    size: bytes of a number; kinds: keys and values.
    """
    return kinds * n_layers * n_kv_heads * 128 * 4096 * size / 2**30


exercise = Prediction(gib, tolerance=0.01)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is for the keys alone, or for the values: the cache holds both.")
def one_of_two():
    return gib(kinds=1)


@exercise.mistake(
    "that is with keys for each of the 64 heads of queries: here, eight of them share one."
)
def all_heads():
    return gib(n_kv_heads=64)


@exercise.mistake("that is with a single head of keys, as in multi-query attention.")
def one_head():
    return gib(n_kv_heads=1)


@exercise.mistake("a number in half precision has two bytes.")
def single_precision():
    return gib(size=4)


@exercise.mistake("that is one layer's cache: each layer has keys and values of its own.")
def one_layer():
    return gib(n_layers=1)


@exercise.mistake("that is in units of 10⁹ bytes: a GiB is 2³⁰.")
def decimal():
    return gib() * 2**30 / 10**9


@exercise.mistake("a query is needed once, when it comes: the cache holds keys and values only.")
def queries_too():
    return gib() / 2 + gib(n_kv_heads=64) / 2 + gib() / 2


@exercise.mistake("that is in MiB: a GiB has 1024 of them.")
def mebibytes():
    return 1024 * gib()


@exercise.mistake("that is in bytes: a GiB has 2³⁰ of them.")
def in_bytes():
    return gib() * 2**30
