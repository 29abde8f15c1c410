"""Sales: what this room brings along."""

from tillhouse.access.process import Services
from tillhouse.orders.receipts.pages import pages
from tillhouse.orders.routes import ROUTES
from tillhouse.orders.worker import OrderWorker
from tillhouse.room import Room


async def _worker(services: Services) -> OrderWorker:
    return OrderWorker(services)


ROOM = Room(
    name="orders",
    routes=ROUTES,
    pages=pages,
    tables=(
        "order_items",
        "order_tallies",
        "order_tallies_in_detail",
        "order_tally_changes",
        "orders",
        "receipts",
    ),
    workers=(_worker,),
)
