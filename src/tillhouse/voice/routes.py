"""The routes of voice: /v1/voice."""

from typing import Literal

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Route, Scope
from tillhouse.kit.ids import BusinessId, KeyId
from tillhouse.voice.agents import actions as agents
from tillhouse.voice.calls import actions as calls
from tillhouse.voice.limits import actions as limits
from tillhouse.voice.numbers import actions as numbers
from tillhouse.voice.prompts import actions as prompts
from tillhouse.voice.suppression import actions as suppression


class Health(msgspec.Struct, frozen=True, rename="camel"):
    """The business and environment of the key."""

    business_id: BusinessId
    environment: Literal["test", "live"]
    key_id: KeyId


async def health(call: Call) -> Health:
    """The key of this call, which has passed its check."""
    key = call.key
    return Health(key.business_id, call.book.environment, key.key_id)


_READ = Scope("voice:read")
_WRITE = Scope("voice:agents:write")
_READ_CALLS, _CALL = Scope("voice:calls:read"), Scope("voice:calls:create")
_NUMBERS, _NUMBER = "/v1/voice/numbers", "/v1/voice/numbers/{voice_number_id}"
_AGENTS, _AGENT = "/v1/voice/agents", "/v1/voice/agents/{voice_agent_id}"
_SETTINGS = "/v1/voice/settings"
_CALLS, _ONE = "/v1/voice/calls", "/v1/voice/calls/{call_id}"
_LIST, _ENTRY = "/v1/voice/suppressions", "/v1/voice/suppressions/{suppression_id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/voice/health", health, Scope("voice:read", keys_only=True),
          "Verify the API key", "API key is valid"),
    Route("GET", _SETTINGS, limits.show, _READ,
          "Read how many calls may be placed in a day, and how many were", "Voice settings"),
    Route("PATCH", _SETTINGS, limits.change, _WRITE,
          "Change how many calls may be placed in a day", "Voice settings changed",
          faults=limits.change_faults),
    Route("GET", _NUMBERS, numbers.list_page, _READ,
          "List the numbers that calls come from, the default one first", "Voice numbers"),
    Route("POST", _NUMBERS, numbers.create, _WRITE,
          "Add a number that calls come from", "Voice number added",
          status=201, idempotent=True, faults=numbers.new_faults),
    Route("GET", _NUMBER, numbers.show, _READ, "Read one voice number", "Voice number"),
    Route("PATCH", _NUMBER, numbers.change, _WRITE,
          "Update a voice number", "Voice number updated", faults=numbers.patch_faults),
    Route("DELETE", _NUMBER, numbers.delete, _WRITE,
          "Remove a voice number that no call is using", "Voice number removed"),
    Route("GET", _AGENTS, agents.list_page, _READ,
          "List agents, the default one first", "Agents"),
    Route("POST", _AGENTS, agents.create, _WRITE,
          "Create an agent", "Agent created",
          status=201, idempotent=True, faults=agents.new_faults),
    Route("GET", _AGENT, agents.show, _READ, "Read one agent", "Agent"),
    Route("PATCH", _AGENT, agents.change, _WRITE,
          "Update an agent", "Agent updated", faults=agents.patch_faults),
    Route("POST", _AGENT + "/duplicate", agents.duplicate, _WRITE,
          "Make a copy of an agent", "Agent duplicated", status=201, idempotent=True),
    Route("GET", _AGENT + "/prompts", prompts.show, _READ,
          "Read what an agent plays at the steps of its script", "Prompts"),
    Route("PUT", _AGENT + "/prompts", prompts.change, _WRITE,
          "Set or remove what an agent plays at a step", "Prompts updated",
          faults=prompts.change_faults),
    Route("DELETE", _AGENT, agents.delete, _WRITE,
          "Delete an agent; its calls that wait fail", "Agent deleted"),
    Route("GET", _CALLS, calls.list_page, _READ_CALLS,
          "List calls, the newest first", "Calls"),
    Route("POST", _CALLS, calls.place, _CALL,
          "Queue a call to a customer", "Call queued",
          status=202, idempotent=True, replay_status=200, faults=calls.new_faults),
    Route("GET", _ONE, calls.show, _READ_CALLS, "Read one call", "Call"),
    Route("POST", _ONE + "/cancel", calls.cancel, _CALL,
          "Cancel a call that is not answered yet", "Call cancelled", idempotent=True),
    Route("POST", _ONE + "/hangup", calls.hang_up, _CALL,
          "Hang up a call, also one that was answered", "Call is ending", idempotent=True),
    Route("GET", _ONE + "/recording", calls.show_recording, _READ_CALLS,
          "Read where the recording of a call is fetched", "Recording"),
    Route("GET", _ONE + "/transcript", calls.show_transcript, _READ_CALLS,
          "Read what was said and done in a call", "Transcript"),
    Route("GET", _LIST, suppression.list_page, _READ_CALLS,
          "List the numbers that are not called, the newest first", "Suppression list"),
    Route("POST", _LIST, suppression.create, _WRITE,
          "Add a number to the suppression list", "Number suppressed",
          status=201, idempotent=True, faults=suppression.new_faults),
    Route("GET", _ENTRY, suppression.show, _READ_CALLS,
          "Read one entry of the suppression list", "Suppressed number"),
    Route("DELETE", _ENTRY, suppression.delete, _WRITE,
          "Remove a number from the suppression list", "Number no longer suppressed"),
)  # fmt: skip
