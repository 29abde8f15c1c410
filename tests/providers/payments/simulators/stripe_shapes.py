"""The forms of Stripe's objects, as its reference and its own client describe them."""

import time
from decimal import Decimal

from tests.providers.payments.simulators.simulator import Json
from tillhouse.providers.payments.exponents import from_units

_PRICE = "line_items[0][price_data]"
DISPUTE_FEE = 1500
_DAY_S, _HALF_HOUR_S = 24 * 3600, 30 * 60


def wrong_session(form: dict[str, str]) -> str | None:
    """The fault of a form that is to open a page."""
    if form.get("mode") != "payment" or not form.get("success_url"):
        return "Missing required param: success_url."
    if int(form.get(f"{_PRICE}[unit_amount]", 0)) < 1:
        return "Invalid positive integer"
    lives = int(form.get("expires_at", time.time() + _DAY_S)) - time.time()
    if not _HALF_HOUR_S <= lives <= _DAY_S + 1:
        return "The `expires_at` timestamp must be between 30 minutes and 24 hours from creation."
    return None


def session(number: int, form: dict[str, str]) -> Json:
    """A page that nobody paid on yet."""
    total = int(form[f"{_PRICE}[unit_amount]"]) * int(form["line_items[0][quantity]"])
    at = int(time.time())
    name = f"cs_test_{number}"
    return {
        "id": name, "object": "checkout.session", "amount_subtotal": total, "amount_total": total,
        "cancel_url": form.get("cancel_url"),
        "client_reference_id": form.get("client_reference_id"), "created": at,
        "currency": form[f"{_PRICE}[currency]"], "customer": None,
        "customer_email": form.get("customer_email"), "livemode": False,
        "expires_at": int(form.get("expires_at", at + _DAY_S)),
        "metadata": _metadata(form, "metadata["), "mode": "payment", "payment_intent": None,
        "payment_method_types": ["card"], "payment_status": "unpaid", "status": "open",
        "success_url": form["success_url"], "ui_mode": "hosted",
        "url": f"https://checkout.stripe.com/c/pay/{name}",
        "intent_metadata": _metadata(form, "payment_intent_data[metadata]["),
    }  # fmt: skip


def _metadata(form: dict[str, str], start: str) -> Json:
    return {
        name.removeprefix(start).removesuffix("]"): value
        for name, value in form.items()
        if name.startswith(start)
    }


def intent(number: int, of: Json) -> Json:
    """An intent that succeeded."""
    return {
        "id": f"pi_{number}", "object": "payment_intent", "amount": of["amount_total"],
        "amount_capturable": 0, "amount_received": of["amount_total"],
        "capture_method": "automatic_async", "confirmation_method": "automatic",
        "created": int(time.time()), "currency": of["currency"], "customer": None,
        "description": None, "latest_charge": None, "livemode": False,
        "metadata": of["intent_metadata"], "payment_method": "pm_1",
        "payment_method_types": ["card"], "status": "succeeded",
    }  # fmt: skip


def folded(one: Json) -> Json:
    """An intent as it is told without expansion."""
    charge = one["latest_charge"]
    return {**one, "latest_charge": charge["id"] if isinstance(charge, dict) else charge}


def charge(of: Json, fee: int, rate: Decimal) -> Json:
    """The charge of an intent, settled at a rate."""
    settled = int(of["amount"] * rate)
    balance = {
        "id": f"txn_{of['id']}", "object": "balance_transaction", "amount": settled,
        "currency": of["currency"] if rate == 1 else "eur", "fee": int(fee * rate),
        "net": settled - int(fee * rate), "exchange_rate": None if rate == 1 else rate,
        "status": "pending", "type": "charge",
    }  # fmt: skip
    return {
        "id": f"ch_{of['id']}", "object": "charge", "amount": of["amount"],
        "amount_captured": of["amount"], "amount_refunded": 0, "balance_transaction": balance,
        "billing_details": {"name": "Bola Ade", "email": "payer@example.com", "phone": None},
        "captured": True, "created": int(time.time()), "currency": of["currency"],
        "disputed": False, "livemode": False, "metadata": of["metadata"], "paid": True,
        "payment_intent": of["id"], "refunded": False, "status": "succeeded",
    }  # fmt: skip


def dispute(number: int, of: Json, units: int, rate: Decimal) -> Json:
    """A dispute that was opened: its amount and a fee have left the balance."""
    at = int(time.time())
    settled, currency = int(units * rate), of["currency"] if rate == 1 else "eur"
    taken = {
        "id": f"txn_{number}", "object": "balance_transaction", "amount": -settled,
        "available_on": at, "created": at, "currency": currency,
        "description": f"Chargeback withdrawal for {of['id']}",
        "exchange_rate": None if rate == 1 else rate, "fee": DISPUTE_FEE,
        "fee_details": [{"amount": DISPUTE_FEE, "application": None, "currency": currency,
                         "description": "Dispute fee", "type": "stripe_fee"}],
        "net": -settled - DISPUTE_FEE, "reporting_category": "dispute",
        "source": f"dp_{number}", "status": "available", "type": "adjustment",
    }  # fmt: skip
    return {
        "id": f"dp_{number}", "object": "dispute", "amount": units,
        "balance_transactions": [taken], "charge": of["latest_charge"]["id"],
        "currency": of["currency"], "created": at, "evidence": {},
        "evidence_details": {"due_by": at + 7 * _DAY_S, "has_evidence": False,
                             "past_due": False, "submission_count": 0},
        "is_charge_refundable": False, "livemode": False, "metadata": {},
        "payment_intent": of["id"], "reason": "fraudulent", "status": "needs_response",
    }  # fmt: skip


def with_balance(one: Json) -> Json:
    """A refund with what it moved: Stripe gives none of the fee back."""
    balance = {"id": f"txn_{one['id']}", "object": "balance_transaction",
               "amount": -one["amount"], "currency": one["currency"], "fee": 0,
               "net": -one["amount"], "reporting_category": "refund",
               "type": "refund"}  # fmt: skip
    return {**one, "balance_transaction": balance}


def refund(number: int, of: Json, units: int, form: dict[str, str]) -> Json:
    """A refund."""
    return {
        "id": f"re_{number}", "object": "refund", "amount": units, "balance_transaction": None,
        "charge": of["latest_charge"]["id"], "created": int(time.time()),
        "currency": of["currency"], "metadata": _metadata(form, "metadata["),
        "payment_intent": of["id"], "reason": form.get("reason"), "receipt_number": None,
        "status": "pending",
    }  # fmt: skip


def major(of: Json, units: int) -> Decimal:
    """An amount in the currency of an intent."""
    return from_units("stripe", Decimal(units), of["currency"].upper())


def listed(url: str, found: list[Json]) -> Json:
    """A list."""
    return {"object": "list", "url": url, "has_more": False, "data": found}


def shown(one: Json) -> Json:
    """An object without what nobody is told."""
    return {name: value for name, value in one.items() if name != "intent_metadata"}


def event(number: int, kind: str, thing: Json) -> Json:
    """A hook."""
    told = shown(thing)
    if isinstance(told.get("balance_transaction"), dict):
        told["balance_transaction"] = told["balance_transaction"]["id"]
    return {
        "id": f"evt_{number}", "object": "event", "api_version": "2024-06-20",
        "created": int(time.time()), "data": {"object": told}, "livemode": False,
        "pending_webhooks": 1, "request": {"id": None, "idempotency_key": None}, "type": kind,
    }  # fmt: skip
