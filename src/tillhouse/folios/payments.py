"""Money of stays: received, used for their orders, handed back; each in the caller's transaction.

The reservation is locked first, then its orders, then the guest's credit: a change of an order
locks that and then the credit, too.
"""

from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.folios import events, rules
from tillhouse.folios.facts import Stay
from tillhouse.folios.reading import show
from tillhouse.folios.rules import Funds, StayOrder, Use
from tillhouse.folios.store import payments as store
from tillhouse.folios.store import stays
from tillhouse.folios.store.payments import FolioPaymentRow
from tillhouse.folios.types import Folio, NewFolioPayment, NewFolioRefund
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, CustomerId, new_id
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import InvalidField
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Postings, Source, booked
from tillhouse.ledger.store.holds import lock_available
from tillhouse.ledger.store.transactions import update_untold
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.money_types import actor_of, method_of
from tillhouse.orders.payments.actions import receive as pay_order
from tillhouse.orders.payments.actions import take_back as take_back_from_order
from tillhouse.orders.payments.rules import Tender
from tillhouse.orders.posting.rules import Method
from tillhouse.payins.disputes import credit
from tillhouse.payins.disputes.store import lock_of_payments
from tillhouse.payins.disputes.types import DisputedCredit

_TAKEN_BACK = "The payment provider took the payment back."


class Way(msgspec.Struct, frozen=True):
    """The way that money goes, in or out again, and why."""

    kind: str
    reason: str | None = None


