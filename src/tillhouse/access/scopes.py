"""The scope catalogue: what an API key may be allowed, in one place."""

from collections.abc import Iterable
from typing import Literal

import msgspec

Risk = Literal["low", "medium", "high", "critical"]


class Scope(msgspec.Struct, frozen=True):
    """One right of an API key."""

    name: str
    label: str
    group: str
    risk: Risk
    grants: tuple[str, ...] = ()
    # A live key that may move money out must name the addresses it is used from.
    is_finance_write: bool = False


def _pair(noun: str, label: str, group: str, risk: Risk) -> tuple[Scope, Scope]:
    """The read and write scopes of one kind of resource."""
    return (
        Scope(f"{noun}:read", f"Read {label}", group, "low"),
        Scope(f"{noun}:write", f"Change {label}", group, risk),
    )


CATALOGUE: tuple[Scope, ...] = (
    Scope("voice:read", "Check the key, read numbers and agents", "Voice", "low"),
    Scope("voice:calls:read", "Read calls", "Voice", "medium"),
    Scope("voice:calls:create", "Place calls", "Voice", "high"),
    Scope("voice:agents:write", "Change agents", "Voice", "medium"),
    *_pair("orders", "orders", "Orders", "medium"),
    Scope(
        "finance:read",
        "Read the summary and transactions",
        "Finance",
        "medium",
        grants=("finance:summary:read", "finance:transactions:read"),
    ),
    Scope("finance:summary:read", "Read the financial summary", "Finance", "medium"),
    Scope("finance:transactions:read", "Read transactions", "Finance", "medium"),
    Scope("finance:expenses:write", "Record expenses", "Finance", "medium"),
    Scope("payment_links:read", "Read payment links", "Payment links", "low"),
    Scope(
        "payment_links:write",
        "Create and cancel payment links",
        "Payment links",
        "medium",
        grants=("payment_links:read",),
    ),
    *_pair("products", "products", "Catalog", "medium"),
    Scope("inventory:write", "Adjust stock", "Catalog", "medium"),
    *_pair("promotions", "promotions", "Catalog", "medium"),
    *_pair("customers", "customers", "Customers", "medium"),
    *_pair("stores", "stores and staff", "Business", "medium"),
    *_pair("tables", "tables and table sessions", "Business", "low"),
    *_pair("messaging", "conversations and messages", "Messaging", "high"),
    Scope("events:read", "Read and follow every event of the book", "Webhooks", "high"),
    *_pair("hotel", "rooms, guests and reservations", "Hotel", "medium"),
    Scope("wallet:read", "Read the wallet", "Payouts", "medium"),
    Scope("payouts:read", "Read payout accounts", "Payouts", "medium"),
    Scope("payouts:write", "Change payout accounts", "Payouts", "critical", is_finance_write=True),
    Scope(
        "wallet:withdrawals:create",
        "Withdraw money from the wallet",
        "Payouts",
        "critical",
        is_finance_write=True,
    ),
)

BY_NAME: dict[str, Scope] = {scope.name: scope for scope in CATALOGUE}
WITHDRAWAL = "wallet:withdrawals:create"


def granted(scopes: Iterable[str]) -> frozenset[str]:
    """The scopes together with the children that they grant."""
    names = set(scopes)
    for name in tuple(names):
        if name in BY_NAME:
            names.update(BY_NAME[name].grants)
    return frozenset(names)


def finance_writes(scopes: Iterable[str]) -> list[str]:
    """Those among the scopes that can move money out."""
    return [name for name in scopes if name in BY_NAME and BY_NAME[name].is_finance_write]
