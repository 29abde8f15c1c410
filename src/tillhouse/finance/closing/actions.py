"""Close the books up to a day, or open them again."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.callers import UserCaller
from tillhouse.finance.closing import rules, store
from tillhouse.finance.closing.rules import NewClosing, PeriodClosing
from tillhouse.http.route import Reply
from tillhouse.kit.errors import FieldError, Forbidden, check
from tillhouse.kit.values import DayClock
from tillhouse.stores.store import find_clock

_CLOSERS = ("owner", "admin")


async def show_closing(call: Call) -> PeriodClosing:
    """How far the books are closed."""
    clock = await find_clock(call, None)
    return _shown(await store.find_closed_until(call.db, call.book.id), clock)


async def new_faults(call: Call, new: NewClosing) -> list[FieldError]:
    """The faults of a closing."""
    clock = await find_clock(call, None)
    return rules.closing_faults(new, clock.today(call.now))


async def close(call: Call, new: NewClosing) -> Reply[PeriodClosing]:
    """Close the books up to a day; changes that are under way are waited for."""
    clock = await find_clock(call, None)
    check(rules.closing_faults(new, clock.today(call.now)))
    before = await store.lock_closed_until(call.db, call.book.id)
    after = rules.ends_of(new, clock)
    _check_right(call, before, after)
    if after != before:
        await store.update_closed_until(call.db, call.book.id, after)
        verb = "reopened" if rules.reopens(before, after) else "closed"
        told = {
            "environment": call.book.environment,
            "closedUntil": _shown(after, clock).closed_until,
            "before": _shown(before, clock).closed_until,
        }
        await audit.note(call, (f"books.{verb}", f"Books: {verb}"), told)
    is_opened = rules.reopens(before, after)
    return Reply(_shown(after, clock), message="Books opened" if is_opened else None)


def _check_right(call: Call, before: datetime | None, after: datetime | None) -> None:
    role = call.caller.role if isinstance(call.caller, UserCaller) else None
    if rules.reopens(before, after) and role != "owner":
        raise Forbidden("Only the owner may open a closed period again, logged in.")
    if role is not None and role not in _CLOSERS:
        raise Forbidden("Only the owner or an admin may close a period.")


def _shown(ends: datetime | None, clock: DayClock) -> PeriodClosing:
    if ends is None:
        return PeriodClosing(None)
    last = ends.astimezone(UTC).astimezone(ZoneInfo(clock.zone)) - clock.cutoff - timedelta(days=1)
    return PeriodClosing(last.date().isoformat())
