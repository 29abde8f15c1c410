"""A live till that collects by one vendor, as it is simulated, and gives back through it."""

from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from tests.orders.returning.giving import Giving
from tests.orders.shop import Body
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.vendors import Vendor
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import OrderId
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.returning.sending import kinds
from tillhouse.payins import hooks
from tillhouse.payins import jobs as payins
from tillhouse.payins.accounts import open_account
from tillhouse.payins.hooks import HeardReturn
from tillhouse.payins.types import AccountTarget, Origin


class Live(NamedTuple):
    """The live book of a shop that collects by one vendor, and that vendor."""

    till: Giving
    origin: Origin
    vendor: Vendor
    simulator: Simulator

    async def sold(self, *parts: int) -> Body:
        """An order that was paid by the vendor: at once, or by transfers of these amounts."""
        order = await self.till.ring(1000)
        order_id = UUID(order["id"])
        await self.till.sql.execute("UPDATE orders SET is_automated = true WHERE id = $1", order_id)
        target = AccountTarget(
            book=self.origin.book,
            type="order",
            id=order_id,
            order_id=OrderId(order_id),
            amount=Decimal(1000),
            currency=self.vendor.currency,
            email="payer@example.com",
            name="Ada's",
            description="An order",
            return_url="https://till.example.com/pay/x",
        )
        account = await open_account(self.till.services, target)
        for amount in map(Decimal, parts) if parts else (None,):
            await self.simulator.pay(account.reference, amount)
            await self.told()
        return await self.till.show(order)

    async def told(self) -> None:
        """The vendor sends its hooks, and all that is due is done."""
        await self.hear()
        await self.work()

    async def hear(self) -> None:
        """The vendor sends its hooks, and they are kept."""
        await self.simulator.tell()
        name, book_id = self.vendor.name, self.origin.book.id
        for hook in self.simulator.told:
            headers = {name.lower(): value for name, value in hook.headers.items()}
            await hooks.take(self.till.services, name, book_id, headers, hook.body, now())
        self.simulator.told.clear()

    async def hear_of_payment(self, transaction: str) -> None:
        """The vendor tells of a refund by nothing but its own name of the payment."""
        told = HeardReturn(self.vendor.name, transaction_id=transaction)
        await self.till.queue_heard(told)

    async def work(self, after: timedelta = timedelta()) -> None:
        """A worker does what is due by then."""
        services = self.till.services
        await self.till.make_due(after)
        jobs = [*payins.kinds(services), *deposits.kinds(services), *kinds(services)]
        runner = JobRunner(services.pool, jobs, services.job_results)
        await runner.run_due(self.till.later(timedelta(seconds=2)))

    async def given(self) -> int:
        """How many refunds the vendor has made."""
        return len(self.simulator.refunds)  # type: ignore[attr-defined]
