"""Monnify's answers: an envelope with a code, and amounts that are numbers or texts."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from tillhouse.kit.money import largest_remainder
from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.envelope import Text, one, words_of
from tillhouse.providers.payments.exponents import NotExact, from_major, rounded_fee
from tillhouse.providers.payments.monnify_moments import moment
from tillhouse.providers.payments.provider import (
    OWN_REFUND,
    PART,
    Bank,
    ListedRefund,
    OpenedAccount,
    PaymentState,
    PayoutState,
    ProviderRefused,
    RefundState,
    SeenPayment,
    SeenPayout,
    SeenRefund,
)

T = TypeVar("T")

# A transfer or a refund that isn't there has a code; a payment has words, by its papers.
_MISSING_CODES = ("D02", "R7")
_MISSING = (
    "There's no transaction matching supplied reference",
    "Could not find transaction with ",
    "Could not find disbursement transaction for given reference",
)
_TOO_ALIKE = "D07"
_PAYMENT_STATES: dict[str, PaymentState] = {
    "PAID": "successful",
    "OVERPAID": "successful",
    "PARTIALLY_PAID": "successful",
    "UNDERPAID": "successful",
    # Money that was given back did arrive.
    "REFUNDED": "successful",
    "REVERSED": "reversed",
    "FAILED": "failed",
    "EXPIRED": "failed",
    "ABANDONED": "failed",
    "CANCELLED": "failed",
}
_PAYOUT_STATES: dict[str, PayoutState] = {
    "SUCCESS": "completed",
    "COMPLETED": "completed",
    "FAILED": "failed",
    "EXPIRED": "failed",
    "REVERSED": "reversed",
}
_REFUND_STATES: dict[str, RefundState] = {
    "COMPLETED": "successful",
    "SUCCESS": "successful",
    "FAILED": "failed",
}


class _Envelope(msgspec.Struct, rename="camel"):
    request_successful: bool
    response_message: str | None = None
    response_code: str | int | None = None


class _Data(msgspec.Struct, Generic[T], rename="camel"):
    response_body: T


class _Login(msgspec.Struct, rename="camel"):
    access_token: Text
    expires_in: int


class _Begun(msgspec.Struct, rename="camel"):
    transaction_reference: Text


class _Opened(msgspec.Struct, rename="camel"):
    transaction_reference: Text
    account_number: Text
    account_name: str | None = None
    bank_name: str | None = None
    account_duration_seconds: int | None = None
    total_payable: Decimal | None = None


class _Part(msgspec.Struct, rename="camel"):
    amount_paid: Decimal | None = None
    account_name: str | None = None


class _Transaction(msgspec.Struct, rename="camel"):
    transaction_reference: Text
    payment_reference: Text
    payment_status: str
    total_payable: Decimal
    amount_paid: Decimal | None = None
    settlement_amount: Decimal | None = None
    currency: str = "NGN"
    paid_on: str | None = None
    account_payments: list[_Part] | None = None


class _Line(msgspec.Struct, rename="camel"):
    """A transaction as lists tell of it, without its parts."""

    transaction_reference: Text
    payment_reference: Text
    payment_status: str
    amount_paid: Decimal | None = None
    fee: Decimal | None = None
    currency_code: str = "NGN"
    created_on: str | int | None = None
    completed_on: str | int | None = None


class _Listing(msgspec.Struct, Generic[T]):
    content: list[T]
    last: bool = True


class _Transfer(msgspec.Struct, rename="camel"):
    reference: Text
    status: str
    amount: Decimal | None = None
    created_on: str | int | None = None
    fee: Decimal | None = None
    total_fee: Decimal | None = None
    transaction_reference: str | None = None
    transaction_description: str | None = None


class MonnifyPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, and when each of its lines began."""

    payments: Sequence[SeenPayment] = ()
    payouts: Sequence[SeenPayout] = ()
    refunds: Sequence[ListedRefund] = ()
    began: Sequence[datetime | None]
    is_last: bool

    def goes_back_to(self, since: datetime) -> bool:
        """Whether the pages that follow may have lines that began since."""
        known = [one for one in self.began if one is not None]
        is_falling = all(one >= two for one, two in pairwise(known))
        is_past = is_falling and bool(known) and known[-1] < since
        return not self.is_last and not is_past


