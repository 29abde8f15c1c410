"""A till whose orders are paid into accounts of their own, which the sandbox watches."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.api import Response
from tests.orders.payments.till import Till
from tests.orders.shop import ORDERS, Body
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import prove
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.posting.proof import ORDER_SOURCE
from tillhouse.payins import jobs as payins
from tillhouse.payins.proof import PAYIN_SOURCE
from tillhouse.payins.sandbox.simulating import Simulated, simulate
from tillhouse.payins.store.accounts import find_latest

# A job that another one queues is due a moment after that began.
_SOON = timedelta(seconds=2)


class Depositing(Till):
    """A shop whose customers transfer to the account of their order."""

    services: Services

    async def deposit(self, price: float = 1000, **fields: Any) -> Body:
        """An order that is paid by transfer to an account of its own."""
        return await self.ring(price, payment_method="cloove_pay", **fields)

    async def arrive(
        self, order: Body, kind: Simulated = "exact", amount: int | None = None
    ) -> None:
        """The customer pays; nothing is processed yet."""
        async with self.services.pool.transaction() as db:
            book = Book(self.book, "test")
            account = await find_latest(db, self.book, ("order", UUID(order["id"])))
            assert account is not None
            await simulate(db, book, account, kind, None if amount is None else Decimal(amount))

    async def work(self, **later: float) -> None:
        """A worker does all that is due by then."""
        jobs = [*payins.kinds(self.services), *deposits.kinds(self.services)]
        runner = JobRunner(self.services.pool, jobs, self.services.job_results)
        await runner.run_due(now() + _SOON + timedelta(**later))

    async def record(self) -> None:
        """Record what arrived, and apply nothing of it yet."""
        jobs = payins.kinds(self.services)
        runner = JobRunner(self.services.pool, jobs, self.services.job_results)
        await runner.run_due(now() + _SOON)

    async def paid(self, order: Body, kind: Simulated = "exact", amount: int | None = None) -> Body:
        """The order after the customer paid and the provider told of it."""
        await self.arrive(order, kind, amount)
        await self.work()
        return await self.show(order)

    async def show(self, order: Body) -> Body:
        """The order as it stands."""
        answer = await self.api.get(f"{ORDERS}/{order['id']}")
        assert answer.status == 200, answer
        return answer.data

    async def requery(self, order: Body) -> Response:
        """The answer to asking again."""
        return await self.api.post(f"{ORDERS}/{order['id']}/requery")

    async def faults(self, services: Services) -> list[Fault]:
        """The faults that `tillhouse verify` finds in the book."""
        async with services.pool.reading() as db:
            return [one async for one in prove(db, self.book, [ORDER_SOURCE, PAYIN_SOURCE])]

    async def wallet(self) -> Decimal:
        """The balance of the wallet."""
        return -(await self.accounts()).get("wallet", Decimal(0))
