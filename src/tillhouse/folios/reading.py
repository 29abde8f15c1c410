"""A folio as it is read."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import cast
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.folios import rules
from tillhouse.folios.facts import (
    DisputeRow,
    FolioRows,
    OrderRow,
    PaymentRow,
    ReturnRow,
    Stay,
    costs,
)
from tillhouse.folios.store import stays
from tillhouse.folios.types import (
    Folio,
    FolioCharge,
    FolioPayment,
    FolioPaymentKind,
    FolioRefund,
    FolioTax,
)
from tillhouse.hotel.rates.rules import NightCost, read_taxes
from tillhouse.hotel.reservations.types import ReservationStatus
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BookKey
from tillhouse.orders.money_types import DisputeShown
from tillhouse.orders.types import PaymentMethod, Status

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
        payments=[_payment(one) for one in found.payments],
        refunds=[_refund(one) for one in found.returns],
        disputes=[_dispute(one) for one in found.disputes],
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
    return FolioCharge(
        order_id=row.id,
        short_code=row.short_code,
        night=row.night.isoformat() if row.night else None,
        summary=row.summary,
        status=cast("Status", row.status),
        total_amount=row.total_amount,
        refunded_amount=row.refunded_amount,
        amount_paid=row.amount_paid,
        remaining_amount=row.remaining_amount,
        customer_id=row.customer_id,
        occurred_at=row.occurred_at,
    )


def _payment(row: PaymentRow) -> FolioPayment:
    return FolioPayment(
        id=row.id,
        kind=cast("FolioPaymentKind", row.kind),
        amount=row.amount,
        method=cast("PaymentMethod", row.method),
        reference=row.reference,
        reason=row.reason,
        payment_link_id=row.payment_link_id,
        transaction_id=row.transaction_id,
        at=row.at,
        by=row.by,
    )


def _dispute(row: DisputeRow) -> DisputeShown:
    return DisputeShown(
        id=row.id,
        status=row.status,
        amount=row.amount,
        taken_amount=row.taken_amount,
        fee=row.fee,
        evidence_due_by=row.evidence_due_by,
        opened_at=row.opened_at,
    )


def _refund(row: ReturnRow) -> FolioRefund:
    return FolioRefund(
        id=row.id,
        status=row.status,
        amount=row.amount,
        provider=row.provider,
        provider_refund_id=row.provider_refund_id,
        payment_id=row.payment_id,
        reason=row.reason,
        failure_reason=row.failure_reason,
        requested_at=row.at,
        by=row.by,
    )
