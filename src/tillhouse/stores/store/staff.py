"""Statements that read the members of a business."""

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.kit.page import Page
from tillhouse.stores.types import Staff

_STAFF = """
    SELECT u.id, u.name, u.email, m.role FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.business_id = $1
"""


async def count_staff(db: Db, business_id: BusinessId) -> int:
    """How many people work for the business."""
    return await db.fetchval("SELECT count(*) FROM members WHERE business_id = $1", business_id)


async def list_staff(db: Db, business_id: BusinessId, page: Page) -> list[Staff]:
    """One page of the people, the first joined first."""
    rows = await db.fetch(
        _STAFF + " ORDER BY m.created_at, m.user_id LIMIT $2 OFFSET $3",
        business_id,
        page.per_page,
        page.offset,
    )
    return [Staff(**row) for row in rows]


async def show_staff(db: Db, business_id: BusinessId, user_id: UserId) -> Staff | None:
    """One person."""
    row = await db.fetchrow(_STAFF + " AND m.user_id = $2", business_id, user_id)
    return Staff(**row) if row else None
