"""Money is asked for: a link for an order, one for a debt, one that pays into the wallet."""

from story.story import NOBODY, Story

_LINKS = "/v1/payment-links"


def asked_for(s: Story) -> None:
    """Half of an order is still to come: its customer gets a link."""
    s.chapter("2026-01-31T18:40:00Z")
    rest = {"product_name": "Hall decoration", "line_type": "fee", "quantity": 1}
    sale = {
        "items": [{**rest, "custom_price": 31460}],
        "amount_paid": 15000,
        "payment_method": "transfer",
        "customer_id": s.known["customer_id"],
    }
    order = s.sends("POST /v1/orders", sale)
    body = {
        "target_type": "sale",
        "target_id": order["id"],
        "redirect_url": "https://shop.example.com/thanks?cart=7",
    }
    once = {"idempotency-key": "till-1-link-17"}
    s.known["link_id"] = s.sends(f"POST {_LINKS}", body, headers=once)["id"]
    s.sends(f"POST {_LINKS}", body)
    s.sends(f"POST {_LINKS}", {**body, "target_id": NOBODY}, status=422)
    s.sends(f"POST {_LINKS}", {**body, "redirect_url": "javascript:alert(1)"}, status=422)
    debt = s.sends("GET /v1/debts", query={"order_id": order["id"]})[0]
    s.sends(f"POST {_LINKS}", {"target_type": "debt", "target_id": debt["id"]})
    s.sends(f"GET {_LINKS}/{{link_id}}")
    s.sends(f"GET {_LINKS}/{{link_id}}", link_id=NOBODY, status=404)
    s.sends("GET /v1/finance/transactions", query={"payment_link_id": s.known["link_id"]})
    s.sends("GET /v1/orders/{order_id}", order_id=order["id"])
    s.known["owing_id"] = order["id"]


def asked_for_wallet(s: Story) -> None:
    """A deposit for the hall, from somebody new; links are looked for, and one is cancelled."""
    s.chapter("2026-01-31T18:50:00Z")
    hall = {
        "title": "Deposit for the hall",
        "amount": 50000,
        "redirect_url": "https://shop.example.com/thanks",
        "customer": {"name": "Bola Ade", "email": "bola@example.com"},
    }
    made = s.sends(f"POST {_LINKS}/wallet/dynamic", hall)
    s.sends(f"POST {_LINKS}/wallet/dynamic", {**hall, "amount": 0}, status=422)
    s.sends(f"GET {_LINKS}", query={"page": 1, "limit": 10})
    narrow = {
        "status": "active,EXPIRED",
        "target_type": "sale",
        "target_id": s.known["owing_id"],
        "from": "2024-01-01",
        "to": "2100-01-01",
        "customer_id": s.known["customer_id"],
        "search": "order",
    }
    s.sends(f"GET {_LINKS}", query=narrow)
    unknown = {"customer_email": "nobody@example.com", "customer_phone": "+2348000000000"}
    s.sends(f"GET {_LINKS}", query=unknown)
    s.sends(f"DELETE {_LINKS}/{{link_id}}", link_id=made["id"])
