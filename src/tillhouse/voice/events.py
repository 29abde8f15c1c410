"""The events of calls and agents."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import StoreId


class CallData(msgspec.Struct, rename="camel"):
    """A voice call."""

    call_id: UUID
    status: Annotated[str, Meta(examples=["completed"])]
    direction: Annotated[str, Meta(examples=["outbound"])]
    duration_seconds: int | None
    recording_url: str | None


class AgentData(msgspec.Struct, rename="camel"):
    """A voice agent."""

    id: UUID
    name: Annotated[str, Meta(examples=["Front desk"])]
    status: Annotated[str, Meta(examples=["active"])]
    store_id: StoreId | None
    language: Annotated[str, Meta(examples=["en-NG"])]
    tone: Annotated[str, Meta(examples=["friendly"])]
    is_default: bool
    updated_at: Timestamp


VOICE_CALL_STARTED = EventType("voice.call.started", "A call was answered", "Voice", CallData)
VOICE_CALL_COMPLETED = EventType("voice.call.completed", "A call ended well", "Voice", CallData)
VOICE_CALL_FAILED = EventType("voice.call.failed", "A call failed or was missed", "Voice", CallData)
VOICE_RECORDING_READY = EventType(
    "voice.recording.ready", "A recording can be fetched", "Voice", CallData
)
VOICE_AGENT_CREATED = EventType(
    "voice.agent.created", "An agent was created or duplicated", "Voice", AgentData
)
VOICE_AGENT_UPDATED = EventType("voice.agent.updated", "An agent was changed", "Voice", AgentData)
VOICE_AGENT_DELETED = EventType("voice.agent.deleted", "An agent was deleted", "Voice", AgentData)

EVENTS = (
    VOICE_CALL_STARTED,
    VOICE_CALL_COMPLETED,
    VOICE_CALL_FAILED,
    VOICE_RECORDING_READY,
    VOICE_AGENT_CREATED,
    VOICE_AGENT_UPDATED,
    VOICE_AGENT_DELETED,
)
