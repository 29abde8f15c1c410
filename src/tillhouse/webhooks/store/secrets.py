"""Statements on signing secrets."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import AppId, BookId, BookKey
from tillhouse.webhooks.types import Settings


async def insert_secret(db: Db, key: BookKey, prefix: str, sealed: bytes, now: datetime) -> None:
    """The first secret of an app (book, app); one that is there already stays."""
    await db.execute(
        """
        INSERT INTO webhook_secrets (book_id, developer_app_id, secret_prefix, secret_sealed,
            created_at)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
        """,
        *key,
        prefix,
        sealed,
        now,
    )


async def list_settings(db: Db, books: list[BookId], app_id: AppId | None) -> list[Settings]:
    """How the apps of a business sign."""
    where = Where(books).and_("s.developer_app_id = $", app_id)
    rows = await db.fetch(
        """
        SELECT s.developer_app_id, b.environment, s.secret_prefix,
            iso(s.rotated_at) AS rotated_at, iso(s.created_at) AS created_at,
            CASE WHEN s.rotated_at IS NULL THEN 'never_rotated' ELSE 'rotated' END
                AS rotation_status
        FROM webhook_secrets s JOIN books b ON b.id = s.book_id
        WHERE s.book_id = ANY($1)
        """
        + where.sql()
        + " ORDER BY b.environment DESC, s.created_at, s.developer_app_id LIMIT 1000",
        *where.args,
    )
    return [Settings(**row) for row in rows]


async def find_app(db: Db, book_id: BookId, app_id: AppId | None) -> UUID | None:
    """The app of the book, or its default app; None if the book has no such app."""
    return await db.fetchval(
        """
        SELECT id FROM developer_apps
        WHERE book_id = $1 AND (id = $2 OR ($2::uuid IS NULL AND is_default))
        """,
        book_id,
        app_id,
    )


async def lock_secret(db: Db, book_id: BookId, app_id: AppId | None) -> Record | None:
    """The secret of an app, or of the default app, locked until the change commits."""
    return await db.fetchrow(
        """
        SELECT s.developer_app_id, s.secret_sealed, iso(s.rotated_at) AS rotated_at
        FROM webhook_secrets s
        JOIN developer_apps a ON a.book_id = s.book_id AND a.id = s.developer_app_id
        WHERE s.book_id = $1 AND (a.id = $2 OR ($2::uuid IS NULL AND a.is_default))
        FOR NO KEY UPDATE OF s
        """,
        book_id,
        app_id,
    )


async def update_secret(db: Db, key: BookKey, prefix: str, sealed: bytes, now: datetime) -> None:
    """Replace a secret; whatever is signed from the commit on is signed with the new one."""
    await db.execute(
        """
        UPDATE webhook_secrets SET secret_prefix = $3, secret_sealed = $4, rotated_at = $5
        WHERE book_id = $1 AND developer_app_id = $2
        """,
        *key,
        prefix,
        sealed,
        now,
    )


async def list_apps_without_secret(db: Db, limit: int) -> Sequence[Record]:
    """Apps that were made before there were webhooks."""
    return await db.fetch(
        """
        SELECT a.book_id, a.id, b.business_id
        FROM developer_apps a JOIN books b ON b.id = a.book_id
        LEFT JOIN webhook_secrets s ON s.book_id = a.book_id AND s.developer_app_id = a.id
        WHERE s.book_id IS NULL LIMIT $1
        """,
        limit,
    )
