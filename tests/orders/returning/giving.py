"""A till whose customers get money back through the provider by which it came."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tests.orders.deposits.depositing import Depositing
from tests.orders.returning.bank import ReturningProvider
from tests.orders.shop import Body
from tillhouse.access.process import Services
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id
from tillhouse.ledger.proof import prove
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.posting.proof import ORDER_SOURCE, REFUND_SOURCE
from tillhouse.orders.returning.rules import reference_of
from tillhouse.orders.returning.sending import kinds
from tillhouse.payins import jobs as payins
from tillhouse.payins.hooks import HEARD_REFUND, HeardReturn
from tillhouse.payins.proof import DISPUTE_SOURCE, PAYIN_SOURCE

MINUTES_5, HOUR, DAY = timedelta(minutes=6), timedelta(hours=1, minutes=10), timedelta(hours=27)
_SOON = timedelta(seconds=2)


class Giving(Depositing):
    """A shop with money in its wallet."""

    bank: ReturningProvider

    async def fill(self, amount: int = 10_000) -> None:
        """Let money for something else come in, of which the fee of refunds is covered."""
        await self.paid(await self.deposit(amount))

    async def sold(self, price: int = 1000, **fields: Any) -> Body:
        """An order that was paid by the provider."""
        return await self.paid(await self.deposit(price, **fields))

    async def asked(self, order: Body, **fields: Any) -> Body:
        """A refund that was asked for, as it is shown."""
        return (await self.give_back(order, **fields))["refunds"][-1]

    async def refund_of(self, order: Body) -> Body:
        """The last refund of an order as it is now."""
        return (await self.show(order))["refunds"][-1]

    async def send(self, after: timedelta = timedelta()) -> None:
        """A worker that speaks to the bank does what is due by then."""
        await self.make_due(after)
        await self.runner().run_due(now() + _SOON)

    async def make_due(self, after: timedelta) -> None:
        """Let the jobs of this book alone be due that are due by then."""
        await self.sql.execute(
            "UPDATE jobs SET due_at = now() - interval '1 s' WHERE book_id = $1 AND due_at <= $2",
            self.book,
            now() + _SOON + after,
        )

    def runner(self) -> JobRunner:
        """A worker that speaks to the bank."""
        jobs = [
            *payins.kinds(self.services),
            *deposits.kinds(self.services),
            *kinds(self.services, self.bank.connected),
        ]
        return JobRunner(self.services.pool, jobs, self.services.job_results)

    def later(self, after: timedelta) -> datetime:
        """The moment so long from now."""
        return now() + after

    async def age(self, refund: Body, by: timedelta) -> None:
        """Let the provider have been asked so long ago."""
        await self.sql.execute(
            "UPDATE refunds SET asked_at = asked_at - $2::interval WHERE id = $1",
            UUID(refund["id"]),
            by,
        )

    async def hear(self, refund: Body) -> None:
        """Let the provider tell of a refund: a hint that something is news."""
        await self.queue_heard(HeardReturn("sandbox", self.reference(refund)))

    async def queue_heard(self, told: HeardReturn) -> None:
        """Let a provider tell of some refund by these names."""
        job = NewJob(
            book_id=self.book,
            kind=HEARD_REFUND,
            subject_id=new_id(),
            key="0",
            payload=msgspec.json.encode(told),
        )
        async with self.services.pool.transaction() as db:
            await queue_job(db, job, now(), now())

    def reference(self, refund: Body) -> str:
        """The name by which the bank knows a refund."""
        return reference_of(UUID(refund["id"]))

    async def held(self) -> Decimal:
        """The part of the wallet that is held."""
        return await self.sql.fetchval(
            "SELECT held FROM ledger_balances WHERE book_id = $1 AND kind = 'wallet'", self.book
        )

    async def printed(self, order: Body) -> list[Body]:
        """The refunds that the last receipt of an order tells of."""
        content = await self.sql.fetchval(_PRINTED, self.book, UUID(order["id"]))
        return json.loads(content)["refunds"]

    async def told(self) -> list[tuple[str, str]]:
        """The events of refunds, in order: (order, status)."""
        rows = await self.sql.fetch(_EVENTS, self.book)
        return [(row["order_id"], row["status"]) for row in rows]

    async def faults(self, services: Services) -> list[Fault]:
        """The faults that `tillhouse verify` finds in the book."""
        types = [ORDER_SOURCE, PAYIN_SOURCE, REFUND_SOURCE, DISPUTE_SOURCE]
        async with services.pool.reading() as db:
            return [one async for one in prove(db, self.book, types)]


_PRINTED = """
    SELECT content FROM receipts WHERE book_id = $1 AND order_id = $2 ORDER BY number DESC LIMIT 1
"""
_EVENTS = """
    SELECT payload::jsonb #>> '{data,entityId}' AS order_id,
        payload::jsonb #>> '{data,metadata,refundStatus}' AS status
    FROM webhook_events
    WHERE book_id = $1 AND type = 'order.updated'
        AND payload::jsonb #> '{data,metadata}' ? 'refundStatus'
    ORDER BY id
"""
