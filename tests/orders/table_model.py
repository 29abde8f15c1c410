"""Tables once more in plain Python: who sits there, and what their orders come to."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol

import msgspec

from tests.orders.basket_model import ZERO, No


class Closed(No):
    """The guests are gone."""


class Ordered(Protocol):
    """The facts of an order that a bill needs."""

    session: int | None
    status: str
    total: Decimal
    is_deleted: bool

    @property
    def remaining(self) -> Decimal:
        """The amount still due."""
        ...


class Session(msgspec.Struct):
    """Guests at a table, from when they come until they go."""

    table: str
    is_open: bool = True


class Guests(msgspec.Struct):
    """All sessions that there were, the oldest first."""

    sessions: list[Session] = []

    def last(self, table: str) -> int:
        """The latest session of a table."""
        return max(n for n, session in enumerate(self.sessions) if session.table == table)

    def seat(self, table: str) -> None:
        """Guests come, if nobody sits there."""
        if any(session.is_open for session in self.sessions if session.table == table):
            raise No(409)
        self.sessions.append(Session(table))

    def joined(self, table: str) -> int:
        """The session that an order of the table belongs to."""
        number = self.last(table)
        if not self.sessions[number].is_open:
            raise Closed(400)
        return number

    def leave(self, table: str, orders: Iterable[Ordered], *, is_forced: bool) -> None:
        """Guests go, once they have paid; who is gone can't go again."""
        session = self.sessions[self.last(table)]
        if session.is_open and not is_forced and bill(self.last(table), orders)["unpaidAmount"]:
            raise No(400)
        session.is_open = False

    def shown(self, orders: Iterable[Ordered]) -> dict[int, dict[str, Any]]:
        """The fields read of each session."""
        return {
            number: {
                "status": "open" if session.is_open else "closed",
                "tableLabel": session.table,
                **bill(number, orders),
            }
            for number, session in enumerate(self.sessions)
        }


def bill(number: int, orders: Iterable[Ordered]) -> dict[str, Decimal | int]:
    """How many orders of a session count, what they come to, and what of it is owed."""
    counted = [
        order
        for order in orders
        if order.session == number and not order.is_deleted and order.status != "cancelled"
    ]
    owed = [order.remaining for order in counted if order.status in ("scheduled", "pending")]
    return {
        "ordersCount": len(counted),
        "totalAmount": sum((order.total for order in counted), ZERO),
        "unpaidAmount": sum(owed, ZERO),
    }
