"""Payments of a provider, held against those that are recorded."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import rules, store
from tillhouse.finance.reconciling.sharing import Sharing
from tillhouse.finance.reconciling.statements import Unread, difference, read_one, read_pages
from tillhouse.finance.reconciling.types import FoundDifference, OwnPayment, RecordFix, Side
from tillhouse.payins.recording import find_account_of
from tillhouse.providers.payments.provider import HeardPayment, SeenPayment

# A book of whose payments more than these have to be looked up one by one is no book with errors.
LOOKS_MAX = 5_000
_CLOCKS_DIFFER = timedelta(minutes=1)
_PAGE = 500


class PaymentCheck:
    """One pass over the payments of one provider of a book."""

    def __init__(self, services: Services, side: Side, sharing: Sharing) -> None:
        self._services = services
        self._side = side
        self._sharing = sharing
        self._foreign: set[str] = set()
        self._seen: set[str] = set()
        self._looks = 0

    @property
    def count(self) -> int:
        """How many transactions were compared."""
        return len(self._seen)

    @property
    def foreign(self) -> int:
        """How many transactions are of other books that collect by the same account."""
        return len(self._foreign)

    async def run(self) -> AsyncIterator[FoundDifference]:
        """Compare the statement with the records, then the records that it lacks."""
        async for page in read_pages(self._side, "payments"):
            async for found in self._compare(page.payments):
                yield found
        after: OwnPayment | None = None
        while own := await self._own(after):
            for name in dict.fromkeys(one.transaction for one in own):
                if name not in self._seen:
                    self._seen.add(name)
                    if (found := await self.look(name)) is not None:
                        yield found
            after = own[-1]
        self._side.seen.foreign |= self._foreign

    async def _own(self, after: OwnPayment | None) -> list[OwnPayment]:
        async with self._services.pool.reading() as db:
            return await store.list_payments(db, self._side.period, after, _PAGE)

    async def _compare(self, lines: Sequence[SeenPayment]) -> AsyncIterator[FoundDifference]:
        told: defaultdict[str, list[SeenPayment]] = defaultdict(list)
        for line in lines:
            told[line.transaction].append(line)
        own = await self._own_of(list(told))
        self._foreign |= await self._elsewhere([one for one in lines if not own[one.transaction]])
        seen = self._side.seen
        seen.payments |= {name: of for name, of in told.items() if name not in self._seen}
        for name, payments in told.items():
            if name in self._seen or name in self._foreign:
                continue
            self._seen.add(name)
            if rules.judge_payments(own[name], payments) is None:
                continue
            if (found := await self.look(name)) is not None:
                yield found

    async def _own_of(self, names: list[str]) -> defaultdict[str, list[OwnPayment]]:
        own: defaultdict[str, list[OwnPayment]] = defaultdict(list)
        async with self._services.pool.reading() as db:
            for one in await store.list_of_transactions(db, self._side.period, names):
                own[one.transaction].append(one)
        self._side.seen.own_payments |= own
        return own

    async def look(self, name: str) -> FoundDifference | None:
        """Ask for one transaction, since a statement is less exact than that."""
        self._looks += 1
        if self._looks > LOOKS_MAX:
            raise Unread(f"more than {LOOKS_MAX:,} payments differ: reconcile a shorter time")
        told = await self._told(name)
        own = (await self._own_of([name]))[name]
        verdict = rules.judge_payments(own, told)
        if verdict is None or (not own and not await self._is_ours(told)):
            return None
        if not own:
            if await self._elsewhere(told):
                self._foreign.add(name)
                return None
            verdict = await self._unless_ambiguous(told, verdict)
        fix = RecordFix(self._side.origin, name) if verdict[2] else None
        return FoundDifference(difference(self._side, name, verdict), fix)

    async def _told(self, name: str) -> Sequence[SeenPayment]:
        connection = self._side.connection
        wanted = HeardPayment(None, name, may_be_back=True)
        told = await read_one(connection.provider.find_payments(connection.credentials, wanted))
        self._side.seen.payments[name] = told or ()
        return told or ()

    async def _elsewhere(self, lines: Sequence[SeenPayment]) -> set[str]:
        """Those transactions that name a reference of another book, or are recorded in one."""
        if not lines:
            return set()
        side, named = self._side, [one.reference for one in lines if one.reference is not None]
        names = [one.transaction for one in lines]
        # A provider's names of payments are its own: no two accounts have the same.
        others = await self._sharing.connected(side)
        async with self._services.pool.reading() as db:
            known = await store.find_references_elsewhere(db, side.origin.book.id, named)
            found = await store.find_recorded_in(db, others, side.origin.provider, names)
        return found | {one.transaction for one in lines if one.reference in known}

    async def _unless_ambiguous(
        self, told: Sequence[SeenPayment], verdict: rules.Verdict
    ) -> rules.Verdict:
        """Money for no account of any book, where several collect by one: people say whose."""
        others = await self._sharing.others(self._side)
        if not others or self._side.is_named or await self._has_account(told):
            return verdict
        words = (
            f"{verdict[1]}; it names no book, and {len(others) + 1} collect by this account: "
            "repair the one that it is for, by --book"
        )
        return "payment_ambiguous", words, None

    async def _is_ours(self, told: Sequence[SeenPayment]) -> bool:
        """Whether unrecorded money has come since the provider was connected."""
        connected_at = self._side.connected_at
        if connected_at is None:
            return True
        since = connected_at - _CLOCKS_DIFFER
        if any(one.paid_at is None or one.paid_at >= since for one in told):
            return True
        return await self._has_account(told)

    async def _has_account(self, told: Sequence[SeenPayment]) -> bool:
        async with self._services.pool.reading() as db:
            found = [await find_account_of(db, self._side.origin, one) for one in told]
        return any(one is not None for one in found)
