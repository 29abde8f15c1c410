"""Withdrawals: request, list, show, cancel."""

from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.access.rules import check_scope
from tillhouse.http.route import Reply
from tillhouse.http.wire import decode
from tillhouse.kit.errors import FieldError, Forbidden, KeyReused, Refused, check, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import InvalidField
from tillhouse.kit.values import DayClock
from tillhouse.ledger.posting import Insufficient, WantedHold, hold, post, release
from tillhouse.ledger.rules import Ledger, Movement, Postings, Source
from tillhouse.ledger.store.holds import show_balance
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import lock_order
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.payments.types import ReceivedAmount
from tillhouse.orders.refunds.types import NewRefund
from tillhouse.orders.returning import paying_out
from tillhouse.orders.returning.actions import PlannedRefund
from tillhouse.orders.returning.outcome import RefundOutcome
from tillhouse.payins.disputes.recording import settle_claims
from tillhouse.payouts.accounts.actions import check_stepped_up
from tillhouse.payouts.events import (
    WALLET_WITHDRAWAL_FAILED,
    WALLET_WITHDRAWAL_REQUESTED,
    withdrawal_event,
)
from tillhouse.payouts.freezing.actions import WITHDRAWAL
from tillhouse.payouts.withdrawals import rules
from tillhouse.payouts.withdrawals.outcome import collect_of_book, given_back, ledger_of, mark
from tillhouse.payouts.withdrawals.posting_rules import WALLET
from tillhouse.payouts.withdrawals.store import limits, reading, requests, states
from tillhouse.payouts.withdrawals.store.states import WithdrawalState
from tillhouse.payouts.withdrawals.types import (
    Destination,
    NewWithdrawal,
    PaidOutRefund,
    Requester,
    Withdrawal,
    WithdrawalFilter,
)
from tillhouse.webhooks.emit import emit

_CANCELLED = "cancelled"
# The scope by which refunds are asked for.
_ORDERS = "orders:write"


class WithdrawingByOwner(
    Forbidden,
    message="Withdrawing with a login is for the owner: use a key with a withdrawal policy.",
):
    """A person has no policy of a key, so only the owner is one who may."""


class ReservedMoney(msgspec.Struct, frozen=True):
    """The amount as it is reserved: of the limits, in the wallet, among the transactions."""

    given: limits.CountedSpend
    hold_id: UUID
    # None: the refund will have one.
    transaction_id: UUID | None
    provider_key: str


async def request(call: Call, new: NewWithdrawal) -> Reply[Withdrawal]:
    """Reserve the amount, and let a worker send it; one key, one withdrawal, for ever."""
    claim = call.claim
    assert claim is not None, "the route needs a key"  # noqa: S101
    _check_caller(call)
    order = await _lock_order(call, new.refund)
    found = await _lock_facts(call, new.payout_account_id, claim.key)
    if found["earlier_id"] is not None:
        if found["earlier_fingerprint"] != claim.fingerprint:
            raise KeyReused
        return Reply(await show(call, found["earlier_id"]), is_replay=True)
    facts = _facts(found, order)
    check(rules.new_faults(new, facts))
    assert facts.account is not None, "the rules refuse a withdrawal to nowhere"  # noqa: S101
    rules.check_account(facts.account, facts, call.now)
    rules.check_policy(new.amount, facts)
    refund = await _decide_refund(call, order, new)
    withdrawal_id = new_id()
    money = await _take(call, new, facts, withdrawal_id)
    key, row = BookKey(call.book.id, withdrawal_id), _row(call, new, facts, money)
    await requests.insert_withdrawal(call.db, key, row, WITHDRAWAL, call.now)
    if refund is not None:
        await paying_out.begin(call, refund, withdrawal_id)
    await _tell_requested(call, withdrawal_id, new, facts.currency)
    return Reply(await show(call, withdrawal_id))


async def _lock_order(call: Call, refund: PaidOutRefund | None) -> OrderState | None:
    """The order of a refund that is paid out, locked before all else; None where it isn't there."""
    if refund is None:
        return None
    if not isinstance(call.caller, SystemCaller):
        check_scope(call.caller.scopes, _ORDERS)
    return await lock_order(call.db, call.book.id, refund.order_id)


async def _decide_refund(
    call: Call, order: OrderState | None, new: NewWithdrawal
) -> PlannedRefund | None:
    if new.refund is None or order is None:
        return None
    wanted = NewRefund(
        amount=ReceivedAmount(new.amount),
        payment_id=new.refund.payment_id,
        reason=new.refund.reason,
    )
    return await paying_out.decide(call, order, wanted)


