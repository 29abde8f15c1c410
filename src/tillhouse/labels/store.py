"""The table of tags, and the statements that find or make several."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.labels.types import Tag, Term

# A tag that is deleted is gone from the orders that carried it.
TAGS = BookTable(
    "tags t",
    Tag,
    shown="t.name, t.slug",
    order="t.slug, t.id",
    fields=("name", "slug"),
    removed=True,
)


async def upsert_tags(
    db: Db,
    book_id: BookId,
    ids: list[UUID],
    new: list[tuple[UUID, str, str]],
    now: datetime,
) -> Sequence[Record]:
    """The tags of some ids, and of some slugs, of which those are made that were not there.

    `new` holds an id, a name and a slug each, by slug: requests that make the same ones at the same
    moment do it in the same order, so they can't deadlock.
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


async def find_tag_ids(db: Db, book_id: BookId, ids: list[UUID]) -> list[UUID]:
    """Those of the ids that are tags."""
    rows = await db.fetch(
        "SELECT t.id FROM tags t WHERE t.book_id = $1 AND t.id = ANY($2::uuid[])", book_id, ids
    )
    return [row["id"] for row in rows]


# The last to begin is listed first; a deleted one stays on its orders.
TERMS = BookTable(
    "academic_terms t",
    Term,
    shown="t.name, to_char(t.starts_on, 'YYYY-MM-DD') AS starts_on, "
    "to_char(t.ends_on, 'YYYY-MM-DD') AS ends_on",
    order="t.starts_on DESC NULLS LAST, t.id DESC",
    fields=("name", "starts_on", "ends_on"),
)
