"""The money of one order once more in plain Python, written from docs/orders.md."""

from decimal import Decimal

import msgspec

ZERO = Decimal(0)
TENDERS = {"cash": "cash", "transfer": "bank", "pos": "pos"}


class Refusal(Exception):
    """The product must refuse it with 400."""


class MoneyModel(msgspec.Struct, kw_only=True):
    """An order of a customer, and what its money does."""

    total: Decimal
    method: str = "cash"
    status: str = "pending"
    paid: Decimal = ZERO
    change: Decimal = ZERO
    refunded: Decimal = ZERO
    tips: Decimal = ZERO
    # By account, what lies in each tender.
    drawers: dict[str, Decimal] = {}
    # By method, what came in beside tips, less what went back; change went back as cash later.
    came: dict[str, Decimal] = {}

    @property
    def due(self) -> Decimal:
        """The amount to be paid in all."""
        return self.total - self.refunded

    @property
    def over(self) -> Decimal:
        """The amount paid beyond that."""
        return max(self.paid - self.due, ZERO)

    @property
    def credit(self) -> Decimal:
        """The amount that the customer has to come for it."""
        return (self.paid if self.status == "cancelled" else self.over) - self.change

    def _come(self, method: str, amount: Decimal) -> None:
        self.came[method] = self.came.get(method, ZERO) + amount

    def _put(self, method: str, amount: Decimal) -> None:
        account = TENDERS[method]
        self.drawers[account] = self.drawers.get(account, ZERO) + amount

    def _moved(self, over: Decimal, method: str) -> None:
        """Let the overpayment be shared again: `over` is what it was."""
        grown, before = self.over - over, self.change
        if grown >= 0:
            self.change += grown if method == "cash" else ZERO
        elif method == "cash":
            self.change -= min(-grown, self.change)
        else:
            self.change -= max(-grown - max(over - self.change, ZERO), ZERO)
        most = self.paid if self.status == "cancelled" else self.over
        self.change = max(min(self.change, most), ZERO)
        self._put("cash", before - self.change)

    def pay(self, amount: Decimal, method: str, tip: Decimal) -> None:
        """Money comes in by a method."""
        if self.status in ("cancelled", "refunded"):
            raise Refusal
        over = self.over
        self.paid += amount
        self.tips += tip
        self.method = method
        self._put(method, amount + tip)
        self._come(method, amount)
        self._moved(over, method)
        if self.status == "pending" and self.paid >= self.due:
            self.status = "completed"

    def correct(self, paid: Decimal) -> None:
        """The amount paid is set to another one."""
        if self.status == "refunded" or (self.status == "cancelled" and paid > self.paid):
            raise Refusal
        over, more = self.over, paid - self.paid
        if self.status != "cancelled" and -more > max(self.came.get(self.method, ZERO), ZERO):
            raise Refusal
        self._come(self.method, more)
        self.paid = paid
        self._put(self.method, more)
        self._moved(over, self.method)
        if self.status == "pending" and more and self.paid >= self.due:
            self.status = "completed"

    def give_back(self, amount: Decimal, method: str) -> None:
        """Money is handed back by a method."""
        if self.status == "refunded" or amount > self.paid - self.change:
            raise Refusal
        if self.status in ("pending", "completed") and self.paid >= self.due:
            of_sale = max(amount - self.credit, ZERO)
            self.paid -= amount
            self.refunded += of_sale
            if of_sale and not self.due:
                self.status = "refunded"
        else:
            self.paid -= amount
        self._put(method, -amount)
        self._come(method, -amount)

    def cancel(self) -> None:
        """The sale is called off; the money is the customer's."""
        if self.status == "refunded":
            raise Refusal
        self.status = "cancelled"

    def revive(self) -> None:
        """It is taken up again, as pending by name."""
        if self.status == "refunded":
            raise Refusal
        over = self.over
        self.status = "pending"
        self._moved(over, self.method)

    def accounts(self) -> dict[str, Decimal]:
        """Debits less credits of every account that isn't even."""
        sold = self.total if self.status != "cancelled" else ZERO
        returned = self.refunded if sold else ZERO
        held = {
            **self.drawers,
            "sales": -sold,
            "refunds": returned,
            "tips": -self.tips,
            "customer_credit": -self.credit,
            "receivable": sold - returned - self.paid + self.change + self.credit,
        }
        return {account: amount for account, amount in held.items() if amount}
