"""Random walks through the operations of orders, each step held against the model."""

import copy
from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import msgspec

from tests.api import Response
from tests.orders import figures
from tests.orders.basket import No
from tests.orders.model import Events
from tests.orders.shop import ORDERS, Body, exact
from tests.orders.snapshot import proof
from tests.orders.world import (
    Adjust,
    Confirm,
    Create,
    Delete,
    Patch,
    Replay,
    Send,
    Stage,
    Step,
    Works,
    World,
)
from tillhouse.kit.clock import now, start_of_day

ZONE = "Africa/Lagos"
CENT = Decimal("0.01")
Change = Patch | Confirm | Delete | Send | Stage
Request = tuple[str, str, Body | None]


class Walk:
    """Takes one step after the other, and looks at everything after each."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.model = world.model
        self.told: Events = Counter()
        self._kept: list[tuple[Request, str, Response]] = []

    async def begin(self) -> None:
        """What was told while the shop was furnished is no news."""
        self.told = await self.world.rows.events()

    async def take(self, step: Step) -> None:
        """One step, if there is anything to take it with."""
        if step is None or (not self.model.orders and hasattr(step, "order")):
            return
        await self._take(step)
        await self.check()

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

    async def _ask(self, step: Create | Change) -> None:
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

    def _request(self, step: Create | Change) -> Request:
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

    def _foretell(self, step: Create | Change) -> Events:
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
