"""A shop to walk in, the steps that can be taken there, and the same shop as a model."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec

from tests.api import Response
from tests.orders.background import fire_due
from tests.orders.basket_model import Ask, Ware
from tests.orders.order_model import Promotion
from tests.orders.order_model import Shop as Model
from tests.orders.shop import Body, Shop, chosen, variant_of
from tests.orders.snapshot import Names, Snapshot
from tests.orders.store_price_model import Gift, Sale, Till
from tests.orders.table_model import Guests
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import iso, now
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

SESSIONS = "/v1/table-sessions"
TABLES = ("Window", "Door")
# The operations that a simulated client knows.
HEARD = [
    "order.created", "order.updated", "order.cancelled", "payment.received",
    "inventory.low_stock", "inventory.out_of_stock",
]  # fmt: skip


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


class Retry(msgspec.Struct, frozen=True):
    """A repeated refusal, with the key that it had."""

    number: int


class Adjust(msgspec.Struct, frozen=True):
    """More of a variant, or less."""

    variant: str
    in_store: bool
    count: int


class Threshold(msgspec.Struct, frozen=True):
    """From which count on a variant runs low."""

    variant: str
    count: int | None


class Price(msgspec.Struct, frozen=True):
    """The store's price of an item: one of its own, or the catalog's."""

    ware: str
    price: Decimal | None


class Seat(msgspec.Struct, frozen=True):
    """Guests come."""

    table: str


class Leave(msgspec.Struct, frozen=True):
    """Guests go."""

    table: str
    is_forced: bool


class Works(msgspec.Struct, frozen=True):
    """The background's turn: what is due goes to the kitchen, tallies are folded."""


Tending = Adjust | Threshold | Price | Seat | Leave
Step = Create | Patch | Confirm | Delete | Send | Stage | Replay | Retry | Tending | Works | None


class Setting(msgspec.Struct, frozen=True):
    """How the business of a walk trades."""

    type: str = "retail"
    is_inclusive: bool = False
    restocks: bool = True
    # How many times the least stock there is, and when rice runs low.
    stocks: int = 1
    low: int = 2


