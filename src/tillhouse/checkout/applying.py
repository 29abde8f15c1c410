"""Payments that arrived through links: booked for the target of the link, each once.

A hook, a question and the page all bring it: it is recorded once below, and its target's job
applies it here in one transaction: the order, the stay or the wallet, the link's counters, the
events. Locks are taken in one order: payments, order or stay with its orders, link.
"""

from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call, system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.checkout.attempts import TARGET
from tillhouse.checkout.receiving_rules import LinkPayment, conditions_of, status_after_reversal
from tillhouse.checkout.store import receiving as store
from tillhouse.db.pool import Db
from tillhouse.folios import payments as folios
from tillhouse.folios.facts import Stay
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.errors import Missing
from tillhouse.kit.ids import BookId, BookKey, OrderId
from tillhouse.ledger.rules import Ledger
from tillhouse.orders.announce import amounts, told
from tillhouse.orders.changing.actions import lock
from tillhouse.orders.deposits.applying import give_back
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.events import PAYMENT_RECEIVED, PaidLink, Payer, PaymentData
from tillhouse.orders.payments.actions import receive
from tillhouse.orders.payments.rules import Tender
from tillhouse.payins.applying import (
    claim_shortfall,
    count_kept,
    deposit_to_wallet,
    job_kind,
    mark_applied,
    mark_reversal_applied,
    take,
    take_back_deposit,
)
from tillhouse.payins.events import deposited
from tillhouse.payins.types import Payin
from tillhouse.webhooks.emit import emit_all

_REFERENCE_MAX = 120


def kind(services: Services) -> LocalKind:
    """The job that applies the payments of a link."""
    return LocalKind(name=job_kind(TARGET), run=partial(_run, services))


async def _run(services: Services, db: Db, job: Job) -> bool:
    await _apply_all(services, db, BookKey(job.book_id, job.subject_id))
    return False


async def apply_now(services: Services, key: BookKey) -> None:
    """Apply the payments of a link without waiting for its job."""
    async with services.pool.transaction() as db:
        await _apply_all(services, db, key)


async def _apply_all(services: Services, db: Db, key: BookKey) -> None:
    link = await store.find_link(db, key)
    if link is not None:
        book = Book(BookId(key.book_id), link["environment"])
        call = system_call(services, db, link["business_id"], book)
        await apply(call, key.id)


async def apply(call: Call, link_id: UUID) -> None:
    """Apply the payments of a link since, and the returns."""
    for payin in await take(call.db, call.book.id, TARGET, link_id):
        if payin.is_to_apply:
            await _receive(call, link_id, payin)
        if payin.is_to_take_back:
            await mark_reversal_applied(call.db, payin, call.now)
            await _give_back(call, link_id, payin)


async def _receive(call: Call, link_id: UUID, payin: Payin) -> None:
    key = BookKey(call.book.id, link_id)
    found = await store.find_link(call.db, key)
    assert found is not None, "a link stays for ever"  # noqa: S101
    owed = await _lock_order(call, found["order_id"]) if found["order_id"] else None
    stay = await _lock_stay(call, found)
    link = await store.lock_link(call.db, key, call.now)
    expected = _expected(link, owed)
    conditions = conditions_of(
        link["status"], link["payments_count"], payin.amount, expected or Decimal(0)
    )
    if stay is not None:
        transaction_id = await folios.receive(call, stay, _tender(link, payin))
    elif owed is None:
        transaction_id = await _to_wallet(call, link, payin)
    else:
        transaction_id = await _to_order(call, link, payin)
    about = {"paymentLinkId": link["id"], "customerId": link["customer_id"]}
    if found["order_id"] is not None:
        about["orderId"] = found["order_id"]
    await emit_all(call, [deposited(call, payin, transaction_id, about)])
    received = LinkPayment(
        amount=payin.amount,
        conditions=conditions,
        is_paid=found["order_id"] is None
        and link["status"] == "active"
        and payin.amount >= (expected or Decimal(0)),
        asked=link["asked"] or None,
    )
    await store.update_received(call.db, key, call.now, received)
    told = [*payin.conditions, *conditions]
    await mark_applied(call.db, payin, call.now, transaction_id=transaction_id, conditions=told)


async def _lock_stay(call: Call, link: Record) -> Stay | None:
    """The stay that a link is for, with its orders, until the end of the transaction."""
    if link["target_type"] != "reservation":
        return None
    return await folios.lock_whole(call, link["target_id"])


