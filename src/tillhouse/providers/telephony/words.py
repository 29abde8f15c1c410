"""The words of a text that were heard when only a part of it was said."""

import re

_WORD = re.compile(r"\S+")
_ALL = 0.999


def words_until(text: str, part: float) -> str:
    """The whole words of a text of which this part, from 0 to 1, was said."""
    if part >= _ALL:
        return text
    heard = len(text) * part
    ends = [word.end() for word in _WORD.finditer(text) if word.end() <= heard]
    return text[: ends[-1]] if ends else ""
