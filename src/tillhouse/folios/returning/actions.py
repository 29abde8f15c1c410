"""Begin a refund of a stay through a provider: held, kept, queued; sent by a worker.

The payments are locked first, then the stay, as by all that applies or takes back payments.
"""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.folios import payments
from tillhouse.folios.facts import Stay
from tillhouse.folios.reading import show
from tillhouse.folios.returning import rules
from tillhouse.folios.returning.rules import StayRefundPart
from tillhouse.folios.returning.store import (
    NewStayRefundRow,
    insert_return,
    list_payins,
    list_returnable,
)
from tillhouse.folios.types import Folio, NewFolioRefund, StayCancel
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.hotel.reservations.types import Cancel, Reservation
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.errors import Invalid, Refused, check
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.ledger.posting import Insufficient, WantedHold, hold
from tillhouse.ledger.rules import Account, Ledger, Source, booked
from tillhouse.ledger.store.holds import lock_available
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.returning.actions import gives_back
from tillhouse.orders.returning.rules import uncovered
from tillhouse.payins.returning import count_given_back, lock_payments
from tillhouse.payins.types import Origin

SENDS = "stay_refund"
"""The job that sends one."""


class Instead(msgspec.Struct, frozen=True):
    """The way out of a refund that the wallet doesn't cover, or that no provider takes."""

    uncovered: str
    unconnected: str


_BY_HAND = "Hand it back by another method."
_LESS = "Give back less, wait for more to come in, or hand it back by another method."
_CREDIT = (
    "Cancel without refund_deposit: the money stays the guest's credit, and goes back by "
    "POST /v1/hotel/reservations/{reservation_id}/refunds, in parts, later, or by another method."
)
_OF_REFUND, _OF_CANCELLING = Instead(_LESS, _BY_HAND), Instead(_CREDIT, _CREDIT)


class CancelledStay(msgspec.Struct, frozen=True, kw_only=True):
    """A reservation that was cancelled, and the money that it had unspent."""

    reservation: Reservation
    currency: str
    # On its way through providers, and left as the guest's credit.
    returning: Decimal
    unspent: Decimal


async def refund(call: Call, reservation_id: UUID, new: NewFolioRefund) -> Folio:
    """Hand unspent money of a stay back; a provider's payment goes back through it."""
    if new.method not in (None, METHOD):
        return await payments.refund(call, reservation_id, new)
    key = BookKey(call.book.id, reservation_id)
    await lock_payments(call.db, call.book.id, await list_payins(call.db, key))
    stay = await payments.lock(call, reservation_id)
    check(payments.amount_faults(new, stay))
    found = await list_returnable(call.db, key)
    if new.method is None and not found:
        raise Invalid.field("method", "is required: no payment of this stay came by a provider")
    part = rules.chosen(found, await payments.available_of(call, stay), new.amount)
    await _begin_all(call, stay, [part], new.reason, _OF_REFUND)
    return await show(call, reservation_id)


async def cancel(call: Call, reservation_id: UUID, how: StayCancel) -> CancelledStay:
    """Cancel a reservation; where wished, payments by providers for it go back."""
    key = BookKey(call.book.id, reservation_id)
    if how.refund_deposit:
        await lock_payments(call.db, call.book.id, await list_payins(call.db, key))
    stay = await payments.lock(call, reservation_id)
    cancelled = await reservations.cancel(call, reservation_id, Cancel(reason=how.reason))
    available = await payments.available_of(call, stay)
    returning = Decimal(0)
    if how.refund_deposit:
        parts = list(rules.everything(await list_returnable(call.db, key), available))
        await _begin_all(call, stay, parts, how.reason, _OF_CANCELLING)
        returning = sum((part.amount for part in parts), returning)
    return CancelledStay(
        reservation=cancelled,
        currency=stay.currency,
        returning=returning,
        unspent=sum(available.values(), Decimal(0)) - returning,
    )


async def _begin_all(
    call: Call, stay: Stay, parts: Sequence[StayRefundPart], reason: str | None, instead: Instead
) -> None:
    """Begin refunds of a stay: all of them, or none."""
    begun = Decimal(0)
    if parts and stay.closed_on is not None:
        call.remark(booked(stay.closed_on, "on the day on which it goes back"))
    for part in parts:
        if not await gives_back(call, part.payment.provider):
            name = part.payment.provider
            raise Refused(
                f"{name} isn't connected, or gives no payment back. {instead.unconnected}"
            )
        try:
            await _begin(call, stay, part, reason)
        except Insufficient:
            available = begun + await lock_available(call.db, call.book.id, Account("wallet"))
            amount = sum((one.amount for one in parts), Decimal(0))
            raise Refused(uncovered(amount, available, instead.uncovered)) from None
        begun += part.amount


async def _begin(call: Call, stay: Stay, part: StayRefundPart, reason: str | None) -> None:
    payment, amount = part.payment, part.amount
    refund_id, by = new_id(), actor_of(call.caller)
    credit = Account("customer_credit", payment.customer_id)
    row = NewStayRefundRow(
        id=refund_id,
        reservation_id=stay.id,
        customer_id=payment.customer_id,
        payment_id=payment.payment_id,
        payin_id=payment.payin_id,
        provider=payment.provider,
        amount=amount,
        reason=reason,
        hold_id=await _hold(call, stay, refund_id, WantedHold(Account("wallet"), amount, "wallet")),
        credit_hold_id=await _hold(call, stay, refund_id, WantedHold(credit, amount, credit.kind)),
        by_id=by.id,
        by_name=by.name,
    )
    await insert_return(call.db, call.book.id, row, call.now)
    origin = Origin(call.business_id, call.book, payment.provider)
    await count_given_back(call.db, origin, payment.payin_id, amount, call.now)
    job = NewJob(book_id=call.book.id, kind=SENDS, subject_id=refund_id)
    await queue_job(call.db, job, call.now, call.now)


async def _hold(call: Call, stay: Stay, refund_id: UUID, wanted: WantedHold) -> UUID:
    ledger = Ledger(call.book.id, stay.currency, call.now)
    source = Source(type=rules.SOURCE, id=refund_id, happened_at=call.now)
    return await hold(call.db, ledger, source, wanted)
