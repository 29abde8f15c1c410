"""Statements that read the moves of stock."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page
from tillhouse.stock.facts import LevelKey
from tillhouse.stock.types import MoveActor, MoveFilter, StockMove

_MOVE = """
    SELECT m.id, m.variant_id, v.product_id, p.name AS product_name,
        CASE WHEN NOT v.is_implicit THEN v.name END AS variant_name, m.store_id, m.kind,
        m.on_hand_change, m.reserved_change, m.order_id, m.reason, m.actor,
        iso(m.created_at) AS created_at
    FROM stock_moves m
    JOIN variants v ON v.book_id = $1 AND v.id = m.variant_id
    JOIN products p ON p.book_id = $1 AND p.id = v.product_id
    WHERE m.book_id = $1
"""


def _where(book_id: BookId, wanted: MoveFilter) -> Where:
    # Sales are nearly all there is; whatever else is found by an index that leaves them out.
    other = None if wanted.kind == "sale" else wanted.kind
    return (
        Where(book_id)
        .and_("m.variant_id = $", wanted.variant_id)
        .and_("m.store_id = $", wanted.store_id)
        .and_("m.order_id = $", wanted.order_id)
        .and_("m.kind = $ AND m.kind <> 'sale'", other)
        .and_("m.kind = $", None if other else wanted.kind)
    )


async def count_moves(db: Db, book_id: BookId, wanted: MoveFilter) -> int:
    """How many moves fit."""
    where = _where(book_id, wanted)
    return await db.fetchval(
        "SELECT count(*) FROM stock_moves m WHERE m.book_id = $1" + where.sql(), *where.args
    )


async def list_moves(db: Db, book_id: BookId, wanted: MoveFilter, page: Page) -> list[StockMove]:
    """One page of the moves that fit, the newest first."""
    where = _where(book_id, wanted)
    rows = await db.fetch(
        _MOVE
        + where.sql()
        + " ORDER BY m.id DESC LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )
    return [StockMove(**{**row, "actor": _actor(row["actor"])}) for row in rows]


async def list_counted_since(
    db: Db, book_id: BookId, variant_ids: Sequence[UUID], at: datetime
) -> set[LevelKey]:
    """Where the stock of variants was opened or counted after a moment."""
    rows = await db.fetch(
        """
        SELECT DISTINCT variant_id, store_id FROM stock_moves
        WHERE book_id = $1 AND variant_id = ANY($2) AND kind IN ('opening', 'count')
            AND created_at > $3
        """,
        book_id,
        variant_ids,
        at,
    )
    return {LevelKey(**row) for row in rows}


def _actor(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text, type=MoveActor)
