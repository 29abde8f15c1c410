"""Reading debts."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.errors import existing
from tillhouse.kit.page import PageOf, meta
from tillhouse.orders.debts import store
from tillhouse.orders.debts.types import Debt, DebtFilter


async def list_debts(call: Call, query: DebtFilter) -> PageOf[Debt]:
    """One page of the debts that fit."""
    wanted = store.DebtConditions(
        status=query.status, customer_id=query.customer_id, order_id=query.order_id
    )
    page = query.pick()
    if wanted.customer_id or wanted.order_id:
        total = await store.count_debts(call.db, call.book.id, wanted)
    else:
        total = await store.count_tallied(call.db, call.book.id, wanted.status)
    return PageOf(await store.list_debts(call.db, call.book.id, wanted, page), meta(page, total))


async def show_debt(call: Call, debt_id: UUID) -> Debt:
    """One debt."""
    return existing(await store.show_debt(call.db, call.book.id, debt_id))
