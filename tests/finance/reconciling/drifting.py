"""A business whose books can be made to drift from what its provider and its orders say."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from tests.make import Make
from tests.orders.deposits.depositing import Depositing
from tests.orders.shop import Body
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.checkout.applying import kind as link_kind
from tillhouse.finance.reconciling.actions import Reconciliation
from tillhouse.finance.reconciling.types import ReconciledPart, ReconcilingReport
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.returning import sending as returning
from tillhouse.payins import jobs as payins
from tillhouse.payouts import room as payouts

HOUR = timedelta(hours=1)
SCOPES = ("payment_links:write", "wallet:withdrawals:create", "payouts:write")
POLICY = {"max_per_transaction": 100_000, "max_per_day": 100_000, "currency": "USD"}


class Drifting:
    """A till that collects by the sandbox, with links and withdrawals."""

    def __init__(self, services: Services, till: Depositing, api: Any) -> None:
        self.services = services
        self.till = till
        self.api = api
        self.sql: asyncpg.Connection = till.sql

    @classmethod
    async def open(cls, services: Services, make: Make, sql: asyncpg.Connection) -> "Drifting":
        """The one of a new business."""
        till = await Depositing.open(make, sql)
        till.services = services
        api = await till.business.client(*SCOPES, withdrawal_policy=POLICY)
        return cls(services, till, api)

    async def execute(self, query: str, *args: object) -> None:
        """Change rows of the book, whose id is $1."""
        assert await self.sql.execute(query, self.till.book, *args) != "UPDATE 0"

    async def look(self, **scope: Any) -> ReconcilingReport:
        """The differences."""
        return await self._reconciliation(**scope).look()

    async def kinds(self) -> list[str]:
        """The kinds of what differs."""
        return sorted(one.kind for one in (await self.look()).differences)

    async def mend(self) -> ReconcilingReport:
        """Repair, and see that a second repair changes nothing."""
        report = await self._reconciliation().repair()
        before = await self.rows()
        again = await self._reconciliation().repair()
        assert (again.repaired, again.differences) == ([], report.differences)
        assert await self.rows() == before
        return report

    async def repair(self, **scope: Any) -> ReconcilingReport:
        """Take what steps a repair has."""
        return await self._reconciliation(**scope).repair()

    def _reconciliation(self, **scope: Any) -> Reconciliation:
        given = {"business_id": UUID(self.till.business.id), "since": now() - HOUR,
                 "until": now() + HOUR, **scope}  # fmt: skip
        return Reconciliation(self.services, ReconciledPart(**given), PRODUCT.sources)

    async def rows(self) -> list[Any]:
        """How many rows of money there are, and the newest moment of a change."""
        query = """
            SELECT (SELECT count(*) FROM payins WHERE book_id = $1),
                (SELECT count(*) FROM ledger_transfers WHERE book_id = $1),
                (SELECT count(*) FROM payments WHERE book_id = $1),
                (SELECT count(*) FROM transactions WHERE book_id = $1),
                (SELECT max(updated_at) FROM payins WHERE book_id = $1),
                (SELECT max(updated_at) FROM withdrawals WHERE book_id = $1),
                (SELECT array_agg(status ORDER BY id) FROM refunds WHERE book_id = $1)
        """
        return list(await self.sql.fetchrow(query, self.till.book))

    async def work(self) -> None:
        """A worker does all that is due."""
        jobs = [*payins.kinds(self.services), *deposits.kinds(self.services),
                *payouts.kinds(self.services), *returning.kinds(self.services),
                link_kind(self.services)]  # fmt: skip
        runner = JobRunner(self.services.pool, jobs, self.services.job_results)
        await runner.run_due(self.soon())

    def soon(self) -> datetime:
        """A moment after the jobs that another one queues."""
        return now() + timedelta(seconds=2)

    async def paid(self, price: int = 1000) -> Body:
        """An order that was paid by transfer."""
        order = await self.till.deposit(price)
        await self.till.arrive(order)
        await self.work()
        return await self.till.show(order)

    async def forget_jobs(self) -> None:
        """Let every job of the book be lost, and what the provider told of."""
        await self.sql.execute("DELETE FROM jobs WHERE book_id = $1", self.till.book)
        await self.sql.execute("DELETE FROM provider_events WHERE book_id = $1", self.till.book)

    async def give_back(self, amount: str) -> Body:
        """An order of which an amount is to go back through the provider."""
        await self.paid()
        order = await self.paid()
        return await self.till.give_back(order, amount=amount)

    async def refund_of(self, order: Body) -> str:
        """The status of the refund of an order."""
        [refund] = (await self.till.show(order))["refunds"]
        return refund["status"]

    async def account(self) -> str:
        """A bank account of the business."""
        body = {"bank_code": "001", "account_number": "0123456789"}
        return (await self.api.post("/v1/payout-accounts", body, status=201)).data["id"]

    async def withdraw(self, amount: str, account: str | None = None) -> str:
        """A withdrawal that was requested; its id."""
        body = {"amount": amount, "payout_account_id": account or await self.account()}
        headers = {"idempotency-key": str(new_id())}
        made = await self.api.post("/v1/wallet/withdrawals", body, headers=headers, status=201)
        return made.data["id"]

    async def withdrawal(self, withdrawal_id: str) -> str:
        """The status of a withdrawal."""
        query = "SELECT status FROM withdrawals WHERE book_id = $1 AND id = $2"
        return await self.sql.fetchval(query, self.till.book, UUID(withdrawal_id))

    async def balance(self) -> Decimal:
        """The balance of the wallet."""
        return await self.till.wallet()