async def _take(
    call: Call, new: NewWithdrawal, facts: rules.WithdrawalFacts, withdrawal_id: UUID
) -> ReservedMoney:
    """Reserve the amount: of the limits, then in the wallet."""
    given = await _reserve(call, new.amount, facts)
    await collect_of_book(call.db, call.book.id, call.now)
    await settle_claims(call.db, call.book.id, call.now)
    source = Source(type=rules.SOURCE, id=withdrawal_id, happened_at=call.now)
    ledger = Ledger(call.book.id, facts.currency, call.now)
    hold_id = await _hold(call, ledger, source, new.amount)
    transaction_id = None
    if new.refund is None:
        seen = Movement("wallet_withdrawal", "wallet", new.amount, "pending")
        posted = await post(call.db, ledger, source, Postings(movements=(seen,)))
        transaction_id = posted.transactions[0]
    return ReservedMoney(given, hold_id, transaction_id, f"wd-{withdrawal_id}")


def _check_caller(call: Call) -> None:
    """A key brings its policy; of people it is the owner, who gave the password again."""
    if isinstance(call.caller, UserCaller) and call.caller.role != "owner":
        raise WithdrawingByOwner
    check_stepped_up(call)


async def new_faults(call: Call, new: NewWithdrawal) -> list[FieldError]:
    """The faults of a new withdrawal."""
    account_id = order = None
    with suppress(InvalidField):
        order = await _lock_order(call, new.refund)
    with suppress(InvalidField):
        account_id = new.payout_account_id
    found = await _lock_facts(call, account_id, "")
    return rules.new_faults(new, _facts(found, order))


async def _tell_requested(
    call: Call, withdrawal_id: UUID, new: NewWithdrawal, currency: str
) -> None:
    more: dict[str, Any] = {"payoutAccountId": new.payout_account_id, "reference": new.reference}
    if new.refund is not None:
        more["orderId"] = new.refund.order_id
    amount = (new.amount, currency)
    event = withdrawal_event(
        WALLET_WITHDRAWAL_REQUESTED, call.business_id, withdrawal_id, amount, more, call.now
    )
    await emit(call, *event)


async def _lock_facts(call: Call, account_id: UUID | None, own_key: str) -> dict[str, Any]:
    key_id = call.caller.key_id if isinstance(call.caller, KeyCaller) else None
    return await requests.lock_facts(call.db, call.book.id, key_id, account_id, own_key)


def _facts(row: dict[str, Any], order: OrderState | None) -> rules.WithdrawalFacts:
    account = None
    if row["id"] is not None:
        names = [one for one in rules.AccountFacts.__struct_fields__ if one != "currency"]
        account = rules.AccountFacts(
            **{name: row[name] for name in names}, currency=row["account_currency"]
        )
    policy = None
    if row["lineage_id"] is not None:
        if row["policy"] is None:
            raise Refused("This key has no withdrawal policy: give it one, then try again.")
        policy = rules.policy_of(decode(row["policy"].encode()), row["lineage_id"])
    return rules.WithdrawalFacts(
        currency=row["currency"],
        time_zone=row["time_zone"],
        account=account,
        policy=policy,
        has_order=order is not None,
    )


async def _reserve(
    call: Call, amount: Decimal, facts: rules.WithdrawalFacts
) -> limits.CountedSpend:
    """Count the amount against the limits of the app and of the business."""
    day = DayClock(facts.time_zone, rules.NO_CUTOFF).today(call.now)
    book_id, policy = call.book.id, facts.policy
    if policy is not None:
        counted = await limits.take_spend(
            call.db, book_id, policy.lineage_id, day, amount, policy.max_per_day
        )
        spent = (
            counted["spent"] - amount
            if counted
            else await limits.find_spent(call.db, book_id, policy.lineage_id, day)
        )
        rolling = await limits.find_sum_of_lineage(call.db, book_id, policy.lineage_id, call.now)
        rules.DayLimit("max_per_day", policy.max_per_day, spent, rolling).check(amount)
        day = counted["day"] if counted else day
    controls = await limits.add_to_controls(call.db, book_id, day, amount, call.now)
    if controls["frozen_at"] is not None:
        raise Refused(f"Withdrawals are frozen ({controls['frozen_reason']}): ask the owner.")
    if (limit := controls["max_per_day"]) is not None:
        rolling = await limits.find_sum_of_book(call.db, book_id, call.now)
        spent = controls["spent"] - amount
        rules.DayLimit("the business's max_per_day", limit, spent, rolling).check(amount)
    lineage_id = policy.lineage_id if policy else None
    return limits.CountedSpend(lineage_id=lineage_id, counted_on=controls["day"], amount=amount)


