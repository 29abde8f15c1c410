"""Receipts of transactions: their content, and its form for people. Pure."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import msgspec

from tillhouse.kit.clock import parse_timestamp
from tillhouse.orders.receipts.head_rules import Imprint, closing_lines, place_lines
from tillhouse.orders.receipts.rules import Sheet, Sum, amount, written_moment

TYPES = {
    "sale": "Sale",
    "debt_payment": "Payment of a debt",
    "wallet_deposit": "Deposit into the wallet",
    "wallet_withdrawal": "Withdrawal from the wallet",
    "refund": "Refund",
    "reversal": "Reversal",
    "fee": "Fee",
    "expense": "Expense",
    "credit": "Credit",
    "adjustment": "Correction",
    "tip": "Tip",
    "change": "Change",
}
METHODS = {
    "cash": "Cash",
    "transfer": "Bank transfer",
    "pos": "Card",
    "cloove_pay": "Online",
    "card": "Card",
    "credit": "On credit",
    "wallet": "Wallet",
    "other": "Other",
}
# A receipt of these would be taken for proof that money moved, and it didn't, or went back.
_STAMPED = ("pending", "processing", "failed", "reversed")


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """All that a receipt says: kept as it was, whatever becomes of the transaction."""

    reference: str
    type: str
    status: str
    method: str
    amount: Decimal
    currency: str
    happened_at: str
    customer: str | None
    order_short_code: str | None
    category: str | None
    business: str
    environment: str
    time_zone: str
    store: str | None
    address: str | None
    phone: str | None
    # Empty in a receipt from before it was kept.
    imprint: Imprint = Imprint()


def sheet(content: Content, number: int, made_at: datetime) -> Sheet:
    """The receipt as it is printed."""
    zone = ZoneInfo(content.time_zone)
    total = f"{content.currency} {amount(content.amount, content.currency)}"
    return Sheet(
        title="Transaction receipt",
        business=content.business,
        place=place_lines(content),
        closing=closing_lines(content.imprint),
        marks=list(_marks(content, number)),
        code=content.reference,
        facts=list(_facts(content, zone)),
        currency=content.currency,
        lines=[],
        sums=[Sum("Amount", total, is_strong=True)],
        footer=f"Receipt {number} of transaction {content.reference}, made "
        f"{written_moment(made_at, zone)} ({content.time_zone})",
    )


def _marks(content: Content, number: int) -> Iterator[str]:
    if content.environment == "test":
        yield "Test"
    if content.status in _STAMPED:
        yield content.status.capitalize()
    if number > 1:
        yield "Copy"


def _facts(content: Content, zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    yield "Reference", content.reference
    yield "Date", written_moment(parse_timestamp(content.happened_at), zone)
    yield "Type", TYPES.get(content.type, content.type)
    yield "Method", METHODS.get(content.method, content.method)
    yield "Status", content.status.capitalize()
    if content.customer:
        yield "Customer", content.customer
    if content.order_short_code:
        yield "Order", content.order_short_code
    if content.category:
        yield "Category", content.category
