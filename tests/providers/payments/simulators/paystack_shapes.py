"""The forms of Paystack's objects, as its published answers and hooks show them."""

from tests.providers.payments.simulators.simulator import Json
from tillhouse.kit.clock import iso, now

BANKS: list[Json] = [
    {
        "id": number, "name": name, "slug": name.lower().replace(" ", "-"), "code": code,
        "longcode": "", "gateway": None, "pay_with_bank": False, "active": True,
        "is_deleted": False, "country": "Nigeria", "currency": "NGN", "type": "nuban",
        "supports_transfer": True, "available_for_direct_debit": False,
        "createdAt": "2020-12-07T16:19:09.000Z", "updatedAt": "2020-12-07T16:19:19.000Z",
    }
    for number, (code, name) in enumerate(
        [("044", "Access Bank"), ("058", "Guaranty Trust Bank")]
        + [(f"{90000 + number}", f"Bank {number}") for number in range(120)], start=1
    )
]  # fmt: skip


def transaction(number: int, reference: str, amount: int, body: Json) -> Json:
    """A transaction that nobody paid yet, as /transaction/verify tells of it."""
    at = iso(now())
    return {
        "id": number, "domain": "test", "status": "pending", "reference": reference,
        "receipt_number": None, "amount": amount, "message": None, "gateway_response": "",
        "paid_at": None, "created_at": at, "channel": "bank_transfer",
        "currency": body.get("currency", "NGN"), "ip_address": "197.210.54.33",
        "metadata": body.get("metadata", ""), "log": None, "fees": None, "fees_split": None,
        "authorization": {}, "customer": _customer(body["email"]), "plan": None, "split": {},
        "order_id": None, "paidAt": None, "createdAt": at, "requested_amount": amount,
        "pos_transaction_data": None, "fees_breakdown": None, "connect": None,
        "source": {"type": "api", "source": "merchant_api", "entry_point": "charge",
                   "identifier": None},
        "transaction_date": at, "plan_object": {}, "subaccount": {},
    }  # fmt: skip


def listed_customer(integration: int) -> Json:
    """A customer as lists tell of it."""
    return {"integration": integration, "domain": "test", **_customer("payer@example.com")}


def _customer(email: str) -> Json:
    return {
        "id": 181873746, "first_name": None, "last_name": None, "email": email,
        "customer_code": "CUS_1rkzaqsv4rrhqo6", "phone": None, "metadata": None,
        "risk_action": "default", "international_format_phone": None,
    }  # fmt: skip


def account(one: Json, ends: str) -> Json:
    """The account of a charge."""
    return {
        "reference": one["reference"], "status": "pending_bank_transfer",
        "display_text": "Please make a transfer to the account specified",
        "account_name": "PAYSTACK CHECKOUT",
        "account_number": f"12{one['id'] % 100_000_000:08}",
        "bank": {"slug": "test-bank", "name": "Test Bank", "id": 24}, "account_expires_at": ends,
    }  # fmt: skip


def fetched(one: Json) -> Json:
    """The same transaction, as /transaction/{id} tells of it: few of its parts are null."""
    customer = {
        **one["customer"], "first_name": "Bola", "last_name": "Ade", "phone": "",
        "metadata": {}, "international_format_phone": "",
    }  # fmt: skip
    metadata = one["metadata"] if isinstance(one["metadata"], dict) else {}
    return {
        **one, "customer": customer, "metadata": {**metadata, "custom_fields": []},
        "helpdesk_link": None, "plan": {},
    }  # fmt: skip


def authorization(payer: str, account: Json | None) -> Json:
    """How somebody paid, and into which account."""
    return {
        "authorization_code": "AUTH_q5nfynycgm", "bin": "008XXX", "last4": "X553",
        "exp_month": "09", "exp_year": "2023", "channel": "bank_transfer",
        "card_type": "transfer", "bank": "TEST BANK", "country_code": "NG",
        "brand": "Managed Account", "reusable": False, "signature": "SIG_1", "account_name": None,
        "sender_country": "NG",
        "sender_bank": None, "sender_bank_account_number": "XXXXXXX553", "sender_name": payer,
        "narration": "Transfer",
        "receiver_bank_account_number": account and account["account_number"],
        "receiver_bank": account and account["bank"]["name"],
    }  # fmt: skip


def rejected(sent: int, one: Json) -> Json:
    """The hook of a transfer of another amount, which goes back."""
    return {
        "event": "bank.transfer.rejected",
        "data": {
            "bank_transfer": {"amount": str(sent), "message": "incorrect amount sent",
                              "message_type": "INCORRECT_AMOUNT",
                              "transaction_id": str(one["id"])},
            "customer": one["customer"],
        },
    }  # fmt: skip


def dispute_resolved(one: Json) -> Json:
    """The hook of a dispute that the merchant lost."""
    data = {
        "id": 358950, "refund_amount": one["amount"], "currency": one["currency"],
        "resolution": "merchant-accepted", "domain": "test", "status": "resolved",
        "transaction": one, "category": "fraud",
    }  # fmt: skip
    return {"event": "charge.dispute.resolve", "data": data}


