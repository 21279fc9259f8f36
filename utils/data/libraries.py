"""Real sentences with a question: which of five libraries says this in its documentation?

They are the plain sentences of the libraries' docstrings, as their sources have them, so they are
the same on every machine that has the lock's versions. Names are masked. Training, validation and
test differ in their modules, and no sentence is a near copy of another.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from utils.data.docstrings import is_prose, without_markup
from utils.data.sources import folder_of

LIBRARIES = ("matplotlib", "numpy", "scipy", "sklearn", "torch")
LEFT_OUT = {  # tests, other people's code, and what is not installed with every Python
    *"tests testing test _lib _vendor externals _numpy distutils f2py _pyinstaller".split(),
    *"conftest.py version.py __config__.py _distributor_init.py".split(),
}
OF_TORCH = set(  # the rest is as large as ten other libraries, and hardly anybody reads it
    "nn optim autograd distributions utils func amp sparse linalg fft special nested masked "
    "signal jit cuda __init__.py functional.py serialization.py random.py hub.py _tensor.py "
    "_torch_docs.py _tensor_docs.py".split()
)
NAME, NUMBER = "<name>", "<number>"
NAMES = set(  # of the libraries, and of what they hold, where that is no English word
    "matplotlib mpl pyplot plt pylab mathtext numpy np ndarray ndarrays ufunc ufuncs scipy ndimage "
    "linalg sklearn scikit torch pytorch autograd nn jit cuda".split()
)
SHORTEST, LONGEST = 6, 30  # words
ALIKE = 0.5  # of the pairs of neighbouring words that either of two near copies has, both have this


class Sentence(NamedTuple):
    """A sentence that a library says; label counts in LIBRARIES.

    words: in small letters, without punctuation, names and numbers masked.
    text: as its author wrote it, without markup.
    module: the file that it stands in, such as "numpy.lib._histograms_impl".
    """

    words: tuple[str, ...]
    label: int
    text: str
    module: str


class Sentences(NamedTuple):
    """No module is in two parts; each part has as many sentences of each library."""

    train: list[Sentence]
    validation: list[Sentence]
    test: list[Sentence]


@cache
def sentences() -> Sentences:
    """The sentences to learn from, to choose with, and to judge with, in random order.

    One that is a near copy of another is left out, wherever that stands. Of seven modules of a
    library, ordered by their sentences, five are for training, one for validation, one for the
    test. Of libraries that say more than another, some of their sentences are left out. The first
    n of a part are a fair sample of it.
    """
    modules: dict[tuple[int, str], list[Sentence]] = defaultdict(list)
    for sentence in without_copies(everything()):
        modules[sentence.label, sentence.module].append(sentence)
    by_part: list[dict[int, list[Sentence]]] = [defaultdict(list) for _ in Sentences._fields]
    for label in range(len(LIBRARIES)):
        own = [said for (of, _), said in modules.items() if of == label]
        own.sort(key=len, reverse=True)  # equal numbers stay in order
        for rank, said in enumerate(own):
            by_part[{3: 1, 4: 2}.get(rank % 7, 0)][label] += said
    return Sentences(*(_balanced(part) for part in by_part))


@cache
def unlabelled() -> tuple[tuple[tuple[str, ...], ...], ...]:
    """All that the libraries say where nobody is tested: modules of sentences, as their words.

    The modules of `sentences`' validation and test parts are left out, and so is what is a near
    copy of a sentence of theirs. Copies within what remains stay: such is text.
    """
    held_out = [sentence for part in sentences()[1:] for sentence in part]
    modules = {sentence.module for sentence in held_out}
    said = [sentence for sentence in everything() if sentence.module not in modules]
    kept: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for sentence, is_copy in zip(said, near_copies(said, held_out), strict=True):
        if not is_copy:
            kept[sentence.module].append(sentence.words)
    return tuple(tuple(of_module) for of_module in kept.values())


def _balanced(part: dict[int, list[Sentence]]) -> list[Sentence]:
    """As many sentences of each label, in random order."""
    chance = Random(0)
    for said in part.values():
        chance.shuffle(said)
    fewest = min(map(len, part.values()))
    mixed = [sentence for said in part.values() for sentence in said[:fewest]]
    chance.shuffle(mixed)
    return mixed


@cache
def everything() -> tuple[Sentence, ...]:
    """All plain sentences of the libraries, in the order of their sources, copies included."""
    return tuple(
        Sentence(words, label, without_markup(sentence), module)
        for label, library in enumerate(LIBRARIES)
        for module, source in _sources(library)
        for sentence in _sentences(source)
        if (words := masked(sentence)) and _is_plain(words)
    )


def _sources(library: str) -> Iterator[tuple[str, str]]:
    """The modules of a library and their sources, in the order of their names."""
    folder = folder_of(library)
    for file in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).parts):
        parts = file.relative_to(folder).parts
        if LEFT_OUT.isdisjoint(parts) and (library != "torch" or parts[0] in OF_TORCH):
            module = ".".join((library, *file.relative_to(folder).with_suffix("").parts))
            yield module, file.read_text(encoding="utf-8")


def _sentences(source: str) -> Iterator[str]:
    """The sentences of a source's docstrings, with their markup.

    A docstring is a text in three quotation marks that begins a line; some are given to functions
    written in C. Parsing would find the same, and take thirty times as long.
    """
    for quoted in re.finditer(r'(^\s*[rRuU]?)?"""(.*?)"""', source, re.DOTALL | re.MULTILINE):
        for paragraph in re.split(r"\n\s*\n", quoted[2] if quoted[1] is not None else ""):
            paragraph = paragraph.strip()
            if paragraph and is_prose(paragraph):
                yield from re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(paragraph.split()))


# What is a name, and what is plain ----------------------------------------------------------------

MARKED = re.compile(r"(:[\w:]+:)?`+[^`]*`+_*|\*+\w+\*+|\"[^\"]*\"|(?<!\w)'[^' ]*'(?!\w)|[\w.]+\(\)")
WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


def masked(sentence: str) -> tuple[str, ...]:
    """The words of a sentence in small letters, with NAME and NUMBER for names and numbers.

    A name is what is marked as one (`fit`, *x*, "mean", call()), has a capital after the
    sentence's first letter, or something in it that is no letter, or is one of NAMES. Several
    names in a row are one. Punctuation is left out.

    Returns: no words if there is a formula or other signs that no sentence has.
    """
    text = MARKED.sub(" ` ", sentence.replace("e.g.", "eg").replace("i.e.", "ie"))
    if re.search(r"[=\[\]{}<>|^~@#$%&+*:\\]", text):
        return ()
    words: list[str] = []
    for piece in re.split(r"[\s/]+|--", text):
        word = _mask(piece.strip(".,;!?()\"'"), is_first=not words)
        if word and not (word == NAME and words[-1:] == [NAME]):
            words.append(word)
    return tuple(words)


def _mask(piece: str, is_first: bool) -> str:
    """One word, in small letters or masked; nothing if there is no word."""
    if WORD.fullmatch(piece):
        small = piece.lower()
        is_name = piece[is_first:] != small[is_first:] or not NAMES.isdisjoint(small.split("-"))
        return NAME if is_name else small
    if re.match(r"[-+]?\d", piece):
        return NUMBER
    return NAME if piece == "`" or re.search(r"\w", piece) else ""


def _is_plain(words: Sequence[str]) -> bool:
    """Whether a sentence is of usual length, and at most a third of it names."""
    return SHORTEST <= len(words) <= LONGEST and 3 * words.count(NAME) <= len(words)


# Near copies --------------------------------------------------------------------------------------


def near_copies(of: Iterable[Sentence], among: Iterable[Sentence]) -> list[bool]:
    """Whether each sentence has a near copy among others: see ALIKE."""
    of, among = list(of), list(among)
    index = _Index([*of, *among])
    for sentence in among:
        index.add(sentence)
    return [index.has(sentence) for sentence in of]


def without_copies(said: Sequence[Sentence]) -> list[Sentence]:
    """Leave out each sentence that is a near copy of one before it."""
    index, kept = _Index(said), []
    for sentence in said:
        if not index.has(sentence):
            index.add(sentence)
            kept.append(sentence)
    return kept


class _Index:
    """Sentences, found by the rarest of their pairs of words.

    Two that are alike have so many pairs in common that one is among the rarest of both (Chaudhuri,
    Ganti and Kaushik, 2006, call this a prefix filter).
    """

    def __init__(self, said: Iterable[Sentence]):
        self.counts = Counter(pair for sentence in said for pair in _pairs(sentence))
        self.found: dict[tuple, list[frozenset]] = defaultdict(list)

    def add(self, sentence: Sentence) -> None:
        pairs = _pairs(sentence)
        for pair in self._rarest(pairs):
            self.found[pair].append(pairs)

    def has(self, sentence: Sentence) -> bool:
        """Whether a near copy was added."""
        pairs = _pairs(sentence)
        return any(
            len(pairs & other) >= ALIKE * len(pairs | other)
            for pair in self._rarest(pairs)
            for other in self.found[pair]
        )

    def _rarest(self, pairs: frozenset) -> list[tuple]:
        ordered = sorted(pairs, key=lambda pair: (self.counts[pair], pair))
        return ordered[: len(pairs) - math.ceil(ALIKE * len(pairs)) + 1]


def _pairs(sentence: Sentence) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words."""
    return frozenset(zip(sentence.words, sentence.words[1:], strict=False))
