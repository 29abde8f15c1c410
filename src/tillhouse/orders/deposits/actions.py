"""Give orders an account to be paid into, and ask about it."""

from collections.abc import Awaitable, Callable

import msgspec
import structlog

from tillhouse.access.call import Call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.http.route import Reply
from tillhouse.kit.errors import Problem, Refused
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import TARGET, is_wanted
from tillhouse.orders.deposits.store import DepositFacts, find_account, find_deposit
from tillhouse.orders.showing import show
from tillhouse.orders.types import Order
from tillhouse.payins.accounts import open_account
from tillhouse.payins.asking import ask
from tillhouse.payins.types import AccountTarget

log = structlog.get_logger()


def following(call: Call, order: Order) -> Callable[[], Awaitable[Reply[Order]]] | None:
    """The work after the commit that opens the account of an order which has none yet."""
    needs_account = is_wanted(order.payment_method, order.status, order.remaining_amount)
    if not (order.is_automated and needs_account):
        return None

    async def after() -> Reply[Order]:
        await open_deposit(call.services, call.book, OrderId(order.id))
        return Reply(await _shown(call, OrderId(order.id)))

    return after


async def open_deposit(services: Services, book: Book, order_id: OrderId) -> bool:
    """Open the account of an order, if it needs one; whether it has all it needs."""
    async with services.pool.reading() as db:
        facts = await find_deposit(db, book.id, order_id)
    if facts is None or not is_wanted(facts.method, facts.status, facts.outstanding):
        return True
    try:
        await open_account(services, _target(book, order_id, facts))
    except (Problem, TimeoutError) as error:
        log.warning("deposit_not_opened", order=str(order_id), error=str(error)[:200])
        return False
    return True


def _target(book: Book, order_id: OrderId, facts: DepositFacts) -> AccountTarget:
    return AccountTarget(
        book=book,
        type=TARGET,
        id=order_id,
        order_id=order_id,
        # An account that waits for just the debt stays, though a part of its amount is there.
        amount=facts.asked
        if facts.asked is not None and facts.awaited == facts.outstanding
        else facts.outstanding,
        currency=facts.currency,
        email=facts.email,
        name=facts.business_name,
        description=f"Order {facts.short_code}",
    )


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
        return Reply(await _shown(call, order_id))

    return Reply(order, after=after)


async def _shown(call: Call, order_id: OrderId) -> Order:
    async with call.services.pool.reading() as db:
        return await show(msgspec.structs.replace(call, db=db), order_id)
