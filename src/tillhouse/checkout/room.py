"""Payment links, and the page on which somebody pays: the face of the room."""

from collections.abc import Sequence

from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope
from tillhouse.checkout.applying import kind
from tillhouse.checkout.pages import pages
from tillhouse.checkout.routes import ROUTES
from tillhouse.checkout.sweeping import EXPIRE
from tillhouse.http.route import Group
from tillhouse.jobs.kinds import LocalKind
from tillhouse.room import Room


def _chores(_services: Services) -> Sequence[LocalKind]:
    return (EXPIRE,)


ROOM = Room(
    name="checkout",
    routes=ROUTES,
    pages=pages,
    groups=(
        Group(
            "/v1/payment-links",
            "Payment links",
            "Addresses at which customers pay: for an order, a debt, or into the wallet.",
            "payments",
        ),
    ),
    scopes=(
        Scope("payment_links:read", "Read payment links", "Payment links", "low"),
        Scope(
            "payment_links:write",
            "Create and cancel payment links",
            "Payment links",
            "medium",
            grants=("payment_links:read",),
            roles=("cashier", "front_desk"),
        ),
    ),
    kept_tables=("payment_link_tallies", "payment_links"),
    chores=_chores,
    jobs=lambda services: (kind(services),),
)
