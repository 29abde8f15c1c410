"""Marks: they fit their own words and key, and nothing else."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.secrets import is_signed, sign

KEY = b"k" * 32
words = st.lists(st.text(max_size=20), max_size=4)


@given(one=words, other=words)
def test_a_signature_fits_its_own_words_only(one: list[str], other: list[str]) -> None:
    """Also where two lists read the same when put together."""
    assert is_signed(KEY, sign(KEY, *one), *one)
    assert is_signed(KEY, sign(KEY, *one), *other) == (one == other)


@given(given_=st.text(max_size=60))
def test_no_text_is_a_signature_by_chance(given_: str) -> None:
    """Any text is judged, also one with letters that no signature has."""
    assert not is_signed(KEY, given_, "id", "1")


def test_a_signature_is_of_its_key() -> None:
    """Another purpose, another signature."""
    assert not is_signed(b"l" * 32, sign(KEY, "id"), "id")


def test_a_signature_fits_into_an_address() -> None:
    """256 bits in letters that need no escaping."""
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", sign(KEY, "id", "1"))
