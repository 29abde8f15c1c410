"""The forms of texts: what each trims, counts and refuses, and that a bound comes before work."""

import unicodedata

import pytest

from tillhouse.kit.text import Coded, OneLine, Paragraphs


class _Line(OneLine, longest=4, example="a"):
    """A line of up to four characters."""


class _Given(OneLine, longest=4, counts_blanks=True, example="a"):
    """The same, counted as it came."""


class _Spelt(OneLine, longest=4, is_spelt=True, example="a"):
    """The same, in the spelling of names."""


class _Note(Paragraphs, longest=4, example="a"):
    """Some lines, perhaps none."""


class _Code(Coded, pattern="^[A-Z]+$", longest=2, wrong="must be A", example="A"):
    """Capitals."""


@pytest.mark.parametrize(
    ("type_", "given", "kept"),
    [
        (_Line, "  ab c\n", "ab c"),
        (_Line, "a  b", "a  b"),
        (_Given, " ab ", "ab"),
        (_Spelt, " a  b ", "a b"),
        (_Note, " a\nb ", "a\nb"),
        (_Note, "  ", ""),
        (_Line, unicodedata.normalize("NFD", "\u1f82" * 4), "\u1f82" * 4),
        (_Code, "AB", "AB"),
    ],
)
def test_a_text_is_kept_as_its_form_says(
    type_: type[OneLine | Paragraphs | Coded], given: str, kept: str
) -> None:
    """Trimmed, composed, and counted in that form but where blanks count."""
    assert type_.from_wire(given) == kept


@pytest.mark.parametrize(
    ("type_", "given", "why"),
    [
        (_Line, "abcde", "must have 1 to 4 characters"),
        (_Line, " \n ", "must have 1 to 4 characters"),
        (_Line, "a\tb", "must be on one line"),
        (_Line, "a\nbcde", "must have 1 to 4 characters"),
        (_Given, " abc ", "must have 1 to 4 characters"),
        (_Given, "    ", "must have 1 to 4 characters"),
        (_Spelt, "a   b", "must have 1 to 4 characters"),
        (_Note, "a\nbcd", "must have at most 4 characters"),
        (_Code, "AB\n", "must be A"),
        (_Code, "ABC", "must be A"),
        (_Code, "ab", "must be A"),
        (_Code, 5, "must be a string"),
    ],
)
def test_a_text_of_another_form_is_refused(
    type_: type[OneLine | Paragraphs | Coded], given: object, why: str
) -> None:
    """In the sentence that callers read."""
    with pytest.raises(ValueError, match="must") as refusal:
        type_.from_wire(given)
    assert str(refusal.value) == why


def test_what_is_too_long_in_any_case_is_not_composed() -> None:
    """The work is bounded by what the field may hold, not by what came."""
    long = "e\u0301" * 100_000
    assert _Line.trim(f" {long} ") == long
    assert _Line.trim(long[:16]) == "é" * 8


@pytest.mark.parametrize(
    "sign", [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
)
def test_a_name_turns_no_direction(sign: str) -> None:
    """An override lets a name show another one, and the text beside it, too."""
    for type_ in (_Line, _Given, _Spelt):
        with pytest.raises(ValueError, match="direction"):
            type_.from_wire(f"a{sign}b")
    assert _Note.from_wire(f"a{sign}b") == f"a{sign}b"


@pytest.mark.parametrize("joined", ["\u200d", "\u200c", "\u200e", "\u200f"])
def test_joiners_stay(joined: str) -> None:
    """Persian, Indic scripts and emoji are written with them."""
    assert _Line.from_wire(f"a{joined}b") == f"a{joined}b"
