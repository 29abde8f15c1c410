"""A Saturday at the shop: guests sit down, order, eat and pay; a promise for next week."""

from typing import Any

from story.story import NOBODY, Story

_SCHEDULED = "2100-01-30T12:00:00.000Z"


def _plates(s: Story, quantity: float) -> dict[str, Any]:
    return {
        "product_name": "Jollof rice",
        "product_id": s.known["product_id"],
        "variant_id": s.known["variant_id"],
        "quantity": quantity,
    }


def _order(s: Story) -> dict[str, Any]:
    plantain = {
        "modifier_group_id": s.known["modifier_group_id"],
        "modifier_option_id": s.known["plantain_id"],
        "name": "Plantain",
    }
    drink = {"product_name": "Chapman", "product_id": s.known["drink_id"], "quantity": 1}
    return {
        "items": [{**_plates(s, 2), "modifiers": [plantain]}, drink],
        "discount_amount": 540,
        "service_charge_amount": 500,
        "payment_method": "pos",
        "customer_id": s.known["customer_id"],
        "store_id": s.known["store_id"],
        "channel": "in_person",
        "service_mode": "dine_in",
        "table_session_id": s.known["session_id"],
        "covers": 2,
        "served_by_user_id": s.known["user_id"],
        "tags": ["Birthday"],
        "notes": "No onions, please",
    }


def seated(s: Story) -> None:
    """Two guests sit down at table T12."""
    s.chapter("2026-01-31T11:30:00Z")
    s.sends("GET /v1/kitchen/stage-messages")
    texts = [
        {"stage": "ready", "is_sent": True, "text": "Hi {customer}, your order {code} is ready."}
    ]
    s.sends("PUT /v1/kitchen/stage-messages", {"messages": texts})
    texts[0]["text"] = "Hi {guest}"
    s.sends("PUT /v1/kitchen/stage-messages", {"messages": texts}, status=422)
    sitting = {"table_id": s.known["table_id"], "covers": 2}
    s.known["session_id"] = s.sends("POST /v1/table-sessions", sitting)["id"]
    s.sends("POST /v1/table-sessions", sitting, status=409)
    s.sends("GET /v1/tables", query={"store_id": s.known["store_id"], "page": 1, "limit": 20})
    s.sends("GET /v1/tables/{table_id}")


def ordered(s: Story) -> None:
    """They order, once although the till asks twice."""
    s.chapter("2026-01-31T11:40:00Z")
    once = {"idempotency-key": "till-1-sale-4711"}
    body = _order(s)
    order = s.sends("POST /v1/orders", body, headers=once)
    s.known |= {
        "order_id": order["id"],
        "ticket_id": order["kitchenTicketId"],
        "first_item_id": order["items"][0]["id"],
    }
    s.sends("POST /v1/orders", body, headers=once)
    s.sends("POST /v1/orders", {**body, "covers": 3}, headers=once, status=422)
    s.sends("POST /v1/orders", {"items": [_plates(s, 100)]}, status=400)
    wrong = {
        "items": [{**_plates(s, 0), "product_id": NOBODY}],
        "channel": "letter",
        "customer": "Chinedu",
    }
    s.sends("POST /v1/orders", wrong, status=422)
    closed = {"items": [_plates(s, 1)], "customer_id": NOBODY, "store_id": NOBODY}
    s.sends("POST /v1/orders", closed, status=422)
    debt = s.sends(
        "GET /v1/debts", query={"status": "active", "customer_id": s.known["customer_id"]}
    )[0]
    s.known["debt_id"] = debt["id"]
    s.sends("GET /v1/debts/{debt_id}")
    s.sends(
        "GET /v1/kitchen/tickets",
        query={"station": "kitchen", "store_id": s.known["store_id"], "page": 1, "limit": 20},
    )
    s.sends("GET /v1/kitchen/tickets/{ticket_id}")
    s.sends("GET /v1/inventory", query={"variant_id": s.known["variant_id"]})
    s.sends("GET /v1/inventory/moves")
    s.sends(
        "GET /v1/table-sessions",
        query={"status": "open", "table_id": s.known["table_id"], "page": 1, "limit": 20},
    )
    s.sends("GET /v1/table-sessions/{session_id}")
    s.sends("PATCH /v1/table-sessions/{session_id}", {"covers": 3})
    s.sends("POST /v1/orders/preview", body)
    s.sends("POST /v1/table-sessions/{session_id}/close", status=400)


