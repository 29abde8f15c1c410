"""Payouts of a provider, held against the withdrawals."""

from collections.abc import AsyncIterator
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import rules, store
from tillhouse.finance.reconciling.outgoing import PAGE, OutgoingCheck
from tillhouse.finance.reconciling.statements import difference, read_one
from tillhouse.finance.reconciling.types import AskFix, FoundDifference, OwnPayout, Side
from tillhouse.kit.clock import now
from tillhouse.providers.payments.provider import ProviderListPage, SeenPayout


class PayoutCheck(OutgoingCheck[OwnPayout, str]):
    """One pass over the payouts of one provider of a book."""

    of = "payouts"

    def __init__(self, services: Services, side: Side) -> None:
        super().__init__(services, side)
        self._foreign: set[str] = set()

    @property
    def count(self) -> int:
        """How many payouts were compared."""
        return len(self._seen)

    @property
    def foreign(self) -> int:
        """How many payouts are of other books that collect by the same account."""
        return len(self._foreign)

    def _is_told(self) -> bool:
        return self._side.connection.provider.capabilities.has_payouts

    def _name(self, own: OwnPayout) -> str:
        return own.reference

    async def _own(self, after: UUID) -> list[OwnPayout]:
        async with self._services.pool.reading() as db:
            return await store.list_payouts(db, self._side.period, after, PAGE)

    async def _own_of(self, references: list[str]) -> dict[str, OwnPayout]:
        async with self._services.pool.reading() as db:
            found = await store.list_of_references(db, self._side.period, references)
        own = {one.reference: one for one in found}
        self._side.seen.own_payouts |= own
        return own

    async def _compare(self, page: ProviderListPage) -> AsyncIterator[FoundDifference]:
        lines = page.payouts
        own = await self._own_of([line.reference for line in lines])
        strange = [line.reference for line in lines if line.reference not in own]
        async with self._services.pool.reading() as db:
            book_id = self._side.origin.book.id
            self._foreign |= await store.find_payouts_elsewhere(db, book_id, strange)
        seen = self._side.seen
        seen.payouts |= {one.reference: one for one in lines if one.reference not in self._seen}
        seen.foreign |= self._foreign
        for line in lines:
            if line.reference in self._seen or line.reference in self._foreign:
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

    async def _look(self, own: OwnPayout) -> FoundDifference | None:
        """Ask for one payout, and read the withdrawal once more."""
        seen = await self._told(own.reference)
        current = (await self._own_of([own.reference])).get(own.reference, own)
        self._side.seen.own_payouts[own.reference] = current
        if seen is not None:
            self._side.seen.payouts[own.reference] = _with_line(
                seen, self._side.seen.payouts.get(own.reference)
            )
        verdict = rules.judge_payout(current, seen, now())
        return None if verdict is None else self._found(current, own.reference, verdict)

    async def _told(self, reference: str) -> SeenPayout | None:
        connection = self._side.connection
        return await read_one(connection.provider.find_payout(connection.credentials, reference))

    def _found(self, own: OwnPayout | None, name: str, verdict: rules.Verdict) -> FoundDifference:
        fix = AskFix(self._side.origin.book, own.id) if own is not None and verdict[2] else None
        return FoundDifference(difference(self._side, name, verdict), fix)


def _with_line(seen: SeenPayout, line: SeenPayout | None) -> SeenPayout:
    """A look at a payout, with the moment that the list tells."""
    return seen if line is None else msgspec.structs.replace(seen, at=line.at or seen.at)


def _unrecorded(line: SeenPayout) -> rules.Verdict:
    amount = "an amount" if line.amount is None else f"{line.amount:f}"
    return "payout_unrecorded", f"{amount} left ({line.state}), and no withdrawal says why", None
