"""Random walks through the operations of orders, each step held against the model."""

import copy
from collections import Counter
from decimal import Decimal
from typing import Any
from uuid import uuid4

from tests.api import Response
from tests.orders import model_figures
from tests.orders.basket_model import No
from tests.orders.modelled_shop import (
    HEARD,
    SESSIONS,
    Adjust,
    Create,
    Delete,
    Leave,
    Price,
    Replay,
    Retry,
    Seat,
    Step,
    Threshold,
    Works,
    World,
)
from tests.orders.order_model import Events, Order
from tests.orders.order_model import Shop as Model
from tests.orders.shop import ORDERS, Body, exact
from tests.orders.snapshot import proof
from tests.orders.step_requests import Asking, Request, foretell, request


class Walk:
    """Takes one step after the other, and looks at everything after each."""

    def __init__(self, world: World, reach: Counter[str]) -> None:
        self.world = world
        # How often what was done, and came of it.
        self.reach = reach
        self.told: Events = Counter()
        self._kept: list[tuple[Request, str, Response]] = []
        self._lasting: set[str] = set()
        self._refused: dict[str, Asking] = {}

    async def begin(self) -> None:
        """Events from the set-up of the shop don't count."""
        self.told = await self.world.rows.events()

    async def take(self, step: Step) -> None:
        """One step, if there is anything to take it with."""
        if step is None or (not self.world.orders and hasattr(step, "order")):
            return
        await self._take(step)
        await self.check()

    async def _take(self, step: Step) -> None:
        match step:
            case None:
                pass
            case Replay():
                await self._replay(step)
            case Retry():
                if self._refused:
                    key = list(self._refused)[step.number % len(self._refused)]
                    await self._ask(self._refused[key], key)
            case Works():
                self.told += self.world.model.fire()
                await self.world.work()
                self.reach["works"] += 1
            case _:
                await self._ask(step, str(uuid4()) if getattr(step, "is_keyed", False) else None)

    async def _ask(self, step: Asking, key: str | None) -> None:
        world = self.world
        earlier, asked = copy.deepcopy(world.model), request(world, step)
        told: Events = Counter()
        refusal: No | None = None
        try:
            told = foretell(world, step)
        except No as no:
            refusal, world.model = no, earlier
        self._count(step, told, refusal, earlier)
        before = await world.shop.footprint() if refusal else {}
        answer = await world.ask(asked, key)
        assert answer.status in _expected(step, refusal), (refusal, answer)
        self.told += told
        if refusal is None:
            await self._follow(step, asked, key, answer)
        else:
            assert await world.shop.footprint() == before, "a refusal left something"
            if key is not None:
                self._refused[key] = step

    def _count(self, step: Asking, told: Events, refusal: No | None, earlier: Model) -> None:
        kind = type(step).__name__.lower()
        if refusal is not None:
            self.reach[f"{kind}: {type(refusal).__name__.lower()}"] += 1
            return
        is_crossing = any(name.startswith("inventory") for name, _ in told)
        self.reach[f"{kind}: {'crossing' if is_crossing else 'done'}"] += 1
        if isinstance(step, Create):
            model, sale = self.world.model, step.sale
            listed = [ask.ware for ask in sale.asks if ask.price is None]
            offer = model.promotions.get(sale.promotion or "")
            is_known = sale.customer is None or sale.customer in self.world.ids
            # Steps that one statement can do, unless it crosses a threshold.
            is_plain = is_known and model.orders[-1].takes.keys() <= earlier.levels.keys()
            self.reach.update(
                {
                    "create: one statement": is_plain and not offer and not is_crossing,
                    "create: one undone": is_plain and not offer and is_crossing,
                    "create: store's price": sale.in_store
                    and not model.trade.here.keys().isdisjoint(listed),
                    "create: gift": sale.promotion in model.trade.gifts,
                    "create: limit of each": offer is not None and offer.each is not None,
                    "create: session": sale.table is not None,
                }
            )

    async def _follow(
        self, step: Asking, asked: Request, key: str | None, answer: Response
    ) -> None:
        """Note what was made, and read it as it was answered."""
        world = self.world
        if key is not None:
            self._refused.pop(key, None)
            self._kept.append((asked, key, answer))
        match step:
            case Create():
                world.names.orders[answer.data["id"]] = len(world.orders)
                world.orders.append(answer.data["id"])
                self._lasting |= {key} if key else set()
            case Seat():
                world.note_session(step.table, answer.data["id"])
            case Delete() | Adjust() | Threshold() | Price() | Leave():
                return
            case _:
                pass
        path = SESSIONS if isinstance(step, Seat) else ORDERS
        shown = await world.shop.api.get(f"{path}/{answer.data['id']}", status=200)
        assert exact(answer) == exact(shown)

    async def _replay(self, step: Replay) -> None:
        if not self._kept:
            return
        (method, path, body), key, first = self._kept[step.number % len(self._kept)]
        if not step.is_other:
            answer = await self.world.ask((method, path, body), key)
            assert (answer.status, answer.body) == (200, first.body), answer
            assert answer.headers["idempotent-replayed"] == "true"
        elif path == ORDERS:
            answer = await self.world.ask((method, path, {**(body or {}), "notes": "other"}), key)
            assert (answer.status, answer.error) == (422, "idempotency_key_reused")
        self.reach["replay"] += 1

    async def check(self) -> None:
        """Everything that can be seen is as the model says."""
        model, rows = self.world.model, self.world.rows
        _same(await rows.levels(), model.levels)
        _same(await rows.debts(), model_figures.debts(model.orders))
        _same(await rows.accounts(), model_figures.accounts(model))
        _same(await rows.uses(), model_figures.uses(model))
        _same(await rows.events(), self.told)
        assert await rows.unheard(HEARD) == []
        assert await rows.keys() == ({key for _, key, _ in self._kept}, self._lasting)
        assert await rows.customers() == model.customers
        assert await proof(self.world.shop.api.app.services, self.world.shop.book) == []
        await self._check_list()
        await self._check_sessions()

    async def _check_list(self) -> None:
        orders = self.world.model.orders
        answer = await self.world.shop.api.get(f"{ORDERS}?limit=100", status=200)
        shown = {self.world.names.orders[order["id"]]: order for order in exact(answer)}
        live = {n: order for n, order in enumerate(orders) if not order.is_deleted}
        assert shown.keys() == live.keys(), (shown.keys(), live.keys())
        for number, order in live.items():
            wanted = model_figures.shown(order, self.world.times) | self._basis(order)
            _same({name: _seen(shown[number], name) for name in wanted}, wanted)
            _check_sums(shown[number])
            units = [
                (item["unitPrice"], item["originalUnitPrice"]) for item in shown[number]["items"]
            ]
            assert units == order.units, (units, order.units)
        wanted = model_figures.summary(orders)
        summary = {n: Decimal(str(v)) for n, v in answer.json["summary"].items() if n in wanted}
        _same(summary, wanted)

    def _basis(self, order: Order) -> dict[str, Any]:
        """The facts of an order that no change of it touches."""
        sessions = {number: id_ for id_, number in self.world.names.sessions.items()}
        guests = self.world.model.guests.sessions
        return {
            "promotionId": self.world.ids[order.promotion] if order.promotion else None,
            "discountAmount": order.discount,
            "tableSessionId": None if order.session is None else sessions[order.session],
            "tableLabel": None if order.session is None else guests[order.session].table,
        }

    async def _check_sessions(self) -> None:
        answer = await self.world.shop.api.get(f"{SESSIONS}?limit=100", status=200)
        shown = {self.world.names.sessions[one["id"]]: one for one in exact(answer)}
        wanted = self.world.model.guests.shown(self.world.model.orders)
        assert shown.keys() == wanted.keys()
        for number, fields in wanted.items():
            _same({name: shown[number][name] for name in fields}, fields)


