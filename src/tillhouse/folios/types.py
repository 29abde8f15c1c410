"""Requests and answers of the routes of folios, audits and the settings of a hotel."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.hotel.reservations.types import ReservationStatus
from tillhouse.hotel.values import DayShown, HotelText
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged
from tillhouse.kit.text import Coded
from tillhouse.orders.money_types import DisputeShown, PaymentState
from tillhouse.orders.payments.types import PaymentReference, ReceivedAmount
from tillhouse.orders.types import PaymentMethod, Person, Reason, Status

FolioMethod = Literal["cash", "transfer", "pos", "card", "other"]
FolioRefundMethod = Literal["cash", "transfer", "pos", "card", "cloove_pay", "other"]
FolioPaymentKind = Literal["payment", "refund", "reversal"]
NoShowPolicy = Literal["keep", "release"]


class TimeOfDay(
    Coded,
    pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$",
    wrong="must be a time of day such as 14:00",
    example="14:00",
):
    """A time of day, by the clock of the business."""


class AuditTime(
    Coded,
    pattern=r"^(?:0[0-9]|1[01]):[0-5][0-9]$",
    wrong="must be a time from 00:00 to 11:59: the night before is over then",
    example="03:00",
):
    """A time in the morning, by the clock of the business."""


class NewFolioPayment(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Money that came in for a stay."""

    amount: ReceivedAmount
    """The amount that came in just now. The part that no order of the stay needs
    yet is kept for it."""
    method: FolioMethod
    """How it was paid."""
    reference: PaymentReference | None = None
    """The reference of the payment, such as the number of a transfer."""


