"""Payers and their bank: what they pay, and the messages about it."""

from datetime import timedelta
from typing import Any

from tests.api import Response
from tests.money.provider_side import Account, Message
from tests.money.steps import Step
from tests.money.walk_base import WalkBase
from tests.orders.shop import ORDERS


class PayerSteps(WalkBase):
    """Steps of those who pay."""

    async def arrive(self, step: Step, times: int = 1, **given: Any) -> bool:
        """Somebody pays what an account asks for, less, or more."""
        account = await self._account(step)
        if account is None:
            return False
        amount = (account.amount, account.amount, step.amount)[step.way % 3]
        for _ in range(times):
            await self._arrive(account, amount, **given)
        return True

    async def arrive_twice(self, step: Step) -> bool:
        """Somebody pays twice."""
        return await self.arrive(step, times=2)

    async def arrive_foreign(self, step: Step) -> bool:
        """Somebody pays in another currency."""
        return not step.way and await self.arrive(step, foreign=True)

    async def arrive_in_vain(self, step: Step) -> bool:
        """Somebody tries to pay, and fails."""
        return not step.way and await self.arrive(step, state="failed")

    async def arrive_unknown(self, step: Step) -> bool:
        """Somebody pays into an account of nothing known."""
        if step.way:
            return False
        await self._arrive(None, step.amount)
        return True

    async def _arrive(self, account: Account | None, amount: int, **given: Any) -> None:
        payment_id, payment = await self.desk.provider.pay(account, amount, **given)
        self.book.paid[payment_id] = payment

    async def _account(self, step: Step) -> Account | None:
        accounts = await self.desk.provider.accounts()
        return accounts[-1 - step.which % len(accounts)] if accounts else None

    async def take_back(self, step: Step) -> bool:
        """The bank takes a payment back."""
        there = {n: one for n, one in self.book.paid.items() if one.state == "successful"}
        if (payment_id := self.pick(there, step)) is None:
            return False
        await self.desk.provider.take_back(payment_id, there[payment_id])
        return True

    async def deliver(self, step: Step, times: int = 1) -> bool:
        """A message arrives, whichever was told first."""
        bag = self.desk.provider.bag
        if not bag:
            return False
        message = bag.pop(step.which % len(bag))
        for _ in range(times):
            await self._deliver(message, step)
        await self.work(step)
        return True

    async def _deliver(self, message: Message, step: Step) -> None:
        async def send() -> Response:
            return await self.desk.provider.deliver(self.desk.payer, message)

        answer = await self.desk.repeated(send, step.crash)
        assert answer.status == 200, answer

    async def deliver_twice(self, step: Step) -> bool:
        """A message arrives twice."""
        return await self.deliver(step, times=2)

    async def deliver_all(self, step: Step) -> bool:
        """All messages arrive at once, the last one first."""
        bag = self.desk.provider.bag
        if not bag:
            return False
        await self.deliver_rest()
        await self.work(step)
        return True

    async def deliver_rest(self) -> None:
        """Every message that is on its way arrives, and nothing is done about it yet."""
        while self.desk.provider.bag:
            await self._deliver(self.desk.provider.bag.pop(), Step("deliver"))

    async def lose(self, step: Step) -> bool:
        """A message never arrives."""
        bag = self.desk.provider.bag
        if not bag:
            return False
        self.desk.provider.lost.append(bag.pop(step.which % len(bag)))
        return True

    async def requery(self, step: Step) -> bool:
        """Somebody asks whether an order was paid."""
        own = {n: one for n, one in self.book.orders.items() if not one.is_deleted}
        if (order_id := self.pick(own, step)) is None:
            return False
        await self.desk.pass_time(timedelta(minutes=1))
        answer = await self.desk.ask(("POST", f"{ORDERS}/{order_id}/requery"), None, step.crash)
        self.is_refused(answer, is_refused=not own[order_id].is_automated)
        return True

    async def check_page(self, step: Step) -> bool:
        """A payer says that it was paid."""
        if (link_id := self.pick(self.book.links, step)) is None:
            return False
        await self.desk.pass_time(timedelta(minutes=1))
        path = ("POST", f"/pay/{self.pages[link_id]}/check")
        answer = await self.desk.ask(path, None, step.crash, api=self.desk.payer)
        assert answer.status == 303, answer
        return True
