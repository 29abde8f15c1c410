"""The events of orders, with the data that the contract names."""

from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import CustomerId, OrderId, StoreId
from tillhouse.kitchen import events as tickets
from tillhouse.kitchen.types import STATION, Ticket
from tillhouse.orders.events import (
    ORDER_CREATED,
    ORDER_UPDATED,
    PAYMENT_RECEIVED,
    PaymentData,
)
from tillhouse.orders.payments.rules import OrderPaymentRow, Tender
from tillhouse.orders.recording.rules.sale import Sale
from tillhouse.orders.recording.store.record_statement import OrderRows
from tillhouse.payins.disputes.types import Dispute
from tillhouse.webhooks.emit import Event
from tillhouse.webhooks.events import ChangeData

Data = TypeVar("Data", bound=ChangeData)


class AnnouncedOrder(msgspec.Struct, frozen=True):
    """The order that events are about."""

    id: OrderId
    store_id: StoreId | None
    customer_id: CustomerId | None


def changed(
    call: Call, event: EventType, subject: AnnouncedOrder, metadata: dict[str, Any]
) -> Event:
    """order.created, order.updated or order.cancelled."""
    return event, told(ChangeData, call, event, ("sale", subject.id, subject.store_id), metadata)


def told(
    kind: type[Data],
    call: Call,
    event: EventType,
    entity: tuple[str, UUID, StoreId | None],
    metadata: dict[str, Any],
) -> Data:
    """The data of an event of an entity: of its type, its id and its store."""
    type_, id_, store_id = entity
    return kind(
        business_id=call.business_id,
        event_type=event.code,
        entity_type=type_,
        entity_id=id_,
        store_id=store_id,
        metadata=metadata,
        occurred_at=iso(call.now),
    )


def refund_failed(call: Call, subject: AnnouncedOrder, refund_id: UUID, reason: str) -> Event:
    """order.updated of a refund that the payment provider didn't carry out."""
    metadata: dict[str, Any] = {
        "changed": ["refund"],
        "refundId": refund_id,
        "refundStatus": "failed",
        "reason": reason,
        "customerId": subject.customer_id,
    }
    return changed(call, ORDER_UPDATED, subject, metadata)


def disputed(call: Call, subject: AnnouncedOrder, status: str, dispute: Dispute) -> Event:
    """order.updated of a dispute of one of its payments."""
    metadata: dict[str, Any] = {
        "changed": ["dispute"],
        "disputeId": dispute.id,
        "disputeStatus": dispute.status,
        "status": status,
        "customerId": subject.customer_id,
        "dispute": dispute,
    }
    return changed(call, ORDER_UPDATED, subject, metadata)


def amounts(tendered: Decimal, change: Decimal = Decimal(0)) -> dict[str, Decimal]:
    """The parts of an amount as payment.received tells them, whatever was paid for."""
    return {
        "amount": tendered,
        "amountKept": tendered - change,
        "amountTendered": tendered,
        "changeAmount": change,
    }


def paid(
    call: Call, subject: AnnouncedOrder, payment: OrderPaymentRow, tender: Tender | None = None
) -> Event:
    """payment.received for a payment that came in just now."""
    metadata: dict[str, Any] = {
        **amounts(payment.amount, payment.change_amount),
        "paymentMethod": payment.method,
        "orderId": subject.id,
        "customerId": subject.customer_id,
        "paymentId": payment.id,
        "transactionId": payment.transaction_id,
    }
    return received(call, ("sale", subject.id, subject.store_id), metadata, tender)


def received(
    call: Call,
    entity: tuple[str, UUID, StoreId | None],
    metadata: dict[str, Any],
    tender: Tender | None,
) -> Event:
    """payment.received of an entity, with the link that it came through, and its payer."""
    data = told(PaymentData, call, PAYMENT_RECEIVED, entity, metadata)
    if tender is not None and tender.link is not None:
        data.payment_link = tender.link
        data.metadata["paymentLinkId"] = tender.link.id
    if tender is not None and tender.payer is not None:
        data.customer = tender.payer
        data.metadata["customerId"] = tender.payer.id
    return PAYMENT_RECEIVED, data


def created(call: Call, entry: OrderRows, sale: Sale) -> list[Event]:
    """Everything that a new order tells by itself."""
    order = entry.order
    subject = AnnouncedOrder(order["id"], order["store_id"], order["customer_id"])
    metadata = {
        "shortCode": order["short_code"],
        "status": sale.status,
        "totalAmount": sale.totals.total,
        "amountPaid": sale.amount_paid,
        "currency": entry.currency,
        "channel": order["channel"],
        "customerId": subject.customer_id,
    }
    events = [changed(call, ORDER_CREATED, subject, metadata)]
    if entry.payment:
        events.append(paid(call, subject, entry.payment))
    if order["ticket_id"]:
        ticket = Ticket(
            id=order["ticket_id"], order_id=subject.id, station=STATION, status="queued"
        )
        events.append(tickets.ticket_created(call, ticket, subject.store_id))
    return events
