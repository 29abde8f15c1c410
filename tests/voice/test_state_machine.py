"""The life of a call, walked at random: it never goes back, ends once, and frees its slot."""

import random
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.voice.desk import CALLS, Desk, phone
from tests.voice.test_simulated_calls import COMPLETED, FAILED, STARTED, events
from tillhouse.app import App
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey
from tillhouse.providers.telephony.provider import LineEnded
from tillhouse.voice.dispatching import rules
from tillhouse.voice.dispatching.claiming import LEASE, Intent, claim_next
from tillhouse.voice.dispatching.ending import tell_end, tell_start
from tillhouse.voice.dispatching.reconciling import reconcile
from tillhouse.voice.dispatching.store import handling as store
from tillhouse.voice.dispatching.store.handling import AttemptEnd, CallEnd

_RANK = {
    "queued": 0, "dialing": 1, "ringing": 2, "in_progress": 3,
    "completed": 4, "failed": 4, "missed": 4, "cancelled": 4,
}  # fmt: skip
_RESULTS = ("hung_up", "busy", "no_answer", "declined", "invalid_destination", "unwanted",
            "trunk_auth", "forbidden", "codec", "provider_unavailable", "network", "media_lost",
            "cancelled", "max_duration")  # fmt: skip
_STEPS = ("claim", "ring", "answer", "end", "cancel", "lapse")


class Walk:
    """One call, moved by steps that may come late or from a worker that has lost it."""

    def __init__(self, desk: Desk, app: App, call_id: str, seed: int) -> None:
        self._desk = desk
        self._services = app.services
        self.call_id = call_id
        self._chance = random.Random(seed)  # noqa: S311 - the same walk each time
        self._at = now()
        # Every worker that ever held the call, the ones that lost it too.
        self._intents: list[Intent] = []

    async def step(self, name: str) -> None:
        """Do one thing, as any of the workers would."""
        self._at += timedelta(seconds=1)
        if name == "claim":
            await self._claim()
        elif name == "cancel":
            await self._desk.api.post(f"{CALLS}/{self.call_id}/cancel")
        elif name == "lapse":
            self._at += LEASE
            await reconcile(self._services, {}, _Still(self._at))
        elif self._intents:
            await self._report(name, self._chance.choice(self._intents))

    async def _claim(self) -> None:
        async with self._services.pool.reading() as db:
            row = await db.fetchrow(
                "SELECT book_id, number_id, due_at FROM voice_calls WHERE id = $1",
                UUID(self.call_id),
            )
        assert row is not None
        self._at = max(self._at, row["due_at"])
        claimed = await claim_next(self._services, row["book_id"], row["number_id"], self._at)
        if isinstance(claimed, Intent):
            self._intents.append(claimed)

    async def _report(self, name: str, intent: Intent) -> None:
        key: BookKey = intent.call.key
        async with self._services.pool.transaction() as db:
            if name == "ring":
                await store.update_ringing(db, key, intent.generation, "x", self._at)
            elif name == "answer":
                answer = ("human", None)
                if await store.update_answered(db, key, intent.generation, answer, self._at):
                    await tell_start(db, intent.call, self._at)
            else:
                await self._end(intent, db)

    async def _end(self, intent: Intent, db: Db) -> None:
        ended = LineEnded(result=self._chance.choice(_RESULTS), ended_by="provider")
        end = AttemptEnd(result=ended.result, ended_by="provider", sip_status=None, detail=None)
        key = intent.call.key
        status = await store.end_held(db, key, intent.generation, intent.attempt, end, self._at)
        if status is None:
            return
        if status == "cancelled":
            await store.end_lease(db, key)
            return
        made = rules.Attempted(
            attempt=intent.attempt, max_attempts=intent.call.max_attempts,
            retry_delay=timedelta(seconds=60), not_after=intent.call.not_after,
            was_answered=status == "in_progress", is_machine=False,
        )  # fmt: skip
        match rules.after(made, ended, self._at):
            case rules.Postponed(until=until, reason=reason):
                await store.update_postponed(db, key, until, reason, self._at)
            case rules.Over() as over:
                call_end = CallEnd(
                    status=over.status, ended_reason=over.reason, ended_by=over.ended_by,
                    duration_seconds=0,
                )  # fmt: skip
                await store.update_ended(db, key, call_end, self._at)
                await tell_end(db, intent.call, call_end, None, self._at)


