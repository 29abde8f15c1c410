"""The event of a dispute whose payment was for no order; orders tell of theirs themselves."""

from functools import partial
from typing import Any

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import iso
from tillhouse.payins.disputes.actions import find_shown
from tillhouse.payins.events import PAYMENT_DISPUTED
from tillhouse.payins.store.connections import find_book
from tillhouse.webhooks.emit import emit
from tillhouse.webhooks.events import ChangeData

PAYIN_DISPUTE = "payin_dispute"
ORDER_DISPUTE = "order_dispute"
"""The job that the room of orders declares; its subject is the dispute."""


def kind(services: Services) -> LocalKind:
    """The job that tells of a dispute."""
    return LocalKind(name=PAYIN_DISPUTE, run=partial(_tell, services))


async def _tell(services: Services, db: Db, job: Job) -> bool:
    book, dispute = await find_book(db, job.book_id), await find_shown(db, job)
    if book is None or dispute is None:
        return False
    which = Book(job.book_id, book["environment"])
    call = system_call(services, db, book["business_id"], which)
    metadata: dict[str, Any] = {
        "status": dispute.status,
        "amount": dispute.amount,
        "currency": dispute.currency,
        "paymentLinkId": dispute.payment_link_id,
        "dispute": dispute,
    }
    data = ChangeData(
        business_id=call.business_id,
        event_type=PAYMENT_DISPUTED.code,
        entity_type="dispute",
        entity_id=dispute.id,
        store_id=None,
        metadata=metadata,
        occurred_at=iso(call.now),
    )
    await emit(call, PAYMENT_DISPUTED, data)
    return False
