"""The end of a walk: nothing is on its way any more, and all that happened has been booked."""

import asyncio
from datetime import timedelta

from tests.money.crashing import Crash
from tests.money.desk import HEARD, Desk
from tests.money.steps import Step
from tests.money.walking import Walk
from tests.orders.shop import ORDERS
from tests.sweeping import JOB
from tests.waiting import within
from tests.webhooks.receiver import Receiver
from tillhouse.app import PRODUCT
from tillhouse.finance.reconciling.actions import Reconciliation
from tillhouse.finance.reconciling.types import Difference, ReconciledPart
from tillhouse.kit.clock import now
from tillhouse.payouts.withdrawals.outcome import COLLECTING
from tillhouse.webhooks.sender.worker import Sender

# The provider is asked on this many days by itself.
DAYS = 7
# Work that comes again by itself.
PERIODIC = "payin_asking", "withdrawal_look"
# By the status of a refund: its states at the provider; None: unknown there.
AGREEING: dict[str, tuple[str | None, ...]] = {
    "pending": (),
    "successful": ("successful",),
    "failed": (None, "failed"),
    "reversed": ("failed",),
}
# The same of withdrawals.
AGREEING_PAYOUT: dict[str, tuple[str | None, ...]] = {
    "requested": (None,),
    "cancelled": (None,),
    "processing": (None,),
    "completed": ("completed",),
    "failed": (None, "failed"),
    "reversed": ("reversed", "failed"),
}


async def settle(walk: Walk) -> None:
    """Let every message arrive, and what was lost be found; then everything must be booked."""
    await walk.deliver_rest()
    for _ in range(DAYS):
        await walk.work(Step("work", way=3))
    await _ask_about_all(walk)
    missing = _missing(walk)
    walk.reach["lost messages that asking found"] += len(walk.desk.provider.lost) - len(missing)
    walk.reach["payments that reconciliation found"] += len(missing)
    reconciliation = _reconciliation(walk)
    if missing:
        # Nothing asks about strangers, older accounts, or what came after all was paid.
        await reconciliation.repair()
    await walk.work(Step("work", way=3))
    missing = _missing(walk)
    assert not missing, [(number, walk.book.paid[number]) for number in missing]
    await _hear_of_refunds(walk)
    await _hear_of_payouts(walk)
    await _collect(walk)
    differences = [
        one for one in (await reconciliation.look()).differences if not _is_known(walk, one)
    ]  # fmt: skip
    assert not differences, differences
    await _check_payouts(walk)
    await _check_refunds(walk)
    left = await walk.desk.sql.fetch(_LEFT, walk.desk.book, list(PERIODIC))
    assert not left, [dict(row) for row in left]


def _is_known(walk: Walk, one: Difference) -> bool:
    """Whether it must be told: a due, or what a stop of payouts keeps from being sent again."""
    book = walk.book
    if one.kind == "payout_unknown" and book.is_frozen:
        return book.withdrawals[one.id.removeprefix("wd-")].status == "processing"
    return one.kind == "payout_due" and bool(book.due)


def _reconciliation(walk: Walk) -> Reconciliation:
    """The books held against the provider, as `tillhouse reconcile` does."""
    day, moment = timedelta(days=1), now()
    scope = ReconciledPart(since=moment - day, until=moment + day, book=walk.desk.book)
    return Reconciliation(walk.desk.app.services, scope, PRODUCT.sources)


async def _ask_about_all(walk: Walk) -> None:
    for number, order in walk.book.orders.items():
        if order.is_automated and not order.is_deleted:
            await walk.desk.pass_time(timedelta(minutes=1))
            answer = await walk.desk.ask(("POST", f"{ORDERS}/{number}/requery"))
            assert answer.status == 200, answer
            await walk.catch_up()
    for reference in walk.pages.values():
        await walk.desk.pass_time(timedelta(minutes=1))
        path = ("POST", f"/pay/{reference}/check")
        answer = await walk.desk.ask(path, None, api=walk.desk.payer)
        assert answer.status == 303, answer
        await walk.catch_up()


def _missing(walk: Walk) -> list[str]:
    """The payments of which something isn't booked yet."""
    return [
        number
        for number, one in walk.book.paid.items()
        if one.is_recorded != (one.state != "failed")
        or one.is_reversed != (one.state == "reversed")
        or (one.funds_wallet and one.state == "successful" and not one.is_applied)
        or (one.is_applied and one.given < one.returned)
    ]


