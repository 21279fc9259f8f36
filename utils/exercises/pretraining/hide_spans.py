"""T5's spans: what the encoder reads, and what the decoder is to write."""

from collections.abc import Callable, Sequence

from utils.exercises.checking import Exercise

Pair = tuple[list[int], list[int]]


def hide_spans(
    ids: Sequence[int], spans: Sequence[tuple[int, int]], sentinels: Sequence[int]
) -> Pair:
    """Return the source and the target, two lists.

    Span (start, end) is ids[start:end]; spans are in order and don't overlap. In the source, the
    first sentinel stands for the first span, the second for the second, and so on. The target has
    each sentinel and behind it the words for which it stands; the next sentinel ends it.
    """
    source, target, kept_from = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        source += [*ids[kept_from:start], sentinel]
        target += [sentinel, *ids[start:end]]
        kept_from = end
    return [*source, *ids[kept_from:]], [*target, sentinels[len(spans)]]


exercise = Exercise(hide_spans, gradient=False)


# What it is tried on ------------------------------------------------------------------------------

DOWN = [*range(99, 69, -1)]  # as T5 numbers them
ANY = [71, 88, 70, 93, 84, 79, 97]
TEXT = [*range(10, 29)]


@exercise.stage("one span of two words")
def one_span():
    return [(TEXT[:7], [(2, 4)], ANY)]


@exercise.stage("several spans of different lengths")
def several_spans():
    return [(TEXT[:12], [(1, 2), (4, 7), (9, 11)], ANY), (TEXT, [(3, 7), (9, 10)], DOWN)]


@exercise.stage("spans at both ends")
def at_both_ends():
    return [(TEXT[:9], [(0, 3), (7, 9)], DOWN), (TEXT[:6], [(0, 1), (2, 3), (4, 6)], ANY)]


@exercise.stage("two spans side by side")
def side_by_side():
    return [(TEXT[:11], [(2, 5), (5, 6), (9, 11)], ANY)]


@exercise.stage("words that occur twice")
def twice():
    return [([12, 13, 12, 13, 12, 13, 14, 12], [(1, 3), (5, 6)], ANY)]


@exercise.stage("nothing hidden")
def nothing_hidden():
    return [(TEXT[:4], [], DOWN)]


# What goes wrong ----------------------------------------------------------------------------------


def target_of(
    ids: Sequence[int],
    spans: Sequence[tuple[int, int]],
    sentinels: Sequence[int],
    of_span: Callable[[int, list[int]], list[int]] = lambda sentinel, words: [sentinel, *words],
) -> list[int]:
    """The sentinels and words of all spans, without an end."""
    parts = zip(spans, sentinels, strict=False)
    return [symbol for (a, b), mark in parts for symbol in of_span(mark, ids[a:b])]


@exercise.mistake("your sentinels run from the last to the first: the first span has the first.")
def backwards(ids, spans, sentinels):
    n = len(spans)
    return hide_spans(ids, spans, [*sentinels[:n][::-1], sentinels[n]])


@exercise.mistake("all spans have the same sentinel: how would one know which words go where?")
def one_for_all(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, [sentinels[0]] * len(spans) + [sentinels[1]])
    return source, target


@exercise.mistake(
    "a sentinel is there for each word: then the source tells how long a span is, and its length "
    "is part of what is asked."
)
def one_a_word(ids, spans, sentinels):
    source = list(ids)
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        source[start:end] = [sentinel] * (end - start)
    return source, hide_spans(ids, spans, sentinels)[1]


@exercise.mistake("nothing ends the target: when is the decoder done?")
def no_end(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return source, target[:-1]


@exercise.mistake(
    "you end with EOS, as the published code does: here the next sentinel is the end."
)
def ends_with_eos(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return source, [*target[:-1], 1]


@exercise.mistake("the target ends with a sentinel that it had before; the next one is its end.")
def end_had_before(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return source, [*target[:-1], sentinels[max(len(spans) - 1, 0)]]


@exercise.mistake("the target ends with the last of all sentinels; the next one is its end.")
def end_of_all(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return source, [*target[:-1], sentinels[-1]]


@exercise.mistake("the target has no sentinels between its words: where does each span begin?")
def words_alone(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    words = target_of(ids, spans, sentinels, lambda sentinel, words: words)
    return source, [*words, target[-1]]


@exercise.mistake("in the target each sentinel stands behind its words; it stands before them.")
def behind_its_words(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    words = target_of(ids, spans, sentinels, lambda sentinel, words: [*words, sentinel])
    return source, [*words, target[-1]]


@exercise.mistake(
    "your target is the whole text: so BART asks. T5 asks for what is hidden, and nothing else."
)
def whole_text(ids, spans, sentinels):
    return hide_spans(ids, spans, sentinels)[0], list(ids)


@exercise.mistake("the words are still in the source, beside their sentinels.")
def not_hidden(ids, spans, sentinels):
    beside = [(start, start) for start, _ in spans]
    return hide_spans(ids, beside, sentinels)[0], hide_spans(ids, spans, sentinels)[1]


@exercise.mistake(
    "each span that you replace makes the source shorter, and the next one's places are those of "
    "the text."
)
def places_moved(ids, spans, sentinels):
    source = list(ids)
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        source[start:end] = [sentinel]
    return source, hide_spans(ids, spans, sentinels)[1]


@exercise.mistake("you hide one word too many: a span ends before ids[end].")
def one_too_many(ids, spans, sentinels):
    return hide_spans(ids, [(start, end + 1) for start, end in spans], sentinels)


@exercise.mistake("a span is its start and its end, and you take the second for its length.")
def end_as_length(ids, spans, sentinels):
    return hide_spans(ids, [(start, start + end) for start, end in spans], sentinels)


@exercise.mistake("source and target are the wrong way round.")
def wrong_way_round(ids, spans, sentinels):
    return hide_spans(ids, spans, sentinels)[::-1]


@exercise.mistake("you lose the words after the last span: they stay in the source.")
def rest_lost(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return source[: len(source) - (len(ids) - spans[-1][1] if spans else len(ids))], target


@exercise.mistake(
    "nothing in the source shows where words are missing: each span leaves its sentinel there."
)
def nothing_in_their_place(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return [word for word in source if word not in sentinels], target


@exercise.mistake(
    "the sentinel that ends the target is not in the source: nothing is hidden there."
)
def end_in_the_source(ids, spans, sentinels):
    source, target = hide_spans(ids, spans, sentinels)
    return [*source, target[-1]], target


@exercise.mistake("you hide one word too few: ids[end - 1] is the last of a span.")
def one_too_few(ids, spans, sentinels):
    return hide_spans(ids, [(start, end - 1) for start, end in spans], sentinels)
