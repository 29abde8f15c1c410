"""The forms of texts that are right by construction; the rooms declare theirs by bounds.

Each class says with `from_wire` what it accepts and with `SCHEMA` what the documentation tells.
A ValueError's text completes the sentence "<field> …".
"""

import re
from typing import Any, ClassVar, Self

from tillhouse.kit import text

Schema = dict[str, Any]

# The most characters of which NFC makes one.
_COMPOSED_MAX = 4
_LINE_BREAK = re.compile(r"[\t\n\r]")
# Embeddings, overrides and isolates let a name, and the text beside it, show what it doesn't say.
# Joiners, which some scripts need, and the marks of one direction (LRM, RLM) are no such.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Value(str):
    """A text of one kind, checked when it came in."""

    __slots__ = ()
    SCHEMA: ClassVar[Schema] = {}

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Take a decoded JSON value, or raise ValueError."""
        if not isinstance(value, str):
            raise ValueError("must be a string")  # noqa: TRY004 - one error for all
        return cls(cls.check(value))

    @classmethod
    def check(cls, value: str) -> str:
        """Return the text as it is to be kept, or raise ValueError."""
        raise NotImplementedError


class Trimmed(Value):
    """A text without blanks at its ends, composed (NFC), within bounds."""

    shortest: ClassVar[int]
    longest: ClassVar[int]

    @classmethod
    def trim(cls, value: str) -> str:
        """Strip and compose; a text that stays too long however it is composed is left as it is."""
        stripped = value.strip()
        return stripped if len(stripped) > _COMPOSED_MAX * cls.longest else text.clean(stripped)

    @classmethod
    def bound(cls, value: str) -> None:
        """Raise ValueError for a text that is too short or too long."""
        if not cls.shortest <= len(value) <= cls.longest:
            bounds = f"{cls.shortest} to" if cls.shortest else "at most"
            raise ValueError(f"must have {bounds} {cls.longest} characters")

    @classmethod
    def refuse_turning(cls, value: str) -> None:
        """Raise ValueError for a text that turns the direction of writing."""
        if not value.isascii() and _TURNING.search(value):
            raise ValueError("must not hold signs that turn the direction of writing (U+202A…)")


def _schema(shortest: int, longest: int, pattern: str, description: str, example: str) -> Schema:
    told = {
        "minLength": shortest,
        "maxLength": longest,
        "pattern": pattern,
        "description": description,
    }
    return {key: value for key, value in told.items() if value} | {"examples": [example]}


class Paragraphs(Trimmed):
    """A text of one or more lines.

    `class Description(Paragraphs, longest=5_000, example="Smoky, with fried plantain.")`
    """

    def __init_subclass__(
        cls, *, longest: int, shortest: int = 0, example: str, description: str = ""
    ) -> None:
        super().__init_subclass__()
        cls.shortest, cls.longest = shortest, longest
        pattern = r"\S" if shortest else ""
        cls.SCHEMA = _schema(shortest, longest, pattern, description, example)

    @classmethod
    def check(cls, value: str) -> str:
        """Trim, and count the rest."""
        cleaned = cls.trim(value)
        cls.bound(cleaned)
        return cleaned


class OneLine(Trimmed):
    """A text on one line: `class Unit(OneLine, longest=20, example="plate")`.

    `counts_blanks`: it is counted as it came, with the blanks at its ends. `is_spelt`: it is kept
    in the one spelling in which names are looked for.
    """

    counts_blanks: ClassVar[bool]
    is_spelt: ClassVar[bool]

    def __init_subclass__(
        cls,
        *,
        longest: int,
        shortest: int = 1,
        example: str,
        description: str = "",
        counts_blanks: bool = False,
        is_spelt: bool = False,
    ) -> None:
        super().__init_subclass__()
        more = r"[^\t\n\r]*\S" if shortest > 1 else r"(?:[^\t\n\r]*\S)?"
        pattern = rf"^\s*\S{more}\s*$"
        cls.shortest, cls.longest = shortest, longest
        cls.SCHEMA = _schema(shortest, longest, pattern, description, example)
        cls.counts_blanks = counts_blanks
        cls.is_spelt = is_spelt

    @classmethod
    def check(cls, value: str) -> str:
        """Trim, count, and refuse line breaks and tabs."""
        cleaned = cls.trim(value)
        cls.bound(value if cls.counts_blanks and cleaned else cleaned)
        cls.refuse_breaks(cleaned)
        cls.refuse_turning(cleaned)
        return text.spelling(cleaned) if cls.is_spelt else cleaned

    @classmethod
    def refuse_breaks(cls, value: str) -> None:
        """Raise ValueError for a text on several lines."""
        if _LINE_BREAK.search(value):
            raise ValueError("must be on one line")


class Coded(Value):
    """A text of one pattern, which `wrong` says in words."""

    wrong: ClassVar[str]
    longest: ClassVar[int | None]

    def __init_subclass__(
        cls, *, pattern: str, wrong: str, example: str, longest: int | None = None
    ) -> None:
        super().__init_subclass__()
        cls.wrong = wrong
        cls.longest = longest
        bound = {} if longest is None else {"maxLength": longest}
        cls.SCHEMA = {**bound, "pattern": pattern, "examples": [example]}

    @classmethod
    def check(cls, value: str) -> str:
        """Of the pattern, and not longer than it may be."""
        is_long = cls.longest is not None and len(value) > cls.longest
        if is_long or re.fullmatch(cls.SCHEMA["pattern"], value) is None:
            raise ValueError(cls.wrong)
        return value
