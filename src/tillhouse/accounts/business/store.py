"""Statements on the business itself."""

from datetime import datetime
from typing import Any, LiteralString

import msgspec
from asyncpg import Record

from tillhouse.accounts.business.types import BusinessShown
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.json import encode
from tillhouse.orders.receipts.head_rules import PostalAddress, TaxNumber

_BUSINESS: LiteralString = """
    SELECT id, name, type, currency, country, time_zone, tax_inclusive, stock_policy,
        restocks_cancelled, service_charge_percent, service_charge_modes,
        legal_name, address, tax_numbers, receipt_footer,
        iso(created_at) AS created_at, iso(updated_at) AS updated_at
    FROM businesses WHERE id = $1
"""


def _shown(row: Record | None) -> BusinessShown | None:
    if row is None:
        return None
    address, numbers = row["address"], row["tax_numbers"]
    kept: dict[str, Any] = {
        "address": msgspec.json.decode(address, type=PostalAddress) if address else None,
        "tax_numbers": msgspec.json.decode(numbers, type=list[TaxNumber]),
    }
    return BusinessShown(**{**row, **kept})


async def find_business(db: Db, business_id: BusinessId) -> BusinessShown | None:
    """A business as it is."""
    return _shown(await db.fetchrow(_BUSINESS, business_id))


async def lock_business(db: Db, business_id: BusinessId) -> BusinessShown | None:
    """A business, locked until the transaction ends."""
    return _shown(await db.fetchrow(_BUSINESS + " FOR NO KEY UPDATE", business_id))


async def is_booked_by_days(db: Db, business_id: BusinessId) -> bool:
    """Whether a live sale, stay or amount is recorded, or a period of any book is closed."""
    return await db.fetchval(
        """
        SELECT coalesce(bool_or(k.closed_until IS NOT NULL OR k.environment = 'live' AND (
            EXISTS (SELECT FROM orders o WHERE o.book_id = k.id)
            OR EXISTS (SELECT FROM transactions t WHERE t.book_id = k.id)
            OR EXISTS (SELECT FROM hotel_reservations r WHERE r.book_id = k.id))), false)
        FROM books k WHERE k.business_id = $1
        """,
        business_id,
    )


async def update_business(db: Db, new: BusinessShown, now: datetime) -> None:
    """Write a business as it is from now on, by its business_id."""
    await db.execute(
        """
        UPDATE businesses SET name = $2, type = $3, country = $4, time_zone = $5,
            tax_inclusive = $6, stock_policy = $7, restocks_cancelled = $8, legal_name = $9,
            address = $10::text::jsonb, tax_numbers = $11::text::jsonb, receipt_footer = $12,
            updated_at = $13, service_charge_percent = $14, service_charge_modes = $15
        WHERE id = $1
        """,
        new.id,
        new.name,
        new.type,
        new.country,
        new.time_zone,
        new.tax_inclusive,
        new.stock_policy,
        new.restocks_cancelled,
        new.legal_name,
        encode(new.address).decode() if new.address else None,
        encode(new.tax_numbers).decode(),
        new.receipt_footer,
        now,
        new.service_charge_percent,
        new.service_charge_modes,
    )
