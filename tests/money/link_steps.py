"""Payment links: asked for, looked at, dropped, expired."""

from tests.api import Response
from tests.money.book_parts import Link
from tests.money.provider_side import major
from tests.money.steps import Step
from tests.money.walk_base import WalkBase

LINKS = "/v1/payment-links"


class LinkSteps(WalkBase):
    """Steps with payment links."""

    async def ask_for_sale(self, step: Step) -> bool:
        """A link for an order."""
        order_id = self.pick(self.book.orders, step)
        if order_id is None or self.book.orders[order_id].is_deleted:
            return False
        await self._link(step, "sale", order_id, order_id)
        return True

    async def ask_for_debt(self, step: Step) -> bool:
        """A link for a debt."""
        owing = {n: order for n, order in self.book.orders.items() if order.debt}
        if (order_id := self.pick(owing, step)) is None:
            return False
        found = (await self.desk.get(f"/v1/debts?order_id={order_id}&status=active")).data
        assert len(found) == 1, found
        await self._link(step, "debt", order_id, found[0]["id"])
        return True

    async def _link(self, step: Step, kind: str, order_id: str, target: str) -> None:
        body = {"target_type": kind, "target_id": target}
        answer = await self.desk.ask(("POST", LINKS), body, step.crash)
        is_refused = not self.book.orders[order_id].owed
        if not self.is_refused(answer, is_refused=is_refused):
            self._keep(answer, Link(kind=kind, order=order_id, amount=0))

    async def ask_for_wallet(self, step: Step) -> None:
        """A link of the wallet."""
        body = {"title": "Hall", "amount": str(major(step.amount))}
        answer = await self.desk.ask(("POST", f"{LINKS}/wallet/dynamic"), body, step.crash)
        assert answer.status == 201, answer
        self._keep(answer, Link(kind="wallet", order=None, amount=step.amount))

    def _keep(self, answer: Response, link: Link) -> None:
        one = answer.data
        actives = [
            number for number, other in self.book.links.items()
            if (other.kind, other.order) == (link.kind, link.order) and other.status == "active"
            and other.order is not None
        ]  # fmt: skip
        assert not actives or actives == [one["id"]], "a target has one active link"
        self.book.links.setdefault(one["id"], link)
        self.pages[one["id"]] = one["reference"]

    async def open_page(self, step: Step) -> bool:
        """Somebody looks at the page of a link: its account is opened."""
        if (link_id := self.pick(self.book.links, step)) is None:
            return False
        link, path = self.book.links[link_id], ("GET", f"/pay/{self.pages[link_id]}")
        answer = await self.desk.ask(path, None, step.crash, api=self.desk.payer)
        assert answer.status == 200, answer
        if link.order is not None and link.shown == "active":
            self.book.orders[link.order].is_automated = True
        return True

    async def drop_link(self, step: Step) -> bool:
        """A link is to ask nobody any more."""
        link_id = self.pick(self.book.links, step)
        if link_id is None or step.way:
            return False
        link = self.book.links[link_id]
        answer = await self.desk.ask(("DELETE", f"{LINKS}/{link_id}"), None, step.crash)
        if not self.is_refused(answer, is_refused=link.status == "PAID"):
            link.status = "CANCELLED"
        return True

    async def expire_link(self, step: Step) -> bool:
        """The time of a link is over."""
        own = {n: link for n, link in self.book.links.items() if link.kind == "wallet"}
        link_id = self.pick(own, step)
        if link_id is None or step.way:
            return False
        await self.desk.sql.execute(_EXPIRE, self.desk.book, link_id)
        self.book.links[link_id].is_expired = True
        return True


_EXPIRE = """
    UPDATE payment_links SET expires_at = now() - interval '1 s' WHERE book_id = $1 AND id = $2
"""
