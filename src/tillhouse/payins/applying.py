"""Payments that arrived, for the rooms whose things were paid for.

Such a room declares a `LocalKind` named `job_kind(target_type)`, whose subject is the target:

    for payin in await take(db, book_id, "order", order_id):
        if payin.is_to_apply:
            …  # book the payment
            await mark_applied(db, payin, now, transaction_id=…, conditions=…)
        if payin.is_to_take_back:
            …  # take back `payin.to_take_back` of it
            await mark_reversal_applied(db, payin, now)

The same function may run in any transaction of the room, after `asking.ask` for example: the first
that takes a payment applies it, and others find nothing. The wallet was funded when the payment was
recorded. A payment that went back before it was applied is never seen here.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.payins.booking import claim_shortfall, deposit_to_wallet, take_back_deposit
from tillhouse.payins.returning import job_kind
from tillhouse.payins.store import payins as store
from tillhouse.payins.types import Payin

__all__ = [
    "claim_shortfall",
    "count_kept",
    "deposit_to_wallet",
    "job_kind",
    "mark_applied",
    "mark_reversal_applied",
    "take",
    "take_back_deposit",
]


async def take(db: Db, book_id: BookId, target_type: str, target_id: UUID) -> list[Payin]:
    """Payments that a target has yet to take or to give back, the earliest first, locked."""
    return await store.lock_to_apply(db, book_id, (target_type, target_id))


async def mark_applied(
    db: Db,
    payin: Payin,
    now: datetime,
    *,
    transaction_id: UUID | None = None,
    conditions: Sequence[str] = (),
) -> None:
    """Say that the target took it: by which transaction, and how it did not fit."""
    key = BookKey(BookId(payin.book_id), payin.id)
    await store.update_applied(db, key, now, transaction_id, list(conditions))


async def mark_reversal_applied(db: Db, payin: Payin, now: datetime) -> None:
    """Say that the target gave it back."""
    key = BookKey(BookId(payin.book_id), payin.id)
    await store.update_reversal_applied(db, key, payin.returned_amount, now)


async def count_kept(db: Db, payin: Payin) -> int:
    """How many payments the target of this one took that are still there."""
    target = payin.target_type or "", payin.target_id
    assert target[1] is not None, "it was taken by a target"  # noqa: S101
    return await store.count_kept(db, BookId(payin.book_id), (target[0], target[1]))