async def _hear_of_refunds(walk: Walk) -> None:
    """Let the provider tell once more of what nobody heard: it thought better of it."""
    for number, state in (await walk.desk.provider.refunds()).items():
        if state not in AGREEING[walk.book.returns[number].status]:
            walk.desk.provider.hint_refund(number)
            walk.reach["refunds that were told of again"] += 1
    await walk.deliver_rest()
    await walk.work(Step("work"))


async def _hear_of_payouts(walk: Walk) -> None:
    """The same of payouts, and of their fees."""
    provider, book = walk.desk.provider, walk.book
    fees = await provider.payout_fees()
    for number, state in (await provider.payouts()).items():
        one = book.withdrawals[number]
        if state not in AGREEING_PAYOUT[one.status] or fees.get(number, 0) > one.fee:
            provider.hint(number)
            walk.reach["payouts that were told of again"] += 1
    await walk.deliver_rest()
    await walk.work(Step("work"))


async def _collect(walk: Walk) -> None:
    """Every due is taken, as far as the wallet has it."""
    has_more = True
    while has_more:
        async with walk.desk.app.services.pool.transaction() as db:
            has_more = await COLLECTING.run(db, JOB)
    await walk.catch_up()
    assert not walk.book.due or walk.book.available <= 0, (walk.book.due, walk.book.available)
    walk.reach["payouts that stay due"] += bool(walk.book.due)


async def _check_refunds(walk: Walk) -> None:
    """Money went back once where the book says so, and nowhere else."""
    refunds: dict[str, str | None] = dict(await walk.desk.provider.refunds())
    for number, one in walk.book.returns.items():
        if one.withdrawal is not None:
            walk.reach[f"refunds paid out that ended {one.status}"] += 1
            continue
        walk.reach[f"refunds that ended {one.status}"] += 1
        state = refunds.pop(number, None)
        assert state in AGREEING[one.status], (number, one, state)
    assert refunds == {}


async def _check_payouts(walk: Walk) -> None:
    """Money left once where the book says so, and nowhere else."""
    payouts = await walk.desk.provider.payouts()
    is_frozen = walk.book.is_frozen
    for number, one in walk.book.withdrawals.items():
        state = payouts.pop(number, None)
        walk.reach[f"withdrawals that ended {one.status}"] += 1
        assert state in AGREEING_PAYOUT[one.status], (number, one, state)
        is_open = one.status not in ("completed", "reversed", "failed", "cancelled")
        assert not is_open or is_frozen, (number, one)
    assert payouts == {}


async def hear_all(desk: Desk, receiver: Receiver, crash: Crash | None) -> None:
    """Every event reaches the receiver, at least once and always as the same."""
    rows = await desk.sql.fetch(_EVENTS, desk.book, list(HEARD))
    wanted = {str(row["id"]) for row in rows}
    receiver.received.clear()
    sender = Sender(desk.app.services, lease=timedelta(seconds=1))
    sender.start()
    async with within():
        async with desk.proxy.dying(crash) as death:
            while wanted - _heard(desk, receiver).keys() and not (death and death.is_dead):  # noqa: ASYNC110 - requests notify nobody
                await asyncio.sleep(0.01)
            desk.reach["crashes of senders"] += bool(death and death.is_dead)
        while wanted - _heard(desk, receiver).keys():  # noqa: ASYNC110 - requests notify nobody
            await asyncio.sleep(0.01)
    await sender.stop()
    heard = _heard(desk, receiver)
    assert heard.keys() == wanted
    assert all(len(bodies) == 1 for bodies in heard.values()), "an event came in two versions"
    desk.reach["events heard"] += len(heard)


def _heard(desk: Desk, receiver: Receiver) -> dict[str, set[bytes]]:
    found: dict[str, set[bytes]] = {}
    for one in receiver.received:
        if str(desk.book) in one.path:
            found.setdefault(one.event_id, set()).add(one.body)
    return found


_EVENTS = "SELECT id FROM webhook_events WHERE book_id = $1 AND type = ANY($2)"
_LEFT = """
    SELECT kind, attempts, dead_at, reason FROM jobs
    WHERE book_id = $1 AND (dead_at IS NOT NULL OR NOT kind = ANY($2))
"""
