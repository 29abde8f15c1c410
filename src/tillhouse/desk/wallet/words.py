"""Accounts, withdrawals and entries of the wallet in words."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact, money_column, named

WITHDRAWALS = "/desk/wallet/withdrawals"
ACCOUNTS = "/desk/wallet/accounts"
Data = Mapping[str, Any]
Fact = tuple[str, str, str | None]


class EntryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the wallet."""

    name: str
    reference: str | None
    # The page of its transaction.
    address: str | None
    at: str
    when: str
    amount: str
    balance: str


def entries(told: list[Data], frame: Frame) -> list[EntryRow]:
    """The rows of the statement."""
    amounts = money_column([one["amount"] for one in told], frame.currency)
    balances = money_column([one["balanceAfter"] for one in told], frame.currency)
    return [
        EntryRow(
            name=named("wallet_entry", one["type"]),
            reference=one["reference"],
            address=f"/desk/finance/transactions/{one['transactionId']}"
            if one["transactionId"]
            else None,
            at=one["occurredAt"],
            when=frame.when(one["occurredAt"]),
            amount=amount,
            balance=balance,
        )
        for one, amount, balance in zip(told, amounts, balances, strict=True)
    ]


class WithdrawalRow(msgspec.Struct, frozen=True, kw_only=True):
    """One withdrawal of a list."""

    address: str
    to: str
    more: str
    by: str
    at: str
    when: str
    state: str
    amount: str


def withdrawals(told: list[Data], frame: Frame) -> list[WithdrawalRow]:
    """The rows of a list of withdrawals."""
    amounts = money_column([one["amount"] for one in told], frame.currency)
    return [
        WithdrawalRow(
            address=f"{WITHDRAWALS}/{one['id']}",
            to=place(one["payoutAccount"]),
            more=one["failureReason"] or one["narration"] or "",
            by=one["requestedBy"]["name"],
            at=one["createdAt"],
            when=frame.when(one["createdAt"]),
            state=one["status"],
            amount=amount,
        )
        for one, amount in zip(told, amounts, strict=True)
    ]


def withdrawal_facts(one: Data, frame: Frame) -> Iterator[Fact]:
    """Everything about a withdrawal that is told."""
    account, currency = one["payoutAccount"], one["currency"]
    for name, value, to in (
        ("bank", account["bankName"] or account["bankCode"], None),
        ("number", account["accountNumber"], f"{ACCOUNTS}/{account['id']}"),
        ("holder", account["accountName"], None),
        ("fee", exact(one["fee"], currency) if one["fee"] else None, None),
        ("due", exact(one["due"], currency) if one["due"] else None, None),
        ("narration", one["narration"], None),
        ("reference", one["reference"], None),
        ("failure", one["failureReason"], None),
        ("order", one["orderId"], f"/desk/orders/{one['orderId']}"),
        ("transaction", one["transactionId"],
         f"/desk/finance/transactions/{one['transactionId']}"),
        ("by", one["requestedBy"]["name"], None),
        ("requested", frame.when(one["createdAt"]), None),
        ("sent", frame.when(one["sentAt"]), None),
        ("ended", frame.when(one["endedAt"]), None),
        ("provider", one["provider"].capitalize(), None),
        ("at_provider", one["providerReference"], None),
        ("id", one["id"], None),
    ):  # fmt: skip
        if value:
            yield sentence(f"withdrawal_fact.{name}"), value, to


class AccountRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payout account."""

    id: str
    address: str
    name: str
    holder: str
    # `cooling` is one that is active, and takes withdrawals later.
    state: str
    error: str
    usable: str
    provider: str


def account(one: Data, frame: Frame, now: datetime) -> AccountRow:
    """A payout account as it stands now."""
    usable = one["usableAt"]
    is_cooling = one["status"] == "active" and (
        usable is None or datetime.fromisoformat(usable) > now
    )
    return AccountRow(
        id=one["id"],
        address=f"{ACCOUNTS}/{one['id']}",
        name=place(one),
        holder=one["accountName"] or "",
        state="cooling" if is_cooling else one["status"],
        error=one["error"] or "",
        usable=frame.when(usable) if is_cooling else "",
        provider=one["provider"].capitalize(),
    )


def place(one: Data) -> str:
    """An account by its bank and the end of its number."""
    return f"{one['bankName'] or one['bankCode']}, …{one['accountNumber'][-4:]}"
