"""The answers of providers about the account itself: the owner of a key, and the balances."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Generic, TypeVar

import msgspec

from tillhouse.kit.money import EXPONENTS
from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.exponents import (
    balance_from_major,
    balance_from_units,
    currencies_of,
)
from tillhouse.providers.payments.provider import ProviderBalance

T = TypeVar("T")


class _Data(msgspec.Struct, Generic[T]):
    data: T


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
    told = answer.read(_Data[list[_Customer]]).data
    return _first([one.integration for one in told])


def flutterwave_id(answer: ProviderAnswer) -> str | None:
    """The account whose transactions are listed; None: it has none yet."""
    told = answer.read(_Data[list[_Transaction]]).data
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


def paystack_balances(answer: ProviderAnswer) -> Sequence[ProviderBalance]:
    """The balance of each currency."""
    told, known = answer.read(_Data[list[_PaystackBalance]]).data, currencies_of("paystack")
    return answer.exactly(
        lambda: [
            ProviderBalance(one.currency, balance_from_units("paystack", one.balance, one.currency))
            for one in told
            if one.currency in known
        ]
    )


def flutterwave_balances(answer: ProviderAnswer) -> Sequence[ProviderBalance]:
    """The balances of each currency of the world; it has others of its own."""
    told = answer.read(_Data[list[_FlutterwaveBalance]]).data

    def balance(one: _FlutterwaveBalance) -> ProviderBalance:
        ledger = one.ledger_balance
        return ProviderBalance(
            one.currency,
            balance_from_major(one.available_balance, one.currency),
            None if ledger is None else balance_from_major(ledger, one.currency),
        )

    return answer.exactly(lambda: [balance(one) for one in told if one.currency in EXPONENTS])


def monnify_balances(answer: ProviderAnswer, currency: str) -> Sequence[ProviderBalance]:
    """The balance of the wallet."""
    told = answer.read(_Body).response_body.available_balance
    return answer.exactly(lambda: [ProviderBalance(currency, balance_from_major(told, currency))])


def _first(ids: list[int | None]) -> str | None:
    return next((str(one) for one in ids if one is not None), None)