def cooked(s: Story) -> None:
    """The kitchen cooks; a takeaway order waits until it is sent there."""
    s.chapter("2026-01-31T12:06:00Z")
    s.sends("POST /v1/orders/{order_id}/kitchen-status", {"status": "preparing"})
    s.sends("POST /v1/orders/{order_id}/kitchen-status", {"status": "ready"})
    s.sends("POST /v1/orders/{order_id}/kitchen-status", {"status": "eaten"}, status=422)
    away = {
        "items": [
            {"product_name": "Chapman", "product_id": s.known["drink_id"], "quantity": 3},
            {"product_name": "Delivery", "quantity": 1, "line_type": "fee", "custom_price": 500},
        ],
        "customer_name": "Ngozi Obi",
        "service_mode": "takeaway",
        "send_to_kitchen": False,
        "amount_paid": 1000,
        "promotion_id": s.known["hundred_id"],
    }
    s.sends("POST /v1/orders", away, status=400)
    del away["promotion_id"]
    held = s.sends("POST /v1/orders", away)
    s.known["away_id"] = held["id"]
    s.sends(
        "POST /v1/orders/{order_id}/kitchen-status",
        {"status": "ready"},
        order_id=held["id"],
        status=404,
    )
    s.sends("POST /v1/orders/{order_id}/send-to-kitchen", order_id=held["id"])
    s.sends("POST /v1/orders/{order_id}/send-to-kitchen", order_id=held["id"], status=409)
    s.sends("GET /v1/kitchen/tickets", query={"status": "ready,served", "all": "true"})
    lunch = {"product_name": "Lunch for two", "product_id": s.known["bundle_id"], "quantity": 1}
    discounted = {
        "items": [lunch, _plates(s, 1)],
        "promotion_id": s.known["hundred_id"],
        "store_id": s.known["store_id"],
        "amount_paid": 10000,
        "payment_method": "cash",
    }
    s.sends("POST /v1/orders", discounted)


def paid(s: Story) -> None:
    """They pay and leave, with a receipt."""
    s.chapter("2026-01-31T12:45:00Z")
    s.sends("PATCH /v1/orders/{order_id}", {"amount_paid": 2000})
    card = {"amount": 1000, "method": "pos", "tip": 250, "reference": "POS-0042"}
    s.sends("POST /v1/orders/{order_id}/payments", card)
    s.sends("POST /v1/orders/{order_id}/payments", {**card, "amount": 0}, status=422)
    s.sends("GET /v1/orders/{order_id}/payments")
    s.sends("GET /v1/customers/{customer_id}")
    s.sends("PATCH /v1/orders/{order_id}", {"amount_paid": "5724.50"})
    s.sends("PATCH /v1/orders/{order_id}", {"status": "eaten", "amount": 1}, status=422)
    s.sends("GET /v1/debts/{debt_id}")
    s.sends("GET /v1/debts", query={"order_id": s.known["order_id"], "page": 1, "limit": 5})
    s.sends("POST /v1/table-sessions/{session_id}/close")
    s.sends("PATCH /v1/table-sessions/{session_id}", {"covers": 4}, status=400)
    s.sends("POST /v1/orders/{order_id}/receipt")
    s.sends("GET /v1/orders/{order_id}")
    s.sends("GET /v1/orders/{order_id}", order_id=NOBODY, status=404)
    s.sends("GET /v1/orders")


