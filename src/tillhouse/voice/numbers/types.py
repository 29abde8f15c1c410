"""Requests and answers of the routes of voice numbers."""

from typing import Annotated, Literal, cast
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import StoreId
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.values import Name
from tillhouse.providers.telephony.provider import ProviderName
from tillhouse.stores.types import OpeningTime

VoiceNumberStatus = Literal["active", "paused"]
Simultaneous = Annotated[int, Meta(ge=1, le=500)]
Prefix = Annotated[str, Meta(pattern=r"^\+[1-9][0-9]{0,14}$")]
Prefixes = Annotated[list[Prefix], Meta(max_length=20)]
PerSecond = Annotated[int, Meta(ge=1, le=100)]
SettingName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,39}$")]
SettingValue = Annotated[str, Meta(max_length=1000)]
ProviderSettings = Annotated[dict[SettingName, SettingValue], Meta(max_length=20)]


class CallingHours(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}
):
    """The hours in which people are called, in their own time zone."""

    from_: OpeningTime = cast("OpeningTime", "08:00")
    """The first time of the day at which a call may be dialled."""
    until: OpeningTime = cast("OpeningTime", "21:00")
    """The time of the day from which on none is dialled; later than `from`."""


class NewVoiceNumber(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A number to call from: the simulator's in test, a provider's in live."""

    phone_number: PhoneText
    """The number that people see."""
    label: Name
    """Your own name of the number."""
    provider: ProviderName = "simulator"
    """`simulator` in test; in live one of the others."""
    settings: ProviderSettings = {}
    """Settings of the provider, such as the trunk's user and password; sealed, and shown
    by no answer."""
    is_default: bool = False
    """Whether it is the one to take where nothing else is said; it is listed first."""
    default_agent_id: UUID | None = None
    """The agent to take with it where nothing else is said."""
    store_id: StoreId | None = None
    """The store that the number belongs to."""
    max_concurrent_calls: Simultaneous = 1
    """How many calls there may be at once."""
    calls_per_second: PerSecond = 1
    """How many calls may be dialled in a second."""
    calling_hours: CallingHours | None = CallingHours()
    """When people may be called, by their own time; null: at any time."""
    allowed_prefixes: Prefixes = []
    """Beginnings of premium and satellite numbers, such as `+8816`, that may be called from it;
    else such calls are refused."""


class VoiceNumberPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a number; absent fields stay."""

    label: Name | UnsetType = UNSET
    """Your own name of the number."""
    status: VoiceNumberStatus | UnsetType = UNSET
    """`paused`: nothing is dialled from it, and calls wait."""
    settings: ProviderSettings | UnsetType = UNSET
    """All settings of the provider; sealed, and shown by no answer."""
    is_default: bool | UnsetType = UNSET
    """Whether it is the one to take where nothing else is said; it is listed first."""
    default_agent_id: UUID | UnsetType | None = UNSET
    """The agent to take with it where nothing else is said."""
    store_id: StoreId | UnsetType | None = UNSET
    """The store that the number belongs to."""
    max_concurrent_calls: Simultaneous | UnsetType = UNSET
    """How many calls there may be at once."""
    calls_per_second: PerSecond | UnsetType = UNSET
    """How many calls may be dialled in a second."""
    calling_hours: CallingHours | UnsetType | None = UNSET
    """When people may be called, by their own time; null: at any time."""
    allowed_prefixes: Prefixes | UnsetType = UNSET
    """Beginnings of premium and satellite numbers, such as `+8816`, that may be called from it;
    else such calls are refused."""


class VoiceCapabilities(msgspec.Struct, frozen=True):
    """The abilities of a number."""

    outbound: bool = True
    """Whether calls can be placed from it."""
    inbound: bool = False
    """Whether calls to it are answered."""


class VoiceNumber(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A number that calls come from."""

    id: UUID
    phone_number: Annotated[str, Meta(examples=["+15550110000"])]
    label: Annotated[str, Meta(examples=["Sandbox"])]
    """The business's own name of the number."""
    provider: ProviderName
    """How its calls reach a telephone."""
    country: Annotated[str, Meta(examples=["US"])] | None
    """The country of the number; null: of several, or of none."""
    capabilities: VoiceCapabilities
    """The abilities of the number."""
    status: VoiceNumberStatus
    is_default: bool
    """Whether it is the one to take where nothing else is said; it is listed first."""
    default_agent_id: UUID | None
    """The agent to take with it where nothing else is said."""
    store_id: StoreId | None
    max_concurrent_calls: int
    """How many calls there may be at once."""
    active_calls: int
    """How many there are now."""
    calls_per_second: int
    """How many calls may be dialled in a second."""
    calling_hours: CallingHours | None
    """When people are called, by their own time; null: at any time."""
    allowed_prefixes: list[str]
    """Beginnings of premium and satellite numbers, such as `+8816`, that may be called from it;
    else such calls are refused."""
    environment: Literal["test", "live"]
    created_at: Timestamp
    updated_at: Timestamp
