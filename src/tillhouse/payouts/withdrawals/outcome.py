"""The outcome of a withdrawal: one function for an answer, a look and a hook.

The row is locked, so that of two that hear the same only one acts, and a later word never undoes
an earlier, truer one. The refund that a withdrawal pays out ends with it; its order and the
customer's credit are locked first, then limits and wallet.
"""

from datetime import datetime
from typing import Any

import msgspec

from tillhouse.access import audit
from tillhouse.access.audit import Actor
from tillhouse.db.pool import Db
from tillhouse.kit.events import EventType
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import post, reverse
from tillhouse.ledger.rules import (
    Account,
    Ledger,
    Movement,
    Postings,
    Source,
    TransactionStatus,
    Transfer,
)
from tillhouse.ledger.store.transactions import update_status
from tillhouse.orders.returning.outcome import Back
from tillhouse.orders.returning.paying_out import complete, give_up
from tillhouse.orders.returning.rules import FUNDING
from tillhouse.payouts.events import WALLET_WITHDRAWAL_COMPLETED, WALLET_WITHDRAWAL_FAILED
from tillhouse.payouts.freezing.store import Freeze, add_failure, forget_failures
from tillhouse.payouts.withdrawals import rules
from tillhouse.payouts.withdrawals.announce import told
from tillhouse.payouts.withdrawals.store.limits import Given, give_spend_back
from tillhouse.payouts.withdrawals.store.states import Ending, State, update_ended
from tillhouse.providers.payments.provider import SeenPayout
from tillhouse.webhooks.emit import Source as Origin
from tillhouse.webhooks.emit import emit_from

TRANSIT, CLEARING, FEES = (
    Account("withdrawals_in_transit"),
    Account("provider_clearing"),
    Account("fees"),
)
SYSTEM = Actor("Tillhouse", "local")
REVERSED = "reversed"
_WORDS_LENGTH_MAX = 300


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal, the refund that it pays out, if any, and what the provider says; all locked."""

    state: State
    back: Back | None
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


async def apply(db: Db, answered: Answered) -> None:
    """Bring a withdrawal to what the provider says of it."""
    match rules.step_of(answered.state.status, answered.seen.state):
        case "complete":
            await _complete(db, answered)
        case "fail":
            await _fail(db, answered)
        case "reverse":
            await _reverse(db, answered)
        case "contradict":
            await _contradict(db, answered)
        case None:
            pass


def ledger_of(state: State, now: datetime) -> Ledger:
    """The ledger of a withdrawal's book."""
    return Ledger(state.book_id, state.currency, now)


def given_back(state: State) -> Given:
    """The part of the limits that a withdrawal no longer takes."""
    return Given(lineage_id=state.lineage_id, counted_on=state.counted_on, amount=state.amount)


async def mark(db: Db, state: State, status: TransactionStatus, now: datetime) -> None:
    """Say how far its transaction is; that of a refund says so by itself."""
    if state.order_id is None and state.transaction_id is not None:
        await update_status(db, ledger_of(state, now), state.transaction_id, status)


async def _complete(db: Db, answered: Answered) -> None:
    state, seen, now = answered.state, answered.seen, answered.now
    transaction_id = None if answered.back is None else await complete(answered.back)
    # Of a refund the order says that the provider has paid: the wallet gives it the money for that.
    paid = CLEARING if state.order_id is None else FUNDING
    transfers = [Transfer(TRANSIT, paid, state.amount, "payout")]
    movements: list[Movement] = []
    if seen.fee > 0:
        transfers.append(Transfer(FEES, CLEARING, seen.fee, "payout_fee"))
        movements.append(Movement("fee", "wallet", seen.fee))
    postings = Postings(tuple(transfers), tuple(movements))
    posted = await post(db, answered.ledger, answered.source, postings)
    await forget_failures(db, state.book_id)
    ending = Ending(
        status="completed",
        provider_reference=seen.provider_reference,
        fee=seen.fee,
        payout_transfer_id=posted.transfers[0],
        transaction_id=transaction_id,
    )
    await update_ended(db, state, ending, now)
    await mark(db, state, "successful", now)
    more = {"payoutAccountId": state.payout_account_id, "fee": seen.fee}
    await _tell(db, answered, WALLET_WITHDRAWAL_COMPLETED, more)


async def _fail(db: Db, answered: Answered) -> None:
    state, now, reason = answered.state, answered.now, answered.reason("failed")
    if answered.back is not None:
        await give_up(answered.back, reason)
    await give_spend_back(db, state.book_id, given_back(state))
    freeze = Freeze(f"{answered.failures_max} withdrawals failed one after another", SYSTEM.name)
    freezes = await add_failure(db, state.book_id, answered.failures_max, freeze, now)
    await _return_money(db, answered)
    reference = answered.seen.provider_reference
    ending = Ending(status="failed", provider_reference=reference, reason=reason)
    await update_ended(db, state, ending, now)
    await mark(db, state, "failed", now)
    await _tell(db, answered, WALLET_WITHDRAWAL_FAILED, {"reason": reason})
    if freezes:
        await note_frozen(db, state, freeze.reason, now)


async def _reverse(db: Db, answered: Answered) -> None:
    state, now, reason = answered.state, answered.now, answered.reason(REVERSED)
    if answered.back is not None:
        await give_up(answered.back, reason)
    await give_spend_back(db, state.book_id, given_back(state))
    await _return_money(db, answered)
    reference = answered.seen.provider_reference
    ending = Ending(status="reversed", provider_reference=reference, reason=reason)
    await update_ended(db, state, ending, now)
    await mark(db, state, "reversed", now)
    await _tell(db, answered, WALLET_WITHDRAWAL_FAILED, {"reason": REVERSED})


async def _return_money(db: Db, answered: Answered) -> None:
    """Undo the transfers, the last one first; the provider keeps its fee."""
    state = answered.state
    transfers = [one for one in (state.payout_transfer_id, state.transfer_id) if one is not None]
    for number, transfer_id in enumerate(transfers):
        await reverse(db, answered.ledger, answered.source, transfer_id, sequence=number)


async def _contradict(db: Db, answered: Answered) -> None:
    """The money was given back and has left all the same: nothing more leaves unseen."""
    state, now = answered.state, answered.now
    reason = f"the provider completed withdrawal {state.id} after it had failed"
    freeze = Freeze(reason, SYSTEM.name)
    if await add_failure(db, state.book_id, 0, freeze, now):
        await note_frozen(db, state, reason, now)


async def note_frozen(db: Db, state: State, reason: str, now: datetime) -> None:
    """Write into the audit log that the system has frozen withdrawals."""
    metadata = {"environment": state.environment, "frozen": True, "reason": reason}
    what = ("payouts.frozen", "Withdrawals: frozen")
    await audit.append(db, state.business_id, SYSTEM, what, metadata, now)


async def _tell(db: Db, answered: Answered, event: EventType, more: dict[str, Any]) -> None:
    state, now = answered.state, answered.now
    if state.order_id is not None:
        more = {**more, "orderId": state.order_id}
    amount = (state.amount, state.currency)
    event_type, data = told(event, state.business_id, state.id, amount, more, now)
    await emit_from(db, Origin(state.business_id, state.book), event_type, data, now)
