"""The routes of payments and refunds of orders, and of debts."""

from tillhouse.http.route import Route, Scope
from tillhouse.orders.debts import actions as debts
from tillhouse.orders.payments import actions as payments
from tillhouse.orders.refunds import actions as refunds

_READ, _WRITE = Scope("orders:read"), Scope("orders:write")
_READ_DEBTS = Scope("finance:transactions:read")
_PAYMENTS = "/v1/orders/{order_id}/payments"
_REFUNDS = "/v1/orders/{order_id}/refunds"

ROUTES: tuple[Route, ...] = (
    Route("GET", _PAYMENTS, payments.list_payments, _READ,
          "List the payments of an order", "Payments"),
    Route("POST", _PAYMENTS, payments.record, _WRITE,
          "Record a payment of an order, by any tender", "Payment recorded",
          status=201, idempotent=True, faults=payments.new_faults),
    Route("GET", _REFUNDS, refunds.list_refunds, _READ,
          "List the refunds of an order", "Refunds"),
    Route("POST", _REFUNDS, refunds.refund, _WRITE,
          "Give money of an order back, by an amount or by lines", "Refund recorded",
          status=201, idempotent=True, faults=refunds.new_faults),
    Route("POST", f"{_REFUNDS}/preview", refunds.preview, _WRITE,
          "Tell what a refund would give back, without doing it", "Nothing was given back",
          faults=refunds.new_faults),
    Route("GET", "/v1/debts", debts.list_debts, _READ_DEBTS,
          "List debts, the last opened first", "Debts"),
    Route("GET", "/v1/debts/{debt_id}", debts.show_debt, _READ_DEBTS, "Read one debt", "Debt"),
)  # fmt: skip
