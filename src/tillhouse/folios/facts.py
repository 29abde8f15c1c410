"""A stay, its orders and its payments, as its folio and its bills need them. Pure."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.folios.rules import Moved, StayOrder
from tillhouse.hotel.rates.rules import NightCost, night_cost, read_taxes
from tillhouse.hotel.reservations.types import Night
from tillhouse.kit.clock import parse_date
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.orders.money_types import PaymentState
from tillhouse.orders.posting.rules import LedgerPosition, Method, Status
from tillhouse.orders.types import Person
from tillhouse.providers.payments.provider import DisputeState

_NIGHTS = msgspec.json.Decoder(list[Night])


class Stay(msgspec.Struct, frozen=True, kw_only=True):
    """A reservation, as its folio needs it."""

    id: UUID
    short_code: str
    status: str
    customer_id: CustomerId
    room_id: UUID
    room_number: str
    room_type: str
    check_in_on: date
    check_out_on: date
    # Prices and taxes as JSON.
    nights: str
    taxes: str
    currency: str
    deposit_amount: Decimal
    time_zone: str
    # The last day of the closed books, where money of the stay came in by then.
    closed_on: date | None = None


class OrderRow(msgspec.Struct, frozen=True, kw_only=True):
    """An order of a stay, by its columns."""

    id: OrderId
    short_code: str
    summary: str
    status: Status
    total_amount: Decimal
    amount_paid: Decimal
    method: Method
    customer_id: CustomerId | None
    change_amount: Decimal
    refunded_amount: Decimal
    credit_amount: Decimal
    remaining_amount: Decimal
    occurred_at: str
    night: date | None
    used: Decimal

    @property
    def seen(self) -> StayOrder:
        """The order as the money of its stay sees it."""
        position = LedgerPosition(
            total=self.total_amount,
            paid=self.amount_paid,
            method=self.method,
            customer_id=self.customer_id,
            status=self.status,
            change=self.change_amount,
            refunded=self.refunded_amount,
            credit=self.credit_amount,
        )
        return StayOrder(id=self.id, short_code=self.short_code, position=position, used=self.used)


class PaymentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payment of a stay, by its columns."""

    id: UUID
    customer_id: CustomerId
    kind: str
    amount: Decimal
    method: str
    reference: str | None
    reason: str | None
    payment_link_id: UUID | None
    transaction_id: UUID
    at: str
    by: Person


class ReturnRow(msgspec.Struct, frozen=True, kw_only=True):
    """A refund of a stay through a provider, by its columns."""

    id: UUID
    status: PaymentState
    amount: Decimal
    provider: str
    provider_refund_id: str | None
    payment_id: UUID
    reason: str | None
    failure_reason: str | None
    at: str
    by: Person


class DisputeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute of a payment of a stay, by its columns."""

    id: UUID
    status: DisputeState
    amount: Decimal
    taken_amount: Decimal
    fee: Decimal
    evidence_due_by: str | None
    opened_at: str
    # The part of the taken money that no order had used yet.
    held: Decimal


class FolioRows(msgspec.Struct, frozen=True, kw_only=True):
    """A stay with all that its folio shows."""

    stay: Stay
    orders: list[OrderRow]
    payments: list[PaymentRow]
    moved: list[Moved]
    returns: list[ReturnRow] = []
    disputes: list[DisputeRow] = []


def costs(stay: Stay) -> dict[date, NightCost]:
    """The nights of a stay in their order, with the cost of each."""
    taxes = read_taxes(stay.taxes)
    return {
        parse_date(night.date): night_cost(night.price, taxes, stay.currency)
        for night in _NIGHTS.decode(stay.nights)
    }
