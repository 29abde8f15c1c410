"""Money that goes out by a provider: sent at most once, and from then on only asked about."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import msgspec
import structlog

from tillhouse.jobs.kinds import Retry
from tillhouse.kit.text import storable
from tillhouse.providers.payments.provider import NotReached, Refused, Unclear, Unknown

# The answer of a provider about it.
Seen = TypeVar("Seen")
# The first look at one that has not ended; the next is an hour later, then one each day, for more
# than a year.
FIRST_LOOK = timedelta(minutes=5)
LOOKING = Retry(attempts_max=400, base=timedelta(hours=1), factor=24, most=timedelta(days=1))
SENDING = Retry(attempts_max=1000, base=timedelta(seconds=10), most=timedelta(minutes=15))
HEARING = Retry(attempts_max=20, base=timedelta(seconds=10))
LEASE = timedelta(seconds=90)
# A call that was cut off is executed within this time or never.
SETTLED_AFTER = timedelta(hours=1)
_REASON_LENGTH_MAX = 300

log = structlog.get_logger()


class Nothing(msgspec.Struct, frozen=True):
    """No outcome: whether it is certain that nothing was executed, and why."""

    is_certain: bool
    reason: str


class Outgoing(msgspec.Struct, Generic[Seen], frozen=True, kw_only=True):
    """The calls of a provider about one payout or refund."""

    reference: str
    send: Callable[[], Awaitable[Seen]]
    find: Callable[[], Awaitable[Seen]]
    # The outcome of one that it refuses, for this reason.
    failed: Callable[[str], Seen]


def is_settled(asked_at: datetime | None, at: datetime) -> bool:
    """Whether a call so long ago was executed or never will be."""
    return at - (asked_at or at) >= SETTLED_AFTER


async def ask(outgoing: Outgoing[Seen], *, is_unclear: bool, may_resend: bool) -> Seen | Nothing:
    """Send it, or ask how it ended where an earlier call may have been executed.

    One that the provider doesn't know is sent again where that is allowed.
    """
    if not is_unclear:
        return await _send(outgoing, is_repeated=False)
    try:
        return await outgoing.find()
    except Unknown:
        if may_resend:
            return await _send(outgoing, is_repeated=True)
        return Nothing(False, "the payment provider doesn't know it yet")
    except Exception as error:  # noqa: BLE001 - a look that failed says nothing
        return Nothing(False, _told(error))


async def _send(outgoing: Outgoing[Seen], *, is_repeated: bool) -> Seen | Nothing:
    try:
        return await outgoing.send()
    except Refused as refusal:
        refused = outgoing.failed(str(refusal) or "refused")
        return await _look_again(outgoing, refused) if is_repeated else refused
    except NotReached as error:
        return Nothing(not is_repeated, _told(error))
    except Exception as error:  # noqa: BLE001 - it may have been executed
        log.warning("outgoing_unclear", reference=outgoing.reference, error=_told(error))
        return Nothing(False, _told(error))


async def _look_again(outgoing: Outgoing[Seen], refused: Seen) -> Seen | Nothing:
    """A repetition was refused, perhaps since the call before it counts: then it is known now."""
    try:
        return await outgoing.find()
    except Unknown:
        return refused
    except Exception as error:  # noqa: BLE001 - a look that failed says nothing
        return Nothing(False, _told(error))


def _told(error: Exception) -> str:
    name = type(error).__name__
    named = f"unclear: {error}" if isinstance(error, Unclear) else f"{name}: {error}"
    return storable(named)[:_REASON_LENGTH_MAX]
