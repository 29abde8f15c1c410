"""Receipts: the content of one, from its order, and its form for people."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import msgspec

from tillhouse.kit.clock import parse_timestamp
from tillhouse.kit.money import EXPONENTS, plain, round_money
from tillhouse.orders.money_types import PaymentShown, RefundShown
from tillhouse.orders.receipts.head_rules import Imprint, closing_lines, place_lines
from tillhouse.orders.receipts.returned_rules import Returned, returned
from tillhouse.orders.types import CustomerShown, ItemShown, Order, Person

METHODS = {
    "cash": "Cash",
    "transfer": "Bank transfer",
    "pos": "Card",
    "cloove_pay": "Online",
    "credit": "On credit",
    "other": "Other",
}
_OVER = ("cancelled", "refunded")
# From here on letters may join or run from right to left.
_SHAPED_FROM = "\u0590"


class Seller(msgspec.Struct, frozen=True, kw_only=True):
    """The seller and the store, with facts that the order itself doesn't show."""

    business: str
    environment: str
    time_zone: str
    store: str | None
    address: str | None
    phone: str | None
    exclusive_tax: Decimal
    # Empty in a receipt from before it was kept.
    imprint: Imprint = Imprint()


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line, at its price before discounts."""

    name: str
    variant: str | None
    quantity: Decimal
    unit_price: Decimal
    amount: Decimal
    # Names of the options chosen, with the addition of each to the price of one.
    modifiers: list[tuple[str, Decimal]]


class Paid(msgspec.Struct, frozen=True):
    """Money by one method, in all."""

    method: str
    amount: Decimal


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """All that a receipt says: kept as it was, whatever becomes of the order."""

    seller: Seller
    short_code: str
    status: str
    occurred_at: str
    scheduled_for: str | None
    customer: str | None
    table: str | None
    served_by: str | None
    currency: str
    lines: list[Line]
    subtotal: Decimal
    discount: Decimal
    service_charge: Decimal
    tax: Decimal
    adjustment: Decimal
    total: Decimal
    paid: Decimal
    method: str
    # By method; None in a receipt from before payments were rows.
    payments: list[Paid] | None = None
    refunds: list[Paid] = []
    # The lines of these refunds; an amount alone has none.
    returned: list[Returned] = []
    # The part of `paid` that was handed out again.
    change: Decimal | None = None
    # The part of the sale that was given back.
    refunded: Decimal = Decimal(0)
    tip: Decimal = Decimal(0)


class SheetLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line as it is printed."""

    quantity: str
    name: str
    details: list[str]
    unit_price: str
    amount: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a table as it is printed: an amount, of a day."""

    date: str
    name: str
    details: list[str]
    amount: str


class Table(msgspec.Struct, frozen=True):
    """Rows under a title of their own."""

    title: str
    entries: list[Entry]


class Sum(msgspec.Struct, frozen=True):
    """A row below the lines; `is_strong` where the eye should go."""

    label: str
    amount: str
    is_strong: bool = False


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt as it is printed, on whatever paper: words only."""

    title: str = "Receipt"
    business: str
    place: list[str]
    marks: list[str]
    code: str
    facts: list[tuple[str, str]]
    currency: str
    lines: list[SheetLine]
    sums: list[Sum]
    footer: str
    # Tables below the lines.
    tables: list[Table] = []
    # The words of the business at the foot, a line each.
    closing: list[str] = []
    # The word for it, in the name of its file too.
    document: str = "receipt"


def snapshot(order: Order, seller: Seller) -> Content:
    """The content of a receipt of the order, made now."""
    items = msgspec.json.decode(msgspec.json.encode(order.items), type=list[ItemShown])
    return Content(
        seller=seller,
        short_code=order.short_code,
        status=order.status,
        occurred_at=order.occurred_at,
        scheduled_for=order.scheduled_for,
        customer=_named(order.customer, CustomerShown),
        table=order.table_label,
        served_by=_named(order.served_by, Person),
        currency=order.currency,
        lines=[_line(item) for item in items],
        subtotal=order.subtotal_amount,
        discount=order.discount_amount,
        service_charge=order.service_charge_amount,
        tax=order.tax_amount,
        adjustment=order.adjustment_amount,
        total=order.total_amount,
        paid=order.amount_paid,
        method=order.payment_method,
        payments=_by_method(order.payments, PaymentShown),
        refunds=_by_method(order.refunds, RefundShown),
        returned=returned(order, items, seller.exclusive_tax),
        change=order.change_amount,
        refunded=order.refunded_amount,
        tip=order.tip_amount,
    )


def _by_method(shown: object, type_: type[PaymentShown] | type[RefundShown]) -> list[Paid]:
    """The sum of each method, the one that came first first."""
    rows = msgspec.json.decode(msgspec.json.encode(shown), type=list[type_])
    sums: dict[str, Decimal] = {}
    for row in rows:
        if row.status == "successful":
            sums[row.method] = sums.get(row.method, Decimal(0)) + row.amount
    return [Paid(method, amount) for method, amount in sums.items() if amount]


def _named(shown: object, type_: type[CustomerShown] | type[Person]) -> str | None:
    """The name of a person; JSON of the database is still JSON here."""
    somebody = msgspec.json.decode(msgspec.json.encode(shown), type=type_ | None)
    return somebody.name if somebody else None


def _line(item: ItemShown) -> Line:
    return Line(
        name=item.product_name,
        variant=item.variant_name,
        quantity=item.quantity,
        unit_price=item.unit_price,
        amount=item.subtotal_amount,
        modifiers=[(one.name, one.price_delta) for one in item.modifiers],
    )


