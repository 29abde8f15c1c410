"""The audit log: who did what, as links of one chain per business."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.access.store import audit as store
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, KeyId, UserId, new_id


class Actor(msgspec.Struct, frozen=True):
    """The person or program that did it, and its address."""

    name: str
    ip: str
    user_id: UserId | None = None
    key_id: KeyId | None = None


COMMAND_LINE = Actor(name="command line", ip="local")


def actor(call: Call) -> Actor:
    """The caller as an actor."""
    match call.caller:
        case KeyCaller(name=name, key_id=key_id):
            return Actor(name, call.ip, key_id=key_id)
        case UserCaller(name=name, user_id=user_id):
            return Actor(name, call.ip, user_id=user_id)
        case system:
            return Actor(system.name, call.ip)


async def note(
    call: Call,
    what: tuple[str, str],
    metadata: dict[str, Any],
    *,
    about_key: UUID | None = None,
) -> None:
    """Write (event type, title) in the transaction of the change that it tells of."""
    who = actor(call)
    await append(call.db, call.business_id, who, what, metadata, call.now, about_key=about_key)


async def append(  # noqa: PLR0913 - every fact of one entry
    db: Db,
    business_id: BusinessId,
    who: Actor,
    what: tuple[str, str],
    metadata: dict[str, Any],
    now: datetime,
    *,
    about_key: UUID | None = None,
) -> None:
    """Write an entry for somebody who has no call: a command, a worker."""
    await store.append_event(
        db,
        business_id,
        new_id(),
        (about_key or who.key_id, who.user_id, who.name, who.ip),
        what,
        metadata,
        now,
    )
