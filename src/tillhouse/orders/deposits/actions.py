"""Ask about the account that an order is paid into."""

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Reply
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import open_deposit, shown_now
from tillhouse.orders.deposits.store import find_account
from tillhouse.orders.showing import show
from tillhouse.orders.types import Order
from tillhouse.payins.asking import ask


async def requery(call: Call, order_id: OrderId) -> Reply[Order]:
    """Ask the provider, after this transaction, for the payments of an order."""
    order = await show(call, order_id)
    if not order.is_automated:
        raise Refused("This order has no automated deposit: there is nothing to ask about.")

    async def after() -> Reply[Order]:
        async with call.services.pool.reading() as db:
            account_id = await find_account(db, BookKey(call.book.id, order_id))
        if account_id is not None:
            await ask(call.services, call.book, account_id)
        async with call.services.pool.transaction() as db:
            await apply(msgspec.structs.replace(call, db=db), order_id)
        await open_deposit(call.services, call.book, order_id)
        return Reply(await shown_now(call, order_id))

    return Reply(order, after=after)
