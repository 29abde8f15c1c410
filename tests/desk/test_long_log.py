"""The pages of a long log of deliveries, and of a large payload: small, and read by few rows."""

import json
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg

from tests.desk.browser import Browser
from tests.desk.test_every_page import check_small
from tests.explaining import plan_of
from tests.make import Business
from tests.webhooks.test_log_pages import FILL, RowsRead
from tillhouse.app import App
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import AppId, BookId, DeliveryId, EndpointId, new_id
from tillhouse.webhooks.store import deliveries as store
from tillhouse.webhooks.store.deliveries import DeliveryWindow
from tillhouse.webhooks.types import DeliveryFilter

LOG = "/desk/developers/webhooks/deliveries"
ROWS, SHOWN = 10_000, 25
# A page of each status, and what they bring along.
READ_MAX = 600
PAYLOAD_BYTES = 1024 * 1024


async def test_the_pages_of_a_long_log_stay_small(
    owner: Browser, business: Business, app: App, sql: asyncpg.Connection
) -> None:
    """The first, a later one and one by a filter; each reads some hundred rows of 10,000."""
    endpoint = await business.endpoint(events=["order.created"])
    endpoint_id = EndpointId(UUID(endpoint["id"]))
    await sql.execute(FILL, endpoint_id, ROWS, now(), timedelta(milliseconds=100))
    await sql.execute("ANALYZE webhook_deliveries")
    page = await owner.open(LOG)
    await check_small(owner)
    shown = {link for link in page.links if link.startswith(f"{LOG}/")}
    assert len(shown) == SHOWN
    onward = next(link for link in page.links if "cursor=" in link)
    for address in (onward, f"{LOG}?status=delivered", f"{LOG}?endpoint_id={endpoint_id}"):
        page = await owner.open(address)
        await check_small(owner)
        assert len({link for link in page.links if link.startswith(f"{LOG}/")}) == SHOWN
    one = sorted(shown)[0]
    await owner.open(one)
    await check_small(owner)
    books = [BookId(await sql.fetchval(
        "SELECT book_id FROM webhook_endpoints WHERE id = $1", endpoint_id
    ))]  # fmt: skip
    wanted = DeliveryFilter(developer_app_id=AppId(UUID(endpoint["developerAppId"])), limit=SHOWN)
    whole = DeliveryWindow(None, None)
    async with app.services.pool.reading() as db:
        reader = RowsRead(db)
        await store.list_deliveries(reader, books, wanted, whole)
        assert SHOWN <= reader.rows <= READ_MAX
        delivery_id = DeliveryId(UUID(one.rpartition("/")[2]))
        plan = await plan_of(db, lambda db: store.show_delivery(db, books, delivery_id))
        assert plan["Actual Rows"] == 1


async def test_an_event_is_shown_however_many_came_after(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """It is asked for by its id, not looked for among the latest."""
    endpoint = await business.endpoint(events=["order.created"])
    event_id, text = new_id(), uuid4().hex
    event = {
        "id": str(event_id), "type": "order.created", "apiVersion": "v1",
        "businessId": business.id, "created": iso(now()), "environment": "test",
        "data": {"note": text},
    }  # fmt: skip
    ids = [event_id, *(new_id() for _ in range(100))]
    await sql.execute(
        """
        INSERT INTO webhook_events (book_id, id, type, payload)
        SELECT book_id, event, 'order.created', $3
        FROM webhook_endpoints, unnest($2::uuid[]) event WHERE id = $1
        """,
        UUID(endpoint["id"]), ids, json.dumps(event),
    )  # fmt: skip
    page = await owner.open(f"/desk/developers/events/{event_id}")
    assert text in page.words
    await owner.open(f"/desk/developers/events/{new_id()}", status=404)


async def test_the_page_of_a_large_payload_stays_small(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """Its beginning is shown, and how much is left out; of others it is no part at all."""
    endpoint = await business.endpoint(events=["order.created"])
    event_id, delivery_id, text = new_id(), new_id(), uuid4().hex
    words = " ".join(uuid4().hex for _ in range(PAYLOAD_BYTES // 33))
    event = {
        "id": str(event_id), "type": "order.created", "apiVersion": "v1",
        "businessId": business.id, "created": iso(now()), "environment": "test",
        "data": {"note": text + words},
    }  # fmt: skip
    payload = json.dumps(event)
    await sql.execute(
        """
        WITH event AS (
            INSERT INTO webhook_events (book_id, id, type, payload)
            SELECT book_id, $2, 'order.created', $4 FROM webhook_endpoints WHERE id = $1
        )
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, attempts, updated_at)
        SELECT book_id, $3, developer_app_id, id, $2, 'order.created', 'delivered', url, 1, now()
        FROM webhook_endpoints WHERE id = $1
        """,
        UUID(endpoint["id"]), event_id, delivery_id, payload,
    )  # fmt: skip
    for address in (f"{LOG}/{delivery_id}", LOG, f"/desk/developers/events/{event_id}",
                    "/desk/developers/events"):  # fmt: skip
        page = await owner.open(address)
        await check_small(owner)
        assert (text in page.words) == (not address.endswith(("deliveries", "events")))
        assert words[-32:] not in page.words
