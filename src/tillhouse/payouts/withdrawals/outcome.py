"""The outcome of a withdrawal: one function for an answer, a look and a hook.

The row is locked, so that of two that hear the same only one acts, and a later word never undoes
an earlier, truer one. The refund that a withdrawal pays out ends with it; its order and the
customer's credit are locked first, then limits and wallet. Amounts that a payout took and the
wallet didn't have are due, and are taken as money comes in.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access import audit
from tillhouse.access.audit import Actor
from tillhouse.db.pool import Db
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BookKey
from tillhouse.kit.text import storable
from tillhouse.ledger.collecting import Collecting
from tillhouse.ledger.posting import post, reverse
from tillhouse.ledger.rules import Ledger, Postings, Source, TransactionStatus
from tillhouse.ledger.store.holds import lock_available
from tillhouse.ledger.store.transactions import update_status
from tillhouse.orders.returning.outcome import RefundOutcome
from tillhouse.orders.returning.paying_out import complete, give_up
from tillhouse.payouts.events import (
    WALLET_WITHDRAWAL_COMPLETED,
    WALLET_WITHDRAWAL_FAILED,
    withdrawal_event,
)
from tillhouse.payouts.freezing.store import Freeze, add_failure, forget_failures
from tillhouse.payouts.withdrawals import rules
from tillhouse.payouts.withdrawals.posting_rules import (
    WALLET,
    DueAmounts,
    Payout,
    completed,
    fee_told,
    taken,
)
from tillhouse.payouts.withdrawals.store import dues
from tillhouse.payouts.withdrawals.store.dues import count_transfers, list_standing, update_due
from tillhouse.payouts.withdrawals.store.limits import CountedSpend, give_spend_back
from tillhouse.payouts.withdrawals.store.states import (
    WithdrawalEnding,
    WithdrawalState,
    update_ended,
    update_fee,
)
from tillhouse.providers.payments.provider import SeenPayout
from tillhouse.webhooks.emit import Source as Origin
from tillhouse.webhooks.emit import emit_from

SYSTEM = Actor("Tillhouse", "local")
REVERSED = "reversed"
_ENDED = {"failed": "failed", REVERSED: "been sent back"}
_WORDS_LENGTH_MAX = 300


class WithdrawalAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal, the refund that it pays out, if any, and the provider's answer; all locked."""

    state: WithdrawalState
    refund: RefundOutcome | None
    seen: SeenPayout
    # So many failures one after another freeze withdrawals.
    failures_max: int
    now: datetime

    @property
    def ledger(self) -> Ledger:
        """The ledger of its book."""
        return ledger_of(self.state, self.now)

    @property
    def source(self) -> Source:
        """The withdrawal, as the ledger knows it."""
        return Source(type=rules.SOURCE, id=self.state.id, happened_at=self.now)

    def reason(self, default: str) -> str:
        """The provider's words."""
        return storable(self.seen.reason or default)[:_WORDS_LENGTH_MAX]


async def apply(db: Db, answered: WithdrawalAnswer) -> None:
    """Bring a withdrawal to the provider's state of it."""
    state, seen = answered.state, answered.seen
    match rules.step_of(state.status, seen.state, is_refund=state.order_id is not None):
        case "complete":
            await _complete(db, answered)
        case "fail":
            await _fail(db, answered)
        case "reverse":
            await _reverse(db, answered)
        case "complete_late":
            await _complete_late(db, answered)
        case None:
            is_completed = state.status == "completed" and seen.state == "completed"
            if is_completed and seen.fee > state.fee:
                await _raise_fee(db, answered)


def ledger_of(state: WithdrawalState, now: datetime) -> Ledger:
    """The ledger of a withdrawal's book."""
    return Ledger(state.book_id, state.currency, now)


def given_back(state: WithdrawalState) -> CountedSpend:
    """The part of the limits that a withdrawal no longer takes."""
    return CountedSpend(
        lineage_id=state.lineage_id, counted_on=state.counted_on, amount=state.amount
    )


async def mark(db: Db, state: WithdrawalState, status: TransactionStatus, now: datetime) -> None:
    """Say how far its transaction is; that of a refund says so by itself."""
    if state.order_id is None and state.transaction_id is not None:
        await update_status(db, ledger_of(state, now), state.transaction_id, status)


async def _complete(db: Db, answered: WithdrawalAnswer) -> None:
    state = answered.state
    transaction_id = None if answered.refund is None else await complete(answered.refund)
    await forget_failures(db, state.book_id)
    await _book_completed(db, answered, transaction_id, is_late=False)


async def _complete_late(db: Db, answered: WithdrawalAnswer) -> None:
    """The money was given back and has left all the same: nothing more leaves unseen."""
    state, now = answered.state, answered.now
    transaction_id = None if answered.refund is None else await complete(answered.refund)
    again = msgspec.structs.replace(given_back(state), amount=-state.amount)
    await give_spend_back(db, state.book_id, again)
    reason = f"the provider completed withdrawal {state.id} after it had {_ENDED[state.status]}"
    freezes = await add_failure(db, state.book_id, 0, Freeze(reason, SYSTEM.name), now)
    await _book_completed(db, answered, transaction_id, is_late=True)
    if freezes:
        await note_frozen(db, state, reason, now)


