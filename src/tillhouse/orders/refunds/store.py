"""Statements on refunds."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, OrderId
from tillhouse.kit.json import encode
from tillhouse.orders.posting.rules import Method


class RefundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A refund, by the names of its columns."""

    id: UUID
    order_id: OrderId
    method: Method
    amount: Decimal
    reason: str | None
    # Item, quantity and amount of each line that was given back.
    lines: list[dict[str, Any]] | None
    restocked: bool
    transaction_id: UUID
    payment_id: UUID | None
    recorded_by_id: UUID
    recorded_by_name: str


async def insert_refund(db: Db, book_id: BookId, row: RefundRow, now: datetime) -> None:
    """Keep a refund."""
    await db.execute(
        """
        INSERT INTO refunds (book_id, id, order_id, method, amount, reason, lines, restocked,
            transaction_id, payment_id, recorded_by_id, recorded_by_name, happened_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
        """,
        book_id,
        row.id,
        row.order_id,
        row.method,
        row.amount,
        row.reason,
        None if row.lines is None else encode(row.lines).decode(),
        row.restocked,
        row.transaction_id,
        row.payment_id,
        row.recorded_by_id,
        row.recorded_by_name,
        now,
    )
