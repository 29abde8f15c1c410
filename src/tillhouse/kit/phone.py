"""Phone numbers: however people write one, it is kept in E.164, so that it has one spelling."""

import re
from typing import ClassVar

import phonenumbers

from tillhouse.kit.text import Schema, Value

LENGTH_MAX = 40

# Written with letters or an extension a number can't be dialled from elsewhere as it stands.
_WRITTEN = re.compile(r"\+?[0-9(][0-9 ().\-/]{2,38}", re.ASCII)
_E164 = re.compile(r"\+[1-9][0-9]{6,14}", re.ASCII)
_MESSAGE = "must be a phone number such as +2348030000000, or one as it is dialled at home"
_POSSIBLE = phonenumbers.ValidationResult.IS_POSSIBLE


def looks_like_phone(text: str) -> bool:
    """Whether a text is written as numbers are: digits, and the separators that people use."""
    return _WRITTEN.fullmatch(text.strip()) is not None


def e164(text: str, country: str) -> str:
    """The number as E.164, national ones read as dialled in that country, or ValueError.

    Its length must fit the country's plan. Whether the range is in use is not asked: plans grow
    faster than anybody's tables of them.
    """
    written = text.strip()
    if not looks_like_phone(written):
        raise ValueError(_MESSAGE)
    found = _formatted(written, country)
    # Of zeros behind a country's code some may count as its trunk prefix: who reads the result
    # again would get another number.
    if _E164.fullmatch(found) is None or _formatted(found, "") != found:
        raise ValueError(_MESSAGE)
    return found


def _formatted(written: str, country: str) -> str:
    try:
        number = phonenumbers.parse(written, country)
    except phonenumbers.NumberParseException:
        raise ValueError(_MESSAGE) from None
    if phonenumbers.is_possible_number_with_reason(number) != _POSSIBLE:
        raise ValueError(_MESSAGE)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


class PhoneText(Value):
    """A phone number as somebody wrote it, until the country that it is dialled in is known."""

    SCHEMA: ClassVar[Schema] = {
        "description": "In international form, or as it is dialled in the business's country",
        "pattern": r"^\s*\+?[0-9(][0-9 ().\-/]{2,38}\s*$",
        "maxLength": LENGTH_MAX,
        "examples": ["+2348030000000"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Made of digits and separators."""
        if len(value) > LENGTH_MAX or not looks_like_phone(value):
            raise ValueError(_MESSAGE)
        return value.strip()

    def e164(self, country: str) -> str:
        """The one spelling that is kept, or ValueError."""
        return e164(self, country)