async def _hold(call: Call, ledger: Ledger, source: Source, amount: Decimal) -> UUID:
    try:
        return await hold(call.db, ledger, source, WantedHold(WALLET, amount, rules.SOURCE))
    except Insufficient as refusal:
        balance = await show_balance(call.db, ledger.book_id, WALLET, call.now)
        available = max(balance.available, Decimal(0))
        raise Insufficient(
            f"The wallet has {available:f} {ledger.currency} available: "
            "lower the amount, or wait for more to come in."
        ) from refusal


def _row(
    call: Call, new: NewWithdrawal, facts: rules.WithdrawalFacts, money: ReservedMoney
) -> requests.WithdrawalRow:
    account, claim, by = facts.account, call.claim, actor_of(call.caller)
    assert account is not None, "asked before"  # noqa: S101
    assert claim is not None, "asked before"  # noqa: S101
    return requests.WithdrawalRow(
        amount=new.amount,
        currency=facts.currency,
        narration=new.narration,
        reference=new.reference,
        payout_account_id=account.id,
        account_version=account.version,
        provider=account.provider,
        bank_code=account.bank_code,
        bank_name=account.bank_name,
        account_number=account.account_number,
        account_name=account.account_name or "",
        provider_key=money.provider_key,
        lineage_id=money.given.lineage_id,
        counted_on=money.given.counted_on,
        hold_id=money.hold_id,
        transaction_id=money.transaction_id,
        order_id=new.refund.order_id if new.refund else None,
        idempotency_key=claim.key,
        idempotency_fingerprint=claim.fingerprint,
        requested_by_id=by.id,
        requested_by_name=by.name,
    )


async def list_page(call: Call, wanted: WithdrawalFilter) -> PageOf[Withdrawal]:
    """One page of the withdrawals that fit, the newest first."""
    page = wanted.pick()
    statuses = list(wanted.status) if wanted.status else None
    which = call.db, call.book.id, statuses, wanted.payout_account_id
    total = await reading.count_withdrawals(*which)
    rows = await reading.list_withdrawals(*which, page) if page.offset < total else []
    return PageOf([_shown(row) for row in rows], meta(page, total))


async def show(call: Call, withdrawal_id: UUID) -> Withdrawal:
    """One withdrawal."""
    return _shown(existing(await reading.show_withdrawal(call.db, call.book.id, withdrawal_id)))


async def cancel(call: Call, withdrawal_id: UUID) -> Withdrawal:
    """Give the amount back, unless the withdrawal was sent; cancelling twice is cancelling once."""
    _check_caller(call)
    state, refund = await _lock(call, withdrawal_id)
    if state.status == _CANCELLED:
        return await show(call, withdrawal_id)
    if state.status != "requested":
        raise rules.TooLate
    if refund is not None:
        await paying_out.give_up(refund, _CANCELLED)
    await limits.give_spend_back(call.db, state.book_id, given_back(state))
    ledger = ledger_of(state, call.now)
    await release(call.db, ledger, state.hold_id)
    await states.update_cancelled(call.db, state, call.now)
    await mark(call.db, state, "failed", call.now)
    amount, more = (state.amount, state.currency), {"reason": _CANCELLED}
    if state.order_id is not None:
        more["orderId"] = str(state.order_id)
    event = withdrawal_event(
        WALLET_WITHDRAWAL_FAILED, call.business_id, state.id, amount, more, call.now
    )
    await emit(call, *event)
    return await show(call, withdrawal_id)


async def _lock(call: Call, withdrawal_id: UUID) -> tuple[WithdrawalState, RefundOutcome | None]:
    """A withdrawal, locked; of one that pays a refund out, that and its order before it."""
    which = call.db, call.book.id, withdrawal_id
    state = await states.lock_without_order(*which)
    if state is not None:
        return state, None
    order_id = existing(await states.find_order_id(*which))
    refund = await paying_out.lock_refunded(call, order_id, withdrawal_id)
    return existing(await states.lock_withdrawal(*which)), refund


def _shown(row: Record) -> Withdrawal:
    names = set(Withdrawal.__struct_fields__) - {"payout_account", "requested_by"}
    return Withdrawal(
        **{name: row[name] for name in names},
        payout_account=Destination(
            id=row["payout_account_id"],
            version=row["account_version"],
            bank_code=row["bank_code"],
            bank_name=row["bank_name"],
            account_number=row["account_number"],
            account_name=row["account_name"],
        ),
        requested_by=Requester(row["requested_by_id"], row["requested_by_name"]),
    )
