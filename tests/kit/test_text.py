"""Text: uniform, printable, and an address that is one person's only."""

import contextlib
import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.text import MARKS_MAX, clean, email_address, slug, spelling, storable, unfit

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)


@given(ANY_TEXT)
def test_clean_text_stays_as_it_is(text: str) -> None:
    """Cleaning twice changes nothing more."""
    cleaned = clean(text)
    assert clean(cleaned) == cleaned == cleaned.strip()
    assert unicodedata.is_normalized("NFC", cleaned)


def test_equal_looking_text_becomes_equal() -> None:
    """One é, however it was typed."""
    assert clean(" Cafe\u0301\n") == clean("Caf\u00e9") == "Caf\u00e9"


@given(ANY_TEXT)
def test_a_forbidden_character_is_found_by_its_category(text: str) -> None:
    """Unicode's own classes are the measure."""
    bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r"]
    assert (unfit(text) is not None) == bool(bad)
    assert unfit(storable(text)) is None


def test_an_unfit_text_is_told_why() -> None:
    """So that the caller can mend it."""
    assert unfit("a\0b") == unfit("\ud800") == "holds a control character or half a surrogate"
    assert unfit("line\r\n\ttab \u200f \U0001f35a") is None
    assert unfit("a" + "\u0301" * MARKS_MAX) is None
    assert "combining marks" in str(unfit("a" + "\u0301" * (MARKS_MAX + 1)))


# Marks in the one order in which each has to be sorted past all before it.
UNSORTED = ("\u0315\u0300", "\u0f73", "\u0f75", "\u0f81", "\u0344", "\uff9e\u3099\u0323")


@pytest.mark.parametrize("marks", UNSORTED)
@pytest.mark.parametrize("work", [clean, spelling, slug])
def test_no_work_is_done_on_a_run_of_marks(work: Callable[[str], str], marks: str) -> None:
    """To sort 200,000 of them would take minutes."""
    with pytest.raises(ValueError, match="combining marks"):
        work("a" + marks * 100_000)


def test_every_character_that_decomposes_into_marks_counts_as_one() -> None:
    """In every form of normalisation that is used."""
    for mark in map(chr, range(sys.maxunicode + 1)):
        decomposed = unicodedata.normalize("NFKD", mark)
        if unicodedata.combining(decomposed[0]):
            assert unfit("a" + mark * (MARKS_MAX + 1)), ascii(mark)
        else:
            # Any other character brings few marks along, and the next one brings a letter first.
            assert sum(map(bool, map(unicodedata.combining, decomposed))) <= 3, ascii(mark)


@given(ANY_TEXT, st.integers(1, 80))
def test_a_slug_needs_no_escaping_beyond_its_script(text: str, length: int) -> None:
    """Letters, marks, digits and single hyphens between them."""
    made = slug(text, length)
    assert len(made) <= length
    assert (
        all(
            part and all(unicodedata.category(c)[0] in "LMN" for c in part)
            for part in made.split("-")
        )
        or made == ""
    )


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("  Crème Brûlée (large)! ", "creme-brulee-large"),
        ("VIP / Table 7", "vip-table-7"),
        ("हिन्दी", "हिन्दी"),
        ("!!!", ""),
    ],
)
def test_slugs_are_readable(text: str, made: str) -> None:
    """Every script keeps its words."""
    assert slug(text) == made


@given(st.emails())
def test_an_address_is_normalised_once_or_refused(text: str) -> None:
    """An accepted text is accepted unchanged again."""
    with contextlib.suppress(ValueError):
        address = email_address(text)
        assert email_address(f" {address.upper()}\n") == address == address.lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "ada@",
        "@example.com",
        "ada@localhost",
        "ada@@example.com",
        "ada@example..com",
        "ada@-example.com",
        "ada@example.1",
        ".ada@example.com",
        "a..da@example.com",
        "ada lovelace@example.com",
        "ada@example.com\nbcc: x@example.com",
        "ada@example.com,x@example.com",
        "ada\u212a@example.com",
        "a" * 65 + "@example.com",
        "a@" + "b." * 130 + "com",
        "a" * 1_000_000,
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """Two addresses, a second line, a sign that turns into another letter."""
    with pytest.raises(ValueError, match="must be an email address"):
        email_address(text)


def test_an_ordinary_address_passes() -> None:
    """Case is folded, tags stay."""
    assert email_address(" Ada.Love+till@Mail.Example.COM ") == "ada.love+till@mail.example.com"
    assert email_address("o'neil@xn--bcher-kva.example") == "o'neil@xn--bcher-kva.example"
