"""Sales: the face of the room."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import ConstraintRefusal, not_allowed
from tillhouse.http.route import Group
from tillhouse.orders.events import EVENTS
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES
from tillhouse.orders.posting.proof import ORDER_SOURCE, REFUND_SOURCE
from tillhouse.orders.receipts.pages import pages
from tillhouse.orders.recording.actions import NotRecorded
from tillhouse.orders.routes import ROUTES
from tillhouse.orders.storage.quota import ORDERS
from tillhouse.orders.worker import chores, kinds, queueing
from tillhouse.room import Room

ROOM = Room(
    name="orders",
    routes=ROUTES,
    groups=(
        Group("/v1/orders", "Orders", "Sales: recorded, paid, scheduled, cancelled.", "orders"),
        Group("/v1/debts", "Debts", "What customers have yet to pay for their orders.", "finance"),
    ),
    pages=pages,
    events=EVENTS,
    scopes=pair(
        "orders",
        ("orders", "Orders"),
        "medium",
        readers=("cashier", "front_desk"),
        writers=("cashier", "front_desk"),
    ),
    kept_tables=(
        "order_items",
        "order_storage",
        "order_totals",
        "orders",
        "payments",
        "receipts",
        "refunds",
        "sales_by_hour",
        "sales_by_quarter_hour",
    ),
    stored=(ORDERS,),
    swept_tables={
        "order_tallies": "empty_tallies",
        "order_tallies_in_detail": "empty_tallies",
        "order_tally_changes": "tallies",
    },
    redrawn=("orders_short_code_key",),
    refusals=(
        not_allowed(
            "orders_change_within_paid",
            "This is more than was paid, less the change and what was given back before.",
        ),
        ConstraintRefusal(
            "orders_on_open_stay",
            NotRecorded,
            "The stay ended at the same moment: charge the order to no stay.",
        ),
    ),
    sources=(ORDER_SOURCE, REFUND_SOURCE),
    foldings=(ORDER_TALLIES,),
    workers=(queueing,),
    chores=chores,
    jobs=kinds,
)
