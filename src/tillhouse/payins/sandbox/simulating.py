"""Payments into accounts of test books, as if somebody had made them.

They arrive as from any provider: the sandbox keeps the payment and tells of it by an event in the
same form as its hooks, which a job looks up and records.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from asyncpg import Record

from tillhouse.access.callers import Book
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.kit.json import encode
from tillhouse.kit.money import round_money
from tillhouse.payins.inbox import store_event
from tillhouse.payins.sandbox import rules, store
from tillhouse.payins.store import accounts
from tillhouse.payins.types import VirtualAccount

Simulated = Literal[
    "exact", "under", "over", "late", "twice", "failed", "reversed", "disputed", "dispute_won",
    "dispute_lost",
]  # fmt: skip

PAYMENTS_MAX = 100
"""An account takes so many: everybody who has its page can let payments happen."""

_SANDBOX = "sandbox"
_DISPUTES = {"disputed": "evidence_due", "dispute_won": "won", "dispute_lost": "lost"}


class NotSimulated(Refused, message="Payments can be simulated into accounts of test books alone."):
    """A live book, or an account of another provider."""


async def simulate(
    db: Db, book: Book, account: VirtualAccount, kind: Simulated, amount: Decimal | None = None
) -> list[UUID]:
    """Pay into an account, in the transaction of `db`; the ids of the sandbox's payments.

    Without an amount: that of the account, half of it, or half as much again.
    `reversed` takes back the last payment, or pays now and takes it back some seconds later.
    `disputed` lets its payer's bank want the last payment back, which the others decide; without
    a payment, or a dispute that is open, there is one first.
    """
    if book.environment != "test" or account.provider != _SANDBOX:
        raise NotSimulated
    at = now()
    number = account.account_number or rules.account_number(account.reference)
    paid_before = await store.list_payments(db, book.id, number)
    if len(paid_before) >= PAYMENTS_MAX:
        raise Refused(f"An account of a test book takes at most {PAYMENTS_MAX} payments.")
    if kind == "late":
        expired_at = at - timedelta(milliseconds=1)
        await accounts.update_expired(db, BookKey(book.id, account.id), expired_at)
    if kind == "reversed" and (last := _last(paid_before)) is not None:
        await _take_back(db, book.id, last)
        return [last["id"]]
    if kind in _DISPUTES:
        last = _last(paid_before)
        if last is None:
            paid = await _pay(db, book.id, account, account.amount, "successful", at)
            last = await store.find_payment(db, BookKey(book.id, paid))
        assert last is not None, "it was paid just now"  # noqa: S101
        await _dispute(db, book.id, last, kind, amount)
        return [last["id"]]
    sum_ = amount if amount is not None else _amount(account, kind)
    state = "failed" if kind == "failed" else "successful"
    paid = [
        await _pay(db, book.id, account, sum_, state, at)
        for _ in range(2 if kind == "twice" else 1)
    ]
    if kind == "reversed":
        job = NewJob(
            book_id=book.id, kind=rules.TOLD_LATER, subject_id=new_id(), key=f"payment:{paid[0]}"
        )
        await queue_job(db, job, at + rules.REVERSED_AFTER, at)
    return paid


async def _dispute(
    db: Db, book_id: BookId, row: Record, kind: Simulated, amount: Decimal | None
) -> None:
    """Open a dispute of a payment, or decide the one that is open."""
    at, state = now(), _DISPUTES[kind]
    there = await store.list_disputes_of(db, book_id, [row["id"]])
    still = [one for one in there if one["closed_at"] is None]
    if still and state != "evidence_due":
        await store.update_dispute(db, BookKey(book_id, still[0]["id"]), state, at)
    elif not there:
        new = store.NewDispute(
            payment_id=row["id"],
            state=state,
            amount=row["amount"] if amount is None else amount,
            fee=rules.DISPUTE_FEE,
            currency=row["currency"],
            evidence_by=at + rules.EVIDENCE_WITHIN,
            created_at=at,
            closed_at=None if state == "evidence_due" else at,
        )
        await store.insert_dispute(db, BookKey(book_id, new_id()), new)
    told = _payment(row["id"], row["reference"], f"dispute {state} {len(there)}")
    await _tell(db, book_id, "payment", told, at)


def _amount(account: VirtualAccount, kind: Simulated) -> Decimal:
    half = round_money(account.amount / 2, account.currency)
    match kind:
        case "under":
            return half or account.amount
        case "over":
            return account.amount + (half or account.amount)
        case _:
            return account.amount


async def _pay(
    db: Db, book_id: BookId, account: VirtualAccount, amount: Decimal, state: str, at: datetime
) -> UUID:
    key = BookKey(book_id, new_id())
    row = store.SandboxPaymentRow(
        reference=account.reference,
        account_number=account.account_number or rules.account_number(account.reference),
        state=state,
        amount=amount,
        fee=rules.fee(amount, account.currency),
        currency=account.currency,
        payer_name=rules.PAYER_NAME,
        paid_at=at,
    )
    await store.insert_payment(db, key, row)
    await _tell(db, book_id, "payment", _payment(key.id, row.reference, state), at)
    return key.id


def _last(paid: Sequence[Record]) -> Record | None:
    return next((row for row in reversed(paid) if row["state"] == "successful"), None)


async def _take_back(db: Db, book_id: BookId, row: Record) -> None:
    await store.update_payment_reversed(db, BookKey(book_id, row["id"]))
    told = _payment(row["id"], row["reference"], "reversed")
    await _tell(db, book_id, "payment", told, now())


def _payment(payment_id: UUID, reference: str | None, state: str) -> dict[str, Any]:
    return {"transactionId": str(payment_id), "reference": reference, "state": state}


async def _tell(db: Db, book_id: BookId, event: str, data: dict[str, Any], at: datetime) -> None:
    body = encode({"event": event, "data": data})
    await store_event(db, book_id, _SANDBOX, body, at)


async def _tell_later(db: Db, job: Job) -> bool:
    what, _, name = job.key.partition(":")
    if what == "payout":
        row = await store.find_payout(db, job.book_id, name)
        if row is not None and row["state"] == "failed":
            await store.update_payout_completed(db, job.book_id, name)
        else:
            await store.update_payout_reversed(db, job.book_id, name, rules.REVERSED)
        await _tell(db, job.book_id, what, {"reference": name}, now())
    elif what == "refund":
        await store.update_refund_failed(db, job.book_id, name, rules.REVERSED)
        await _tell(db, job.book_id, what, {"reference": name, "state": "failed"}, now())
    else:
        row = await store.find_payment(db, BookKey(job.book_id, UUID(name)))
        if row is not None and row["state"] == "successful":
            await _take_back(db, job.book_id, row)
    return False


LATER = LocalKind(name=rules.TOLD_LATER, run=_tell_later)
"""The job by which the sandbox takes money back, or thinks better of it."""
