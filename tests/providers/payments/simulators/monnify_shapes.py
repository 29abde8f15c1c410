"""The forms of Monnify's objects, as its published answers and hooks show them."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from tests.providers.payments.simulators.simulator import Json

_LAGOS = timezone(timedelta(hours=1))
BANKS: list[Json] = [
    {"name": name, "code": code, "ussdTemplate": None, "baseUssdCode": None,
     "transferUssdTemplate": None, "bankId": None, "nipBankCode": f"0000{code}"}
    for code, name in [("044", "Access Bank"), ("058", "Guaranty Trust Bank")]
    + [(f"{90000 + number}", f"Bank {number}") for number in range(120)]
]  # fmt: skip


def exactly(text: str) -> Any:
    """JSON with exact numbers."""
    return json.loads(text, parse_float=Decimal)


def _local() -> datetime:
    return datetime.now(_LAGOS)


def transaction(number: int, body: Json, payer_fee: Decimal) -> Json:
    """A transaction that nobody paid yet; its reference contains pipes."""
    amount = Decimal(str(body["amount"]))
    return {
        "transactionReference": f"MNFY|67|{_local():%Y%m%d%H%M%S}|{number % 1_000_000:06}",
        "paymentReference": body["paymentReference"], "amountPaid": Decimal(0),
        "totalPayable": amount + payer_fee, "settlementAmount": Decimal(0), "paidOn": None,
        "paymentStatus": "PENDING", "paymentDescription": body["paymentDescription"],
        "currency": body["currencyCode"], "paymentMethod": "ACCOUNT_TRANSFER",
        "product": {"type": "API_NOTIFICATION", "reference": body["paymentReference"]},
        "cardDetails": None, "accountDetails": None, "accountPayments": [],
        "customer": {"email": body["customerEmail"], "name": body.get("customerName", "")},
        "metaData": body.get("metaData", {}), "fee": payer_fee, "number": number,
        "createdOn": f"{_local():%Y-%m-%dT%H:%M:%S}.000+0100",
    }  # fmt: skip


def begun(one: Json, body: Json) -> Json:
    """The answer of its beginning."""
    of = one["transactionReference"]
    return {
        "transactionReference": of, "paymentReference": one["paymentReference"],
        "merchantName": "Ada's Kitchen", "apiKey": "MK_TEST_SIMULATOR", "redirectUrl": None,
        "enabledPaymentMethod": body.get("paymentMethods", []),
        "checkoutUrl": f"https://sandbox.sdk.monnify.com/checkout/{of}",
    }  # fmt: skip


def account(one: Json) -> Json:
    """The account of a transaction; its moments bear no zone."""
    at = _local()
    return {
        "accountNumber": f"70{one['number'] % 100_000_000:08}", "accountName": "Ada's Kitchen",
        "bankName": "Moniepoint Microfinance Bank", "bankCode": "50515",
        "accountDurationSeconds": 2400, "ussdPayment": None,
        "requestTime": f"{at:%Y-%m-%dT%H:%M:%S.%f}",
        "expiresOn": f"{at + timedelta(seconds=2400):%Y-%m-%dT%H:%M:%S}",
        "transactionReference": one["transactionReference"],
        "paymentReference": one["paymentReference"],
        "amount": one["totalPayable"] - one["fee"], "fee": one["fee"],
        "totalPayable": one["totalPayable"], "collectionChannel": "API_NOTIFICATION",
        "productInformation": None,
    }  # fmt: skip


def add_payment(one: Json, amount: Decimal, fee: Decimal) -> None:
    """Add a transfer to a transaction."""
    one["accountPayments"] = [
        {"accountName": "BOLA ADE", "accountNumber": "******2190", "bankCode": "058",
         "amountPaid": f"{amount:.2f}", "sessionId": "e6cV1smlpkwG38Cg6d5F9B2PRnIq5FqA",
         "destinationAccountNumber": "7000000000"},
        *one["accountPayments"],
    ]  # fmt: skip
    one["amountPaid"] += amount
    one["settlementAmount"] += amount - fee
    one["paidOn"] = f"{_local():%d/%m/%Y %I:%M:%S %p}"
    paid, wanted = one["amountPaid"], one["totalPayable"]
    one["paymentStatus"] = (
        "PAID" if paid == wanted else "OVERPAID" if paid > wanted else "PARTIALLY_PAID"
    )


def shown(one: Json) -> Json:
    """A transaction as its status tells of it: amounts are texts."""
    hidden = ("fee", "number", "createdOn")
    amounts = ("amountPaid", "totalPayable", "settlementAmount")
    return {
        name: f"{value:.2f}" if name in amounts else value
        for name, value in one.items()
        if name not in hidden
    }


def line(one: Json) -> Json:
    """A transaction as lists tell of it, without its parts."""
    return {
        "customerDTO": one["customer"], "providerAmount": 0, "paymentMethod": "ACCOUNT_TRANSFER",
        "createdOn": one["createdOn"], "amount": one["totalPayable"], "flagged": False,
        "providerCode": "98271", "fee": one["amountPaid"] - one["settlementAmount"],
        "currencyCode": one["currency"], "completedOn": one["paidOn"],
        "paymentDescription": one["paymentDescription"], "paymentStatus": one["paymentStatus"],
        "transactionReference": one["transactionReference"],
        "paymentReference": one["paymentReference"], "merchantCode": "ALJKHDALASD",
        "merchantName": "Ada's Kitchen", "payableAmount": one["totalPayable"],
        "amountPaid": one["amountPaid"], "completed": one["amountPaid"] > 0,
    }  # fmt: skip


def payment_hook(one: Json) -> Json:
    """The hook of a payment: amounts are numbers, but for one."""
    names = ("product", "transactionReference", "paymentReference", "paymentDescription",
             "metaData", "amountPaid", "totalPayable", "paymentStatus", "paymentMethod",
             "currency", "customer")  # fmt: skip
    source = [{"bankCode": "058", "amountPaid": one["amountPaid"], "accountName": "BOLA ADE",
               "sessionId": "e6cV1smlpkwG38Cg6d5F9B2PRnIq5FqA",
               "accountNumber": "0065432190"}]  # fmt: skip
    data = {
        **{name: one[name] for name in names},
        "paidOn": f"{_local():%Y-%m-%d %H:%M:%S}.615", "paymentSourceInformation": source,
        "destinationAccountInformation": {"bankCode": "50515", "bankName": "Moniepoint",
                                          "accountNumber": "7000000000"},
        "cardDetails": {}, "settlementAmount": f"{one['settlementAmount']:.2f}",
    }  # fmt: skip
    return {"eventType": "SUCCESSFUL_TRANSACTION", "eventData": data}


def refund(body: Json, amount: Decimal) -> Json:
    """A refund."""
    return {
        "refundReference": body["refundReference"],
        "transactionReference": body["transactionReference"],
        "refundReason": body["refundReason"], "customerNote": body["customerNote"],
        "refundAmount": amount, "refundType": "PARTIAL_REFUND", "refundStatus": "PENDING",
        "refundStrategy": "MERCHANT_WALLET", "comment": "Transaction refund is pending",
        "createdOn": f"{_local():%d/%m/%Y %I:%M:%S %p}",
    }  # fmt: skip


def refund_hook(one: Json) -> Json:
    """The hook of a refund."""
    is_good = one["refundStatus"] == "COMPLETED"
    return {"eventType": "SUCCESSFUL_REFUND" if is_good else "FAILED_REFUND", "eventData": one}


def transfer(number: int, body: Json, amount: Decimal, status: str) -> Json:
    """A transfer, as its summary tells of it."""
    return {
        "amount": amount, "reference": body["reference"], "narration": body["narration"],
        "currency": body["currency"], "fee": 35, "twoFaEnabled": "false", "status": status,
        "transactionDescription": "Transaction pending",
        "transactionReference": f"MFDS{number}",
        "createdOn": f"{_local():%Y-%m-%dT%H:%M:%S}.000+0100",
        "sourceAccountNumber": body["sourceAccountNumber"],
        "destinationAccountNumber": body["destinationAccountNumber"],
        "destinationAccountName": body.get("destinationAccountName", ""),
        "destinationBankCode": body["destinationBankCode"],
        "destinationBankName": "Guaranty Trust Bank",
    }  # fmt: skip


def transfer_made(one: Json) -> Json:
    """The same, as the answer of its making tells of it."""
    names = ("amount", "reference", "status", "destinationAccountName", "destinationBankName",
             "destinationAccountNumber", "destinationBankCode")  # fmt: skip
    more = {"dateCreated": "2022-07-31T14:31:33.759+0000", "totalFee": one["fee"]}
    return {**{name: one[name] for name in names}, **more}


def transfer_hook(one: Json) -> Json:
    """The hook of a transfer."""
    kind = {"SUCCESS": "SUCCESSFUL", "FAILED": "FAILED", "REVERSED": "REVERSED"}[one["status"]]
    return {"eventType": f"{kind}_DISBURSEMENT", "eventData": one}
