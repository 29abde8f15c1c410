"""Disputes of payments of orders: told of, and the order stays as it is.

The money that a provider takes for a dispute is a loss of the business: the order was sold and
paid, so its status, its amounts and its debt stay, and no refund of it is shown. The part that was
paid too much is held: it was the customer's credit.
"""

from functools import partial

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.ids import OrderId
from tillhouse.orders import announce
from tillhouse.orders.changing import credit
from tillhouse.orders.changing.store import lock_order
from tillhouse.payins.disputes.actions import find_shown
from tillhouse.payins.events import ORDER_DISPUTE
from tillhouse.payins.store.connections import find_book
from tillhouse.webhooks.emit import emit_all


def kind(services: Services) -> LocalKind:
    """The job that tells of a dispute of an order."""
    return LocalKind(name=ORDER_DISPUTE, run=partial(_tell, services))


async def _tell(services: Services, db: Db, job: Job) -> bool:
    book, dispute = await find_book(db, job.book_id), await find_shown(db, job)
    if book is None or dispute is None or dispute.order_id is None:
        return False
    order = await lock_order(db, job.book_id, OrderId(dispute.order_id))
    if order is None:
        return False
    which = Book(job.book_id, book["environment"])
    call = system_call(services, db, book["business_id"], which)
    await credit.hold_disputed(call, order, await credit.free_disputed(call, order))
    subject = announce.AnnouncedOrder(order.id, order.store_id, order.customer_id)
    await emit_all(call, [announce.disputed(call, subject, order.status, dispute)])
    return False
