"""Voice agents: list, show, make, change, duplicate and delete, each change with its event."""

from contextlib import suppress
from uuid import UUID

from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.network import Address
from tillhouse.kit.page import Deleted, PageOf
from tillhouse.kit.partial import InvalidField, facts_of, given
from tillhouse.outgoing.guard import resolve
from tillhouse.outgoing.rules import host_of
from tillhouse.stores.store import STORES
from tillhouse.voice.agents import rules, store
from tillhouse.voice.agents.rules import AgentFacts
from tillhouse.voice.agents.secrets import copy_key, keep_key
from tillhouse.voice.agents.store import AGENTS
from tillhouse.voice.agents.types import Agent, AgentFilter, AgentPatch, NewAgent
from tillhouse.voice.events import (
    VOICE_AGENT_CREATED,
    VOICE_AGENT_DELETED,
    VOICE_AGENT_UPDATED,
    AgentData,
)
from tillhouse.voice.prompts import store as prompts
from tillhouse.voice.prompts.quota import keep_quota
from tillhouse.webhooks.emit import emit


async def list_page(call: Call, wanted: AgentFilter) -> PageOf[Agent]:
    """One page of the agents, the default one first."""
    return await AGENTS.page(call.db, call.book.id, wanted.pick(), status=wanted.status)


async def show(call: Call, voice_agent_id: UUID) -> Agent:
    """One agent."""
    return existing(await AGENTS.show(call.db, call.book.id, voice_agent_id))


async def create(call: Call, new: NewAgent) -> Agent:
    """Make an agent."""
    facts = rules.new_agent(new)
    check(await _faults(call, new, facts, await _answers(new)))
    key = await _insert(call, facts)
    if new.model_key is not None:
        await keep_key(call, key, new.model_key)
    return await _told(call, VOICE_AGENT_CREATED, "created", key.id)


async def new_faults(call: Call, new: NewAgent) -> list[FieldError]:
    """The faults of a new agent."""
    with suppress(InvalidField):
        return await _faults(call, new, rules.new_agent(new), await _answers(new))
    return []


async def lock(call: Call, voice_agent_id: UUID) -> Agent:
    """One agent, locked until the transaction ends."""
    return existing(await AGENTS.lock(call.db, call.book.id, voice_agent_id))


async def note_change(call: Call, key: BookKey) -> Agent:
    """Tell of a change of an agent's parts."""
    await store.update_time(call.db, key, call.now)
    return await _told(call, VOICE_AGENT_UPDATED, "updated", key.id)


async def change(call: Call, voice_agent_id: UUID, patch: AgentPatch) -> Agent:
    """Change the fields that the patch names."""
    # Names are looked up before anything is locked.
    answers = await _answers(patch)
    before = await lock(call, voice_agent_id)
    old = facts_of(AgentFacts, before)
    facts = rules.changed_agent(old, patch)
    check(await _faults(call, patch, facts, answers))
    if facts == old and patch.model_key is UNSET:
        return before
    if facts.is_default and not old.is_default:
        await store.update_no_default(call.db, call.book.id)
    key = BookKey(call.book.id, voice_agent_id)
    await AGENTS.update(call.db, key, facts, call.now)
    if patch.model_key is not UNSET:
        await keep_key(call, key, patch.model_key)
    elif not rules.keeps_key(old, facts):
        await keep_key(call, key, None)
    return await _told(call, VOICE_AGENT_UPDATED, "updated", voice_agent_id)


async def patch_faults(call: Call, voice_agent_id: UUID, patch: AgentPatch) -> list[FieldError]:
    """The faults of a change, if there is such an agent."""
    old = facts_of(AgentFacts, await show(call, voice_agent_id))
    with suppress(InvalidField):
        facts = rules.changed_agent(old, patch)
        return await _faults(call, patch, facts, await _answers(patch))
    return []


async def duplicate(call: Call, voice_agent_id: UUID) -> Agent:
    """Make a copy of an agent."""
    source = await show(call, voice_agent_id)
    copy = await _insert(call, rules.copy_of(facts_of(AgentFacts, source)))
    key = BookKey(call.book.id, voice_agent_id)
    if source.has_model_key:
        await copy_key(call, key, copy)
    if await prompts.insert_copies(call.db, key, copy.id, call.now):
        await keep_quota(call.db, call.book.id)
    return await _told(call, VOICE_AGENT_CREATED, "duplicated", copy.id)


async def delete(call: Call, voice_agent_id: UUID) -> Deleted:
    """Take an agent out of the list; its calls that wait end as failed."""
    agent = await lock(call, voice_agent_id)
    key = BookKey(call.book.id, voice_agent_id)
    await store.delete_agent(call.db, key, call.now)
    await prompts.delete_prompts(call.db, key)
    await _announce(call, VOICE_AGENT_DELETED, "deleted", agent)
    return Deleted(voice_agent_id, iso(call.now))


async def _insert(call: Call, facts: AgentFacts) -> BookKey:
    if facts.is_default:
        await store.update_no_default(call.db, call.book.id)
    key = BookKey(call.book.id, new_id())
    await AGENTS.insert(call.db, key, facts, call.now)
    return key


async def _told(call: Call, event: EventType, verb: str, agent_id: UUID) -> Agent:
    """The agent as it is now, once its event is told."""
    agent = await show(call, agent_id)
    await _announce(call, event, verb, agent)
    return agent


async def _answers(asked: NewAgent | AgentPatch) -> list[Address] | None:
    """The addresses of the model that a request names; None when it names none."""
    url = given(asked, "model_url")
    return await resolve(host_of(url)) if url else None


async def _faults(
    call: Call,
    asked: NewAgent | AgentPatch,
    facts: AgentFacts,
    answers: list[Address] | None,
) -> list[FieldError]:
    store_id, has_store = given(asked, "store_id"), True
    if store_id is not None and store_id is not UNSET:
        has_store = await STORES.has(call.db, call.book.id, store_id)
    allowed = call.services.settings.model_allow_targets
    return rules.agent_faults(asked, facts, allowed, has_store=has_store, answers=answers)


async def _announce(call: Call, event: EventType, verb: str, agent: Agent) -> None:
    is_gone = event is VOICE_AGENT_DELETED
    data = facts_of(
        AgentData,
        agent,
        status="inactive" if is_gone else agent.status,
        is_default=agent.is_default and not is_gone,
        updated_at=iso(call.now) if is_gone else agent.updated_at,
    )
    await emit(call, event, data)
    metadata = {"voiceAgentId": str(agent.id), "environment": call.book.environment}
    await audit.note(call, (f"voice_agent.{verb}", f"Voice agent {agent.name}: {verb}"), metadata)
