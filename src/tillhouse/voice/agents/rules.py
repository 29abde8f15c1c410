"""Rules of voice agents: pure decisions."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET

from tillhouse.kit.errors import FieldError, unknown
from tillhouse.kit.ids import StoreId
from tillhouse.kit.network import Address, Network
from tillhouse.kit.partial import facts_of, faults, merged
from tillhouse.voice.agents.model_url import target_fault
from tillhouse.voice.agents.types import TOOLS_OF, AgentPatch, NewAgent, Script

NAME_LENGTH_MAX = 120
_COPY = " (copy)"
_NEEDED = "is needed where runtime is chat"
# They are no facts.
_APART = ("model_key",)


class AgentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as it is to be stored."""

    name: str
    description: str | None
    status: str
    store_id: StoreId | None
    language: str
    tone: str
    is_default: bool
    greeting: str | None
    instructions: str | None
    runtime: str
    model_url: str | None
    model_name: str | None
    script: Script
    tools: list[str]
    disclosure: str
    recording_enabled: bool
    voicemail_action: str
    max_duration_seconds: int
    ring_timeout_seconds: int
    silence_timeout_seconds: int
    max_attempts: int
    retry_delay_seconds: int


def new_agent(new: NewAgent) -> AgentFacts:
    """A new agent: where it names no tools, those of its script."""
    facts = facts_of(AgentFacts, new)
    if new.tools is None:
        return msgspec.structs.replace(facts, tools=[*TOOLS_OF[new.script]])
    return facts


def changed_agent(old: AgentFacts, patch: AgentPatch) -> AgentFacts:
    """An agent as a patch leaves it: its tools go with the script that they came with."""
    facts = merged(old, patch, _APART)
    if patch.tools is UNSET and set(old.tools) == set(TOOLS_OF[old.script]):
        return msgspec.structs.replace(facts, tools=[*TOOLS_OF[facts.script]])
    return facts


def agent_faults(
    asked: NewAgent | AgentPatch,
    facts: AgentFacts,
    allowed: Sequence[Network],
    *,
    has_store: bool,
    answers: Sequence[Address] | None,
) -> list[FieldError]:
    """The faults of an agent as it would be stored; `answers`: of the model that it asks for."""

    def default() -> Iterator[FieldError]:
        if facts.is_default and facts.status != "active":
            field = "is_default" if asked.is_default is True else "status"
            yield FieldError(field, "the default agent must be active: make another one default")

    def shop() -> Iterator[FieldError]:
        if not has_store:
            yield unknown("store_id", "store")

    def model() -> Iterator[FieldError]:
        if facts.model_url is not None:
            wrong = target_fault(facts.model_url, allowed, answers)
            if wrong is not None:
                yield FieldError("model_url", wrong)
        elif facts.runtime == "chat":
            yield FieldError("model_url", _NEEDED)
        if facts.runtime == "chat" and facts.model_name is None:
            yield FieldError("model_name", _NEEDED)

    return faults(default, shop, model)


def keeps_key(old: AgentFacts, facts: AgentFacts) -> bool:
    """Whether the kept key goes with a changed agent: it is never sent to another address."""
    return old.model_url == facts.model_url


def copy_of(facts: AgentFacts) -> AgentFacts:
    """A copy under a name of its own, which is the default of no number."""
    name = facts.name[: NAME_LENGTH_MAX - len(_COPY)] + _COPY
    return msgspec.structs.replace(facts, name=name, is_default=False)
