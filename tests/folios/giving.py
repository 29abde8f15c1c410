"""A hotel that gives money of stays back through a provider, and that provider."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tests.checkout.till import WALLET_LINKS
from tests.folios.lodge import Body, Lodge
from tests.make import Business
from tests.orders.returning.bank import ReturningProvider
from tillhouse.folios.returning.sending import kinds
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.orders.returning.rules import reference_of
from tillhouse.payins.hooks import HEARD_STAY_REFUND, HeardReturn

MINUTES_5, HOUR = timedelta(minutes=6), timedelta(hours=1, minutes=10)


class GivingLodge(Lodge):
    """A lodge with money in its wallet."""

    bank: ReturningProvider

    @classmethod
    async def giving(cls, business: Business, sql: asyncpg.Connection) -> "GivingLodge":
        """A lodge whose wallet covers the fees of payments that go back."""
        opened = await cls.begin(business, sql)
        assert isinstance(opened, GivingLodge)
        opened.bank = ReturningProvider(opened.book_id)
        api = await business.client("payment_links:write")
        filling = {"title": "Hall", "amount": 1000}
        await opened.pay_link((await api.post(WALLET_LINKS, filling, status=201)).data)
        return opened

    async def deposited(self, amount: float = 60, **fields: Any) -> Body:
        """A stay whose deposit came by a link."""
        stay = await self.book(deposit_amount=amount, **fields)
        await self.pay_link(await self.link(stay))
        return stay

    async def refund_of(self, stay: Body) -> Body:
        """The last refund of a stay through the provider."""
        return (await self.folio(stay))["refunds"][-1]

    async def work(self, after: timedelta = timedelta(), *, by_sandbox: bool = False) -> None:
        """A worker that speaks to the bank does what is due by then."""
        await self.sql.execute(
            "UPDATE jobs SET due_at = now() - interval '1 s' WHERE book_id = $1 AND due_at <= $2",
            self.book_id,
            now() + after + timedelta(seconds=2),
        )
        finds = () if by_sandbox else (self.bank.connected,)
        runner = JobRunner(
            self.services.pool, kinds(self.services, *finds), self.services.job_results
        )
        await runner.run_due(now() + timedelta(seconds=2))

    async def age(self, by: timedelta) -> None:
        """Let the provider have been asked so long ago."""
        query = "UPDATE folio_returns SET asked_at = asked_at - $2::interval WHERE book_id = $1"
        await self.sql.execute(query, self.book_id, by)

    def reference(self, refund: Body) -> str:
        """The name by which the bank knows a refund."""
        return reference_of(UUID(refund["id"]))

    async def hear(self, refund: Body, told: HeardReturn | None = None) -> None:
        """Let the provider tell of a refund, by our name or as it is told."""
        told = told or HeardReturn("sandbox", self.reference(refund))
        job = NewJob(
            book_id=self.book_id,
            kind=HEARD_STAY_REFUND,
            subject_id=new_id(),
            key="0",
            payload=msgspec.json.encode(told),
        )
        async with self.services.pool.transaction() as db:
            await queue_job(db, job, now(), now())

    async def outcomes(self) -> list[Body]:
        """The events of refunds of stays, the first one first."""
        query = """
            SELECT payload FROM webhook_events
            WHERE book_id = $1 AND type = 'payment.refunded' ORDER BY id
        """
        rows = await self.sql.fetch(query, self.book_id)
        return [msgspec.json.decode(row["payload"])["data"]["metadata"] for row in rows]

    async def wallet(self) -> Any:
        """The balance of the wallet, and what is held of it."""
        query = """
            SELECT credits - debits, held FROM ledger_balances WHERE book_id = $1
                AND kind = 'wallet'
        """
        row = await self.sql.fetchrow(query, self.book_id)
        assert row is not None
        return tuple(row)
