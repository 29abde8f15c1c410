"""Texts that are right by construction: a request's field of such a type has passed its rule.

The few forms that most of them have are in `kit/text.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import ClassVar, Self
from zoneinfo import ZoneInfo

import msgspec

from tillhouse.kit import clock, money, network, passwords, text
from tillhouse.kit.text import Coded, OneLine, Schema, Value

# Names that all rooms declare together, such as those of scopes, by the name of their list.
Lists = Mapping[str, Sequence[str]]
NO_LISTS: Lists = {}

LABEL_LENGTH_MAX = 60

# Parts of patterns that tell in the documentation what the rules in `kit` check.
_MAILBOX = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_PORT = (
    "(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
)


NO_CURRENCY = "must be an ISO 4217 code in capitals, such as NGN"
NO_COUNTRY = "must be an ISO 3166 code in capitals, such as NG"
NO_ZONE = "must be an IANA time zone, such as Africa/Lagos"


class ListedName(Value):
    """A name on one of the lists that the rooms make together; which it is, `app` knows."""

    LIST: ClassVar[str]
    # Names that are right beside those of the list.
    MORE: ClassVar[tuple[str, ...]] = ()
    WRONG: ClassVar[str] = "is not known"

    @classmethod
    def names(cls, lists: Lists) -> list[str]:
        """Every name that is right."""
        return [*lists[cls.LIST], *cls.MORE]

    @classmethod
    def from_list(cls, value: object, lists: Lists) -> Self:
        """Take a decoded JSON value, or raise ValueError."""
        name = cls.from_wire(value)
        if name not in lists[cls.LIST] and name not in cls.MORE:
            raise ValueError(cls.WRONG)
        return name

    @classmethod
    def check(cls, value: str) -> str:
        """Any text: the list decides."""
        return value


class Name(OneLine, shortest=2, longest=120, example="Main shop"):
    """A name that people read."""


class Label(OneLine, longest=LABEL_LENGTH_MAX, counts_blanks=True, example="T12"):
    """A short name, such as a table's."""


class Search(Value):
    """A search, spelt as names are kept; a blank one in a query counts as absent."""

    LENGTH_MAX: ClassVar[int] = 120
    SCHEMA: ClassVar[Schema] = {"maxLength": 120, "examples": ["Ada"]}

    @classmethod
    def check(cls, value: str) -> str:
        """Bring it to its spelling; counted as it came, blanks too, as the description says."""
        if len(value) > cls.LENGTH_MAX:
            raise ValueError(f"must have at most {cls.LENGTH_MAX} characters")
        return text.spelling(value)


