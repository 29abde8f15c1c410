"""Work out what recording a sale would come to, by the steps that record it."""

from datetime import datetime

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.ids import CustomerId
from tillhouse.orders import stock
from tillhouse.orders.recording import actions
from tillhouse.orders.recording.actions import NotRecorded
from tillhouse.orders.recording.named import facts_of, is_unknown, newcomer_of
from tillhouse.orders.recording.rules import answer
from tillhouse.orders.recording.store.closed import find_closed_days
from tillhouse.orders.recording.types import OrderPreview
from tillhouse.orders.types import NewOrder

# The answer says it, as no other does: nothing can be taken for an order.
PREVIEWED = "Nothing was recorded"


async def preview(call: Call, new: NewOrder) -> OrderPreview:
    """Tell what the order would come to; nothing is written, and nothing is locked."""
    # The key of this request belongs to the preview: no order was made with it.
    own = msgspec.structs.replace(call, claim=None)
    facts = await facts_of(own, new)
    lines = await actions.judged(own, new, facts)
    if is_unknown(new, facts):
        # A customer who is made with the order has neither credit nor used promotions.
        facts = msgspec.structs.replace(facts, customer=newcomer_of(new))
    customer_id = CustomerId(facts.customer.id) if facts.customer else None
    sale = await actions.decided(own, new, facts, lines, customer_id)
    entry = actions.entered(own, new, facts, sale, customer_id)
    await actions.check_payment(own, facts, sale, entry)
    if sale.is_import:
        await _check_open_period(own, sale.occurred_at)
    if short := await stock.reason_against_moves(own, sale.needs, entry.moves):
        raise NotRecorded(short)
    return answer.previewed(entry.order, entry.items, facts)


async def _check_open_period(call: Call, at: datetime) -> None:
    """Refuse a sale of the past within closed books, in the words of the constraint."""
    days = await find_closed_days(call.db, call.book.id, at)
    if days is None:
        return
    constraints = call.services.declared.constraints
    if refusal := constraints.refusal_of("books_period_is_open", NotRecorded.code, days):
        raise refusal
