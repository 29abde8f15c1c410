"""A lower role ends sessions and invitations of the one before, over HTTP and by command."""

from datetime import datetime

from tillhouse.access.store.sessions import end_sessions_of
from tillhouse.accounts.members.store import delete_invitations_by
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, UserId


async def end_what_stands(db: Db, business_id: BusinessId, user_id: UserId, at: datetime) -> int:
    """End the invitations and sessions of a member; how many sessions there were."""
    await delete_invitations_by(db, business_id, user_id)
    return await end_sessions_of(db, business_id, user_id, at)
