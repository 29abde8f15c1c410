"""The routes of /v1/payment-links."""

from tillhouse.access.call import Call
from tillhouse.checkout import actions
from tillhouse.checkout.types import NewLink, NewWalletLink, PaymentLink
from tillhouse.http.route import Reply, Route, Scope


async def create(call: Call, new: NewLink) -> Reply[PaymentLink]:
    """A link for a sale or a debt; the answer of long ago where the request is that old."""
    link, is_replay = await actions.create(call, new)
    return Reply(link, is_replay=is_replay)


async def create_for_wallet(call: Call, new: NewWalletLink) -> Reply[PaymentLink]:
    """A link of the wallet; the answer of long ago where the request is that old."""
    link, is_replay = await actions.create_for_wallet(call, new)
    return Reply(link, is_replay=is_replay)


_READ, _WRITE = Scope("payment_links:read"), Scope("payment_links:write")
_LINKS, _LINK = "/v1/payment-links", "/v1/payment-links/{link_id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", _LINKS, actions.list_page, _READ,
          "List payment links, the newest first", "Payment links"),
    Route("POST", _LINKS, create, _WRITE,
          "Create a payment link for a sale or a debt, or get its active one",
          "Payment link", status=201, idempotent=True, faults=actions.new_faults),
    Route("POST", _LINKS + "/wallet/dynamic", create_for_wallet, _WRITE,
          "Create a payment link that pays into the wallet, once", "Payment link",
          status=201, idempotent=True, faults=actions.new_wallet_faults),
    Route("GET", _LINK, actions.show, _READ, "Read one payment link", "Payment link"),
    Route("DELETE", _LINK, actions.cancel, _WRITE,
          "Cancel a payment link", "Payment link cancelled"),
)  # fmt: skip
