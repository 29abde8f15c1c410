"""Payments of a provider, held against those that are recorded."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import rules, store
from tillhouse.finance.reconciling.statements import Unread, difference, read_one, read_pages
from tillhouse.finance.reconciling.types import Found, OwnPayment, RecordFix, Side
from tillhouse.payins.recording import find_account_of
from tillhouse.providers.payments.provider import HeardPayment, SeenPayment

# A book of whose payments more than these have to be looked up one by one is no book with errors.
LOOKS_MAX = 5_000
_CLOCKS_DIFFER = timedelta(minutes=1)
_PAGE = 500


class PaymentCheck:
    """One pass over the payments of one provider of a book."""

    def __init__(self, services: Services, side: Side) -> None:
        self._services = services
        self._side = side
        self._seen: set[str] = set()
        self._looks = 0

    @property
    def count(self) -> int:
        """How many transactions were compared."""
        return len(self._seen)

    async def run(self) -> AsyncIterator[Found]:
        """Compare the statement with what is recorded, then what it doesn't tell of."""
        async for page in read_pages(self._side, "payments"):
            async for found in self._compare(page.payments):
                yield found
        after: OwnPayment | None = None
        while own := await self._own(after):
            for name in dict.fromkeys(one.transaction for one in own):
                if name not in self._seen:
                    self._seen.add(name)
                    if (found := await self._look(name)) is not None:
                        yield found
            after = own[-1]

    async def _own(self, after: OwnPayment | None) -> list[OwnPayment]:
        side = self._side
        which = side.origin.book.id, side.origin.provider
        async with self._services.pool.reading() as db:
            return await store.list_payments(db, which, (side.since, side.until), after, _PAGE)

    async def _compare(self, lines: Sequence[SeenPayment]) -> AsyncIterator[Found]:
        told: defaultdict[str, list[SeenPayment]] = defaultdict(list)
        for line in lines:
            told[line.transaction].append(line)
        own = await self._own_of(list(told))
        for name, payments in told.items():
            if name in self._seen:
                continue
            self._seen.add(name)
            if rules.judge_payments(own[name], payments) is None:
                continue
            if (found := await self._look(name)) is not None:
                yield found

    async def _own_of(self, names: list[str]) -> defaultdict[str, list[OwnPayment]]:
        own: defaultdict[str, list[OwnPayment]] = defaultdict(list)
        origin = self._side.origin
        async with self._services.pool.reading() as db:
            for one in await store.list_of_transactions(db, origin.book.id, origin.provider, names):
                own[one.transaction].append(one)
        return own

    async def _look(self, name: str) -> Found | None:
        """Ask for one transaction, since a statement is less exact than that."""
        self._looks += 1
        if self._looks > LOOKS_MAX:
            raise Unread(f"more than {LOOKS_MAX:,} payments differ: reconcile a shorter time")
        told = await self._told(name)
        own = (await self._own_of([name]))[name]
        verdict = rules.judge_payments(own, told)
        if verdict is None or (not own and not await self._is_ours(told)):
            return None
        fix = RecordFix(self._side.origin, name) if verdict[2] else None
        return Found(difference(self._side, name, verdict), fix)

    async def _told(self, name: str) -> Sequence[SeenPayment]:
        connection = self._side.connection
        wanted = HeardPayment(None, name)
        told = await read_one(connection.provider.find_payments(connection.credentials, wanted))
        return told or ()

    async def _is_ours(self, told: Sequence[SeenPayment]) -> bool:
        """Whether money that nobody recorded has come since the provider was connected."""
        connected_at = self._side.connected_at
        if connected_at is None:
            return True
        since = connected_at - _CLOCKS_DIFFER
        if any(one.paid_at is None or one.paid_at >= since for one in told):
            return True
        async with self._services.pool.reading() as db:
            found = [await find_account_of(db, self._side.origin, one) for one in told]
        return any(one is not None for one in found)