def sheet(content: Content, number: int, made_at: datetime) -> Sheet:
    """The receipt as it is printed."""
    seller = content.seller
    zone = ZoneInfo(seller.time_zone)
    return Sheet(
        business=seller.business,
        place=place_lines(seller),
        closing=closing_lines(seller.imprint),
        marks=list(_marks(content, number)),
        code=content.short_code,
        facts=list(_facts(content, zone)),
        currency=content.currency,
        lines=[_sheet_line(line, content.currency) for line in content.lines],
        # No sums: a refund below tells all that went back.
        tables=[Table("Given back", _entries(content, zone))] if content.returned else [],
        sums=list(_sums(content)),
        footer=f"Receipt {number} of order {content.short_code}, made "
        f"{written_moment(made_at, zone)} ({seller.time_zone})",
    )


def _marks(content: Content, number: int) -> Iterator[str]:
    if content.seller.environment == "test":
        yield "Test"
    if content.status in _OVER:
        yield content.status.capitalize()
    if number > 1:
        yield "Copy"


def _facts(content: Content, zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    yield "Order", content.short_code
    yield "Date", written_moment(parse_timestamp(content.occurred_at), zone)
    if content.scheduled_for:
        yield "Scheduled for", written_moment(parse_timestamp(content.scheduled_for), zone)
    if content.customer:
        yield "Customer", content.customer
    if content.table:
        yield "Table", content.table
    if content.served_by:
        yield "Served by", content.served_by
    methods = [one.method for one in content.payments or ()] or [content.method]
    yield "Payment", ", ".join(METHODS.get(method, method) for method in methods)


def written_moment(moment: datetime, zone: ZoneInfo) -> str:
    """A moment as people write it there."""
    local = moment.astimezone(UTC).astimezone(zone)
    # The day without a leading zero, which no format code gives on every system.
    return f"{local.day} {local:%b %Y, %H:%M}"


def written_day(moment: datetime, zone: ZoneInfo) -> str:
    """The day of a moment as people write it there."""
    return written_moment(moment, zone).partition(",")[0]


def _sheet_line(line: Line, currency: str) -> SheetLine:
    details = [line.variant] if line.variant else []
    for name, delta in line.modifiers:
        details.append(f"{name} ({_signed(delta, currency)})" if delta else name)
    return SheetLine(
        quantity=plain(line.quantity),
        name=line.name,
        details=details,
        unit_price=amount(line.unit_price, currency),
        amount=amount(line.amount, currency),
    )


def _entries(content: Content, zone: ZoneInfo) -> list[Entry]:
    """The lines that went back, as rows of a table."""
    return [
        Entry(
            date=written_day(parse_timestamp(one.at), zone) if one.at else "",
            name=f"{plain(one.quantity)} × {one.name}",
            details=list(filter(None, (one.variant, tax))),
            amount=amount(-one.amount, content.currency),
        )
        for one in content.returned
        for tax in [f"of which tax {amount(one.tax, content.currency)}" if one.tax else None]
    ]


def _sums(content: Content) -> Iterator[Sum]:
    def row(label: str, value: Decimal, *, is_strong: bool = False) -> Sum:
        return Sum(label, f"{content.currency} {amount(value, content.currency)}", is_strong)

    added = content.seller.exclusive_tax
    steps = {
        "Discount": -content.discount,
        "Service charge": content.service_charge,
        "Tax": added,
        "Adjustment": content.adjustment,
    }
    if any(steps.values()):
        yield row("Subtotal", content.subtotal)
    for label, value in steps.items():
        if value:
            yield row(label, value)
    yield row("Total", content.total, is_strong=True)
    if content.tax != added:
        yield row("Tax included", content.tax - added)
    left = content.total - content.refunded - content.paid
    remains = left > 0 and content.status not in _OVER
    if remains and content.refunded:
        yield row("Given back", -content.refunded)
    yield from (row(label, value) for label, value in _moved(content))
    if remains:
        yield row("Remaining", left, is_strong=True)


def _moved(content: Content) -> Iterator[tuple[str, Decimal]]:
    """The money that came in and went back, and the fate of an overpayment."""
    payments = content.payments or [Paid(content.method, content.paid)]
    methods = {one.method for one in (*payments, *content.refunds)}
    yield from _told("Paid", payments, 1, is_named=len(payments) > 1)
    if content.tip:
        yield "Tip", content.tip
    # Money may go back in another way than it came.
    yield from _told("Refunded", content.refunds, -1, is_named=len(methods) > 1)
    over = max(content.paid - (content.total - content.refunded), Decimal(0))
    # In cash it went back over the counter; else the customer has it to come.
    change = content.change
    if change is None:
        change = over if content.method == "cash" else Decimal(0)
    if change:
        yield "Change", change
    if over > change:
        yield "Credit", over - change


def _told(
    word: str, sums: list[Paid], sign: int, *, is_named: bool
) -> Iterator[tuple[str, Decimal]]:
    """A row for each method; one alone needs no name."""
    for one in sums:
        named = f"{word} ({METHODS.get(one.method, one.method)})" if is_named else word
        yield named, sign * one.amount


def amount(value: Decimal, currency: str) -> str:
    """An amount with the decimals of its currency, and commas between thousands."""
    exact = round_money(value, currency) if currency in EXPONENTS else value
    # An amount finer than the currency is shown in full, never rounded in silence.
    shown = exact if exact == value else value.normalize()
    return f"{shown:,f}".replace("-", "\N{MINUS SIGN}")


def _signed(value: Decimal, currency: str) -> str:
    return ("+" if value > 0 else "") + amount(value, currency)


def is_shaped(text: str) -> bool:
    """Whether letters of a text may change by their neighbours, which is slow to print."""
    return any(letter >= _SHAPED_FROM for letter in text)
