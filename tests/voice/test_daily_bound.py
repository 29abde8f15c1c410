"""The daily bound on calls: kept under any number at once, by the clock of the business."""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.make import Business, Make
from tests.voice.desk import CALLS, SCOPES, Desk
from tillhouse.kit.clock import iso, now

SETTINGS = "/v1/voice/settings"


async def _bound(desk: Desk, calls: int) -> None:
    await desk.api.patch(SETTINGS, {"calls_per_day": calls}, status=200)


async def _today(desk: Desk) -> int:
    return (await desk.api.get(SETTINGS, status=200)).data["callsToday"]


async def test_of_fifty_calls_at_once_as_many_pass_as_may(desk: Desk) -> None:
    """The others are told what to do, and one of them may be scheduled for another day."""
    await _bound(desk, 7)
    answers = await asyncio.gather(*(desk.api.post(CALLS, desk.body()) for _ in range(50)))
    refused = [answer for answer in answers if answer.status != 202]
    assert len(answers) - len(refused) == 7
    assert {(answer.status, answer.error) for answer in refused} == {(409, "limit_reached")}
    assert "calls_per_day" in refused[0].json["message"]
    assert (await desk.api.get(CALLS, status=200)).json["meta"]["total"] == await _today(desk) == 7
    await desk.place(scheduled_for=iso(now() + timedelta(days=3)))
    assert await _today(desk) == 7
    await _bound(desk, 8)
    await desk.place()


async def test_a_key_that_comes_again_is_no_other_call(desk: Desk) -> None:
    """Its call is answered, however full the day is, and counted once."""
    await _bound(desk, 1)
    headers, body = {"idempotency-key": "once"}, desk.body()
    first = (await desk.api.post(CALLS, body, headers=headers, status=202)).data
    again = (await desk.api.post(CALLS, body, headers=headers, status=200)).data
    assert (again["id"], await _today(desk)) == (first["id"], 1)
    await desk.api.post(CALLS, desk.body(), status=409)


async def test_a_scheduled_call_counts_for_its_day_in_the_zone_of_the_business(make: Make) -> None:
    """Two moments of one day in UTC are of two days in Auckland."""
    desk = await Desk.open(await make.business(time_zone="Pacific/Auckland"))
    zone = ZoneInfo("Pacific/Auckland")
    shown = (await desk.api.get(SETTINGS, status=200)).data
    assert shown["day"] in {
        at.astimezone(zone).date().isoformat() for at in (now(), now() - timedelta(minutes=1))
    }
    midnight = datetime(2120, 6, 2, tzinfo=zone).astimezone(UTC)
    await _bound(desk, 1)
    await desk.place(scheduled_for=iso(midnight - timedelta(seconds=1)))
    await desk.place(scheduled_for=iso(midnight))
    body = desk.body(scheduled_for=iso(midnight + timedelta(hours=23)))
    await desk.api.post(CALLS, body, status=409)
    assert await _today(desk) == 0


async def test_a_bound_of_none_lets_nobody_call_and_one_above_the_servers_is_refused(
    desk: Desk,
) -> None:
    """0 is none; the operator's maximum is named."""
    await _bound(desk, 0)
    await desk.api.post(CALLS, desk.body(), status=409)
    most = (await desk.api.get(SETTINGS, status=200)).data["callsPerDayMax"]
    answer = await desk.api.patch(SETTINGS, {"calls_per_day": most + 1}, status=422)
    assert answer.wrong_fields == {"calls_per_day"}
    assert (await desk.api.get(SETTINGS, status=200)).data["callsPerDay"] == 0


async def test_each_environment_has_a_bound_of_its_own(business: Business) -> None:
    """Calls of one use up nothing of the other."""
    test = await Desk.open(business)
    await _bound(test, 0)
    live = await business.client(*SCOPES, environment="live")
    shown = (await live.get(SETTINGS, status=200)).data
    assert (shown["callsPerDay"], shown["callsToday"]) == (1000, 0)
