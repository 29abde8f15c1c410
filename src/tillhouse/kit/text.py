"""Text from people: made uniform, checked for signs that no database or terminal should see.

Then the forms of texts that are right by construction; the rooms declare theirs by bounds. Each
class says with `from_wire` what it accepts and with `SCHEMA` what the documentation tells. A
ValueError's text completes the sentence "<field> …".
"""

import re
import unicodedata
from typing import Any, ClassVar, Literal, Self

EMAIL_LENGTH_MAX = 254
# Unicode's stream-safe text format (UAX 15) has no more marks in a row. To sort them takes the
# square of their number.
MARKS_MAX = 30

# Control characters except tab, line feed and carriage return; and halves of surrogate pairs,
# which no UTF-8 can hold.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

# These are no marks by themselves, and decompose into nothing else.
_MADE_OF_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"
# From a character's class of combining (0: none) to whether it combines.
_COMBINES = bytes([0]) + bytes([1]) * 255
_LONG_RUN = re.compile(rb"\x01{%d,}" % (MARKS_MAX + 1))

_FORBIDDEN_MESSAGE = "holds a control character or half a surrogate"
_MARKS_MESSAGE = f"holds more than {MARKS_MAX} combining marks in a row"

Form = Literal["NFC", "NFKD"]

_LATIN_MARKS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_EMAIL = re.compile(
    r"(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    rf"@(?:{_LABEL}\.)+(?!\d+$){_LABEL}",
    re.ASCII,
)
_EMAIL_MESSAGE = "must be an email address such as ada@example.com"


def clean(text: str) -> str:
    """Strip the ends and compose accents (NFC), so that equal-looking texts are equal."""
    # Stripping comes last: any part of a composed text is composed itself.
    return _normalised("NFC", text).strip()


def spelling(name: str) -> str:
    """Give the one spelling of a name, as it is kept and looked for: composed, single spaces."""
    return " ".join(_normalised("NFC", name).split())


def _normalised(form: Form, text: str) -> str:
    # The edge refuses such texts by name. A text from elsewhere must not cost more either.
    if has_many_marks(text):
        raise ValueError(_MARKS_MESSAGE)
    return unicodedata.normalize(form, text)


def unfit(text: str) -> str | None:
    """Say why a text can't be taken, before anything else is done with it."""
    # Nothing forbidden is printable, and that is known sooner.
    if not text.isprintable() and _FORBIDDEN.search(text) is not None:
        return _FORBIDDEN_MESSAGE
    if has_many_marks(text):
        return _MARKS_MESSAGE
    return None


def storable(text: str) -> str:
    """The text without its unfit signs, where a refusal would help no caller."""
    kept = _FORBIDDEN.sub("", text)
    parts, begin = [], 0
    for run in _LONG_RUN.finditer(_marks_of(kept)):
        parts.append(kept[begin : run.start() + MARKS_MAX])
        begin = run.end()
    return "".join([*parts, kept[begin:]])


def has_many_marks(text: str) -> bool:
    """Whether so many marks follow each other that only an attack explains them."""
    if text.isascii() or len(text) <= MARKS_MAX:
        return False
    return _LONG_RUN.search(_marks_of(text)) is not None


def _marks_of(text: str) -> bytes:
    """For each character, whether it decomposes into marks alone: 1 or 0."""
    for made in _MADE_OF_MARKS:
        text = text.replace(made, "\u0300")
    return bytes(map(unicodedata.combining, text)).translate(_COMBINES)


def slug(text: str, length_max: int = 80) -> str:
    """Make a lower-case name for a URL; letters of every script stay, Latin ones lose accents."""
    plain = _LATIN_MARKS.sub("", _normalised("NFKD", text))
    plain = unicodedata.normalize("NFKC", plain.casefold())
    # Marks count as letters: without them most Indic words would fall apart.
    kept = "".join(
        character if unicodedata.category(character)[0] in "LMN" else " " for character in plain
    )
    return "-".join(kept.split())[:length_max].strip("-")


def one_line(text: str, length_max: int = 200) -> str:
    """A text for people in one line, without control signs and endless length."""
    words = "".join(sign if sign.isprintable() else " " for sign in text).split()
    return " ".join(words)[:length_max]


def email_address(text: str) -> str:
    """Normalise an address to lower case, or raise ValueError."""
    stripped = text.strip()
    # ASCII is checked before lower-casing: the Kelvin sign would become an ordinary k.
    if len(stripped) > EMAIL_LENGTH_MAX or not stripped.isascii():
        raise ValueError(_EMAIL_MESSAGE)
    address = stripped.lower()
    if _EMAIL.fullmatch(address) is None:
        raise ValueError(_EMAIL_MESSAGE)
    return address


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
        return stripped if len(stripped) > _COMPOSED_MAX * cls.longest else clean(stripped)

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
        return spelling(cleaned) if cls.is_spelt else cleaned

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
