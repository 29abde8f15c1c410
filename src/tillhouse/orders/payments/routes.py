"""The routes of payments of orders."""

from tillhouse.http.route import Route, Scope
from tillhouse.orders.payments import actions

_PAYMENTS = "/v1/orders/{order_id}/payments"

ROUTES: tuple[Route, ...] = (
    Route("GET", _PAYMENTS, actions.list_payments, Scope("orders:read"),
          "List the payments of an order", "Payments"),
    Route("POST", _PAYMENTS, actions.record, Scope("orders:write"),
          "Record a payment of an order, by any tender", "Payment recorded",
          status=201, idempotent=True, faults=actions.new_faults),
)  # fmt: skip
