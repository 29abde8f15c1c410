"""Bills of stays: the content of one, from its folio. Pure decisions.

The sums are those of the folio:

    charges + nights to come + credit + spent elsewhere = paid + owed + nights to come
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal

import msgspec

from tillhouse.folios.bills.types import Head, Item, OrderParts, Particulars
from tillhouse.folios.facts import FolioRows, OrderRow, PaymentRow, Stay, costs
from tillhouse.folios.rules import IN_BOOKS, Funds, night_name
from tillhouse.folios.types import Folio
from tillhouse.hotel.rates.rules import NightCost, read_taxes
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.kit.money import round_money
from tillhouse.orders.money_types import ONLINE
from tillhouse.orders.receipts.rules import is_shaped

# A bill with as many rows takes seconds to print; the rest of a longer one is one row.
CHARGES_MAX = 1000
PAYMENTS_MAX = 500
# Orders are told line by line as far as these reach, and the letters, then by their summaries.
ITEMS_MAX = 1000

_ZERO = Decimal(0)
# Letters that join or run from the right take the printer a tenth of a millisecond each, and each
# text of them counts some more; others take it a fraction of that.
LETTERS_MAX, LETTERS_OF_TEXT, _OTHERS_FOR_ONE = 25_000, 20, 5


class BilledItem(msgspec.Struct, frozen=True):
    """A line of a charge."""

    name: str
    quantity: Decimal
    amount: Decimal


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """A night, or another order of the stay; or the rest of very many, as one."""

    name: str
    # The day of a night; of another order the moment; of the rest none.
    on: str
    items: list[BilledItem]
    # Stands for the lines where these aren't told.
    summary: str = ""
    # Discount, taxes on top and the like: the additions to the price.
    parts: list[tuple[str, Decimal]]
    total: Decimal
    returned: Decimal = _ZERO
    is_night: bool = False
    is_to_come: bool = False


class TaxSum(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of one tax; without a name: on orders, which don't tell their rates."""

    name: str | None
    rate: Decimal | None
    is_inclusive: bool
    amount: Decimal


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """Money that came in for the stay (below 0: went back), or for one of its orders alone."""

    kind: str
    methods: list[str]
    at: str
    words: list[str]
    amount: Decimal
    # By a dispute, of which `amount` tells the part that no order had used.
    taken: Decimal = _ZERO


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """All that a bill says: kept as it was, whatever becomes of the stay."""

    head: Head
    short_code: str
    status: str
    room: str
    room_type: str
    check_in: str
    check_out: str
    currency: str
    charges: list[Charge]
    taxes: list[TaxSum]
    payments: list[Payment]
    nights: int
    nights_to_come: int
    charges_total: Decimal
    to_come_total: Decimal
    paid: Decimal
    # The part of it that no order of the stay took: the guest still has it, or spent it elsewhere.
    unspent: Decimal
    spent_elsewhere: Decimal = _ZERO
    owed: Decimal
    # The part of the debt and of later nights that no money of the stay will pay.
    expected: Decimal
    deposit: Decimal

    @property
    def is_provisional(self) -> bool:
        """Whether the stay isn't over."""
        return self.status in IN_BOOKS


def snapshot(found: FolioRows, folio: Folio, more: Particulars, available: Funds) -> Content:
    """The content of a bill of the stay, made now; `available` is the rest of its money."""
    stay, rows = found.stay, [row for row in found.orders if row.seen.position.is_sold]
    parts = {one.id: one for one in more.orders}
    to_come = _to_come(found)
    charges, letters = _charges(rows, parts, _itemised(more.items))
    charges += [_night_to_come(stay, night, cost) for night, cost in to_come.items()]
    unspent = sum(available.values(), _ZERO)
    own = [_own(row, parts[row.id]) for row in found.orders if _paid_by_itself(row)]
    return Content(
        head=more.head,
        short_code=stay.short_code,
        status=stay.status,
        room=stay.room_number,
        room_type=stay.room_type,
        check_in=stay.check_in_on.isoformat(),
        check_out=stay.check_out_on.isoformat(),
        currency=stay.currency,
        charges=_first_charges(charges),
        taxes=_taxes(stay, rows, parts, to_come),
        payments=_first_payments(
            [*map(_payment, found.payments), *_returning(found), *_disputed(found), *own], letters
        ),
        nights=sum(row.night is not None for row in rows),
        nights_to_come=folio.nights_to_come,
        charges_total=folio.charges_total,
        to_come_total=folio.nights_to_come_total,
        paid=folio.payments_total + sum((one.amount for one in own), _ZERO),
        unspent=unspent,
        spent_elsewhere=folio.unspent_amount - unspent,
        owed=folio.amount_owed,
        expected=_expected(found, available, folio.nights_to_come_total),
        deposit=folio.deposit_amount,
    )


