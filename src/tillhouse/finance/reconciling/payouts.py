"""Payouts of a provider, held against the withdrawals."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import rules, store
from tillhouse.finance.reconciling.statements import difference, read_one, read_pages
from tillhouse.finance.reconciling.types import AskFix, Found, OwnPayout, Side
from tillhouse.kit.clock import now
from tillhouse.ledger.rules import NOBODY
from tillhouse.providers.payments.provider import SeenPayout

_PAGE = 500


class PayoutCheck:
    """One pass over the payouts of one provider of a book."""

    def __init__(self, services: Services, side: Side) -> None:
        self._services = services
        self._side = side
        self._seen: set[str] = set()

    @property
    def count(self) -> int:
        """How many payouts were compared."""
        return len(self._seen)

    async def run(self) -> AsyncIterator[Found]:
        """Compare the statement with the withdrawals, then those that it doesn't tell of."""
        if not self._side.connection.provider.capabilities.has_payouts:
            return
        async for page in read_pages(self._side, "payouts"):
            async for found in self._compare(page.payouts):
                yield found
        after = NOBODY
        while own := await self._own(after):
            for one in own:
                if one.reference not in self._seen:
                    self._seen.add(one.reference)
                    if (found := await self._look(one)) is not None:
                        yield found
            after = own[-1].id

    async def _own(self, after: UUID) -> list[OwnPayout]:
        side = self._side
        which, span = (side.origin.book.id, side.origin.provider), (side.since, side.until)
        async with self._services.pool.reading() as db:
            return await store.list_payouts(db, which, span, after, _PAGE)

    async def _own_of(self, references: list[str]) -> dict[str, OwnPayout]:
        origin = self._side.origin
        async with self._services.pool.reading() as db:
            found = await store.list_of_references(db, origin.book.id, origin.provider, references)
        return {one.reference: one for one in found}

    async def _compare(self, lines: Sequence[SeenPayout]) -> AsyncIterator[Found]:
        own = await self._own_of([line.reference for line in lines])
        for line in lines:
            if line.reference in self._seen:
                continue
            self._seen.add(line.reference)
            one = own.get(line.reference)
            if one is None:
                if line.state in ("processing", "completed"):
                    yield self._found(None, line.reference, _unrecorded(line))
            elif (
                rules.judge_payout(one, line, now()) is not None
                and (found := await self._look(one)) is not None
            ):
                yield found

    async def _look(self, own: OwnPayout) -> Found | None:
        """Ask for one payout, and read the withdrawal once more."""
        seen = await self._told(own.reference)
        current = (await self._own_of([own.reference])).get(own.reference, own)
        verdict = rules.judge_payout(current, seen, now())
        return None if verdict is None else self._found(current, own.reference, verdict)

    async def _told(self, reference: str) -> SeenPayout | None:
        connection = self._side.connection
        return await read_one(connection.provider.find_payout(connection.credentials, reference))

    def _found(self, own: OwnPayout | None, name: str, verdict: rules.Verdict) -> Found:
        fix = AskFix(self._side.origin.book, own.id) if own is not None and verdict[2] else None
        return Found(difference(self._side, name, verdict), fix)


def _unrecorded(line: SeenPayout) -> rules.Verdict:
    amount = "an amount" if line.amount is None else f"{line.amount:f}"
    return "payout_unrecorded", f"{amount} left ({line.state}), and no withdrawal says why", None
