"""The key of an agent's model: sealed for that agent, and shown by no answer."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey, BusinessId
from tillhouse.voice.agents import store

_KIND = "voice agent model key"


async def keep_key(call: Call, agent: BookKey, key: str | None) -> None:
    """Keep the key of an agent's model, or forget it."""
    sealed = None
    if key is not None:
        vault = call.services.vault
        sealed = await vault.seal(call.db, call.business_id, agent.id, _KIND, key)
    await store.update_key(call.db, agent, sealed)


async def copy_key(call: Call, source: BookKey, copy: BookKey) -> None:
    """Give a copy of an agent the same key."""
    sealed = await store.find_key(call.db, source)
    if sealed is not None:
        vault = call.services.vault
        key = await open_key(vault, call.db, call.business_id, source.id, sealed)
        await keep_key(call, copy, key)


async def open_key(
    vault: Vault, db: Db, business_id: BusinessId, agent_id: UUID, sealed: bytes
) -> str:
    """The key of an agent's model."""
    return await vault.open(db, business_id, agent_id, _KIND, sealed)
