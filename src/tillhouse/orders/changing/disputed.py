"""Credit that an order gave its customer, while a dispute has the money: held by it.

The money of a stay pays its orders as credit: what such an order needs no longer is held by the
disputes of that money.
"""

from collections.abc import Sequence
from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.ledger.rules import Ledger
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.posting.rules import LedgerPosition, excess
from tillhouse.payins.disputes import credit
from tillhouse.payins.disputes.store import lock_of_order, lock_of_stay
from tillhouse.payins.disputes.types import DisputedCredit, DisputedStayCredit


async def free(call: Call, order: OrderState) -> Sequence[DisputedCredit]:
    """Let go of the credit that disputes of a locked order hold; those that may hold some."""
    disputes = await lock_of_order(call.db, call.book.id, order.id)
    await credit.free(call.db, Ledger(call.book.id, order.currency, call.now), disputes)
    return disputes


async def hold_anew(call: Call, order: OrderState, disputes: Sequence[DisputedCredit]) -> None:
    """Hold the part that these took of the order's credit, as it stands now."""
    if order.customer_id is None:
        return
    ledger, kept = Ledger(call.book.id, order.currency, call.now), order.position().kept
    await credit.hold_anew(call.db, ledger, disputes, order.customer_id, kept)


async def free_of_stay(call: Call, order: OrderState) -> Sequence[DisputedStayCredit]:
    """Let go of the credit that disputes of its stay's money hold; those that may hold some."""
    disputes = await lock_of_stay(call.db, call.book.id, order.id)
    await credit.free(call.db, Ledger(call.book.id, order.currency, call.now), disputes)
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
    await credit.hold_anew(call.db, ledger, disputes, order.customer_id, wanted)


def needed(position: LedgerPosition) -> Decimal:
    """The credit that pays an order, and that it needs."""
    return max(position.credit - position.kept, Decimal(0))


def is_moved(before: LedgerPosition, after: LedgerPosition) -> bool:
    """Whether a change of an order gives credit or takes some back."""
    found = excess(before), excess(after)
    kinds = {account.kind for accounts in found for account in accounts}
    return "customer_credit" in kinds and found[0] != found[1]
