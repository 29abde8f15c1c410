"""The table of stores, and the statements that other rooms use."""

from typing import LiteralString

from tillhouse.access.call import Call
from tillhouse.access.callers import UserCaller
from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BusinessId, StoreId, UserId
from tillhouse.kit.page import Page
from tillhouse.kit.values import DayClock
from tillhouse.stores.types import Staff, Store

# A lock keeps tables and stock from being added as well.
STORES = BookTable(
    "stores s",
    Store,
    shown="""s.name, s.address, s.phone, s.time_zone,
        to_char(make_interval(mins => s.day_cutoff_minutes), 'HH24:MI') AS day_cutoff,
        s.preparation_minutes, s.is_active""",
    order="lower(s.name), s.id",
    fields=(
        "name", "address", "phone", "time_zone", "day_cutoff_minutes", "preparation_minutes",
        "is_active",
    ),
    forms={"day_cutoff_minutes": "extract(epoch FROM {0}::text::time) / 60"},
    lock="UPDATE",
)  # fmt: skip


async def lock_kept_store(db: Db, book_id: BookId, store_id: StoreId) -> bool:
    """Keep a store from being deleted meanwhile; whether there is such a store."""
    return await db.execute_one(
        """
        SELECT id FROM stores WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE
        """,
        book_id,
        store_id,
    )


async def has_tables(db: Db, book_id: BookId, store_id: StoreId) -> bool:
    """Whether tables stand in the store."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM dining_tables
            WHERE book_id = $1 AND store_id = $2 AND deleted_at IS NULL)
        """,
        book_id,
        store_id,
    )


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


CLOCK: LiteralString = """
    SELECT b.currency, coalesce(s.time_zone, b.time_zone) AS name,
        make_interval(mins => coalesce(s.day_cutoff_minutes, 0)) AS cutoff
    FROM books k JOIN businesses b ON b.id = k.business_id
    LEFT JOIN stores s ON s.book_id = $1 AND s.id = $2
    WHERE k.id = $1
"""
"""The zone and the cut-off by which the days of book $1 are counted, or those of its store $2."""


async def find_clock(call: Call, store_id: StoreId | None) -> DayClock:
    """The clock of a store, or of the business; a session tells that of its business."""
    if store_id is None and isinstance(call.caller, UserCaller) and call.caller.business:
        return DayClock.at_midnight(call.caller.business.time_zone)
    row = await call.db.fetchrow(CLOCK, call.book.id, store_id)
    assert row is not None, "every call has a book"  # noqa: S101
    return DayClock(row["name"], row["cutoff"])
