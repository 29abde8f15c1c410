"""Give money of an order back: by an amount, or by the cost of lines."""

from tillhouse.access.call import Call
from tillhouse.kit.errors import FieldError, Invalid, Refused, check
from tillhouse.kit.ids import OrderId
from tillhouse.orders import stock
from tillhouse.orders.changing.actions import check_seen, lock, look_at
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.writing import Cause, Repayment, write
from tillhouse.orders.deposits.beginning import METHOD, reason_against
from tillhouse.orders.money_types import RefundedLine
from tillhouse.orders.posting.rules import MoneyMove
from tillhouse.orders.refunds import rules
from tillhouse.orders.refunds.rules import DecidedRefund, RefundFacts
from tillhouse.orders.refunds.store import find_refund_facts
from tillhouse.orders.refunds.types import NewRefund, RefundPreview
from tillhouse.orders.returning.actions import begin, lock_money
from tillhouse.orders.returning.rules import NOT_RETURNABLE, ReturnablePayment, chosen
from tillhouse.orders.returning.store import list_returnable
from tillhouse.orders.showing import show
from tillhouse.orders.types import Order, RefundShown
from tillhouse.stock.facts import MovedStock


async def new_faults(call: Call, order_id: OrderId, new: NewRefund) -> list[FieldError]:
    """The faults of a new refund."""
    order = await look_at(call, order_id)
    facts = await find_refund_facts(call.db, call.book.id, order_id)
    return rules.refund_faults(new, order, facts)


async def preview(call: Call, order_id: OrderId, new: NewRefund) -> RefundPreview:
    """Tell what a refund comes to, of its lines and in all; nothing is done or held up."""
    order = await look_at(call, order_id)
    facts = await find_refund_facts(call.db, call.book.id, order_id)
    decided = _decided(order, facts, new)
    payments = await _returnable(call, order, facts, decided, new)
    if payments is not None:
        chosen(payments, decided.amount, new.payment_id)
    lines = [RefundedLine(item_id=one.line.item_id, quantity=one.quantity, amount=one.amount)
             for one in decided.lines]  # fmt: skip
    return RefundPreview(amount=decided.amount, method=decided.method, lines=lines)


async def refund(call: Call, order_id: OrderId, new: NewRefund) -> Order:
    """Give money back, and the stock of lines where it is wished.

    Money that came by a payment provider goes back through it, by a worker.
    """
    await lock_money(call, order_id)
    order = await lock(call, order_id)
    facts = await find_refund_facts(call.db, call.book.id, order_id)
    decided = _decided(order, facts, new)
    payments = await _returnable(call, order, facts, decided, new)
    if payments is not None:
        await begin(call, order, decided, new, payments)
        return await show(call, order_id)
    moved = await _restock(call, order, decided) if new.restock else []
    cause = Cause(
        move=MoneyMove(method=decided.method, is_refund=True, keeps_change=True),
        repayment=Repayment(
            reason=new.reason,
            lines=decided.shown_lines(),
            restocked=bool(moved),
            moved=moved,
        ),
    )
    after = rules.refunded(order, decided.amount, is_of_lines=bool(decided.lines))
    await write(call, order, after, cause)
    return await show(call, order_id)


def _decided(order: OrderState, facts: RefundFacts, new: NewRefund) -> DecidedRefund:
    check(rules.refund_faults(new, order, facts))
    check_seen(order, new.if_amount_paid)
    return rules.decided(new, order, facts)


async def _returnable(
    call: Call, order: OrderState, facts: RefundFacts, decided: DecidedRefund, new: NewRefund
) -> list[ReturnablePayment] | None:
    """The payments that a provider can give back; None: it is handed back another way, and may."""
    _check_restock(order, new)
    if decided.method == METHOD:
        payments = await list_returnable(call.db, call.book.id, order.id)
        if payments or new.payment_id is not None:
            return payments
    elif new.payment_id is not None:
        raise Invalid.field("payment_id", NOT_RETURNABLE)
    if reason := await reason_against(call, decided.method, order.currency):
        raise Refused(reason)
    rules.check_tender(decided, facts)
    rules.check_disputed(decided, facts, order)
    return None


def _check_restock(order: OrderState, new: NewRefund) -> None:
    if new.restock and order.stock_state != "taken":
        raise Refused("The stock of this order has not left, or is back already.")


async def _restock(call: Call, order: OrderState, decided: DecidedRefund) -> list[MovedStock]:
    quantities = {one.line.item_id: one.quantity for one in decided.lines}
    return await stock.give_back(call, order, quantities)


async def list_refunds(call: Call, order_id: OrderId) -> list[RefundShown]:
    """The refunds of an order, the oldest first."""
    return (await show(call, order_id)).refunds
