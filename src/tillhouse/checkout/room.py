"""Payment links, and the page on which customers pay: the face of the room, with its routes."""

from collections.abc import Sequence
from datetime import timedelta

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope
from tillhouse.checkout import actions
from tillhouse.checkout.applying import kind
from tillhouse.checkout.pages import pages
from tillhouse.checkout.store.links import update_expired
from tillhouse.checkout.types import NewLink, NewWalletLink, PaymentLink
from tillhouse.db.pool import Db
from tillhouse.http.route import Group, Reply, Route
from tillhouse.http.route import Scope as Needs
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.room import Room


async def create(call: Call, new: NewLink) -> Reply[PaymentLink]:
    """A link for a sale or a debt; the answer of long ago where the request is that old."""
    link, is_replay = await actions.create(call, new)
    return Reply(link, is_replay=is_replay)


async def create_for_wallet(call: Call, new: NewWalletLink) -> Reply[PaymentLink]:
    """A link of the wallet; the answer of long ago where the request is that old."""
    link, is_replay = await actions.create_for_wallet(call, new)
    return Reply(link, is_replay=is_replay)


_READ, _WRITE = Needs("payment_links:read"), Needs("payment_links:write")
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


_ROWS = 500


async def _expire(db: Db, _job: Job) -> bool:
    """Expire some; whether there may be more."""
    expired = await update_expired(db, now(), _ROWS)
    # Open pages of these links are told.
    for row in expired:
        db.note_events(row["book_id"])
    return len(expired) == _ROWS


EXPIRE = LocalKind(name="payment_links_expire", run=_expire, every=timedelta(minutes=1))


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
