"""Stripe's answers: objects, with their expanded members."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Generic, TypeVar

import msgspec

from tillhouse.kit.money import round_money
from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.envelope import Text, one, words_of
from tillhouse.providers.payments.exponents import NotExact, fee_from_units, from_units
from tillhouse.providers.payments.provider import (
    OWN_REFUND,
    DisputeState,
    ListedRefund,
    OpenedAccount,
    PaymentState,
    RefundState,
    SeenDispute,
    SeenPayment,
    SeenRefund,
    Unknown,
)

S = TypeVar("S")
Moment = Annotated[int, msgspec.Meta(ge=0, lt=10**11)]

_PAYMENT_STATES: dict[str, PaymentState] = {"succeeded": "successful", "canceled": "failed"}
_REFUND_STATES: dict[str, RefundState] = {
    "succeeded": "successful",
    "failed": "failed",
    "canceled": "failed",
}
_DISPUTE_STATES: dict[str, DisputeState] = {
    "needs_response": "evidence_due",
    "warning_needs_response": "evidence_due",
    "won": "won",
    "warning_closed": "won",
    "lost": "lost",
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
    currency: str | None = None


class _Billed(msgspec.Struct):
    name: str | None = None


class _Charge(msgspec.Struct):
    created: Moment
    amount_refunded: Decimal = Decimal(0)
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


class _Refund(msgspec.Struct):
    id: Text
    status: str
    amount: Decimal
    currency: str = "usd"
    payment_intent: str | None = None
    created: Moment | None = None
    metadata: _Marked | None = None
    failure_reason: str | None = None
    balance_transaction: _Balance | str | None = None


class _Evidence(msgspec.Struct):
    due_by: Moment | None = None


class _Adjustment(msgspec.Struct):
    amount: Decimal
    currency: str
    fee: Decimal = Decimal(0)


class _Dispute(msgspec.Struct):
    id: Text
    status: str
    amount: Decimal
    currency: Text
    created: Moment
    reason: str | None = None
    payment_intent: str | None = None
    evidence_details: _Evidence | None = None
    # The movements of the balance: money that left for it, and that came back.
    balance_transactions: list[_Adjustment] = []


Line = TypeVar("Line", _Intent, _Refund, _Dispute)


class _List(msgspec.Struct, Generic[Line]):
    data: list[Line]
    has_more: bool = False

    @property
    def following(self) -> str | None:
        """Where the next page begins."""
        return self.data[-1].id if self.has_more and self.data else None


class StripePayment(msgspec.Struct, frozen=True):
    """A payment, and whether its disputes and refunds are to be looked at."""

    seen: SeenPayment
    is_disputed: bool
    has_refunds: bool


def _words(told: _Refusal) -> str:
    return f"{told.error.code or told.error.type}: {told.error.message}"


def opened(answer: ProviderAnswer) -> OpenedAccount:
    """A page to pay on."""
    told = answer.read(_Opened)
    ends = datetime.fromtimestamp(told.expires_at, UTC)
    return OpenedAccount(provider_reference=told.id, url=told.url, expires_at=ends)


def payments_of_page(answer: ProviderAnswer) -> Sequence[StripePayment]:
    """The payment of a page: none before somebody tries to pay."""
    told = answer.read(_Page).payment_intent
    return [] if told is None else [answer.exactly(lambda: _payment(told))]


def _payment(told: _Intent) -> StripePayment:
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
        return StripePayment(seen, is_disputed=False, has_refunds=False)
    has_refunds = charge.refunded or charge.amount_refunded > 0
    known = seen if has_refunds else msgspec.structs.replace(seen, returned=Decimal(0))
    return StripePayment(known, is_disputed=charge.disputed, has_refunds=has_refunds)


def _fee(amount: Decimal, currency: str, charge: _Charge | None) -> Decimal:
    """The fee, by its part of the settled amount, which may be in another currency."""
    settled = charge.balance_transaction if charge is not None else None
    if not isinstance(settled, _Balance):
        return Decimal(0)
    is_sane = settled.amount.is_finite() and settled.fee.is_finite()
    if not is_sane or not 0 <= settled.fee <= settled.amount < 10**15 or not settled.amount:
        raise NotExact(f"{settled.fee} of {settled.amount} is no fee")
    return round_money(amount * settled.fee / settled.amount, currency)


def _dispute(told: _Dispute) -> SeenDispute:
    currency = told.currency.upper()
    amount = from_units("stripe", told.amount, currency)
    taken, fee = _taken(told, amount, currency)
    due = told.evidence_details.due_by if told.evidence_details is not None else None
    return SeenDispute(
        provider_reference=told.id,
        state=_DISPUTE_STATES.get(told.status, "opened"),
        amount=amount,
        currency=currency,
        taken=taken,
        fee=fee,
        transaction_id=told.payment_intent,
        reason=told.reason,
        evidence_by=None if due is None else datetime.fromtimestamp(due, UTC),
        opened_at=datetime.fromtimestamp(told.created, UTC),
    )


def _taken(told: _Dispute, amount: Decimal, currency: str) -> tuple[Decimal, Decimal]:
    """The part of the amount that is gone, and the fee; both may be settled otherwise."""
    moved = told.balance_transactions
    if not all(one.amount.is_finite() and one.fee.is_finite() for one in moved):
        raise NotExact("a dispute has moved what is no amount")
    gone = -sum((one.amount for one in moved), Decimal(0))
    most = max((-one.amount for one in moved), default=Decimal(0))
    fee = sum((one.fee for one in moved), Decimal(0))
    if most <= 0:
        return Decimal(0), Decimal(0)
    part = max(Decimal(0), min(gone / most, Decimal(1)))
    if all(one.currency == told.currency for one in moved):
        units = fee_from_units("stripe", max(fee, Decimal(0)), currency)
        return round_money(amount * part, currency), units
    of_fee = max(Decimal(0), fee / most)
    if of_fee >= 10**6:
        raise NotExact(f"{fee} of {most} is no fee")
    return round_money(amount * part, currency), round_money(amount * of_fee, currency)


def with_refunds(pages: Sequence[ProviderAnswer], seen: SeenPayment) -> SeenPayment:
    """A payment with the sum of refunds that aren't ours and didn't fail, and fees that came."""
    told = [one for page in pages for one in page.read(_List[_Refund]).data]
    gone = [one for one in told if not _is_ours(one) and _state(one) != "failed"]
    return pages[-1].exactly(lambda: _with_refunds(gone, seen))


def _with_refunds(gone: Sequence[_Refund], seen: SeenPayment) -> SeenPayment:
    amounts = [from_units("stripe", one.amount, seen.currency) for one in gone]
    fee = sum((_fee_back(one, seen.currency) for one in gone), Decimal(0))
    returned = sum(amounts, Decimal(0))
    return msgspec.structs.replace(seen, returned=returned, returned_fee=min(fee, seen.fee))


def _fee_back(told: _Refund, currency: str) -> Decimal:
    """The part of the fee that came back: Stripe keeps it, but for accounts of long ago."""
    settled = told.balance_transaction
    if not isinstance(settled, _Balance) or settled.currency != told.currency:
        return Decimal(0)
    return fee_from_units("stripe", max(-settled.fee, Decimal(0)), currency)


def _listed(told: _Refund) -> ListedRefund:
    return ListedRefund(
        reference=told.metadata.reference if told.metadata is not None else None,
        provider_reference=told.id,
        state=_state(told),
        amount=from_units("stripe", told.amount, told.currency.upper()),
        transaction_id=told.payment_intent,
        at=None if told.created is None else datetime.fromtimestamp(told.created, UTC),
    )


def refund_among(answer: ProviderAnswer, reference: str) -> SeenRefund | None:
    """The refund of this reference among others."""
    for told in answer.read(_List[_Refund]).data:
        if told.metadata is not None and told.metadata.reference == reference:
            return _refund(told)
    return None


def following_refund(answer: ProviderAnswer) -> str | None:
    """Where the page after this one begins, if there is one."""
    return answer.read(_List[_Refund]).following


def _is_ours(told: _Refund) -> bool:
    reference = told.metadata.reference if told.metadata is not None else None
    return (reference or "").startswith(OWN_REFUND)


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


def _list(
    kind: type[Line], convert: Callable[[Line], S], fits: Callable[[Line], bool] = lambda _: True
) -> Callable[[ProviderAnswer], tuple[Sequence[S], str | None]]:
    """A reader of pages: those lines that fit, and where the next page begins."""
    return one(
        _List[kind],
        lambda told: ([convert(line) for line in told.data if fits(line)], told.following),
        ProviderAnswer.read,
    )


words = words_of(_Refusal, _words)
payment = one(_Intent, _payment, ProviderAnswer.read)
payments = _list(_Intent, _payment)
statement = _list(_Intent, _payment, lambda told: told.status == "succeeded")
"""The payments of a page that arrived."""
disputes = _list(_Dispute, _dispute)
listed_refunds = _list(_Refund, _listed)
refund = one(_Refund, _refund, ProviderAnswer.read)
"""One refund; unknown when it isn't ours."""