def _expected(found: FolioRows, available: Funds, to_come: Decimal) -> Decimal:
    """All that is to be paid in the end: money of one customer pays no order of another."""
    orders = [row.seen for row in found.orders]
    owed: defaultdict[CustomerId | None, Decimal] = defaultdict(Decimal)
    owed[found.stay.customer_id] += to_come
    for order in orders:
        owed[order.position.customer_id] += order.owed
    for customer_id, unspent in available.items():
        owed[customer_id] -= unspent
    return sum((max(amount, _ZERO) for amount in owed.values()), _ZERO)


def _to_come(found: FolioRows) -> dict[date, NightCost]:
    posted = {row.night for row in found.orders}
    nights = costs(found.stay) if found.stay.status in IN_BOOKS else {}
    return {night: cost for night, cost in nights.items() if night not in posted}


def _itemised(items: Sequence[Item]) -> dict[OrderId, list[BilledItem]]:
    """The lines of each order; where not all were read, those of the orders that are whole."""
    found: defaultdict[OrderId, list[BilledItem]] = defaultdict(list)
    for one in items:
        name = f"{one.name}, {one.variant}" if one.variant else one.name
        found[one.order_id].append(BilledItem(name, one.quantity, one.amount))
    if len(items) > ITEMS_MAX:
        del found[items[-1].order_id]
    return dict(found)


def _charges(
    rows: Sequence[OrderRow],
    parts: Mapping[OrderId, OrderParts],
    items: Mapping[OrderId, list[BilledItem]],
) -> tuple[list[Charge], int]:
    """Orders with their lines, else with their summaries, as far as the letters reach.

    And how many letters are left.
    """
    lines = [items.get(row.id, []) for row in rows]
    told, left = fitting([[one.name for one in own] for own in lines], LETTERS_MAX)
    lines = [own if fits else [] for own, fits in zip(lines, told, strict=True)]
    summaries = ["" if own else row.summary for row, own in zip(rows, lines, strict=True)]
    told, left = fitting([[summary] for summary in summaries], left)
    summaries = [one if fits else "" for one, fits in zip(summaries, told, strict=True)]
    found = zip(rows, lines, summaries, strict=True)
    return [_charge(row, parts[row.id], own, summary) for row, own, summary in found], left


def _charge(row: OrderRow, parts: OrderParts, items: list[BilledItem], summary: str) -> Charge:
    told = {
        "Discount": -parts.discount,
        "Service charge": parts.service,
        "Tax": parts.added_tax,
        "Adjustment": parts.adjustment,
    }
    is_night = row.night is not None
    return Charge(
        name=items[0].name if is_night and items else f"Order {row.short_code}",
        on=row.occurred_at if row.night is None else row.night.isoformat(),
        items=items,
        summary=summary,
        # Without its lines it is the total alone.
        parts=[(name, amount) for name, amount in told.items() if amount and items],
        total=row.total_amount,
        returned=row.refunded_amount,
        is_night=is_night,
    )


def _night_to_come(stay: Stay, night: date, cost: NightCost) -> Charge:
    name, on_top = night_name(stay.room_number, stay.room_type, night), cost.total - cost.price
    return Charge(
        name=name,
        on=night.isoformat(),
        items=[BilledItem(name, Decimal(1), cost.price)],
        parts=[("Tax", on_top)] if on_top else [],
        total=cost.total,
        is_night=True,
        is_to_come=True,
    )


def _taxes(
    stay: Stay,
    rows: Iterable[OrderRow],
    parts: Mapping[OrderId, OrderParts],
    to_come: Mapping[date, NightCost],
) -> list[TaxSum]:
    """The sums of the taxes, those of the nights by name and rate."""
    taxes, nights = read_taxes(stay.taxes), costs(stay)
    named = [_ZERO for _ in taxes]
    others = {True: _ZERO, False: _ZERO}
    for cost in to_come.values():
        named = [had + tax.amount for had, tax in zip(named, cost.taxes, strict=True)]
    for row in rows:
        own, cost = parts[row.id], nights.get(row.night) if row.night else None
        if cost is not None and sum(tax.amount for tax in cost.taxes) == own.tax:
            kept = [_kept(row, tax.amount, stay.currency) for tax in cost.taxes]
            named = [had + one for had, one in zip(named, kept, strict=True)]
        else:
            others[False] += _kept(row, own.added_tax, stay.currency)
            others[True] += _kept(row, own.tax - own.added_tax, stay.currency)
    sums = [
        TaxSum(name=tax.name, rate=tax.rate, is_inclusive=tax.is_inclusive, amount=amount)
        for tax, amount in zip(taxes, named, strict=True)
    ]
    sums += [
        TaxSum(name=None, rate=None, is_inclusive=included, amount=amount)
        for included, amount in others.items()
    ]
    return [one for one in sums if one.amount]


