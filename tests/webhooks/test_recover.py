"""Recovery of a time window: which deliveries, and how fast they are sent again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest

from tests.webhooks.shop import ENDPOINTS, Json, Shop
from tillhouse.kit.clock import iso, now, parse_timestamp
from tillhouse.kit.ids import new_id

PER_SECOND = 20


async def _log(
    shop: Shop, sql: asyncpg.Connection, endpoint_id: str, moments: list[datetime], status: str
) -> list[UUID]:
    """Deliveries as they were left at these moments, with events; ids carry the time."""
    book = await shop.book()
    ids: list[UUID] = []
    for moment in moments:
        at = int(moment.timestamp() * 1000)
        ids.append(UUID(int=(at << 80) | (new_id().int & ((1 << 80) - 1))))
    events = [new_id() for _ in ids]
    await sql.executemany(
        """
        INSERT INTO webhook_events (book_id, id, type, payload)
        VALUES ($1, $2, 'order.created', '{}')
        """,
        [(book.id, event_id) for event_id in events],
    )
    await sql.executemany(
        """
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, attempts, error_message, updated_at)
        SELECT $1, $2, developer_app_id, id, $4, 'order.created', $5, url, 5, 'http_500', now()
        FROM webhook_endpoints WHERE id = $3
        """,
        [
            (book.id, one, UUID(endpoint_id), event_id, status)
            for one, event_id in zip(ids, events, strict=True)
        ],
    )
    return ids


async def _recover(shop: Shop, endpoint_id: str, **body: object) -> Json:
    return await shop.act(endpoint_id, "recover", body)


async def _queued(sql: asyncpg.Connection, endpoint_id: str) -> list[tuple[UUID, datetime]]:
    rows = await sql.fetch(
        "SELECT delivery_id, due_at FROM webhook_queue WHERE endpoint_id = $1 ORDER BY due_at",
        UUID(endpoint_id),
    )
    return [(row["delivery_id"], row["due_at"]) for row in rows]


async def test_a_preview_counts_and_changes_nothing(quiet: Shop, sql: asyncpg.Connection) -> None:
    """It tells how many and until when."""
    endpoint_id = (await quiet.endpoint())["id"]
    moment = now() - timedelta(hours=1)
    await _log(quiet, sql, endpoint_id, [moment] * 41, "failed")
    since = iso(moment - timedelta(minutes=1))
    told = await _recover(quiet, endpoint_id, since=since, preview=True)
    assert (told["count"], told["isPreview"], told["perSecond"]) == (41, True, PER_SECOND)
    assert parse_timestamp(told["lastDueAt"]) - now() <= timedelta(seconds=2)
    assert await _queued(sql, endpoint_id) == []
    ever = await _recover(quiet, endpoint_id, since="1969-12-31", preview=True)
    assert ever["count"] == 41
    lately = iso(now() - timedelta(minutes=1))
    nothing = await _recover(quiet, endpoint_id, since=lately, preview=True)
    assert (nothing["count"], nothing["lastDueAt"]) == (0, None)


async def test_what_is_recovered_is_spread_over_time(quiet: Shop, sql: asyncpg.Connection) -> None:
    """The oldest first, twenty a second; each starts anew."""
    endpoint_id = (await quiet.endpoint())["id"]
    moment = now() - timedelta(hours=1)
    ids = await _log(
        quiet, sql, endpoint_id, [moment + timedelta(seconds=n) for n in range(45)], "failed"
    )
    done = await _recover(quiet, endpoint_id, since=iso(moment))
    queued = await _queued(sql, endpoint_id)
    assert [one for one, _ in queued] == ids
    start = queued[0][1]
    gaps = [(due - start).total_seconds() for _, due in queued]
    assert gaps == pytest.approx([n / PER_SECOND for n in range(45)], abs=0.002)
    assert done["lastDueAt"] == iso(start + timedelta(seconds=44 / PER_SECOND))
    one = await quiet.delivery(str(ids[-1]))
    assert (one["status"], one["attempts"], one["errorMessage"]) == ("pending", 0, None)
    assert one["nextAttemptAt"] == done["lastDueAt"]
    assert (await _recover(quiet, endpoint_id, since=iso(moment)))["count"] == 0


async def test_what_is_recovered_goes_where_the_endpoint_is_now(
    quiet: Shop, sql: asyncpg.Connection
) -> None:
    """The record says so before it is sent."""
    endpoint_id = (await quiet.endpoint())["id"]
    moment = now() - timedelta(hours=1)
    [one] = await _log(quiet, sql, endpoint_id, [moment], "failed")
    url = (await quiet.delivery(str(one)))["url"] + "moved"
    await quiet.owner.patch(f"{ENDPOINTS}/{endpoint_id}", {"url": url}, status=200)
    await _recover(quiet, endpoint_id, since=iso(moment))
    assert (await quiet.delivery(str(one)))["url"] == url


async def test_only_what_failed_for_good_is_recovered(quiet: Shop, sql: asyncpg.Connection) -> None:
    """Not what was delivered, what will be retried, nor another endpoint's."""
    endpoint_id = (await quiet.endpoint())["id"]
    other_id = (await quiet.endpoint())["id"]
    moment = now() - timedelta(hours=1)
    [final] = await _log(quiet, sql, endpoint_id, [moment], "failed")
    await _log(quiet, sql, endpoint_id, [moment], "delivered")
    [later] = await _log(quiet, sql, endpoint_id, [moment], "failed")
    await sql.execute(
        "UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 hour' WHERE id = $1",
        later,
    )
    await _log(quiet, sql, other_id, [moment], "failed")
    assert (await _recover(quiet, endpoint_id, since=iso(moment)))["count"] == 1
    assert [one for one, _ in await _queued(sql, endpoint_id)] == [final]


