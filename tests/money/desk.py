"""A business whose money is moved: its requests, which may meet a crash, and its workers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from tests.api import Api, Response
from tests.make import Business, Make
from tests.money.crashing import DEAD, Crash, MortalProxy
from tests.money.provider_side import ProviderSide
from tests.money.world import World
from tests.orders.shop import SCOPES, Body, at_noon
from tests.waiting import within
from tillhouse.app import PRODUCT, App
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now

MORE_SCOPES = (
    "payment_links:write", "finance:expenses:write", "wallet:read", "wallet:withdrawals:create",
    "payouts:read", "payouts:write",
)  # fmt: skip
POLICY = {"max_per_transaction": 10**9, "max_per_day": 10**9, "currency": "NGN"}
HEARD = (
    "order.created", "order.updated", "order.cancelled", "payment.received", "wallet.deposit",
    "wallet.withdrawal.requested", "wallet.withdrawal.completed", "wallet.withdrawal.failed",
)  # fmt: skip
CUSTOMERS = ("Ada Obi", "Ben Eze")
# A lease of a dead process ends within this.
LEASES_END = timedelta(minutes=3)
_SOON = timedelta(seconds=2)
OK, MISSING, UNAVAILABLE = 200, 404, 503


class Desk:
    """One test book, reached by a process that may die at any statement."""

    business: Business
    api: Api
    payer: Api
    book: UUID
    provider: ProviderSide
    customers: list[str]
    account_id: str

    def __init__(
        self, app: App, proxy: MortalProxy, sql: asyncpg.Connection, reach: Counter[str]
    ) -> None:
        self.app = app
        self.sql = sql
        self.reach = reach
        self.proxy = proxy

    @classmethod
    async def open(cls, world: World, reach: Counter[str]) -> "Desk":
        """A new business with customers, an account to withdraw to, and somebody who listens."""
        sql, services = world.sql, world.app.services
        desk = cls(world.app, world.proxy, sql, reach)
        make = Make(world.app, services)
        desk.business = await make.business(currency="NGN", country="NG", time_zone=at_noon())
        desk.api = await desk.business.client(*SCOPES, *MORE_SCOPES, withdrawal_policy=POLICY)
        desk.payer = make.anybody
        query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'"
        desk.book = await sql.fetchval(query, UUID(desk.business.id))
        desk.provider = ProviderSide(sql, services.vault, desk.book)
        desk.customers = [
            (await desk.api.post("/v1/customers", {"name": name}, status=201)).data["id"]
            for name in CUSTOMERS
        ]
        account = {"bank_code": "001", "account_number": "0123456789"}
        made = (await desk.api.post("/v1/payout-accounts", account, status=201)).data
        assert made["status"] == "active", made
        desk.account_id = made["id"]
        url = f"{world.receiver.url}/{desk.book}"
        await desk.business.endpoint(url=url, events=list(HEARD))
        return desk

    async def ask(
        self,
        what: tuple[str, str],
        body: Body | None = None,
        crash: Crash | None = None,
        **given: Any,
    ) -> Response:
        """A request with a key of its own; after a crash it is repeated until it is answered."""
        method, path = what
        api: Api = given.pop("api", self.api)
        keyed = {"idempotency-key": str(uuid4())} if method == "POST" and body is not None else {}
        headers = {**keyed, **given.pop("headers", {})}

        async def send() -> Response:
            return await api.request(method, path, body, headers=headers, **given)

        return await self.repeated(send, crash)

    async def repeated(
        self, send: Callable[[], Awaitable[Response]], crash: Crash | None
    ) -> Response:
        """The answer to a request that is sent again when its process has died."""
        async with self.proxy.dying(crash) as death:
            answer = await send()
        if death is None or not death.is_dead:
            return await self._answered(send, answer)
        self.reach["crashes of requests"] += 1
        is_done, is_refused = answer.status < 400, 400 <= answer.status < 500
        assert is_done or is_refused or answer.status == UNAVAILABLE, answer
        await self.pass_time(LEASES_END)
        answer = await self._answered(send, await send())
        assert not is_done or answer.status < 400 or answer.status == MISSING, answer
        assert not is_refused or answer.status >= 400, answer
        return answer

    async def _answered(
        self, send: Callable[[], Awaitable[Response]], answer: Response
    ) -> Response:
        """The first answer that isn't a request to come again, as after an earlier crash."""
        async with within():
            while answer.status == UNAVAILABLE:
                await asyncio.sleep(0.02)
                answer = await send()
        return answer

    async def get(self, path: str) -> Response:
        """The answer at a path."""

        async def send() -> Response:
            return await self.api.get(path)

        answer = await self._answered(send, await send())
        assert answer.status == OK, answer
        return answer

    async def pass_time(self, by: timedelta) -> None:
        """Let so much time go by for all that waits."""
        for statement in _AGED:
            await self.sql.execute(statement, self.book, by)

    async def work(self, then: Callable[[], Awaitable[None]], crash: Crash | None = None) -> None:
        """A worker does all that is due, one job and `then`; it may die at a statement."""
        async with self.proxy.dying(crash) as death:
            runner = self._runner()
            while True:
                try:
                    if not await runner.begin_next(now() + _SOON):
                        break
                    await asyncio.gather(*_asking())
                except DEAD:
                    if death is None or not death.is_dead:
                        raise
                    break
                if death is not None and death.is_dead:
                    break
                await then()
            if death is not None and death.is_dead:
                self.reach["crashes of workers"] += 1
                for task in _asking():
                    task.cancel()
                await asyncio.gather(*_asking(), return_exceptions=True)
        await self._revived()
        await then()

    async def _revived(self) -> None:
        """Wait until the process reaches its database again."""
        async with within():
            while True:
                with suppress(*DEAD):
                    async with self.app.services.pool.transaction() as db:
                        await db.execute("SELECT 1")
                    return
                await asyncio.sleep(0.02)

    def _runner(self) -> JobRunner:
        services = self.app.services
        kinds = [kind for room in PRODUCT.rooms for kind in room.jobs(services)]
        return JobRunner(services.pool, kinds, services.job_results)


def _asking() -> list[asyncio.Task[Any]]:
    """The calls outside that jobs have under way."""
    return [
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__qualname__", "") == "JobRunner._ask"
    ]


_AGED = (
    "UPDATE jobs SET due_at = due_at - $2::interval WHERE book_id = $1",
    """
    UPDATE virtual_accounts SET asked_at = asked_at - $2::interval,
        updated_at = CASE WHEN status = 'opening' THEN updated_at - $2::interval
            ELSE updated_at END
    WHERE book_id = $1
    """,
    "UPDATE withdrawals SET asked_at = asked_at - $2::interval WHERE book_id = $1",
    "UPDATE refunds SET asked_at = asked_at - $2::interval WHERE book_id = $1",
)
