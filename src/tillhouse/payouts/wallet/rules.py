"""Where a page of the statement begins: pure."""

from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.payouts.wallet.types import StatementCursor


class Position(msgspec.Struct, frozen=True):
    """A place in the statement: after this transfer, counted from the newest."""

    transfer_id: UUID
    # The balance before that transfer.
    balance: Decimal
    # The sum of the transfers of the last moments before it, when the balance was read: one that
    # was committed late among them has changed both.
    recent: Decimal


def position_of(cursor: StatementCursor) -> Position:
    """The place that a cursor names."""
    transfer_id, balance, recent = cursor.split("_")
    return Position(UUID(transfer_id), Decimal(balance), Decimal(recent))


def cursor_of(position: Position) -> str:
    """The cursor that names a place."""
    return f"{position.transfer_id}_{position.balance:f}_{position.recent:f}"
