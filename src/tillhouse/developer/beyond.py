"""Keys that may do what their maker may let no key do: made before roles were asked, or by somebody
whose role was lowered since.

They go on until an owner decides: rotating one makes it anew, and revoking one ends it.
"""

from datetime import datetime

import structlog

from tillhouse.access import audit
from tillhouse.access.process import Services
from tillhouse.access.scopes import Scopes
from tillhouse.db.connecting import FAILURES
from tillhouse.developer.store import keys as store
from tillhouse.kit.ids import BusinessId

_ACTOR = audit.Actor(name="Tillhouse", ip="local")
_BATCH = 100

log = structlog.get_logger()


def granted_pairs(scopes: Scopes) -> tuple[list[str], list[str]]:
    """Each scope that not every role may grant, with each role that may, as two columns."""
    pairs = [(name, role) for name, roles in scopes.guarded().items() for role in roles]
    return [name for name, _ in pairs], [role for _, role in pairs]


async def note_keys_beyond(services: Services, now: datetime) -> None:
    """Tell the audit logs of such keys, once of each."""
    try:
        while await _note_some(services, now) == _BATCH:
            pass
    except FAILURES as error:
        # A backup holds the tables, perhaps: the next start tries again.
        log.warning("keys_beyond_not_noted", error=type(error).__name__)


async def _note_some(services: Services, now: datetime) -> int:
    async with services.pool.transaction() as db:
        rows = await store.update_noted(db, granted_pairs(services.declared.scopes), now, _BATCH)
        # In one order everywhere, since each locks the chain of its business.
        for row in sorted(rows, key=lambda one: (one["business_id"], one["id"])):
            title = f"API key {row['name']}: may do what its maker may not grant"
            metadata = {
                "environment": row["environment"],
                "name": row["name"],
                "scopes": row["beyond"],
                "makersRole": row["role"],
            }
            business_id = BusinessId(row["business_id"])
            what = ("api_key.beyond_role", title)
            await audit.append(db, business_id, _ACTOR, what, metadata, now, about_key=row["id"])
    return len(rows)
