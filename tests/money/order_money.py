"""The money of one order in whole minor units, written from docs/orders.md and docs/finance.md."""

import msgspec

TENDERS = {"cash": "cash", "transfer": "bank", "pos": "pos", "cloove_pay": "provider_clearing"}


class Refusal(Exception):
    """The product must refuse it."""


class OrderMoney(msgspec.Struct, kw_only=True):
    """An order, and what its money does."""

    total: int
    # By number; None: nobody known.
    customer: int | None
    method: str
    # Quantity of its one line, each at the same price, and how many were given back.
    quantity: int = 1
    returned: int = 0
    status: str = "pending"
    paid: int = 0
    change: int = 0
    refunded: int = 0
    # On its way back through the provider: paid still, and nothing that could be given back.
    returning: int = 0
    tips: int = 0
    # The credit of its customer that was spent on it, less refunds as credit.
    spent: int = 0
    is_automated: bool = False
    is_deleted: bool = False
    # By method, all that came in, tips included, less all that was handed back; without change.
    flows: dict[str, int] = {}
    # The same without tips.
    came: dict[str, int] = {}

    @property
    def has_ended(self) -> bool:
        """Whether no sale needs its money."""
        return self.is_deleted or self.status == "cancelled"

    @property
    def due(self) -> int:
        """The amount to be paid in all."""
        return self.total - self.refunded

    @property
    def over(self) -> int:
        """The amount paid beyond that."""
        return max(self.paid - self.due, 0)

    @property
    def surplus(self) -> int:
        """The amount paid that no sale needs."""
        return self.paid if self.has_ended else self.over

    @property
    def kept(self) -> int:
        """The part of it that is kept for the payer."""
        return self.surplus - self.change

    @property
    def remaining(self) -> int:
        """The amount that is left to pay."""
        return max(self.due - self.paid, 0)

    @property
    def debt(self) -> int:
        """The balance of its active debt."""
        owes = not self.has_ended and self.status in ("pending", "completed")
        return self.remaining if owes and self.customer is not None else 0

    @property
    def owed(self) -> int:
        """The amount that a link may ask for."""
        return 0 if self.has_ended or self.status == "refunded" else self.remaining

    @property
    def returnable(self) -> int:
        """The amount that can be given back."""
        return self.paid - self.change - self.returning

    def _flow(self, method: str, amount: int, tip: int = 0) -> None:
        if amount or tip:
            self.flows[method] = self.flows.get(method, 0) + amount + tip
            self.came[method] = self.came.get(method, 0) + amount

    def _share(self, over: int, method: str) -> None:
        """Let the overpayment, which was `over`, be shared into change and what is kept."""
        grown = self.over - over
        if grown >= 0:
            self.change += grown if method == "cash" else 0
        elif method == "cash":
            self.change -= min(-grown, self.change)
        else:
            self.change -= max(-grown - max(over - self.change, 0), 0)
        self.change = max(min(self.change, self.surplus), 0)

    def pay(self, amount: int, method: str, tip: int = 0) -> None:
        """Somebody at the till records a payment."""
        if self.status in ("cancelled", "refunded"):
            raise Refusal("it takes no payment")
        if method == "credit" and (self.customer is None or tip):
            raise Refusal("nobody's credit, or a tip from it")
        if method == "credit" and amount > self.remaining:
            raise Refusal("more credit than is owed")
        self.receive(amount, method, tip)

    def receive(self, amount: int, method: str, tip: int = 0) -> None:
        """Money came in, whatever the status."""
        over = self.over
        self.paid += amount
        self.tips += tip
        self.method = method
        self.spent += amount if method == "credit" else 0
        self._flow(method, amount, tip)
        self._share(over, method)
        self._settle()

    def _settle(self) -> None:
        if self.status == "pending" and self.paid >= self.due:
            self.status = "completed"

    def correct(self, paid: int) -> None:
        """The amount paid is set to another one."""
        if self.status == "refunded" or (self.status == "cancelled" and paid > self.paid):
            raise Refusal("its amounts stay")
        if self.returning and paid < self.paid:
            raise Refusal("a refund is on its way")
        over, more = self.over, paid - self.paid
        if self.status != "cancelled" and -more > max(self.came.get(self.method, 0), 0):
            raise Refusal("so much did not come by its method")
        self.paid = paid
        self._flow(self.method, more)
        self._share(over, self.method)
        if more:
            self._settle()

    def give_back(self, amount: int, method: str, *, is_of_lines: bool = False) -> None:
        """Money is handed back at the till."""
        if self.status == "refunded" or amount > self.returnable:
            raise Refusal("so much is not there")
        if method == "credit" and (self.customer is None or self.status == "cancelled"):
            raise Refusal("nobody's credit, or credit already")
        self._take_out(amount, self.kept, is_of_lines=is_of_lines)
        self.spent -= amount if method == "credit" else 0
        self._flow(method, -amount)

    def give_line_back(self, quantity: int, method: str) -> None:
        """So many of its line come back."""
        if quantity > self.quantity - self.returned:
            raise Refusal("so many were not sold")
        self.give_back(self.total // self.quantity * quantity, method, is_of_lines=True)
        self.returned += quantity

    def take_back(self, amount: int, credit: int | None) -> int:
        """The provider takes a payment back; how much of it the order gives.

        Of what was kept as credit, only what the customer still has (`credit`; None: all).
        """
        back, kept = self.parts(amount, credit)
        self._take_out(back, kept)
        self._flow("cloove_pay", -back)
        return back

    def parts(self, amount: int, credit: int | None) -> tuple[int, int]:
        """The part of an amount that the order can give, and the money that is kept and there."""
        kept = self.kept if credit is None else min(self.kept, max(credit, 0))
        wanted = min(amount, self.paid - self.change)
        if self.has_ended:
            return min(wanted, kept), kept
        if self.paid < self.due:
            return wanted, kept
        return min(wanted, kept + self.due), kept

    def come_home(self, amount: int, of_sale: int) -> None:
        """Money that went back through the provider is here again."""
        self.paid += amount
        self.refunded -= min(of_sale, self.refunded)
        if amount and self.status == "refunded":
            self.status = "completed"
        self._flow("cloove_pay", amount)

    def _take_out(self, amount: int, kept: int, *, is_of_lines: bool = False) -> None:
        """Take an amount out: of the overpayment that is kept first, then of the sale."""
        is_sale = not self.has_ended and (is_of_lines or self.paid >= self.due)
        of_sale = max(amount - kept, 0) if is_sale else 0
        self.paid -= amount
        self.refunded += of_sale
        if of_sale and not self.due:
            self.status = "refunded"

    def cancel(self) -> None:
        """The sale is called off."""
        if self.status == "cancelled":
            return
        is_paid = self.status == "completed" or self.paid >= self.due
        if self.status == "refunded" or self.returning or (self.is_automated and is_paid):
            raise Refusal("it can't be cancelled")
        self.status = "cancelled"

    def revive(self) -> None:
        """It is taken up again, as pending by name."""
        if self.status == "refunded":
            raise Refusal("it stays refunded")
        over = self.over
        self.status = "pending"
        self._share(over, self.method)

    def delete(self) -> None:
        """It is taken out of all reports."""
        if self.is_automated:
            raise Refusal("its deposit stays")
        self.is_deleted = True
