"""Rules of voice numbers: pure decisions."""

from collections.abc import Iterator
from uuid import UUID

import msgspec
import phonenumbers
from msgspec import UnsetType

from tillhouse.kit.errors import FieldError, Refused, unknown
from tillhouse.kit.ids import StoreId
from tillhouse.kit.partial import faults
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.secrets import Environment
from tillhouse.providers.telephony.provider import ProviderName
from tillhouse.voice.numbers.types import CallingHours, NewVoiceNumber, VoiceNumberPatch


class HasCalls(
    Refused,
    message="Calls from this number have not ended: cancel them, or wait until they are over.",
):
    """A number goes when nobody talks on it."""


class NumberFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A number as it is to be stored, but for its secrets."""

    label: str
    status: str
    is_default: bool
    default_agent_id: UUID | None
    store_id: StoreId | None
    max_concurrent_calls: int
    calls_per_second: int
    calls_from: str | None
    calls_until: str | None


class Known(msgspec.Struct, frozen=True):
    """Whether the book has the things that a number names; those that it doesn't name count."""

    has_agent: bool
    has_store: bool


def new_faults(
    new: NewVoiceNumber, environment: Environment, country: str, known: Known
) -> list[FieldError]:
    """The faults of a new number."""
    return faults(
        lambda: _provider_faults(new.provider, environment),
        lambda: phone_faults("phone_number", new.phone_number, country),
        lambda: _known_faults(known),
        lambda: _hours_faults(new.calling_hours),
    )


def patch_faults(patch: VoiceNumberPatch, known: Known) -> list[FieldError]:
    """The faults of a change."""
    return faults(
        lambda: _known_faults(known),
        lambda: _hours_faults(patch.calling_hours),
    )


def _provider_faults(provider: ProviderName, environment: Environment) -> Iterator[FieldError]:
    if (environment == "test") != (provider == "simulator"):
        wanted = "must be simulator in test" if environment == "test" else "must be a real one"
        yield FieldError("provider", f"{wanted}: nobody's telephone rings in a test environment")


def phone_faults(field: str, phone: PhoneText, country: str) -> Iterator[FieldError]:
    """The fault of a number that can't be dialled."""
    try:
        phone.e164(country)
    except ValueError as error:
        yield FieldError(field, str(error))


def _known_faults(known: Known) -> Iterator[FieldError]:
    if not known.has_agent:
        yield unknown("default_agent_id", "agent")
    if not known.has_store:
        yield unknown("store_id", "store")


def _hours_faults(hours: CallingHours | UnsetType | None) -> Iterator[FieldError]:
    if isinstance(hours, CallingHours) and hours.until <= hours.from_:
        yield FieldError("calling_hours.until", "must be later than from")


def country_of(phone_number: str) -> str | None:
    """The country of a number in E.164."""
    return phonenumbers.region_code_for_number(phonenumbers.parse(phone_number))
