"""Whether an order is paid into an account of its own, and the beginning of that."""

from datetime import timedelta
from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.store import update_automated
from tillhouse.orders.types import PaymentMethod, Status
from tillhouse.payins.connections import Collects, NoProvider, ProvidersAway, choose_provider

METHOD: PaymentMethod = "cloove_pay"
"""The method of payment by which an order gets an account of its own."""
TARGET = "order"
OPENING = "order_deposit"
PAYABLE: tuple[Status, ...] = ("scheduled", "pending", "completed")
# For so long after the commit the account is left to the request that asked for it.
GRACE = timedelta(seconds=40)


def is_wanted(method: PaymentMethod, status: Status, outstanding: Decimal) -> bool:
    """Whether an order is to get an account of its own."""
    return method == METHOD and status in PAYABLE and outstanding > 0


async def reason_against(call: Call, method: PaymentMethod | None, currency: str) -> str | None:
    """Why an order can't be paid like this, if so."""
    if method != METHOD:
        return None
    try:
        await choose_provider(call.services, call.db, call.book, Collects(currency, "account"))
    except NoProvider as error:
        return error.message
    except ProvidersAway:
        # They come back; the account is opened then.
        return None
    return None


async def begin(call: Call, order_id: OrderId) -> None:
    """Say that the order has a deposit, whose account is opened after the commit."""
    key = BookKey(call.book.id, order_id)
    if await update_automated(call.db, key, call.now):
        new = NewJob(book_id=call.book.id, kind=OPENING, subject_id=order_id)
        await queue_job(call.db, new, call.now + GRACE, call.now)
