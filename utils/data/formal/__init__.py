"""Formal languages: words made by a rule, with the correct answer after each of their symbols.

Read `language` first, then `running`, whose answers are about what has been read, and `nested`,
whose answers are the sets of symbols that may follow.
"""

from utils.data.formal.language import IGNORE_INDEX, Language, Words
from utils.data.formal.nested import Blocks, Dyck
from utils.data.formal.running import Addition, First, Majority, Modulo, Swaps

LANGUAGES: dict[str, Language] = {  # by the name that tables use
    "first": First(),
    "majority": Majority(),
    "parity": Modulo(2),
    "modulo 5": Modulo(5),
    "addition": Addition(),
    "anbn": Blocks("ab"),
    "anbncn": Blocks("abc"),
    "Dyck-1": Dyck(1, deepest=4),
    "Dyck-2": Dyck(2, deepest=4),
    "swaps": Swaps(5),
}

__all__ = [
    "IGNORE_INDEX",
    "LANGUAGES",
    "Addition",
    "Blocks",
    "Dyck",
    "First",
    "Language",
    "Majority",
    "Modulo",
    "Swaps",
    "Words",
]
