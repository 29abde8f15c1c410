"""Orders once more in plain Python, written from the papers: what each request must come to.

It knows no room of the product. An operation either raises `No` with the statuses that a refusal
may have, or changes the model and answers the events that must be told.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from tests.orders.basket_model import ZERO, No, Ware
from tests.orders.modelled_order import Order, Place
from tests.orders.store_price_model import Sale, Till
from tests.orders.table_model import Guests

SOLD = ("pending", "completed")
NEXT = {
    "scheduled": ("pending", "completed", "cancelled"),
    "pending": ("scheduled", "completed", "cancelled"),
    "completed": ("pending", "cancelled"),
    "cancelled": ("pending", "scheduled"),
}
TENDERS = {
    "cash": "cash", "transfer": "bank", "pos": "pos", "credit": "other_tender",
    "other": "other_tender",
}  # fmt: skip
Events = Counter[tuple[str, Any]]


class Short(No):
    """There is too little of something."""


class Spent(No):
    """A promotion was had as often as it may be."""


class Promotion(msgspec.Struct, kw_only=True):
    """A promotion, as often as its limits say."""

    limit: int | None = None
    each: int | None = None
    used: Counter[str | None] = msgspec.field(default_factory=Counter)

    def take(self, customer: str | None) -> None:
        """Count a use, if one is left."""
        if self.limit is not None and self.used.total() >= self.limit:
            raise Spent(400)
        if self.each is not None and (customer is None or self.used[customer] >= self.each):
            raise Spent(400)
        self.used[customer] += 1


class Shop(msgspec.Struct, kw_only=True):
    """A book of a business with all that its orders touch."""

    trade: Till
    allows: dict[str, bool]
    thresholds: dict[str, Decimal]
    levels: dict[Place, list[Decimal]]
    promotions: dict[str, Promotion]
    customers: set[str]
    guests: Guests
    has_kitchen: bool = False
    restocks: bool = True
    orders: list[Order] = []
    tenders: defaultdict[str, Decimal] = msgspec.field(default_factory=lambda: defaultdict(Decimal))

    # The stock on hand.

    def _place(self, variant: str, *, in_store: bool) -> Place:
        if in_store and ((variant, True) in self.levels or (variant, False) not in self.levels):
            return variant, True
        return variant, False

    def _takes(self, sale: Sale) -> dict[Place, Decimal]:
        takes: defaultdict[Place, Decimal] = defaultdict(Decimal)
        for ask in sale.asks:
            for variant, count in self.trade.wares.get(ask.ware, Ware(price=ZERO)).parts:
                takes[self._place(variant, in_store=sale.in_store)] += count * ask.quantity
        return dict(takes)

    def _hold(self, order: Order, goal: str) -> Events:
        """Bring what the order holds of the stock to the goal."""
        told: Events = Counter()
        if not order.takes or order.holds == goal:
            return told
        worth = {"none": (0, 0), "reserved": (0, 1), "taken": (-1, 0)}
        old, new = worth[order.holds], worth[goal]
        on_hand, reserved = new[0] - old[0], new[1] - old[1]
        for place, count in order.takes.items():
            level = self.levels.setdefault(place, [ZERO, ZERO])
            before = level[0] - level[1]
            level[0] += on_hand * count
            level[1] += reserved * count
            after = level[0] - level[1]
            may = self.allows[place[0]] or order.is_import
            if after < 0 and after < before and not may:
                raise Short(400)
            told += self._crossed(place, before, after)
        order.holds = goal
        return told

    def _crossed(self, place: Place, before: Decimal, after: Decimal) -> Events:
        told: Events = Counter()
        threshold = self.thresholds.get(place[0])
        if threshold is not None and after <= threshold < before:
            told["inventory.low_stock", (place, after)] += 1
        if after <= 0 < before:
            told["inventory.out_of_stock", (place, after)] += 1
        return told

    def adjust(self, place: Place, count: Decimal) -> Events:
        """Somebody adds some, or takes some away, if there is as much, whoever may sell more."""
        on_hand, reserved = self.levels.get(place, (ZERO, ZERO))
        before = on_hand - reserved
        if count < 0 and before + count < 0:
            raise Short(400)
        self.levels[place] = [on_hand + count, reserved]
        return self._crossed(place, before, before + count)

    # The operations on orders.

    def _live(self, number: int) -> Order:
        if self.orders[number].is_deleted:
            raise No(404)
        return self.orders[number]

    def _known(self, name: str | None) -> Events:
        told: Events = Counter()
        if name is not None and name not in self.customers:
            self.customers.add(name)
            told["contact.created", name] += 1
        return told

    def _pay(self, order: Order, paid: Decimal, method: str, target: str = "") -> None:
        # A payment goes where the new method says; a correction, where the old one did.
        way = method if paid >= order.paid else order.method
        more = paid - order.paid
        if target != "cancelled" and -more > max(order.came[way], ZERO):
            raise No(400)
        order.came[way] += more
        if way == "credit":
            if more > max(order.total - order.paid, ZERO):
                raise No(400)
            spent = more if more >= 0 else -min(-more, order.spent)
            order.spent += spent
            more -= spent
        self.tenders[TENDERS[way]] += more
        order.paid, order.method = paid, method

    def _check_credit(self) -> None:
        """Nobody spends, or loses, more credit than they have."""
        credit: defaultdict[str, Decimal] = defaultdict(Decimal)
        for order in self.orders:
            if order.customer is not None:
                credit[order.customer] += order.kept - order.spent
        if any(left < 0 for left in credit.values()):
            raise No(400)

    def create(self, sale: Sale) -> Events:
        """A new order, the last of `orders`."""
        if sale.when == "past" or (sale.when and sale.is_import):
            raise No(422)
        if sale.method == "credit" and sale.paid and sale.customer is None:
            raise No(422)
        subtotal, total = self.trade.priced(sale)
        status = "completed" if sale.paid >= total else "pending"
        wants = sale.kitchen
        if wants is None:
            wants = (self.has_kitchen or sale.charge is not None) and not sale.is_import
        order = Order(
            subtotal=subtotal,
            total=total,
            paid=ZERO,
            method=sale.method,
            customer=sale.customer,
            status="scheduled" if sale.when else status,
            takes=self._takes(sale),
            is_import=sale.is_import,
            promotion=sale.promotion,
            promoted=sale.customer if sale.promotion else None,
            scheduled=sale.when,
            wants_kitchen=wants,
            discount=self.trade.off(sale) + sale.discount,
            units=self.trade.units(sale),
            session=self.guests.joined(sale.table) if sale.table else None,
        )
        number = len(self.orders)
        told = self._known(sale.customer)
        told["order.created", number] += 1
        if sale.paid:
            told["payment.received", number] += 1
            self._pay(order, sale.paid, sale.method)
        if wants and not sale.when:
            told += self._cook(order, number)
        told += self._hold(order, "reserved" if sale.when else "taken")
        if sale.promotion:
            self.promotions[sale.promotion].take(sale.customer)
        self.orders.append(order)
        self._check_credit()
        return told

    def _cook(self, order: Order, number: int) -> Events:
        order.stage = "queued"
        return Counter([("kitchen_ticket.created", number)])

    def patch(self, number: int, fields: Mapping[str, Any]) -> Events:
        """Change what the fields name."""
        order = self._live(number)
        before = msgspec.structs.replace(order)
        target = _target(order, fields)
        _check_form(order, fields, target)
        if target != order.status and target not in NEXT[order.status]:
            raise No(400)
        if (order.status, target) == ("cancelled", "scheduled") and "status" not in fields:
            raise No(400)
        if target == "cancelled":
            _check_settled(order, fields)
        told = self._known(fields.get("customer_name")) if "customer" not in fields else Counter()
        order.customer = fields.get("customer", fields.get("customer_name", order.customer))
        order.total = fields.get("total_amount", order.total)
        method = fields.get("payment_method", order.method)
        self._pay(order, fields.get("amount_paid", order.paid), method, target)
        _check_excess(before, order)
        _check_owner(before, order)
        order.term = fields.get("term", order.term)
        order.fulfilled = fields.get("channel_fulfilled", order.fulfilled)
        order.scheduled = fields.get("scheduled_for", order.scheduled)
        self._settle(before, order, target, is_named="status" in fields)
        return told + self._follow(before, order, number)

    def _settle(self, before: Order, order: Order, target: str, *, is_named: bool) -> None:
        is_covered = order.paid >= order.total
        is_news = before.status != "pending" or (
            before.total - before.paid != order.total - order.paid
        )
        if target == "pending" and not is_named and is_covered and is_news:
            target = "completed"
        order.status = target

    def _follow(self, before: Order, order: Order, number: int) -> Events:
        """Stock, promotion and events after a change."""
        told: Events = Counter()
        if order.is_over:
            held = order.holds
            if not before.is_over or order.is_deleted:
                is_back = self.restocks or order.is_deleted or held == "reserved"
                told += self._hold(order, "none" if is_back else held)
                order.restocked = held != "none" and order.holds == "none"
        else:
            told += self._hold(order, "reserved" if order.status == "scheduled" else "taken")
        if order.promotion and order.is_over and not before.is_over:
            self.promotions[order.promotion].used[order.promoted] -= 1
        elif order.promotion and before.is_over and not order.is_over:
            self.promotions[order.promotion].take(order.promoted)
        if order.is_deleted or (order.is_over and not before.is_over):
            told["order.cancelled", number] += 1
        elif _watched(before) != _watched(order):
            told["order.updated", number] += 1
        if order.paid > before.paid:
            told["payment.received", number] += 1
        self._check_credit()
        return told

    def confirm(self, number: int, paid: Decimal | None, method: str | None) -> Events:
        """A scheduled order becomes a sale, paid in full unless told otherwise."""
        order = self._live(number)
        before = msgspec.structs.replace(order)
        if order.status != "scheduled":
            raise No(400)
        all_of_it = max(order.total, order.paid)
        self._pay(order, all_of_it if paid is None else paid, method or order.method)
        _check_owner(before, order)
        self._settle(before, order, "pending", is_named=False)
        return self._follow(before, order, number)

    def delete(self, number: int) -> Events:
        """Out of all reports."""
        order = self._live(number)
        before = msgspec.structs.replace(order)
        order.is_deleted = True
        return self._follow(before, order, number)

    def send(self, number: int) -> Events:
        """To the kitchen by hand."""
        order = self._live(number)
        if order.status == "cancelled":
            raise No(400)
        if order.stage is not None:
            raise No(409)
        return self._cook(order, number)

    def move(self, number: int, stage: str) -> Events:
        """The ticket of an order to another stage."""
        order = self._live(number)
        if order.stage is None:
            raise No(404)
        if order.status == "cancelled":
            raise No(400)
        if order.stage == stage:
            return Counter()
        order.stage = stage
        return Counter([("kitchen_ticket.status_updated", number)])

    def fire(self) -> Events:
        """A due order goes to the kitchen by itself."""
        told: Events = Counter()
        for number, order in enumerate(self.orders):
            is_due = order.scheduled != "later" and order.wants_kitchen
            if is_due and order.stage is None and not order.is_over:
                told += self._cook(order, number)
        return told


def _check_settled(order: Order, fields: Mapping[str, Any]) -> None:
    """A cancelled order's total stays; what was paid may be handed back."""
    if "total_amount" in fields or fields.get("amount_paid", order.paid) > order.paid:
        raise No(400)


