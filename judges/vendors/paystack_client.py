"""Paystack's own client against the simulator: `open` before somebody pays, `after` then."""

import sys

import paystack
from paystack import api_client


def main(step, root, reference):
    """Do one step."""
    paystack.api_key = "sk_test_of-a-simulator"
    _point_at(root)
    {"open": begin, "after": finish}[step](reference)
    print(f"paystack {step}: fine")


def _point_at(root):
    """Send it to another address than the one that is fixed in it."""
    made = api_client.ApiClient.__init__

    def init(self, *args, **more):
        made(self, *args, **more)
        self.configuration.host = root

    api_client.ApiClient.__init__ = init


def begin(reference):
    """Begin a transaction."""
    told = paystack.Transaction.initialize(
        email="payer@example.com", amount=150050, reference=reference
    )
    assert told.status, told
    assert told.data["reference"] == reference, told


def finish(reference):
    """Look it up, give some back, and send some on."""
    told = paystack.Transaction.verify(reference=reference).data
    assert (told["status"], told["amount"]) == ("success", 150050), told
    fetched = paystack.Transaction.fetch(id=str(told["id"])).data
    assert (fetched["id"], fetched["amount"]) == (told["id"], 150050), fetched
    made = paystack.Refund.create(transaction=reference, amount=5000, merchant_note="By hand").data
    assert made["status"] == "pending", made
    assert paystack.Refund.fetch(id=str(made["id"])).data["amount"] == 5000
    listed = paystack.Refund.list().data
    assert [one["id"] for one in listed] == [made["id"]], listed
    to = paystack.TransferRecipient.create(
        type="nuban", name="ADA OKAFOR", account_number="0123456789", bank_code="058",
        currency="NGN",
    ).data  # fmt: skip
    sent = paystack.Transfer.initiate(
        source="balance", amount="20000", recipient=to["recipient_code"],
        reference=f"{reference}-out",
    ).data  # fmt: skip
    again = paystack.Transfer.verify(reference=f"{reference}-out").data
    assert again["transfer_code"] == sent["transfer_code"], (sent, again)
    banks = paystack.Verification.fetch_banks(country="nigeria").data
    assert any(one["code"] == "058" for one in banks)
    name = paystack.Verification.resolve_account_number(
        account_number="0123456789", bank_code="058"
    ).data
    assert name["account_name"] == "ADA OKAFOR", name
    assert paystack.Balance.fetch().data[0]["currency"] == "NGN"


main(*sys.argv[1:])
