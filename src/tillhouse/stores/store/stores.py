"""Statements on stores."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BusinessId, StoreId
from tillhouse.kit.page import Page
from tillhouse.stores.rules import StoreFacts
from tillhouse.stores.types import Store

_STORE = """
    SELECT s.id, s.name, s.address, s.phone, s.time_zone,
        to_char(make_interval(mins => s.day_cutoff_minutes), 'HH24:MI') AS day_cutoff,
        s.preparation_minutes, s.is_active,
        iso(s.created_at) AS created_at, iso(s.updated_at) AS updated_at
    FROM stores s WHERE s.book_id = $1 AND s.deleted_at IS NULL
"""


async def find_country(db: Db, business_id: BusinessId) -> str:
    """The country in which national numbers are dialled."""
    return await db.fetchval("SELECT country FROM businesses WHERE id = $1", business_id)


async def insert_store(
    db: Db, book_id: BookId, store_id: StoreId, store: StoreFacts, now: datetime
) -> None:
    """A store."""
    await db.execute(
        """
        INSERT INTO stores (book_id, id, name, address, phone, time_zone, day_cutoff_minutes,
            preparation_minutes, is_active, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, extract(epoch FROM $7::text::time) / 60, $8, $9, $10, $10)
        """,
        book_id,
        store_id,
        store.name,
        store.address,
        store.phone,
        store.time_zone,
        store.day_cutoff,
        store.preparation_minutes,
        store.is_active,
        now,
    )


async def count_stores(db: Db, book_id: BookId) -> int:
    """How many stores there are."""
    return await db.fetchval(
        "SELECT count(*) FROM stores WHERE book_id = $1 AND deleted_at IS NULL", book_id
    )


async def list_stores(db: Db, book_id: BookId, page: Page) -> list[Store]:
    """One page of the stores, by name."""
    rows = await db.fetch(
        _STORE + " ORDER BY lower(s.name), s.id LIMIT $2 OFFSET $3",
        book_id,
        page.per_page,
        page.offset,
    )
    return [Store(**row) for row in rows]


async def show_store(db: Db, book_id: BookId, store_id: StoreId) -> Store | None:
    """One store."""
    row = await db.fetchrow(_STORE + " AND s.id = $2", book_id, store_id)
    return Store(**row) if row else None


async def has_store(db: Db, book_id: BookId, store_id: StoreId) -> bool:
    """Whether the book has the store."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM stores WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL)
        """,
        book_id,
        store_id,
    )


async def lock_kept_store(db: Db, book_id: BookId, store_id: StoreId) -> bool:
    """Keep a store from being deleted meanwhile; whether there is such a store."""
    row = await db.fetchrow(
        """
        SELECT id FROM stores WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE
        """,
        book_id,
        store_id,
    )
    return row is not None


async def lock_store(db: Db, book_id: BookId, store_id: StoreId) -> Store | None:
    """One store, to which nobody adds and which nobody changes meanwhile."""
    row = await db.fetchrow(_STORE + " AND s.id = $2 FOR UPDATE", book_id, store_id)
    return Store(**row) if row else None


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


async def update_store(
    db: Db, book_id: BookId, store_id: StoreId, store: StoreFacts, now: datetime
) -> None:
    """The stored fields of a store."""
    await db.execute(
        """
        UPDATE stores SET name = $3, address = $4, phone = $5, time_zone = $6,
            day_cutoff_minutes = extract(epoch FROM $7::text::time) / 60,
            preparation_minutes = $8, is_active = $9, updated_at = $10
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        store_id,
        store.name,
        store.address,
        store.phone,
        store.time_zone,
        store.day_cutoff,
        store.preparation_minutes,
        store.is_active,
        now,
    )


async def delete_store(db: Db, book_id: BookId, store_id: StoreId, now: datetime) -> None:
    """Take a store out of the list."""
    await db.execute(
        "UPDATE stores SET deleted_at = $3, updated_at = $3 WHERE book_id = $1 AND id = $2",
        book_id,
        store_id,
        now,
    )
