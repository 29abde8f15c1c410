"""The quota of orders: how they are counted, and the refusal of one too many."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from tillhouse.access.usage import StoredKind
from tillhouse.db.pool import Db
from tillhouse.jobs.chores import walk
from tillhouse.jobs.kinds import LocalKind
from tillhouse.kit.clock import now
from tillhouse.orders.storage.store import (
    ORDER_STORAGE,
    add_new_orders,
)

# An id is made when a request begins: its order is there within this time, or never.
_SETTLED = timedelta(minutes=1)
_ROWS = 5000


async def _count(db: Db, books: Sequence[UUID]) -> bool:
    return await add_new_orders(db, books, now() - _SETTLED, _ROWS) == _ROWS


COUNT = LocalKind(name="order_storage", run=partial(walk, _count), every=timedelta(minutes=1))

ORDERS = StoredKind(
    name="orders",
    rows_setting="ORDER_LIMIT",
    mib_setting="ORDER_LIMIT_MIB",
    counts=ORDER_STORAGE,
    message=(
        "This environment holds as many orders as {setting} lets it: ask whoever runs this server "
        "to raise the limit. Orders that are there can still be read, paid and changed."
    ),
)
