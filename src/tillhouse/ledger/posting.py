"""The ledger, for rooms that move money: post, hold, settle, release, reverse.

Each is for use within a transaction, whose `db` it is given, and each says no by an exception that
ends it. A posting can't be changed: another one corrects it, or a reversal undoes it.

Money that may yet come back is held first, and posted when its outcome is known:

    hold_id = await hold(db, ledger, source, Wanted(Account("wallet"), amount, "withdrawal"))
    await settle(db, ledger, hold_id, Account("withdrawals_in_transit"), kind="withdrawal")
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.errors import Conflict, Missing, Refused
from tillhouse.kit.ids import HoldId, TransferId, new_id
from tillhouse.ledger.rules import Account, EntryKind, Ledger, Postings, Source
from tillhouse.ledger.store import holds, reversal
from tillhouse.ledger.store.posting import Rows, record_postings, rows


class Insufficient(
    Refused, message="Less than this amount is available: lower it, or wait for more to come in."
):
    """A bounded account has less than the posting takes."""


class HoldEnded(
    Conflict, message="The hold has ended: it was posted or released, or its time is over."
):
    """A hold ends once."""


class AlreadyReversed(Conflict, message="The transfer was reversed already."):
    """A transfer is reversed once at most."""


class NotReversible(Refused, message="A reversal isn't reversed: post what is right anew."):
    """The transfer is a reversal itself."""


class WantedHold(msgspec.Struct, frozen=True):
    """An amount that is to be held."""

    account: Account
    amount: Decimal
    kind: str
    expires_at: datetime | None = None
    # The how manieth of this kind for the same source.
    sequence: int = 0


class Posted(msgspec.Struct, frozen=True):
    """The ids of the written rows, in the order of the postings."""

    transfers: tuple[UUID, ...]
    transactions: tuple[UUID, ...]


async def post(
    db: Db, ledger: Ledger, source: Source, postings: Postings, *, first: int = 0
) -> Posted:
    """Write transfers, transactions and debts of a source.

    `first` numbers its transfers. (source, kind, number) is unique: a second posting
    for one source counts on, and the same posting fails the second time.
    """
    written = rows(source.id, postings, first)
    await record_postings(db, ledger, [source], written)
    return _posted(written)


async def post_all(db: Db, ledger: Ledger, each: Sequence[tuple[Source, Postings]]) -> list[Posted]:
    """Write the postings of several sources by one statement: each of them, or none.

    Batch the transfers of a busy wallet: a balance is locked until its transaction
    commits, so that a statement of sixteen costs it hardly more than one of a single transfer.
    """
    written = [rows(source.id, postings, 0) for source, postings in each]
    await record_postings(db, ledger, [source for source, _ in each], Rows.of(written))
    return [_posted(one) for one in written]


async def hold(db: Db, ledger: Ledger, source: Source, wanted: WantedHold) -> HoldId:
    """Hold an amount of a bounded account: it stays there, and is no longer available."""
    new = holds.NewHold(
        id=HoldId(new_id()),
        account=wanted.account,
        amount=wanted.amount,
        kind=wanted.kind,
        sequence=wanted.sequence,
        expires_at=wanted.expires_at,
    )
    if await holds.insert_hold(db, ledger, source, new):
        return new.id
    is_freed = await holds.end_expired_of(db, ledger.book_id, wanted.account, ledger.now)
    if is_freed and await holds.insert_hold(db, ledger, source, new):
        return new.id
    raise Insufficient


async def settle(
    db: Db, ledger: Ledger, hold_id: HoldId, credit: Account, amount: Decimal | None = None,
    *, kind: EntryKind,
) -> UUID:  # fmt: skip
    """Post a hold to an account, wholly or in part; the rest is available again."""
    settlement = holds.Settlement(
        transfer_id=TransferId(new_id()), credit=credit, amount=amount, kind=kind
    )
    if await holds.record_settlement(db, ledger, hold_id, settlement):
        return settlement.transfer_id
    found = await holds.show_hold(db, ledger.book_id, hold_id)
    if found is None:
        raise Missing
    is_too_much = found.status == "pending" and amount is not None and amount > found.amount
    raise Insufficient if is_too_much else HoldEnded


async def release(db: Db, ledger: Ledger, hold_id: HoldId) -> None:
    """Make a held amount available again; a hold whose time is over is released, too."""
    if await holds.end_hold(db, ledger, hold_id):
        return
    if await holds.show_hold(db, ledger.book_id, hold_id) is None:
        raise Missing
    raise HoldEnded


async def reverse(
    db: Db, ledger: Ledger, source: Source, transfer_id: TransferId, *, sequence: int = 0
) -> UUID:
    """Post the opposite of a transfer, for the source that asks for it."""
    reversal_id = new_id()
    ids = (transfer_id, reversal_id)
    if await reversal.record_reversal(db, ledger, source, ids, sequence):
        return reversal_id
    found = await reversal.find_reversible(db, ledger.book_id, transfer_id)
    if found is None:
        raise Missing
    raise NotReversible if found.is_reversal else AlreadyReversed


def _posted(written: Rows) -> Posted:
    return Posted(
        tuple(row.id for row in written.posting), tuple(row.id for row in written.movement)
    )
