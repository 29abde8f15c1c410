"""The composition root: the one place that knows every room."""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import structlog

from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.access.usage import FLUSH_EVERY_S, MEASURED_EVERY_S, StoredKind
from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.checkout.room import ROOM as CHECKOUT
from tillhouse.counts.room import ROOM as COUNTS
from tillhouse.customers.room import ROOM as CUSTOMERS
from tillhouse.db import statistics
from tillhouse.desk.room import ROOM as DESK
from tillhouse.developer.room import ROOM as DEVELOPER
from tillhouse.finance.room import ROOM as FINANCE
from tillhouse.folios.room import ROOM as FOLIOS
from tillhouse.hotel.room import ROOM as HOTEL
from tillhouse.http import idempotency
from tillhouse.http import log as logs
from tillhouse.http.api import Api
from tillhouse.http.exchange import Receive, Scope, Send
from tillhouse.http.pages import HEALTH
from tillhouse.jobs.chores import SWEEP_DEAD, folding_worker
from tillhouse.jobs.kinds import LocalKind
from tillhouse.jobs.runner import JobRunner, workers_for
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.kitchen.room import ROOM as KITCHEN
from tillhouse.labels.room import ROOM as LABELS
from tillhouse.ledger.room import ROOM as LEDGER
from tillhouse.messaging.room import ROOM as MESSAGING
from tillhouse.orders.room import ROOM as ORDERS
from tillhouse.payins.room import ROOM as PAYINS
from tillhouse.payouts.room import ROOM as PAYOUTS
from tillhouse.products.room import ROOM as PRODUCTS
from tillhouse.promotions.room import ROOM as PROMOTIONS
from tillhouse.reference.pages import pages as reference_pages
from tillhouse.room import Composition, MakesWorker, Room, join
from tillhouse.search.room import ROOM as SEARCH
from tillhouse.seating.room import ROOM as SEATING
from tillhouse.settings import Settings
from tillhouse.stock.room import ROOM as STOCK
from tillhouse.stores.room import ROOM as STORES
from tillhouse.voice.room import ROOM as VOICE
from tillhouse.webhooks.room import ROOM as WEBHOOKS

log = structlog.get_logger()

_HERE: Mapping[str, MakesWorker | None] = MappingProxyType({})

# Operations are described in this order.
ROOMS: tuple[Room, ...] = (
    ACCOUNTS,
    DEVELOPER,
    WEBHOOKS,
    ORDERS,
    KITCHEN,
    LEDGER,
    MESSAGING,
    CUSTOMERS,
    PRODUCTS,
    STOCK,
    PROMOTIONS,
    STORES,
    SEATING,
    LABELS,
    VOICE,
    FINANCE,
    CHECKOUT,
    PAYOUTS,
    PAYINS,
    HOTEL,
    FOLIOS,
    COUNTS,
    SEARCH,
    DESK,
)

# The catalogue of events shows these groups first.
_EVENT_GROUPS = (
    "Voice",
    "Messaging",
    "Orders",
    "Payments",
    "Customers",
    "Inventory",
    "Wallet",
    "Kitchen",
    "Products",
    "Hotel",
)


# The catalogue of scopes shows these groups first.
_SCOPE_GROUPS = (
    "Voice",
    "Orders",
    "Finance",
    "Payment links",
    "Catalog",
    "Customers",
    "Business",
    "Messaging",
    "Webhooks",
    "Hotel",
    "Payouts",
)


def compose(*more: Room) -> Composition:
    """The product, with more rooms than its own when they are given."""
    return join((*ROOMS, *more), event_groups=_EVENT_GROUPS, scope_groups=_SCOPE_GROUPS)


PRODUCT = compose()
ROUTES = PRODUCT.routes

_CHORES_EVERY_S = 3600.0
_METRICS_EVERY_S = 5.0


def chores_of(product: Composition, services: Services) -> list[LocalKind]:
    """The periodic jobs of the product: those of its rooms, and of the rooms below them."""
    of_rooms = [kind for room in product.rooms for kind in room.chores(services)]
    return [idempotency.SWEEP, idempotency.COUNT, SWEEP_DEAD, *of_rooms]


def stored_kinds(product: Composition) -> list[StoredKind]:
    """Everything of which a book may hold so much."""
    return [idempotency.ANSWERS, *(kind for room in product.rooms for kind in room.stored)]


