"""Sixty orders of all kinds in one shop, for lists to be read from."""

import random
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from tests.orders.list_model import Given
from tests.orders.shop import ORDERS, Body, Shop, fee
from tillhouse.kit.clock import end_of_day, iso, now, start_of_day

COUNT = 60
ZONE = "Africa/Lagos"
_CHANNELS = ("whatsapp", "in_person", "other", "voice")
_MODES = (None, None, "dine_in", "takeaway", "room_service")
_METHODS = ("cash", "transfer", "pos", "other")
_NAMES = (None, "Ada Obi", "Adamu Bello", "Bola Ade", "Zainab O'Neil", "St.John Mary-Ann")


class History:
    """A shop with its orders as they are read, and what the queries can name."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.orders: list[Body] = []
        self.moment = now()
        self.stores: list[str] = []
        self.things: dict[str, str] = {}
        self.tags: list[str] = []

    @classmethod
    async def of(cls, shop: Shop) -> "History":
        """Make the orders, then read each."""
        history = cls(shop)
        await history._furnish()
        # Of scheduled orders some are at one moment, so that the id decides.
        dice = random.Random(7)  # noqa: S311 - the same orders every time
        made = [await history._sell(dice, number) for number in range(COUNT)]
        for number, order in enumerate(made):
            await history._age(order, number)
        history.orders = [await shop.show(order) for order in made]
        return history

    async def _furnish(self) -> None:
        shop = self.shop
        self.stores = [(await shop.store())["id"] for _ in range(2)]
        self.tags = [(await shop.tag(name))["id"] for name in ("vip", "late", "gift")]
        self.things = {
            "table_session_id": (await shop.session())["id"],
            "academic_term_id": (await shop.term())["id"],
        }

    async def _sell(self, dice: random.Random, number: int) -> Body:
        price = dice.randint(1, 90_000) / 100
        fields: dict[str, Any] = {
            "channel": dice.choice(_CHANNELS),
            "service_mode": dice.choice(_MODES),
            "payment_method": dice.choice(_METHODS),
            "amount_paid": dice.choice((0, 0.01, price, price)),
            "customer_name": dice.choice(_NAMES),
            "store_id": dice.choice((None, *self.stores)),
            "tags": dice.sample(self.tags, dice.randint(0, 2)),
            "served_by_user_id": dice.choice((None, self.shop.business.user_id)),
            "send_to_kitchen": False,
        }
        for name, value in self.things.items():
            fields[name] = dice.choice((None, value))
        if number % 6 == 0:
            fields["scheduled_for"] = iso(self.moment + timedelta(days=1 + number % 4))
        elif number % 6 != 1:
            fields["occurred_at"] = iso(self._occurrence(dice))
        headers = {"service-environment": "test"}
        seller = self.shop.business.owner if number % 4 == 0 else self.shop.api
        body = {"items": [fee(price)], **fields}
        return (await seller.post(ORDERS, body, headers=headers, status=201)).data

    def _occurrence(self, dice: random.Random) -> datetime:
        """Some days ago, often on the edge of a day."""
        day = (self.moment - timedelta(days=dice.randint(1, 5))).date()
        edges = (start_of_day(day, ZONE), end_of_day(day, ZONE))
        edges += (start_of_day(day, "UTC"), end_of_day(day, "UTC"))
        return dice.choice((*edges, edges[0] + timedelta(hours=dice.randint(1, 22))))

    async def _age(self, order: Body, number: int) -> None:
        """Paid by another method too, cancelled, fulfilled, automated, refunded: each of some."""
        shop = self.shop
        path = f"{ORDERS}/{order['id']}"
        if number % 5 == 1:
            for method, amount in (("pos", 30), ("cash", 20)):
                paid = {"method": method, "amount": amount}
                await shop.api.post(f"{path}/payments", paid, status=201)
        if number % 10 == 1:
            given = {"method": "transfer" if number % 20 == 1 else "pos", "amount": 30}
            await shop.api.post(f"{path}/refunds", given, status=201)
        if number % 7 == 3:
            await shop.to(order, "cancelled")
        if number % 5 == 2:
            await shop.patch(order, channel_fulfilled=True)
        if number % 12 == 6:
            await shop.confirm(order)
        if number % 9 == 4:
            statement = "UPDATE orders SET is_automated = true WHERE book_id = $1 AND id = $2"
            await shop.sql.execute(statement, shop.book, UUID(order["id"]))
        if number in (20, 41):
            statement = "UPDATE orders SET status = 'refunded' WHERE book_id = $1 AND id = $2"
            await shop.sql.execute(statement, shop.book, UUID(order["id"]))

    def day(self, ago: int) -> Given:
        """A date, as its business's time zone means it."""
        date = (self.moment - timedelta(days=ago)).date()
        return Given(date.isoformat(), start_of_day(date, ZONE), end_of_day(date, ZONE))

    @staticmethod
    def today() -> tuple[str, str]:
        """When the day begins that it is there now, and when the next one does."""
        date = now().astimezone(ZoneInfo(ZONE)).date()
        return iso(start_of_day(date, ZONE)), iso(start_of_day(date + timedelta(days=1), ZONE))

    def instant(self, ago: int) -> Given:
        """When some order took place, to the millisecond, in another spelling."""
        order = sorted(self.orders, key=lambda one: one["occurredAt"])[-ago]
        at = datetime.fromisoformat(order["occurredAt"])
        local = (at + timedelta(hours=2)).replace(tzinfo=None).isoformat(timespec="milliseconds")
        return Given(local + "+02:00", at)
