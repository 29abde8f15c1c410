"""A till whose provider doesn't give payments back, so that refunds are paid out to accounts."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tests.api import Api, Response
from tests.make import Make
from tests.orders.returning.bank import ReturningProvider
from tests.orders.returning.giving import Giving
from tests.orders.shop import Body
from tests.payouts.treasury import ACCOUNTS, SCOPES, WITHDRAWALS
from tests.payouts.wallets import CURRENCY
from tillhouse.access.process import Services
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE, REFUND_SOURCE
from tillhouse.orders.returning import sending
from tillhouse.payins.hooks import HEARD_PAYOUT, HeardOutgoing
from tillhouse.payins.proof import PAYIN_SOURCE
from tillhouse.payouts.room import kinds
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE

_POLICY = {"max_per_transaction": 5000, "max_per_day": 100_000, "currency": CURRENCY}


class PayingOut(Giving):
    """A shop with money in its wallet, and the account of a customer."""

    payouts: Api
    account_id: str

    @classmethod
    async def prepared(cls, make: Make, sql: asyncpg.Connection, services: Services) -> "PayingOut":
        """A shop with a filled wallet and a key that may pay refunds out."""
        # The bank's manners are for this book: jobs that other tests left would ask it first.
        await sql.execute("DELETE FROM jobs WHERE kind LIKE 'refund%' OR kind LIKE 'withd%'")
        till = await cls.open(make, sql, currency=CURRENCY)
        till.services, till.bank = services, ReturningProvider(till.book)
        await till.fill()
        till.payouts = await till.client()
        body = {"bank_code": "001", "account_number": "0123456789"}
        till.account_id = (await till.payouts.post(ACCOUNTS, body, status=201)).data["id"]
        return till

    async def client(self, *scopes: str, **policy: Any) -> Api:
        """A client whose key may pay out, by default refunds, too."""
        granted = (*SCOPES, *(scopes or ("orders:write",)))
        return await self.business.client(*granted, withdrawal_policy={**_POLICY, **policy})

    def runner(self) -> JobRunner:
        """A worker that speaks to the bank, of payouts as well."""
        jobs = [
            *sending.kinds(self.services, self.bank.connected),
            *kinds(self.services, self.bank.find),
        ]
        return JobRunner(self.services.pool, jobs, self.services.job_results)

    async def refused(self, price: int = 1000, **fields: Any) -> Body:
        """An order whose payment the provider has refused to give back."""
        order = await self.sold(price, **fields)
        self.bank.manners.append("refused")
        await self.asked(order, amount=price)
        await self.send()
        assert (await self.refund_of(order))["status"] == "failed"
        return order

    async def ask_out(
        self, order: Body, amount: Any, *, api: Api | None = None, status: int | None = 201,
        **fields: Any,
    ) -> Response:  # fmt: skip
        """Ask for a refund of an order to be paid out, by a key of its own."""
        refund = {"order_id": order["id"], **fields.pop("refund", {})}
        body = {"amount": amount, "payout_account_id": self.account_id, "refund": refund}
        key = {"idempotency-key": str(new_id())}
        return await (api or self.payouts).post(
            WITHDRAWALS, {**body, **fields}, headers=key, status=status
        )

    async def paid_out(self, order: Body, amount: Any, **fields: Any) -> Body:
        """The withdrawal of a refund that was asked for."""
        return (await self.ask_out(order, amount, **fields)).data

    async def look(self, withdrawal: Body) -> Body:
        """A withdrawal as it is now."""
        return (await self.payouts.get(f"{WITHDRAWALS}/{withdrawal['id']}", status=200)).data

    async def stands(self, order: Body, withdrawal: Body) -> tuple[str, str, float, float]:
        """The status of a withdrawal and its refund, and what the order has and gave back."""
        shown = await self.show(order)
        [refund] = [one for one in shown["refunds"] if one["withdrawalId"] == withdrawal["id"]]
        status = (await self.look(withdrawal))["status"]
        return status, refund["status"], shown["amountPaid"], shown["refundedAmount"]

    def paid_by(self, withdrawal: Body) -> str:
        """The name by which the bank knows a withdrawal."""
        return f"wd-{UUID(withdrawal['id'])}"

    async def tell_of(self, withdrawal: Body) -> None:
        """Let the provider tell of a payout: a hint that something is news."""
        told = HeardOutgoing("sandbox", "payout", self.paid_by(withdrawal))
        job = NewJob(
            book_id=self.book,
            kind=HEARD_PAYOUT,
            subject_id=new_id(),
            key="0",
            payload=msgspec.json.encode(told),
        )
        async with self.services.pool.transaction() as db:
            await queue_job(db, job, now(), now())

    async def make_old(self, withdrawal: Body, by: timedelta) -> None:
        """Let the provider have been asked to pay it so long ago."""
        await self.sql.execute(
            "UPDATE withdrawals SET asked_at = asked_at - $2::interval WHERE id = $1",
            UUID(withdrawal["id"]),
            by,
        )

    async def available(self) -> Decimal:
        """The part of the wallet that isn't held."""
        return await self.wallet() - await self.held()

    async def faults(self, services: Services) -> list[Fault]:
        """The faults that `tillhouse verify` finds in the book."""
        types = [ORDER_SOURCE, PAYIN_SOURCE, REFUND_SOURCE, WITHDRAWAL_SOURCE]
        async with services.pool.reading() as db:
            return [one async for one in prove(db, self.book, types)]
