"""Reconcile books: find differences, and mend those that adding rows can mend."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal

import msgspec
from asyncpg import Record

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.finance.reconciling import store
from tillhouse.finance.reconciling.balances import read_beside
from tillhouse.finance.reconciling.books import BookCheck
from tillhouse.finance.reconciling.days import list_days
from tillhouse.finance.reconciling.disputes import DisputeCheck
from tillhouse.finance.reconciling.payments import PaymentCheck
from tillhouse.finance.reconciling.payouts import PayoutCheck
from tillhouse.finance.reconciling.refunds import RefundCheck
from tillhouse.finance.reconciling.repairing import repair
from tillhouse.finance.reconciling.sharing import Sharing
from tillhouse.finance.reconciling.statements import Unread
from tillhouse.finance.reconciling.types import (
    BalanceBeside,
    Difference,
    FoundDifference,
    ProviderDays,
    ReconciledPart,
    ReconcilingReport,
    SeenMoney,
    Side,
)
from tillhouse.payins.connections import NoProvider, find_provider
from tillhouse.payins.types import Origin
from tillhouse.room import SourceType

# Told which book comes next, of how many.
Progress = Callable[[int, int], None]


# Shown the steps of a repair before it does anything.
Plan = Callable[[ReconcilingReport], None]


def _show_nothing(_plan: ReconcilingReport) -> None:
    pass


def _in_silence(_number: int, _of: int) -> None:
    pass


async def find_gap(
    services: Services, scope: ReconciledPart
) -> Literal["books", "provider"] | None:
    """The part of a scope that names nothing: that nothing differs in it would say nothing."""
    async with services.pool.reading() as db:
        books = await store.list_books(db, scope)
        if not books and (scope.business_id or scope.book):
            return "books"
        if scope.provider is None:
            return None
        for row in books:
            if await store.list_providers(db, row["book_id"], scope):
                return None
    return "provider"


class Reconciliation:
    """Reconciles the books of a scope."""

    def __init__(
        self,
        services: Services,
        scope: ReconciledPart,
        sources: Sequence[SourceType],
        progress: Progress = _in_silence,
    ) -> None:
        self._services = services
        self._scope = scope
        self._sources = sources
        self._progress = progress
        self._books = self._payments = self._payouts = self._refunds = self._foreign = 0
        self._days: list[ProviderDays] = []
        self._balances: list[BalanceBeside] = []
        self._sharing = Sharing(services)

    async def look(self) -> ReconcilingReport:
        """Find the differences, and change nothing."""
        found = [one.difference async for one in self._differences()]
        return self._report(found)

    async def repair(self, show_plan: Plan = _show_nothing) -> ReconcilingReport:
        """Show the plan, mend, and tell which differences remain and which are gone."""
        found = [one async for one in self._differences()]
        show_plan(self._report([one.difference for one in found]))
        failed: dict[tuple[str, ...], str] = {}
        for one in found:
            if one.fix is not None and (why := await repair(self._services, one.fix)):
                failed[_name(one.difference)] = why
        if all(one.fix is None for one in found):
            return self._report([one.difference for one in found])
        left = [one.difference async for one in self._differences()]
        names = {_name(one) for one in left}
        mended = [one.difference for one in found if _name(one.difference) not in names]
        return self._report([_with_failure(one, failed) for one in left], mended)

    def _report(
        self, found: list[Difference], mended: Sequence[Difference] = ()
    ) -> ReconcilingReport:
        return ReconcilingReport(
            since=self._scope.since,
            until=self._scope.until,
            books=self._books,
            payments=self._payments,
            payouts=self._payouts,
            refunds=self._refunds,
            foreign=self._foreign,
            differences=found,
            days=self._days,
            balances=self._balances,
            repaired=list(mended),
        )

    async def _differences(self) -> AsyncIterator[FoundDifference]:
        self._books = self._payments = self._payouts = self._refunds = self._foreign = 0
        self._days, self._balances = [], []
        async with self._services.pool.reading() as db:
            books = await store.list_books(db, self._scope)
        for number, row in enumerate(books):
            self._progress(number, len(books))
            self._books += 1
            book = Book(row["book_id"], row["environment"])
            async with self._services.pool.reading() as db:
                providers = await store.list_providers(db, book.id, self._scope)
            for provider in providers:
                origin = Origin(row["business_id"], book, provider["provider"])
                async for found in self._of_provider(origin, provider):
                    yield found
            own = Origin(row["business_id"], book, "")
            async for found in BookCheck(self._services, own, self._scope).run(self._sources):
                yield found

    async def _of_provider(self, origin: Origin, row: Record) -> AsyncIterator[FoundDifference]:
        try:
            async with self._services.pool.reading() as db:
                connection = await find_provider(self._services, db, origin.book, origin.provider)
            side = Side(
                seen=SeenMoney(),
                origin=origin,
                connection=connection,
                connected_at=row["connected_at"],
                since=self._scope.since,
                until=self._scope.until,
                is_named=self._scope.book == origin.book.id,
            )
            self._balances += await read_beside(self._services, side, row["currency"])
            payments = PaymentCheck(self._services, side, self._sharing)
            payouts = PayoutCheck(self._services, side)
            refunds = RefundCheck(self._services, side)
            disputes = DisputeCheck(self._services, side, payments)
            for check in (payments, payouts, refunds, disputes):
                async for found in check.run():
                    yield found
            self._payments += payments.count
            self._payouts += payouts.count
            self._refunds += refunds.count
            self._foreign += payments.foreign + payouts.foreign
            self._days += list_days(side, row["currency"])
        except (NoProvider, Unread) as error:
            why = "it is not connected any more" if isinstance(error, NoProvider) else str(error)
            yield _unread(origin, why)


def _name(difference: Difference) -> tuple[str, ...]:
    return difference.kind, difference.id, str(difference.business_id), difference.environment


def _with_failure(difference: Difference, failed: Mapping[tuple[str, ...], str]) -> Difference:
    why = failed.get(_name(difference))
    if why is None:
        return difference
    return msgspec.structs.replace(difference, what=f"{difference.what}; not mended: {why}")


def _unread(origin: Origin, why: str) -> FoundDifference:
    difference = Difference(
        kind="provider_unread",
        business_id=origin.business_id,
        environment=origin.book.environment,
        provider=origin.provider,
        id=str(origin.book.id),
        what=why,
    )
    return FoundDifference(difference)
