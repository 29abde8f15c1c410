"""The routes of debts."""

from tillhouse.http.route import Route, Scope
from tillhouse.orders.debts import actions

_READ = Scope("finance:transactions:read")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/debts", actions.list_debts, _READ,
          "List debts, the last opened first", "Debts"),
    Route("GET", "/v1/debts/{debt_id}", actions.show_debt, _READ, "Read one debt", "Debt"),
)  # fmt: skip
