"""Orders, payments and refunds at the till."""

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

import msgspec

from tests.money.book_parts import Return
from tests.money.order_money import OrderMoney, Refusal
from tests.money.provider_side import major
from tests.money.steps import RETURNS, Step
from tests.money.walk_base import WalkBase
from tests.orders.shop import ORDERS, Body

QUANTITY = 3
TILLS = {"cash", "transfer", "pos"}


class TillSteps(WalkBase):
    """Steps at a till."""

    async def sell(self, step: Step) -> None:
        """An order, of which nothing, a part, all or more is paid."""
        paid = (0, 0, step.amount, 10000, 15000)[step.which % 5]
        order = self._order(step, step.method if paid else "cash")
        try:
            self.book.check_sale(order, paid)
            is_refused = False
        except Refusal:
            is_refused = True
        await self._sell(step, order, paid, is_refused=is_refused)

    async def sell_by_deposit(self, step: Step) -> None:
        """An order with an account of its own."""
        order = self._order(step, "cloove_pay")
        order.is_automated = True
        await self._sell(step, order, 0, is_refused=False)

    def _order(self, step: Step, method: str) -> OrderMoney:
        customer = (None, 0, 1)[step.size % 3]
        total = (10000, 3 * 333, 9999)[(step.size + step.way) % 3]
        quantity = QUANTITY if total % QUANTITY == 0 else 1
        return OrderMoney(total=total, customer=customer, method=method, quantity=quantity)

    async def _sell(self, step: Step, order: OrderMoney, paid: int, *, is_refused: bool) -> None:
        line = {
            "product_name": "Hall", "line_type": "fee", "quantity": order.quantity,
            "custom_price": str(major(order.total // order.quantity)),
        }  # fmt: skip
        body: dict[str, Any] = {
            "items": [line], "payment_method": order.method, "amount_paid": str(major(paid))
        }  # fmt: skip
        if order.customer is not None:
            body["customer_id"] = self.desk.customers[order.customer]
        answer = await self.desk.ask(("POST", ORDERS), body, step.crash)
        if self.is_refused(answer, is_refused=is_refused):
            return
        self.book.sell(answer.data["id"], order, paid)

    async def pay(self, step: Step) -> bool:
        """A payment at the till."""
        if (order_id := self.pick(self.book.orders, step)) is None:
            return False
        order, amount = self.book.orders[order_id], step.amount
        if not amount or order.is_deleted:
            return False
        tip = (0, 500)[step.which % 2]
        body = {"amount": str(major(amount)), "method": step.method, "tip": str(major(tip))}
        await self._change(
            order_id, lambda one: one.pay(amount, step.method, tip),
            (("POST", f"{ORDERS}/{order_id}/payments"), body, step),
        )  # fmt: skip
        return True

    async def correct(self, step: Step) -> bool:
        """Another amount is said to be paid."""
        order_id = self.pick(self.book.orders, step)
        order = self.book.orders.get(order_id or "")
        if order_id is None or order is None or order.is_deleted or order.flows.keys() - TILLS:
            return False
        amount = step.amount if step.way else 0
        if order.is_automated or (order.method not in TILLS and order.paid != amount):
            return False
        body = {"amount_paid": str(major(amount))}
        await self._change(
            order_id, lambda one: one.correct(amount),
            (("PATCH", f"{ORDERS}/{order_id}"), body, step),
        )  # fmt: skip
        return True

    async def refund(self, step: Step) -> bool:
        """Money is handed back."""
        if (order_id := self.pick(self.book.orders, step)) is None:
            return False
        if self.book.orders[order_id].is_deleted:
            return False
        amount, method = step.amount, step.method
        body = {"amount": str(major(amount)), "method": method}
        await self._change(
            order_id, lambda one: one.give_back(amount, method),
            (("POST", f"{ORDERS}/{order_id}/refunds"), body, step),
        )  # fmt: skip
        return True

    async def send_back(self, step: Step) -> bool:
        """Money that came by the provider is to go back through it."""
        there = {n: one for n in self.book.orders if (one := self.book.returnable(n))}
        if (order_id := self.pick(there, step)) is None:
            return False
        path, amount = f"{ORDERS}/{order_id}", RETURNS[step.size % len(RETURNS)]
        body = {"amount": str(major(amount)), "method": "cloove_pay"}
        named = self.pick(there[order_id], step) if step.way % 2 else None
        if named is not None:
            payments = (await self.desk.get(path)).data["payments"]
            [body["payment_id"]] = [one["id"] for one in payments if one["reference"] == named]
        wanted: Return | None = None
        with suppress(Refusal):
            wanted = self.book.begin_return(order_id, amount, {named} if named else None)
        answer = await self.desk.ask(("POST", path + "/refunds"), body, step.crash)
        if not self.is_refused(answer, is_refused=wanted is None) and wanted is not None:
            self.sent_back(wanted, answer.data, {named} if named else None)
        return True

    async def send_back_in_vain(self, step: Step) -> bool:
        """The same, of an amount that the sandbox refuses to give back."""
        return await self.send_back(msgspec.structs.replace(step, size=4 + step.size % 2))

    def sent_back(self, wanted: Return, order: Body, payments: Collection[str] | None) -> None:
        """A refund is on its way: it is of one of these payments (None: of any)."""
        [seen] = [
            one for one in order["refunds"]
            if (one["provider"] or one["withdrawalId"]) and one["id"] not in self.book.returns
        ]  # fmt: skip
        assert (seen["status"], seen["withdrawalId"]) == ("pending", wanted.withdrawal), seen
        references = {one["id"]: one["reference"] for one in order["payments"]}
        chosen = references[seen["paymentId"]]
        assert payments is None or chosen in payments, (wanted, seen)
        assert self.book.returnable(wanted.order)[chosen] >= wanted.amount, (wanted, seen)
        wanted.payment = chosen
        self.reach["refunds on their way"] += 1
        self.book.keep_return(seen["id"], wanted)

    async def hint_refund(self, step: Step) -> bool:
        """The provider has something to tell of a refund that it knows."""
        known = await self.desk.provider.refunds()
        if (number := self.pick(known, step)) is None:
            return False
        self.desk.provider.hint_refund(number)
        return True

    async def rethink(self, step: Step) -> bool:
        """The provider thinks better of a refund, as far as its money is there."""
        states = await self.desk.provider.refunds()
        known = {
            number: state for number, state in states.items()
            if state == "successful" or (state == "failed" and self._may_go(number, states))
        }  # fmt: skip
        if (number := self.pick(known, step)) is None:
            return False
        is_undone = self.book.paid[self.book.returns[number].payment].state == "reversed"
        self.reach["refunds rethought of payments that were undone"] += is_undone
        await self.desk.provider.rethink(number)
        return True

    def _may_go(self, number: str, states: dict[str, str]) -> bool:
        """Whether its payment has the money: that it was undone meanwhile says nothing of it."""
        one = self.book.returns[number]
        others = sum(
            other.amount for name, other in self.book.returns.items()
            if other.payment == one.payment and states.get(name, "failed") != "failed"
        )  # fmt: skip
        is_left = self.book.paid[one.payment].amount - others >= one.amount
        return is_left and one.status != "reversed"

    async def refund_line(self, step: Step) -> bool:
        """Some of what was sold comes back."""
        if (order_id := self.pick(self.book.orders, step)) is None:
            return False
        if self.book.orders[order_id].is_deleted:
            return False
        path = f"{ORDERS}/{order_id}"
        [item] = (await self.desk.get(path)).data["items"]
        quantity, method = 1 + step.size % 2, ("cash", "pos")[step.way % 2]
        line = {"item_id": item["id"], "quantity": quantity}
        await self._change(
            order_id, lambda one: one.give_line_back(quantity, method),
            (("POST", path + "/refunds"), {"lines": [line], "method": method}, step),
        )  # fmt: skip
        return True

    async def cancel(self, step: Step) -> bool:
        """An order is called off."""
        return await self._become(step, "cancelled", OrderMoney.cancel)

    async def revive(self, step: Step) -> bool:
        """An order is pending again."""
        return await self._become(step, "pending", OrderMoney.revive)

    async def _become(self, step: Step, status: str, change: Callable[[OrderMoney], None]) -> bool:
        order_id = self.pick(self.book.orders, step)
        if order_id is None or self.book.orders[order_id].is_deleted:
            return False
        body = {"status": status}
        await self._change(order_id, change, (("PATCH", f"{ORDERS}/{order_id}"), body, step))
        return True

    async def delete(self, step: Step) -> bool:
        """An order is taken out of all reports."""
        order_id = self.pick(self.book.orders, step)
        if order_id is None or self.book.orders[order_id].is_deleted or step.way:
            return False
        what = (("DELETE", f"{ORDERS}/{order_id}"), None, step)
        await self._change(order_id, OrderMoney.delete, what)
        return True

    async def _change(
        self, order_id: str, change: Callable[[OrderMoney], None], what: tuple[Any, Any, Step]
    ) -> None:
        """Ask for a change; it is refused exactly when the model refuses it."""
        path, body, step = what
        is_refused = False
        try:
            self.book.changes(order_id, change)
        except Refusal:
            is_refused = True
        answer = await self.desk.ask(path, body, step.crash)
        if answer.status == 404 and not is_refused:
            # The deletion was done before the crash was heard of.
            assert step.crash is not None, answer
            assert path[0] == "DELETE", answer
            return
        self.is_refused(answer, is_refused=is_refused)
