"""Refunds of a provider, held against those of orders."""

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import rules, store
from tillhouse.finance.reconciling.outgoing import PAGE, OutgoingCheck
from tillhouse.finance.reconciling.statements import difference, read_one
from tillhouse.finance.reconciling.types import (
    AskRefundFix,
    FoundDifference,
    OwnRefund,
    RecordFix,
    Side,
)
from tillhouse.kit.clock import now
from tillhouse.orders.returning.rules import reference_of, refund_id_of
from tillhouse.providers.payments.provider import (
    HeardRefund,
    ListedRefund,
    ProviderListPage,
    SeenRefund,
)


class RefundCheck(OutgoingCheck[OwnRefund, UUID]):
    """One pass over the refunds through one provider of a book."""

    of = "refunds"

    def __init__(self, services: Services, side: Side) -> None:
        super().__init__(services, side)
        self._unrecorded: set[str] = set()

    @property
    def count(self) -> int:
        """How many refunds were compared."""
        return len(self._seen) + len(self._unrecorded)

    def _is_told(self) -> bool:
        return self._side.connection.provider.capabilities.has_refunds

    def _name(self, own: OwnRefund) -> UUID:
        return own.id

    async def _own(self, after: UUID) -> list[OwnRefund]:
        async with self._services.pool.reading() as db:
            return await store.list_refunds(db, self._side.period, after, PAGE)

    async def _compare(self, page: ProviderListPage) -> AsyncIterator[FoundDifference]:
        lines = page.refunds
        ids = [refund_id for one in lines if (refund_id := refund_id_of(one.reference))]
        transactions = [one.transaction_id for one in lines if one.transaction_id is not None]
        async with self._services.pool.reading() as db:
            known = await store.list_of_refunds(db, self._side.period, ids, transactions)
            payments = await store.list_of_transactions(db, self._side.period, transactions)
        kept = {one.transaction for one in payments if one.status == "received"}
        recorded = {one.transaction: Decimal(0) for one in payments}
        for one in payments:
            recorded[one.transaction] += one.returned
        seen = self._side.seen
        seen.refunds |= {one.provider_reference: one for one in lines}
        seen.own_refunds |= {one.id: one for one in known}
        for line in lines:
            one = _own_of(line, known)
            if one is None:
                if line.state != "failed" and line.transaction_id in kept:
                    self._unrecorded.add(line.provider_reference)
                    # So much of the returned money is known, by no name.
                    recorded[line.transaction_id] -= line.amount
                    if recorded[line.transaction_id] < 0:
                        yield self._gone(line, line.transaction_id)
            elif one.id not in self._seen:
                self._seen.add(one.id)
                verdict = rules.judge_listed_refund(one, line, now())
                if verdict is not None and verdict[2] is None:
                    yield self._found(one, str(one.id), verdict)
                elif verdict is not None and (found := await self._look(one)) is not None:
                    yield found

    async def _look(self, own: OwnRefund) -> FoundDifference | None:
        """Ask for one refund, and read ours once more."""
        seen = await self._told(own)
        async with self._services.pool.reading() as db:
            found = await store.list_of_refunds(db, self._side.period, [own.id], [])
        current = found[0] if found else own
        self._side.seen.own_refunds[own.id] = current
        verdict = rules.judge_refund(current, seen, now())
        return None if verdict is None else self._found(current, str(own.id), verdict)

    async def _told(self, own: OwnRefund) -> SeenRefund | None:
        connection = self._side.connection
        known = HeardRefund(
            reference_of(own.id), own.provider_refund_id, own.transaction_id, own.payment_reference
        )
        return await read_one(connection.provider.find_refund(connection.credentials, known))

    def _gone(self, line: ListedRefund, transaction: str) -> FoundDifference:
        """A refund that wasn't asked for here: recorded, unless it bears a name of ours."""
        verdict = _unrecorded(line)
        told = difference(self._side, line.provider_reference, verdict)
        return FoundDifference(
            told, RecordFix(self._side.origin, transaction) if verdict[2] else None
        )

    def _found(self, own: OwnRefund | None, name: str, verdict: rules.Verdict) -> FoundDifference:
        fix = (
            AskRefundFix(self._side.origin.book, own.id) if own is not None and verdict[2] else None
        )
        return FoundDifference(difference(self._side, name, verdict), fix)


def _own_of(line: ListedRefund, known: Sequence[OwnRefund]) -> OwnRefund | None:
    """The refund of ours that a line tells of: by our name, or by the provider's."""
    by_id: Mapping[UUID | None, OwnRefund] = {one.id: one for one in known}
    if (named := by_id.get(refund_id_of(line.reference))) is not None:
        return named
    theirs = {one.provider_refund_id: one for one in known if one.provider_refund_id is not None}
    return theirs.get(line.provider_reference)


def _unrecorded(line: ListedRefund) -> rules.Verdict:
    words = f"{line.amount:f} of {line.transaction_id} went back, and no refund says why"
    return "refund_unrecorded", words, None if refund_id_of(line.reference) else "record"
