"""Whether an order is paid into an account of its own, and the opening of that account."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal

import msgspec
import structlog

from tillhouse.access.call import Call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.http.route import Reply
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.errors import Problem
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.store import (
    DepositFacts,
    find_deposit,
    update_automated,
)
from tillhouse.orders.money_types import ONLINE, GivenMethod
from tillhouse.orders.showing import show
from tillhouse.orders.types import Order, PaymentMethod, Status
from tillhouse.payins.accounts import open_account
from tillhouse.payins.connections import AmountNotTaken, NoProvider, check_collects
from tillhouse.payins.types import AccountTarget, Collects

log = structlog.get_logger()

METHOD = ONLINE
"""The method of payment by which an order gets an account of its own."""
TARGET = "order"
OPENING = "order_deposit"
PAYABLE: tuple[Status, ...] = ("scheduled", "pending", "completed")
# For so long after the commit the account is left to the request that asked for it.
GRACE = timedelta(seconds=40)


def is_wanted(method: PaymentMethod, status: Status, outstanding: Decimal) -> bool:
    """Whether an order is to get an account of its own."""
    return method == METHOD and status in PAYABLE and outstanding > 0


async def reason_against(call: Call, method: GivenMethod | None, currency: str) -> str | None:
    """Why an order can't be paid like this, if so."""
    if method != METHOD:
        return None
    return await _against(call, Collects(currency=currency, opens="account"))


async def reason_against_account(call: Call, currency: str, amount: Decimal) -> str | None:
    """Why no provider would open an account for so much, if so."""
    return await _against(call, Collects(currency=currency, opens="account", amount=amount))


async def _against(call: Call, wanted: Collects) -> str | None:
    """Whether the providers are up isn't asked: they come back, and it is opened then."""
    try:
        await check_collects(call.services, call.db, call.book, wanted)
    except (NoProvider, AmountNotTaken) as error:
        return error.message
    return None


async def begin(call: Call, order_id: OrderId) -> None:
    """Say that the order has a deposit, whose account is opened after the commit."""
    key = BookKey(call.book.id, order_id)
    if await update_automated(call.db, key, call.now):
        new = NewJob(book_id=call.book.id, kind=OPENING, subject_id=order_id)
        await queue_job(call.db, new, call.now + GRACE, call.now)


def following(call: Call, order: Order) -> Callable[[], Awaitable[Reply[Order]]] | None:
    """The work after the commit that opens the account of an order which has none yet."""
    needs_account = is_wanted(order.payment_method, order.status, order.remaining_amount)
    if not (order.is_automated and needs_account):
        return None

    async def after() -> Reply[Order]:
        await open_deposit(call.services, call.book, OrderId(order.id))
        return Reply(await shown_now(call, OrderId(order.id)))

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


async def shown_now(call: Call, order_id: OrderId) -> Order:
    """The order as it stands after the commit."""
    async with call.services.pool.reading() as db:
        return await show(msgspec.structs.replace(call, db=db), order_id)