async def _book_completed(
    db: Db, answered: WithdrawalAnswer, transaction_id: UUID | None, *, is_late: bool
) -> None:
    state, seen, now = answered.state, answered.seen, answered.now
    payout = Payout(
        amount=state.amount,
        fee=max(seen.fee - state.fee, rules.NOTHING),
        is_refund=state.order_id is not None,
        is_late=is_late,
    )
    postings, due = completed(payout, await _available(db, state))
    posted = await _post(db, answered, postings)
    ending = WithdrawalEnding(
        status="completed",
        provider_reference=seen.provider_reference,
        fee=state.fee + payout.fee,
        fee_due=state.fee_due + due.fee,
        amount_due=due.amount,
        payout_transfer_id=posted[0],
        transaction_id=transaction_id,
    )
    await update_ended(db, state, ending, now)
    await mark(db, state, "successful", now)
    more = {"payoutAccountId": state.payout_account_id, "fee": ending.fee}
    await _tell(db, answered, WALLET_WITHDRAWAL_COMPLETED, more)


async def _raise_fee(db: Db, answered: WithdrawalAnswer) -> None:
    """The provider tells of a higher fee than is booked: the difference leaves the wallet."""
    state, more = answered.state, answered.seen.fee - answered.state.fee
    wanted = DueAmounts(rules.NOTHING, more)
    given = wanted.given(await _available(db, state))
    fee = fee_told(more)
    await _post(db, answered, Postings(fee.transfers + taken(given).transfers, fee.movements))
    await update_fee(db, state, answered.seen.fee, answered.now)
    due = DueAmounts(state.amount_due, state.fee_due + wanted.less(given).fee)
    await update_due(db, BookKey(state.book_id, state.id), due, answered.now)


async def _available(db: Db, state: WithdrawalState) -> Decimal:
    """The part of the wallet that it can give; it is locked after the limits."""
    return max(await lock_available(db, state.book_id, WALLET), rules.NOTHING)


async def _post(db: Db, answered: WithdrawalAnswer, postings: Postings) -> tuple[UUID, ...]:
    state = answered.state
    first = await count_transfers(db, state.book_id, state.id)
    return (await post(db, answered.ledger, answered.source, postings, first=first)).transfers


async def _fail(db: Db, answered: WithdrawalAnswer) -> None:
    state, now, reason = answered.state, answered.now, answered.reason("failed")
    if answered.refund is not None:
        await give_up(answered.refund, reason)
    await give_spend_back(db, state.book_id, given_back(state))
    freeze = Freeze(f"{answered.failures_max} withdrawals failed one after another", SYSTEM.name)
    freezes = await add_failure(db, state.book_id, answered.failures_max, freeze, now)
    await _return_money(db, answered)
    reference = answered.seen.provider_reference
    ending = WithdrawalEnding(status="failed", provider_reference=reference, reason=reason)
    await update_ended(db, state, ending, now)
    await mark(db, state, "failed", now)
    await _tell(db, answered, WALLET_WITHDRAWAL_FAILED, {"reason": reason})
    if freezes:
        await note_frozen(db, state, freeze.reason, now)


async def _reverse(db: Db, answered: WithdrawalAnswer) -> None:
    state, now, reason = answered.state, answered.now, answered.reason(REVERSED)
    if answered.refund is not None:
        await give_up(answered.refund, reason)
    await give_spend_back(db, state.book_id, given_back(state))
    await _return_money(db, answered)
    reference = answered.seen.provider_reference
    ending = WithdrawalEnding(status="reversed", provider_reference=reference, reason=reason)
    await update_ended(db, state, ending, now)
    await mark(db, state, "reversed", now)
    await _tell(db, answered, WALLET_WITHDRAWAL_FAILED, {"reason": REVERSED})


async def _return_money(db: Db, answered: WithdrawalAnswer) -> None:
    """Undo the transfers of its amount, the last one first; the provider keeps its fee."""
    state = answered.state
    first = await count_transfers(db, state.book_id, state.id)
    for number, transfer_id in enumerate(await list_standing(db, state.book_id, state.id), first):
        await reverse(db, answered.ledger, answered.source, transfer_id, sequence=number)


async def note_frozen(db: Db, state: WithdrawalState, reason: str, now: datetime) -> None:
    """Write into the audit log that the system has frozen withdrawals."""
    metadata = {"environment": state.environment, "frozen": True, "reason": reason}
    what = ("payouts.frozen", "Withdrawals: frozen")
    await audit.append(db, state.business_id, SYSTEM, what, metadata, now)


async def _tell(db: Db, answered: WithdrawalAnswer, event: EventType, more: dict[str, Any]) -> None:
    state, now = answered.state, answered.now
    if state.order_id is not None:
        more = {**more, "orderId": state.order_id}
    amount = (state.amount, state.currency)
    event_type, data = withdrawal_event(event, state.business_id, state.id, amount, more, now)
    await emit_from(db, Origin(state.business_id, state.book), event_type, data, now)


async def _collect(db: Db, found: dues.DueRow, at: datetime) -> bool:
    """Take money of the wallet for one withdrawal; whether any was taken."""
    ledger = Ledger(found.book_id, found.currency, at)
    due = DueAmounts(found.amount_due, found.fee_due)
    given = due.given(max(await lock_available(db, found.book_id, WALLET), rules.NOTHING))
    if given.is_nothing:
        return False
    source = Source(type=rules.SOURCE, id=found.id, happened_at=at)
    first = await dues.count_transfers(db, found.book_id, found.id)
    await post(db, ledger, source, taken(given), first=first)
    await dues.update_due(db, BookKey(found.book_id, found.id), due.less(given), at)
    return True


_DUES = Collecting(
    name="payouts_due",
    lock=dues.lock_due,
    lock_of_book=dues.lock_due_of_book,
    take=_collect,
)
collect_of_book = _DUES.of_book
"""Take the dues of a book, before more is withdrawn from its wallet."""
COLLECTING = _DUES.chore()
"""The chore that takes due money."""
