"""The postings of what a provider takes back, by the pure rule: net of the fee, to the unit."""

from decimal import Decimal

import msgspec

from tillhouse.ledger.rules import Postings
from tillhouse.payins import rules

PAID = rules.Money(amount=Decimal(1000), fee=Decimal(15), foreign=None, is_unapplied=False)


def _by_kind(postings: Postings) -> dict[str, Decimal]:
    return {one.kind: one.amount for one in postings.transfers}


def test_a_wallet_that_holds_more_loses_the_net_alone() -> None:
    """The fee comes back from the provider, so the wallet gives the amount less the fee."""
    back = rules.ReturnedAmount(Decimal(1000), Decimal(15), is_whole=True)
    for available in (985, 990, 5000):
        assert _by_kind(rules.returned(PAID, back, Decimal(available))) == {
            "wallet_funding_reversed": 985,
            "provider_fee_reversed": 15,
        }


def test_a_wallet_that_holds_less_owes_the_rest() -> None:
    """One unit short is a claim of one unit; a wallet below zero gives nothing."""
    back = rules.ReturnedAmount(Decimal(1000), Decimal(15), is_whole=True)
    assert _by_kind(rules.returned(PAID, back, Decimal(984))) == {
        "wallet_funding_reversed": 984,
        "reversal_claim": 1,
        "provider_fee_reversed": 15,
    }
    assert _by_kind(rules.returned(PAID, back, Decimal(-1))) == {
        "reversal_claim": 985,
        "provider_fee_reversed": 15,
    }


def test_a_fee_above_what_goes_back_is_the_wallets() -> None:
    """More of the fee comes back than of the amount: the wallet gets the difference."""
    for amount in (0, 5):
        back = rules.ReturnedAmount(Decimal(amount), Decimal(15))
        assert _by_kind(rules.returned(PAID, back, Decimal(0))) == {
            "wallet_fee_returned": 15 - amount,
            "provider_fee_reversed": 15,
        }


def test_what_no_target_holds_goes_back_whole() -> None:
    """An unapplied receipt holds the amount, not the net: all of it leaves, and is seen so."""
    unapplied = msgspec.structs.replace(PAID, is_unapplied=True)
    found = rules.returned(unapplied, rules.ReturnedAmount(Decimal(500), Decimal(5)), Decimal(0))
    assert _by_kind(found) == {"unapplied_receipt_reversed": 500, "provider_fee_reversed": 5}
    assert [(one.type, one.amount) for one in found.movements] == [("reversal", -500), ("fee", -5)]


def test_a_top_up_is_seen_with_its_amount() -> None:
    """Its fee is a transaction of its own."""
    found = rules.deposit(PAID)
    assert [one.amount for one in (*found.transfers, *found.movements)] == [1000, 1000]
