"""The words and figures of a link's page. Pure decisions."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from tillhouse.checkout.redirect_rules import PaymentResult
from tillhouse.checkout.types import LinkStatus, TargetType
from tillhouse.kit.clock import iso
from tillhouse.kit.money import EXPONENTS
from tillhouse.kit.secrets import Environment

State = Literal["waiting", "paid", "settled", "expired", "cancelled"]

_SIGNS = {
    "NGN": "₦", "USD": "$", "EUR": "€", "GBP": "£", "GHS": "GH₵", "KES": "KSh ", "ZAR": "R ",
    "INR": "₹", "JPY": "¥",
}  # fmt: skip
_RESULTS: dict[LinkStatus, PaymentResult] = {
    "PAID": "successful", "EXPIRED": "expired", "CANCELLED": "cancelled",
}  # fmt: skip


class LinkPage(msgspec.Struct, frozen=True, kw_only=True):
    """A link with all that its page needs, as the statement finds it."""

    book_id: UUID
    id: UUID
    reference: str
    target_type: TargetType
    # The order that it is for, of a sale or a debt.
    order_id: UUID | None
    title: str | None
    description: str
    currency: str
    redirect_url: str | None
    # Of the link's own customer: for the provider alone, and never shown.
    customer_email: str | None
    expires_at: datetime | None
    amount_received: Decimal
    payments_count: int
    conditions: list[str]
    last_paid_at: datetime | None
    environment: Environment
    merchant: str
    time_zone: str
    total: Decimal
    paid: Decimal
    account_id: UUID | None
    account_status: str | None
    account_number: str | None
    bank_name: str | None
    account_name: str | None
    account_url: str | None
    account_amount: Decimal | None
    account_expires_at: datetime | None
    account_error: str | None
    status: LinkStatus
    amount: Decimal
    outstanding: Decimal
    version: str

    @property
    def is_payable(self) -> bool:
        """Whether somebody is asked to pay."""
        return self.status == "active" and self.outstanding > 0

    def has_account(self, now: datetime) -> bool:
        """Whether there is an account that can be paid into, opened for the amount asked now."""
        is_alive = self.account_expires_at is None or self.account_expires_at > now
        is_open = self.account_status == "open" and is_alive
        return is_open and self.account_amount == self.outstanding

    @property
    def has_failed_attempt(self) -> bool:
        """Whether the last attempt to pay into the account failed."""
        return self.account_status == "open" and self.account_error is not None


class Trouble(msgspec.Struct, frozen=True):
    """The reason why a page has no account to pay into."""

    words: str = ""
    # Its provider opens one only for the payer's e-mail address.
    needs_email: bool = False
    may_try_again: bool = True


class ShownPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page, in words."""

    state: State
    title: str
    heading: str
    amount: str
    minor: str
    raw_amount: str
    notes: list[str]
    paid_of: str | None
    # Until when, for people and for the script.
    deadline: str | None
    deadline_iso: str | None
    receipt: list[tuple[str, str]]


def money(amount: Decimal, currency: str) -> str:
    """An amount with the sign of its currency."""
    return f"{_SIGNS.get(currency, currency + ' ')}{amount:,.{EXPONENTS[currency]}f}"


def grouped(number: str) -> str:
    """An account number in groups, as people read it out."""
    if len(number) == 10:
        return f"{number[:4]} {number[4:7]} {number[7:]}"
    return " ".join(number[start : start + 4] for start in range(0, len(number), 4))


