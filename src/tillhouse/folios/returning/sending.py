"""The jobs that send refunds of stays through providers: at most once, whatever breaks."""

from functools import partial

from tillhouse.access.process import Services
from tillhouse.folios.returning import outcome
from tillhouse.folios.returning.actions import SENDS
from tillhouse.folios.returning.rules import HEARD
from tillhouse.folios.returning.store import STAY_REFUNDS, lock_return
from tillhouse.jobs.kinds import Kind, LocalKind
from tillhouse.orders.returning.sending import Finds, RefundJobs, hear, outside_kinds
from tillhouse.payins.connections import find_provider
from tillhouse.payins.hooks import HEARD_STAY_REFUND

__all__ = ["HEARD", "LOOK", "SENDS", "kinds"]

LOOK = "stay_refund_look"


def kinds(services: Services, finds: Finds = find_provider) -> tuple[Kind, ...]:
    """The jobs of refunds of stays."""
    jobs = RefundJobs(
        sends=SENDS,
        looks=LOOK,
        hears=HEARD,
        lock=lock_return,
        mark=STAY_REFUNDS.update_asked,
        lock_whole=partial(outcome.lock, services),
    )
    hears = LocalKind(name=HEARD_STAY_REFUND, run=partial(hear, STAY_REFUNDS.list_heard, HEARD))
    return (*outside_kinds(services, finds, jobs), hears)
