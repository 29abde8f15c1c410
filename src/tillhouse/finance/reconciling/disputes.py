"""Disputes that a provider tells of, held against those that are recorded."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.finance.reconciling import rules, store
from tillhouse.finance.reconciling.payments import PaymentCheck
from tillhouse.finance.reconciling.statements import difference, read_one, read_pages
from tillhouse.finance.reconciling.types import (
    FoundDifference,
    OwnDispute,
    OwnPayment,
    RecordFix,
    Side,
)
from tillhouse.providers.payments.provider import HeardPayment, SeenDispute

_PAGE = 500


class DisputeCheck:
    """One pass over the disputes that one provider tells of to a book."""

    def __init__(self, services: Services, side: Side, payments: PaymentCheck) -> None:
        self._services = services
        self._side = side
        self._payments = payments

    async def run(self) -> AsyncIterator[FoundDifference]:
        """Compare the provider's list with the records of our payments."""
        if not self._side.connection.provider.capabilities.has_disputes:
            return
        async for page in read_pages(self._side, "disputes"):
            async for found in self._compare(page.disputes):
                yield found
        async for found in self._read_own():
            yield found

    async def _read_own(self) -> AsyncIterator[FoundDifference]:
        """Those that were opened in the time are of its days, whatever the list tells.

        One that the list lacks is looked up by its payment.
        """
        seen, after = self._side.seen, ""
        while True:
            async with self._services.pool.reading() as db:
                own = await store.list_disputes(db, self._side.period, after, _PAGE)
                paid = {one.transaction for one in own} - seen.own_payments.keys()
                await self._keep_payments(db, list(paid))
            seen.own_disputes |= {one.provider_dispute_id: one for one in own}
            for one in own:
                if one.provider_dispute_id not in seen.disputes and (found := await self._ask(one)):
                    yield found
            if len(own) < _PAGE:
                return
            after = own[-1].provider_dispute_id

    async def _ask(self, own: OwnDispute) -> FoundDifference | None:
        """The difference between a dispute and the provider's word on its payment."""
        connection = self._side.connection
        if not connection.provider.capabilities.has_statement:
            return None
        wanted = HeardPayment(None, own.transaction, may_be_back=True)
        payments = await read_one(connection.provider.find_payments(connection.credentials, wanted))
        told = {one.provider_reference: one for paid in payments or () for one in paid.disputes}
        line = told.get(own.provider_dispute_id)
        if line is None:
            verdict = rules.unknown_dispute(own)
        else:
            self._side.seen.disputes[own.provider_dispute_id] = line
            verdict = rules.judge_dispute(own, line)
        if verdict is None:
            return None
        fix = RecordFix(self._side.origin, own.transaction) if verdict[2] else None
        return FoundDifference(difference(self._side, own.provider_dispute_id, verdict), fix)

    async def _keep_payments(self, db: Db, names: Sequence[str]) -> list[OwnPayment]:
        """Read payments that are disputed, which may have come long before the time."""
        payments = await store.list_of_transactions(db, self._side.period, names)
        of: defaultdict[str, list[OwnPayment]] = defaultdict(list)
        for one in payments:
            of[one.transaction].append(one)
        self._side.seen.own_payments |= of
        return payments

    async def _compare(self, lines: Sequence[SeenDispute]) -> AsyncIterator[FoundDifference]:
        of: defaultdict[str, list[SeenDispute]] = defaultdict(list)
        for line in lines:
            if line.transaction_id is not None:
                of[line.transaction_id].append(line)
        names = [one.provider_reference for one in lines]
        async with self._services.pool.reading() as db:
            payments = await self._keep_payments(db, list(of))
            known = {
                one.provider_dispute_id: one
                for one in await store.list_of_disputes(db, self._side.period, names)
            }
        self._side.seen.disputes |= {one.provider_reference: one for one in lines}
        self._side.seen.own_disputes |= known
        for transaction in dict.fromkeys(one.transaction for one in payments):
            for line in of[transaction]:
                verdict = rules.judge_dispute(known.get(line.provider_reference), line)
                if verdict is not None:
                    told = difference(self._side, line.provider_reference, verdict)
                    yield FoundDifference(told, RecordFix(self._side.origin, transaction))
        for transaction in of.keys() - self._side.seen.own_payments.keys():
            async for found in self._of_unrecorded(transaction, of[transaction]):
                yield found

    async def _of_unrecorded(
        self, transaction: str, lines: Sequence[SeenDispute]
    ) -> AsyncIterator[FoundDifference]:
        """Disputes of a payment that isn't recorded, such as one from before the time: if ours."""
        paid = None
        if transaction not in self._side.seen.foreign:
            paid = await self._payments.look(transaction)
        if paid is not None:
            verdict = paid.difference.kind, paid.difference.what, paid.difference.repair
            for line in lines:
                told = rules.unrecorded_dispute(line, verdict)
                yield FoundDifference(
                    difference(self._side, line.provider_reference, told), paid.fix
                )
