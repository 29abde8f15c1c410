"""Whether an order is paid into an account of its own, and the beginning of that."""

from datetime import timedelta
from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.store import update_automated
from tillhouse.orders.money_types import ONLINE, GivenMethod
from tillhouse.orders.types import PaymentMethod, Status
from tillhouse.payins.connections import AmountNotTaken, NoProvider, check_collects
from tillhouse.payins.types import Collects

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
