"""Requests and answers of the routes of calls."""

import re
from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.customers.types import PersonName
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.kit.page import Paged
from tillhouse.kit.phone import e164
from tillhouse.kit.text import Coded, Paragraphs, Schema, Value
from tillhouse.kit.values import DateOrTimestamp, Moment, Search
from tillhouse.providers.telephony.provider import AnsweredBy, EndedBy, ProviderName

CallStatus = Literal[
    "queued", "dialing", "ringing", "in_progress", "completed", "failed", "missed", "cancelled"
]
CallDirection = Literal["inbound", "outbound"]
QueueReason = Literal[
    "concurrency", "rate", "quiet_hours", "retry_backoff", "number_paused", "scheduled"
]
RecordingStatus = Literal["none", "recording", "ready", "deleted"]
TranscriptStatus = Literal["none", "in_progress", "ready"]
TurnRole = Literal["agent", "customer", "dtmf", "tool"]

CONTEXT_LENGTH_MAX = 4_000
ADDRESS_LENGTH_MAX = 255
_SIP = re.compile(r"sips?:[A-Za-z0-9._~%+-]{1,64}@[A-Za-z0-9.\[\]:-]{1,150}")
_SUMMARY = "Order K7M2Q4XD is confirmed: the customer agreed."
_ADDRESS_MESSAGE = "must be a number in international form such as +2348030000000"

Metadata = Annotated[
    dict[
        Annotated[str, Meta(pattern="^[A-Za-z0-9_.:-]{1,40}$")],
        Annotated[str, Meta(max_length=500)],
    ],
    Meta(max_length=20),
]


