"""Statements on tags."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, TagId
from tillhouse.kit.page import Page
from tillhouse.labels.types import Tag

_TAG = """
    SELECT t.id, t.name, t.slug, iso(t.created_at) AS created_at, iso(t.updated_at) AS updated_at
    FROM tags t WHERE t.book_id = $1
"""


async def insert_tag(db: Db, key: BookKey, name: str, slug: str, now: datetime) -> None:
    """A tag."""
    await db.execute(
        """
        INSERT INTO tags (book_id, id, name, slug, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5)
        """,
        *key,
        name,
        slug,
        now,
    )


async def upsert_tags(
    db: Db,
    book_id: BookId,
    ids: list[UUID],
    new: list[tuple[UUID, str, str]],
    now: datetime,
) -> Sequence[Record]:
    """The tags of some ids, and of some slugs, of which those are made that were not there.

    `new` holds an id, a name and a slug each, by slug: whoever makes the same ones at the same
    moment does it in the same order, and so nobody waits in a circle.
    """
    return await db.fetch(
        """
        WITH wanted AS (
            SELECT * FROM unnest($3::uuid[], $4::text[], $5::text[]) AS w (id, name, slug)
        ), known AS (
            SELECT t.id, t.slug FROM tags t WHERE t.book_id = $1 AND t.slug = ANY($5)
        ), made AS (
            INSERT INTO tags (book_id, id, name, slug, created_at, updated_at)
            SELECT $1, w.id, w.name, w.slug, $6, $6 FROM wanted w
            WHERE w.slug NOT IN (SELECT slug FROM known) ORDER BY w.slug COLLATE "C"
            -- The name stays as it is: only so does the row come back that was made meanwhile.
            ON CONFLICT (book_id, slug) DO UPDATE SET name = tags.name RETURNING id, slug
        )
        SELECT t.id, NULL AS slug FROM tags t WHERE t.book_id = $1 AND t.id = ANY($2::uuid[])
        UNION ALL SELECT id, slug FROM known
        UNION ALL SELECT id, slug FROM made
        """,
        book_id,
        ids,
        [id_ for id_, _, _ in new],
        [name for _, name, _ in new],
        [slug for _, _, slug in new],
        now,
    )


async def count_tags(db: Db, book_id: BookId) -> int:
    """How many tags there are."""
    return await db.fetchval("SELECT count(*) FROM tags WHERE book_id = $1", book_id)


async def list_tags(db: Db, book_id: BookId, page: Page) -> list[Tag]:
    """One page of the tags, by slug."""
    rows = await db.fetch(
        _TAG + " ORDER BY t.slug, t.id LIMIT $2 OFFSET $3", book_id, page.per_page, page.offset
    )
    return [Tag(**row) for row in rows]


async def show_tag(db: Db, book_id: BookId, tag_id: TagId) -> Tag | None:
    """One tag."""
    row = await db.fetchrow(_TAG + " AND t.id = $2", book_id, tag_id)
    return Tag(**row) if row else None


async def find_tag_ids(db: Db, book_id: BookId, ids: list[UUID]) -> list[UUID]:
    """Those of the ids that are tags."""
    rows = await db.fetch(
        "SELECT t.id FROM tags t WHERE t.book_id = $1 AND t.id = ANY($2::uuid[])", book_id, ids
    )
    return [row["id"] for row in rows]


async def update_tag(db: Db, key: BookKey, name: str, slug: str, now: datetime) -> None:
    """The name of a tag."""
    await db.execute(
        "UPDATE tags SET name = $3, slug = $4, updated_at = $5 WHERE book_id = $1 AND id = $2",
        *key,
        name,
        slug,
        now,
    )


async def delete_tag(db: Db, book_id: BookId, tag_id: TagId) -> bool:
    """Remove a tag; orders that carry it show it no more. Whether there was one."""
    done = await db.execute("DELETE FROM tags WHERE book_id = $1 AND id = $2", book_id, tag_id)
    return done.endswith(" 1")
