"""Three ways to cut a text: at every character, at words, and where no merge may reach across."""

from itertools import pairwise

import regex

from utils.arguments import described

WORD = regex.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def characters(text: str) -> list[str]:
    """Cut a text into its code points: an accent that is a code point of its own stands alone."""
    check_text(text)
    return list(text)


def words(text: str, lower: bool = False) -> list[str]:
    """Cut a text into words, with their apostrophes, and single marks; what is white is left out.

    lower: whether capitals become small first, so that "The" and "the" are one word.
    """
    check_text(text)
    return WORD.findall(text.lower() if lower else text)


def pre_tokens(text: str, pattern: str = GPT2_PATTERN) -> list[str]:
    """Cut a text into the pieces that no merge reaches across; joined, they are the text again.

    GPT-2's (Radford et al., 2019, §2.2) are words, numbers and runs of marks, each with the space
    in front of it, endings such as 's and 'll, and what else is white. What a pattern doesn't match
    is a piece of its own.
    """
    check_text(text)
    ends = (place for match in regex.finditer(pattern, text) for place in match.span())
    return [text[start:end] for start, end in pairwise((0, *ends, len(text))) if start < end]


def check_text(text: object) -> None:
    """Raise a ValueError if this is no text, or none that UTF-8 can write."""
    if not isinstance(text, str):
        raise ValueError(
            f"Expected a text (str), got {described(text)}: bytes become one by .decode(), lists "
            "of words by joining."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Letter {error.start} of the text is {text[error.start]!r}, half of a letter, which "
            "UTF-8 can't write: read the file in the encoding in which it was written."
        ) from None