def _target(order: Order, fields: Mapping[str, Any]) -> str:
    if "status" in fields:
        return fields["status"]
    if "scheduled_for" not in fields:
        return order.status
    if fields["scheduled_for"] is not None:
        return "scheduled"
    return "pending" if order.status == "scheduled" else order.status


def _check_form(order: Order, fields: Mapping[str, Any], target: str) -> None:
    when = fields.get("scheduled_for", order.scheduled)
    if when == "past":
        raise No(422)
    may_be_scheduled = order.status == "scheduled" or "scheduled" in NEXT[order.status]
    if fields.get("status") == "scheduled" and when is None and may_be_scheduled:
        raise No(422)
    if fields.get("status") == "cancelled" and fields.get("scheduled_for") is not None:
        raise No(422)
    if "cancellation_reason" in fields and target != "cancelled":
        raise No(422)


def _check_excess(before: Order, order: Order) -> None:
    """Change that was given is no credit, credit that was given no change."""
    is_turned = (before.method == "cash") != (order.method == "cash")
    is_given = before.status != "scheduled" and before.paid > before.total
    if is_turned and is_given and order.paid > order.total:
        raise No(400)


def _check_owner(before: Order, order: Order) -> None:
    """Credit is somebody's, and an order that was paid with it stays theirs."""
    if order.customer != before.customer and before.spent:
        raise No(400)
    if order.spent > before.spent and order.customer is None:
        raise No(400)


def _watched(order: Order) -> tuple[Any, ...]:
    return (
        order.status, order.total, order.paid, order.method, order.customer, order.scheduled,
        order.term, order.fulfilled,
    )  # fmt: skip