class World:
    """A shop with something to sell, and the same as a model."""

    def __init__(self, shop: Shop, setting: Setting) -> None:
        self.shop = shop
        self.names = Names()
        self.rows = Snapshot(shop.sql, shop.book, self.names)
        self.ids: dict[str, str] = {}
        self.orders: list[str] = []
        # The sessions of each table, the latest last.
        self.seated: dict[str, list[str]] = {}
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
        for name, fields in world._offers().items():
            world.ids[name] = (await shop.made("/v1/promotions", {"name": name, **fields}))["id"]
        world.ids["term"] = (await shop.term())["id"]
        for table in TABLES:
            session = await shop.session(table)
            world.ids[f"table {table}"] = session["tableId"]
            world.note_session(table, session["id"])
            world.model.guests.seat(table)
        await shop.business.endpoint("test", events=HEARD)
        return world

    def _offers(self) -> dict[str, Body]:
        """Promotions, as the model has them."""
        offers: dict[str, Body] = {}
        for name, promotion in self.model.promotions.items():
            limits = {"limit_total": promotion.limit, "limit_per_customer": promotion.each}
            offers[name] = {key: value for key, value in limits.items() if value is not None}
            gift = self.model.trade.gifts.get(name)
            if gift is None:
                percent = float(self.model.trade.percents[name])
                offers[name] |= {"type": "percent", "value": percent}
                continue
            offers[name]["type"] = "free_item"
            if gift.wares is not None:
                ids = [self.ids[ware] for ware in sorted(gift.wares)]
                offers[name] |= {"scope": "products", "product_ids": ids}
            if gift.most is not None:
                # Both say that it takes off no more.
                bound = "value" if gift.wares else "maximum_discount"
                offers[name][bound] = float(gift.most)
        return offers

    def note_session(self, table: str, session: str) -> None:
        """Guests came to a table."""
        self.names.sessions[session] = len(self.names.sessions)
        self.seated.setdefault(table, []).append(session)

    async def _stock(self) -> None:
        shop, ids = self.shop, self.ids
        ids["store"], ids["elsewhere"] = [(await shop.store())["id"] for _ in range(2)]
        self.names.store = ids["store"]
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
            fields["prices"] = self._prices(self.model.trade.here.get(name))
            made[name] = await shop.product(float(ware.price), **fields)
            ids[name] = made[name]["id"]
            if name in self.model.allows:
                self.names.variants[variant_of(made[name])] = name
        variants = {name: variant for variant, name in self.names.variants.items()}
        ids |= {f"variant {name}": variant for name, variant in variants.items()}
        for (name, in_store), (count, _) in self.model.levels.items():
            store = ids["store"] if in_store else None
            await shop.adjust(variants[name], float(count), store)

    def _prices(self, here: Decimal | None) -> list[Body]:
        """The store's price, if it has one, beside that of another, which nobody pays here."""
        given = {"elsewhere": Decimal("1.01"), "store": here}
        return [
            {"store_id": self.ids[store], "price": float(price)}
            for store, price in given.items()
            if price is not None
        ]

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
            "table_session_id": self.seated[sale.table][-1] if sale.table else None,
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

    def tending(self, step: Tending) -> tuple[str, str, Body]:
        """The request of somebody who looks after the shop."""
        match step:
            case Adjust():
                body: Body = {
                    "variant_id": self.ids[f"variant {step.variant}"],
                    "store_id": self.ids["store"] if step.in_store else None,
                    "kind": "adjustment",
                    "quantity": step.count,
                }
                return "POST", "/v1/inventory/adjustments", body
            case Threshold():
                body = {"low_stock_threshold": step.count}
                return "PATCH", f"/v1/products/{self.ids[step.variant]}", body
            case Price():
                body = {"prices": self._prices(step.price)}
                return "PATCH", f"/v1/products/{self.ids[step.ware]}", body
            case Seat():
                return "POST", SESSIONS, {"table_id": self.ids[f"table {step.table}"]}
            case Leave():
                path = f"{SESSIONS}/{self.seated[step.table][-1]}/close"
                return "POST", path, {"force": True} if step.is_forced else {}

    async def ask(self, request: tuple[str, str, Body | None], key: str | None = None) -> Response:
        """The expected answer to a request."""
        headers = {"idempotency-key": key} if key else None
        return await self.shop.api.request(*request, headers=headers)

    async def work(self) -> None:
        """The expected work of the background process."""
        await fire_due(self.shop.api.app.services)
        await fold(self.shop.api.app.services.pool, ORDER_TALLIES)


def _model(setting: Setting) -> Model:
    wares = {
        "rice": Ware(price=Decimal(1000), parts=(("rice", Decimal(1)),), extra=Decimal(150)),
        "beer": Ware(price=Decimal("250.50"), tax=Decimal("7.5"), parts=(("beer", Decimal(1)),)),
        "ghost": Ware(price=Decimal(70), parts=(("ghost", Decimal(1)),)),
        "soap": Ware(price=Decimal("333.33"), tax=Decimal(10)),
        "box": Ware(price=Decimal(3000), parts=(("rice", Decimal(2)), ("beer", Decimal(1)))),
    }
    zero = Decimal(0)
    times = setting.stocks
    return Model(
        trade=Till(
            wares=wares,
            percents={"few": Decimal(10), "each": Decimal(25)},
            is_inclusive=setting.is_inclusive,
            here={"rice": Decimal("899.95"), "beer": Decimal(260), "box": Decimal(2500)},
            gifts={
                "gift": Gift(most=Decimal(2000)),
                "taste": Gift(wares=frozenset({"soap", "beer"}), most=Decimal("255.25")),
            },
        ),
        allows={"rice": False, "beer": True, "ghost": True},
        thresholds={"rice": Decimal(setting.low), "beer": Decimal(1)},
        levels={
            ("rice", False): [Decimal(5 * times), zero],
            ("rice", True): [Decimal(3 * times), zero],
            ("beer", False): [Decimal(4 * times), zero],
        },
        promotions={
            "few": Promotion(limit=2),
            "each": Promotion(each=1),
            "gift": Promotion(limit=4, each=2),
            "taste": Promotion(each=1),
        },
        customers={"Ann Obi", "Ben Eze"},
        guests=Guests(),
        has_kitchen=setting.type == "restaurant",
        restocks=setting.restocks,
    )
