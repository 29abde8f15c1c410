"""Receive payments of orders: by hand, or for other rooms within their own transaction."""

from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.errors import FieldError, Refused, check
from tillhouse.kit.ids import OrderId
from tillhouse.orders.changing import rules as changing
from tillhouse.orders.changing.actions import check_seen, lock
from tillhouse.orders.changing.credit import check_credit, check_spending
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.writing import Cause, write
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.payments import rules
from tillhouse.orders.payments.rules import OrderPaymentRow, Tender
from tillhouse.orders.payments.store import count_payments
from tillhouse.orders.payments.types import NewPayment
from tillhouse.orders.posting.rules import MoneyMove
from tillhouse.orders.showing import show
from tillhouse.orders.types import Order, PaymentShown, Status


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A payment that was received, and how its order stands since."""

    payment_id: UUID
    transaction_id: UUID
    status: Status
    amount_paid: Decimal
    remaining_amount: Decimal


async def receive(call: Call, order_id: OrderId, tender: Tender) -> Receipt:
    """Book money that came in for an order, within the caller's transaction.

    It is booked whatever the order's status: of an order that is cancelled, refunded or paid
    already it is kept for the payer. Raises Missing for an order that is not there.
    """
    return await _receive(call, await lock(call, order_id), tender)


async def _receive(
    call: Call, order: OrderState, tender: Tender, *, by_hand: bool = False
) -> Receipt:
    paid = msgspec.structs.replace(
        order,
        amount_paid=order.amount_paid + tender.amount,
        tip_amount=order.tip_amount + tender.tip,
        payment_method=tender.method,
    )
    rules.check_sums(paid.position())
    if by_hand:
        await check_spending(call, order, paid)
    else:
        # The other room knows the credit of its customer.
        check_credit(order, paid)
    by = actor_of(call.caller)
    actor = {"id": str(by.id), "name": by.name}
    after = changing.settled(order, paid, order.status, None, (call.now, actor))
    written = await write(call, order, after, Cause(tender=tender))
    payment = written.payment
    assert payment is not None, "an amount above 0 came in"  # noqa: S101
    return Receipt(
        payment_id=payment.id,
        transaction_id=payment.transaction_id,
        status=after.status,
        amount_paid=after.amount_paid,
        remaining_amount=max(after.position().due - after.amount_paid, Decimal(0)),
    )


async def take_back(call: Call, order_id: OrderId, amount: Decimal) -> OrderPaymentRow:
    """Make an amount that an order was paid by credit the customer's credit again; its correction.

    Within the caller's transaction; the order owes the amount since.
    """
    order = await lock(call, order_id)
    after = msgspec.structs.replace(order, amount_paid=order.amount_paid - amount)
    by = actor_of(call.caller)
    actor = {"id": str(by.id), "name": by.name}
    after = changing.settled(order, after, order.status, None, (call.now, actor))
    cause = Cause(move=MoneyMove(method="credit"), tender=Tender(amount=-amount, method="credit"))
    payment = (await write(call, order, after, cause)).payment
    assert payment is not None, "an amount above 0 is taken back"  # noqa: S101
    return payment


async def new_faults(call: Call, order_id: OrderId, new: NewPayment) -> list[FieldError]:
    """The faults of a new payment."""
    order = await lock(call, order_id)
    return rules.payment_faults(new, order.currency, call.now)


async def record(call: Call, order_id: OrderId, new: NewPayment) -> Order:
    """Record a payment by hand."""
    order = await lock(call, order_id)
    check(rules.payment_faults(new, order.currency, call.now))
    check_seen(order, new.if_amount_paid)
    if order.status in ("cancelled", "refunded"):
        raise Refused(f"A {order.status} order takes no payment.")
    rules.check_room(await count_payments(call.db, call.book.id, order.id))
    await _receive(call, order, rules.tender_of(new, call.now), by_hand=True)
    return await show(call, order_id)


async def list_payments(call: Call, order_id: OrderId) -> list[PaymentShown]:
    """The payments of an order and their corrections, the oldest first."""
    return (await show(call, order_id)).payments
