"""The steps by which any refund through a provider ends, whatever it gives back."""

from decimal import Decimal
from typing import ClassVar, Generic, TypeVar

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import release, reverse
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.orders.money_types import PaymentState
from tillhouse.orders.returning import corrections
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.orders.returning.store import ProvidedRefunds
from tillhouse.payins.returning import count_given_back, find_left

_WORDS_LENGTH_MAX = 300
_FAILED = "The payment provider gave nothing back."

Row = TypeVar("Row", bound=SentRefund)


class EndingRefund(msgspec.Struct, Generic[Row], frozen=True, kw_only=True):
    """A refund whose outcome is known, locked with the order or the stay that it is of."""

    # The statements on its table, and the job that asks about one once more.
    refunds: ClassVar[ProvidedRefunds]
    heard: ClassVar[str]

    call: Call
    sent: Row
    ledger: Ledger
    # The refund, as the ledger knows it.
    source: Source
    # The provider's own name of it, and its words.
    provider_reference: str | None = None
    words: str | None = None

    @property
    def reason(self) -> str:
        """The provider's words."""
        return storable(self.words or _FAILED)[:_WORDS_LENGTH_MAX]

    async def left(self) -> Decimal:
        """The part of it that its payment has left.

        One that was on its way is counted already. One that had failed made room for what its
        provider took back by itself, and gives only the rest: together they never give more than
        came in.
        """
        sent = self.sent
        if sent.status == "pending":
            return sent.amount
        return min(sent.amount, await find_left(self.call.db, sent.book_id, sent.payin_id))

    async def release_holds(self) -> None:
        """Give its holds free."""
        for hold_id in (self.sent.credit_hold_id, self.sent.hold_id):
            if hold_id is not None:
                await release(self.call.db, self.ledger, hold_id)

    async def know(self) -> None:
        """Keep the provider's own name of it."""
        name = self.provider_reference
        if name is not None and self.sent.provider_refund_id is None:
            await self.refunds.update_known(self.call.db, self.sent, name)

    async def ask_about_others(self, status: PaymentState) -> None:
        """Let the provider be asked about others of its payment that have this status."""
        db = self.call.db
        others = await self.refunds.list_known(db, self.sent, status)
        await corrections.ask_about_others(db, self.sent, self.heard, others, self.call.now)

    async def count(self, amount: Decimal) -> None:
        """Let its payment know how much more, or less, refunds of ours give back of it."""
        sent = self.sent
        await count_given_back(self.call.db, sent.origin, sent.payin_id, amount, self.call.now)
        if amount < 0:
            await self.ask_about_others("failed")

    async def undo(self) -> None:
        """Reverse its transfers, and undo the transactions of its own."""
        transfers = await self.refunds.list_transfers(self.call.db, self.sent)
        for number, transfer_id in enumerate(transfers):
            await reverse(self.call.db, self.ledger, self.source, transfer_id, sequence=number)
        own = self.sent.shortfall - self.sent.taken_before
        await corrections.undo_own(self.call.db, self.ledger, self.source, own)
