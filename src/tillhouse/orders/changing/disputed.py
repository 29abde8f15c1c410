"""Credit that an order gave its customer, while a dispute has the money: held by it."""

from collections.abc import Sequence

from tillhouse.access.call import Call
from tillhouse.ledger.rules import Ledger
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.posting.rules import LedgerPosition, excess
from tillhouse.payins.disputes import credit
from tillhouse.payins.disputes.store import lock_of_order
from tillhouse.payins.disputes.types import DisputedCredit


async def free(call: Call, order: OrderState) -> Sequence[DisputedCredit]:
    """Let go of the credit that disputes of a locked order hold; those that may hold some."""
    disputes = await lock_of_order(call.db, call.book.id, order.id)
    await credit.free(call.db, Ledger(call.book.id, order.currency, call.now), disputes)
    return disputes


async def hold_anew(call: Call, order: OrderState, disputes: Sequence[DisputedCredit]) -> None:
    """Hold what these took of the credit that the order has given, as it stands now."""
    if order.customer_id is None:
        return
    ledger, kept = Ledger(call.book.id, order.currency, call.now), order.position().kept
    await credit.hold_anew(call.db, ledger, disputes, order.customer_id, kept)


def is_moved(before: LedgerPosition, after: LedgerPosition) -> bool:
    """Whether a change of an order gives credit or takes some back."""
    found = excess(before), excess(after)
    kinds = {account.kind for accounts in found for account in accounts}
    return "customer_credit" in kinds and found[0] != found[1]
