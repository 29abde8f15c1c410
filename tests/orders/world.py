"""A shop to walk in, the steps that can be taken there, and the same shop as a model."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec

from tests.api import Response
from tests.orders.basket import Ask, Sale, Trade, Ware
from tests.orders.model import Promotion
from tests.orders.model import Shop as Model
from tests.orders.shop import Body, Shop, chosen, variant_of
from tests.orders.snapshot import Names, Snapshot
from tillhouse.kit.clock import iso, now
from tillhouse.orders.works import fire_next, fold


class Create(msgspec.Struct, frozen=True):
    """A new order; `paid` is a part of its total."""

    sale: Sale
    paid: Decimal | None = None
    is_keyed: bool = False


class Patch(msgspec.Struct, frozen=True):
    """A change; amounts are parts of the total as it is, or is to be."""

    order: int
    fields: dict[str, Any]


class Confirm(msgspec.Struct, frozen=True):
    """A confirmation; `paid` is a part of the total."""

    order: int
    paid: Decimal | None = None
    method: str | None = None
    is_keyed: bool = False


class Delete(msgspec.Struct, frozen=True):
    """A deletion."""

    order: int


class Send(msgspec.Struct, frozen=True):
    """To the kitchen."""

    order: int
    is_keyed: bool = False


class Stage(msgspec.Struct, frozen=True):
    """The ticket to another stage."""

    order: int
    stage: str
    is_keyed: bool = False


class Replay(msgspec.Struct, frozen=True):
    """A keyed request once more, or its key with another body."""

    number: int
    is_other: bool = False


class Adjust(msgspec.Struct, frozen=True):
    """More of a variant."""

    variant: str
    in_store: bool
    count: int


class Works(msgspec.Struct, frozen=True):
    """The background's turn: what is due goes to the kitchen, tallies are folded."""


Step = Create | Patch | Confirm | Delete | Send | Stage | Replay | Adjust | Works | None


class Setting(msgspec.Struct, frozen=True):
    """How the business of a walk trades."""

    type: str = "retail"
    is_inclusive: bool = False
    restocks: bool = True


