"""Statements on academic terms."""

from datetime import date, datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, TermId
from tillhouse.kit.page import Page
from tillhouse.labels.types import Term

_TERM = """
    SELECT t.id, t.name, to_char(t.starts_on, 'YYYY-MM-DD') AS starts_on,
        to_char(t.ends_on, 'YYYY-MM-DD') AS ends_on,
        iso(t.created_at) AS created_at, iso(t.updated_at) AS updated_at
    FROM academic_terms t WHERE t.book_id = $1 AND t.deleted_at IS NULL
"""

Days = tuple[date | None, date | None]


async def insert_term(db: Db, key: BookKey, name: str, days: Days, now: datetime) -> None:
    """A term."""
    await db.execute(
        """
        INSERT INTO academic_terms (book_id, id, name, starts_on, ends_on, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6)
        """,
        *key,
        name,
        *days,
        now,
    )


async def count_terms(db: Db, book_id: BookId) -> int:
    """How many terms there are."""
    return await db.fetchval(
        "SELECT count(*) FROM academic_terms WHERE book_id = $1 AND deleted_at IS NULL", book_id
    )


async def list_terms(db: Db, book_id: BookId, page: Page) -> list[Term]:
    """One page of the terms, the last to begin first."""
    rows = await db.fetch(
        _TERM + " ORDER BY t.starts_on DESC NULLS LAST, t.id DESC LIMIT $2 OFFSET $3",
        book_id,
        page.per_page,
        page.offset,
    )
    return [Term(**row) for row in rows]


async def show_term(db: Db, book_id: BookId, term_id: TermId) -> Term | None:
    """One term."""
    row = await db.fetchrow(_TERM + " AND t.id = $2", book_id, term_id)
    return Term(**row) if row else None


async def lock_term(db: Db, book_id: BookId, term_id: TermId) -> Term | None:
    """One term, which nobody else changes meanwhile."""
    row = await db.fetchrow(_TERM + " AND t.id = $2 FOR NO KEY UPDATE", book_id, term_id)
    return Term(**row) if row else None


async def update_term(db: Db, key: BookKey, name: str, days: Days, now: datetime) -> None:
    """The stored fields of a term."""
    await db.execute(
        """
        UPDATE academic_terms SET name = $3, starts_on = $4, ends_on = $5, updated_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        name,
        *days,
        now,
    )


async def delete_term(db: Db, book_id: BookId, term_id: TermId, now: datetime) -> bool:
    """Take a term out of the list; orders keep it. Whether there was one."""
    done = await db.execute(
        """
        UPDATE academic_terms SET deleted_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL
        """,
        book_id,
        term_id,
        now,
    )
    return done.endswith(" 1")
