"""The forms of Flutterwave's objects, as its published answers and hooks show them."""

from datetime import timedelta
from decimal import Decimal

from tests.providers.payments.simulators.simulator import Json
from tillhouse.kit.clock import iso, now

BANKS: list[Json] = [
    {"id": number, "code": code, "name": name}
    for number, (code, name) in enumerate(
        [("044", "Access Bank"), ("058", "Guaranty Trust Bank")]
        + [(f"{90000 + number}", f"Bank {number}") for number in range(120)], start=1
    )
]  # fmt: skip


def account(number: int, body: Json) -> Json:
    """The account of a charge."""
    ends = now() + timedelta(seconds=int(body.get("expires", 3600)))
    return {
        "transfer_reference": f"MockFLWRef-{number}",
        "transfer_account": f"00{number % 100_000_000:08}",
        "transfer_bank": "Mock Bank",
        "account_expiration": int(ends.timestamp() * 1000),
        "transfer_note": "Mock note",
        "transfer_amount": str(body["amount"]),
        "mode": "banktransfer",
    }


def transaction(number: int, charge: Json, amount: Decimal, fee: Decimal) -> Json:
    """A transaction that was paid."""
    return {
        "id": number, "tx_ref": charge["tx_ref"], "flw_ref": f"MockFLWRef-{number}",
        "device_fingerprint": "N/A", "amount": amount, "currency": charge["currency"],
        "charged_amount": amount, "app_fee": fee, "merchant_fee": 0,
        "processor_response": "success", "auth_model": "AUTH", "ip": "54.75.161.64",
        "narration": charge.get("narration", ""), "status": "successful",
        "payment_type": "bank_transfer", "created_at": iso(now()), "account_id": 20937,
        "meta": {"originatoraccountnumber": "156*******36", "originatorname": "BOLA ADE",
                 "bankname": "Access Bank", "originatoramount": "N/A"},
        "amount_settled": amount - fee,
        "customer": {"id": 2362222, "name": charge.get("fullname", "Anonymous"),
                     "phone_number": "N/A", "email": charge["email"],
                     "created_at": iso(now())},
    }  # fmt: skip


def charge_hook(one: Json) -> Json:
    """The hook of a payment."""
    names = ("id", "tx_ref", "flw_ref", "device_fingerprint", "amount", "currency",
             "charged_amount", "app_fee", "merchant_fee", "processor_response", "auth_model", "ip",
             "narration", "status", "payment_type", "created_at", "account_id",
             "customer")  # fmt: skip
    data = {name: one[name] for name in names}
    return {"event": "charge.completed", "data": data, "event.type": "BANK_TRANSFER_TRANSACTION"}


def refund(number: int, paid: Json, amount: Decimal, body: Json, status: str) -> Json:
    """A refund."""
    return {
        "id": number, "account_id": 73362, "tx_id": paid["id"], "flw_ref": paid["flw_ref"],
        "wallet_id": 74639, "amount_refunded": amount, "status": status,
        "destination": "payment_source", "comments": body.get("comments", ""),
        "meta": {"source": "availablebalance"}, "created_at": iso(now()),
    }  # fmt: skip


def transfer(number: int, body: Json) -> Json:
    """A transfer."""
    return {
        "id": number, "account_number": body["account_number"], "bank_code": body["account_bank"],
        "full_name": body.get("beneficiary_name", "N/A"), "created_at": iso(now()),
        "currency": body["currency"], "debit_currency": body.get("debit_currency"),
        "amount": body["amount"], "fee": 26.875, "status": "NEW", "reference": body["reference"],
        "meta": None, "narration": body.get("narration"), "approver": None,
        "complete_message": "", "requires_approval": 0, "is_approved": 1,
        "bank_name": "GUARANTY TRUST BANK",
    }  # fmt: skip


def chargeback(number: int, paid: Json, amount: Decimal) -> Json:
    """A chargeback that waits for the merchant."""
    at = iso(now())
    return {
        "id": number, "amount": amount, "flw_ref": paid["flw_ref"], "status": "initiated",
        "stage": "new", "comment": "Services not rendered", "meta": {
            "uploaded_proof": None, "history": [{
                "action": "initiated", "stage": "new", "date": at,
                "description": "Services not rendered", "source": "issuer"}]},
        "due_date": at, "settlement_id": "N/A", "created_at": at,
        "transaction_id": paid["id"], "tx_ref": paid["tx_ref"], "customer": paid["customer"],
    }  # fmt: skip