class World:
    """A shop with something to sell, and the same as a model."""

    def __init__(self, shop: Shop, setting: Setting) -> None:
        self.shop = shop
        self.names = Names()
        self.rows = Snapshot(shop.sql, shop.book, self.names)
        self.ids: dict[str, str] = {}
        self.orders: list[str] = []
        self._group: Body = {}
        moment = now()
        times = {"soon": 10 * 60, "later": 48 * 3600, "past": -60}
        self.times = {name: iso(moment + timedelta(seconds=s)) for name, s in times.items()}
        self.model = _model(setting)

    @classmethod
    async def open(cls, shop: Shop, setting: Setting) -> "World":
        """Furnish the shop."""
        world = cls(shop, setting)
        await shop.set_trade(tax_inclusive=setting.is_inclusive)
        await shop.set_trade(restocks_cancelled=setting.restocks)
        await world._stock()
        for name in ("Ann Obi", "Ben Eze"):
            world.ids[name] = (await shop.customer(name))["id"]
        world.ids["few"] = (await shop.promotion(name="few", limit_total=2))["id"]
        each = {"value": 25, "limit_per_customer": 1}
        world.ids["each"] = (await shop.promotion(name="each", **each))["id"]
        world.ids["term"] = (await shop.term())["id"]
        return world

    async def _stock(self) -> None:
        shop, ids = self.shop, self.ids
        ids["store"] = (await shop.store())["id"]
        self._group = await shop.group(150)
        made: dict[str, Body] = {}
        for name, ware in self.model.trade.wares.items():
            fields: Body = {"name": name, "tax_rate": float(ware.tax)}
            if name in self.model.allows:
                policy = "allow" if self.model.allows[name] else "deny"
                fields |= {"tracks_stock": True, "stock_policy": policy}
                if name in self.model.thresholds:
                    fields["low_stock_threshold"] = int(self.model.thresholds[name])
            elif ware.parts:
                parts = [(made[part]["id"], float(count)) for part, count in ware.parts]
                fields["components"] = [{"product_id": p, "quantity": c} for p, c in parts]
            if ware.extra:
                fields["modifier_group_ids"] = [self._group["id"]]
            made[name] = await shop.product(float(ware.price), **fields)
            ids[name] = made[name]["id"]
            if name in self.model.allows:
                self.names.variants[variant_of(made[name])] = name
        variants = {name: variant for variant, name in self.names.variants.items()}
        ids |= {f"variant {name}": variant for name, variant in variants.items()}
        for (name, in_store), (count, _) in self.model.levels.items():
            store = ids["store"] if in_store else None
            await shop.adjust(variants[name], float(count), store)

    def new_order(self, sale: Sale, paid: Decimal | None) -> Body:
        """The body of a new order."""
        given = {
            "items": [self._line(ask) for ask in sale.asks],
            "payment_method": sale.method,
            "amount_paid": None if paid is None else float(paid),
            "discount_amount": float(sale.discount) or None,
            "service_charge_amount": None if sale.charge is None else float(sale.charge),
            "promotion_id": self.ids[sale.promotion] if sale.promotion else None,
            "store_id": self.ids["store"] if sale.in_store else None,
            "scheduled_for": self.times[sale.when] if sale.when else None,
            "occurred_at": "2026-01-02T10:00:00Z" if sale.is_import else None,
            "send_to_kitchen": sale.kitchen,
            "customer_id": self.ids.get(sale.customer or ""),
            "customer_name": None if sale.customer in self.ids else sale.customer,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _line(self, ask: Ask) -> Body:
        line: Body = {"product_name": ask.ware, "quantity": float(ask.quantity)}
        if ask.ware in self.ids:
            line["product_id"] = self.ids[ask.ware]
        if ask.ware == "fee":
            line["line_type"] = "fee"
        if ask.price is not None:
            line["custom_price"] = float(ask.price)
        if ask.has_extra:
            line["modifiers"] = [chosen(self._group)]
        return line

    def patch(self, fields: dict[str, Any]) -> Body:
        """The body of a change."""
        body: Body = {}
        for name, value in fields.items():
            match name:
                case "customer":
                    body["customer_id"] = self.ids[value]
                case "term":
                    body["academic_term_id"] = self.ids["term"] if value else None
                case "scheduled_for":
                    body[name] = self.times[value] if value else None
                case _:
                    body[name] = float(value) if isinstance(value, Decimal) else value
        return body

    async def adjust(self, step: Adjust) -> Response:
        """Somebody counts."""
        store = self.ids["store"] if step.in_store else None
        body = {"variant_id": self.ids[f"variant {step.variant}"], "store_id": store}
        return await self.shop.api.post(
            "/v1/inventory/adjustments", {**body, "kind": "adjustment", "quantity": step.count}
        )

    async def work(self) -> None:
        """What a process does in the background."""
        while await fire_next(self.shop.api.app.house):
            pass
        await fold(self.shop.api.app.house)


def _model(setting: Setting) -> Model:
    wares = {
        "rice": Ware(price=Decimal(1000), parts=(("rice", Decimal(1)),), extra=Decimal(150)),
        "beer": Ware(price=Decimal("250.50"), tax=Decimal("7.5"), parts=(("beer", Decimal(1)),)),
        "ghost": Ware(price=Decimal(70), parts=(("ghost", Decimal(1)),)),
        "soap": Ware(price=Decimal("333.33"), tax=Decimal(10)),
        "box": Ware(price=Decimal(3000), parts=(("rice", Decimal(2)), ("beer", Decimal(1)))),
    }
    zero = Decimal(0)
    return Model(
        trade=Trade(
            wares=wares,
            percents={"few": Decimal(10), "each": Decimal(25)},
            is_inclusive=setting.is_inclusive,
        ),
        allows={"rice": False, "beer": True, "ghost": True},
        thresholds={"rice": Decimal(2), "beer": Decimal(1)},
        levels={
            ("rice", False): [Decimal(5), zero],
            ("rice", True): [Decimal(3), zero],
            ("beer", False): [Decimal(4), zero],
        },
        promotions={"few": Promotion(limit=2), "each": Promotion(each=1)},
        customers={"Ann Obi", "Ben Eze"},
        has_kitchen=setting.type == "restaurant",
        restocks=setting.restocks,
    )