class _Named(msgspec.Struct, rename="camel"):
    account_name: Text


class _Refund(msgspec.Struct, rename="camel"):
    refund_reference: Text
    refund_status: str
    refund_amount: Decimal = Decimal(0)
    transaction_reference: str | None = None
    created_on: str | int | None = None
    comment: str | None = None


def is_missing(said: str) -> bool:
    """Whether a refusal says that there is no such thing, and not that another is missing."""
    code, _, words = said.partition(": ")
    return code in _MISSING_CODES or words.startswith(_MISSING)


def is_too_alike(said: str) -> bool:
    """Whether a transfer was refused because one like it was sent a moment ago."""
    return said.startswith(_TOO_ALIKE)


Line = TypeVar("Line", _Line, _Transfer, _Refund)


def _words(told: _Envelope) -> str:
    return f"{told.response_code}: {told.response_message}"


def good(answer: ProviderAnswer) -> ProviderAnswer:
    """An answer whose call went well."""
    told = answer.read(_Envelope)
    if not told.request_successful:
        raise ProviderRefused(_words(told))
    return answer


def _data(answer: ProviderAnswer, kind: type[T]) -> T:
    return answer.read(_Data[kind]).response_body


def token(answer: ProviderAnswer) -> tuple[str, timedelta]:
    """The token of a login, and how long it lives."""
    told = _data(answer, _Login)
    return told.access_token, timedelta(seconds=told.expires_in)


def transaction_of(transaction_id: str | None) -> str | None:
    """The transaction that a payment belongs to."""
    return None if transaction_id is None else transaction_id.partition(PART)[0]


def opened(answer: ProviderAnswer, amount: Decimal, at: datetime) -> OpenedAccount:
    """The account of a transaction; its end is told without a zone, so its life is taken."""
    told = _data(answer, _Opened)
    if told.total_payable is not None and told.total_payable != amount:
        raise ProviderRefused("At Monnify the payer bears the fees: let the business bear them.")
    lives = told.account_duration_seconds
    return OpenedAccount(
        provider_reference=told.transaction_reference,
        account_number=told.account_number,
        bank_name=told.bank_name,
        account_name=told.account_name,
        expires_at=None if lives is None else at + timedelta(seconds=lives),
    )


def _payments(told: _Transaction) -> list[SeenPayment]:
    wanted = from_major(told.total_payable, told.currency)
    paid = from_major(told.amount_paid or Decimal(0), told.currency)
    state = _PAYMENT_STATES.get(told.payment_status, "pending")
    if not paid:
        return [_payment(told, told.transaction_reference, wanted, Decimal(0), _unpaid(state))]
    parts = told.account_payments or []
    amounts = [from_major(one.amount_paid or Decimal(0), told.currency) for one in parts]
    if not any(amounts):
        parts, amounts = [], [paid]
    elif sum(amounts) != paid or not all(amounts):
        raise NotExact("the transfers don't come to the amount paid yet")
    net = paid if told.settlement_amount is None else told.settlement_amount
    fee = min(paid, rounded_fee(max(paid - net, Decimal(0)), told.currency))
    fees = largest_remainder(fee, amounts, told.currency)
    ids = _ids(told.transaction_reference, wanted, amounts)
    return [
        _payment(told, *one, state, _name(parts, place))
        for place, one in enumerate(zip(ids, amounts, fees, strict=True))
    ]


def _line(told: _Line) -> SeenPayment:
    paid = from_major(told.amount_paid or Decimal(0), told.currency_code)
    return SeenPayment(
        reference=told.payment_reference,
        transaction_id=told.transaction_reference,
        state=_PAYMENT_STATES.get(told.payment_status, "pending"),
        amount=paid,
        fee=min(paid, rounded_fee(told.fee or Decimal(0), told.currency_code)),
        currency=told.currency_code,
        paid_at=moment(told.completed_on) or moment(told.created_on),
    )


def _listed(told: _Refund) -> ListedRefund:
    return ListedRefund(
        reference=told.refund_reference if _is_ours(told) else None,
        provider_reference=told.refund_reference,
        state=_REFUND_STATES.get(told.refund_status, "pending"),
        amount=rounded_fee(told.refund_amount, "NGN"),
        transaction_id=told.transaction_reference,
        at=moment(told.created_on),
    )


