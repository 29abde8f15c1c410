"""Text from people: made uniform, checked for what no database or terminal should see."""

import re
import unicodedata

EMAIL_LENGTH_MAX = 254

# Control characters except tab, line feed and carriage return; and halves of surrogate pairs,
# which no UTF-8 can hold.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

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
    return unicodedata.normalize("NFC", text).strip()


def spelling(name: str) -> str:
    """Give the one spelling of a name, as it is kept and looked for: composed, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def forbidden_character(text: str) -> str | None:
    """Name the first character that no text may hold, for example `U+0000`."""
    match = _FORBIDDEN.search(text)
    return None if match is None else f"U+{ord(match[0]):04X}"


def slug(text: str, length_max: int = 80) -> str:
    """Make a lower-case name for a URL; letters of every script stay, Latin ones lose accents."""
    plain = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", text))
    plain = unicodedata.normalize("NFKC", plain.casefold())
    # Marks count as letters: without them most Indic words would fall apart.
    kept = "".join(
        character if unicodedata.category(character)[0] in "LMN" else " " for character in plain
    )
    return "-".join(kept.split())[:length_max].strip("-")


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
