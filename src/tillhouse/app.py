"""The composition root: the one place that knows every room."""

import asyncio
import contextlib
import gc
from collections.abc import Sequence
from datetime import timedelta

import msgspec
import structlog

from tillhouse import __version__
from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.accounts.routes import ROUTES as ACCOUNTS
from tillhouse.customers.routes import ROUTES as CUSTOMERS
from tillhouse.db import statistics
from tillhouse.db.batcher import StatementBatcher
from tillhouse.db.pool import FAILURES
from tillhouse.developer.routes import ROUTES as DEVELOPER
from tillhouse.http import idempotency, pages
from tillhouse.http import log as logs
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
from tillhouse.messaging.worker import MessageWorker
from tillhouse.orders.receipts.pages import pages as order_pages
from tillhouse.orders.routes import ROUTES as ORDERS
from tillhouse.orders.worker import OrderWorker
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
        runs_workers: bool = False,
    ) -> None:
        # Whether this process also sends webhooks, not only answers.
        self._runs_workers = runs_workers
        self._routes = routes
        self._settings = settings
        self._database_url = database_url
        self._master_key = master_key
        self._services: Services | None = None
        self._api: Api | None = None
        self._chores: list[asyncio.Task[None]] = []
        self._sender: Sender | None = None
        self._order_worker: OrderWorker | None = None
        self._message_worker: MessageWorker | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._api is not None:
            await self._api(scope, receive, send)

    async def start(self) -> Services:
        """Open the house and begin its chores."""
        logs.set_up(self._settings.log_level)
        services = await connect_services(self._settings, self._database_url, self._master_key)
        self._services = services
        services.usage.start()
        services.pool.bell.start(
            services.pool.dedicated, services.pool.notify, listens=self._runs_workers
        )
        await open_missing_secrets(services, now())
        if self._runs_workers:
            pool = await services.pool.beside(size=SENDER_CONNECTIONS, planner=PLANNER)
            self._sender = Sender(
                msgspec.structs.replace(services, pool=pool, batcher=StatementBatcher(pool)),
                lease=timedelta(seconds=self._settings.webhook_lease_s),
            )
            self._sender.start()
            self._order_worker = OrderWorker(services)
            self._order_worker.start()
            self._message_worker = MessageWorker(services)
            self._message_worker.start()
        document = describe(self._routes, __version__, self._settings.public_url)
        self._api = Api(services, self._routes, pages.build(document), (*HOOKS, *order_pages()))
        self._api.add_metrics_page()
        self._chores = [
            asyncio.create_task(_do_chores(services)),
            asyncio.create_task(statistics.watch(services.pool)),
        ]
        return services

    async def stop(self) -> None:
        """End the chores and close the house."""
        # All at once: none of them begins anything while another one is still finishing.
        runs_workers = (self._sender, self._order_worker, self._message_worker)
        await asyncio.gather(*(one.stop() for one in runs_workers if one is not None))
        if self._sender is not None:
            await self._sender.services.pool.close()
        for chore in self._chores:
            chore.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await chore
        if self._services is not None:
            await self._services.pool.bell.stop()
            await close_services(self._services)

    @property
    def services(self) -> Services:
        """The tools of this process, once started."""
        if self._services is None:
            raise RuntimeError("the application has not been started")
        return self._services

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


async def _do_chores(services: Services) -> None:
    """What has to be tidied now and then; any process may do it, several do no harm."""
    while True:
        try:
            async with services.pool.transaction() as db:
                await turn_partitions(db, now(), services.settings.webhook_retention_days)
            swept = await idempotency.sweep(services.pool, now())
            if swept:
                log.info("idempotency_keys_swept", count=swept)
        except (*FAILURES, Unavailable) as error:
            log.warning("chores_failed", error=str(error))
        await asyncio.sleep(_CHORES_EVERY_S)