def _page(answer: ProviderAnswer, kind: type[Line]) -> tuple[Sequence[Line], MonnifyPage]:
    """The lines of a page, and when they began."""
    told = _data(answer, _Listing[kind])
    began = [moment(one.created_on) for one in told.content]
    return told.content, MonnifyPage(began=began, is_last=told.last)


def transactions(answer: ProviderAnswer) -> MonnifyPage:
    """A page of transactions; those by which money arrived, each as one payment."""
    lines, page = _page(answer, _Line)
    arrived = answer.exactly(lambda: [_line(one) for one in lines if one.amount_paid])
    return replace(page, payments=arrived)


def transfers(answer: ProviderAnswer) -> MonnifyPage:
    """A page of transfers."""
    lines, page = _page(answer, _Transfer)
    return replace(page, payouts=answer.exactly(lambda: [_payout(one) for one in lines]))


def listed_refunds(answer: ProviderAnswer) -> MonnifyPage:
    """A page of refunds, ours and others."""
    lines, page = _page(answer, _Refund)
    return replace(page, refunds=answer.exactly(lambda: [_listed(one) for one in lines]))


def _is_ours(told: _Refund) -> bool:
    return told.refund_reference.startswith(OWN_REFUND)


def _unpaid(state: PaymentState) -> PaymentState:
    return "failed" if state == "failed" else "pending"


def _ids(of: str, wanted: Decimal, amounts: Sequence[Decimal]) -> list[str]:
    """Ids by the amounts, since the order of transfers may be any: the exact one bears no part."""
    seen: Counter[Decimal] = Counter()
    ids: list[str] = []
    for amount in amounts:
        seen[amount] += 1
        again = f"/{seen[amount]}" if seen[amount] > 1 else ""
        is_exact = amount == wanted and not again
        ids.append(of if is_exact else f"{of}{PART}{amount}{again}")
    return ids


def _name(parts: Sequence[_Part], place: int) -> str | None:
    return parts[place].account_name if place < len(parts) else None


def _payment(
    told: _Transaction,
    transaction_id: str,
    amount: Decimal,
    fee: Decimal,
    state: PaymentState,
    payer: str | None = None,
) -> SeenPayment:
    return SeenPayment(
        reference=told.payment_reference,
        transaction_id=transaction_id,
        state=state,
        amount=amount,
        fee=fee,
        currency=told.currency,
        paid_at=moment(told.paid_on),
        payer_name=payer,
    )


def _refund(told: _Refund) -> SeenRefund:
    state = _REFUND_STATES.get(told.refund_status, "pending")
    return SeenRefund(
        reference=told.refund_reference,
        provider_reference=told.refund_reference,
        state=state,
        reason=(told.comment or told.refund_status) if state == "failed" else None,
    )


def _payout(told: _Transfer) -> SeenPayout:
    state = _PAYOUT_STATES.get(told.status, "processing")
    return SeenPayout(
        reference=told.reference,
        provider_reference=told.transaction_reference,
        state=state,
        fee=rounded_fee(told.fee or told.total_fee or Decimal(0), "NGN"),
        reason=_why(told, state),
        amount=None if told.amount is None else from_major(told.amount, "NGN"),
        at=moment(told.created_on),
    )


def _why(told: _Transfer, state: PayoutState) -> str | None:
    if told.status in ("PENDING_AUTHORIZATION", "OTP_EMAIL_DISPATCH_FAILED"):
        return "Monnify waits for a one-time password: have it switched off for transfers."
    if state in ("failed", "reversed"):
        return told.transaction_description or told.status
    return None


words = words_of(_Envelope, _words)
transaction = one(_Begun, lambda told: told.transaction_reference, _data)
"""Monnify's reference of a transaction."""
payments = one(_Transaction, _payments, _data)
"""The transfers to the account of a transaction, each with an id that stays."""
refund = one(_Refund, _refund, _data)
payout = one(_Transfer, _payout, _data)
banks = one(list[Bank], list, _data)
account_name = one(_Named, lambda told: told.account_name, _data)