def dispute(number: int, paid: Json, amount: int) -> Json:
    """A dispute that waits for the merchant, as /dispute tells of it."""
    at = iso(now())
    return {
        "id": number, "refund_amount": amount, "currency": paid["currency"],
        "status": "awaiting-merchant-feedback", "resolution": None, "domain": "test",
        "transaction": paid, "transaction_reference": None, "category": "chargeback",
        "customer": paid["customer"], "bin": None, "last4": None, "dueAt": at,
        "resolvedAt": None, "evidence": None, "attachments": "", "note": None,
        "history": [{"status": "pending", "by": "bank@example.com", "createdAt": at}],
        "messages": [{"sender": "bank@example.com", "body": "Customer complained",
                      "createdAt": at}],
        "createdAt": at, "updatedAt": at,
    }  # fmt: skip


def dispute_hook(kind: str, one: Json) -> Json:
    """The hook of a dispute, whose moments have other names."""
    moments = {"dueAt": "due_at", "resolvedAt": "resolved_at", "createdAt": "created_at"}
    return {"event": kind, "data": {moments.get(name, name): one[name] for name in one}}


def refund(number: int, paid: Json, amount: int, body: Json) -> Json:
    """A refund, as /refund/{id} tells of it."""
    return {
        "integration": 412829, "transaction": paid["id"], "dispute": None, "settlement": None,
        "id": number, "domain": "test", "currency": paid["currency"], "amount": amount,
        "status": "pending", "refunded_at": None, "refunded_by": "ada@example.com",
        "customer_note": body.get("customer_note", ""),
        "merchant_note": body.get("merchant_note", ""), "deducted_amount": 0,
        "fully_deducted": 0, "createdAt": iso(now()), "bank_reference": None,
        "transaction_reference": paid["reference"], "reason": "", "refund_type": "API",
        "customer": {
            "id": 181873746, "first_name": "", "last_name": "", "email": "payer@example.com",
            "customer_code": "CUS_1rkzaqsv4rrhqo6", "phone": "", "metadata": "",
            "risk_action": "default", "international_format_phone": "",
        },
        "transaction_amount": paid["amount"], "initiated_by": "ada@example.com",
        "refund_channel": "bank_transfer", "session_id": None, "collect_account_number": False,
    }  # fmt: skip


def refund_made(one: Json, paid: Json) -> Json:
    """The same, as the answer of its making tells of it."""
    of = {
        "id": paid["id"], "domain": "test", "reference": paid["reference"],
        "amount": paid["amount"], "paid_at": paid["paid_at"], "channel": paid["channel"],
        "currency": paid["currency"],
        "authorization": {"exp_month": None, "exp_year": None, "account_name": None},
        "customer": {"international_format_phone": None}, "plan": {},
        "subaccount": {"currency": None}, "split": {}, "order_id": None,
        "paidAt": paid["paid_at"], "pos_transaction_data": None, "source": None,
        "fees_breakdown": None,
    }  # fmt: skip
    names = ("integration", "deducted_amount", "merchant_note", "customer_note", "status",
             "refunded_by", "currency", "domain", "amount", "id", "createdAt")  # fmt: skip
    more = {"channel": None, "fully_deducted": False, "expected_at": iso(now()),
            "updatedAt": one["createdAt"]}  # fmt: skip
    return {"transaction": of, **{name: one[name] for name in names}, **more}


def refund_hook(one: Json) -> Json:
    """The hook of a refund, whose amount is a text and which names no id."""
    data = {
        "status": one["status"], "transaction_reference": one["transaction_reference"],
        "refund_reference": "132013318360", "amount": str(one["amount"]),
        "currency": one["currency"], "processor": "mpgs_zen",
        "customer": {"first_name": "Ada", "last_name": "Okafor", "email": "payer@example.com"},
        "integration": 412829, "domain": "test",
    }  # fmt: skip
    return {"event": f"refund.{one['status']}", "data": data}


def recipient(number: int, body: Json) -> Json:
    """A recipient of transfers."""
    at = iso(now())
    return {
        "active": True, "createdAt": at, "currency": body.get("currency", "NGN"),
        "description": "", "domain": "test", "email": "", "id": number, "integration": 463433,
        "metadata": None, "name": body["name"], "recipient_code": f"RCP_{number}",
        "type": body["type"], "updatedAt": at, "is_deleted": False, "isDeleted": False,
        "details": {"authorization_code": None, "account_number": body["account_number"],
                    "account_name": body["name"], "bank_code": body["bank_code"],
                    "bank_name": "Guaranty Trust Bank"},
    }  # fmt: skip


def transfer(number: int, to: Json, body: Json, status: str) -> Json:
    """A transfer, as /transfer/verify tells of it."""
    at = iso(now())
    return {
        "amount": body["amount"], "createdAt": at, "currency": body.get("currency", "NGN"),
        "domain": "test", "failures": None, "id": number, "integration": 463433,
        "reason": body.get("reason", ""), "reference": body["reference"], "source": "balance",
        "source_details": None, "status": status, "titan_code": None,
        "transfer_code": f"TRF_{number}", "request": 1068403325, "transferred_at": None,
        "updatedAt": at, "recipient": to, "session": {"provider": None, "id": None},
        "fee_charged": 0, "fees_breakdown": None, "gateway_response": None,
    }  # fmt: skip


def transfer_made(one: Json) -> Json:
    """The same, as the answer of its making tells of it."""
    names = ("domain", "amount", "currency", "reference", "source", "source_details", "reason",
             "status", "failures", "transfer_code", "titan_code", "transferred_at", "id",
             "integration", "request", "createdAt", "updatedAt")  # fmt: skip
    more = {"transfersessionid": [], "transfertrials": [], "recipient": one["recipient"]["id"]}
    return {**more, **{name: one[name] for name in names}}
