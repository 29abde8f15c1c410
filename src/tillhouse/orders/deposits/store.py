"""Statements on the deposits of orders."""

from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, BusinessId
from tillhouse.kit.secrets import Environment
from tillhouse.orders.types import PaymentMethod, Status

DEPOSIT: LiteralString = """
        CASE WHEN o.is_automated THEN (
            SELECT json_build_object('id', v.id, 'provider', v.provider,
                'status', CASE
                    WHEN v.status = 'opening' THEN 'pending'
                    WHEN p.received >= v.amount THEN 'paid'
                    WHEN p.received = 0 AND p.has_reversed THEN 'reversed'
                    WHEN v.status = 'open' AND (v.expires_at IS NULL OR v.expires_at > now())
                        THEN 'active'
                    WHEN v.status = 'failed' THEN 'pending'
                    ELSE 'expired' END,
                'accountNumber', v.account_number, 'bankName', v.bank_name,
                'accountName', v.account_name, 'amount', v.amount,
                'amountReceived', p.received, 'currency', v.currency,
                'expiresAt', iso(v.expires_at), 'createdAt', iso(v.created_at))
            FROM virtual_accounts v
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(i.amount - i.returned_amount)
                        FILTER (WHERE i.status = 'received'), 0) AS received,
                    coalesce(bool_or(i.returned_amount > 0), false) AS has_reversed
                FROM payins i WHERE i.book_id = v.book_id AND i.virtual_account_id = v.id
            ) p
            WHERE v.book_id = o.book_id AND v.order_id = o.id
            ORDER BY v.created_at DESC, v.id DESC LIMIT 1
        ) END AS deposit"""
"""A column of rows `o` of orders: the account that each is paid into, as it is shown."""


class DepositFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An order that has an account of its own, as far as opening that asks."""

    business_id: BusinessId
    environment: Environment
    business_name: str
    short_code: str
    status: Status
    method: PaymentMethod
    outstanding: Decimal
    # The rest that its open account still waits for; None without one.
    awaited: Decimal | None
    asked: Decimal | None
    currency: str
    # Of its customer, else of the business's owner.
    email: str | None


async def find_deposit(db: Db, book_id: BookId, order_id: UUID) -> DepositFacts | None:
    """The facts of an order with a deposit; None without one."""
    row = await db.fetchrow(
        """
        SELECT b.business_id, b.environment, t.name AS business_name, o.short_code, o.status,
            o.payment_method AS method,
            o.remaining_amount AS outstanding, o.currency, coalesce(c.email, (
                SELECT u.email FROM members m JOIN users u ON u.id = m.user_id
                WHERE m.business_id = b.business_id AND m.role = 'owner'
                ORDER BY m.created_at, m.user_id LIMIT 1)) AS email,
            v.amount AS asked, v.amount - coalesce((SELECT sum(i.amount) FROM payins i
                WHERE i.book_id = v.book_id AND i.virtual_account_id = v.id
                    AND i.status = 'received' AND i.applied_at IS NOT NULL), 0) AS awaited
        FROM orders o
        JOIN books b ON b.id = o.book_id
        JOIN businesses t ON t.id = b.business_id
        LEFT JOIN customers c ON c.book_id = o.book_id AND c.id = o.customer_id
        LEFT JOIN virtual_accounts v ON v.book_id = o.book_id AND v.target_type = 'order'
            AND v.target_id = o.id AND v.status = 'open'
        WHERE o.book_id = $1 AND o.id = $2 AND o.is_automated AND o.deleted_at IS NULL
        """,
        book_id,
        order_id,
    )
    return DepositFacts(**row) if row else None


async def find_account(db: Db, key: BookKey) -> UUID | None:
    """The account that an order is shown with, its own or the one of its payment link."""
    return await db.fetchval(
        """
        SELECT id FROM virtual_accounts WHERE book_id = $1 AND order_id = $2
        ORDER BY created_at DESC, id DESC LIMIT 1
        """,
        *key,
    )


async def update_automated(db: Db, key: BookKey, now: datetime) -> bool:
    """Say that a provider watches an order's payments; False where that was so before."""
    return await db.execute_one(
        """
        UPDATE orders SET is_automated = true, updated_at = changed_at(updated_at, $3)
        WHERE book_id = $1 AND id = $2 AND NOT is_automated
        """,
        *key,
        now,
    )
