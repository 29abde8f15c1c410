"""A carrier that carries nothing: deterministic, without a network, for test books.

The number that a message goes to decides its outcome, as documented for people who test their
own programs against it.
"""

from datetime import timedelta

from tillhouse.providers.messaging.provider import (
    DeliveryReport,
    Fetched,
    MessagingAccount,
    OutgoingMessage,
    SendOutcome,
    Settled,
)

# The number that every test book writes from.
NUMBER = "+15550100000"
# When the report on a message comes.
REPORT_AFTER = timedelta(seconds=1)

# Sending to these fails at once, with the code that WhatsApp gives.
REFUSED = {
    "+15550100001": "131026: Message undeliverable",
    "+15550100002": "131048: Spam rate limit hit",
}
# The later report on a message to these numbers; to all others it says `delivered`.
DELIVERED = DeliveryReport("delivered")
REPORTS: dict[str, DeliveryReport | None] = {
    "+15550100003": None,
    "+15550100004": DeliveryReport("read"),
    "+15550100005": DeliveryReport("failed", REFUSED["+15550100001"]),
}


class SandboxMessaging:
    """Settles every message at once, in the transaction that writes it."""

    own_number: str | None = NUMBER

    def settle(self, message: OutgoingMessage) -> Settled:
        """The outcome of a message to this number."""
        if message.to in REFUSED:
            return Settled(outcome=SendOutcome("failed", error=REFUSED[message.to]))
        return Settled(
            outcome=SendOutcome("sent", f"sandbox.{message.message_id.hex}"),
            report=REPORTS.get(message.to, DELIVERED),
            report_after=REPORT_AFTER,
        )

    async def send(self, account: MessagingAccount, message: OutgoingMessage) -> SendOutcome:
        """No provider has to be asked."""
        return self.settle(message).outcome

    async def fetch(self, account: MessagingAccount, media_id: str, bytes_max: int) -> Fetched:
        """Its customers send files uploaded before: nothing lies elsewhere."""
        return Fetched("failed", error="nothing lies at the sandbox")