def _expected(link: Record, owed: Decimal | None) -> Decimal | None:
    """The amount that a link asked for just now."""
    if link["target_id"] is None:
        return link["amount"] - link["amount_received"]
    return link["asked"] if link["target_type"] == "reservation" else owed


async def _lock_order(call: Call, order_id: UUID) -> Decimal | None:
    """The amount that an order owes, until the end of the transaction; None: it was deleted."""
    try:
        order = await lock(call, OrderId(order_id))
    except Missing:
        return None
    if order.status in ("cancelled", "refunded"):
        return Decimal(0)
    return max(order.position().due - order.amount_paid, Decimal(0))


async def _to_order(call: Call, link: Record, payin: Payin) -> UUID:
    received = await receive(call, OrderId(link["order_id"]), _tender(link, payin))
    return received.transaction_id


def _tender(link: Record, payin: Payin) -> Tender:
    return Tender(
        amount=payin.amount,
        method=METHOD,
        reference=payin.provider_transaction_id[:_REFERENCE_MAX],
        at=payin.paid_at,
        link_id=link["id"],
        receipt_id=payin.id,
        link=_paid_link(link),
        payer=_payer(link),
    )


async def _to_wallet(call: Call, link: Record, payin: Payin) -> UUID:
    ledger = Ledger(call.book.id, link["currency"], call.now)
    transaction_id = await deposit_to_wallet(call.db, ledger, payin)
    metadata: dict[str, Any] = {
        **amounts(payin.amount),
        "paymentMethod": METHOD,
        "paymentLinkId": link["id"],
        "customerId": link["customer_id"],
        "transactionId": transaction_id,
    }
    entity = ("payment_link", link["id"], None)
    paid = told(PaymentData, call, PAYMENT_RECEIVED, entity, metadata)
    paid.payment_link = _paid_link(link)
    if (payer := _payer(link)) is not None:
        paid.customer = payer
    await emit_all(call, [(PAYMENT_RECEIVED, paid)])
    return transaction_id


async def _give_back(call: Call, link_id: UUID, payin: Payin) -> None:
    key = BookKey(call.book.id, link_id)
    found = await store.find_link(call.db, key)
    assert found is not None, "a link stays for ever"  # noqa: S101
    stay = await _lock_stay(call, found)
    if stay is not None:
        await _from_stay(call, stay, link_id, payin)
    elif found["order_id"] is None or not await _from_order(call, found["order_id"], payin):
        ledger = Ledger(call.book.id, found["currency"], call.now)
        await take_back_deposit(call.db, ledger, payin, payin.to_take_back)
    link = await store.lock_link(call.db, key, call.now)
    left = max(link["amount_received"] - payin.to_take_back, Decimal(0))
    status = status_after_reversal(link["stored_status"], link["target_type"], left)
    kept = await count_kept(call.db, payin)
    await store.update_reversed(call.db, key, left, status, kept, call.now)
    # Open pages of the link are told.
    call.db.note_events(call.book.id)


async def _from_order(call: Call, order_id: UUID, payin: Payin) -> bool:
    """Take a payment out of its order; False: the order was deleted before it came."""
    try:
        order = await lock(call, OrderId(order_id))
    except Missing:
        return False
    await give_back(call, order, payin)
    return True


async def _from_stay(call: Call, stay: Stay, link_id: UUID, payin: Payin) -> None:
    """Take a return out of its stay; the part that was spent elsewhere is claimed."""
    tender = Tender(
        amount=payin.to_take_back,
        method=METHOD,
        reference=payin.provider_transaction_id[:_REFERENCE_MAX],
        link_id=link_id,
        receipt_id=payin.id,
    )
    amount = await folios.take_back(call, stay, tender)
    if amount < tender.amount:
        ledger = Ledger(call.book.id, stay.currency, call.now)
        await claim_shortfall(call.db, ledger, payin, tender.amount - amount)


def _paid_link(link: Record) -> PaidLink:
    return PaidLink(**{name: link[name] for name in PaidLink.__struct_fields__})


def _payer(link: Record) -> Payer | None:
    if link["customer_id"] is None:
        return None
    return Payer(
        id=link["customer_id"],
        name=link["customer_name"],
        email=link["customer_email"],
        phone_number=link["customer_phone"],
    )
