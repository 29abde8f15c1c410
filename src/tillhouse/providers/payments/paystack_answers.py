"""Paystack's answers: `status` tells of the call, `data.status` of its subject."""

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.envelope import Text, data, each, moment, one, words_of
from tillhouse.providers.payments.exponents import fee_from_units, from_units
from tillhouse.providers.payments.provider import (
    OWN_REFUND,
    Bank,
    DisputeState,
    ListedRefund,
    OpenedAccount,
    PaymentState,
    PayoutState,
    ProviderRefused,
    RefundState,
    SeenDispute,
    SeenPayment,
    SeenPayout,
    SeenRefund,
    Unknown,
)

# Refunds of ours bear our reference in their note, after this.
_MARK = "tillhouse:"
_PAYMENT_STATES: dict[str, PaymentState] = {
    "success": "successful",
    "failed": "failed",
    "abandoned": "failed",
    "reversed": "reversed",
}
_PAYOUT_STATES: dict[str, PayoutState] = {
    "success": "completed",
    "failed": "failed",
    "abandoned": "failed",
    "blocked": "failed",
    "rejected": "failed",
    "reversed": "reversed",
}
_REFUND_STATES: dict[str, RefundState] = {"processed": "successful", "failed": "failed"}


class _Envelope(msgspec.Struct):
    status: bool
    message: str = ""
    code: str | None = None


class _Bank(msgspec.Struct):
    name: str


class _Opened(msgspec.Struct):
    reference: Text
    account_number: Text
    account_name: str | None = None
    bank: _Bank | None = None
    account_expires_at: str | None = None


class _Authorization(msgspec.Struct):
    sender_name: str | None = None
    receiver_bank_account_number: str | None = None


class _Transaction(msgspec.Struct):
    id: int
    status: str
    reference: Text
    amount: Decimal
    currency: str
    requested_amount: Decimal | None = None
    fees: Decimal | None = None
    paid_at: str | None = None
    authorization: _Authorization | None = None


class _Transfer(msgspec.Struct, rename={"created_at": "createdAt"}):
    status: str
    reference: Text
    transfer_code: str | None = None
    currency: str = "NGN"
    amount: Decimal | None = None
    fee_charged: Decimal | None = None
    gateway_response: str | None = None
    created_at: str | None = None


class _PaidTransaction(msgspec.Struct):
    id: int


class _Refund(msgspec.Struct, rename={"created_at": "createdAt"}):
    id: int
    status: str
    created_at: str | None = None
    amount: Decimal = Decimal(0)
    currency: str = "NGN"
    merchant_note: str | None = None
    # The payment's id; the answer to a new refund has the whole payment.
    transaction: int | _PaidTransaction | None = None
    # It was made for a dispute that was lost.
    dispute: int | str | _PaidTransaction | None = None


class _Disputed(msgspec.Struct):
    id: int
    amount: Decimal
    currency: str = "NGN"


class _Dispute(msgspec.Struct, rename={
    "due_at": "dueAt", "due_at_of_hooks": "due_at", "created_at": "createdAt",
    "resolved_at": "resolvedAt",
}):  # fmt: skip
    id: int
    status: str
    transaction: _Disputed
    refund_amount: Decimal | None = None
    currency: str | None = None
    resolution: str | None = None
    category: str | None = None
    due_at: str | None = None
    due_at_of_hooks: str | None = None
    created_at: str | None = None
    resolved_at: str | None = None


class _Recipient(msgspec.Struct):
    recipient_code: Text


class _Meta(msgspec.Struct):
    next: str | None = None


class _Pages(msgspec.Struct, rename={"page_count": "pageCount"}):
    page_count: int


class _Listing(msgspec.Struct):
    meta: _Pages


class _Banks(msgspec.Struct):
    data: list[Bank]
    meta: _Meta | None = None


def _words(told: _Envelope) -> str:
    return f"{told.code}: {told.message}" if told.code else told.message


def good(answer: ProviderAnswer) -> ProviderAnswer:
    """An answer whose call went well."""
    told = answer.read(_Envelope)
    if not told.status:
        raise ProviderRefused(told.message)
    return answer


def opened(answer: ProviderAnswer) -> OpenedAccount:
    """The account of a charge by transfer."""
    told = data(answer, _Opened)
    return OpenedAccount(
        provider_reference=told.reference,
        account_number=told.account_number,
        bank_name=told.bank.name if told.bank is not None else None,
        account_name=told.account_name,
        expires_at=moment(told.account_expires_at),
    )


def _payment(told: _Transaction) -> SeenPayment:
    """A transaction, without the fees that its payer bore on top."""
    amount = from_units("paystack", told.amount, told.currency)
    asked = from_units("paystack", told.requested_amount or told.amount, told.currency)
    fees = fee_from_units("paystack", told.fees or Decimal(0), told.currency)
    on_top = amount - asked if 0 < amount - asked <= fees else Decimal(0)
    paid = amount - on_top
    return SeenPayment(
        reference=told.reference,
        transaction_id=str(told.id),
        state=_PAYMENT_STATES.get(told.status, "pending"),
        amount=paid,
        fee=min(paid, fees - on_top),
        currency=told.currency,
        paid_at=moment(told.paid_at),
        payer_name=told.authorization.sender_name if told.authorization else None,
        account_number=(
            told.authorization.receiver_bank_account_number if told.authorization else None
        ),
    )


