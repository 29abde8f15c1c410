"""A provider in this process that gives payments back: well, badly, late, or twice."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from uuid import UUID

from tests.payouts.bank import BankingProvider, Manner, cut_off
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.payins.connections import find_provider
from tillhouse.payins.types import ProviderConnection
from tillhouse.providers.payments.provider import (
    HeardRefund,
    NotReached,
    ProviderRefused,
    ProviderSecrets,
    RefundRequest,
    RefundState,
    SeenRefund,
    Unclear,
    Unknown,
)


class ReturningProvider(BankingProvider):
    """Gives back in memory; a reference goes back once, however often that is asked for."""

    def __init__(self, book: UUID) -> None:
        super().__init__()
        self._book = book
        self.manners: deque[Manner] = deque()
        self.refunds: dict[str, RefundState] = {}
        # How often money went back by each reference, and how often that was asked for.
        self.returned: Counter[str] = Counter()
        self.wanted: Counter[str] = Counter()
        self.before_answer: Callable[[], None] | None = None
        self._late_refunds: list[RefundRequest] = []
        self._refunds_elsewhere: dict[str, RefundState] = {}

    async def connected(
        self, services: Services, db: Db, book: Book, name: str
    ) -> ProviderConnection:
        """The connection of its book to this provider; of others to theirs.

        A worker does the jobs of all books, and its manners are for this one alone.
        """
        if book.id != self._book:
            return await find_provider(services, db, book, name)
        return self.connection(services.vault)

    def change_account(self, key: str) -> None:
        """Connect the other account, which knows nothing of refunds by this one."""
        super().change_account(key)
        self.refunds, self._refunds_elsewhere = self._refunds_elsewhere, self.refunds

    def catch_up(self) -> None:
        """Execute what arrived late."""
        super().catch_up()
        for wanted in self._late_refunds:
            self._give(wanted, "successful")
        self._late_refunds.clear()

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give money back, in the next manner."""
        self.wanted[wanted.reference] += 1
        manner = self.manners.popleft() if self.manners else "executed"
        await asyncio.sleep(0)
        match manner:
            case "away":
                raise NotReached("connection refused")
            case "refused":
                self.on_refusal()
                raise ProviderRefused("the payment is too old")
            case "lost":
                raise Unclear("timed out")
            case "late" | "killed":
                self._late_refunds.append(wanted)
                raise cut_off(manner)
            case "slow":
                self._give(wanted, "pending")
            case "failed":
                self.refunds[wanted.reference] = "failed"
            case _:
                self._give(wanted, "successful")
        if manner == "broken":
            raise Unclear("http_500")
        if manner == "bug":
            raise ValueError("an answer that nobody foresaw")
        return self._told(wanted.reference)

    def _give(self, wanted: RefundRequest, state: RefundState) -> None:
        if wanted.reference not in self.refunds:
            self.returned[wanted.reference] += 1
            self.refunds[wanted.reference] = state

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund as it is now."""
        if heard.reference is None or heard.reference not in self.refunds:
            raise Unknown(heard.reference)
        told = self._told(heard.reference)
        if self.on_look is not None:
            await self.on_look()
        return told

    def _told(self, reference: str) -> SeenRefund:
        state = self.refunds[reference]
        return SeenRefund(
            reference=reference,
            provider_reference=f"bank-{reference}",
            state=state,
            reason="the payment is too old" if state == "failed" else None,
        )
