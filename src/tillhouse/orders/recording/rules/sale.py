"""The fate of a new order: everything wrong with it, or the sale to be recorded."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Literal
from uuid import UUID

import msgspec

from tillhouse.kit.errors import FieldError
from tillhouse.kit.ids import StoreId
from tillhouse.kit.money import AMOUNT_LIMIT, check_scale
from tillhouse.kit.partial import InvalidField, faults
from tillhouse.orders.money_types import NOT_BY_HAND, ONLINE
from tillhouse.orders.recording.facts import RecordingFacts, SessionFacts, VariantFacts
from tillhouse.orders.recording.rules import figures
from tillhouse.orders.recording.rules.figures import (
    PricedLine,
    Totals,
    is_past,
    occurrence,
    service_charge,
)
from tillhouse.orders.types import NewOrder, Status

PREPARATION_MINUTES = 20
# A till's clock may be a little ahead of ours.
CLOCK_TOLERANCE = timedelta(minutes=5)
# More of one thing than this is in no stock.
STOCK_LIMIT = 10**12
_WITH_KITCHEN = ("restaurant", "hotel")


StockOfPast = Literal["auto", "take", "leave"]
"""Whether a sale of the past takes stock today; auto: where none was counted since."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """How much a line takes of the stock of a variant, and where."""

    line: int
    variant: VariantFacts
    quantity: Decimal
    store_id: StoreId | None
    # Whether it may be sold though there is not enough.
    allows: bool


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """An order as it is to be recorded."""

    lines: list[PricedLine]
    totals: Totals
    status: Status
    amount_paid: Decimal
    summary: str
    needs: list[Need]
    occurred_at: datetime
    scheduled_at: datetime | None
    wants_kitchen: bool
    fires_at: datetime | None
    table_label: str | None
    is_import: bool


def new_faults(new: NewOrder, facts: RecordingFacts, now: datetime) -> list[FieldError]:
    """Everything that is wrong with a new order, as far as it can be judged."""
    return judge(new, facts, now)[0]


def judge(
    new: NewOrder, facts: RecordingFacts, now: datetime
) -> tuple[list[FieldError], list[PricedLine]]:
    """Everything that is wrong with a new order; and its lines with their prices, if nothing is."""
    rules: list[Callable[[], Iterator[FieldError]]] = [
        lambda: _amount_errors("amount_paid", new.amount_paid, facts),
        lambda: _amount_errors("discount_amount", new.discount_amount, facts),
        lambda: _amount_errors("service_charge_amount", new.service_charge_amount, facts),
        lambda: _customer_errors(new, facts),
        lambda: _credit_errors(new, facts),
        lambda: _method_errors(new, now),
        lambda: _store_errors(new, facts),
        lambda: _session_errors(new, facts),
        lambda: _server_errors(new, facts),
        lambda: _term_errors(new, facts),
        lambda: _stay_errors(new, facts),
        lambda: _room_errors(new, facts),
        lambda: _tag_errors(new, facts),
        lambda: _schedule_errors(new, now),
        lambda: _occurrence_errors(new, now),
        *_item_rules(new, facts),
    ]
    found = faults(*rules)
    if any(error.field.startswith(("items", "discount_amount")) for error in found):
        return found, []
    try:
        lines = [figures.line(item, facts) for item in new.items]
    except InvalidField:
        return found, []
    found += faults(
        lambda: _sum_errors(new, facts, lines, now), lambda: _discount_errors(new, lines)
    )
    return found, lines


_ITEM_RULES = (
    figures.line_errors,
    figures.product_errors,
    figures.price_errors,
    figures.modifier_errors,
)


def _item_rules(new: NewOrder, facts: RecordingFacts) -> list[Callable[[], Iterator[FieldError]]]:
    try:
        items = list(enumerate(new.items))
    except InvalidField:
        # Of a list that isn't one the form has said enough.
        return []
    return [partial(rule, item, index, facts) for index, item in items for rule in _ITEM_RULES]


def _amount_errors(
    name: str, amount: Decimal | None, facts: RecordingFacts
) -> Iterator[FieldError]:
    if amount is not None and (wrong := check_scale(amount, facts.trade.currency)):
        yield FieldError(name, wrong)


def _customer_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.customer_id is not None and facts.customer is None:
        yield FieldError("customer_id", "is no customer of this book")


def _credit_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    is_without_customer = (
        new.customer_id is None and new.customer_name is None and facts.stay is None
    )
    if new.payment_method == "credit" and new.amount_paid and is_without_customer:
        yield FieldError("customer_id", "is required to pay with the customer's credit")


def _method_errors(new: NewOrder, now: datetime) -> Iterator[FieldError]:
    # Of a sale of the past the system that it comes from knows how it was paid.
    if new.payment_method == ONLINE and new.amount_paid and not is_past(new, now):
        yield FieldError("payment_method", NOT_BY_HAND)


def _store_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.store_id is not None and facts.store is None:
        yield FieldError("store_id", "is no store of this book")
    elif new.store_id is None and new.store_name is not None and facts.store is None:
        yield FieldError("store_name", "is no store of this book")


def _session_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.table_session_id is not None and facts.session is None:
        yield FieldError("table_session_id", "is no table session of this book")


def _server_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.served_by_user_id is not None and facts.server_name is None:
        yield FieldError("served_by_user_id", "is no member of this business")


def _term_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.academic_term_id is not None and facts.term is None:
        yield FieldError("academic_term_id", "is no academic term of this book")


def _tag_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    for index, tag in enumerate(new.tags or ()):
        tag_id = uuid_of(tag)
        if tag_id is not None and tag_id not in facts.tags:
            yield FieldError(f"tags[{index}]", "is no tag of this book")


def uuid_of(text: str) -> UUID | None:
    """The id that a text is, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _stay_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.hotel_reservation_id is not None and facts.stay is None:
        yield FieldError("hotel_reservation_id", "is no reservation of this book")


