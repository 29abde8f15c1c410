"""A carrier that carries nothing: deterministic, without a network, for test books.

What becomes of a message is decided by the number that it goes to, as documented for people who
test their own programs against it.
"""

from datetime import timedelta
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.providers.messaging.provider import Outcome

# The number that every test book writes from.
NUMBER = "+15550100000"
# When the report comes that tells what became of a message.
REPORT_AFTER = timedelta(seconds=1)

# Sending to these fails at once, with the code that WhatsApp gives.
REFUSED = {
    "+15550100001": "131026: Message undeliverable",
    "+15550100002": "131048: Spam rate limit hit",
}
Report = Literal["delivered", "read", "failed"]
# The later report on a message to these numbers; to all others it says `delivered`.
REPORTS: dict[str, Report | None] = {
    "+15550100003": None,
    "+15550100004": "read",
    "+15550100005": "failed",
}


class Fate(msgspec.Struct, frozen=True):
    """The content of a delivery report."""

    status: Report
    error: str | None = None


def settle(message_id: UUID, to: str) -> Outcome:
    """The result of sending, at once."""
    name = f"sandbox.{message_id.hex}"
    if to in REFUSED:
        return Outcome("failed", error=REFUSED[to])
    return Outcome("sent", name)


def report(to: str) -> Fate | None:
    """The later report on a message; None when there is none."""
    status = REPORTS.get(to, "delivered")
    if status is None:
        return None
    return Fate(status, REFUSED["+15550100001"] if status == "failed" else None)
