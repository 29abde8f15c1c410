"""Freeze withdrawals, and let them go again: those that waited get their jobs back."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.access.rules import check_step_up
from tillhouse.access.store.businesses import find_currency
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.errors import FieldError, Refused, check
from tillhouse.kit.ids import LOWEST_ID
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults
from tillhouse.orders.money_types import actor_of
from tillhouse.payouts.freezing import store
from tillhouse.payouts.freezing.types import PayoutControls, PayoutSwitch

RESUMED = "payouts_resumed"
# The kind of job that sends one withdrawal.
WITHDRAWAL = "withdrawal"
_AT_ONCE = 500


class UnfreezingByOwner(
    Refused,
    message="Letting withdrawals go again, or raising their limit, is for the owner, logged in: "
    "a key may only freeze them.",
):
    """A credential that was stolen must not undo the freeze."""


async def show_controls(call: Call) -> PayoutControls:
    """Whether withdrawals are sent, and how much of them a day."""
    row = await store.show_controls(call.db, call.book.id)
    return PayoutControls(
        frozen=bool(row and row["frozen"]),
        reason=row["reason"] if row else None,
        frozen_at=row["frozen_at"] if row else None,
        frozen_by=row["frozen_by"] if row else None,
        max_per_day=row["max_per_day"] if row else None,
        consecutive_failures=row["failures"] if row else 0,
    )


async def set_controls(call: Call, switch: PayoutSwitch) -> PayoutControls:
    """Turn the switch, or set the limit; only the owner may loosen either."""
    check(await switch_faults(call, switch))
    before = await store.touch_controls(call.db, call.book.id, call.now)
    was_frozen, limit = before["frozen_at"] is not None, before["max_per_day"]
    is_frozen = was_frozen if switch.frozen is UNSET else switch.frozen
    after = limit if switch.max_per_day is UNSET else switch.max_per_day
    if (was_frozen and not is_frozen) or _is_higher(limit, after):
        _check_owner(call)
    if after != limit:
        await store.update_limit(call.db, call.book.id, after, call.now)
    if switch.frozen is not UNSET:
        freeze = (
            store.Freeze(switch.reason or "", actor_of(call.caller).name) if is_frozen else None
        )
        await store.update_frozen(call.db, call.book.id, freeze, call.now)
    if was_frozen and not is_frozen:
        resumed = NewJob(book_id=call.book.id, kind=RESUMED, subject_id=call.book.id)
        await queue_job(call.db, resumed, call.now, call.now)
    if was_frozen != is_frozen or limit != after:
        await _note(call, switch, (was_frozen, is_frozen), after)
    return await show_controls(call)


async def switch_faults(call: Call, switch: PayoutSwitch) -> list[FieldError]:
    """The faults of a turn of the switch."""
    currency = await find_currency(call.db, call.book.id)
    return faults(
        lambda: _freeze_errors(switch),
        lambda: _limit_errors(switch, currency),
    )


def _freeze_errors(switch: PayoutSwitch) -> Iterator[FieldError]:
    if switch.frozen is UNSET:
        if switch.max_per_day is UNSET:
            yield FieldError("frozen", "is required without max_per_day")
        if switch.reason is not None:
            yield FieldError("reason", "goes with frozen only")
    elif switch.frozen and not switch.reason:
        yield FieldError("reason", "is required to freeze withdrawals")


def _limit_errors(switch: PayoutSwitch, currency: str) -> Iterator[FieldError]:
    limit = switch.max_per_day
    if limit is not UNSET and limit is not None and (wrong := check_scale(limit, currency)):
        yield FieldError("max_per_day", wrong)


def _is_higher(before: Decimal | None, after: Decimal | None) -> bool:
    return before is not None and (after is None or after > before)


def _check_owner(call: Call) -> None:
    if isinstance(call.caller, KeyCaller):
        raise UnfreezingByOwner
    if isinstance(call.caller, UserCaller):
        if call.caller.role != "owner":
            raise UnfreezingByOwner
        check_step_up(call.caller, call.now)


async def _note(
    call: Call, switch: PayoutSwitch, frozen: tuple[bool, bool], limit: Decimal | None
) -> None:
    was_frozen, is_frozen = frozen
    verb = "frozen" if is_frozen else "resumed"
    if was_frozen == is_frozen:
        verb = "limited"
    metadata: dict[str, Any] = {
        "environment": call.book.environment,
        "frozen": is_frozen,
        "reason": switch.reason,
        "maxPerDay": limit,
    }
    await audit.note(call, (f"payouts.{verb}", f"Withdrawals: {verb}"), metadata)


async def _resume(db: Db, job: Job) -> bool:
    """Queue the withdrawals of a book that are not sent yet; one that is queued stays so."""
    after = LOWEST_ID
    while found := await store.list_waiting(db, job.book_id, after, _AT_ONCE):
        for withdrawal_id in found:
            new = NewJob(book_id=job.book_id, kind=WITHDRAWAL, subject_id=withdrawal_id)
            await queue_job(db, new, now(), now())
        after = found[-1]
    return False


RESUMING = LocalKind(name=RESUMED, run=_resume)