def has_more(answer: ProviderAnswer, page: int) -> bool:
    """Whether another page follows this one."""
    return page < answer.read(_Listing).meta.page_count


def _dispute(told: _Dispute) -> SeenDispute:
    currency = told.currency or told.transaction.currency
    whole = told.transaction.amount
    given = whole if told.refund_amount is None else told.refund_amount
    # Nothing is given back of one that was declined: the payment was disputed all the same.
    amount = from_units("paystack", given or whole, currency)
    state: DisputeState = "opened"
    if told.status == "awaiting-merchant-feedback":
        state = "evidence_due"
    elif told.status == "resolved":
        state = "won" if told.resolution == "declined" else "lost"
    return SeenDispute(
        provider_reference=str(told.id),
        state=state,
        amount=amount,
        currency=currency,
        # Money leaves when it is lost; Paystack tells of no fee.
        taken=from_units("paystack", given, currency) if state == "lost" else Decimal(0),
        transaction_id=str(told.transaction.id),
        reason=told.category,
        evidence_by=moment(told.due_at or told.due_at_of_hooks),
        opened_at=moment(told.created_at),
        closed_at=moment(told.resolved_at),
    )


def note(reference: str) -> str:
    """The note of a refund of ours."""
    return f"{_MARK}{reference}"


def refund(answer: ProviderAnswer, reference: str | None) -> SeenRefund:
    """One refund; unknown when it isn't ours."""
    return _refund(data(answer, _Refund), reference)


def refund_among(answer: ProviderAnswer, reference: str) -> SeenRefund | None:
    """The refund of this reference among others."""
    for told in data(answer, list[_Refund]):
        if told.merchant_note == note(reference):
            return _refund(told, reference)
    return None


def refunded(answer: ProviderAnswer, payment: SeenPayment) -> tuple[Decimal, Decimal]:
    """The sums of a payment's refunds that didn't fail: ours, and others' without a dispute.

    The filter of the list has had two names: where it isn't heeded, others are told as well.
    """
    of_payment = (None, payment.transaction_id)
    told = [one for one in data(answer, list[_Refund]) if _paid_by(one) in of_payment]
    there = [one for one in told if one.status != "failed"]
    return answer.exactly(lambda: _refunded(there, payment.currency))


def _refunded(there: Sequence[_Refund], currency: str) -> tuple[Decimal, Decimal]:
    ours = others = Decimal(0)
    for line in there:
        amount = from_units("paystack", line.amount, currency)
        if _is_ours(line):
            ours += amount
        elif not line.dispute:
            others += amount
    return ours, others


def _paid_by(told: _Refund) -> str | None:
    """The name of the payment that it gives back."""
    of = told.transaction.id if isinstance(told.transaction, _PaidTransaction) else told.transaction
    return None if of is None else str(of)


def _listed(told: _Refund) -> ListedRefund:
    return ListedRefund(
        reference=(told.merchant_note or "").removeprefix(_MARK) if _is_ours(told) else None,
        provider_reference=str(told.id),
        state=_REFUND_STATES.get(told.status, "pending"),
        amount=from_units("paystack", told.amount, told.currency),
        transaction_id=_paid_by(told),
        at=moment(told.created_at),
    )


def _is_ours(told: _Refund) -> bool:
    return (told.merchant_note or "").startswith(_MARK + OWN_REFUND)


def _refund(told: _Refund, reference: str | None) -> SeenRefund:
    if reference is None and not _is_ours(told):
        raise Unknown(f"refund {told.id} is not ours")
    state = _REFUND_STATES.get(told.status, "pending")
    return SeenRefund(
        reference=reference or (told.merchant_note or "").removeprefix(_MARK),
        provider_reference=str(told.id),
        state=state,
        reason=told.status if told.status in ("failed", "needs-attention") else None,
    )


def _payout(told: _Transfer) -> SeenPayout:
    state = _PAYOUT_STATES.get(told.status, "processing")
    amount = told.amount
    return SeenPayout(
        reference=told.reference,
        provider_reference=told.transfer_code,
        state=state,
        fee=fee_from_units("paystack", told.fee_charged or Decimal(0), told.currency),
        reason=_why(told, state),
        amount=None if amount is None else from_units("paystack", amount, told.currency),
        at=moment(told.created_at),
    )


def _why(told: _Transfer, state: PayoutState) -> str | None:
    if told.status == "otp":
        return "Paystack waits for a one-time password: switch it off for transfers."
    if state in ("failed", "reversed"):
        return told.gateway_response or told.status
    return None


def banks(answer: ProviderAnswer) -> tuple[Sequence[Bank], str | None]:
    """A page of banks, and where the next begins."""
    told = answer.read(_Banks)
    return told.data, told.meta.next if told.meta else None


words = words_of(_Envelope, _words)
payment = one(_Transaction, _payment)
payments = each(_Transaction, _payment, lambda told: told.status in ("success", "reversed"))
"""The transactions of a page by which money arrived, or went back since."""
disputes = each(_Dispute, _dispute)
listed_refunds = each(_Refund, _listed, lambda told: not told.dispute)
"""A page of refunds, ours and others, but for those of disputes."""
payout = one(_Transfer, _payout)
payouts = each(_Transfer, _payout)
recipient = one(_Recipient, lambda told: told.recipient_code)