class Email(Value):
    """An e-mail address in lower case."""

    SCHEMA: ClassVar[Schema] = {
        "format": "email",
        "maxLength": 254,
        "pattern": rf"^{_MAILBOX}(?:\.{_MAILBOX})*@(?:{_LABEL}\.)+[A-Za-z]{_LABEL}$",
        "examples": ["ada@example.com"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Normalise."""
        return text.email_address(value)


class NewPassword(Value):
    """A password good enough to be set: 10 to 256 characters, and not easily guessed."""

    SCHEMA: ClassVar[Schema] = {
        "minLength": passwords.LENGTH_MIN,
        "maxLength": passwords.LENGTH_MAX,
        "examples": ["a long phrase is best"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Bounded before anything is done with it, then in its one spelling, and good enough."""
        if len(value) > passwords.LENGTH_MAX:
            raise ValueError(f"must have at most {passwords.LENGTH_MAX} characters")
        normal = passwords.normal(value)
        if fault := passwords.fault(normal):
            raise ValueError(fault)
        return normal


class GivenPassword(Value):
    """A password to be compared: of any form, but bounded."""

    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": 256,
        "examples": ["a long phrase is best"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Bound the work of hashing."""
        if not 1 <= len(value) <= passwords.LENGTH_MAX:
            raise ValueError(f"must have 1 to {passwords.LENGTH_MAX} characters")
        return value


class FactorCode(OneLine, longest=40, counts_blanks=True, example="492039"):
    """A code of a second factor: of an application, or one for the day on which it is lost."""


class CurrencyCode(Value):
    """An ISO 4217 code."""

    SCHEMA: ClassVar[Schema] = {
        "title": "CurrencyCode",
        "enum": sorted(money.EXPONENTS),
        "examples": ["NGN"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Known, in capitals."""
        if not money.is_currency(value):
            raise ValueError(NO_CURRENCY)
        return value


class CountryCode(
    Coded,
    pattern="^[A-Z]{2}$",
    wrong=NO_COUNTRY,
    example="NG",
):
    """An ISO 3166 alpha-2 code; the list of states changes faster than releases."""


class ZoneName(Value):
    """An IANA time zone."""

    SCHEMA: ClassVar[Schema] = {
        "pattern": "^[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}$",
        "maxLength": 64,
        "examples": ["Africa/Lagos"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Known to this system."""
        if not clock.is_zone(value):
            raise ValueError(NO_ZONE)
        return value


class CidrRange(Value):
    """A network, or one address."""

    SCHEMA: ClassVar[Schema] = {
        "pattern": "^[0-9A-Fa-f:.]{2,45}(?:/[0-9]{1,3})?$",
        "examples": ["203.0.113.0/24"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """In its canonical form."""
        return str(network.parse_networks([value])[0])


class OriginHost(Value):
    """A host from which browsers may call."""

    SCHEMA: ClassVar[Schema] = {
        "pattern": rf"^(?:https?://)?(?:\*\.{_HOST}\.)?{_HOST}(?:\.{_HOST})*{_PORT}/?$",
        "maxLength": 300,
        "examples": ["shop.example.com"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """In its canonical form."""
        return network.clean_origin(value)


class DateOrTimestamp(Value):
    """An ISO date or timestamp, kept as text until its time zone is known."""

    SCHEMA: ClassVar[Schema] = {
        "description": "A date, or an ISO 8601 timestamp with its time zone",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}"
        "(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2}))?$",
        "examples": ["2027-01-31"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Readable as one or the other."""
        clock.parse_date_or_timestamp(value)
        return value

    def ends_at(self, zone: str, cutoff: timedelta = timedelta()) -> datetime:
        """The instant that it stands for; a date means the end of that day in its zone."""
        moment = clock.parse_date_or_timestamp(self)
        return moment if isinstance(moment, datetime) else clock.end_of_day(moment, zone, cutoff)

    def starts_at(self, zone: str, cutoff: timedelta = timedelta()) -> datetime:
        """The instant that it stands for; a date means the start of that day in its zone."""
        moment = clock.parse_date_or_timestamp(self)
        return moment if isinstance(moment, datetime) else clock.start_of_day(moment, zone, cutoff)


class DayClock(msgspec.Struct, frozen=True):
    """A time zone, and how long after midnight its days begin."""

    zone: str
    cutoff: timedelta

    @classmethod
    def at_midnight(cls, zone: str) -> Self:
        """The clock of a zone whose days begin at midnight."""
        return cls(zone, timedelta())

    def today(self, now: datetime) -> date:
        """The day that it is there."""
        local = now.astimezone(UTC).astimezone(ZoneInfo(self.zone)).replace(tzinfo=None)
        return (local - self.cutoff).date()

    def between(
        self, since: DateOrTimestamp | None, until: DateOrTimestamp | None
    ) -> tuple[datetime | None, datetime | None]:
        """The instants that two ends stand for, both included; None where there is no end."""
        return (
            since.starts_at(self.zone, self.cutoff) if since else None,
            until.ends_at(self.zone, self.cutoff) if until else None,
        )


class Day(Value):
    """An ISO date."""

    SCHEMA: ClassVar[Schema] = {
        "format": "date",
        "examples": ["2027-01-31"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Readable as a calendar day."""
        clock.parse_date(value)
        return value

    @property
    def day(self) -> date:
        """The calendar day."""
        return clock.parse_date(self)


class Moment(Value):
    """An ISO 8601 timestamp with its time zone."""

    SCHEMA: ClassVar[Schema] = {
        "format": "date-time",
        "examples": ["2027-01-31T18:30:00Z"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Readable as an instant."""
        clock.parse_timestamp(value)
        return value

    @property
    def at(self) -> datetime:
        """The instant that it stands for."""
        return clock.parse_timestamp(self)
