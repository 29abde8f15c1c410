"""Passwords: how two spellings of one become the same, and which are too easy to guess."""

import gzip
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import pairwise

LENGTH_MIN = 10
LENGTH_MAX = 256
_DIFFERENT_MIN = 4

# Digits and signs, which people put around a word that a guesser knows.
_AROUND = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_APART = re.compile(r"[\W_]+")

TOO_SIMPLE = "is among the first that anybody guesses: choose another, such as four random words"
TOO_NEAR = "must not be your own address or name: choose another, such as four random words"


@cache
def common() -> frozenset[str]:
    """The commonest passwords, read once."""
    packed = files("tillhouse.kit.passwords").joinpath("common.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().split())


def normal(password: str) -> str:
    """Give the one spelling of a password (NFC); its length is bounded before."""
    return unicodedata.normalize("NFC", password)


def fault(password: str) -> str | None:
    """Tell why a password is too easy to guess, or None."""
    if len(password) < LENGTH_MIN:
        return f"must have at least {LENGTH_MIN} characters"
    folded = password.casefold()
    if {folded, _AROUND.sub("", folded), _APART.sub("", folded)} & common() or _is_pattern(folded):
        return TOO_SIMPLE
    return None


def own_fault(password: str, own: Iterable[str]) -> str | None:
    """Tell why a person with these addresses and names should not choose it, or None."""
    given = _bare(password)
    words = {_bare(word) for text in own for word in (text, text.partition("@")[0])}
    return TOO_NEAR if given in words else None


def _bare(text: str) -> str:
    """Letters alone; a text without any stands for itself."""
    folded = normal(text).casefold()
    return re.sub(r"[\W\d_]+", "", folded) or folded


def _is_pattern(folded: str) -> bool:
    """A few characters over and over, or a row such as 1234567890."""
    if len(set(folded)) < _DIFFERENT_MIN:
        return True
    steps = {ord(after) - ord(before) for before, after in pairwise(folded)}
    return len(steps) == 1
