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
from tests.orders import list_model
from tests.orders.committed_changes import Watch
from tests.orders.modelled_shop import (
    HEARD,
    SESSIONS,
    TABLES,
    Adjust,
    Confirm,
    Create,
    Delete,
    Leave,
    Patch,
    Replay,
    Seat,
    Send,
    Stage,
    Step,
    Works,
    World,
)
from tests.orders.shop import ORDERS, Body, exact
from tests.orders.snapshot import proof
from tests.orders.step_requests import Change, paid_for
from tests.orders.store_price_model import Sale

# The statuses that a refusal may have: never an internal error.
REFUSALS = (400, 404, 409, 422)


class ConcurrentClients:
    """Clients of one shop, and what they were answered."""

    def __init__(self, world: World, once: Create, watch: Watch, reach: Counter[str]) -> None:
        self.world = world
        self.watch = watch
        # How often what was done, and came of it.
        self.reach = reach
        self._once = once
        self._keys = [str(uuid4()) for _ in range(2)]
        self._made: dict[str, set[str]] = defaultdict(set)
        self._sales: dict[str, Sale] = {}
        self._named: set[str] = set(world.model.customers)
        self._gone: set[str] = set()
        self._added: Counter[str] = Counter()
        self._leaving: set[str] = set()
        self._left: set[str] = set()

    async def take(self, clients: Sequence[Sequence[Step]]) -> None:
        """Each client its steps, one after the other; all clients at once."""
        await asyncio.gather(*(self._go(steps) for steps in clients))

    async def _go(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Works():
                    await self.world.work()
                case Adjust():
                    answer = self._heard(step, await self.world.ask(self.world.tending(step)))
                    if answer.status == 201:
                        self._added[step.variant] += step.count
                case Seat():
                    await self._seat(step)
                case Leave():
                    await self._leave(step)
                case Replay():
                    await self._create(self._once, self._keys[step.number % len(self._keys)])
                case Create():
                    await self._create(step, str(uuid4()) if step.is_keyed else None)
                case Patch() | Confirm() | Delete() | Send() | Stage() if self.world.orders:
                    await self._change(step)
                case _:
                    # Prices stay as they are here: whose order was first nobody knows.
                    pass

    def _heard(self, step: Step, answer: Response) -> Response:
        self.reach[f"{type(step).__name__.lower()} {answer.status}"] += 1
        assert answer.status in (200, 201, *REFUSALS), answer
        return answer

    async def _create(self, step: Create, key: str | None) -> None:
        body = self.world.new_order(step.sale, paid_for(self.world, step))
        was_left = body.get("table_session_id") in self._left
        answer = self._heard(step, await self.world.ask(("POST", ORDERS, body), key))
        if answer.status > 201:
            return
        order = answer.data["id"]
        assert not was_left or answer.status == 200, "an order of guests who were gone"
        if key is not None:
            self._made[key].add(order)
        if answer.status == 201:
            self.world.names.orders[order] = len(self.world.orders)
            self.world.orders.append(order)
            self._sales[order] = step.sale
            self._named |= {step.sale.customer} if step.sale.customer else set()

    async def _seat(self, step: Seat) -> None:
        before = {*self.world.seated[step.table]}
        answer = self._heard(step, await self.world.ask(self.world.tending(step)))
        if answer.status == 201:
            assert before <= self._leaving, "two parties at one table"
            self.world.note_session(step.table, answer.data["id"])

    async def _leave(self, step: Leave) -> None:
        session = self.world.seated[step.table][-1]
        self._leaving.add(session)
        answer = self._heard(step, await self.world.ask(self.world.tending(step)))
        assert answer.status == 200 or not step.is_forced, answer
        if answer.status == 200:
            assert answer.data["status"] == "closed"
            self._left.add(session)

    async def _change(self, step: Change) -> None:
        order = self.world.orders[step.order % len(self.world.orders)]
        path, api = f"{ORDERS}/{order}", self.world.shop.api
        match step:
            case Patch():
                answer = await api.patch(path, self.world.patch(_amounts(step.fields)))
                # A customer named by id is known; a name beside it counts for nothing.
                name = None if "customer" in step.fields else step.fields.get("customer_name")
                self._named |= {name} if name and answer.status == 200 else set()
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
        self._heard(step, answer)

    async def check(self) -> None:
        """The invariants, whichever request was first."""
        shop = self.world.shop
        answer = await shop.api.get(f"{ORDERS}?limit=100", status=200)
        orders = exact(answer)
        assert {o["id"] for o in orders} == {*self.world.orders} - self._gone
        assert await proof(shop.api.app.services, shop.book) == []
        await self._check_kept()
        await self._check_stock(orders)
        await self._check_crossings()
        self._check_prices(orders)
        await self._check_sessions(orders)
        await self._check_debts(orders)
        await self._check_uses(orders)
        await self._check_told(orders)
        wanted = list_model.summary(orders, {}, ("", "9"))
        figures = list_model.figures(answer.json["summary"])
        for name in (name for name in wanted if "today" not in name):
            assert figures[name] == wanted[name], name

    async def _check_kept(self) -> None:
        """A refused request left nothing: no order, no key, no customer, no event."""
        rows = self.world.rows
        assert await rows.made() == {*self.world.orders}
        assert all(len(made) == 1 for made in self._made.values()), self._made
        assert await rows.keys() == (self._made.keys(), self._made.keys())
        assert await rows.customers() == self._named
        assert await rows.unheard(HEARD) == []

    async def _check_crossings(self) -> None:
        """Each crossing was told once, by the transaction that it came of; nothing else was."""
        book = self.world.shop.book
        ids, thresholds = self.world.ids, self.world.model.thresholds
        by_id = {ids[f"variant {name}"]: count for name, count in thresholds.items()}
        crossings, told = await self.watch.crossings(book, by_id), await self.watch.told(book)
        assert told == crossings, (told - crossings, crossings - told)
        sales = await self.watch.sales(book)
        crossing = {xact for xact, *_ in crossings} & sales
        self.reach["sales with a crossing"] += len(crossing)
        self.reach["sales without one"] += len(sales - crossing)
        self.reach["crossings"] += crossings.total()

    def _check_prices(self, orders: list[Body]) -> None:
        """Every line cost what its place asks for it, whatever else went on."""
        trade = self.world.model.trade
        for order in orders:
            sale = self._sales[order["id"]]
            units = [(item["unitPrice"], item["originalUnitPrice"]) for item in order["items"]]
            assert units == trade.units(sale), (units, sale)
            subtotal, total = trade.priced(sale)
            seen = order["subtotalAmount"], order["totalAmount"] - order["adjustmentAmount"]
            assert seen == (subtotal, total), sale
            assert order["discountAmount"] == trade.off(sale) + sale.discount, sale
            self.reach["sales with a gift"] += sale.promotion in trade.gifts

    async def _check_sessions(self, orders: list[Body]) -> None:
        """A session's bill is that of its orders; one that was left stays left."""
        answer = await self.world.shop.api.get(f"{SESSIONS}?limit=100", status=200)
        shown = {one["id"]: one for one in exact(answer)}
        assert shown.keys() == self.world.names.sessions.keys()
        for id_, one in shown.items():
            of_it = [o for o in orders if o["tableSessionId"] == id_ and o["status"] != "cancelled"]
            owed = [o["remainingAmount"] for o in of_it if o["status"] in ("pending", "scheduled")]
            assert one["status"] == ("closed" if id_ in self._left else "open")
            assert one["ordersCount"] == len(of_it)
            assert one["totalAmount"] == sum(o["totalAmount"] for o in of_it)
            assert one["unpaidAmount"] == sum(owed)
        for table in TABLES:
            is_open = [shown[id_]["status"] == "open" for id_ in self.world.seated[table]]
            assert not any(is_open[:-1]), "two parties at one table"
        assert await self.watch.late(self.world.shop.book) == []

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
            who = Counter(
                self._sales[order["id"]].customer
                for order in is_used
                if order["status"] != "cancelled"
            )
            each = {of: n for (what, of), n in uses.items() if what == name and of is not None}
            assert each == {of: n for of, n in who.items() if of is not None}
            assert promotion.each is None or all(used <= promotion.each for used in who.values())
            assert promotion.each is None or None not in who

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
    """Parts of a total that nobody knows among concurrent clients: of a thousand."""
    return {
        name: value * 1000 if name in ("amount_paid", "total_amount") else value
        for name, value in fields.items()
    }
