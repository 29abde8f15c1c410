"""Stripe's answers: objects, with what was asked to be expanded in them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

import msgspec

from tillhouse.kit.money import round_money
from tillhouse.providers.payments.calling import Answer
from tillhouse.providers.payments.exponents import NotExact, from_units
from tillhouse.providers.payments.provider import (
    ListedRefund,
    OpenedAccount,
    PaymentState,
    RefundState,
    SeenPayment,
    SeenRefund,
    Unknown,
)

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Moment = Annotated[int, msgspec.Meta(ge=0, lt=10**11)]

_PAYMENT_STATES: dict[str, PaymentState] = {"succeeded": "successful", "canceled": "failed"}
_REFUND_STATES: dict[str, RefundState] = {
    "succeeded": "successful",
    "failed": "failed",
    "canceled": "failed",
}


class _Error(msgspec.Struct):
    message: str = ""
    code: str | None = None
    type: str | None = None


class _Refusal(msgspec.Struct):
    error: _Error


class _Marked(msgspec.Struct):
    reference: str | None = None


class _Opened(msgspec.Struct):
    id: Text
    url: Text
    expires_at: Moment


class _Balance(msgspec.Struct):
    amount: Decimal
    fee: Decimal


class _Billed(msgspec.Struct):
    name: str | None = None


class _Charge(msgspec.Struct):
    created: Moment
    refunded: bool = False
    disputed: bool = False
    balance_transaction: _Balance | str | None = None
    billing_details: _Billed | None = None


class _Intent(msgspec.Struct):
    id: Text
    status: str
    amount: Decimal
    currency: Text
    amount_received: Decimal = Decimal(0)
    metadata: _Marked | None = None
    latest_charge: _Charge | str | None = None


class _Page(msgspec.Struct):
    payment_intent: _Intent | None = None


class _Intents(msgspec.Struct):
    data: list[_Intent]
    has_more: bool = False


class _Refund(msgspec.Struct):
    id: Text
    status: str
    amount: Decimal
    currency: str = "usd"
    payment_intent: str | None = None
    metadata: _Marked | None = None
    failure_reason: str | None = None


class _Refunds(msgspec.Struct):
    data: list[_Refund]
    has_more: bool = False


class _Dispute(msgspec.Struct):
    status: str


class _Disputes(msgspec.Struct):
    data: list[_Dispute]


class Payment(msgspec.Struct, frozen=True):
    """A payment, and whether money of it went back."""

    seen: SeenPayment
    is_disputed: bool
    is_refunded: bool

    def reversed(self) -> SeenPayment:
        """The same payment, which was taken back."""
        return msgspec.structs.replace(self.seen, state="reversed")


def words(body: bytes) -> str | None:
    """Stripe's own words in a refusal; None when it is somebody else's."""
    try:
        error = msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return f"{error.code or error.type}: {error.message}"


def opened(answer: Answer) -> OpenedAccount:
    """A page to pay on."""
    told = answer.read(_Opened)
    ends = datetime.fromtimestamp(told.expires_at, UTC)
    return OpenedAccount(provider_reference=told.id, url=told.url, expires_at=ends)


def payment(answer: Answer) -> Payment:
    """The payment of an intent."""
    told = answer.read(_Intent)
    return answer.exactly(lambda: _payment(told))


def payments_of_page(answer: Answer) -> Sequence[Payment]:
    """The payment of a page: none before somebody tries to pay."""
    told = answer.read(_Page).payment_intent
    return [] if told is None else [answer.exactly(lambda: _payment(told))]


def payments(answer: Answer) -> Sequence[Payment]:
    """The payments that a search found."""
    told = answer.read(_Intents).data
    return answer.exactly(lambda: [_payment(one) for one in told])


def statement(answer: Answer) -> tuple[Sequence[Payment], str | None]:
    """The payments of a page that arrived, and where the next page begins."""
    told = answer.read(_Intents)
    arrived = [one for one in told.data if one.status == "succeeded"]
    following = told.data[-1].id if told.has_more and told.data else None
    return answer.exactly(lambda: [_payment(one) for one in arrived]), following


def _payment(told: _Intent) -> Payment:
    currency = told.currency.upper()
    state = _PAYMENT_STATES.get(told.status, "pending")
    units = told.amount_received if state == "successful" else told.amount
    amount = from_units("stripe", units, currency)
    charge = told.latest_charge if isinstance(told.latest_charge, _Charge) else None
    seen = SeenPayment(
        reference=told.metadata.reference if told.metadata is not None else None,
        transaction_id=told.id,
        state=state,
        amount=amount,
        fee=_fee(amount, currency, charge),
        currency=currency,
        paid_at=datetime.fromtimestamp(charge.created, UTC) if charge is not None else None,
        payer_name=charge.billing_details.name if charge and charge.billing_details else None,
    )
    if charge is None:
        return Payment(seen, is_disputed=False, is_refunded=False)
    return Payment(seen, is_disputed=charge.disputed, is_refunded=charge.refunded)


def _fee(amount: Decimal, currency: str, charge: _Charge | None) -> Decimal:
    """The fee, by its part of the settled amount, which may be in another currency."""
    settled = charge.balance_transaction if charge is not None else None
    if not isinstance(settled, _Balance):
        return Decimal(0)
    is_sane = settled.amount.is_finite() and settled.fee.is_finite()
    if not is_sane or not 0 <= settled.fee <= settled.amount < 10**15 or not settled.amount:
        raise NotExact(f"{settled.fee} of {settled.amount} is no fee")
    return round_money(amount * settled.fee / settled.amount, currency)


def is_lost(answer: Answer) -> bool:
    """Whether a dispute was lost."""
    return any(one.status == "lost" for one in answer.read(_Disputes).data)


def given_back(answer: Answer, currency: str) -> Decimal:
    """The sum of our refunds that didn't fail."""
    told = answer.read(_Refunds).data
    ours = [one.amount for one in told if _is_ours(one) and _state(one) != "failed"]
    return answer.exactly(
        lambda: sum((from_units("stripe", one, currency) for one in ours), Decimal(0))
    )


