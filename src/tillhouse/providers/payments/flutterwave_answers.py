"""Flutterwave's answers: `status` tells of the call, `data.status` of its subject."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec

from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.envelope import Text, data, each, moment, one, words_of
from tillhouse.providers.payments.exponents import from_major, rounded_fee
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

# Refunds of ours bear our reference in their comment, after this.
_MARK = "tillhouse:"
_COMMENT_LENGTH_MAX = 200
# Refunds are told without theirs.
_CURRENCY = "NGN"
_MISSING = "No transaction was found for this id"
_PAYMENT_STATES: dict[str, PaymentState] = {
    "successful": "successful",
    "failed": "failed",
    "cancelled": "failed",
}
_PAYOUT_STATES: dict[str, PayoutState] = {"successful": "completed", "failed": "failed"}
# A chargeback that was declined is argued about by the banks.
_DISPUTE_STATES: dict[str, DisputeState] = {
    "initiated": "evidence_due",
    "accepted": "lost",
    "lost": "lost",
    "won": "won",
}


class _Envelope(msgspec.Struct):
    status: str
    message: str | None = None


class _Pages(msgspec.Struct):
    total_pages: int = 1


class _Meta(msgspec.Struct):
    page_info: _Pages | None = None


class _Authorization(msgspec.Struct):
    transfer_reference: Text
    transfer_account: Text
    transfer_bank: str | None = None


class _Charged(msgspec.Struct):
    authorization: _Authorization


class _Charge(msgspec.Struct):
    meta: _Charged


class _Sender(msgspec.Struct):
    originatorname: str | None = None


class _Transaction(msgspec.Struct):
    # A number, or a text in lists.
    id: int | str
    tx_ref: Text
    status: str
    amount: Decimal
    currency: str
    charged_amount: Decimal | None = None
    app_fee: Decimal | None = None
    created_at: str | None = None
    # An object, null, or a list, as the payer's way wants it.
    meta: msgspec.Raw = msgspec.Raw(b"null")


class _Transfer(msgspec.Struct):
    id: int
    status: str
    reference: Text
    currency: str = "NGN"
    amount: Decimal | None = None
    fee: Decimal | None = None
    complete_message: str | None = None
    created_at: str | None = None


class FlutterwaveRefund(msgspec.Struct):
    """A refund, which says by its comment whether it is ours."""

    id: int
    status: str
    tx_id: int | str | None = None
    amount_refunded: Decimal = Decimal(0)
    created_at: str | None = None
    comments: str | None = None
    comment: str | None = None

    @property
    def reference(self) -> str | None:
        """Our reference, if it is ours."""
        said = (self.comments or self.comment or "").partition(" ")[0]
        return said.removeprefix(_MARK) if said.startswith(_MARK + OWN_REFUND) else None

    def may_be(self, amount: object) -> bool:
        """Whether it may be one that we asked for, since it has no comment at all."""
        is_mute = self.comments is None and self.comment is None
        return is_mute and self.amount_refunded == amount

    def seen(self, reference: str | None) -> SeenRefund:
        """The refund as it is now; unknown when it isn't ours."""
        ours = reference or self.reference
        if ours is None:
            raise Unknown(f"refund {self.id} is not ours")
        state = _refund_state(self.status)
        return SeenRefund(
            reference=ours,
            provider_reference=str(self.id),
            state=state,
            reason=self.status if state == "failed" else None,
        )


class _Event(msgspec.Struct):
    # The balance that it was debited from; none where nothing moved.
    source: str | None = None


class _Events(msgspec.Struct):
    history: list[_Event] = []


class _Chargeback(msgspec.Struct):
    id: int
    amount: Decimal
    status: str
    transaction_id: int | str
    stage: str | None = None
    comment: str | None = None
    currency: str = "NGN"
    due_date: str | None = None
    created_at: str | None = None
    meta: _Events | None = None

    @property
    def is_held(self) -> bool:
        """Whether its amount was debited from a balance when it was raised."""
        events = self.meta.history if self.meta is not None else []
        return any("balance" in (one.source or "") for one in events)


class _Listing(msgspec.Struct):
    meta: _Meta | None = None


def is_missing(said: str) -> bool:
    """Whether a refusal says that there is no such payment; no code does."""
    return said == _MISSING


def good(answer: ProviderAnswer) -> ProviderAnswer:
    """An answer whose call went well."""
    told = answer.read(_Envelope)
    if told.status != "success":
        raise ProviderRefused(told.message or told.status)
    return answer


def opened(answer: ProviderAnswer, ends: datetime) -> OpenedAccount:
    """The account of a charge; its end is told in several forms, so ours is taken."""
    told = answer.read(_Charge).meta.authorization
    return OpenedAccount(
        provider_reference=told.transfer_reference,
        account_number=told.transfer_account,
        bank_name=told.transfer_bank,
        expires_at=ends,
    )


