"""The sale that the examples of the API tell of, from the order to the receipt.

Two people at table T12 have two large plates of jollof rice with plantain and a Chapman, with a
tenth off. Figures are those that the real API comes to.
"""

from typing import Any

from tillhouse.http.story.world import (
    ADA,
    CHANGED,
    CHAPMAN,
    CUSTOMER,
    EXTRAS,
    JOLLOF,
    LARGE,
    LEFT,
    LEVEL,
    MOVE,
    ORDERED,
    PAID,
    PLANTAIN,
    READY,
    SESSION,
    STORE,
    TAG,
    TILL,
    Json,
    example_id,
)

CODE = "7KQ4M2XB"
TOTAL = 5724.5

_LINE: Json = {
    "id": example_id("item_id"),
    "lineType": "product",
    "productId": JOLLOF["id"],
    "variantId": LARGE["id"],
    "productName": "Jollof rice",
    "variantName": "Large",
    "quantity": 2,
    "unitPrice": 2300,
    "originalUnitPrice": 2300,
    "discountAmount": 460,
    "subtotalAmount": 4600,
    "taxAmount": 310.5,
    "totalPrice": 4450.5,
    "imageUrl": None,
    "modifiers": [
        {
            "modifierGroupId": EXTRAS["id"],
            "modifierOptionId": PLANTAIN["id"],
            "name": "Plantain",
            "priceDelta": 300,
        }
    ],
    "components": [],
}
_DRINK: Json = {
    **_LINE,
    "id": example_id("drink_item_id"),
    "productId": CHAPMAN["id"],
    "variantId": CHAPMAN["variants"][0]["id"],
    "productName": "Chapman",
    "variantName": None,
    "quantity": 1,
    "unitPrice": 800,
    "originalUnitPrice": 800,
    "discountAmount": 80,
    "subtotalAmount": 800,
    "taxAmount": 54,
    "totalPrice": 774,
    "modifiers": [],
}
ORDER: Json = {
    "id": example_id("order_id"),
    "shortCode": CODE,
    "status": "pending",
    "paymentStatus": "pending",
    "summary": "2 × Jollof rice, 1 × Chapman",
    "items": [_LINE, _DRINK],
    "totalAmount": TOTAL,
    "subtotalAmount": 5400,
    "discountAmount": 540,
    "serviceChargeAmount": 500,
    "taxAmount": 364.5,
    "adjustmentAmount": 0,
    "amountPaid": 0,
    "remainingAmount": TOTAL,
    "currency": "NGN",
    "paymentMethod": "pos",
    "customer": {name: CUSTOMER[name] for name in ("id", "name", "phoneNumber", "whatsappNumber")},
    "store": {name: STORE[name] for name in ("id", "name")},
    "channel": "in_person",
    "channelFulfilledAt": None,
    "isAutomated": False,
    "deposit": None,
    "scheduledFor": None,
    "scheduledConfirmedAt": None,
    "serviceMode": "dine_in",
    "tableSessionId": SESSION["id"],
    "tableLabel": "T12",
    "covers": 2,
    "kitchenTicketId": example_id("ticket_id"),
    "kitchenTicketStatus": "queued",
    "recordedBy": TILL,
    "servedBy": ADA,
    "tags": [{name: TAG[name] for name in ("id", "name", "slug")}],
    "notes": "No onions, please",
    "receiptUrl": None,
    "cancellation": None,
    "promotionId": None,
    "hotelReservationId": None,
    "hotelRoomId": None,
    "occurredAt": ORDERED,
    "date": ORDERED,
    "createdAt": ORDERED,
    "updatedAt": ORDERED,
    "entrySource": "api",
    "recoverySessionId": None,
    "academicTerm": None,
}
NEW_ORDER: Json = {
    "items": [
        {
            "product_name": "Jollof rice",
            "product_id": JOLLOF["id"],
            "variant_id": LARGE["id"],
            "quantity": 2,
            "modifiers": [
                {
                    "modifier_group_id": EXTRAS["id"],
                    "modifier_option_id": PLANTAIN["id"],
                    "name": "Plantain",
                }
            ],
        },
        {"product_name": "Chapman", "product_id": CHAPMAN["id"], "quantity": 1},
    ],
    "discount_amount": 540,
    "service_charge_amount": 500,
    "payment_method": "pos",
    "customer_id": CUSTOMER["id"],
    "store_id": STORE["id"],
    "channel": "in_person",
    "service_mode": "dine_in",
    "table_session_id": SESSION["id"],
    "covers": 2,
    "served_by_user_id": ADA["id"],
    "tags": ["Birthday"],
    "notes": "No onions, please",
}
COOKED: Json = {**ORDER, "kitchenTicketStatus": "ready"}
PAID_ORDER: Json = {
    **COOKED,
    "status": "completed",
    "paymentStatus": "paid",
    "amountPaid": TOTAL,
    "remainingAmount": 0,
    "updatedAt": PAID,
}
RECEIPT_URL = (
    f"https://till.example.com/receipts/{example_id('receipt_id')}"
    "?until=1770468000&mark=V2hvIHJlYWRzIHRoaXM"
)
# Four plates for the next Saturday, promised on the day of the sale.
_PROMISED: Json = {
    **_LINE,
    "id": example_id("promised_item_id"),
    "quantity": 4,
    "unitPrice": 2000,
    "originalUnitPrice": 2000,
    "discountAmount": 0,
    "subtotalAmount": 8000,
    "taxAmount": 600,
    "totalPrice": 8600,
    "modifiers": [],
}
CONFIRMED: Json = {
    **PAID_ORDER,
    "id": example_id("scheduled_order_id"),
    "shortCode": "9TD3HWRA",
    "summary": "4 × Jollof rice",
    "items": [_PROMISED],
    "totalAmount": 8600,
    "subtotalAmount": 8000,
    "discountAmount": 0,
    "serviceChargeAmount": 0,
    "taxAmount": 600,
    "amountPaid": 8600,
    "paymentMethod": "transfer",
    "channel": "whatsapp",
    "scheduledFor": "2026-02-07T12:00:00.000Z",
    "scheduledConfirmedAt": CHANGED,
    "serviceMode": None,
    "tableSessionId": None,
    "tableLabel": None,
    "covers": None,
    "kitchenTicketId": None,
    "kitchenTicketStatus": None,
    "servedBy": None,
    "tags": [],
    "notes": None,
    "occurredAt": PAID,
    "date": PAID,
    "createdAt": PAID,
    "updatedAt": CHANGED,
}
# What the test that lives through the story sends for it.
PROMISE: Json = {
    "items": [
        {
            "product_name": "Jollof rice",
            "product_id": JOLLOF["id"],
            "variant_id": LARGE["id"],
            "quantity": 4,
        }
    ],
    "customer_id": CUSTOMER["id"],
    "store_id": STORE["id"],
    "channel": "whatsapp",
    "scheduled_for": "2100-02-07T12:00:00.000Z",
    "send_to_kitchen": False,
}
# The same order, had it been paid by the customer into an account of its own.
_ACCOUNT: Json = {
    "id": example_id("deposit_id"),
    "provider": "paystack",
    "status": "paid",
    "accountNumber": "9930012345",
    "bankName": "Wema Bank",
    "accountName": "Ada's Kitchen",
    "amount": TOTAL,
    "amountReceived": TOTAL,
    "currency": "NGN",
    "expiresAt": None,
    "createdAt": ORDERED,
}
AUTOMATED: Json = {
    **PAID_ORDER, "paymentMethod": "cloove_pay", "isAutomated": True, "deposit": _ACCOUNT,
}  # fmt: skip
SUMMARY: Json = {
    "todayOrders": 1,
    "todayRevenue": TOTAL,
    "totalOrders": 1,
    "filteredOrders": 1,
    "totalRevenue": TOTAL,
    "averageOrderValue": TOTAL,
    "pendingOrdersCount": 0,
    "pendingOutstandingAmount": 0,
    "completedOrdersCount": 1,
    "completedRevenue": TOTAL,
    "cancelledOrdersCount": 0,
    "cancelledRevenue": 0,
}
TICKET: Json = {
    "id": ORDER["kitchenTicketId"],
    "orderId": ORDER["id"],
    "shortCode": CODE,
    "station": "kitchen",
    "status": "queued",
    "summary": ORDER["summary"],
    "notes": ORDER["notes"],
    "storeId": STORE["id"],
    "tableLabel": "T12",
    "serviceMode": "dine_in",
    "customerName": "Chinedu Eze",
    "items": [
        {
            "productName": "Jollof rice",
            "variantName": "Large",
            "quantity": 2,
            "modifiers": ["Plantain"],
        },
        {"productName": "Chapman", "variantName": None, "quantity": 1, "modifiers": []},
    ],
    "secondsInStage": 240,
    "queuedAt": ORDERED,
    "preparingAt": None,
    "readyAt": None,
    "servedAt": None,
    "closedAt": None,
    "updatedAt": ORDERED,
}
DEBT: Json = {
    "id": example_id("debt_id"),
    "orderId": ORDER["id"],
    "orderShortCode": CODE,
    "customer": {"id": CUSTOMER["id"], "name": "Chinedu Eze"},
    "status": "active",
    "balance": TOTAL,
    "currency": "NGN",
    "openedAt": ORDERED,
    "closedAt": None,
    "updatedAt": ORDERED,
}
CHARGED_SESSION: Json = {
    **SESSION, "ordersCount": 1, "totalAmount": TOTAL, "unpaidAmount": TOTAL,
}  # fmt: skip
CLOSED_SESSION: Json = {
    **CHARGED_SESSION, "unpaidAmount": 0, "status": "closed", "closedAt": LEFT, "updatedAt": LEFT,
}  # fmt: skip
SOLD_LEVEL: Json = {**LEVEL, "onHand": 22, "available": 22, "updatedAt": ORDERED}
SOLD: Json = {
    **MOVE,
    "id": example_id("sold_id"),
    "kind": "sale",
    "onHandChange": -2,
    "orderId": ORDER["id"],
    "reason": None,
    "createdAt": ORDERED,
}
STAGE_TEXT = "Hi {customer}, your order {code} is ready."
# What a book says at each stage, unless it is told otherwise.
_STAGES = {
    "queued": "Hi {customer}, we have your order {code}.",
    "preparing": "Your order {code} is being prepared.",
    "ready": STAGE_TEXT,
    "served": "Thank you, {customer}. Enjoy your meal!",
}
MESSAGE: Json = {
    "id": example_id("message_id"),
    "conversationId": example_id("conversation_id"),
    "direction": "outbound",
    "type": "text",
    "text": f"Hi Chinedu Eze, your order {CODE} is ready.",
    "deliveryStatus": "sent",
    "provider": "sandbox",
    "providerMessageId": f"sandbox-{example_id('message_id')}",
    "error": None,
    "sentById": None,
    "createdAt": READY,
    "updatedAt": READY,
}
NOTIFICATION: Json = {
    "status": "sent",
    "messageId": MESSAGE["id"],
    "customerName": "Chinedu Eze",
    "customerPhone": "+2348030000000",
}
UNTOLD: Json = {"status": "skipped", "reason": "auto_send_disabled"}


def stage_messages() -> list[Json]:
    """What is told at each stage, once that of `ready` is set."""
    return [
        {
            "stage": stage,
            "isSent": stage == "ready",
            "text": text,
            "template": None,
            "updatedAt": ORDERED if stage == "ready" else None,
        }
        for stage, text in _STAGES.items()
    ]


def with_receipt() -> dict[str, Any]:
    """The order as it is found later."""
    return {**PAID_ORDER, "receiptUrl": RECEIPT_URL}
