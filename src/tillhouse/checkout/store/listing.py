"""Statements on lists of payment links: a page, and how many fit, by tallies where they tell."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.checkout.store.links import SHOWN, STATUS, TARGETS
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, CustomerId
from tillhouse.kit.page import Page
from tillhouse.kit.spans import span


class LinkQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on links; an absent one (None) lets all pass."""

    now: datetime
    status: list[str] | None = None
    target_type: str | None = None
    target_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    customer_id: CustomerId | None = None
    # A search: a reference, and words.
    reference: str | None = None
    words: str | None = None

    @property
    def is_tallied(self) -> bool:
        """Whether the tallies know all that it asks for."""
        asked = (self.target_id, self.customer_id, self.reference)
        return all(value is None for value in asked)

    @property
    def stored(self) -> list[str] | None:
        """The statuses that links which fit may have in their rows."""
        if self.status is None or "EXPIRED" not in self.status:
            return self.status
        return sorted({*self.status, "active"})


_WORDS: LiteralString = (
    "customer_words(l.book_id, coalesce(l.customer_name, '') || ' ' || coalesce(l.title, '')"
    " || ' ' || l.description) @@ customer_query($1, "
)


def _where(fixed: Where, query: LinkQuery) -> Where:
    where = (
        fixed.and_("l.status = ANY($)", query.stored)
        .and_(STATUS + "= ANY($)", query.status)
        .and_("l.target_type = $", query.target_type)
        .and_("l.target_id = $", query.target_id)
        .and_("l.created_at >= $", query.since)
        .and_("l.created_at <= $", query.until)
        .and_("l.customer_id = $", query.customer_id)
    )
    if query.words:
        found = where.slot(query.reference)
        return where.and_("l.reference = " + found + " OR " + _WORDS + "$)", query.words)
    return where.and_("l.reference = $", query.reference)


async def count_found(db: Db, book_id: BookId, query: LinkQuery) -> int:
    """How many links fit that a target, a customer or a search names."""
    where = _where(Where(book_id, query.now), query)
    return await db.fetchval(
        "SELECT count(*) FROM payment_links l WHERE l.book_id = $1 AND $2::timestamptz IS NOT NULL"
        + where.sql(),
        *where.args,
    )


async def count_tallied(db: Db, book_id: BookId, query: LinkQuery) -> int:
    """How many fit by the tallies of whole days; the rest at the two ends is counted itself.

    Those that have expired, and of which no sweep has said so yet, are moved from one status to
    the other.
    """
    time = span(query.since, query.until)
    where = (
        Where(
            book_id, query.now, time.since, time.begins, time.ends, time.until, time.first,
            time.after,
        )
        .and_("o.status = ANY($)", query.status)
        .and_("o.target_type = $", query.target_type)
    )  # fmt: skip
    return await db.fetchval(
        """
        SELECT coalesce(sum(o.links), 0)::bigint FROM (
            SELECT t.status, t.target_type, t.links FROM payment_link_tallies t
            WHERE t.book_id = $1 AND t.day >= $7::date AND t.day < $8::date
            UNION ALL
            SELECT l.status, l.target_type, 1 FROM payment_links l
            WHERE l.book_id = $1
                AND (l.created_at >= $3::timestamptz AND l.created_at < least($4::timestamptz, $6)
                    OR l.created_at >= $5::timestamptz AND l.created_at < $6::timestamptz)
            UNION ALL
            SELECT moved.status, l.target_type, moved.links FROM payment_links l
            CROSS JOIN (VALUES ('active', -1), ('EXPIRED', 1)) AS moved (status, links)
            WHERE l.book_id = $1 AND l.status = 'active' AND l.expires_at <= $2
                AND l.created_at >= $3 AND l.created_at < $6
        ) o WHERE true
        """
        + where.sql(),
        *where.args,
    )


async def list_links(db: Db, book_id: BookId, query: LinkQuery, page: Page) -> Sequence[Record]:
    """One page of the links that fit, the newest first; only its rows are looked up whole."""
    where = _where(Where(book_id, query.now), query)
    return await db.fetch(
        SHOWN
        + "FROM payment_links l"
        + TARGETS
        + """ WHERE l.book_id = $1 AND l.id IN (
            SELECT l.id FROM payment_links l WHERE l.book_id = $1
        """
        + where.sql()
        + " ORDER BY l.created_at DESC, l.id DESC LIMIT "
        + where.window(page)
        + ") ORDER BY l.created_at DESC, l.id DESC",
        *where.args,
    )
