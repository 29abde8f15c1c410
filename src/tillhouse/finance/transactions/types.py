"""Transactions as they are asked for and shown; which way each went, and when. Pure."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from tillhouse.customers.types import Filter
from tillhouse.kit.clock import DayShown, Timestamp
from tillhouse.kit.ids import CustomerId, OrderId, StoreId
from tillhouse.kit.page import Paged
from tillhouse.kit.values import DateOrTimestamp, Search
from tillhouse.ledger.rules import TransactionMethod, TransactionStatus, TransactionType
from tillhouse.payins.types import ProviderMoney

_DAY = timedelta(days=1)

Direction = Literal["in", "out"]

# Kept as amounts that went out; one below zero came back. All others are kept as amounts that came
# in.
_GOES_OUT: tuple[TransactionType, ...] = ("expense", "fee", "wallet_withdrawal")


def direction(type_: TransactionType, amount: Decimal) -> Direction:
    """Which way a transaction's money went, by its type and the sign that it is kept with."""
    return "in" if (amount > 0) != (type_ in _GOES_OUT) else "out"


def methods_of(asked: Sequence[TransactionMethod]) -> list[str]:
    """The methods that a filter finds: a payment by card is kept as `pos`, an expense as `card`."""
    return [*asked, "pos"] if "card" in asked and "pos" not in asked else [*asked]


def local_day(moment: datetime, zone: str) -> date:
    """The calendar day on which it is this moment there."""
    return moment.astimezone(UTC).astimezone(ZoneInfo(zone)).date()


def date_label(day: date, today: date) -> str:
    """A day for people, near days by their names."""
    names = {today: "Today", today - _DAY: "Yesterday", today + _DAY: "Tomorrow"}
    # The day without a leading zero, which no format code gives on every system.
    return names.get(day, f"{day.day} {day:%b %Y}")


class TransactionFilter(Paged, rename={"since": "from", "until": "to"}):
    """Which transactions, and which page of them."""

    type: Annotated[list[TransactionType], Meta(min_length=1)] | None = None
    """Only transactions of one of these types, split by commas."""
    status: Annotated[list[TransactionStatus], Meta(min_length=1)] | None = None
    """Only transactions with one of these statuses, split by commas."""
    method: Annotated[list[TransactionMethod], Meta(min_length=1)] | None = None
    """Only transactions of one of these methods, split by commas. `card` finds those by `pos` too,
    as which payments by card are kept."""
    store_id: StoreId | None = None
    """Only transactions of this store."""
    order_id: OrderId | None = None
    """Only transactions with this `orderId`: payments, and what a provider took or gave back."""
    payment_link_id: UUID | None = None
    """Only transactions with this `paymentLinkId`: the payments that came through the link."""
    since: DateOrTimestamp | None = None
    """From this day or moment on; a day is the business's, or the store's with `store_id`."""
    until: DateOrTimestamp | None = None
    """Up to this day, all of it, or up to this moment; days as in `from`."""
    search: Search | None = None
    """Only transactions whose reference or order's short code begins so, or a word of the
    customer's name."""
    customer_id: CustomerId | None = None
    """Only this customer's; not together with `customer_email` or `customer_phone`."""
    customer_email: Filter | None = None
    """Only those of the customer with this e-mail address; none if no customer has it."""
    customer_phone: Filter | None = None
    """Only those of the customer with this phone number; none if no customer has it."""


class Transaction(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Money that moved, as the business sees it."""

    id: UUID
    reference: Annotated[str, Meta(examples=["TXN-7K2MQ4WX9PZR"])]
    """The name of the transaction for people: unique, and on its receipt."""
    type: TransactionType
    status: TransactionStatus
    method: TransactionMethod
    """How the money moved."""
    amount: Decimal
    """The amount in `currency`, never below zero: `direction` says which way it went."""
    direction: Direction
    """`in`: the money came to the business; `out`: it left, or what was said to have come in was
    corrected."""
    change_amount: Decimal
    """The part of a cash payment that was handed back at once as change; what stayed is `amount`
    less this."""
    currency: str
    customer: Annotated[str, Meta(examples=["Chidi Eze"])] | None
    """The customer's name."""
    customer_id: UUID | None
    customer_email: str | None
    """The customer's e-mail address."""
    customer_phone: str | None
    """The customer's phone number, in its international form."""
    date: DayShown
    """The day on which it happened, in the time zone of the business."""
    date_label: Annotated[str, Meta(examples=["Today"])]
    """The same day for people: `Today`, `Yesterday`, or such as `31 Jan 2026`."""
    full_date: Timestamp
    """The moment at which it happened."""
    store_id: UUID | None
    order_id: UUID | None
    """The order that it is for, or whose payment it is about (a fee, or what a provider took back);
    null when it is for something else."""
    order_short_code: str | None
    """The short code of that order."""
    expense_id: UUID | None
    """The expense that it is; null when it is something else."""
    dispute_id: UUID | None
    """The dispute whose money or fee it is; null of a `reversal` by which a provider takes back
    what was given back already."""
    payment_link_id: UUID | None
    """The payment link that it came through; null without one."""
    payment_link_reference: str | None
    """The reference of that link."""
    provider_money: ProviderMoney | None
    """The payment with the provider's fee, as the provider tells it; null where the transaction is
    no payment by a provider."""
    created_at: Timestamp
    updated_at: Timestamp


class Requeried(msgspec.Struct, frozen=True, rename="camel"):
    """The outcome of asking about a transaction again."""

    changed: bool
    """Whether its status is another one now."""
    previous_status: TransactionStatus
    """Its status before it was asked about."""


class RequeryMeta(msgspec.Struct):
    """The members of an answer that tells what asking again changed."""

    meta: Requeried


class TransactionReceipt(msgspec.Struct, frozen=True):
    """The address of a receipt."""

    url: Annotated[
        str, Meta(examples=["https://till.example.com/transaction-receipts/0199…?until=…&mark=…"])
    ]
    """A page for people, valid for seven days; with `.pdf` after the id it is a file."""
