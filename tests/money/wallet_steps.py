"""Money that goes out: withdrawals and expenses."""

from tests.money.book_parts import Withdrawal
from tests.money.order_money import Refusal
from tests.money.provider_side import major
from tests.money.steps import PAYOUTS, Step
from tests.money.walk_base import WalkBase

EXPENSES, WITHDRAWALS = "/v1/finance/expenses", "/v1/wallet/withdrawals"


class WalletSteps(WalkBase):
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
