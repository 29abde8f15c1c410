"""The answers of providers about the account itself: the owner of a key, and the balances."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from tillhouse.kit.money import EXPONENTS
from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.envelope import data, each
from tillhouse.providers.payments.exponents import (
    balance_from_major,
    balance_from_units,
    currencies_of,
)
from tillhouse.providers.payments.provider import ProviderBalance


class _Account(msgspec.Struct):
    id: str


class _Customer(msgspec.Struct):
    integration: int | None = None


class _Transaction(msgspec.Struct):
    account_id: int | None = None


def stripe_id(answer: ProviderAnswer) -> str:
    """The id of a Stripe account."""
    return answer.read(_Account).id


def paystack_id(answer: ProviderAnswer) -> str | None:
    """The integration whose customers are listed; None: it has none yet."""
    told = data(answer, list[_Customer])
    return _first([one.integration for one in told])


def flutterwave_id(answer: ProviderAnswer) -> str | None:
    """The account whose transactions are listed; None: it has none yet."""
    told = data(answer, list[_Transaction])
    return _first([one.account_id for one in told])


class _Sum(msgspec.Struct):
    amount: Decimal
    currency: str


class _StripeBalance(msgspec.Struct):
    available: list[_Sum]
    pending: list[_Sum]


class _PaystackBalance(msgspec.Struct):
    currency: str
    balance: Decimal


class _FlutterwaveBalance(msgspec.Struct):
    currency: str
    available_balance: Decimal
    # Collected, and not yet settled.
    ledger_balance: Decimal | None = None


class _Wallet(msgspec.Struct, rename="camel"):
    # A number by its sandbox, a string of digits by its papers.
    available_balance: Decimal


class _Body(msgspec.Struct, rename="camel"):
    response_body: _Wallet


def stripe_balances(answer: ProviderAnswer) -> Sequence[ProviderBalance]:
    """The sums of each currency; in currencies that it counts in units that we know."""
    told = answer.read(_StripeBalance)
    available, pending = _by_currency(told.available), _by_currency(told.pending)

    def balance(code: str) -> ProviderBalance:
        return ProviderBalance(
            code,
            balance_from_units("stripe", available[code], code),
            balance_from_units("stripe", pending[code], code),
        )

    known = currencies_of("stripe")
    codes = sorted(known.intersection([*available, *pending]))
    return answer.exactly(lambda: [balance(code) for code in codes])


def _by_currency(sums: Sequence[_Sum]) -> defaultdict[str, Decimal]:
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in sums:
        found[one.currency.upper()] += one.amount
    return found


def _paystack(told: _PaystackBalance) -> ProviderBalance:
    available = balance_from_units("paystack", told.balance, told.currency)
    return ProviderBalance(told.currency, available)


def _flutterwave(told: _FlutterwaveBalance) -> ProviderBalance:
    ledger = told.ledger_balance
    return ProviderBalance(
        told.currency,
        balance_from_major(told.available_balance, told.currency),
        None if ledger is None else balance_from_major(ledger, told.currency),
    )


paystack_balances = each(
    _PaystackBalance, _paystack, lambda told: told.currency in currencies_of("paystack")
)
flutterwave_balances = each(
    _FlutterwaveBalance, _flutterwave, lambda told: told.currency in EXPONENTS
)
"""The balances of each currency of the world; it has others of its own."""


def monnify_balances(answer: ProviderAnswer, currency: str) -> Sequence[ProviderBalance]:
    """The balance of the wallet."""
    told = answer.read(_Body).response_body.available_balance
    return answer.exactly(lambda: [ProviderBalance(currency, balance_from_major(told, currency))])


def _first(ids: list[int | None]) -> str | None:
    return next((str(one) for one in ids if one is not None), None)
