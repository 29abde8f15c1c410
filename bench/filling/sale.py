"""One sale by its number: chance decides what, the product's own rules what that comes to."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from itertools import accumulate
from random import Random
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import msgspec

from bench.filling import names, people, plan
from bench.filling.plan import Plan, Timetable
from bench.filling.shop import Shop
from tillhouse.kit.ids import CustomerId
from tillhouse.kit.money import round_money
from tillhouse.orders.posting.rules import LedgerPosition
from tillhouse.orders.recording.rules.figures import (
    PricedLine,
    Totals,
    add_up,
    line,
    summary,
    taxed,
)
from tillhouse.orders.types import Channel, NewItem, PaymentMethod, Person, ServiceMode
from tillhouse.orders.values import LineQuantity

T = TypeVar("T")

_ZERO = Decimal(0)
_HUNDRED = Decimal(100)
_NOTE = Decimal(500)


class Choice(Generic[T]):
    """Things of which some are likelier than others."""

    def __init__(self, weights: Sequence[tuple[T, float]]) -> None:
        self._things = [thing for thing, _ in weights]
        self._sums = list(accumulate(weight for _, weight in weights))

    def of(self, chance: Random) -> T:
        """One of them."""
        return self._things[bisect_right(self._sums, chance.random() * self._sums[-1])]


_CHANNELS: Choice[Channel] = Choice(
    [
        ("in_person", 58), ("whatsapp", 12), ("storefront", 9), ("instagram", 6),
        ("dashboard", 5), ("other", 5), ("tiktok", 3), ("voice", 2),
    ]
)  # fmt: skip
_METHODS: Choice[PaymentMethod] = Choice(
    [("cash", 38), ("transfer", 27), ("pos", 25), ("cloove_pay", 6), ("other", 3), ("credit", 1)]
)
_MODES: Choice[ServiceMode | None] = Choice(
    [("dine_in", 50), ("takeaway", 35), (None, 14), ("room_service", 1)]
)
_LINES = Choice([(1, 34), (2, 30), (3, 19), (4, 11), (5, 6)])
_QUANTITIES = Choice([(1, 70), (2, 20), (3, 6), (4, 3), (6, 1)])
_STORES = Choice[int | None]([(0, 50), (1, 30), (2, 18), (None, 2)])
_SOURCES = {"storefront": "storefront", "dashboard": "dashboard", "voice": "voice"}
_ON_SITE = ("in_person", "dashboard", "other")

_PENDING, _CANCELLED, _REFUNDED, _SETTLED_LATER = 0.02, 0.01, 0.001, 0.015
# Orders of the last part that are for later: three in a thousand of all.
_LATE_PART, _SCHEDULED = 0.97, 0.1


class Sale(msgspec.Struct, kw_only=True):
    """An order with all that its rows are made of."""

    id: UUID
    number: int
    milliseconds: int
    at: datetime
    changed_at: datetime
    status: str
    lines: list[PricedLine]
    totals: Totals
    summary: str
    paid: Decimal
    method: PaymentMethod
    customer_id: CustomerId | None
    store_id: UUID | None
    channel: Channel
    mode: ServiceMode | None
    # The ledger positions of it, one after the other, and their times.
    positions: list[tuple[datetime, LedgerPosition]]
    recorder: Person
    server: Person | None
    tags: list[UUID]
    chance: Random
    refunded: Decimal = _ZERO
    fulfilled_at: datetime | None = None
    scheduled_at: datetime | None = None
    table_label: str | None = None
    covers: int | None = None
    notes: str | None = None
    cancellation: dict[str, Any] | None = None
    is_automated: bool = False


class SaleMaker:
    """Makes the sales of a plan."""

    def __init__(self, shop: Shop, what: Plan, timetable: Timetable) -> None:
        self._shop = shop
        self._plan = what
        self._times = timetable
        # The first are wanted far more often than the last.
        weights = [(thing, 1 / (place % 60 + 6)) for place, thing in enumerate(shop.goods)]
        self._goods = Choice(weights)
        # Lines of the catalog as they are before discount and tax.
        self._lines: dict[tuple[UUID, int], PricedLine] = {}

    def sale(self, number: int) -> Sale:
        """The sale with this number."""
        shop = self._shop
        chance = Random(plan.seed(shop.book_id, number))  # noqa: S311 - no secret
        share = self._plan.share(number)
        at = self._times.moment(share)
        milliseconds = int(at.timestamp() * 1000)
        channel = _CHANNELS.of(chance)
        store = _STORES.of(chance)
        mode = _MODES.of(chance) if channel in _ON_SITE else None
        chosen = [self._line(chance) for _ in range(_LINES.of(chance))]
        lines, totals = self._sum(chosen, mode, chance)
        chance_of_customer = 0.35 if channel in _ON_SITE else 0.9
        known = chance.random() < chance_of_customer
        made = Sale(
            id=plan.ordered_id(milliseconds, chance.getrandbits(74)), milliseconds=milliseconds,
            number=number, at=at, changed_at=at, status="completed", lines=lines, totals=totals,
            summary=summary(lines), paid=totals.total, method=_METHODS.of(chance),
            customer_id=self._customer(number, chance) if known else None,
            store_id=None if store is None else shop.stores[store],
            channel=channel, mode=mode, positions=[], recorder=chance.choice(shop.staff),
            server=None, tags=[], chance=chance,
        )  # fmt: skip
        _end(made, share > _LATE_PART, self._plan.at)
        _add_details(made, shop)
        return made

    def _customer(self, number: int, chance: Random) -> CustomerId:
        """One of those who are customers by then; the older ones come more often."""
        there = people.count(number + 1)
        place = int(there * chance.random() ** 1.6)
        return people.customer_id(self._shop.book_id, place)

    def _line(self, chance: Random) -> PricedLine:
        product, variant = self._goods.of(chance)
        quantity = _QUANTITIES.of(chance)
        known = self._lines.get((variant.id, quantity))
        if known is None:
            item = NewItem(
                product_name=cast("Any", product.name),
                quantity=LineQuantity(quantity),
                product_id=product.id,
                variant_id=variant.id,
            )
            known = self._lines[variant.id, quantity] = line(item, self._shop.facts)
        return known

    def _sum(
        self, lines: list[PricedLine], mode: ServiceMode | None, chance: Random
    ) -> tuple[list[PricedLine], Totals]:
        trade = self._shop.facts.trade
        subtotal = sum((one.subtotal for one in lines), _ZERO)
        discount = charge = _ZERO
        if chance.random() < 0.05:
            discount = round_money(subtotal * chance.choice((5, 10, 15)) / _HUNDRED, trade.currency)
        if mode == "dine_in" and chance.random() < 0.15:
            charge = round_money((subtotal - discount) / 10, trade.currency)
        sold = taxed(lines, discount, trade)
        return sold, add_up(sold, charge)


def _position(made: Sale, status: str, paid: Decimal) -> LedgerPosition:
    return LedgerPosition(
        total=made.totals.total,
        paid=paid,
        method=made.method,
        customer_id=made.customer_id,
        status=cast("Any", status),
    )


def _end(made: Sale, is_late: bool, until: datetime) -> None:
    """How it ended: most were paid at once; some owe, some were called off, some are to come."""
    luck = made.chance.random()
    if is_late and made.chance.random() < _SCHEDULED:
        _schedule(made, until)
    elif luck < _PENDING:
        _owe(made)
    elif luck < _PENDING + _CANCELLED:
        _cancel(made, until)
    elif luck < _PENDING + _CANCELLED + _REFUNDED:
        _refund(made, until)
    elif luck < _PENDING + _CANCELLED + _REFUNDED + _SETTLED_LATER and made.customer_id:
        _settle_later(made, until)
    else:
        if made.method == "credit":
            made.method = "cash"
        if made.method == "cash" and luck > 0.9:
            # A round note: the rest is change.
            made.paid = (made.paid / _NOTE).to_integral_value(ROUND_CEILING) * _NOTE
        made.is_automated = made.method == "cloove_pay" and luck > 0.6
        made.positions = [(made.at, _position(made, "completed", made.paid))]


def _schedule(made: Sale, until: datetime) -> None:
    days, hour = made.chance.randint(1, 45), made.chance.randint(9, 19)
    midnight = until.replace(hour=0, minute=0, second=0, microsecond=0)
    made.status = "scheduled"
    made.scheduled_at = midnight + timedelta(days=days, hours=hour)
    made.paid = _ZERO if made.chance.random() < 0.7 else made.totals.total
    _pay_with_money(made)
    made.positions = [(made.at, _position(made, "scheduled", made.paid))]


def _owe(made: Sale) -> None:
    if made.totals.total == 0:
        made.positions = [(made.at, _position(made, "completed", made.paid))]
        return
    made.status = "pending"
    if made.chance.random() < 0.4:
        made.paid = _part(made)
        _pay_with_money(made)
    else:
        made.paid = _ZERO
        made.method = "credit" if made.customer_id else made.method
    made.positions = [(made.at, _position(made, "pending", made.paid))]


def _pay_with_money(made: Sale) -> None:
    """Nobody here has credit to spend."""
    if made.method == "credit" and made.paid:
        made.method = "cash"


def _part(made: Sale) -> Decimal:
    """Something between nothing and all, in whole units."""
    return Decimal(int(made.totals.total * made.chance.randint(2, 8) / 10))


def _cancel(made: Sale, until: datetime) -> None:
    made.status, made.paid = "cancelled", _ZERO
    made.changed_at = min(made.at + timedelta(minutes=made.chance.randint(1, 90)), until)
    made.positions = [
        (made.at, _position(made, "pending", _ZERO)),
        (made.changed_at, _position(made, "cancelled", _ZERO)),
    ]


def _refund(made: Sale, until: datetime) -> None:
    """All of it went back some days later; a sale of nothing has nothing to give back."""
    made.method = "transfer"
    sold = _position(made, "completed", made.paid)
    made.positions = [(made.at, sold)]
    if made.paid == 0:
        return
    made.changed_at = min(made.at + timedelta(hours=made.chance.randint(1, 90)), until)
    made.status, made.refunded, made.paid = "refunded", made.paid, _ZERO
    back = msgspec.structs.replace(sold, status="refunded", paid=_ZERO, refunded=made.refunded)
    made.positions.append((made.changed_at, back))


def _settle_later(made: Sale, until: datetime) -> None:
    made.changed_at = min(made.at + timedelta(hours=made.chance.randint(2, 700)), until)
    first = _part(made) if made.chance.random() < 0.5 else _ZERO
    _pay_with_money(made)
    made.positions = [
        (made.at, _position(made, "pending", first)),
        (made.changed_at, _position(made, "completed", made.paid)),
    ]


def _add_details(made: Sale, shop: Shop) -> None:
    """Tables, waiters, tags, notes: what makes it look like a business."""
    chance = made.chance
    if made.mode == "dine_in":
        made.table_label, made.covers = f"T{chance.randint(1, 24)}", chance.randint(1, 6)
    if made.mode is not None:
        made.server = chance.choice(shop.staff)
    if chance.random() < 0.06:
        made.tags = chance.sample(shop.tags, 1 if chance.random() < 0.8 else 2)
    if chance.random() < 0.04:
        made.notes = chance.choice(names.NOTES)
    if made.status == "cancelled":
        made.cancellation = {
            "reason": chance.choice(names.REASONS),
            "cancelledBy": {"id": str(made.recorder.id), "name": made.recorder.name},
            "previousStatus": "pending",
            "restocked": False,
        }
    elif made.status == "completed" and made.channel not in _ON_SITE and chance.random() < 0.96:
        made.fulfilled_at = made.at + timedelta(minutes=chance.randint(10, 180))


def source_of(channel: str) -> str:
    """By which way it was entered."""
    return _SOURCES.get(channel, "api")
