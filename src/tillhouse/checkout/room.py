"""Payment links, and the page on which somebody pays: the face of the room."""

from collections.abc import Sequence
from datetime import timedelta

from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope
from tillhouse.checkout.applying import kind
from tillhouse.checkout.pages import pages
from tillhouse.checkout.routes import ROUTES
from tillhouse.checkout.store.links import update_expired
from tillhouse.db.pool import Db
from tillhouse.http.route import Group
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.room import Room

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