class _Still:
    """A clock that stands."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        """Always this moment."""
        return self._at

    async def sleep(self, seconds: float) -> None:
        """Nobody waits."""


@pytest.mark.parametrize("seed", range(12))
async def test_a_call_never_goes_back(caller: Desk, network_app: App, seed: int) -> None:
    """Reports may come late or twice: ranks rise, an end is final and told once."""
    chance = random.Random(seed)  # noqa: S311 - the same walk each time
    placed = await caller.place(customer_phone=phone(), max_attempts=2)
    walk = Walk(caller, network_app, placed["id"], seed)
    before = placed
    for _ in range(14):
        await walk.step(chance.choices(_STEPS, weights=(4, 3, 3, 3, 1, 1))[0])
        after = await caller.call(placed["id"])
        _check_move(before, after)
        before = after
    for name in ("claim", "answer", "lapse", "claim", "lapse", "claim", "lapse"):
        await walk.step(name)
    final = await caller.call(placed["id"])
    assert _RANK[final["status"]] == 4, final
    assert final["attempt"] <= 2
    told = [one["type"] for one in await events(caller, placed["id"])]
    wanted = 0 if final["status"] == "cancelled" else 1
    assert told.count(COMPLETED) + told.count(FAILED) == wanted
    assert told.count(STARTED) == (final["answeredAt"] is not None)


def _check_move(before: dict, after: dict) -> None:  # type: ignore[type-arg]
    was, is_now = before["status"], after["status"]
    if _RANK[was] == 4:
        assert (is_now, after["endedAt"]) == (was, before["endedAt"])
    elif is_now == "queued" and was != "queued":
        # Nobody was reached, so that there is another attempt.
        assert was in ("dialing", "ringing")
        assert after["queueReason"] == "retry_backoff"
    else:
        assert _RANK[is_now] >= _RANK[was], (was, is_now)


@given(
    result=st.sampled_from(_RESULTS),
    attempt=st.integers(1, 5),
    most=st.integers(1, 5),
    was_answered=st.booleans(),
    may_retry=st.booleans(),
    wait_s=st.integers(0, 7200),
)
def test_only_nobody_reached_is_tried_again(
    result: str, attempt: int, most: int, was_answered: bool, may_retry: bool, wait_s: int
) -> None:
    """Never after an answer, a refusal, the last attempt, or where the network forbids it."""
    at = now()
    made = rules.Attempted(
        attempt=attempt, max_attempts=most, retry_delay=timedelta(minutes=10),
        not_after=at + timedelta(hours=1), was_answered=was_answered, is_machine=False,
    )  # fmt: skip
    ended = LineEnded(
        result=result, ended_by="provider", may_retry=may_retry,  # type: ignore[arg-type]
        retry_after=timedelta(seconds=wait_s),
    )  # fmt: skip
    match rules.after(made, ended, at):
        case rules.Postponed(until=until):
            assert not was_answered
            assert may_retry
            assert attempt < most
            assert result in ("busy", "no_answer", "provider_unavailable", "network")
            assert at + max(timedelta(minutes=10), timedelta(seconds=wait_s)) == until
            assert until < made.not_after
        case rules.Over(status=status):
            if was_answered:
                assert status in ("completed", "failed")
            elif result in ("busy", "no_answer", "declined", "unwanted"):
                assert status == "missed"
            else:
                assert status == "failed"


@given(st.sampled_from(["+12125550100", "+2348030000100", "+81312340100", "+18005550100"]),
       st.sampled_from([("08:00", "21:00"), ("12:59", "13:06"), ("00:00", "23:59"),
                        ("02:30", "03:30")]),
       st.integers(0, 730 * 86_400))  # fmt: skip
def test_people_are_called_in_their_own_hours(
    number: str, hours: tuple[str, str], second: int
) -> None:
    """At once within the hours of all zones of the number, else at the next minute that is."""
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    waiting = rules.Waiting(
        phone=number, not_after=at + timedelta(days=9), is_suppressed=False,
        is_agent_active=True, is_number_there=True, calls_from=hours[0], calls_until=hours[1],
        business_zone="UTC",
    )  # fmt: skip
    zones = [ZoneInfo(name) for name in rules.zones_of(number, "UTC")]

    def is_open(one: datetime) -> bool:
        return all(hours[0] <= f"{one.astimezone(z):%H:%M}" < hours[1] for z in zones)

    match rules.judge(waiting, at):
        case None:
            assert is_open(at)
        case rules.Postponed(until=until, reason=reason):
            assert reason == "quiet_hours"
            assert not is_open(at)
            assert is_open(until)
            assert not is_open(until - timedelta(minutes=1))
            # On the day that clocks go forward a short time of the day may not be.
            assert until - at < timedelta(days=2)
        case _:
            minutes = (at + timedelta(minutes=n) for n in range(0, 3 * 1440, 2))
            assert not any(map(is_open, minutes))
