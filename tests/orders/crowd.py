"""Several clients at once on the same few orders: what holds afterwards, in whichever order."""

import asyncio
import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import uuid4

import msgspec

from tests.api import Response
from tests.orders import plain
from tests.orders.basket import No
from tests.orders.shop import ORDERS, Body, exact
from tests.orders.snapshot import proof
from tests.orders.walk import CENT, Change
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

# What a refusal may say: never that the server broke.
REFUSALS = (400, 404, 409, 422)


class Crowd:
    """Clients of one shop, and what they were answered."""

    def __init__(self, world: World, once: Create) -> None:
        self.world = world
        self.answers: Counter[int] = Counter()
        self._once = once
        self._keys = [str(uuid4()) for _ in range(2)]
        self._made: dict[str, set[str]] = defaultdict(set)
        self._gone: set[str] = set()
        self._added: Counter[str] = Counter()

    async def take(self, clients: Sequence[Sequence[Step]]) -> None:
        """Each client its steps, one after the other; all clients at once."""
        await asyncio.gather(*(self._go(steps) for steps in clients))

    async def _go(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case None:
                    pass
                case Works():
                    await self.world.work()
                case Adjust():
                    answer = await self.world.adjust(step)
                    assert answer.status == 201, answer
                    self._added[step.variant] += step.count
                case Replay():
                    key = self._keys[step.number % len(self._keys)]
                    answer = await self._create(self._once, key)
                    if answer.status <= 201:
                        self._made[key].add(answer.data["id"])
                case Create():
                    await self._create(step, None)
                case _ if self.world.orders:
                    await self._change(step)
                case _:
                    pass

    def _heard(self, answer: Response) -> Response:
        self.answers[answer.status] += 1
        assert answer.status in (200, 201, *REFUSALS), answer
        return answer

    async def _create(self, step: Create, key: str | None) -> Response:
        try:
            _, total = self.world.model.trade.priced(step.sale)
        except No:
            total = Decimal(10)
        paid = None if step.paid is None else (total * step.paid).quantize(CENT)
        body = self.world.new_order(step.sale, paid)
        headers = {"idempotency-key": key} if key else None
        answer = self._heard(await self.world.shop.api.post(ORDERS, body, headers=headers))
        if answer.status == 201:
            self.world.names.orders[answer.data["id"]] = len(self.world.orders)
            self.world.orders.append(answer.data["id"])
        return answer

    async def _change(self, step: Change) -> None:
        order = self.world.orders[step.order % len(self.world.orders)]
        path, api = f"{ORDERS}/{order}", self.world.shop.api
        match step:
            case Patch():
                answer = await api.patch(path, self.world.patch(_amounts(step.fields)))
            case Confirm():
                paid = {} if step.paid is None else {"amount_paid": float(step.paid * 1000)}
                answer = await api.post(path + "/confirm", paid)
            case Delete():
                answer = await api.delete(path)
                if answer.status == 200:
                    assert order not in self._gone, "it was deleted twice"
                    self._gone.add(order)
            case Send():
                answer = await api.post(path + "/send-to-kitchen")
            case Stage():
                answer = await api.post(path + "/kitchen-status", {"status": step.stage})
        self._heard(answer)

    async def check(self) -> None:
        """What holds, whoever was first."""
        shop = self.world.shop
        answer = await shop.api.get(f"{ORDERS}?limit=100", status=200)
        orders = exact(answer)
        assert {o["id"] for o in orders} == {*self.world.orders} - self._gone
        assert all(len(made) == 1 for made in self._made.values()), self._made
        assert await proof(shop.api.app.house, shop.book) == []
        await self._check_stock(orders)
        await self._check_debts(orders)
        await self._check_uses(orders)
        await self._check_told(orders)
        wanted = plain.summary(orders, {}, ("", "9"))
        summary = answer.json["summary"]
        for name in (name for name in wanted if "today" not in name):
            assert Decimal(str(summary[name])) == wanted[name], name

    async def _check_stock(self, orders: list[Body]) -> None:
        """On hand is what there was and came less what is sold; reserved what is promised."""
        levels = await self.world.rows.levels()
        there: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for (variant, _), (on_hand, reserved) in levels.items():
            there[variant, "sold"] -= on_hand
            there[variant, "promised"] += reserved
            if not self.world.model.allows[variant]:
                assert on_hand >= reserved, "more was sold than there was"
        wanted: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for (variant, _), (on_hand, _) in self.world.model.levels.items():
            wanted[variant, "sold"] -= on_hand
        for variant, count in self._added.items():
            wanted[variant, "sold"] -= count
        for order in orders:
            if order["status"] == "cancelled":
                continue
            state = "promised" if order["status"] == "scheduled" else "sold"
            for variant, count in self._taken(order):
                wanted[variant, state] += count
        names = {*there, *wanted}
        assert {n: there[n] for n in names} == {n: wanted[n] for n in names}

    def _taken(self, order: Body) -> list[tuple[str, Decimal]]:
        wares = self.world.model.trade.wares
        named = {self.world.ids[name]: ware.parts for name, ware in wares.items()}
        return [
            (variant, count * item["quantity"])
            for item in order["items"]
            for variant, count in named.get(item["productId"], ())
        ]

    async def _check_debts(self, orders: list[Body]) -> None:
        wanted = {
            self.world.names.orders[o["id"]]: (o["customer"]["name"], o["remainingAmount"])
            for o in orders
            if o["customer"] and o["remainingAmount"] and o["status"] in ("pending", "completed")
        }
        assert await self.world.rows.debts() == wanted

    async def _check_uses(self, orders: list[Body]) -> None:
        """Every use has its order, and there are no more than the limits say."""
        uses = await self.world.rows.uses()
        for name, promotion in self.world.model.promotions.items():
            is_used = [o for o in orders if o["promotionId"] == self.world.ids[name]]
            count = sum(order["status"] != "cancelled" for order in is_used)
            assert uses.get((name, None), 0) == count
            assert promotion.limit is None or count <= promotion.limit
            each = [n for (what, who), n in uses.items() if what == name and who is not None]
            assert promotion.each is None or all(used <= promotion.each for used in each)

    async def _check_told(self, orders: list[Body]) -> None:
        """One event per change of state: each begins where the one before ended."""
        stories = await self.world.rows.stories()
        live = {self.world.names.orders[order["id"]]: order for order in orders}
        for number, story in stories.items():
            state = _check_story([e for e in story if e["type"].startswith("order.")])
            received = [e["amount"] for e in story if e["type"] == "payment.received"]
            assert sum(received, Decimal(0)) == state.received, story
            tickets = [e for e in story if e["type"].startswith("kitchen_ticket.")]
            stages = [event["type"] == "kitchen_ticket.created" for event in tickets]
            assert stages == [True, *[False] * (len(stages) - 1)][: len(stages)], story
            for one, two in itertools.pairwise(tickets):
                assert two["previousStatus"] == one["status"] != two["status"], story
            if number in live:
                order = live[number]
                seen = order["status"], order["totalAmount"], order["amountPaid"]
                assert seen == (state.status, state.total, state.paid), story
                stage = tickets[-1]["status"] if tickets else None
                assert order["kitchenTicketStatus"] == stage, story
            assert state.is_deleted == (number not in live), story
        told = await self.world.rows.events()
        new = {what: count for what, count in told.items() if what[0] == "contact.created"}
        assert set(new.values()) == {1}, new


class _State(msgspec.Struct):
    status: str
    total: Decimal
    paid: Decimal
    received: Decimal
    is_deleted: bool = False


def _check_story(events: list[dict[str, Any]]) -> _State:
    """Where the events of an order lead to."""
    first, *rest = events
    assert first["type"] == "order.created", events
    state = _State(first["status"], first["totalAmount"], first["amountPaid"], first["amountPaid"])
    for event in rest:
        assert not state.is_deleted, events
        assert event["previousStatus"] == state.status, events
        if event["type"] == "order.cancelled":
            state.is_deleted = bool(event.get("deleted"))
            assert state.is_deleted or event["status"] == "cancelled" != state.status, events
        else:
            assert event["type"] == "order.updated"
            assert event["changed"], events
        state.received += max(event["amountPaid"] - state.paid, Decimal(0))
        state.status, state.total = event["status"], event["totalAmount"]
        state.paid = event["amountPaid"]
    return state


def _amounts(fields: dict[str, Any]) -> dict[str, Any]:
    """Parts of a total that nobody knows in a crowd: of a thousand."""
    return {
        name: value * 1000 if name in ("amount_paid", "total_amount") else value
        for name, value in fields.items()
    }
