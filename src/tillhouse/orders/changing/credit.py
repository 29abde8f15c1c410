"""The credit of customers that a change of an order spends, gives or holds.

Whether it covers a payment is asked before the database decides.

Credit that an order gave its customer is held while a dispute has the money. The money of a stay
pays its orders as credit: what such an order needs no longer is held by the disputes of that money.
"""

from collections.abc import Sequence
from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import Account, Ledger
from tillhouse.ledger.store.holds import find_available
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.posting.rules import LedgerPosition, excess
from tillhouse.payins.disputes import credit as disputed_credit
from tillhouse.payins.disputes.store import lock_of_order, lock_of_stay
from tillhouse.payins.disputes.types import DisputedCredit, DisputedStayCredit


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


def check_credit(before: OrderState, after: OrderState) -> None:
    """Refuse to spend credit that isn't there, or to give an order paid with it to another.

    Credit beyond the debt would come back as credit at once: spent, and yet still there.
    """
    is_another = before.customer_id != after.customer_id
    if is_another and before.credit_amount:
        raise Refused("The order was paid with its customer's credit: the customer stays.")
    spent = after.amount_paid - before.amount_paid
    if spent <= 0 or after.payment_method != "credit":
        return
    if after.customer_id is None:
        raise Refused("Only a customer's credit can be spent: give the order a customer first.")
    owed = max(after.position().due - before.amount_paid, Decimal(0))
    if spent > owed:
        raise Refused(
            f"The order owes {owed:f}, and credit pays for that and no more: lower the amount."
        )


def not_covered(available: Decimal, wanted: Decimal) -> str:
    """Why credit doesn't pay an amount, and the remedy."""
    return (
        f"The customer's credit doesn't cover this: it is {max(available, Decimal(0)):f}, and "
        f"{wanted:f} are to be paid by it. Lower the amount, or record what they pay another way."
    )


async def free_disputed(call: Call, order: OrderState) -> Sequence[DisputedCredit]:
    """Let go of the credit that disputes of a locked order hold; those that may hold some."""
    disputes = await lock_of_order(call.db, call.book.id, order.id)
    await disputed_credit.free(call.db, Ledger(call.book.id, order.currency, call.now), disputes)
    return disputes


async def hold_disputed(call: Call, order: OrderState, disputes: Sequence[DisputedCredit]) -> None:
    """Hold the part that these took of the order's credit, as it stands now."""
    if order.customer_id is None:
        return
    ledger, kept = Ledger(call.book.id, order.currency, call.now), order.position().kept
    await disputed_credit.hold_anew(call.db, ledger, disputes, order.customer_id, kept)


async def free_of_stay(call: Call, order: OrderState) -> Sequence[DisputedStayCredit]:
    """Let go of the credit that disputes of its stay's money hold; those that may hold some."""
    disputes = await lock_of_stay(call.db, call.book.id, order.id)
    await disputed_credit.free(call.db, Ledger(call.book.id, order.currency, call.now), disputes)
    return disputes


async def hold_of_stay(
    call: Call,
    order: OrderState,
    positions: tuple[LedgerPosition, LedgerPosition],
    disputes: Sequence[DisputedStayCredit],
) -> None:
    """Hold the same amounts, and the part that a change of the order gave back to the stay."""
    if order.customer_id is None or not disputes:
        return
    before, after = (min(disputes[0].used, needed(position)) for position in positions)
    wanted = sum((one.held for one in disputes), before - after)
    ledger = Ledger(call.book.id, order.currency, call.now)
    await disputed_credit.hold_anew(call.db, ledger, disputes, order.customer_id, wanted)


def needed(position: LedgerPosition) -> Decimal:
    """The credit that pays an order, and that it needs."""
    return max(position.credit - position.kept, Decimal(0))


def is_moved(before: LedgerPosition, after: LedgerPosition) -> bool:
    """Whether a change of an order gives credit or takes some back."""
    found = excess(before), excess(after)
    kinds = {account.kind for accounts in found for account in accounts}
    return "customer_credit" in kinds and found[0] != found[1]