def _kept(row: OrderRow, tax: Decimal, currency: str) -> Decimal:
    """The tax on the part of an order that was not given back."""
    if not row.refunded_amount:
        return tax
    return round_money(tax * (row.total_amount - row.refunded_amount) / row.total_amount, currency)


def _payment(row: PaymentRow) -> Payment:
    # A provider's name of a payment is for programs, and tells a guest nothing.
    reference = None if row.method == ONLINE else row.reference
    return Payment(
        kind=row.kind,
        methods=[row.method],
        at=row.at,
        words=[one for one in (reference, row.reason) if one],
        amount=row.amount if row.kind == "payment" else -row.amount,
    )


def _returning(found: FolioRows) -> Iterator[Payment]:
    for row in found.returns:
        if row.status == "pending":
            words = [row.reason] if row.reason else []
            yield Payment(
                kind="returning", methods=[ONLINE], at=row.at, words=words, amount=-row.amount
            )


def _disputed(found: FolioRows) -> Iterator[Payment]:
    for row in found.disputes:
        if row.taken_amount:
            yield Payment(
                kind="disputed",
                methods=[ONLINE],
                at=row.opened_at,
                words=[],
                amount=-row.held,
                taken=row.taken_amount,
            )


def _paid_by_itself(row: OrderRow) -> Decimal:
    """The amount that an order's own payments paid, and no money of the stay.

    Below 0: money of the stay that this order took, and that was handed out for it.
    """
    order = row.seen
    return order.position.sold - order.position.returned - order.owed - order.held


def _own(row: OrderRow, parts: OrderParts) -> Payment:
    amount = _paid_by_itself(row)
    return Payment(
        kind="order" if amount > 0 else "order_refund",
        methods=parts.methods if amount > 0 else [],
        at=(parts.paid_at if amount > 0 else parts.returned_at) or row.occurred_at,
        words=[f"Order {row.short_code}"],
        amount=amount,
    )


def _first_charges(charges: list[Charge]) -> list[Charge]:
    """The charges; of very many the first, and the sum of the rest."""
    if len(charges) <= CHARGES_MAX:
        return charges
    rest = charges[CHARGES_MAX - 1 :]
    more = Charge(
        name=f"{len(rest)} more charges",
        on="",
        items=[],
        parts=[],
        total=sum((one.total for one in rest), _ZERO),
        returned=sum((one.returned for one in rest), _ZERO),
    )
    return [*charges[: CHARGES_MAX - 1], more]


def _first_payments(found: Iterable[Payment], letters: int) -> list[Payment]:
    """The payments in their order; of very many the first, and the sum of the rest."""
    payments = sorted(found, key=lambda one: one.at)
    told, _ = fitting([one.words for one in payments], letters)
    payments = [
        one if fits else msgspec.structs.replace(one, words=[])
        for one, fits in zip(payments, told, strict=True)
    ]
    if len(payments) <= PAYMENTS_MAX:
        return payments
    rest = payments[PAYMENTS_MAX - 1 :]
    amount = sum((one.amount for one in rest), _ZERO)
    more = Payment(
        kind="rest", methods=[], at="", words=[f"{len(rest)} more payments"], amount=amount
    )
    return [*payments[: PAYMENTS_MAX - 1], more]


def fitting(groups: Iterable[Sequence[str]], left: int) -> tuple[list[bool], int]:
    """Which groups of texts fit in so many letters, one after the other; and how many are left."""
    found: list[bool] = []
    for texts in groups:
        count = sum(map(_letters, texts))
        found.append(count <= left)
        left -= count if count <= left else 0
    return found, left


def _letters(text: str) -> int:
    if is_shaped(text):
        return len(text) + LETTERS_OF_TEXT
    return len(text) // _OTHERS_FOR_ONE
