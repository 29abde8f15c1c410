"""The routes of refunds of orders."""

from tillhouse.http.route import Route, Scope
from tillhouse.orders.refunds import actions

_REFUNDS = "/v1/orders/{order_id}/refunds"

ROUTES: tuple[Route, ...] = (
    Route("GET", _REFUNDS, actions.list_refunds, Scope("orders:read"),
          "List the refunds of an order", "Refunds"),
    Route("POST", _REFUNDS, actions.refund, Scope("orders:write"),
          "Give money of an order back, by an amount or by lines", "Refund recorded",
          status=201, idempotent=True, faults=actions.new_faults),
    Route("POST", f"{_REFUNDS}/preview", actions.preview, Scope("orders:write"),
          "Tell what a refund would give back, without doing it", "Nothing was given back",
          idempotent=True, faults=actions.new_faults),
)  # fmt: skip
