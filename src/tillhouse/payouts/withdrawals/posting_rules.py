"""The postings of payouts as they end. Pure decisions.

    withdrawals_in_transit → provider_clearing   amount (of a refund: → wallet_funding)
    fees → provider_clearing                     fee
    wallet → wallet_funding                      fee, as far as the wallet has it

A payout that completes after it had failed leaves the wallet once more, as far as that covers it:

    wallet → withdrawals_in_transit              amount

The part that the wallet lacks is due: it is posted by the same transfers as money comes in.
"""

from decimal import Decimal

import msgspec

from tillhouse.ledger.rules import Account, EntryKind, Movement, Postings, Transfer

WALLET, TRANSIT, CLEARING, FUNDING, FEES = (
    Account("wallet"),
    Account("withdrawals_in_transit"),
    Account("provider_clearing"),
    Account("wallet_funding"),
    Account("fees"),
)
LEAVES: EntryKind = "withdrawal"
PAID: EntryKind = "payout"
FEE: EntryKind = "fee"
"""The kinds of transfer: out of the wallet, to the bank, and the fee out of the wallet."""


class Payout(msgspec.Struct, frozen=True, kw_only=True):
    """A payout that the provider completed, and its cost beyond the booked one."""

    amount: Decimal
    fee: Decimal
    is_refund: bool
    # Whether its amount is in the wallet again, since it had failed or come back.
    is_late: bool


class DueAmounts(msgspec.Struct, frozen=True):
    """The amount and the fee that the wallet has not given yet."""

    amount: Decimal
    fee: Decimal

    def given(self, available: Decimal) -> "DueAmounts":
        """The part of it that the wallet has: the amount before the fee."""
        amount = min(self.amount, available)
        return DueAmounts(amount, min(self.fee, available - amount))

    def less(self, given: "DueAmounts") -> "DueAmounts":
        """The rest."""
        return DueAmounts(self.amount - given.amount, self.fee - given.fee)

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to take."""
        return not (self.amount or self.fee)


def completed(payout: Payout, available: Decimal) -> tuple[Postings, DueAmounts]:
    """The postings of a completed payout, and the due part."""
    wanted = DueAmounts(payout.amount if payout.is_late else Decimal(0), payout.fee)
    given = wanted.given(available)
    # Of a refund the order says that the provider has paid: the wallet gives it the money for that.
    paid = FUNDING if payout.is_refund else CLEARING
    transfers = (Transfer(TRANSIT, paid, payout.amount, PAID), *taken(given).transfers)
    fee = fee_told(payout.fee)
    return (Postings(transfers + fee.transfers, fee.movements), wanted.less(given))


def fee_told(fee: Decimal) -> Postings:
    """The provider has taken a fee."""
    if not fee:
        return Postings()
    return Postings(
        (Transfer(FEES, CLEARING, fee, "payout_fee"),), (Movement("fee", "wallet", fee),)
    )


def taken(given: DueAmounts) -> Postings:
    """The wallet gives the amount of a payout."""
    every = (
        Transfer(WALLET, TRANSIT, given.amount, LEAVES),
        Transfer(WALLET, FUNDING, given.fee, FEE),
    )
    return Postings(tuple(one for one in every if one.amount))
