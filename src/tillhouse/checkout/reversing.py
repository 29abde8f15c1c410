"""A payment that its provider took back, taken out of its order again."""

from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.writing import Cause, Repayment, write
from tillhouse.orders.posting.rules import MoneyMove
from tillhouse.orders.refunds.rules import refunded

_REVERSED = "The payment provider took the payment back."


async def give_back(call: Call, order: OrderState, amount: Decimal) -> None:
    """Take an amount out of an order: a reversal that takes all of it refunds the order."""
    back = min(amount, order.amount_paid - order.change_amount)
    if back > 0:
        cause = Cause(
            move=MoneyMove(method="cloove_pay", is_refund=True, keeps_change=True),
            repayment=Repayment(reason=_REVERSED),
        )
        await write(call, order, refunded(order, back), cause)
