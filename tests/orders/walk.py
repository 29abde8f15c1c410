"""Random walks through the operations of orders, each step held against the model."""

import copy
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import msgspec

from tests.api import Response
from tests.orders import figures
from tests.orders.basket import Ask, No, Sale, Trade, Ware
from tests.orders.model import Events, Promotion
from tests.orders.model import Shop as Model
from tests.orders.shop import ORDERS, Body, Shop, chosen, exact, variant_of
from tests.orders.snapshot import Names, Snapshot, proof
from tillhouse.kit.clock import iso, now, start_of_day
from tillhouse.orders.works import fire_next, fold

ZONE = "Africa/Lagos"
CENT = Decimal("0.01")


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
Request = tuple[str, str, Body | None]


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
        thresholds={"rice": Decimal(5), "beer": Decimal(1)},
        levels={
            ("rice", False): [Decimal(12), zero],
            ("rice", True): [Decimal(6), zero],
            ("beer", False): [Decimal(4), zero],
        },
        promotions={"few": Promotion(limit=2), "each": Promotion(each=1)},
        customers={"Ann Obi", "Ben Eze"},
        has_kitchen=setting.type == "restaurant",
        restocks=setting.restocks,
    )


class Walk:
    """Takes one step after the other, and looks at everything after each."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.model = world.model
        self.told: Events = Counter()
        self._kept: list[tuple[Request, str, Response]] = []
        self.taken: list[Step] = []

    async def begin(self) -> None:
        """What was told while the shop was furnished is no news."""
        self.told = await self.world.rows.events()

    async def take(self, step: Step) -> None:
        """One step, if there is anything to take it with."""
        if step is None or (not self.model.orders and hasattr(step, "order")):
            return
        self.taken.append(step)
        try:
            await self._take(step)
            await self.check()
        except BaseException as error:
            error.add_note("\n".join(map(repr, self.taken)))
            raise

    async def _take(self, step: Step) -> None:
        match step:
            case None:
                pass
            case Replay():
                await self._replay(step)
            case Works():
                self.told += self.model.fire()
                await self.world.work()
            case Adjust():
                answer = await self.world.adjust(step)
                assert answer.status == 201, answer
                place = step.variant, step.in_store
                self.told += self.model.adjust(place, Decimal(step.count))
            case _:
                await self._ask(step)

    async def _ask(self, step: Create | Patch | Confirm | Delete | Send | Stage) -> None:
        earlier = copy.deepcopy(self.model)
        told: Events = Counter()
        request = self._request(step)
        expected: tuple[int, ...] = (201,) if isinstance(step, Create) else (200,)
        try:
            told = self._foretell(step)
        except No as no:
            self.model, expected = earlier, no.statuses
        key = str(uuid4()) if getattr(step, "is_keyed", False) else None
        answer = await self._send(request, key)
        assert answer.status in expected, (expected, answer)
        self.told += told
        if answer.status > 201:
            return
        if isinstance(step, Create):
            self.world.names.orders[answer.data["id"]] = len(self.world.orders)
            self.world.orders.append(answer.data["id"])
        if key is not None:
            self._kept.append((request, key, answer))
        if not isinstance(step, Delete):
            path = f"{ORDERS}/{answer.data['id']}"
            assert exact(answer) == exact(await self.world.shop.api.get(path, status=200))

    async def _send(self, request: Request, key: str | None) -> Response:
        headers = {"idempotency-key": key} if key else None
        return await self.world.shop.api.request(*request, headers=headers)

    async def _replay(self, step: Replay) -> None:
        if not self._kept:
            return
        (method, path, body), key, first = self._kept[step.number % len(self._kept)]
        if not step.is_other:
            answer = await self._send((method, path, body), key)
            assert (answer.status, answer.body) == (200, first.body), answer
            assert answer.headers["idempotent-replayed"] == "true"
        elif path == ORDERS:
            answer = await self._send((method, path, {**(body or {}), "notes": "other"}), key)
            assert (answer.status, answer.error) == (422, "idempotency_key_reused")

    def _number(self, number: int) -> int:
        return number % len(self.model.orders)

    def _request(self, step: Create | Patch | Confirm | Delete | Send | Stage) -> Request:
        if isinstance(step, Create):
            return "POST", ORDERS, self.world.new_order(step.sale, self._paid_for(step))
        number = self._number(step.order)
        path = f"{ORDERS}/{self.world.orders[number]}"
        match step:
            case Patch():
                return "PATCH", path, self.world.patch(self._fields(number, step))
            case Confirm():
                body: Body = {}
                if step.paid is not None:
                    body["amount_paid"] = float(self._part(step.paid, number))
                if step.method is not None:
                    body["payment_method"] = step.method
                return "POST", path + "/confirm", body
            case Delete():
                return "DELETE", path, None
            case Send():
                return "POST", path + "/send-to-kitchen", None
            case Stage():
                return "POST", path + "/kitchen-status", {"status": step.stage}

    def _foretell(self, step: Create | Patch | Confirm | Delete | Send | Stage) -> Events:
        if isinstance(step, Create):
            paid = self._paid_for(step) or Decimal(0)
            return self.model.create(msgspec.structs.replace(step.sale, paid=paid))
        number = self._number(step.order)
        match step:
            case Patch():
                return self.model.patch(number, self._fields(number, step))
            case Confirm():
                paid = None if step.paid is None else self._part(step.paid, number)
                return self.model.confirm(number, paid, step.method)
            case Delete():
                return self.model.delete(number)
            case Send():
                return self.model.send(number)
            case Stage():
                return self.model.move(number, step.stage)

    def _paid_for(self, step: Create) -> Decimal | None:
        if step.paid is None:
            return None
        try:
            _, total = self.model.trade.priced(step.sale)
        except No:
            return Decimal(10)
        return (total * step.paid).quantize(CENT)

    def _part(self, part: Decimal, number: int, total: Decimal | None = None) -> Decimal:
        whole = self.model.orders[number].total if total is None else total
        return (whole * part).quantize(CENT)

    def _fields(self, number: int, step: Patch) -> dict[str, Any]:
        fields = dict(step.fields)
        total = None
        if "total_amount" in fields:
            total = fields["total_amount"] = self._part(fields["total_amount"], number)
        if "amount_paid" in fields:
            fields["amount_paid"] = self._part(fields["amount_paid"], number, total)
        return fields

    async def check(self) -> None:
        """Everything that can be seen is as the model says."""
        model, rows = self.model, self.world.rows
        _same(await rows.levels(), model.levels)
        _same(await rows.debts(), figures.debts(model.orders))
        _same(await rows.accounts(), figures.accounts(model))
        _same(await rows.uses(), figures.uses(model))
        _same(await rows.events(), self.told)
        assert await proof(self.world.shop.api.app.house, self.world.shop.book) == []
        await self._check_list()

    async def _check_list(self) -> None:
        day = _day()
        answer = await self.world.shop.api.get(f"{ORDERS}?limit=100", status=200)
        shown = {self.world.names.orders[order["id"]]: order for order in exact(answer)}
        live = {n: order for n, order in enumerate(self.model.orders) if not order.is_deleted}
        assert shown.keys() == live.keys(), (shown.keys(), live.keys())
        for number, order in live.items():
            wanted = figures.shown(order, self.world.times)
            _same({name: _seen(shown[number], name) for name in wanted}, wanted)
            _check_sums(shown[number])
        wanted = figures.summary(self.model.orders)
        if day != _day():
            # Midnight went by: what was of today is not any more.
            wanted = {name: value for name, value in wanted.items() if "today" not in name}
        summary = {n: Decimal(str(v)) for n, v in answer.json["summary"].items() if n in wanted}
        _same(summary, wanted)


def _same(seen: dict[Any, Any], wanted: dict[Any, Any]) -> None:
    """The same, or what the difference is."""
    names = sorted({*seen, *wanted}, key=str)
    other = {name: (seen.get(name), wanted.get(name)) for name in names}
    other = {name: (is_so, must) for name, (is_so, must) in other.items() if is_so != must}
    assert not other, f"what is, and what must be: {other}"


def _day() -> datetime:
    return start_of_day(now().astimezone().date(), ZONE)


def _seen(order: Body, name: str) -> Any:
    """A field by its path."""
    first, _, rest = name.partition(".")
    value = order[first]
    return _seen(value, rest) if rest and value is not None else value


def _check_sums(order: Body) -> None:
    """Lines sum up to the order."""
    lines = sum(item["totalPrice"] for item in order["items"])
    assert order["totalAmount"] == (
        lines + order["serviceChargeAmount"] + order["adjustmentAmount"]
    )
    for name in ("subtotalAmount", "discountAmount", "taxAmount"):
        assert order[name] == sum(item[name] for item in order["items"]), name
    assert all(item["totalPrice"] >= 0 for item in order["items"])
