"""Pages and times of the delivery log, and what a page costs in a long one."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.webhooks.shop import DELIVERIES, Json, Shop
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso, now, parse_timestamp
from tillhouse.kit.ids import DeliveryId, EndpointId, new_id
from tillhouse.webhooks.store import deliveries as store
from tillhouse.webhooks.store.deliveries import DeliveryWindow, turn_partitions
from tillhouse.webhooks.types import DeliveryFilter

TICK = timedelta(milliseconds=1)


async def _paged(shop: Shop, query: str) -> list[list[Json]]:
    """Page after page, until one is not full."""
    pages: list[list[Json]] = []
    cursor = ""
    while not pages or len(pages[-1]) == 2:
        pages.append(await shop.deliveries(f"limit=2&{query}{cursor}"))
        if pages[-1]:
            cursor = f"&cursor={pages[-1][-1]['id']}"
    return pages


async def test_pages_cover_the_log_once(quiet: Shop, sql: asyncpg.Connection) -> None:
    """By each way into the log, whatever comes in meanwhile and whatever status it has."""
    endpoint = await quiet.endpoint(events=["order.created", "order.updated"])
    await quiet.endpoint(environment="live")
    await quiet.endpoint(developer_app_id=await quiet.app_of(), events=["order.updated"])
    for number in range(3):
        await quiet.emit()
        await quiet.emit("order.updated")
        await quiet.emit(environment="live")
        status = ("pending", "delivered", "failed")[number]
        await sql.execute(
            "UPDATE webhook_deliveries SET status = $2 WHERE id = $1",
            UUID((await quiet.deliveries("limit=1"))[0]["id"]),
            status,
        )
    for query, count in (
        ("", 12),
        (f"endpoint_id={endpoint['id']}", 6),
        (f"endpoint_id={endpoint['id']}&event_type=order.updated", 3),
        ("event_type=order.updated", 6),
        ("status=delivered", 1),
        (f"developer_app_id={endpoint['developerAppId']}", 6),
    ):
        whole = await quiet.deliveries(query)
        assert len(whole) == count, query
        pages = await _paged(quiet, query)
        assert [each for page in pages for each in page] == whole, query
    first = await quiet.deliveries("limit=2")
    await quiet.emit("order.updated")
    second = await quiet.deliveries(f"limit=2&cursor={first[-1]['id']}")
    assert first + second == (await quiet.deliveries())[2:6]


async def test_the_deliveries_of_an_event_have_pages(quiet: Shop) -> None:
    """An event goes to several endpoints."""
    for _ in range(3):
        await quiet.endpoint()
    event_id = await quiet.emit()
    pages = await _paged(quiet, f"event_id={event_id}")
    assert [len(page) for page in pages] == [2, 1]
    assert len({each["id"] for page in pages for each in page}) == 3


async def test_a_time_window_has_both_its_ends(quiet: Shop) -> None:
    """To the millisecond; a date is the whole day; one that ends before it begins is refused."""
    endpoint = await quiet.endpoint()
    event_id = await quiet.emit()
    [made] = await quiet.deliveries()
    at = parse_timestamp(made["createdAt"])

    async def found(since: str, until: str, more: str = "") -> int:
        return len(await quiet.deliveries(f"since={since}&until={until}&{more}"))

    for way in ("", f"endpoint_id={endpoint['id']}", f"event_id={event_id}"):
        assert await found(iso(at), iso(at), way) == 1, way
        assert await found(iso(at + TICK), iso(at + TICK), way) == 0, way
        assert await found(iso(at - TICK), iso(at - TICK), way) == 0, way
    days = [(at + timedelta(days=days)).date().isoformat() for days in (-2, 2)]
    assert await found(days[0], days[1]) == 1
    assert await found("1969-12-31", days[1]) == 1
    answer = await quiet.owner.get(f"{DELIVERIES}?since={days[1]}&until={days[0]}", status=422)
    assert answer.wrong_fields == {"until"}


@pytest.mark.parametrize(
    "query", ["cursor=1", "cursor=", "limit=0", "limit=101", "since=now", "until=31.1.2026"]
)
async def test_a_page_that_means_nothing_is_refused(quiet: Shop, query: str) -> None:
    """With 422, naming it."""
    answer = await quiet.owner.get(f"{DELIVERIES}?{query}", status=422)
    assert answer.wrong_fields == {query.partition("=")[0]}


async def test_the_cursor_of_another_business_tells_nothing(quiet: Shop) -> None:
    """It is a moment and no more: the own deliveries before it, and none of theirs."""
    theirs = await Shop.open(quiet.app)
    await theirs.endpoint()
    await quiet.endpoint()
    own = await quiet.delivery_of(await quiet.emit())
    their_id = (await theirs.delivery_of(await theirs.emit()))["id"]
    found = await quiet.deliveries(f"cursor={max(their_id, str(new_id()))}")
    assert [each["id"] for each in found] == [own["id"]]
    assert await quiet.deliveries(f"cursor={uuid4()}&endpoint_id={uuid4()}") == []


# So many rows of one endpoint and type over so many weeks, the newer half failed: whatever else is
# looked for lies behind all of them, or nowhere.
ROWS, WEEKS = 10_000, 8
# Some hundred of each status, and what they bring along.
READ_MAX = 600
COMMON, RARE = "order.created", "order.updated"
ASKED: list[Json] = [
    {},
    {"developer_app_id": uuid4()},
    *({"status": status} for status in ("delivered", "pending", "failed")),
    {"event_type": RARE},
    {"event_type": COMMON, "status": "delivered"},
    {"event_type": COMMON, "status": "pending"},
    {"event_type": RARE, "status": "failed"},
]
FILL = """
    INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id, event_id,
        event_type, status, url, attempts, updated_at)
    SELECT e.book_id, new_id($3::timestamptz - n * $4::interval), e.developer_app_id, e.id,
        gen_random_uuid(), 'order.created', CASE WHEN n * 2 < $2 THEN 'failed' ELSE 'delivered' END,
        e.url, 5, $3
    FROM webhook_endpoints e CROSS JOIN generate_series(1, $2) n WHERE e.id = $1
