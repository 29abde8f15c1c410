"""A book in whole minor units: its orders, links, wallet, withdrawals and expenses."""

import copy
from collections import Counter
from collections.abc import Callable, Collection

import msgspec

from tests.money.book_parts import Link, Paid, Return, Withdrawal
from tests.money.order_money import TENDERS, OrderMoney, Refusal

FAILURES_MAX = 5


class Book(msgspec.Struct, kw_only=True):
    """Everything that the book must say."""

    orders: dict[str, OrderMoney] = {}
    links: dict[str, Link] = {}
    paid: dict[str, Paid] = {}
    withdrawals: dict[str, Withdrawal] = {}
    returns: dict[str, Return] = {}
    # Amount, method, and whether it stands.
    expenses: dict[str, tuple[int, str, bool]] = {}
    # How often each type of event tells of each thing.
    events: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    # Withdrawals that failed one after another, and whether that stopped all others.
    failures: int = 0
    is_frozen: bool = False

    # Orders.

    def changes(
        self, order_id: str, change: Callable[[OrderMoney], object], *, is_payment: bool = True
    ) -> None:
        """Change an order, unless it is refused: then all stays."""
        order = self.orders[order_id]
        after = copy.deepcopy(order)
        change(after)
        self._check_credit(order, after)
        self._follow(order_id, order, after)
        if is_payment and after.paid > order.paid:
            self.events["payment.received", order_id] += 1

    def sell(self, order_id: str, order: OrderMoney, paid: int) -> None:
        """Record an order."""
        if paid:
            order.receive(paid, order.method)
            self.events["payment.received", order_id] += 1
        order._settle()
        self.orders[order_id] = order
        self.events["order.created", order_id] += 1

    def check_sale(self, order: OrderMoney, paid: int) -> None:
        """Refuse a sale that is paid with credit that isn't there, or isn't owed."""
        if order.method != "credit" or not paid:
            return
        if order.customer is None or paid > min(self.free_credit(order.customer), order.total):
            raise Refusal("credit that isn't there, or isn't owed")

    def _check_credit(self, order: OrderMoney, after: OrderMoney) -> None:
        if order.customer is not None:
            more = (after.kept - after.spent) - (order.kept - order.spent)
            if more < 0 and self.free_credit(order.customer) + more < 0:
                raise Refusal("the credit was spent, or is held")

    def _follow(self, order_id: str, before: OrderMoney, after: OrderMoney) -> None:
        """Take the changed order, close its links, and count what is told."""
        self.orders[order_id] = after
        if after == before:
            return
        if after.is_deleted or (after.status == "cancelled" != before.status):
            self.events["order.cancelled", order_id] += 1
        else:
            self.events["order.updated", order_id] += 1
        self._close_links(order_id, before, after)

    def _close_links(self, order_id: str, before: OrderMoney, after: OrderMoney) -> None:
        for link in self.links.values():
            if link.order != order_id or link.status != "active":
                continue
            if after.has_ended or after.status == "refunded":
                link.status = "CANCELLED"
            elif before.remaining and not after.remaining:
                link.status = "PAID"

    def credit(self, customer: int) -> int:
        """The amount that a customer has to come."""
        return sum(
            order.kept - order.spent for order in self.orders.values() if order.customer == customer
        )

    def free_credit(self, customer: int) -> int:
        """The part of it that isn't held for what is on its way back."""
        return self.credit(customer) - sum(
            one.held_credit
            for one in self.returns.values()
            if one.status == "pending" and self.orders[one.order].customer == customer
        )

    def _credit_of(self, order_id: str) -> int | None:
        """The credit that bounds what an order gives back; None: no bound."""
        customer = self.orders[order_id].customer
        return None if customer is None else self.free_credit(customer)

    # Money that comes in.

    def order_of(self, target: str | None) -> str | None:
        """The order that a payment's target stands for; None: the wallet, or nothing."""
        if target in self.orders:
            return target
        link = self.links.get(target or "")
        if link is None or link.order is None:
            return None
        return None if self.orders[link.order].is_deleted else link.order

    def record(self, payment: Paid) -> None:
        """A payment was recorded: it is in the wallet, or among what nobody knows."""
        payment.is_recorded = True

    def apply(self, payment: Paid) -> None:
        """The target of a payment takes it."""
        payment.is_applied = True
        self.events["wallet.deposit", ""] += 1
        order_id, link = self.order_of(payment.target), self.links.get(payment.target or "")
        if order_id is not None:
            payment.order = order_id
            self.changes(order_id, lambda order: order.receive(payment.amount, "cloove_pay"))
        else:
            assert link is not None, "orders with a deposit aren't deleted"
            payment.is_deposit = True
            self.events["payment.received", payment.target or ""] += 1
        if link is not None:
            asked = link.amount - link.received
            if link.kind == "wallet" and link.shown == "active" and payment.amount >= asked:
                link.status = "PAID"
            link.received += payment.amount
            link.payments += 1

    def reverse(self, number: str, claim: int, *, is_alone: bool) -> None:
        """A payment went back, or more of it since a refund of ours failed.

        Refunds of ours keep what they give back of it; `claim` is what the wallet no longer had.
        """
        payment, before = self.paid[number], self.paid[number].returned
        more = max(payment.amount - self.given_back(number) - before, 0)
        net = more if payment.is_reversed else more - payment.fee
        if payment.funds_wallet:
            short, claimed = self._lack(net), claim - payment.claim
            if is_alone:
                assert claimed == short, (claimed, short)
            assert 0 <= claimed <= max(net, 0), (claimed, net)
        payment.is_reversed = True
        payment.returned += more
        payment.claim = claim

    def give_back(self, payment: Paid, given: int) -> None:
        """The target of a payment gives it back, so much in all."""
        more, payment.given = given - payment.given, given
        order_id, link = self.order_of(payment.target), self.links.get(payment.target or "")
        if order_id is not None and not payment.is_deposit:
            payment.shortfall += more - self._take_back(order_id, more)
        if link is not None:
            link.received = max(link.received - more, 0)
            link.payments -= more == given
            if link.status == "PAID" and not link.received:
                link.status = "active" if link.kind == "wallet" else "CANCELLED"

    def _take_back(self, order_id: str, amount: int) -> int:
        """The provider gives money of an order back; how much of it the order had."""
        credit, back = self._credit_of(order_id), list[int]()
        self.changes(order_id, lambda order: back.append(order.take_back(amount, credit)))
        return back[0]

    # Money that goes back through the provider.

    def returnable(self, order_id: str) -> dict[str, int]:
        """The payments of an order that came by the provider, and what of each is left."""
        return {
            number: payment.amount
            - self.given_back(number)
            - self.given_back(number, is_paid_out=True)
            for number, payment in self.paid.items()
            if payment.order == order_id and not payment.is_reversed
        }

    def given_back(self, number: str, *, is_paid_out: bool = False) -> int:
        """The part of a payment that refunds give back: through the provider, or paid out."""
        return sum(
            one.given for one in self.returns.values()
            if one.payment == number and one.status in ("pending", "successful")
            and (one.withdrawal is not None) == is_paid_out
        )  # fmt: skip

    def begin_return(
        self, order_id: str, amount: int, payments: Collection[str] | None = None
    ) -> Return:
        """A refund of one of these payments (None: any) is on its way from now on, if allowed."""
        order = self.orders[order_id]
        if order.status == "refunded" or amount > order.returnable:
            raise Refusal("so much is not there")
        there = self.returnable(order_id)
        wanted = there if payments is None else payments
        if not any(left >= amount for n, left in there.items() if n in wanted):
            raise Refusal("no payment has so much")
        credit = self._credit_of(order_id)
        back, kept = order.parts(amount, credit)
        if back < amount or amount > self.available:
            raise Refusal("spent as credit, or withdrawn")
        held = 0 if credit is None or not order.kept else min(amount, kept)
        return Return(order=order_id, payment="", amount=amount, held_credit=held)

    def refused(self, order_id: str) -> set[str]:
        """The payments of an order that the provider refused to give back."""
        return self.returnable(order_id).keys() & {
            one.payment for one in self.returns.values()
            if one.order == order_id and one.status == "failed" and one.withdrawal is None
        }  # fmt: skip

    def keep_return(self, number: str, one: Return) -> None:
        """It was accepted: nothing is booked, and as much less can be given back."""
        self.returns[number] = one
        self.orders[one.order].returning += one.amount

    def end_return(self, one: Return, status: str) -> None:
        """The provider's last word on it."""
        if one.status == "pending":
            self.orders[one.order].returning -= one.amount
        elif status == "successful":
            payment = self.paid[one.payment]
            left = payment.left - self.given_back(one.payment)
            one.taken_before = max(one.amount - left, 0)
            one.claim = self._lack(one.given)
        one.status = status
        if status == "failed":
            self.events["order.updated", one.order] += 1
        elif status == "successful":
            refunded = self.orders[one.order].refunded
            one.shortfall = one.amount - self._take_back(one.order, one.given)
            one.of_sale = self.orders[one.order].refunded - refunded
        else:
            back, of_sale = one.amount - one.shortfall, one.of_sale
            self.changes(one.order, lambda order: order.come_home(back, of_sale), is_payment=False)

    def _lack(self, amount: int) -> int:
        """The part of an amount that the wallet doesn't have."""
        return max(amount - max(self.available, 0), 0)

    # Money that goes out.

    @property
    def wallet(self) -> int:
        """The balance of the wallet."""
        came = sum(
            one.left - one.fee_left + one.claim
            for one in self.paid.values()
            if one.is_recorded and one.funds_wallet
        )
        taken = sum(one.fee - one.fee_due - one.amount_due for one in self.withdrawals.values())
        return came - self._withdrawn("processing", "completed") - taken - self._returned()

    @property
    def available(self) -> int:
        """The part of it that isn't held."""
        held = sum(
            one.amount for one in self.returns.values()
            if one.status == "pending" and one.withdrawal is None
        )  # fmt: skip
        return self.wallet - self._withdrawn("requested") - held

    def _returned(self) -> int:
        """The part of the wallet that went back through the provider."""
        there = [
            one for one in self.returns.values()
            if one.status == "successful" and one.withdrawal is None
        ]  # fmt: skip
        return sum(one.given - one.claim for one in there)

    def _withdrawn(self, *statuses: str) -> int:
        return sum(one.amount for one in self.withdrawals.values() if one.status in statuses)

    def check_withdrawal(self, amount: int) -> None:
        """Refuse one that is not covered, or not allowed."""
        if amount > self.available or self.is_frozen:
            raise Refusal("not covered, or frozen")

    @property
    def due(self) -> int:
        """The sum that payouts took and the wallet has not given yet."""
        return sum(one.fee_due + one.amount_due for one in self.withdrawals.values())

    def complete_late(self) -> None:
        """A withdrawal that was given back has left all the same: nothing more leaves."""
        self.failures += 1
        self.is_frozen = True

    def fail(self) -> None:
        """A withdrawal failed; too many of them stop all others."""
        self.failures += 1
        self.is_frozen = self.is_frozen or self.failures >= FAILURES_MAX

    # Sums.

    def flows(self) -> dict[str, int]:
        """By method, what came in for orders less what went back, twice where it did."""
        found: Counter[str] = Counter()
        for order in self.orders.values():
            found.update(order.flows)
        for one in self.returns.values():
            if one.status == "successful":
                found["cloove_pay"] -= one.shortfall - one.taken_before
        return {method: amount for method, amount in found.items() if amount}

    def accounts(self) -> dict[str, int]:
        """Debits less credits by kind of account, where they aren't even."""
        held: Counter[str] = Counter()
        for order in self.orders.values():
            _count(order, held)
        for payment in self.paid.values():
            if payment.is_recorded and not payment.is_foreign:
                _count_payment(payment, held)
        for one in self.returns.values():
            if one.status == "successful":
                _count_return(one, held)
        for amount, method, stands in self.expenses.values():
            if stands:
                held["expenses"] += amount
                held[TENDERS[method]] -= amount
        completed = sum(
            one.amount for one in self.withdrawals.values()
            if one.status == "completed" and not one.is_refund
        )  # fmt: skip
        held["wallet"] -= self.wallet
        held["withdrawals_in_transit"] -= self._withdrawn("processing")
        held["provider_clearing"] -= completed
        for one in self.withdrawals.values():
            held["withdrawals_in_transit"] += one.amount_due
            held["fees"] += one.fee
            held["provider_clearing"] -= one.fee
            held["wallet_funding"] -= one.fee - one.fee_due
        return {kind: amount for kind, amount in held.items() if amount}