def listed_refunds(answer: Answer) -> tuple[Sequence[ListedRefund], str | None]:
    """A page of refunds, whoever made them, and where the next page begins."""
    told = answer.read(_Refunds)
    following = told.data[-1].id if told.has_more and told.data else None
    return answer.exactly(lambda: [_listed(one) for one in told.data]), following


def _listed(told: _Refund) -> ListedRefund:
    return ListedRefund(
        reference=told.metadata.reference if told.metadata is not None else None,
        provider_reference=told.id,
        state=_state(told),
        amount=from_units("stripe", told.amount, told.currency.upper()),
        transaction_id=told.payment_intent,
    )


def refund(answer: Answer) -> SeenRefund:
    """One refund; unknown when it isn't ours."""
    return _refund(answer.read(_Refund))


def refund_among(answer: Answer, reference: str) -> SeenRefund:
    """The refund of this reference among others."""
    for told in answer.read(_Refunds).data:
        if told.metadata is not None and told.metadata.reference == reference:
            return _refund(told)
    raise Unknown(f"no refund of {reference}")


def _is_ours(told: _Refund) -> bool:
    return told.metadata is not None and told.metadata.reference is not None


def _state(told: _Refund) -> RefundState:
    return _REFUND_STATES.get(told.status, "pending")


def _refund(told: _Refund) -> SeenRefund:
    if told.metadata is None or told.metadata.reference is None:
        raise Unknown(f"refund {told.id} is not ours")
    state = _state(told)
    return SeenRefund(
        reference=told.metadata.reference,
        provider_reference=told.id,
        state=state,
        reason=(told.failure_reason or told.status) if state == "failed" else None,
    )
