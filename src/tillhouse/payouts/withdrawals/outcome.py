"""The outcome of a withdrawal: one function for an answer, a look and a hook.

The row is locked, so that of two that hear the same only one acts, and a later word never undoes
an earlier, truer one.
"""

from datetime import datetime
from typing import Any

from tillhouse.access import audit
from tillhouse.access.audit import Actor
from tillhouse.db.pool import Db
from tillhouse.kit.events import EventType
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import post, reverse
from tillhouse.ledger.rules import Account, Ledger, Movement, Postings, Source, Transfer
from tillhouse.ledger.store.transactions import update_status
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


async def apply(db: Db, state: State, seen: SeenPayout, failures_max: int, now: datetime) -> None:
    """Bring a locked withdrawal to what the provider says of it."""
    match rules.step_of(state.status, seen.state):
        case "complete":
            await _complete(db, state, seen, now)
        case "fail":
            await _fail(db, state, seen, (failures_max, now))
        case "reverse":
            await _reverse(db, state, seen, now)
        case "contradict":
            await _contradict(db, state, now)
        case None:
            pass


def ledger_of(state: State, now: datetime) -> Ledger:
    """The ledger of a withdrawal's book."""
    return Ledger(state.book_id, state.currency, now)


def source_of(state: State, now: datetime) -> Source:
    """The withdrawal, as the ledger knows it."""
    return Source(type=rules.SOURCE, id=state.id, happened_at=now)


def given_back(state: State) -> Given:
    """The part of the limits that a withdrawal no longer takes."""
    return Given(lineage_id=state.lineage_id, counted_on=state.counted_on, amount=state.amount)


async def _complete(db: Db, state: State, seen: SeenPayout, now: datetime) -> None:
    transfers = [Transfer(TRANSIT, CLEARING, state.amount, "payout")]
    movements: list[Movement] = []
    if seen.fee > 0:
        transfers.append(Transfer(FEES, CLEARING, seen.fee, "payout_fee"))
        movements.append(Movement("fee", "wallet", seen.fee))
    ledger = ledger_of(state, now)
    postings = Postings(tuple(transfers), tuple(movements))
    posted = await post(db, ledger, source_of(state, now), postings)
    await forget_failures(db, state.book_id)
    ending = Ending(
        status="completed",
        provider_reference=seen.provider_reference,
        fee=seen.fee,
        payout_transfer_id=posted.transfers[0],
    )
    await update_ended(db, state, ending, now)
    await update_status(db, ledger, state.transaction_id, "successful")
    more = {"payoutAccountId": state.payout_account_id, "fee": seen.fee}
    await _tell(db, state, WALLET_WITHDRAWAL_COMPLETED, more, now)


async def _fail(db: Db, state: State, seen: SeenPayout, at: tuple[int, datetime]) -> None:
    failures_max, now = at
    reason = storable(seen.reason or "failed")[:_WORDS_LENGTH_MAX]
    await give_spend_back(db, state.book_id, given_back(state))
    freeze = Freeze(f"{failures_max} withdrawals failed one after another", SYSTEM.name)
    freezes = await add_failure(db, state.book_id, failures_max, freeze, now)
    await _return_money(db, state, now)
    ending = Ending(status="failed", provider_reference=seen.provider_reference, reason=reason)
    await update_ended(db, state, ending, now)
    await update_status(db, ledger_of(state, now), state.transaction_id, "failed")
    await _tell(db, state, WALLET_WITHDRAWAL_FAILED, {"reason": reason}, now)
    if freezes:
        await note_frozen(db, state, freeze.reason, now)


async def _reverse(db: Db, state: State, seen: SeenPayout, now: datetime) -> None:
    await give_spend_back(db, state.book_id, given_back(state))
    await _return_money(db, state, now)
    ending = Ending(
        status="reversed",
        provider_reference=seen.provider_reference,
        reason=storable(seen.reason or REVERSED)[:_WORDS_LENGTH_MAX],
    )
    await update_ended(db, state, ending, now)
    await update_status(db, ledger_of(state, now), state.transaction_id, "reversed")
    await _tell(db, state, WALLET_WITHDRAWAL_FAILED, {"reason": REVERSED}, now)


async def _return_money(db: Db, state: State, now: datetime) -> None:
    """Undo the transfers, the last one first; the provider keeps its fee."""
    ledger, source = ledger_of(state, now), source_of(state, now)
    transfers = [one for one in (state.payout_transfer_id, state.transfer_id) if one is not None]
    for number, transfer_id in enumerate(transfers):
        await reverse(db, ledger, source, transfer_id, sequence=number)


async def _contradict(db: Db, state: State, now: datetime) -> None:
    """The money was given back and has left all the same: nothing more leaves unseen."""
    reason = f"the provider completed withdrawal {state.id} after it had failed"
    freeze = Freeze(reason, SYSTEM.name)
    if await add_failure(db, state.book_id, 0, freeze, now):
        await note_frozen(db, state, reason, now)


async def note_frozen(db: Db, state: State, reason: str, now: datetime) -> None:
    """Write into the audit log that the system has frozen withdrawals."""
    metadata = {"environment": state.environment, "frozen": True, "reason": reason}
    what = ("payouts.frozen", "Withdrawals: frozen")
    await audit.append(db, state.business_id, SYSTEM, what, metadata, now)


async def _tell(
    db: Db, state: State, event: EventType, more: dict[str, Any], now: datetime
) -> None:
    amount = (state.amount, state.currency)
    event_type, data = told(event, state.business_id, state.id, amount, more, now)
    await emit_from(db, Origin(state.business_id, state.book), event_type, data, now)
