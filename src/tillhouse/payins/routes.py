"""The routes of payment providers and of disputes, and where providers call."""

from collections.abc import Mapping
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.http.fields import path_uuid
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.http.route import Route, Scope
from tillhouse.payins import hooks
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


# Many times the size of any vendor's hook.
BODY_BYTES_MAX = 512 * 1024

_TEXT = "text/plain; charset=utf-8"


async def check(services: Services, asked: RawRequest) -> None:
    """Refuse a caller that is no provider before its body is read."""
    provider, _ = _named(asked)
    await hooks.check(services, provider, _headers(asked))


async def take(services: Services, asked: RawRequest) -> RawAnswer:
    """Stored, then answered; looked up after."""
    provider, book_id = _named(asked)
    await hooks.take(services, provider, book_id, _headers(asked), asked.body, asked.now)
    return RawAnswer(_TEXT, b"")


def _named(asked: RawRequest) -> tuple[str, UUID]:
    return asked.path["provider"], path_uuid(asked.path["book_id"])


def _headers(asked: RawRequest) -> Mapping[str, str]:
    return {
        name.decode("latin-1"): value.decode("latin-1") for name, value in asked.headers.items()
    }


HOOKS: tuple[RawRoute, ...] = (
    RawRoute(
        method="POST",
        path="/hooks/{provider}/{book_id}",
        handler=take,
        check=check,
        is_hook=True,
        body_bytes_max=BODY_BYTES_MAX,
    ),
)