def _expected(step: Asking, refusal: No | None) -> tuple[int, ...]:
    if refusal is not None:
        return refusal.statuses
    return (201,) if isinstance(step, Create | Adjust | Seat) else (200,)


def _same(seen: dict[Any, Any], wanted: dict[Any, Any]) -> None:
    """The same, or what the difference is."""
    names = sorted({*seen, *wanted}, key=str)
    other = {name: (seen.get(name), wanted.get(name)) for name in names}
    other = {name: (is_so, must) for name, (is_so, must) in other.items() if is_so != must}
    assert not other, f"what is, and what must be: {other}"


def _seen(order: Body, name: str) -> Any:
    """A field by its path."""
    first, _, rest = name.partition(".")
    value = order[first]
    return _seen(value, rest) if rest and value is not None else value


def _check_sums(order: Body) -> None:
    """Lines sum up to the order; an adjustment has its share of their tax."""
    lines = sum(item["totalPrice"] for item in order["items"])
    if not order["adjustmentAmount"]:
        assert order["totalAmount"] == lines + order["serviceChargeAmount"]
        assert order["taxAmount"] == sum(item["taxAmount"] for item in order["items"])
    net = order["subtotalAmount"] - order["discountAmount"]
    on_top = order["taxAmount"] if lines > net else 0
    assert order["totalAmount"] == (
        net + order["serviceChargeAmount"] + on_top + order["adjustmentAmount"]
    )
    for name in ("subtotalAmount", "discountAmount"):
        assert order[name] == sum(item[name] for item in order["items"]), name
    assert all(item["totalPrice"] >= 0 for item in order["items"])
