"""Monnify's own client against the simulator: `open` before somebody pays, `after` then."""

import sys

from monnify.collection.transaction import Transaction, TransactionRefund
from monnify.disbursement.single_disbursement import DisbursementSingle
from monnify.verification.kyc_verification import Verification

_KEYS = ("MK_TEST_SIMULATOR", "a secret of a simulator")


def at(root, kind):
    """One of its parts, at another address than the one that is fixed in it."""
    made = kind(*_KEYS)
    made._Base__base_url = root
    return made


def begin(root, reference):
    """Begin a transaction and open an account for it."""
    client = at(root, Transaction)
    _, told = client.initialize_transaction(
        {
            "amount": 1500.50,
            "customerEmail": "payer@example.com",
            "customerName": "Bola Ade",
            "paymentReference": reference,
            "paymentDescription": "Order 7KQ4",
            "currencyCode": "NGN",
            "contractCode": "7059707855",
            "paymentMethods": ["ACCOUNT_TRANSFER"],
        }
    )
    body = {"transactionReference": told["responseBody"]["transactionReference"]}
    _, opened = client.pay_with_bank_transfer(body)
    assert opened["responseBody"]["accountNumber"].isdigit(), opened


def finish(root, reference):
    """Look it up, give some back, and send some on."""
    client = at(root, Transaction)
    _, told = client.get_transaction_status(payment_reference=reference)
    told = told["responseBody"]
    assert (told["paymentStatus"], told["amountPaid"]) == ("PAID", "1500.50"), told
    _, same = client.get_transaction_status_v2(told["transactionReference"])
    assert same["responseBody"] == told
    refunds = at(root, TransactionRefund)
    _, made = refunds.initiate_refund(
        {
            "transactionReference": told["transactionReference"],
            "refundReference": f"{reference}-back",
            "amount": 500,
            "currencyCode": "NGN",
            "contractCode": "7059707855",
            "refundReason": "Out of stock",
            "customerNote": "Out of stock",
        }
    )
    assert made["responseBody"]["refundAmount"] == 500, made
    _, again = refunds.get_refund_status(f"{reference}-back")
    assert again["responseBody"]["refundStatus"] == "PENDING", again
    send(root, reference)


def send(root, reference):
    """Send some on; names, banks and hooks."""
    payouts = at(root, DisbursementSingle)
    _, sent = payouts.initiate_transfer(
        {
            "amount": 200,
            "reference": f"{reference}-out",
            "narration": "Withdrawal",
            "destinationBankCode": "058",
            "destinationAccountNumber": "0123456789",
            "destinationAccountName": "ADA OKAFOR",
            "currency": "NGN",
            "sourceAccountNumber": "3934178936",
        }
    )
    assert sent["responseBody"]["status"] == "PENDING", sent
    _, found = payouts.get_transfer_status(f"{reference}-out")
    assert found["responseBody"]["amount"] == 200, found
    assert payouts.get_wallet_balance("3934178936")[0] == 200
    names = at(root, Verification)
    _, name = names.validate_bank_account("0123456789", "058")
    assert name["responseBody"]["accountName"] == "ADA OKAFOR", name
    assert any(one["code"] == "058" for one in names.get_banks()[1]["responseBody"])


def hook(root, path):
    """Judge a hook by its signature, which stands in the file's first line."""
    with open(path, "rb") as file:  # noqa: PTH123
        signature, body = file.read().split(b"\n", 1)
    client = at(root, Transaction)
    assert client.compare_hash(body, signature.decode())
    assert not client.compare_hash(body + b" ", signature.decode())


step, root, argument = sys.argv[1:]
{"open": begin, "after": finish, "hook": hook}[step](root, argument)
print(f"monnify {step}: fine")