class FolioState(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of a stay and its unspent money, until the transaction ends."""

    orders: list[StayOrder]
    unspent: Funds

    @property
    def is_spent(self) -> bool:
        """Whether no money is left."""
        return not any(amount > 0 for amount in self.unspent.values())


async def lock(call: Call, reservation_id: UUID) -> Stay:
    """A stay as it is until this call commits; Missing if there is none."""
    return existing(await stays.lock_stay(call.db, BookKey(call.book.id, reservation_id)))


async def lock_whole(call: Call, reservation_id: UUID) -> Stay:
    """A stay with its orders as they are until this call commits; Missing if there is none.

    A payment of one of its orders ends with a lock on the stay's link: who locks that, too, has
    the orders first.
    """
    stay = await lock(call, reservation_id)
    await _lock_orders(call, stay)
    return stay


async def state_of(call: Call, stay: Stay) -> FolioState:
    """The money of a locked stay."""
    return await _state(call, stay, await _lock_orders(call, stay))


async def _lock_orders(call: Call, stay: Stay) -> list[StayOrder]:
    return await stays.lock_orders(call.db, BookKey(call.book.id, stay.id))


async def _state(call: Call, stay: Stay, orders: list[StayOrder]) -> FolioState:
    moved = await stays.list_moved(call.db, BookKey(call.book.id, stay.id))
    return FolioState(orders=orders, unspent=rules.funds(moved, orders))


async def receive(call: Call, stay: Stay, tender: Tender) -> UUID:
    """Book money that came in for a locked stay, whatever its status, and pay its orders by it.

    The transaction by which it is seen. The part that no order needs is kept as the guest's
    credit.
    """
    orders = await _lock_orders(call, stay)
    row = await book(call, stay, stay.customer_id, tender, Way("payment"))
    await events.announce_paid(call, stay, row, tender)
    await _spend(call, stay, await _state(call, stay, orders))
    return row.transaction_id


async def apply(call: Call, stay: Stay) -> FolioState:
    """Pay the open orders of a locked stay by its unspent money, the oldest first."""
    return await _spend(call, stay, await state_of(call, stay))


async def _spend(call: Call, stay: Stay, state: FolioState) -> FolioState:
    if state.is_spent:
        return state
    paid = list(rules.uses(state.orders, await _available(call, state.unspent)))
    for use in paid:
        tender = Tender(amount=use.amount, method="credit")
        receipt = await pay_order(call, use.order_id, tender)
        await update_untold(call.db, call.book.id, receipt.transaction_id)
        await _keep(call, stay, receipt.payment_id, use)
    return await state_of(call, stay) if paid else state


async def record(call: Call, reservation_id: UUID, new: NewFolioPayment) -> Folio:
    """Record a payment of a stay by hand."""
    stay = await lock(call, reservation_id)
    check(amount_faults(new, stay))
    reference = None if new.reference is None else str(new.reference)
    method: Method = method_of(new.method)
    tender = Tender(amount=Decimal(new.amount), method=method, reference=reference)
    await receive(call, stay, tender)
    return await show(call, reservation_id)


async def refund(call: Call, reservation_id: UUID, new: NewFolioRefund) -> Folio:
    """Hand unspent money of a stay back, by a method of the desk."""
    stay = await lock(call, reservation_id)
    check(amount_faults(new, stay))
    state = await state_of(call, stay)
    whose = rules.refunded_to(await _available(call, state.unspent), stay.customer_id, new.amount)
    method: Method = method_of(new.method or METHOD)
    reference = None if new.reference is None else str(new.reference)
    tender = Tender(amount=Decimal(new.amount), method=method, reference=reference)
    await book(call, stay, whose, tender, Way("refund", new.reason))
    if stay.closed_on is not None:
        call.remark(booked(stay.closed_on))
    return await show(call, reservation_id)


async def take_back(call: Call, stay: Stay, tender: Tender) -> Decimal:
    """Take a payment out of a locked stay that its provider has taken back; how much it had left.

    Its orders owe again the amount that this money had paid.
    """
    whose = await _payer(call, stay, tender)
    # The dispute of money that went back is settled with it.
    await _free_disputed(call, stay)
    state = await state_of(call, stay)
    left = (await _available(call, state.unspent)).get(whose, Decimal(0))
    # An order that was paid too much gives its excess first, which was among the unspent money: it
    # is asked once more.
    while used := rules.taken_back(state.orders, whose, tender.amount - left):
        for use in used:
            correction = await take_back_from_order(call, use.order_id, -use.amount)
            await update_untold(call.db, call.book.id, correction.transaction_id)
            await _keep(call, stay, correction.id, use)
        state = await state_of(call, stay)
        left = (await _available(call, state.unspent)).get(whose, Decimal(0))
    amount = min(left, tender.amount)
    if amount > 0:
        back = msgspec.structs.replace(tender, amount=amount)
        await book(call, stay, whose, back, Way("reversal", _TAKEN_BACK))
    await hold_disputed(call, stay)
    return amount


async def hold_disputed(call: Call, stay: Stay) -> None:
    """Hold the disputed part of a locked stay's unspent money, so that it isn't handed out."""
    disputes = await _free_disputed(call, stay)
    if not disputes:
        return
    available = await available_of(call, stay)
    ledger = Ledger(call.book.id, stay.currency, call.now)
    for whose, own in disputes.items():
        await credit.hold_anew(call.db, ledger, own, whose, available.get(whose, Decimal(0)))


async def _free_disputed(call: Call, stay: Stay) -> dict[CustomerId, list[DisputedCredit]]:
    """Release the disputes' holds on a locked stay's money; those that may, by owner."""
    payers = await store.list_payers(call.db, BookKey(call.book.id, stay.id))
    found: dict[CustomerId, list[DisputedCredit]] = {}
    if payers:
        # A change of an order locks the order, and then disputes.
        await _lock_orders(call, stay)
        disputes = await lock_of_payments(call.db, call.book.id, list(payers))
        await credit.free(call.db, Ledger(call.book.id, stay.currency, call.now), disputes)
        for one in disputes:
            found.setdefault(payers[one.payin_id], []).append(one)
    return found


async def _payer(call: Call, stay: Stay, tender: Tender) -> CustomerId:
    if tender.receipt_id is None:
        return stay.customer_id
    key = BookKey(call.book.id, stay.id)
    return await store.find_payer(call.db, key, tender.receipt_id) or stay.customer_id


async def book(
    call: Call, stay: Stay, whose: CustomerId, tender: Tender, way: Way
) -> FolioPaymentRow:
    """Post money that comes in for a locked stay, or leaves it, and keep it as a payment."""
    payment_id, happened_at = new_id(), tender.at or call.now
    source = Source(
        type=rules.SOURCE,
        id=payment_id,
        happened_at=happened_at,
        customer_id=whose,
    )
    ledger = Ledger(call.book.id, stay.currency, call.now)
    posted = await post(call.db, ledger, source, _postings(whose, tender, way))
    by = actor_of(call.caller)
    row = FolioPaymentRow(
        id=payment_id,
        customer_id=whose,
        kind=way.kind,
        method=tender.method,
        amount=tender.amount,
        reference=tender.reference,
        reason=way.reason,
        transaction_id=posted.transactions[0],
        link_id=tender.link_id,
        receipt_id=tender.receipt_id,
        recorded_by_id=by.id,
        recorded_by_name=by.name,
        happened_at=happened_at,
    )
    await store.insert_payment(call.db, BookKey(call.book.id, stay.id), row, call.now)
    return row


def _postings(whose: CustomerId, tender: Tender, way: Way) -> Postings:
    make = rules.received if way.kind == "payment" else rules.handed_back
    return make(whose, tender.method, tender.amount)


async def _keep(call: Call, stay: Stay, payment_id: UUID, use: Use) -> None:
    key = BookKey(call.book.id, stay.id)
    await stays.insert_use(call.db, key, payment_id, use, call.now)


async def available_of(call: Call, stay: Stay) -> Funds:
    """The unspent money of a locked stay that can leave it."""
    return await _available(call, (await state_of(call, stay)).unspent)


async def _available(call: Call, unspent: Funds) -> Funds:
    """The unspent money, as far as the credit that it is part of was not spent elsewhere."""
    found: dict[CustomerId, Decimal] = {}
    for customer_id in sorted(unspent):
        account = Account("customer_credit", customer_id)
        credit = await lock_available(call.db, call.book.id, account)
        found[customer_id] = max(min(unspent[customer_id], credit), Decimal(0))
    return found


async def new_faults(
    call: Call, reservation_id: UUID, new: NewFolioPayment | NewFolioRefund
) -> list[FieldError]:
    """The faults of a new payment or refund of a stay."""
    key = BookKey(call.book.id, reservation_id)
    return amount_faults(new, existing(await stays.find_stay(call.db, key)))


def amount_faults(new: NewFolioPayment | NewFolioRefund, stay: Stay) -> list[FieldError]:
    """An amount that is finer than the currency of the stay."""
    try:
        wrong = check_scale(new.amount, stay.currency)
    except InvalidField:
        return []
    return [FieldError("amount", wrong)] if wrong else []
