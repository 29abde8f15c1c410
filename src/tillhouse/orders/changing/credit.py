"""Whether a customer's credit covers a payment by it, before the database decides."""

from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import Account
from tillhouse.ledger.store.holds import find_available
from tillhouse.orders.changing.credit_rules import check_credit, not_covered
from tillhouse.orders.changing.rules import OrderState


async def check_spending(call: Call, before: OrderState, after: OrderState) -> None:
    """Refuse to spend credit that isn't there, by a change of an order that is locked."""
    check_credit(before, after)
    spent = after.amount_paid - before.amount_paid
    if after.payment_method != "credit" or spent <= 0 or after.customer_id is None:
        return
    if reason := await reason_against_spending(call, after.customer_id, spent):
        raise Refused(reason)


async def reason_against_spending(
    call: Call, customer_id: CustomerId, amount: Decimal
) -> str | None:
    """Why a customer's credit doesn't pay an amount.

    Read without a lock: of two that spend the same the bound of the balance refuses one.
    """
    account = Account("customer_credit", customer_id)
    available = await find_available(call.db, call.book.id, account)
    return not_covered(available, amount) if available < amount else None
