"""Statements on receipts."""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, OrderId
from tillhouse.orders.receipts.head_rules import Imprint
from tillhouse.orders.receipts.rules import Seller

# The particulars of the business `u`, as a receipt keeps them.
IMPRINT: LiteralString = """json_build_object('legal_name', u.legal_name, 'address', u.address,
    'tax_numbers', u.tax_numbers, 'footer', u.receipt_footer)::text AS imprint"""

_OF_BOOK: LiteralString = "SELECT id, number, content FROM receipts WHERE book_id = $1 AND "
_NEWEST: LiteralString = " ORDER BY number DESC LIMIT 1"


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The thing that a receipt is of: an order, a transaction, or a stay."""

    order_id: OrderId | None = None
    transaction_id: UUID | None = None
    reservation_id: UUID | None = None


async def find_seller(db: Db, book_id: BookId, order_id: OrderId) -> Seller | None:
    """The seller of an order, and the store."""
    row = await db.fetchrow(
        """
        SELECT u.name AS business, b.environment, u.time_zone, s.name AS store, s.address,
            s.phone, o.exclusive_tax_amount AS exclusive_tax,
        """
        + IMPRINT
        + """
        FROM orders o
        JOIN books b ON b.id = o.book_id
        JOIN businesses u ON u.id = b.business_id
        LEFT JOIN stores s ON s.book_id = o.book_id AND s.id = o.store_id
        WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
        """,
        book_id,
        order_id,
    )
    return Seller(**with_imprint(row)) if row else None


def with_imprint(row: Record) -> dict[str, Any]:
    """The fields of a row, with its particulars read."""
    return {**row, "imprint": msgspec.json.decode(row["imprint"], type=Imprint)}


async def find_newest_of_order(db: Db, book_id: BookId, order_id: OrderId) -> Record | None:
    """The receipt that an order got last."""
    return await db.fetchrow(_OF_BOOK + "order_id = $2" + _NEWEST, book_id, order_id)


async def find_newest_of_transaction(
    db: Db, book_id: BookId, transaction_id: UUID
) -> Record | None:
    """The receipt that a transaction got last."""
    return await db.fetchrow(_OF_BOOK + "transaction_id = $2" + _NEWEST, book_id, transaction_id)


async def find_newest_of_stay(db: Db, book_id: BookId, reservation_id: UUID) -> Record | None:
    """The receipt that a stay got last."""
    return await db.fetchrow(_OF_BOOK + "reservation_id = $2" + _NEWEST, book_id, reservation_id)


async def insert_receipt(
    db: Db, key: BookKey, subject: Subject, number: int, content: str, now: datetime
) -> None:
    """Keep the content of a receipt."""
    await db.execute(
        """
        INSERT INTO receipts (book_id, id, order_id, transaction_id, reservation_id, number,
            content, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        *key,
        subject.order_id,
        subject.transaction_id,
        subject.reservation_id,
        number,
        content,
        now,
    )


async def find_receipt(db: Db, receipt_id: UUID) -> Record | None:
    """A receipt whose address was given out: that names the receipt and no book_id."""
    return await db.fetchrow(
        """
        SELECT b.business_id, r.order_id, r.transaction_id, r.reservation_id, r.number, r.content,
            r.created_at
        FROM receipts r JOIN books b ON b.id = r.book_id
        WHERE r.id = $1 AND (
            SELECT o.deleted_at FROM orders o WHERE o.book_id = r.book_id AND o.id = r.order_id
        ) IS NULL
        """,
        receipt_id,
    )
