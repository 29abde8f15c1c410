"""The routes of payment providers."""

from tillhouse.http.route import Route, Scope
from tillhouse.payins.connecting import actions

_PROVIDERS = "/v1/payment-providers"

ROUTES: tuple[Route, ...] = (
    Route("GET", _PROVIDERS, actions.list_all, Scope("payment_providers:read"),
          "List the payment providers that collect for the business, and those that could",
          "Payment providers"),
    Route("PUT", _PROVIDERS, actions.change, Scope("payment_providers:write"),
          "Connect, check, select or disconnect a payment provider", "Payment provider",
          faults=actions.change_faults),
)  # fmt: skip
