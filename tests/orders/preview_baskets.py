"""Random new orders of a shop: everything that a price depends on, and much that is refused."""

import random
from typing import Any

from tests.orders.shop import Body, Shop, chosen, fee, line

RATES = (0, 5, 7.5, 19.25, 33.3333)
MODES = (None, None, "dine_in", "takeaway", "room_service")
METHODS = ("cash", "cash", "pos", "transfer", "credit", "cloove_pay", None)


class RandomBaskets:
    """The goods and people of a shop, and orders of them that are drawn by chance."""

    def __init__(self, shop: Shop, decimals: int, chance: random.Random) -> None:
        self._shop = shop
        self._decimals = decimals
        self._chance = chance
        self._goods: list[Body] = []
        self._group: Body = {}
        self._with_group: Body = {}
        self._store: Body = {}
        self._customer: Body = {}
        self._session: Body = {}
        self._tag: Body = {}
        self._promotions: list[str] = []

    async def open(self) -> None:
        """Make what is sold, and those who buy it."""
        shop, chance = self._shop, self._chance
        self._store = await shop.store()
        self._customer = await shop.customer("Ngozi Obi")
        self._session, self._tag = await shop.session(), await shop.tag("Regular")
        self._group = await shop.group(self._price(), self._price(), max_choices=2)
        for rate in RATES:
            prices = [{"store_id": self._store["id"], "price": self._price()}]
            variants = [{"name": "Small"}, {"name": "Large", "price": self._price()}]
            made = await shop.product(self._price(), tax_rate=rate, variants=variants)
            await shop.api.patch(
                f"/v1/variants/{made['variants'][1]['id']}", {"prices": prices}, status=200
            )
            self._goods.append(made)
        counted = await shop.product(self._price(), tax_rate=7.5, stock=chance.randint(20, 60))
        self._with_group = await shop.product(
            self._price(), tax_rate=16, modifier_group_ids=[self._group["id"]]
        )
        self._goods += [counted, self._with_group, await shop.bundle((counted, 2))]
        ids = [one["id"] for one in self._goods[:3]]
        terms: list[Body] = [
            {"value": 12.5},
            {"type": "fixed", "value": self._price()},
            {"scope": "products", "product_ids": ids, "value": 33.33, "limit_total": 3},
            {"type": "free_item", "value": self._price()},
            {"limit_per_customer": 2, "maximum_discount": self._price()},
        ]
        self._promotions = [(await shop.promotion(**one))["id"] for one in terms]

    def draw(self) -> Body:
        """The body of an order."""
        chance = self._chance
        body: Body = {"items": [self._line() for _ in range(chance.randint(1, 5))]}
        self._perhaps(body, 0.4, discount_amount=self._price(10))
        self._perhaps(body, 0.3, promotion_id=chance.choice(self._promotions))
        self._perhaps(body, 0.2, service_charge_amount=chance.choice((0, self._price(10))))
        self._perhaps(body, 0.5, amount_paid=self._price(chance.choice((10, 1000))))
        self._perhaps(body, 0.4, store_id=self._store["id"])
        self._perhaps(body, 0.2, table_session_id=self._session["id"])
        self._perhaps(body, 0.3, tags=[chance.choice((self._tag["id"], "New one", "Regular", "!"))])
        self._perhaps(body, 0.1, scheduled_for="2100-01-30T12:00:00Z")
        self._perhaps(body, 0.1, occurred_at="2024-05-03T15:00:00Z")
        name = chance.choice(("ngozi obi", f"Guest {chance.randint(1, 10**9)}"))
        self._perhaps(body, 0.4, **chance.choice(
            ({"customer_id": self._customer["id"]}, {"customer_name": name})
        ))  # fmt: skip
        return {
            **body,
            "service_mode": chance.choice(MODES),
            "payment_method": chance.choice(METHODS),
        }

    def _perhaps(self, body: Body, share: float, **fields: Any) -> None:
        if self._chance.random() < share:
            body.update(fields)

    def _price(self, most: int = 1000) -> float:
        unit = 10**self._decimals
        return self._chance.randint(1, most * unit) / unit

    def _line(self) -> Body:
        chance = self._chance
        count = chance.choice((1, 2, 3, 0.5, 1.333, 7.25))
        kind = chance.random()
        if kind < 0.15:
            return fee(self._price(20))
        if kind < 0.35:
            return {"product_name": "Suya", "custom_price": self._price(), "quantity": count,
                    "tax_rate": chance.choice(RATES)}  # fmt: skip
        product = chance.choice(self._goods)
        found = line(product, count)
        if len(product["variants"]) > 1 and chance.random() < 0.97:
            found["variant_id"] = chance.choice(product["variants"])["id"]
        self._perhaps(found, 0.15, custom_price=self._price())
        if product is self._with_group:
            places = chance.sample((0, 1), chance.randint(0, 2))
            found["modifiers"] = [chosen(self._group, place) for place in places]
        return found
