"""Requests and answers of the routes of voice agents."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, cast, get_args
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import StoreId
from tillhouse.kit.page import Paged
from tillhouse.kit.text import Coded, OneLine, Paragraphs, Schema, Value
from tillhouse.kit.values import Name
from tillhouse.outgoing.rules import URL_LENGTH_MAX
from tillhouse.voice.agents.model_url import clean_model_url

AgentStatus = Literal["active", "inactive"]
Script = Literal["payment_reminder", "order_confirmation", "reservation_confirmation", "feedback"]
ToolName = Literal[
    "find_order",
    "send_payment_link",
    "confirm_order",
    "find_reservation",
    "confirm_reservation",
    "cancel_reservation",
    "note_service_request",
    "record_opt_out",
]
VoicemailAction = Literal["hang_up", "leave_message"]
Runtime = Literal["scripted", "chat"]

# The tools of an agent that names none.
TOOLS_OF: Mapping[Script, tuple[ToolName, ...]] = {
    "payment_reminder": ("find_order", "send_payment_link", "record_opt_out"),
    "order_confirmation": ("find_order", "confirm_order", "record_opt_out"),
    "reservation_confirmation": (
        "find_reservation",
        "confirm_reservation",
        "cancel_reservation",
        "note_service_request",
        "record_opt_out",
    ),
    "feedback": ("record_opt_out",),
}
Tools = Annotated[list[ToolName], Meta(max_length=len(get_args(ToolName)))]
Seconds = Annotated[int, Meta(ge=30, le=7200)]
RingSeconds = Annotated[int, Meta(ge=5, le=120)]
SilenceSeconds = Annotated[int, Meta(ge=2, le=60)]
Attempts = Annotated[int, Meta(ge=1, le=10)]
RetrySeconds = Annotated[int, Meta(ge=30, le=86_400)]


class Language(
    Coded,
    pattern="^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$",
    wrong="must be a language such as en, en-NG, es-419 or zh-Hant-TW",
    example="en-NG",
):
    """A language, perhaps in a script, perhaps as a region speaks it: a subset of BCP 47."""


class Tone(OneLine, longest=40, example="friendly"):
    """How the agent sounds, in a word or two."""


class AgentSentence(
    Paragraphs, shortest=1, longest=500, example="This call is automated and recorded."
):
    """A sentence or two that is said."""


class Instructions(Paragraphs, longest=10_000, example="Be brief. Offer to call again later."):
    """Words that tell an agent what to do."""


class AgentDescription(Paragraphs, longest=1_000, example="Confirms orders for tomorrow."):
    """Words for people."""


class ModelUrl(Value):
    """The address of a server that speaks OpenAI's Chat Completions, up to its version."""

    SCHEMA: ClassVar[Schema] = {
        "format": "uri",
        "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://",
        "maxLength": URL_LENGTH_MAX,
        "examples": ["https://api.openai.com/v1"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Of the right form; where it leads is judged with the settings at hand."""
        return clean_model_url(value)


class ModelName(OneLine, longest=100, example="gpt-4.1-mini"):
    """The name of a model, as its server knows it."""


class ModelKey(
    Coded,
    pattern="^[!-~]{1,500}$",
    wrong="must have 1 to 500 ASCII characters, and no blanks",
    example="sk-live-4f9a",
    longest=500,
):
    """A key that a server of models wants."""


class NewAgent(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An agent that is to call people."""

    name: Name
    description: AgentDescription | None = None
    """Its use, in words for people."""
    status: AgentStatus = "active"
    """Only an `active` agent calls."""
    store_id: StoreId | None = None
    """The store that it speaks for."""
    language: Language = cast("Language", "en")
    """The language that it speaks and hears, for engines that know several; scripts are English."""
    tone: Tone = cast("Tone", "friendly")
    """How it sounds, in a word or two."""
    is_default: bool = False
    """Whether it is the one to take where nothing else is said; it must be active."""
    greeting: AgentSentence | None = None
    """Said after the disclosure, in the place of the script's own greeting."""
    instructions: Instructions | None = None
    """How it is to behave, for runtimes that understand that; scripts don't."""
    runtime: Runtime = "scripted"
    """`scripted`: it follows its script word by word. `chat`: a language model leads the
    conversation towards the script's aim, with the same tools."""
    model_url: ModelUrl | None = None
    """With `chat`: the address of a server that speaks OpenAI's Chat Completions."""
    model_name: ModelName | None = None
    """With `chat`: the model that it is asked for."""
    model_key: ModelKey | None = None
    """The key that the server wants; sealed, and shown by no answer."""
    script: Script = "order_confirmation"
    """The conversation that it leads."""
    tools: Tools | None = None
    """Everything that it may do in your business; a script goes on without the other tools. Left
    out: the tools of its script."""
    disclosure: AgentSentence = cast(
        "AgentSentence", "This is an automated call, and it is recorded."
    )
    """Said first in every call."""
    recording_enabled: bool = True
    """Whether its calls are recorded."""
    voicemail_action: VoicemailAction = "hang_up"
    """Its action when a machine answers."""
    max_duration_seconds: Seconds = 600
    """After so long a call is ended."""
    ring_timeout_seconds: RingSeconds = 30
    """So long a telephone rings."""
    silence_timeout_seconds: SilenceSeconds = 10
    """So long it waits for each answer."""
    max_attempts: Attempts = 1
    """How often somebody is called who isn't reached."""
    retry_delay_seconds: RetrySeconds = 300
    """How long after one attempt the next one comes."""


class AgentPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of an agent; absent fields stay, null clears."""

    name: Name | UnsetType = UNSET
    description: AgentDescription | UnsetType | None = UNSET
    """Its use, in words for people."""
    status: AgentStatus | UnsetType = UNSET
    """Only an `active` agent calls."""
    store_id: StoreId | UnsetType | None = UNSET
    """The store that it speaks for."""
    language: Language | UnsetType = UNSET
    """The language that it speaks and hears, for engines that know several; scripts are English."""
    tone: Tone | UnsetType = UNSET
    """How it sounds, in a word or two."""
    is_default: bool | UnsetType = UNSET
    """Whether it is the one to take where nothing else is said; it must be active."""
    greeting: AgentSentence | UnsetType | None = UNSET
    """Said after the disclosure, in the place of the script's own greeting."""
    instructions: Instructions | UnsetType | None = UNSET
    """How it is to behave, for runtimes that understand that; scripts don't."""
    runtime: Runtime | UnsetType = UNSET
    """`scripted`: it follows its script word by word. `chat`: a language model leads the
    conversation towards the script's aim, with the same tools."""
    model_url: ModelUrl | UnsetType | None = UNSET
    """With `chat`: the address of a server that speaks OpenAI's Chat Completions. Another
    address forgets the key, unless a key comes with it."""
    model_name: ModelName | UnsetType | None = UNSET
    """With `chat`: the model that it is asked for."""
    model_key: ModelKey | UnsetType | None = UNSET
    """The key that the server wants; sealed, and shown by no answer."""
    script: Script | UnsetType = UNSET
    """The conversation that it leads."""
    tools: Tools | UnsetType = UNSET
    """Everything that it may do in your business; a script goes on without the other tools.
    Another `script` alone brings its own tools, where these were those of the script before."""
    disclosure: AgentSentence | UnsetType = UNSET
    """Said first in every call."""
    recording_enabled: bool | UnsetType = UNSET
    """Whether its calls are recorded."""
    voicemail_action: VoicemailAction | UnsetType = UNSET
    """Its action when a machine answers."""
    max_duration_seconds: Seconds | UnsetType = UNSET
    """After so long a call is ended."""
    ring_timeout_seconds: RingSeconds | UnsetType = UNSET
    """So long a telephone rings."""
    silence_timeout_seconds: SilenceSeconds | UnsetType = UNSET
    """So long it waits for each answer."""
    max_attempts: Attempts | UnsetType = UNSET
    """How often somebody is called who isn't reached."""
    retry_delay_seconds: RetrySeconds | UnsetType = UNSET
    """How long after one attempt the next one comes."""


class AgentFilter(Paged):
    """Which agents, and which page of them."""

    status: AgentStatus | None = None
    """Only agents with this status."""


class Agent(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An agent that calls people."""

    id: UUID
    name: Annotated[str, Meta(examples=["Front desk"])]
    description: str | None
    """Its use, in words for people."""
    status: AgentStatus
    store_id: StoreId | None
    language: Annotated[str, Meta(examples=["en-NG"])]
    tone: Annotated[str, Meta(examples=["friendly"])]
    is_default: bool
    """Whether it is the one to take where nothing else is said; it is listed first."""
    greeting: str | None
    """Said after the disclosure; null: the script's own greeting."""
    instructions: str | None
    """How it is to behave, for runtimes that understand that."""
    runtime: Runtime
    """The kind of program that leads its conversations."""
    model_url: str | None
    """With `chat`: the address of the server of models."""
    model_name: str | None
    """With `chat`: the model that it is asked for."""
    has_model_key: bool
    """Whether a key for that server is kept."""
    script: Script
    """The conversation that it leads."""
    tools: list[ToolName]
    """Everything that it may do in your business."""
    disclosure: str
    """Said first in every call."""
    recording_enabled: bool
    """Whether its calls are recorded."""
    voicemail_action: VoicemailAction
    """Its action when a machine answers."""
    max_duration_seconds: int
    """After so long a call is ended."""
    ring_timeout_seconds: int
    """So long a telephone rings."""
    silence_timeout_seconds: int
    """So long it waits for each answer."""
    max_attempts: int
    """How often somebody is called who isn't reached."""
    retry_delay_seconds: int
    """How long after one attempt the next one comes."""
    created_at: Timestamp
    updated_at: Timestamp
