"""The application on a real socket, in a thread with a loop of its own.

Schemathesis calls and waits: on the tests' own loop nobody would answer meanwhile.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
import pytest
import requests
import uvicorn

from tests.conftest import SETTINGS
from tests.make import Make
from tests.waiting import HUNG_S
from tillhouse.app import PRODUCT, App
from tillhouse.kit.clock import iso, now

T = TypeVar("T")


class World(msgspec.Struct):
    """A business to call as: its credentials, and by field what it has or would accept.

    The key may do everything, so that no route of the API answers with a refusal alone.
    """

    token: str
    key: str
    values: dict[str, Any]
    # The same for paths at which a name means something else.
    values_at: dict[str, dict[str, Any]]


class Running:
    """The application as its clients meet it."""

    def __init__(self, database_url: str, master_key: str) -> None:
        self._app = App(SETTINGS, database_url, master_key)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="contract server")
        self._thread.start()
        self.url = self.run(self._start())
        self.connection = _kept_connection()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something where the application lives, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=HUNG_S)

    def stop(self) -> None:
        """End the server and everything that it used."""
        self.connection.close()
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def world(self) -> World:
        """A business whose owner has just verified the password, with an API key."""
        business = await Make(self._app, self._app.services).business()
        key = await business.key(
            *(scope.name for scope in PRODUCT.declared.scopes),
            withdrawal_policy={"max_per_transaction": 50, "max_per_day": 1000, "currency": "USD"},
        )
        endpoint = await business.endpoint()
        delivery = await business.owner.post(
            f"/api/developer/webhook-endpoints/{endpoint['id']}/test", status=202
        )
        return World(
            token=business.tokens["accessToken"],
            key=key["secret"],
            values={
                "key_id": key["id"],
                "endpoint_id": endpoint["id"],
                "delivery_id": delivery.data["id"],
                "event_id": delivery.data["eventId"],
                "since": "2026-01-31",
                "until": iso(now()),
                "url": "https://shop.example.com/hooks/tillhouse",
                "business_id": business.id,
                "developer_app_id": key["developerAppId"],
                "refresh_token": business.tokens["refreshToken"],
                "time_zone": "Africa/Lagos",
                "allowed_ip_ranges": ["203.0.113.0/24", "2001:db8::/32"],
                "expires_at": iso(now() + timedelta(days=30)),
                "start_date": "2026-01-31",
                "end_date": iso(now()),
                "withdrawal_policy": {
                    "max_per_transaction": 50,
                    "max_per_day": 1000.25,
                    "currency": "USD",
                },
            },
            values_at={
                "/v1/events/stream": {"since": delivery.data["eventId"]},
                "/v1/finance/summary": {"from": "2026-01-01", "to": "2026-01-31"},
                "/v1/finance/transactions": {"from": "2026-01-01", "to": iso(now())},
                "/v1/finance/expenses": {"from": "2026-01-01", "to": iso(now())},
            },
        )

    async def _start(self) -> str:
        await self._app.start()
        self._server = uvicorn.Server(
            uvicorn.Config(self._app, port=0, lifespan="off", log_config=None)
        )
        self._serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.wait([self._serving], timeout=0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def _end(self) -> None:
        self._server.should_exit = True
        await self._serving
        await self._app.stop()


def _kept_connection() -> requests.Session:
    """The client of the thousands of requests: one connection, and nothing of the environment's."""
    session = requests.Session()
    session.trust_env = False
    session.headers.clear()
    return session


@pytest.fixture(scope="session")
def running(database_url: str, master_key: str) -> Iterator[Running]:
    """One server for all operations."""
    running = Running(database_url, master_key)
    yield running
    running.stop()


@pytest.fixture
def world(running: Running) -> World:
    """A business for each operation, so that none logs out or deletes under another."""
    return running.run(running.world())
