"""Things that need somebody, each with the page where it is looked after."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tillhouse.desk.frame.sentences import counted


class Task(msgspec.Struct, frozen=True):
    """Things that wait, as one line."""

    icon: str
    # How urgent it is: `bad`, `warn` or `accent`.
    tone: str
    text: str
    # The page about them; None where there is none yet.
    address: str | None


# Counts are of all stores, and so are the lists that they lead to.
# A line's name, the group and the counts in it that are added, icon, urgency and page.
_LINES: tuple[tuple[str, str, tuple[str, ...], str, str, str | None], ...] = (
    ("disputes", "", ("disputesDue",), "warn", "bad", "/desk/finance/disputes"),
    ("endpoints", "", ("failingEndpoints",), "plug", "bad", None),
    ("scheduled", "orders", ("scheduled",), "orders", "warn",
     "/desk/orders?status=scheduled&stores=all"),
    ("unpaid", "orders", ("unpaid",), "orders", "warn",
     "/desk/orders?status=pending,completed&payment_status=pending,partial&stores=all"),
    ("stock", "", ("productsOutOfStock",), "products", "warn", "/desk/products?out_of_stock=true"),
    ("tickets", "kitchenTickets", ("queued", "ready"), "check", "accent", None),
    ("inbox", "conversations", ("waiting",), "user", "accent", None),
    ("requests", "serviceRequests", ("open",), "check", "accent", None),
)  # fmt: skip


def tasks(counts: Mapping[str, Any]) -> list[Task]:
    """A line for each count that isn't zero, the most urgent first."""
    found = []
    for name, group, added, icon, tone, address in _LINES:
        shown = counts.get(group, {}) if group else counts
        count = sum(shown.get(one, 0) for one in added)
        if count:
            found.append(Task(icon, tone, counted(f"attention.{name}", count), address))
    return found
