"""A folio as it is read."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import cast
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.folios import rules
from tillhouse.folios.facts import (
    FolioRows,
    OrderRow,
    Stay,
    costs,
)
from tillhouse.folios.store import stays
from tillhouse.folios.types import (
    Folio,
    FolioCharge,
    FolioPayment,
    FolioRefund,
    FolioTax,
)
from tillhouse.hotel.rates.rules import NightCost, read_taxes
from tillhouse.hotel.reservations.types import ReservationStatus
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BookKey
from tillhouse.kit.partial import facts_of
from tillhouse.orders.money_types import DisputeShown

_ZERO = Decimal(0)


async def show(call: Call, reservation_id: UUID) -> Folio:
    """The folio of one stay."""
    found = await stays.find_folio(call.db, BookKey(call.book.id, reservation_id))
    return folio_of(existing(found))


def folio_of(found: FolioRows) -> Folio:
    """The folio of a stay, of its rows."""
    stay = found.stay
    orders = [row.seen for row in found.orders]
    nights = costs(stay)
    to_come = dict(nights) if stay.status in rules.IN_BOOKS else {}
    for row in found.orders:
        if row.night is not None:
            to_come.pop(row.night, None)
    return Folio(
        reservation_id=stay.id,
        short_code=stay.short_code,
        status=cast("ReservationStatus", stay.status),
        customer_id=stay.customer_id,
        currency=stay.currency,
        charges=[_charge(row) for row in found.orders if row.status != "deleted"],
        payments=[facts_of(FolioPayment, one) for one in found.payments],
        refunds=[facts_of(FolioRefund, one, requested_at=one.at) for one in found.returns],
        disputes=[facts_of(DisputeShown, one) for one in found.disputes],
        night_taxes=_night_taxes(stay, [nights[one] for one in _charged(found) if one in nights]),
        charges_total=_sum(one.position.sold - one.position.returned for one in orders),
        payments_total=_sum(one.signed for one in found.moved if one.kind != "use"),
        amount_owed=rules.owed_by(orders),
        unspent_amount=_sum(max(one, _ZERO) for one in rules.funds(found.moved, orders).values()),
        disputed_amount=_sum(one.amount for one in found.moved if one.kind == "disputed"),
        nights_to_come=len(to_come),
        nights_to_come_total=_sum(cost.total for cost in to_come.values()),
        deposit_amount=stay.deposit_amount,
    )


def _charged(found: FolioRows) -> Iterator[date]:
    """The nights that are orders which count."""
    for row in found.orders:
        if row.night is not None and row.status not in ("cancelled", "deleted"):
            yield row.night


def _night_taxes(stay: Stay, charged: Sequence[NightCost]) -> list[FolioTax]:
    return [
        FolioTax(
            name=tax.name,
            rate=tax.rate,
            is_inclusive=tax.is_inclusive,
            taxable_amount=_sum(night.taxes[index].base for night in charged),
            amount=_sum(night.taxes[index].amount for night in charged),
        )
        for index, tax in enumerate(read_taxes(stay.taxes))
    ]


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, _ZERO)


def _charge(row: OrderRow) -> FolioCharge:
    night = row.night.isoformat() if row.night else None
    return facts_of(FolioCharge, row, order_id=row.id, night=night)
