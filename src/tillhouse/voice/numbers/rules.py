"""Rules of voice numbers: pure decisions."""

from collections.abc import Iterator, Mapping
from uuid import UUID

import msgspec
import phonenumbers
from msgspec import UnsetType

from tillhouse.kit.errors import FieldError, Refused, unknown
from tillhouse.kit.ids import StoreId
from tillhouse.kit.partial import faults
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.secrets import Environment
from tillhouse.providers.telephony.provider import ProviderName, WrongSettings
from tillhouse.providers.telephony.settings_rules import check_settings
from tillhouse.providers.telephony.targets import Targets
from tillhouse.stores.types import OpeningTime
from tillhouse.voice.numbers.types import CallingHours, NewVoiceNumber, VoiceNumberPatch


class HasCalls(
    Refused,
    message="Calls from this number have not ended: cancel them, or wait until they are over.",
):
    """A number is removed only when no call uses it."""


class NumberFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A number as it is to be stored, but for its secrets."""

    label: str
    status: str
    is_default: bool
    default_agent_id: UUID | None
    store_id: StoreId | None
    max_concurrent_calls: int
    calls_per_second: int
    calls_from: OpeningTime | None
    calls_until: OpeningTime | None
    allowed_prefixes: list[str]


class Known(msgspec.Struct, frozen=True):
    """Whether the book has the things that a number names; those that it doesn't name count."""

    has_agent: bool
    has_store: bool
    # Addresses that calls may go to.
    targets: Targets
    # Whether this installation takes the sound of calls by Twilio.
    has_media: bool


def new_faults(
    new: NewVoiceNumber, environment: Environment, country: str, known: Known
) -> list[FieldError]:
    """The faults of a new number."""
    return faults(
        lambda: _provider_faults(new.provider, environment, known),
        lambda: _new_settings_faults(new, environment, known.targets),
        lambda: phone_faults("phone_number", new.phone_number, country),
        lambda: _known_faults(known),
        lambda: _hours_faults(new.calling_hours),
    )


def patch_faults(patch: VoiceNumberPatch, provider: ProviderName, known: Known) -> list[FieldError]:
    """The faults of a change."""
    return faults(
        lambda: _settings_faults(provider, patch.settings, known.targets),
        lambda: _known_faults(known),
        lambda: _hours_faults(patch.calling_hours),
    )


def _fits(provider: ProviderName, environment: Environment) -> bool:
    return (environment == "test") == (provider == "simulator")


def _provider_faults(
    provider: ProviderName, environment: Environment, known: Known
) -> Iterator[FieldError]:
    if not _fits(provider, environment):
        wanted = "must be simulator in test" if environment == "test" else "must be a real one"
        yield FieldError("provider", f"{wanted}: nobody's telephone rings in a test environment")
    elif provider == "twilio" and not known.has_media:
        yield FieldError("provider", "is not set up here: its operator sets TILLHOUSE_MEDIA_URL")


def _new_settings_faults(
    new: NewVoiceNumber, environment: Environment, targets: Targets
) -> Iterator[FieldError]:
    # Another provider, which will have to be named, has other settings.
    if _fits(new.provider, environment):
        yield from _settings_faults(new.provider, new.settings, targets)


def _settings_faults(
    provider: ProviderName, settings: Mapping[str, str] | UnsetType, targets: Targets
) -> Iterator[FieldError]:
    if isinstance(settings, UnsetType):
        return
    try:
        check_settings(provider, settings, targets)
    except WrongSettings as wrong:
        yield FieldError(f"settings.{wrong.name}", wrong.why)


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