def shown(page: LinkPage, now: datetime, *, has_left: bool = False) -> ShownPage:
    """The page as it stands."""
    state = _state(page)
    asked = page.outstanding if state == "waiting" else _settled_amount(page)
    whole, point, minor = money(asked, page.currency).partition(".")
    until = page.account_expires_at if page.has_account(now) else None
    deadlines = [moment for moment in (until, page.expires_at) if moment is not None]
    deadline = min(deadlines) if deadlines and state == "waiting" else None
    return ShownPage(
        state=state,
        title=f"{_HEADINGS[state]} {money(asked, page.currency)} to {page.merchant}"
        if state in ("waiting", "paid")
        else f"{_HEADINGS[state]}: {page.merchant}",
        heading=_HEADINGS[state],
        amount=whole,
        minor=point + minor,
        raw_amount=f"{asked:.{EXPONENTS[page.currency]}f}",
        notes=_notes(page, state, has_left=has_left),
        paid_of=_paid_of(page) if state == "waiting" else None,
        deadline=_written(deadline, page.time_zone, now) if deadline else None,
        deadline_iso=iso(deadline) if deadline else None,
        receipt=_receipt(page) if page.payments_count else [],
    )


def result(page: LinkPage) -> PaymentResult:
    """The word by which the shop hears how the payer left."""
    if page.status in _RESULTS:
        return _RESULTS[page.status]
    if page.amount_received > 0:
        return "pending"
    return "failed" if page.has_failed_attempt else "cancelled"


_HEADINGS: dict[State, str] = {
    "waiting": "Pay", "paid": "Paid", "settled": "Nothing left to pay",
    "expired": "This link has expired", "cancelled": "This link was cancelled",
}  # fmt: skip


def _state(page: LinkPage) -> State:
    match page.status:
        case "active":
            return "waiting" if page.outstanding > 0 else "settled"
        case "PAID":
            return "paid" if page.payments_count else "settled"
        case "EXPIRED":
            return "expired"
        case _:
            return "cancelled"


def _settled_amount(page: LinkPage) -> Decimal:
    return page.amount_received if page.payments_count else page.amount


def _notes(page: LinkPage, state: State, *, has_left: bool) -> list[str]:
    merchant, received = page.merchant, money(page.amount_received, page.currency)
    is_over = state in ("expired", "cancelled")
    told = {
        f"{received} has arrived. The amount above is left: send it the same way.": (
            state == "waiting" and page.amount_received > 0
        ),
        "The last attempt failed, and no money was taken. You can try again.": (
            state == "waiting" and page.has_failed_attempt
        ),
        "You left without paying. You can still pay here.": state == "waiting" and has_left,
        f"{merchant} asks for nothing any more. Send no money here.": state == "settled",
        f"Send no money here. Ask {merchant} for a new link.": state == "expired",
        f"{merchant} no longer asks for this. Send no money here.": state == "cancelled",
        f"{received} arrived and is with {merchant}.": is_over and page.amount_received > 0,
        f"More arrived than was asked for: {merchant} keeps the rest for you.": (
            "over" in page.conditions
        ),
        "A payment was taken back by the bank that sent it.": "reversed" in page.conditions,
    }
    return [note for note, is_so in told.items() if is_so]


def _paid_of(page: LinkPage) -> str | None:
    if page.target_type == "wallet" or not page.paid:
        return None
    total = money(page.total, page.currency)
    return f"{money(page.paid, page.currency)} of {total} is paid"


def _receipt(page: LinkPage) -> list[tuple[str, str]]:
    rows = [
        ("Received", money(page.amount_received, page.currency)),
        ("For", page.title or page.description),
        ("To", page.merchant),
    ]
    if page.last_paid_at is not None:
        rows.append(("Date", _written(page.last_paid_at, page.time_zone)))
    return [*rows, ("Reference", page.reference)]


def _written(moment: datetime, zone: str, now: datetime | None = None) -> str:
    """A moment in words; without its day where that is today, unless it is to be kept."""
    local = moment.astimezone(UTC).astimezone(ZoneInfo(zone))
    today = None if now is None else now.astimezone(UTC).astimezone(ZoneInfo(zone)).date()
    place = zone.rpartition("/")[2].replace("_", " ")
    # The day without a leading zero, which no format code gives on every system.
    day = "" if local.date() == today else f"{local.day} {local:%b %Y}, "
    return f"{day}{local:%H:%M} ({place} time)"
