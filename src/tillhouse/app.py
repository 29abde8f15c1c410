"""The composition root: the one place that knows every room."""

import asyncio
import contextlib
import gc
from collections.abc import Sequence
from datetime import timedelta

import msgspec
import structlog

from tillhouse import __version__
from tillhouse.access.process import House, close_house, open_house
from tillhouse.accounts.routes import ROUTES as ACCOUNTS
from tillhouse.customers.routes import ROUTES as CUSTOMERS
from tillhouse.db import statistics
from tillhouse.db.batcher import Lanes
from tillhouse.db.pool import FAILURES
from tillhouse.developer.routes import ROUTES as DEVELOPER
from tillhouse.http import log as logs
from tillhouse.http import once, pages
from tillhouse.http.api import Api
from tillhouse.http.exchange import Receive, Scope, Send
from tillhouse.http.openapi import describe
from tillhouse.http.route import Route
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Unavailable
from tillhouse.kitchen.routes import ROUTES as KITCHEN
from tillhouse.labels.routes import ROUTES as LABELS
from tillhouse.ledger.routes import ROUTES as LEDGER
from tillhouse.messaging.hook_routes import HOOKS
from tillhouse.messaging.routes import ROUTES as MESSAGING
from tillhouse.messaging.worker import Postman
from tillhouse.orders.receipts.pages import pages as order_pages
from tillhouse.orders.routes import ROUTES as ORDERS
from tillhouse.orders.worker import OrderWorks
from tillhouse.products.routes import ROUTES as PRODUCTS
from tillhouse.promotions.routes import ROUTES as PROMOTIONS
from tillhouse.seating.routes import ROUTES as SEATING
from tillhouse.settings import Settings
from tillhouse.stock.routes import ROUTES as STOCK
from tillhouse.stores.routes import ROUTES as STORES
from tillhouse.voice.routes import ROUTES as VOICE
from tillhouse.webhooks.actions.secrets import open_missing_secrets
from tillhouse.webhooks.routes import ROUTES as WEBHOOKS
from tillhouse.webhooks.sender.worker import Sender
from tillhouse.webhooks.store.partitions import turn_partitions
from tillhouse.webhooks.store.queue import PLANNER

log = structlog.get_logger()

ROUTES: Sequence[Route] = (
    *ACCOUNTS,
    *DEVELOPER,
    *WEBHOOKS,
    *ORDERS,
    *KITCHEN,
    *LEDGER,
    *MESSAGING,
    *CUSTOMERS,
    *PRODUCTS,
    *STOCK,
    *PROMOTIONS,
    *STORES,
    *SEATING,
    *LABELS,
    *VOICE,
)

_CHORES_EVERY_S = 3600.0
SENDER_CONNECTIONS = 4


class App:
    """The ASGI application of one process: opens the house, answers, closes it."""

    def __init__(
        self,
        settings: Settings,
        database_url: str,
        master_key: str,
        routes: Sequence[Route] = ROUTES,
        *,
        works: bool = False,
    ) -> None:
        # Whether this process also sends webhooks, not only answers.
        self._works = works
        self._routes = routes
        self._settings = settings
        self._database_url = database_url
        self._master_key = master_key
        self._house: House | None = None
        self._api: Api | None = None
        self._chores: list[asyncio.Task[None]] = []
        self._sender: Sender | None = None
        self._order_works: OrderWorks | None = None
        self._postman: Postman | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._api is not None:
            await self._api(scope, receive, send)

    async def start(self) -> House:
        """Open the house and begin its chores."""
        logs.set_up(self._settings.log_level)
        house = await open_house(self._settings, self._database_url, self._master_key)
        self._house = house
        house.usage.start()
        house.pool.bell.start(house.pool.dedicated, house.pool.notify, listens=self._works)
        await open_missing_secrets(house, now())
        if self._works:
            pool = await house.pool.beside(size=SENDER_CONNECTIONS, planner=PLANNER)
            self._sender = Sender(
                msgspec.structs.replace(house, pool=pool, lanes=Lanes(pool)),
                lease=timedelta(seconds=self._settings.webhook_lease_s),
            )
            self._sender.start()
            self._order_works = OrderWorks(house)
            self._order_works.start()
            self._postman = Postman(house)
            self._postman.start()
        document = describe(self._routes, __version__, self._settings.public_url)
        self._api = Api(house, self._routes, pages.build(document), (*HOOKS, *order_pages()))
        self._api.add_metrics_page()
        self._chores = [
            asyncio.create_task(_do_chores(house)),
            asyncio.create_task(statistics.watch(house.pool)),
        ]
        return house

    async def stop(self) -> None:
        """End the chores and close the house."""
        # All at once: none of them begins anything while another one is still finishing.
        works = (self._sender, self._order_works, self._postman)
        await asyncio.gather(*(one.stop() for one in works if one is not None))
        if self._sender is not None:
            await self._sender.house.pool.close()
        for chore in self._chores:
            chore.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await chore
        if self._house is not None:
            await self._house.pool.bell.stop()
            await close_house(self._house)

    @property
    def house(self) -> House:
        """The tools of this process, once started."""
        if self._house is None:
            raise RuntimeError("the application has not been started")
        return self._house

    @property
    def sender(self) -> Sender:
        """What sends webhooks here, where this process works."""
        if self._sender is None:
            raise RuntimeError("this application does not send")
        return self._sender

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
    """Let the garbage collector forget what stays for the life of the process.

    Else it looks over all of it, modules and routes, again and again, and each time every request
    waits for forty milliseconds.
    """
    gc.collect()
    gc.freeze()


async def _do_chores(house: House) -> None:
    """What has to be tidied now and then; any process may do it, several do no harm."""
    while True:
        try:
            async with house.pool.transaction() as db:
                await turn_partitions(db, now(), house.settings.webhook_retention_days)
            swept = await once.sweep(house.pool, now())
            if swept:
                log.info("idempotency_keys_swept", count=swept)
        except (*FAILURES, Unavailable) as error:
            log.warning("chores_failed", error=str(error))
        await asyncio.sleep(_CHORES_EVERY_S)
