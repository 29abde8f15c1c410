"""A book held against itself: orders, links, the wallet, and rows that wait too long."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import store
from tillhouse.finance.reconciling.types import (
    ApplyFix,
    AskFix,
    AskRefundFix,
    Difference,
    Fix,
    FoundDifference,
    Kind,
    ReconciledPart,
    Remedy,
)
from tillhouse.folios.returning.store import STUCK_STAY_REFUNDS
from tillhouse.kit.clock import now
from tillhouse.kit.ids import LOWEST_ID
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import WAITING as WAITING_REFUND
from tillhouse.orders.returning.store import STUCK_REFUNDS
from tillhouse.payins.proof import WAITING as WAITING_PAYIN
from tillhouse.payins.store.waiting import list_waiting
from tillhouse.payins.types import Origin
from tillhouse.payouts.withdrawals.proof import DUE
from tillhouse.payouts.withdrawals.proof import WAITING as WAITING_WITHDRAWAL
from tillhouse.payouts.withdrawals.store.proving import STUCK_WITHDRAWALS
from tillhouse.room import SourceType

# Its job does it within seconds.
APPLIED_WITHIN = timedelta(minutes=1)
_PAGE = 500
_KINDS: dict[str, Kind] = {
    "order": "order_differs",
    "balance": "wallet_differs",
    DUE: "payout_due",
}
# Said with its remedy, beside the proof.
_SAID_APART = (WAITING_PAYIN, WAITING_WITHDRAWAL, WAITING_REFUND)


class BookCheck:
    """One pass over the rows of one book."""

    def __init__(self, services: Services, origin: Origin, scope: ReconciledPart) -> None:
        self._services = services
        self._origin = origin
        self._scope = scope

    async def run(self, sources: Sequence[SourceType]) -> AsyncIterator[FoundDifference]:
        """Everything that the rows of a book tell differently."""
        for part in (self._waiting(), self._unbooked(), self._links(), self._wallet()):
            async for found in part:
                yield found
        async with self._services.pool.reading() as db:
            async for fault in prove(db, self._origin.book.id, sources):
                if fault.subject not in _SAID_APART:
                    kind = _KINDS.get(fault.subject, "ledger_differs")
                    yield self._found(kind, f"{fault.subject} {fault.id}", fault.what)

    async def _waiting(self) -> AsyncIterator[FoundDifference]:
        """Unapplied payments; withdrawals and refunds that aren't asked about any more."""
        book_id, before = self._origin.book.id, now() - APPLIED_WITHIN
        async with self._services.pool.reading() as db:
            payins = await list_waiting(db, book_id, before, _PAGE)
            stuck = await STUCK_WITHDRAWALS.list(db, book_id, _PAGE)
            returns = [
                *await STUCK_REFUNDS.list(db, book_id, _PAGE),
                *await STUCK_STAY_REFUNDS.list(db, book_id, _PAGE),
            ]
        for row in payins:
            target = row["target_type"], row["target_id"]
            what = f"{row['amount']:f} {row['currency']} is recorded and not {row['missing']}"
            found = self._found("payment_unapplied", str(row["id"]), what, row["provider"])
            yield _mended(found, "apply", ApplyFix(self._origin, target))
        for row in stuck:
            what = f"it is {row['status']}, and nothing works on it: {row['reason']}"
            found = self._found("payout_stuck", str(row["id"]), what, row["provider"])
            yield _mended(found, "ask", AskFix(self._origin.book, row["id"]))
        for row in returns:
            what = f"it is on its way, and nothing works on it: {row['reason']}"
            found = self._found("refund_stuck", str(row["id"]), what, row["provider"])
            yield _mended(found, "ask", AskRefundFix(self._origin.book, row["id"]))

    async def _unbooked(self) -> AsyncIterator[FoundDifference]:
        span: tuple[datetime, datetime] = (self._scope.since, self._scope.until)
        async with self._services.pool.reading() as db:
            rows = await store.list_unbooked(db, self._origin.book.id, span, _PAGE)
        for row in rows:
            what = f"{row['amount']:f} counts as applied, and no order, stay or wallet has it"
            yield self._found("payment_unbooked", str(row["id"]), what, row["provider"])

    async def _links(self) -> AsyncIterator[FoundDifference]:
        last: UUID = LOWEST_ID
        while True:
            async with self._services.pool.reading() as db:
                rows = await store.list_links(db, self._origin.book.id, last, _PAGE)
            for row in rows:
                kept, came = (row["kept"], row["count"]), (row["amount"], row["payments"])
                if kept != came:
                    what = (
                        f"it has received {kept[0]:f} in {kept[1]} payments, "
                        f"and its payments are {came[1]}, of {came[0]:f}"
                    )
                    yield self._found("link_differs", row["reference"], what)
            if len(rows) < _PAGE:
                return
            last = rows[-1]["id"]

    async def _wallet(self) -> AsyncIterator[FoundDifference]:
        async with self._services.pool.reading() as db:
            row = await store.show_wallet(db, self._origin.book.id)
        must = row["paid_in"] + row["claimed"] - row["paid_out"] + row["other"]
        if row["balance"] != must:
            what = f"the wallet has {row['balance']:f}; what came in less what left is {must:f}"
            yield self._found("wallet_differs", str(self._origin.book.id), what)

    def _found(
        self, kind: Kind, name: str, what: str, provider: str | None = None
    ) -> FoundDifference:
        difference = Difference(
            kind=kind,
            business_id=self._origin.business_id,
            environment=self._origin.book.environment,
            provider=provider,
            id=name,
            what=what,
        )
        return FoundDifference(difference)


def _mended(found: FoundDifference, remedy: Remedy, fix: Fix) -> FoundDifference:
    return FoundDifference(msgspec.structs.replace(found.difference, repair=remedy), fix)