async def test_what_is_no_longer_kept_is_neither_counted_nor_queued(
    quiet: Shop, sql: asyncpg.Connection
) -> None:
    """A preview tells what a recovery then does; the record of the rest stays as it is."""
    endpoint_id = (await quiet.endpoint())["id"]
    moment = now() - timedelta(hours=1)
    kept = await _log(quiet, sql, endpoint_id, [moment] * 2, "failed")
    expired = await _log(quiet, sql, endpoint_id, [moment] * 3, "failed")
    await sql.execute(
        """
        DELETE FROM webhook_events v USING webhook_deliveries d
        WHERE d.id = ANY($1) AND v.book_id = d.book_id AND v.id = d.event_id
        """,
        expired,
    )
    told = await _recover(quiet, endpoint_id, since=iso(moment), preview=True)
    done = await _recover(quiet, endpoint_id, since=iso(moment))
    assert (told["count"], done["count"]) == (2, 2)
    assert {one for one, _ in await _queued(sql, endpoint_id)} == set(kept)
    left = await quiet.delivery(str(expired[0]))
    assert (left["status"], left["errorMessage"], left["nextAttemptAt"]) == (
        "failed", "http_500", None,
    )  # fmt: skip


async def test_both_ends_belong_to_the_window(quiet: Shop, sql: asyncpg.Connection) -> None:
    """To the millisecond."""
    endpoint_id = (await quiet.endpoint())["id"]
    first = now() - timedelta(hours=2)
    last = first + timedelta(hours=1)
    tick = timedelta(milliseconds=1)
    await _log(quiet, sql, endpoint_id, [first - tick, first, last, last + tick], "failed")

    async def count(since: datetime, until: datetime) -> int:
        found = await _recover(quiet, endpoint_id, since=iso(since), until=iso(until), preview=True)
        return found["count"]

    assert await count(first, last) == 2
    assert await count(first - tick, last + tick) == 4
    assert await count(first + tick, last - tick) == 0


async def test_a_date_is_a_whole_day_where_the_business_is(
    quiet: Shop, sql: asyncpg.Connection
) -> None:
    """From its first instant to its last."""
    endpoint_id = (await quiet.endpoint())["id"]
    async with quiet.services.pool.reading() as db:
        zone = await db.fetchval(
            "SELECT time_zone FROM businesses WHERE id = $1", UUID(quiet.business.id)
        )
    assert zone == "UTC" or "/" in zone
    day = (now() - timedelta(days=3)).date()
    async with quiet.services.pool.reading() as db:
        start = await db.fetchval("SELECT $1::date::timestamp AT TIME ZONE $2", day, zone)
    whole = timedelta(days=1)
    tick = timedelta(milliseconds=1)
    moments = [start - tick, start, start + whole - tick, start + whole]
    await _log(quiet, sql, endpoint_id, [m.astimezone(UTC) for m in moments], "failed")
    found = await _recover(
        quiet, endpoint_id, since=day.isoformat(), until=day.isoformat(), preview=True
    )
    assert found["count"] == 2


async def test_a_recovery_needs_an_active_endpoint_and_a_window(quiet: Shop) -> None:
    """409 when it is disabled; 422 when the window is none."""
    endpoint_id = (await quiet.endpoint())["id"]
    path = f"{ENDPOINTS}/{endpoint_id}/recover"
    wrong: list[tuple[Json, str]] = [
        ({}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-01-02", "until": "2026-01-01"}, "until"),
        ({"since": "2126-01-02"}, "since"),
        ({"since": "2026-01-01", "status": "delivered"}, "status"),
        ({"since": "2026-01-01", "rate": 5}, "rate"),
        ({"since": "2026-01-01", "preview": "yes"}, "preview"),
    ]
    for body, field in wrong:
        answer = await quiet.owner.post(path, body, status=422)
        assert answer.wrong_fields == {field}, body
    await quiet.act(endpoint_id, "disable")
    await quiet.owner.post(path, {"since": "2026-01-01"}, status=409)