def _room_errors(new: NewOrder, facts: RecordingFacts) -> Iterator[FieldError]:
    if new.hotel_room_id is None:
        return
    if facts.room is None:
        yield FieldError("hotel_room_id", "is no room of this book")
    elif facts.stay is not None and facts.stay.room_id != facts.room.id:
        yield FieldError(
            "hotel_room_id",
            f"is not room {facts.stay.room_number} of the reservation: leave it out",
        )


def _schedule_errors(new: NewOrder, now: datetime) -> Iterator[FieldError]:
    if new.scheduled_for is not None and new.scheduled_for.at <= now:
        yield FieldError("scheduled_for", "must be in the future")


def _occurrence_errors(new: NewOrder, now: datetime) -> Iterator[FieldError]:
    if new.occurred_at is None:
        return
    if new.scheduled_for is not None:
        yield FieldError("occurred_at", "is left out of a scheduled order")
    elif new.occurred_at.at > now + CLOCK_TOLERANCE:
        yield FieldError("occurred_at", "must not be in the future")


def _sum_errors(
    new: NewOrder, facts: RecordingFacts, lines: Sequence[PricedLine], now: datetime
) -> Iterator[FieldError]:
    charge = service_charge(new, lines, facts.trade, now)
    if sum((one.subtotal for one in lines), charge) >= AMOUNT_LIMIT:
        yield FieldError("items", "must come to less than 10^15")
    elif _total(lines, charge, facts) >= AMOUNT_LIMIT:
        yield FieldError("items", "must come to less than 10^15 with tax and charges")


def _total(lines: Sequence[PricedLine], charge: Decimal, facts: RecordingFacts) -> Decimal:
    """The sum of the lines without a discount."""
    taxed = figures.taxed(lines, Decimal(0), facts.trade)
    return figures.add_up(taxed, charge).total


def _discount_errors(new: NewOrder, lines: Sequence[PricedLine]) -> Iterator[FieldError]:
    if new.discount_amount:
        yield from discount_errors(new.discount_amount, lines)


def discount_errors(discount: Decimal | None, lines: Sequence[PricedLine]) -> Iterator[FieldError]:
    """Whether a discount is more than the lines cost, or than a promotion has left of that."""
    most = figures.discountable(lines)
    if discount is not None and discount > most:
        yield FieldError("discount_amount", f"must not exceed the {most:f} that it is taken off")


def closed(session: SessionFacts) -> str:
    """The refusal of an order for a closed table session."""
    return f"The session of table {session.label} is closed: open a new one."


def reason_against(new: NewOrder, facts: RecordingFacts) -> str | None:
    """Why an order that is well formed isn't recorded all the same."""
    if facts.session is not None and facts.session.status != "open":
        return closed(facts.session)
    if reason := _against_stay(facts):
        return reason
    if facts.store is not None and not facts.store.is_active:
        return "The store is not active."
    for item in new.items:
        product = facts.products[item.product_id] if item.product_id else None
        if product is None:
            continue
        variant = figures.variant_of(item, product)
        if not product.is_active or (variant is not None and not variant.is_active):
            return f"{product.name} is not sold at present."
        if product.is_extra_only:
            return f"{product.name} is sold as an extra only."
        for modifier in item.modifiers or ():
            option = facts.options[modifier.modifier_option_id]
            if not option.is_active:
                return f"{option.name} is not available at present."
    return None