"""


async def test_a_page_is_found_by_an_index(quiet: Shop) -> None:
    """Each filter reads a few rows of a long log: on the first page, a deep one, in a window."""
    endpoint_id = EndpointId(UUID((await quiet.endpoint())["id"]))
    books = [(await quiet.book()).id]
    end = now()
    middle = end - timedelta(weeks=WEEKS / 2)
    cursor = DeliveryId(UUID(int=int(middle.timestamp() * 1000) << 80))
    whole, part = DeliveryWindow(None, None), DeliveryWindow(middle, middle + timedelta(days=7))
    many: dict[str, int] = {}
    async with quiet.services.pool.transaction() as db:
        for week in range(WEEKS + 1):
            await turn_partitions(db, end - timedelta(weeks=week), 36_500)
        await db.execute(FILL, endpoint_id, ROWS, end, timedelta(weeks=WEEKS) / ROWS)
        await db.execute("ANALYZE webhook_deliveries")
        reader = RowsRead(db)
        for asked in ASKED:
            for place, window in ((None, whole), (cursor, whole), (None, part)):
                wanted = DeliveryFilter(cursor=place, **asked)
                case = f"{asked} {place} {window}"
                await store.list_deliveries(reader, books, wanted, window)
                many[case] = reader.rows
                await store.list_deliveries_of_endpoint(reader, books, endpoint_id, wanted, window)
                many[f"endpoint {case}"] = reader.rows
        # The rows are of this transaction alone.
        await db.rollback()
    assert {case: rows for case, rows in many.items() if rows > READ_MAX} == {}
    assert max(many.values()) >= 100


class RowsRead(Db):
    """Counts the rows of the log that a statement reads, and gives none of them."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self.rows = 0

    async def fetch(self, sql: LiteralString, *args: object) -> list[asyncpg.Record]:
        """Run it to see what it reads."""
        text = await self._db.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) " + sql, *args)
        self.rows = round(sum(_read(json.loads(text)[0]["Plan"])))
        return []


def _read(node: dict[str, Any]) -> Iterator[float]:
    """The rows of the log that each part of a plan looks at, those that it drops included."""
    if node.get("Relation Name", "").startswith("webhook_deliveries"):
        dropped = node.get("Rows Removed by Filter", 0)
        yield (node["Actual Rows"] + dropped) * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _read(child)
