"""The routes of payment providers and of disputes."""

from tillhouse.http.route import Route, Scope
from tillhouse.payins.connecting import actions
from tillhouse.payins.disputes import actions as disputes

_PROVIDERS = "/v1/payment-providers"

ROUTES: tuple[Route, ...] = (
    Route("GET", _PROVIDERS, actions.list_all, Scope("payment_providers:read"),
          "List the payment providers that collect for the business, and those that could",
          "Payment providers"),
    Route("PUT", _PROVIDERS, actions.change, Scope("payment_providers:write"),
          "Connect, check, select or disconnect a payment provider", "Payment provider",
          faults=actions.change_faults),
    Route("GET", "/v1/disputes", disputes.list_page, Scope("finance:read"),
          "List disputes of payments, the newest first", "Disputes"),
    Route("GET", "/v1/disputes/{dispute_id}", disputes.show, Scope("finance:read"),
          "Read one dispute", "Dispute"),
)  # fmt: skip