def _against_stay(facts: RecordingFacts) -> str | None:
    if facts.stay is None:
        if facts.room is None:
            return None
        return (
            f"No stay is checked in in room {facts.room.number}: name the reservation, or leave "
            "hotel_room_id out."
        )
    if facts.stay.status in ("booked", "checked_in"):
        return None
    return (
        f"The reservation {facts.stay.short_code} is {facts.stay.status}: charge the order to "
        "another one, or to no stay."
    )


def _label(new: NewOrder, facts: RecordingFacts) -> str | None:
    """The place to which the order is brought."""
    if facts.session:
        return facts.session.label
    if facts.stay and new.service_mode == "room_service":
        return f"Room {facts.stay.room_number}"
    return _text(new.table_label)


def reason_against_needs(needs: Sequence[Need]) -> str | None:
    """Why the lines ask for more than any stock could hold."""
    for need in needs:
        if need.quantity >= STOCK_LIMIT:
            return f"There is no such quantity of {need.variant.product_name}."
    return None


def reason_against_credit(new: NewOrder, sale: Sale) -> str | None:
    """Why a sale isn't paid with so much credit: what it doesn't owe would be spent for nothing."""
    if new.payment_method != "credit" or sale.amount_paid <= sale.totals.total:
        return None
    return (
        f"The order comes to {sale.totals.total:f}, and credit pays for that and no more: lower "
        "amount_paid."
    )


def decide(
    new: NewOrder, facts: RecordingFacts, judged: Sequence[PricedLine], now: datetime
) -> Sale:
    """The sale: its lines with promotion discounts in them, totals, status, stock, kitchen."""
    discount = Decimal(new.discount_amount or 0)
    lines = figures.taxed(judged, discount, facts.trade)
    totals = figures.add_up(lines, service_charge(new, lines, facts.trade, now))
    paid = Decimal(new.amount_paid or 0)
    scheduled_at = new.scheduled_for.at if new.scheduled_for else None
    is_import = is_past(new, now)
    wants_kitchen = _wants_kitchen(new, facts, is_import=is_import)
    fires_at = None
    if scheduled_at is not None and wants_kitchen:
        minutes = facts.store.preparation_minutes if facts.store else PREPARATION_MINUTES
        fires_at = scheduled_at - timedelta(minutes=minutes)
    return Sale(
        lines=lines,
        totals=totals,
        status=_status(scheduled_at, paid, totals.total),
        amount_paid=paid,
        summary=figures.summary(lines),
        needs=list(needs(lines, facts, allows_all=is_import)),
        occurred_at=occurrence(new, now),
        scheduled_at=scheduled_at,
        wants_kitchen=wants_kitchen,
        fires_at=fires_at,
        table_label=_label(new, facts),
        is_import=is_import,
    )


def _status(scheduled_at: datetime | None, paid: Decimal, total: Decimal) -> Status:
    if scheduled_at is not None:
        return "scheduled"
    return "completed" if paid >= total else "pending"


def _wants_kitchen(new: NewOrder, facts: RecordingFacts, *, is_import: bool) -> bool:
    if new.send_to_kitchen is not None:
        return new.send_to_kitchen
    if is_import:
        # A past sale needs no kitchen.
        return False
    return (
        facts.trade.type in _WITH_KITCHEN
        or new.service_mode is not None
        or bool(new.service_charge_amount)
    )


def needs(
    lines: Sequence[PricedLine], facts: RecordingFacts, *, allows_all: bool
) -> Iterator[Need]:
    """The stock that the lines need: a bundle's components, any other line's variant."""
    for index, one in enumerate(lines):
        if one.product is None or one.variant is None:
            continue
        parts = [(c.variant, c.quantity) for c in one.product.components]
        for variant, quantity in parts or [(one.variant, Decimal(1))]:
            if variant.tracks_stock:
                policy = variant.stock_policy or facts.trade.stock_policy
                own = facts.store.id if facts.store else None
                yield Need(
                    line=index,
                    variant=variant,
                    quantity=quantity * one.quantity,
                    store_id=variant.level_store_id if variant.has_level else own,
                    allows=allows_all or policy == "allow",
                )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