class App:
    """The ASGI application of one process: opens the services, answers, closes them."""

    def __init__(
        self,
        settings: Settings,
        database_url: str,
        master_key: str,
        product: Composition = PRODUCT,
        *,
        runs_workers: bool = False,
        apart: Mapping[str, MakesWorker | None] = _HERE,
    ) -> None:
        # Whether this process also does background work, such as sending webhooks.
        self._runs_workers = runs_workers
        # By room: another process in the place of workers that would hold up requests here, or
        # None where somebody else keeps that process.
        self._apart = apart
        self._product = product
        self._settings = settings
        self._database_url = database_url
        self._master_key = master_key
        self._services: Services | None = None
        self._api: Api | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._api is not None:
            await self._api(scope, receive, send)

    async def start(self) -> Services:
        """Open the services and begin the chores."""
        logs.set_up(self._settings.log_level)
        services = await connect_services(
            self._settings,
            lambda: self._product.declared,
            self._database_url,
            self._master_key,
        )
        self._services = services
        services.storage.kinds = stored_kinds(self._product)
        services.pool.notifier.start(
            services.pool.dedicated, services.pool.notify, listens=self._runs_workers
        )
        for room in self._product.rooms:
            for chore in room.at_start:
                await chore(services, now())
        if self._runs_workers:
            await self._start_workers(services)
        services.workers.start(*self._job_workers(services))
        pages = {**HEALTH, **reference_pages(self._settings.public_url)}
        self._api = Api(services, self._product.routes, pages, self._product.pages())
        self._api.add_metrics_page()
        self._watch(services, self._api)
        return services

    def stop_workers(self) -> asyncio.Task[None] | None:
        """Tell the workers to stop; requests may go on meanwhile."""
        if self._services is not None and self._stopping is None:
            self._stopping = asyncio.create_task(self._services.workers.stop())
        return self._stopping

    async def stop(self) -> None:
        """Stop the workers and let go of the database."""
        if self._services is not None and (stopping := self.stop_workers()):
            await stopping
            await self._services.pool.notifier.stop()
            await close_services(self._services)

    @property
    def services(self) -> Services:
        """The tools of this process, once started."""
        if self._services is None:
            raise RuntimeError("the application has not been started")
        return self._services

    async def _start_workers(self, services: Services) -> None:
        foldings = [folding for room in self._product.rooms for folding in room.foldings]
        services.workers.start(folding_worker(services.pool, foldings))
        for room in self._product.rooms:
            for make in (*room.workers, *self._apart_of(room)):
                services.workers.start(await make(services))

    def _apart_of(self, room: Room) -> Sequence[MakesWorker]:
        """The makers of its workers that may be apart, or of the process that they are in."""
        if not room.apart or room.name not in self._apart:
            return room.apart
        elsewhere = self._apart[room.name]
        return () if elsewhere is None else (elsewhere,)

    def _job_workers(self, services: Services) -> list[Worker]:
        chores = chores_of(self._product, services)
        pool, results = services.pool, services.job_results
        if self._runs_workers:
            jobs = [kind for room in self._product.rooms for kind in room.jobs(services)]
            return workers_for(pool, [*chores, *jobs], results)
        # No other process may be working, and chores must be done.
        return [JobRunner(pool, chores, results).worker("chores", _CHORES_EVERY_S, hears=False)]

    def _watch(self, services: Services, api: Api) -> None:
        watch = statistics.BusySeconds(services.pool)

        async def measure() -> bool:
            await services.storage.measure(services.pool, services.storage.kinds)
            return False

        services.workers.start(
            Worker("metrics", api.refresh_metrics, poll_s=_METRICS_EVERY_S),
            Worker("statistics", watch.look, poll_s=statistics.EVERY_S),
            Worker("usage", services.usage.flush, poll_s=FLUSH_EVERY_S),
        )
        if any(kind.limits(self._settings).are_set for kind in services.storage.kinds):
            services.workers.start(Worker("storage", measure, poll_s=MEASURED_EVERY_S))

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.start()
                except Exception as error:  # noqa: BLE001 - the server must be told, whatever it was
                    log.warning("start_failed", error=str(error))
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                settle()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


def settle() -> None:
    """Let the garbage collector forget objects that last as long as the process.

    Else it looks over all of it, modules and routes, again and again, and each time every request
    waits for forty milliseconds.
    """
    gc.collect()
    gc.freeze()
