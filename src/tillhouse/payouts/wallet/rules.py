"""Where a page of the statement begins: pure."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.clock import end_of_day, start_of_day
from tillhouse.kit.errors import Invalid
from tillhouse.kit.ids import BookId
from tillhouse.kit.secrets import same, sign
from tillhouse.payouts.wallet.types import NO_CURSOR, StatementCursor, StatementFilter

# Before the first entry of any wallet, and after the last.
EVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


class Position(msgspec.Struct, frozen=True):
    """A place in the statement: after this transfer, counted from the newest."""

    transfer_id: UUID
    # The balance before that transfer.
    balance: Decimal
    # The sum of the transfers of the last moments before it, when the balance was read: one that
    # was committed late among them has changed both.
    recent: Decimal


class Period(msgspec.Struct, frozen=True):
    """A part of the statement; the end doesn't belong to it."""

    since: datetime
    until: datetime

    @property
    def whole_days(self) -> tuple[date, date]:
        """The first day of UTC that is wholly within, and the first after it that isn't."""
        return (self.since + _DAY - timedelta.resolution).date(), self.until.date()


def period_of(wanted: StatementFilter, zone: str) -> Period:
    """The period that is asked for, by days of the business."""
    first, beyond = EVER
    if wanted.since:
        first = max(first, start_of_day(wanted.since.day, zone))
    if wanted.until:
        beyond = min(beyond, end_of_day(wanted.until.day, zone) + timedelta(milliseconds=1))
    if wanted.since and wanted.until and wanted.until.day < wanted.since.day:
        raise Invalid.field("to", "must not be before from")
    return Period(first, max(first, beyond))


def begin_within(cursor: Position | None, end: Position, *, is_over: bool) -> Position | None:
    """The place where a page of a period begins; None: at the newest entry of all.

    Until a period is over its newest entry is that of the wallet, whatever comes meanwhile.
    """
    if cursor is None:
        return end if is_over else None
    if cursor.transfer_id >= end.transfer_id:
        raise Invalid.field("cursor", "lies after the period: use `nextCursor` of a page of it")
    return cursor


def position_of(cursor: StatementCursor, key: bytes, book_id: BookId) -> Position:
    """The place that a cursor names: its balance is told on, so it has to be one of ours."""
    transfer_id, balance, recent, _ = cursor.split("_", 3)
    position = Position(UUID(transfer_id), Decimal(balance), Decimal(recent))
    if not same(cursor, cursor_of(position, key, book_id)):
        raise Invalid.field("cursor", NO_CURSOR)
    return position


def cursor_of(position: Position, key: bytes, book_id: BookId) -> str:
    """The cursor that names a place in the statement of a book, signed."""
    place = f"{position.transfer_id}_{position.balance:f}_{position.recent:f}"
    return f"{place}_{sign(key, str(book_id), place)}"
