"""Withdrawals: whether one may be made, and its steps. Pure decisions."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import msgspec

from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, Refused, unknown
from tillhouse.kit.ids import AppId
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults
from tillhouse.payouts.withdrawals.types import NewWithdrawal, WithdrawalStatus
from tillhouse.providers.payments.provider import PayoutState

SOURCE = "withdrawal"
"""The type of source that withdrawals are."""

NO_CUTOFF = timedelta()
"""The days of a limit begin at midnight, whatever the stores say."""

NOTHING = Decimal(0)

Step = Literal["complete", "fail", "reverse", "complete_late"]


class TooLate(Conflict, message="The withdrawal was sent: it can't be cancelled any more."):
    """Money that may have left is not called back."""


class Policy(msgspec.Struct, frozen=True):
    """The limits of a key, and the app whose keys share them."""

    lineage_id: AppId
    max_per_transaction: Decimal
    max_per_day: Decimal
    currency: str
    # None: every active account.
    allowed_account_ids: frozenset[UUID] | None


class AccountFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The account that a withdrawal goes to."""

    id: UUID
    status: str
    version: int
    provider: str
    bank_code: str
    bank_name: str | None
    account_number: str
    account_name: str | None
    currency: str
    usable_at: datetime | None


class WithdrawalFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that decide about a new withdrawal."""

    currency: str
    time_zone: str
    account: AccountFacts | None
    # None: a person asks, who has the business's limit alone.
    policy: Policy | None
    # Whether the order is there whose refund is paid out.
    has_order: bool


def policy_of(kept: dict[str, Any], lineage_id: AppId) -> Policy:
    """A policy as a key keeps it."""
    ids = kept["allowed_payout_account_ids"]
    return Policy(
        lineage_id=lineage_id,
        max_per_transaction=Decimal(kept["max_per_transaction"]),
        max_per_day=Decimal(kept["max_per_day"]),
        currency=kept["currency"],
        allowed_account_ids=None if ids is None else frozenset(UUID(one) for one in ids),
    )


def new_faults(new: NewWithdrawal, facts: WithdrawalFacts) -> list[FieldError]:
    """Everything that is wrong with a new withdrawal, beside its form."""

    def account() -> Iterator[FieldError]:
        if facts.account is None and new.payout_account_id:
            yield unknown("payout_account_id", "payout account")

    def amount() -> Iterator[FieldError]:
        if wrong := check_scale(new.amount, facts.currency):
            yield FieldError("amount", wrong)

    def refund() -> Iterator[FieldError]:
        if new.refund is not None and not facts.has_order:
            yield unknown("refund.order_id", "order")

    return faults(amount, account, refund)


def check_account(account: AccountFacts, facts: WithdrawalFacts, now: datetime) -> None:
    """The account takes withdrawals, and this caller may pay out to it."""
    if account.status != "active" or account.usable_at is None:
        raise Refused(f"The payout account is {account.status}: only an active one is paid out to.")
    if account.currency != facts.currency:
        raise Refused(f"The payout account takes {account.currency}, the wallet {facts.currency}.")
    if account.usable_at > now:
        raise Refused(
            f"The payout account is new: it is paid out to from {iso(account.usable_at)} on."
        )
    allowed = facts.policy and facts.policy.allowed_account_ids
    if allowed is not None and account.id not in allowed:
        raise Refused("The withdrawal policy of this key doesn't allow this payout account.")


def check_policy(amount: Decimal, facts: WithdrawalFacts) -> None:
    """The amount is one that the key may withdraw at once."""
    policy = facts.policy
    if policy is None:
        return
    if policy.currency != facts.currency:
        raise Refused(f"The withdrawal policy of this key is in {policy.currency}: change it.")
    if amount > policy.max_per_transaction:
        raise Refused(
            "The withdrawal policy of this key allows at most "
            f"{policy.max_per_transaction:f} {policy.currency} at once (max_per_transaction)."
        )


class DayLimit(msgspec.Struct, frozen=True):
    """A limit per day: (its name, the amount), and the used part."""

    name: str
    limit: Decimal
    spent_today: Decimal
    spent_24h: Decimal

    def check(self, amount: Decimal) -> None:
        """The amount fits into the calendar day, and into the last 24 hours."""
        used = max(self.spent_today, self.spent_24h)
        if used + amount > self.limit:
            span = "today" if self.spent_today >= self.spent_24h else "within 24 hours"
            raise Refused(
                f"The limit of {self.limit:f} a day ({self.name}) leaves "
                f"{max(self.limit - used, Decimal(0)):f} {span}: lower the amount, or wait."
            )


def step_of(status: WithdrawalStatus, state: PayoutState, *, is_refund: bool) -> Step | None:
    """The step to the provider's state; None where nothing changes by it.

    A refund that was paid out and came back is the order's money again, and stays so: one that the
    provider completes after that is for people.
    """
    match status, state:
        case "processing", "completed":
            return "complete"
        case "processing", "failed":
            return "fail"
        case (("processing" | "completed"), "reversed"):
            return "reverse"
        case "completed", "failed":
            return "reverse"
        case "failed", "completed":
            return "complete_late"
        case "reversed", "completed" if not is_refund:
            return "complete_late"
        case _:
            return None
