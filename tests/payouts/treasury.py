"""A business that withdraws: its keys, its accounts, and the worker that sends."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tests.api import Api, Response
from tests.make import Business
from tests.payouts.bank import BankingProvider
from tests.payouts.wallets import CURRENCY, DEPOSIT, book_of, fill
from tillhouse.access.process import Services
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import BookId, new_id
from tillhouse.ledger.proof import prove
from tillhouse.payins.hooks import HEARD_PAYOUT, HeardOutgoing
from tillhouse.payouts.room import kinds
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE

ACCOUNTS, WITHDRAWALS, SWITCH = (
    "/v1/payout-accounts",
    "/v1/wallet/withdrawals",
    "/v1/wallet/payouts",
)
SCOPES = ("wallet:read", "wallet:withdrawals:create", "payouts:read", "payouts:write")
MINUTES_5, HOUR, DAY = timedelta(minutes=6), timedelta(hours=1, minutes=10), timedelta(hours=27)


class Treasury:
    """A business with a wallet, and its bank."""

    def __init__(
        self, services: Services, business: Business, sql: asyncpg.Connection, book_id: BookId
    ) -> None:
        self.services = services
        self.business = business
        self.sql = sql
        self.book_id = book_id
        self.bank = BankingProvider()
        self.api = business.anybody
        self.account_id = ""

    @classmethod
    async def open(
        cls, services: Services, business: Business, sql: asyncpg.Connection, **policy: Any
    ) -> "Treasury":
        """A treasury with a key of this policy, and an account to pay out to."""
        # The bank's manners are for this book: jobs that other tests left would ask it first.
        await sql.execute("DELETE FROM jobs WHERE kind LIKE 'refund%' OR kind LIKE 'withd%'")
        one = cls(services, business, sql, await book_of(services, business))
        one.api = await one.client(**policy)
        one.account_id = await one.account()
        return one

    async def client(self, **policy: Any) -> Api:
        """A client whose key may withdraw."""
        limits = {"max_per_transaction": 1000, "max_per_day": 10000, "currency": CURRENCY}
        return await self.business.client(*SCOPES, withdrawal_policy={**limits, **policy})

    async def account(self, number: str = "0123456789") -> str:
        """An account of the business, checked."""
        body = {"bank_code": "001", "account_number": number}
        made = (await self.api.post(ACCOUNTS, body, status=201)).data
        assert made["status"] == "active", made
        return made["id"]

    async def fill(self, amount: int | str) -> None:
        """Let an amount come in."""
        await fill(self.services, self.book_id, amount)

    async def ask(
        self, amount: Any, *, api: Api | None = None, status: int | None = 201, **fields: Any
    ) -> Response:
        """Request a withdrawal, with a key of its own."""
        body = {"amount": amount, "payout_account_id": self.account_id, **fields}
        key = {"idempotency-key": str(new_id())}
        return await (api or self.api).post(WITHDRAWALS, body, headers=key, status=status)

    async def withdraw(self, amount: Any, **fields: Any) -> dict[str, Any]:
        """A withdrawal that was requested."""
        return (await self.ask(amount, **fields)).data

    async def look(self, withdrawal_id: str) -> dict[str, Any]:
        """A withdrawal as it is now."""
        return (await self.api.get(f"{WITHDRAWALS}/{withdrawal_id}", status=200)).data

    async def status(self, withdrawal_id: str) -> str:
        """How far a withdrawal is."""
        return (await self.look(withdrawal_id))["status"]

    async def wallet(self) -> tuple[Decimal, Decimal]:
        """The balance and what of it is available."""
        seen = (await self.api.get("/v1/wallet", status=200)).data
        return Decimal(str(seen["balance"])), Decimal(str(seen["available"]))

    def runner(self) -> JobRunner:
        """A worker that speaks to the bank."""
        every = kinds(self.services, self.bank.find)
        return JobRunner(self.services.pool, every, self.services.job_results)

    async def work(self, after: timedelta = timedelta()) -> None:
        """Do what is due by then, of this book alone: other tests have jobs of their own."""
        await self.sql.execute(
            "UPDATE jobs SET due_at = now() - interval '1 s' WHERE book_id = $1 AND due_at <= $2",
            self.book_id,
            self.later(after),
        )
        await self.runner().run_due(now())

    def later(self, after: timedelta) -> datetime:
        """The moment so long from now."""
        return now() + after

    async def age(self, withdrawal_id: str, by: timedelta) -> None:
        """Let the provider have been asked so long ago."""
        await self.sql.execute(
            "UPDATE withdrawals SET asked_at = asked_at - $2::interval WHERE id = $1",
            UUID(withdrawal_id),
            by,
        )

    async def hear(self, withdrawal_id: str) -> None:
        """Let the provider tell of a payout: a hint that something is news."""
        told = HeardOutgoing("sandbox", "payout", f"wd-{UUID(withdrawal_id)}")
        job = NewJob(
            book_id=self.book_id,
            kind=HEARD_PAYOUT,
            subject_id=new_id(),
            key="0",
            payload=msgspec.json.encode(told),
        )
        async with self.services.pool.transaction() as db:
            await queue_job(db, job, now(), now())

    def reference(self, withdrawal_id: str) -> str:
        """The name by which the bank knows a withdrawal."""
        return f"wd-{UUID(withdrawal_id)}"

    async def faults(self) -> list[Fault]:
        """Everything that `tillhouse verify` would say of this book."""
        async with self.services.pool.reading() as db:
            types = [WITHDRAWAL_SOURCE, DEPOSIT]
            return [fault async for fault in prove(db, self.book_id, types)]

    async def events(self) -> list[tuple[str, str | None]]:
        """The types of the events of withdrawals, with their reasons, in order."""
        rows = await self.sql.fetch(
            """
            SELECT type, payload::jsonb -> 'data' -> 'metadata' ->> 'reason' AS reason
            FROM webhook_events WHERE book_id = $1 AND type LIKE 'wallet.withdrawal.%' ORDER BY id
            """,
            self.book_id,
        )
        return [(row["type"].rpartition(".")[2], row["reason"]) for row in rows]
