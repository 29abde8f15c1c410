"""Bills of stays as they are printed. Pure."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from tillhouse.folios.bills.rules import Charge, Content, Payment
from tillhouse.kit.clock import parse_date, parse_timestamp
from tillhouse.kit.money import plain
from tillhouse.orders.receipts.head_rules import closing_lines, place_lines
from tillhouse.orders.receipts.rules import (
    METHODS,
    Entry,
    Sheet,
    Sum,
    Table,
    amount,
    written_moment,
)

_MARKS = {"cancelled": "Cancelled", "no_show": "No-show"}
_KINDS = {
    "payment": "{}",
    "refund": "Refund, {}",
    "returning": "Refund on its way, {}",
    "disputed": "Taken back by the payer's bank, {}",
    "reversal": "Taken back by the provider, {}",
    "order": "Paid with the order, {}",
    "order_refund": "Given back for an order",
}


def sheet(content: Content, number: int, made_at: datetime) -> Sheet:
    """The bill as it is printed."""
    head, zone = content.head, ZoneInfo(content.head.time_zone)
    charges = [_charge_entry(one, content.currency, zone) for one in content.charges]
    payments = [_payment_entry(one, content.currency, zone) for one in content.payments]
    tables = Table("Charges", charges), Table("Payments", payments)
    return Sheet(
        title="Pro forma bill" if content.is_provisional else "Bill",
        business=head.business,
        place=place_lines(head),
        closing=closing_lines(head.imprint),
        marks=list(_marks(content)),
        code=f"{content.short_code}-{number}",
        facts=list(_facts(content, number, zone)),
        currency=content.currency,
        lines=[],
        tables=[table for table in tables if table.entries],
        sums=list(_sums(content)),
        footer=_footer(content, number, written_moment(made_at, zone)),
        document="bill",
    )


def _footer(content: Content, number: int, made_at: str) -> str:
    said = f"Bill {number} of reservation {content.short_code}, made {made_at}"
    if content.is_provisional:
        said += ". Pro forma: the final bill is made when the stay is over"
    return f"{said} ({content.head.time_zone})"


def _marks(content: Content) -> Iterator[str]:
    if content.head.environment == "test":
        yield "Test"
    if content.is_provisional:
        yield "Pro forma"
    if content.status in _MARKS:
        yield _MARKS[content.status]


def _facts(content: Content, number: int, zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    head = content.head
    yield "Bill", f"{content.short_code}-{number}"
    yield "Guest", head.guest
    yield "Reservation", content.short_code
    yield "Room", f"{content.room} ({content.room_type})"
    yield "Arrival", _day(parse_date(content.check_in))
    yield "Departure", _departure(content, zone)
    yield "Nights", str(content.nights + content.nights_to_come)
    yield "Guests", ", ".join(_heads(head.adults, head.children))
    if content.is_provisional and content.deposit:
        yield "Deposit asked for", f"{content.currency} {amount(content.deposit, content.currency)}"


def _heads(adults: int, children: int) -> Iterator[str]:
    yield f"{adults} adult" if adults == 1 else f"{adults} adults"
    if children:
        yield f"{children} child" if children == 1 else f"{children} children"


def _departure(content: Content, zone: ZoneInfo) -> str:
    """The day on which the guest left, or will."""
    if content.head.checked_out_at is None:
        return _day(parse_date(content.check_out))
    return _day(parse_timestamp(content.head.checked_out_at).astimezone(zone).date())


def _day(day: date) -> str:
    # The day without a leading zero, which no format code gives on every system.
    return f"{day.day} {day:%b %Y}"


def _charge_entry(charge: Charge, currency: str, zone: ZoneInfo) -> Entry:
    return Entry(
        name=charge.name,
        date=_when(charge, zone),
        details=list(_details(charge, currency)),
        amount=amount(charge.total - charge.returned, currency),
    )


def _when(charge: Charge, zone: ZoneInfo) -> str:
    if not charge.on:
        return ""
    if charge.is_night:
        return _day(parse_date(charge.on))
    return written_moment(parse_timestamp(charge.on), zone)


def _details(charge: Charge, currency: str) -> Iterator[str]:
    if charge.is_to_come:
        yield "Not charged yet"
    for item in charge.items:
        named = "Rate" if charge.is_night else f"{plain(item.quantity)} × {item.name}"
        yield f"{named} {amount(item.amount, currency)}"
    if charge.summary:
        yield charge.summary
    for name, part in charge.parts:
        yield f"{name} {amount(part, currency)}"
    if charge.returned:
        yield f"Given back {amount(-charge.returned, currency)}"


def _payment_entry(payment: Payment, currency: str, zone: ZoneInfo) -> Entry:
    shown = amount(payment.amount, currency)
    if payment.kind not in _KINDS:
        return Entry(name=" ".join(payment.words), date="", details=[], amount=shown)
    methods = ", ".join(METHODS.get(one, one) for one in payment.methods)
    return Entry(
        name=_KINDS[payment.kind].format(methods),
        date=_day(parse_timestamp(payment.at).astimezone(zone).date()),
        details=[*payment.words, *_used(payment, currency)],
        amount=shown,
    )


def _used(payment: Payment, currency: str) -> Iterator[str]:
    """The part of a dispute's money that had paid charges: they stay paid."""
    if used := payment.taken + payment.amount if payment.taken else Decimal(0):
        taken = amount(payment.taken, currency)
        yield f"{taken} taken, of which {amount(used, currency)} had paid charges that stay paid"


def _sums(content: Content) -> Iterator[Sum]:
    def row(label: str, value: Decimal, *, is_strong: bool = False) -> Sum:
        return Sum(label, f"{content.currency} {amount(value, content.currency)}", is_strong)

    if content.nights_to_come:
        yield row("Charged so far", content.charges_total)
        yield row("Nights to come", content.to_come_total)
    yield row("Total", content.charges_total + content.to_come_total, is_strong=True)
    for tax in content.taxes:
        rate = "" if tax.rate is None else f" {plain(tax.rate)}%"
        yield row(f"of which {tax.name or 'tax on orders'}{rate}", tax.amount)
    yield row("Paid", content.paid)
    if content.spent_elsewhere:
        yield row("of which spent elsewhere", content.spent_elsewhere)
    if content.unspent:
        yield row("Credit left", content.unspent)
    if content.owed:
        label = "Left as debt" if content.status == "checked_out" else "Remaining"
        yield row(label, content.owed, is_strong=not content.nights_to_come)
    if content.nights_to_come:
        yield row("Expected in the end", content.expected, is_strong=True)