class CalledAddress(Value):
    """The telephone to call: E.164, or a `sip:` address where the number's provider dials one."""

    SCHEMA: ClassVar[Schema] = {
        "description": "In international form (E.164); on a number of provider `sip` also a "
        "`sip:` address",
        "pattern": r"^(?:\+[1-9][0-9]{6,14}|sips?:[^\s@]+@[^\s@]+)$",
        "maxLength": ADDRESS_LENGTH_MAX,
        "examples": ["+2348030000000"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """One spelling for each telephone."""
        if len(value) > ADDRESS_LENGTH_MAX:
            raise ValueError(_ADDRESS_MESSAGE)
        if _SIP.fullmatch(value):
            return value
        if not value.startswith("+") or e164(value, "") != value:
            raise ValueError(_ADDRESS_MESSAGE)
        return value

    @property
    def is_sip(self) -> bool:
        """Whether it is no number."""
        return not self.startswith("+")


class CallPurpose(Paragraphs, shortest=1, longest=500, example="Confirm tomorrow's order"):
    """The purpose of a call."""


class Context(Paragraphs, longest=CONTEXT_LENGTH_MAX, example="She ordered two cakes for 10:00."):
    """Words for the agent."""


class EndedReason(
    Coded,
    pattern="^[a-z_]{2,40}$",
    wrong="must be a reason such as customer_hangup",
    example="customer_hangup",
):
    """The reason for which a call ended."""


class NewCall(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A call that is to be made."""

    customer_phone: CalledAddress
    """The telephone to call."""
    customer_name: PersonName | None = None
    """The name of the person; left out: the customer's with this number, if there is one."""
    purpose: CallPurpose
    """The purpose of the call, in a sentence."""
    context: Context | None = None
    """Words for the agent. Nothing in them can make an agent do more than its
    tools allow."""
    business_voice_number_id: UUID
    """The number to call from, as `GET /v1/voice/numbers` lists it."""
    ai_agent_id: UUID
    """The agent that calls, as `GET /v1/voice/agents` lists it."""
    order_id: OrderId | None = None
    """The order that the call is about; left out: the customer's latest one that fits."""
    reservation_id: UUID | None = None
    """The stay that the call is about; left out: the customer's next one, or of several the one
    whose code or id is in `context`."""
    scheduled_for: Moment | None = None
    """When to call; left out: as soon as possible."""
    not_after: Moment | None = None
    """A call that was not begun by then fails; left out: a day after it was to begin."""
    max_attempts: Annotated[int, Meta(ge=1, le=10)] | None = None
    """How often the person is called who isn't reached; left out: as the agent says."""
    metadata: Metadata = {}
    """Your own words about the call, given back as they are."""


class CallFilter(Paged):
    """Which calls, and which page of them."""

    status: Annotated[list[CallStatus], Meta(min_length=1)] | None = None
    """Only calls with one of these statuses, split by commas."""
    direction: CallDirection | None = None
    """Only calls in this direction."""
    ai_agent_id: UUID | None = None
    """Only calls of this agent."""
    business_voice_number_id: UUID | None = None
    """Only calls from this number."""
    customer_phone: CalledAddress | None = None
    """Only calls to this telephone."""
    customer_id: CustomerId | None = None
    """Only calls to this customer."""
    start_date: DateOrTimestamp | None = None
    """Placed from this day or moment on; a day is the business's."""
    end_date: DateOrTimestamp | None = None
    """Placed up to this day, all of it, or up to this moment."""
    ended_reason: EndedReason | None = None
    """Only calls that ended for this reason."""
    search: Search | None = None
    """Only calls of which a word begins so: of the customer's name or of the purpose. The newest
    1,000 of them are found."""


class CalledCustomer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The person who is called."""

    id: CustomerId | None
    """The customer with this number when the call was placed; null: no known one."""
    name: Annotated[str, Meta(examples=["Bola Ahmed"])] | None
    phone_number: Annotated[str, Meta(examples=["+2348030000000"])]
    """The telephone that is called."""


class CalledFrom(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The number that a call comes from."""

    id: UUID
    phone_number: Annotated[str, Meta(examples=["+15550110000"])]


class CallingAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The agent of a call."""

    id: UUID
    name: Annotated[str, Meta(examples=["Front desk"])]


class CallAttempt(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One time that a call was dialled."""

    number: int
    """Counted from 1."""
    started_at: Timestamp
    """When it was dialled."""
    ended_at: Timestamp | None
    """When its line was over; null: not yet."""
    result: Annotated[str, Meta(examples=["busy"])] | None
    """How it ended; null: not yet."""
    sip_status: int | None
    """The status of SIP, where there is one."""
    detail: str | None
    """The words of the network about it."""


class CallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the conversation."""

    code: Annotated[str, Meta(examples=["order_confirmed"])]
    """The result in a word, as docs/voice.md lists them."""
    data: dict[str, str]
    """The answers that were heard, by the names of their questions."""


class VoiceCall(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A call of an agent to a customer."""

    id: UUID
    status: CallStatus
    """How far it is; the last four are final."""
    queue_reason: QueueReason | None
    """Why a queued call waits; null: it doesn't, or is not queued."""
    direction: CallDirection
    """Whether the business called (`outbound`) or was called."""
    customer: CalledCustomer
    """The person who is called."""
    purpose: str
    """The purpose of the call."""
    context: str | None
    """The words for the agent."""
    order_id: OrderId | None
    """The order that the call is about; null: the agent looks for it."""
    reservation_id: UUID | None
    """The stay that the call is about; null: the agent looks for it."""
    voice_number: CalledFrom
    """The number that the call comes from."""
    agent: CallingAgent
    """The agent that leads it."""
    provider: ProviderName
    """How the call reaches a telephone."""
    provider_call_id: str | None
    """The provider's own name of the call."""
    attempt: int
    """How often it was dialled."""
    max_attempts: int
    """How often it is dialled at most."""
    attempts: list[CallAttempt]
    """Each time that it was dialled."""
    scheduled_for: Timestamp | None
    """When it was to begin; null: as soon as possible."""
    not_before: Timestamp
    """It is not dialled before: it is scheduled, put off to the morning, or tried again then."""
    not_after: Timestamp
    """A call that was not begun by then fails."""
    dialed_at: Timestamp | None
    """When it was dialled last."""
    ringing_at: Timestamp | None
    """When the telephone rang."""
    answered_at: Timestamp | None
    """When it was answered."""
    ended_at: Timestamp | None
    """When it reached its final status."""
    duration_seconds: int
    """How long it lasted from the answer on; 0 when it was not answered."""
    ended_reason: Annotated[str, Meta(examples=["customer_hangup"])] | None
    """Why it ended, as docs/voice.md lists them."""
    ended_by: EndedBy | None
    """Which side ended it."""
    answered_by: AnsweredBy | None
    """A person or a machine."""
    outcome: CallOutcome | None
    """The result of the conversation; null: there was none."""
    summary: Annotated[str, Meta(examples=[_SUMMARY])] | None
    """The conversation in a sentence or two, made of what was heard and done; null: there was
    none, or nothing to tell."""
    opt_out: bool
    """Whether the person asked not to be called any more."""
    recording_status: RecordingStatus
    """`ready` once the recording can be fetched; `deleted` once its time is over."""
    recording_url: str | None
    """Where the recording is fetched within a day; null: there is none."""
    transcript_status: TranscriptStatus
    """`ready` once the transcript is whole; it can be read before."""
    metadata: dict[str, str]
    """Your own words about the call."""
    idempotency_key: str | None
    """The `Idempotency-Key` that placed it; null: it had none."""
    created_at: Timestamp
    updated_at: Timestamp


class Recording(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The recording of a call: the agent on the left, the customer on the right."""

    call_id: UUID
    url: str
    """Where it is fetched until `expiresAt`, without a key."""
    expires_at: Timestamp
    """Until when the address is good; asking again gives a new one."""
    content_type: Literal["audio/wav"]
    """Its format."""
    duration_seconds: float
    """How long it is."""
    size_bytes: int
    """How large it is."""
    ready_at: Timestamp
    """Since when it can be fetched."""


class Turn(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One step of a conversation."""

    role: TurnRole
    """`agent` and `customer` say something, `dtmf` are keys that were pressed, `tool` is what the
    agent did."""
    text: str
    """The words, the keys, or what was done."""
    start_ms: int
    """When it began, in milliseconds since the answer."""
    end_ms: int
    """When it ended, in milliseconds since the answer."""
    confidence: float | None
    """How sure the hearing was, from 0 to 1; null: nothing was heard, or it is unknown."""


class Transcript(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A conversation, in the order in which it was held."""

    call_id: UUID
    turns: list[Turn]
    """Everything that was said and done."""
