"""Rules of tables and their sessions: pure decisions."""

from uuid import UUID

import msgspec

from tillhouse.kit.errors import Conflict, Refused
from tillhouse.kit.ids import StoreId
from tillhouse.seating.types import Session


class OutOfUse(Refused, message="The table is out of use: choose another, or set is_active."):
    """A table that is out of use can't be seated."""


class SessionClosed(Refused, message="The session is closed: open a new one for the table."):
    """A closed session doesn't change."""


class StillSeated(Refused, message="The table has an open session: close it first."):
    """A table can't go from under its guests."""


class TableFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A table as it is to be stored."""

    store_id: StoreId | None
    label: str
    area: str | None
    seats: int | None
    is_active: bool


class SessionFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a session that may change."""

    covers: int | None


def already_open(session_id: UUID) -> Conflict:
    """The refusal of a second open session at a table."""
    return Conflict(
        f"The table has the open session {session_id} already: charge to it, or close it first."
    )


def still_owed(unpaid: int, session: Session) -> Refused:
    """The refusal to let guests go who have not paid."""
    orders = "1 order is" if unpaid == 1 else f"{unpaid} orders are"
    return Refused(
        f"{orders} not paid in full, {session.unpaid_amount:f} {session.currency} in all: have "
        'that paid, completed or cancelled first, or close the session with {"force": true}.'
    )
