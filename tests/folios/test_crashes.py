"""Check-out and night audit with the connection cut at each of their statements."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import pytest

from tests.folios.lodge import Lodge
from tests.make import Make
from tests.money.crashing import DEAD, Crash, assert_cut, at_points
from tests.money.world import World, standing_idle
from tests.waiting import within
from tillhouse.folios import jobs
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now

DUE = "SELECT EXISTS (SELECT FROM jobs WHERE due_at <= $1 AND kind = ANY ($2))"


@pytest.fixture
async def world(server_url: str) -> AsyncIterator[World]:
    """An application whose connections can be cut."""
    async with standing_idle(server_url) as opened:
        yield opened


async def _lodge(world: World) -> Lodge:
    make = Make(world.app, world.app.services)
    lodge = await Lodge.begin(await make.business(time_zone="UTC"), world.sql)
    await lodge.api.get("/v1/hotel/settings", status=200)
    return lodge


@at_points
async def test_a_check_out_that_is_cut(world: World, is_after: bool, points: Sequence[int]) -> None:
    """It happened wholly or not at all, and is done once when it is asked again."""
    lodge = await _lodge(world)
    hits = 0
    for number in points:
        stay = await lodge.arrive(2, room_id=await lodge.room())
        await lodge.pay(stay, 150)
        await lodge.shift(stay, 2)
        async with world.proxy.dying(Crash(number, is_after)) as death:
            answer = await lodge.act(stay, "check-out", leave_as_debt=True)
        assert death is not None
        if not death.is_dead:
            assert answer.status == 200
            break
        hits += 1
        again = await lodge.act(stay, "check-out", leave_as_debt=True)
        assert again.status in (200, 400), again
        folio = await lodge.folio(stay)
        assert (folio["status"], len(folio["charges"])) == ("checked_out", 2)
        assert (folio["amountOwed"], folio["unspentAmount"]) == (50, 0)
    checked_out = hits + (not death.is_dead)
    assert (await lodge.events())["hotel.reservation.checked_out"] == checked_out
    assert await lodge.faults() == []
    assert_cut(points, hits)


@at_points
async def test_an_audit_that_is_cut(world: World, is_after: bool, points: Sequence[int]) -> None:
    """Each night is charged once, whatever was cut; the next worker goes on."""
    lodge = await _lodge(world)
    services = world.app.services
    kinds = (*jobs.kinds(services), *jobs.chores(services))
    minutes, hits = 1, 0
    stays = []
    for number in points:
        stay = await lodge.arrive(1, room_id=await lodge.room(f"9{number:03}"))
        await lodge.pay(stay, 60)
        await lodge.shift(stay, 3)
        stays.append(stay)
        await lodge.sql.execute("DELETE FROM hotel_audits WHERE book_id = $1", lodge.book_id)
        minutes += 2
        async with world.proxy.dying(Crash(number, is_after)) as death:
            runner = JobRunner(services.pool, kinds, services.job_results)
            with contextlib.suppress(DEAD):
                await runner.run_due(now() + timedelta(minutes=minutes))
        assert death is not None
        minutes += 2
        runner = JobRunner(services.pool, kinds, services.job_results)
        at = now() + timedelta(minutes=minutes)
        async with within():
            # The application runs its chores as well, and may have the one that queues audits.
            while await lodge.sql.fetchval(DUE, at, [kind.name for kind in kinds]):
                await runner.run_due(at)
        folio = await lodge.folio(stay)
        assert (len(folio["charges"]), folio["amountOwed"]) == (1, 40)
        if not death.is_dead:
            break
        hits += 1
    query = "SELECT count(*) FROM folio_nights WHERE book_id = $1"
    assert await lodge.sql.fetchval(query, lodge.book_id) == len(stays)
    assert await lodge.faults() == []
    assert_cut(points, hits)
