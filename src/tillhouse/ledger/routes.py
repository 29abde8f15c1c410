"""The routes of this room: /v1/debts."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.ledger import actions
from tillhouse.ledger.types import Debt, DebtFilter


async def list_debts(call: Call, query: DebtFilter) -> Reply[list[Debt]]:
    """List debts, the last opened first."""
    found, page = await actions.list_debts(call, query)
    return Reply("Debts", found, meta=page)


async def show_debt(call: Call, debt_id: UUID) -> Reply[Debt]:
    """Read one debt."""
    return Reply("Debt", await actions.show_debt(call, debt_id))


_READ = Scope("finance:transactions:read")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/debts", list_debts, _READ),
    Route("GET", "/v1/debts/{debt_id}", show_debt, _READ),
)
