"""Statements that decide about a new withdrawal, and write it."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import AppId, BookId, BookKey, KeyId, OrderId


class WithdrawalRow(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal as it is requested."""

    amount: Decimal
    currency: str
    narration: str | None
    reference: str | None
    payout_account_id: UUID
    account_version: int
    provider: str
    bank_code: str
    bank_name: str | None
    account_number: str
    account_name: str
    provider_key: str
    lineage_id: AppId | None
    counted_on: date
    hold_id: UUID
    transaction_id: UUID | None
    order_id: OrderId | None
    idempotency_key: str
    idempotency_fingerprint: bytes
    requested_by_id: UUID
    requested_by_name: str


async def lock_facts(
    db: Db, book_id: BookId, key_id: KeyId | None, account_id: UUID | None, own_key: str
) -> dict[str, Any]:
    """The facts of a withdrawal; its key and its account stay as they are until the commit."""
    [row] = await db.fetch(
        """
        WITH policy AS MATERIALIZED (
            SELECT withdrawal_policy, developer_app_id FROM api_keys
            WHERE book_id = $1 AND id = $2 FOR SHARE
        ), account AS MATERIALIZED (
            SELECT id, status, version, provider, bank_code, bank_name, account_number,
                account_name, currency, usable_at
            FROM payout_accounts WHERE book_id = $1 AND id = $3 FOR SHARE
        )
        SELECT b.currency, b.time_zone,
            (SELECT withdrawal_policy FROM policy) AS policy,
            (SELECT developer_app_id FROM policy) AS lineage_id,
            (SELECT id FROM withdrawals WHERE book_id = $1 AND idempotency_key = $4) AS earlier_id,
            (SELECT idempotency_fingerprint FROM withdrawals
             WHERE book_id = $1 AND idempotency_key = $4) AS earlier_fingerprint,
            a.id, a.status, a.version, a.provider, a.bank_code, a.bank_name, a.account_number,
            a.account_name, a.currency AS account_currency, a.usable_at
        FROM books k JOIN businesses b ON b.id = k.business_id LEFT JOIN account a ON true
        WHERE k.id = $1
        """,
        book_id,
        key_id,
        account_id,
        own_key,
    )
    return dict(row)


async def insert_withdrawal(
    db: Db, key: BookKey, row: WithdrawalRow, kind: str, now: datetime
) -> None:
    """Keep a withdrawal, and queue the job that sends it."""
    await db.execute(
        """
        WITH withdrawal AS (
            INSERT INTO withdrawals (book_id, id, status, amount, currency, narration, reference,
                payout_account_id, account_version, provider, bank_code, bank_name,
                account_number, account_name, provider_key, lineage_id, counted_on, hold_id,
                transaction_id, order_id, idempotency_key, idempotency_fingerprint,
                requested_by_id, requested_by_name, created_at, updated_at)
            VALUES ($1, $2, 'requested', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                $15, $16, $17, $18, $19, $20, $21, $22, $23, $25, $25)
            RETURNING id
        ), queueing AS (
            SELECT $1::uuid AS book_id, $24::text AS kind, id AS subject_id, '' AS key,
                NULL::bytea AS payload, $25::timestamptz AS due_at, $25::timestamptz AS queued_at
            FROM withdrawal
        ),
        """
        + QUEUE
        + "SELECT",
        *key,
        *msgspec.structs.astuple(row),
        kind,
        now,
    )
    db.queues_jobs = True