def promised(s: Story) -> None:
    """Four plates for another Saturday, paid when that is confirmed; an old sale; a refund."""
    s.chapter("2026-01-31T13:10:00Z")
    promise = {
        "items": [_plates(s, 4)],
        "customer_id": s.known["customer_id"],
        "store_id": s.known["store_id"],
        "channel": "whatsapp",
        "scheduled_for": _SCHEDULED,
        "send_to_kitchen": False,
    }
    s.known["promised_id"] = s.sends("POST /v1/orders", promise)["id"]
    s.sends("POST /v1/orders", {**promise, "scheduled_for": "2020-01-01T12:00:00Z"}, status=422)
    s.sends("GET /v1/orders", query={"scheduled_only": "true"})
    method = {"payment_method": "transfer", "amount_paid": 8600}
    one = {"order_id": s.known["promised_id"]}
    s.sends("POST /v1/orders/{order_id}/confirm", method, **one)
    s.sends("POST /v1/orders/{order_id}/confirm", method, **one, status=400)
    old = {
        "items": [{"product_name": "Catering", "quantity": 1, "custom_price": 45000}],
        "customer_name": "Lagos Sailing Club",
        "occurred_at": "2024-05-03T15:00:00Z",
        "academic_term_id": s.known["term_id"],
        "store_name": "marina",
        "table_label": "Hall",
        "payment_method": "transfer",
        "amount_paid": 45000,
    }
    s.known["old_id"] = s.sends("POST /v1/orders", old)["id"]
    given = {"amount": 5000, "reason": "Two trays were cold"}
    s.sends("POST /v1/orders/{order_id}/refunds/preview", given, order_id=s.known["old_id"])
    s.sends("POST /v1/orders/{order_id}/refunds", given, order_id=s.known["old_id"])
    s.sends("POST /v1/orders/{order_id}/refunds", {}, order_id=s.known["old_id"], status=422)
    s.sends("GET /v1/orders/{order_id}/refunds", order_id=s.known["old_id"])
    away = {"order_id": s.known["away_id"]}
    s.sends("PATCH /v1/orders/{order_id}", {"total_amount": 2500}, **away)
    s.sends(
        "PATCH /v1/orders/{order_id}",
        {"status": "cancelled", "cancellation_reason": "Customer changed their mind"},
        **away,
    )
    s.sends("PATCH /v1/orders/{order_id}", {"status": "scheduled"}, **away, status=422)
    s.sends("POST /v1/orders/{order_id}/requery", status=400)


async def asked_again(s: Story) -> None:
    """Play a payment provider's report: the order was paid into an account."""
    await s.happens("UPDATE orders SET is_automated = true WHERE id = $1", s.known["promised_id"])
    s.sends("POST /v1/orders/{order_id}/requery", order_id=s.known["promised_id"])
    s.sends("DELETE /v1/orders/{order_id}", order_id=s.known["promised_id"], status=409)


def looked_up(s: Story) -> None:
    """Every way to find orders."""
    s.chapter("2026-01-31T17:00:00Z")
    queries: tuple[dict[str, Any], ...] = (
        {"status": "completed,pending", "payment_status": "paid", "limit": 2},
        {"channel": "whatsapp", "payment_method": "transfer"},
        {"service_mode": "dine_in,takeaway", "store_id": s.known["store_id"]},
        {"customer_id": s.known["customer_id"], "start_date": "2020-01-01"},
        {"store_ids": s.known["store_id"], "end_date": "2100-01-01"},
        {"recorded_by_id": s.known["key_id"], "page": 2, "limit": 3},
        {"staff_id": s.known["user_id"]},
        {"served_by_user_id": s.known["user_id"], "is_automated": "false"},
        {"table_session_id": s.known["session_id"]},
        {"academic_term_id": s.known["term_id"]},
        {"tag_ids": s.known["tag_id"], "channel_fulfilled": "false"},
        {"search": "ngozi"},
        {**s.after("2026-01-31T12:00:00", s.known["order_id"]), "limit": 2},
        {"start_date": "2024-05-03", "end_date": "2024-05-03"},
    )
    for query in queries:
        s.sends("GET /v1/orders", query=query)
    s.sends("GET /v1/counts")
    s.sends("GET /v1/search", query={"q": "chinedu", "limit": 2})
    s.sends("GET /v1/orders", query={"status": "eaten", "limit": 0, "serach": "x"}, status=422)