class NewFolioRefund(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Unspent money of a stay that is handed back."""

    amount: ReceivedAmount
    """The amount to hand back: not more than the folio has unspent."""
    method: FolioRefundMethod | None = None
    """How it is handed back: `cloove_pay` is through the payment provider by which it came. Left
    out or null: so, where a payment of the stay came by one; else it is required."""
    reason: Reason | None = None
    """Why it is handed back, in words for people."""
    reference: PaymentReference | None = None
    """The reference of the refund, such as the number of a transfer."""


class StayCancel(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Why a reservation is cancelled, and what becomes of its deposit."""

    reason: HotelText | None = None
    """The reason, in words for people."""
    refund_deposit: bool = False
    """Whether the unspent money that came by payment providers goes back through them; `meta` of
    the answer tells how much does, and how much is left to hand back by a refund of the stay."""


class UnspentMoney(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The money of a cancelled stay that nothing had been paid by."""

    returning_amount: Decimal
    """The part that goes back through payment providers now."""
    unspent_amount: Decimal
    """The part that stays the guest's credit: hand it back by a refund of the stay, with the method
    by which you do."""


class CancelMeta(msgspec.Struct):
    """The members of an answer that tells what becomes of the money of a cancelled stay."""

    meta: UnspentMoney


class CheckOut(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How a stay ends."""

    leave_as_debt: bool = False
    """Whether the guest may leave while the stay owes money, which stays the guest's debt."""


class FolioCharge(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An order of a stay; each night is one."""

    order_id: UUID
    """The order."""
    short_code: Annotated[str, Meta(examples=["7KQ4M2XB"])]
    night: DayShown | None
    """The night that it is for; null: another charge."""
    summary: Annotated[str, Meta(examples=["1 × Room 101, night of 31 Jan 2026 (Standard)"])]
    status: Status
    total_amount: Decimal
    refunded_amount: Decimal
    """The part of the sale that was given back: what is due is the total less that."""
    amount_paid: Decimal
    remaining_amount: Decimal
    customer_id: UUID | None
    occurred_at: Timestamp
    """When the sale happened."""


class FolioPayment(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Money that came in for a stay, or left it again."""

    id: UUID
    kind: FolioPaymentKind
    """`refund`: handed back; `reversal`: the payment provider took it back."""
    amount: Decimal
    """The amount that came in, or went back."""
    method: PaymentMethod
    """How it came in, or went back."""
    reference: Annotated[str | None, Meta(examples=["TRF-88120"])]
    """The reference that was given with it; null: none."""
    reason: str | None
    """Why it went back; null: not said."""
    payment_link_id: UUID | None
    """The payment link that it came through; null: none."""
    transaction_id: UUID
    """The transaction of the payment."""
    at: Timestamp
    """When the money came in, or went back."""
    by: Person
    """The person or program that recorded it."""


class FolioRefund(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A refund of a stay that goes back through the payment provider by which it came."""

    id: UUID
    status: PaymentState
    """`pending` until the provider has given it back; then it is among the payments."""
    amount: Decimal
    provider: Annotated[str, Meta(examples=["paystack"])]
    """The payment provider that it goes back through."""
    provider_refund_id: Annotated[str | None, Meta(examples=["3018284"])]
    """The provider's own name of it; null: it has none yet."""
    payment_id: UUID
    """The payment of the stay that goes back."""
    reason: str | None
    """Why it goes back; null: not said."""
    failure_reason: str | None
    """Why it failed, or came home again, in the provider's words; null: neither."""
    requested_at: Timestamp
    """When it was asked for."""
    by: Person
    """The person or program that asked for it."""


class FolioTax(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A tax on the nights of a stay that were charged."""

    name: Annotated[str, Meta(examples=["VAT"])]
    rate: Decimal
    """The share of the base (`taxableAmount`), in per cent."""
    is_inclusive: bool
    """Whether the prices hold it already; else it came on top."""
    taxable_amount: Decimal
    """The base of the tax: the prices of the nights without the taxes that they hold already. Each
    night is rounded by itself."""
    amount: Decimal
    """The tax on these nights, before refunds."""


class Folio(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Everything that a stay owes and that was paid for it."""

    reservation_id: UUID
    """The stay."""
    short_code: Annotated[str, Meta(examples=["7KQ4M2XB"])]
    """The code of the reservation."""
    status: ReservationStatus
    """The status of the stay."""
    customer_id: UUID
    """The customer that the guest is: the folio's unspent money is part of that credit."""
    currency: str
    charges: list[FolioCharge]
    """Its nights and other orders, the oldest first."""
    payments: list[FolioPayment]
    """Money that came in for it and went back, the oldest first."""
    refunds: list[FolioRefund]
    """Money that goes back, or went back, through payment providers, the oldest first."""
    disputes: list[DisputeShown]
    """The disputes of its payments, the oldest first; more by `GET /v1/disputes/{dispute_id}`."""
    night_taxes: list[FolioTax]
    """The taxes on the nights among them, without cancelled ones."""
    charges_total: Decimal
    """The sum of its orders, less what was given back; without cancelled ones."""
    payments_total: Decimal
    """The sum of what came in for it, less what went back, is on its way back, or was taken by a
    dispute before an order used it."""
    amount_owed: Decimal
    """The amount that its orders still owe now."""
    unspent_amount: Decimal
    """The money of the folio that no order has taken yet."""
    disputed_amount: Decimal
    """The money of the folio that a dispute has taken before an order did: it is not unspent, nor
    handed out; won back, it is unspent again."""
    nights_to_come: int
    """How many of its nights are no orders yet."""
    nights_to_come_total: Decimal
    """The sum of these, with their taxes."""
    deposit_amount: Decimal
    """The amount that was asked for before the stay."""


class Bill(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A bill of a stay, as it stands now."""

    url: Annotated[str, Meta(examples=["https://till.example.com/bills/0198c2f0?until=1&mark=x"])]
    """The bill's address, for seven days."""
    number: int
    """The how many-th bill of the stay it is: the next one says something else."""
    is_provisional: bool
    """Whether the stay isn't over: the bill is a pro forma one, with the nights to come."""


class HotelSettings(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How a hotel keeps its days; times are by the clock of the business."""

    check_in_time: Annotated[str, Meta(examples=["14:00"])]
    """From then on rooms are ready."""
    check_out_time: Annotated[str, Meta(examples=["11:00"])]
    """By then guests leave."""
    audit_time: Annotated[str, Meta(examples=["03:00"])]
    """From then on the night before is audited."""
    no_show: NoShowPolicy
    """The fate of bookings whose guests didn't come, at the audit: `release` marks them `no_show`
    and frees their room, `keep` leaves them booked."""


class HotelSettingsPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of the settings; absent fields stay."""

    check_in_time: TimeOfDay | UnsetType = UNSET
    """From then on rooms are ready."""
    check_out_time: TimeOfDay | UnsetType = UNSET
    """By then guests leave."""
    audit_time: AuditTime | UnsetType = UNSET
    """From then on the night before is audited."""
    no_show: NoShowPolicy | UnsetType = UNSET
    """The fate of bookings whose guests didn't come."""


class AuditFilter(Paged):
    """Which page of the audits."""


class Audit(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The audit of one business day."""

    day: DayShown
    """The day whose night it posted."""
    nights: int
    """How many nights it posted, those of earlier days that were missing among them."""
    amount: Decimal
    """The sum of these nights, with their taxes."""
    no_shows: int
    """How many bookings it marked as `no_show`."""
    overdue: int
    """How many stays were in the house after their last night."""
    started_at: Timestamp
    """When it began."""
    finished_at: Timestamp | None
    """When it ended; null: it has more to do."""


class AuditRun(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The audits that were due."""

    audits: list[Audit]
    """Those that this request worked on, the oldest first; empty: none was due."""
    is_complete: bool
    """Whether all that was due is done; else a worker goes on with it."""
