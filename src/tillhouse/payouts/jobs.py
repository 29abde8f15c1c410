"""The kinds of job of this room."""

from collections.abc import Sequence

from tillhouse.access.process import Services
from tillhouse.jobs.kinds import Kind
from tillhouse.payouts.accounts import checking
from tillhouse.payouts.freezing.actions import RESUMING
from tillhouse.payouts.gateway import Finds, find
from tillhouse.payouts.withdrawals import sending


def kinds(services: Services, finds: Finds = find) -> Sequence[Kind]:
    """Name enquiries, withdrawals, and those that waited while frozen."""
    return (checking.kind(services, finds), *sending.kinds(services, finds), RESUMING)