def page_count(answer: ProviderAnswer) -> int:
    """How many pages a list has."""
    meta = answer.read(_Listing).meta
    return meta.page_info.total_pages if meta is not None and meta.page_info is not None else 1


def _payment(told: _Transaction) -> SeenPayment:
    amount = from_major(told.amount, told.currency)
    fees = rounded_fee(told.app_fee or Decimal(0), told.currency)
    # Fees that the payer bears are charged on top, as fine as they are.
    charged = rounded_fee(told.charged_amount or told.amount, told.currency)
    on_top = min(fees, max(charged - amount, Decimal(0)))
    return SeenPayment(
        reference=told.tx_ref,
        transaction_id=str(told.id),
        state=_PAYMENT_STATES.get(told.status, "pending"),
        amount=amount,
        fee=min(amount, fees - on_top),
        currency=told.currency,
        paid_at=moment(told.created_at),
        payer_name=_payer(told.meta),
    )


def _payer(meta: msgspec.Raw) -> str | None:
    try:
        return msgspec.json.decode(meta, type=_Sender).originatorname
    except msgspec.DecodeError:
        return None


def comment(reference: str, reason: str) -> str:
    """The comment of a refund of ours."""
    return f"{_MARK}{reference} {reason}"[:_COMMENT_LENGTH_MAX]


def refund(answer: ProviderAnswer) -> FlutterwaveRefund:
    """One refund."""
    return data(answer, FlutterwaveRefund)


def listed_refunds(answer: ProviderAnswer) -> list[ListedRefund]:
    """A page of refunds, ours and others."""
    return [
        ListedRefund(
            reference=one.reference,
            provider_reference=str(one.id),
            state=_refund_state(one.status),
            amount=one.amount_refunded,
            transaction_id=None if one.tx_id is None else str(one.tx_id),
            at=moment(one.created_at),
        )
        for one in refunds(answer)
    ]


def not_ours(refunds: Sequence[FlutterwaveRefund]) -> Decimal:
    """The sum of those that aren't ours, and that didn't fail."""
    there = [one for one in refunds if one.reference is None]
    amounts = [one.amount_refunded for one in there if _refund_state(one.status) != "failed"]
    return sum(amounts, Decimal(0))


def _dispute(told: _Chargeback) -> SeenDispute:
    amount = from_major(told.amount, told.currency)
    state = _DISPUTE_STATES.get(told.status.lower(), "opened")
    is_gone = state == "lost" or (state != "won" and told.is_held)
    return SeenDispute(
        provider_reference=str(told.id),
        state=state,
        amount=amount,
        currency=told.currency,
        # Its history says whether it is held meanwhile; Flutterwave tells of no fee.
        taken=amount if is_gone else Decimal(0),
        transaction_id=str(told.transaction_id),
        reason=told.comment or told.stage,
        evidence_by=moment(told.due_date),
        opened_at=moment(told.created_at),
    )


def _refund_state(status: str) -> RefundState:
    # Completed has several forms, such as completed-bank-transfer.
    if status.startswith("completed"):
        return "successful"
    return "failed" if status in ("failed", "cancelled", "declined") else "pending"


def payout_among(answer: ProviderAnswer, reference: str) -> SeenPayout | None:
    """The transfer of this reference among others."""
    for found in each(_Transfer, _payout, lambda told: told.reference == reference)(answer):
        return found
    return None


def _payout(told: _Transfer) -> SeenPayout:
    state = _PAYOUT_STATES.get(told.status.lower(), "processing")
    return SeenPayout(
        reference=told.reference,
        provider_reference=str(told.id),
        state=state,
        fee=rounded_fee(told.fee or Decimal(0), told.currency),
        reason=(told.complete_message or told.status) if state == "failed" else None,
        amount=None if told.amount is None else from_major(told.amount, told.currency),
        at=moment(told.created_at),
    )


def banks(answer: ProviderAnswer) -> Sequence[Bank]:
    """The banks of a country."""
    return data(answer, list[Bank])


def payments(answer: ProviderAnswer, reference: str) -> Sequence[SeenPayment]:
    """All transactions of a reference."""
    return each(_Transaction, _payment, lambda told: told.tx_ref == reference)(answer)


def _rounded(told: FlutterwaveRefund) -> FlutterwaveRefund:
    amount = rounded_fee(told.amount_refunded, _CURRENCY)
    return msgspec.structs.replace(told, amount_refunded=amount)


refunds = each(FlutterwaveRefund, _rounded)
"""A page of refunds, to the smallest unit."""
words = words_of(_Envelope, lambda told: told.message or "refused")
payment = one(_Transaction, _payment)
arrived = each(_Transaction, _payment, lambda told: told.status == "successful")
chargebacks = each(_Chargeback, _dispute)
payout = one(_Transfer, _payout)
payouts = each(_Transfer, _payout)
