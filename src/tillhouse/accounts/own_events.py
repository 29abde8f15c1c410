"""Events of a person's own account, told in the audit log of each of their businesses."""

from datetime import datetime

from tillhouse.access import audit
from tillhouse.accounts import store
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, UserId


async def note_of_person(
    db: Db, user_id: UserId, actor: audit.Actor, what: tuple[str, str], now: datetime
) -> None:
    """Write an event about a person in the transaction of the change that it tells of."""
    for business in await store.list_memberships(db, user_id):
        metadata = {"userId": str(user_id)}
        await audit.append(db, BusinessId(business.id), actor, what, metadata, now)
