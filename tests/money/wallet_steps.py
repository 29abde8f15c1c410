"""Money that goes out: withdrawals and expenses."""

from contextlib import suppress

from tests.money.book_parts import Return, Withdrawal
from tests.money.order_money import Refusal
from tests.money.provider_side import major
from tests.money.steps import PAYOUTS, RETURNS, Step
from tests.money.till_steps import TillSteps
from tests.orders.shop import ORDERS

# In minor units.
FEE = 37
EXPENSES, WITHDRAWALS = "/v1/finance/expenses", "/v1/wallet/withdrawals"


class WalletSteps(TillSteps):
    """Steps of money that goes out."""

    async def withdraw(self, step: Step) -> None:
        """Money is to leave the wallet."""
        amount = PAYOUTS[step.size % len(PAYOUTS)]
        body = {"amount": str(major(amount)), "payout_account_id": self.desk.account_id}
        is_refused = False
        try:
            self.book.check_withdrawal(amount)
        except Refusal:
            is_refused = True
        answer = await self.desk.ask(("POST", WITHDRAWALS), body, step.crash)
        if self.is_refused(answer, is_refused=is_refused):
            return
        number = answer.data["id"]
        self.book.withdrawals[number] = Withdrawal(amount=amount)
        self.book.events["wallet.withdrawal.requested", number] += 1

    async def pay_out(self, step: Step) -> bool:
        """A payment that the provider refused to give back is to be paid out."""
        there = {n: one for n in self.book.orders if (one := await self._refused(n))}
        if (order_id := self.pick(there, step)) is None:
            return False
        self.reach["refunds to be paid out"] += 1
        amount, payments = RETURNS[step.size % len(RETURNS)], there[order_id]
        wanted: Return | None = None
        with suppress(Refusal):
            self.book.check_withdrawal(amount)
            wanted = self.book.begin_return(order_id, amount, payments)
        body = {
            "amount": str(major(amount)),
            "payout_account_id": self.desk.account_id,
            "refund": {"order_id": order_id},
        }
        answer = await self.desk.ask(("POST", WITHDRAWALS), body, step.crash)
        if self.is_refused(answer, is_refused=wanted is None) or wanted is None:
            return True
        wanted.withdrawal = number = answer.data["id"]
        self.book.withdrawals[number] = Withdrawal(amount=amount, is_refund=True)
        self.book.events["wallet.withdrawal.requested", number] += 1
        order = (await self.desk.get(f"{ORDERS}/{order_id}")).data
        self.sent_back(wanted, order, payments)
        return True

    async def _refused(self, order_id: str) -> set[str]:
        """The payments of an order that may be paid out: the provider didn't think better of it."""
        states = await self.desk.provider.refunds()
        rethought = {
            one.payment for number, one in self.book.returns.items()
            if one.status == "failed" and states.get(number) == "successful"
        }  # fmt: skip
        return self.book.refused(order_id) - rethought

    async def drop_withdrawal(self, step: Step) -> bool:
        """A withdrawal is taken back, unless it was sent."""
        if (number := self.pick(self.book.withdrawals, step)) is None:
            return False
        one = self.book.withdrawals[number]
        path = ("POST", f"{WITHDRAWALS}/{number}/cancel")
        answer = await self.desk.ask(path, None, step.crash)
        is_refused = one.status not in ("requested", "cancelled")
        if not self.is_refused(answer, is_refused=is_refused) and one.status == "requested":
            one.status = "cancelled"
            self.book.events["wallet.withdrawal.failed", number] += 1
        return True

    async def hint(self, step: Step) -> bool:
        """The provider has something to tell of a withdrawal that it knows."""
        known = await self.desk.provider.payouts()
        if (number := self.pick(known, step)) is None:
            return False
        self.desk.provider.hint(number)
        return True

    async def rethink_payout(self, step: Step) -> bool:
        """The provider thinks better of a payout, or takes a fee of it."""
        known = {
            number: state for number, state in (await self.desk.provider.payouts()).items()
            if state != "processing" and not self.book.withdrawals[number].is_refund
        }  # fmt: skip
        if (number := self.pick(known, step)) is None:
            return False
        await self.desk.provider.rethink_payout(number, FEE * (step.size % 2))
        return True

    async def spend(self, step: Step) -> None:
        """An expense."""
        method = ("cash", "transfer", "pos")[step.way % 3]
        body = {"amount": str(major(step.amount)), "method": method}
        answer = await self.desk.ask(("POST", EXPENSES), body, step.crash)
        assert answer.status == 201, answer
        self.book.expenses[answer.data["id"]] = (step.amount, method, True)

    async def unspend(self, step: Step) -> bool:
        """An expense that was none."""
        there = {n: one for n, one in self.book.expenses.items() if one[2]}
        if (number := self.pick(there, step)) is None:
            return False
        answer = await self.desk.ask(("DELETE", f"{EXPENSES}/{number}"), None, step.crash)
        assert answer.status == 200 or (answer.status == 404 and step.crash), answer
        amount, method, _ = there[number]
        self.book.expenses[number] = (amount, method, False)
        return True