def _count(order: OrderMoney, held: Counter[str]) -> None:
    sold = 0 if order.has_ended else order.total
    returned = 0 if order.has_ended else order.refunded
    for method, amount in order.flows.items():
        if method != "credit":
            held[TENDERS[method]] += amount
    held["cash"] -= order.change
    held["sales"] -= sold
    held["refunds"] += returned
    held["tips"] -= order.tips
    held["receivable"] += sold - returned - order.paid + order.change + order.kept
    if order.customer is None:
        held["unapplied_receipts"] -= order.kept
    else:
        held["customer_credit"] -= order.kept - order.spent


def _count_payment(payment: Paid, held: Counter[str]) -> None:
    held["fees"] += payment.fee_left
    held["provider_clearing"] -= payment.fee_left
    if not payment.funds_wallet:
        held["provider_clearing"] += payment.left
        held["unapplied_receipts"] -= payment.left
        return
    held["unapplied_receipts"] += payment.claim + payment.shortfall
    held["provider_clearing"] -= payment.shortfall
    held["wallet_funding"] += payment.left - payment.fee_left
    if payment.is_deposit:
        held["provider_clearing"] += payment.amount - payment.given
        held["wallet_funding"] -= payment.amount - payment.given


def _count_return(one: Return, held: Counter[str]) -> None:
    short = one.shortfall - one.taken_before
    held["wallet_funding"] -= one.given
    held["unapplied_receipts"] += one.claim + short
    held["provider_clearing"] -= short
