"""Tables and their sessions: one open session for each, closed when it is paid."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.api import Api, Response
from tests.make import Business
from tillhouse.kit.clock import iso, now

TABLES = "/v1/tables"
SESSIONS = "/v1/table-sessions"


@pytest.fixture
async def client(business: Business) -> Api:
    """A key of the test book."""
    return await business.client("tables:read", "tables:write", "orders:write", "stores:write")


async def table_of(client: Api, **fields: Any) -> str:
    """The id of a new table."""
    return (await client.post(TABLES, {"label": "T1", **fields}, status=201)).data["id"]


async def seat(client: Api, table_id: str, **options: Any) -> Response:
    """Open a session."""
    return await client.post(SESSIONS, {"table_id": table_id, "covers": 2}, **options)


async def order(client: Api, session_id: str, price: int, **fields: Any) -> dict[str, Any]:
    """Charge something to a session."""
    line = {"product_name": "Dinner", "quantity": 1, "line_type": "fee", "custom_price": price}
    body = {"items": [line], "table_session_id": session_id, **fields}
    return (await client.post("/v1/orders", body, status=201)).data


async def test_a_table_shows_who_sits_there(client: Api) -> None:
    """In the list and by itself, as long as the session is open."""
    store = (await client.post("/v1/stores", {"name": "Bar"}, status=201)).data["id"]
    body = {"label": " T12 ", "store_id": store, "area": "Terrace", "seats": 4}
    table = (await client.post(TABLES, body, status=201)).data
    assert table == {
        "id": table["id"],
        "storeId": store,
        "label": "T12",
        "area": "Terrace",
        "seats": 4,
        "isActive": True,
        "openSession": None,
        "createdAt": table["createdAt"],
        "updatedAt": table["createdAt"],
    }
    session = (await seat(client, table["id"], status=201)).data
    opened = {"id": session["id"], "covers": 2, "openedAt": session["openedAt"]}
    assert (await client.get(f"{TABLES}/{table['id']}", status=200)).data["openSession"] == opened
    [listed] = (await client.get(f"{TABLES}?store_id={store}", status=200)).data
    assert listed["openSession"] == opened
    await client.post(f"{SESSIONS}/{session['id']}/close", status=200)
    assert (await client.get(f"{TABLES}/{table['id']}", status=200)).data == table


async def test_every_wrong_field_of_a_table_is_named(client: Api) -> None:
    """An unknown store among them."""
    store_id = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"
    body: dict[str, Any] = {"label": "", "store_id": store_id, "seats": 0, "area": "\n"}
    answer = await client.post(TABLES, body, status=422)
    assert answer.wrong_fields == body.keys()
    path = f"{TABLES}/{await table_of(client)}"
    answer = await client.patch(path, body, status=422)
    assert answer.wrong_fields == body.keys()
    answer = await client.patch(path, {"store_id": store_id}, status=422)
    assert answer.wrong_fields == {"store_id"}


async def test_a_label_is_taken_once_in_each_store(client: Api) -> None:
    """Without a store, too."""
    store = (await client.post("/v1/stores", {"name": "Bar"}, status=201)).data["id"]
    first = await table_of(client)
    await client.post(TABLES, {"label": "t1"}, status=409)
    second = await table_of(client, store_id=store)
    await client.patch(f"{TABLES}/{second}", {"store_id": None}, status=409)
    await client.delete(f"{TABLES}/{first}", status=200)
    await client.patch(f"{TABLES}/{second}", {"store_id": None}, status=200)


async def test_of_many_who_sit_down_at_once_one_does(client: Api) -> None:
    """The index decides, and who is late is told of the session that is there."""
    table = await table_of(client)
    answers = await asyncio.gather(*(seat(client, table) for _ in range(20)))
    [session] = [answer.data["id"] for answer in answers if answer.status == 201]
    refused = [answer for answer in answers if answer.status != 201]
    assert {(answer.status, answer.error) for answer in refused} == {(409, "request_failed")}
    assert all(session in answer.json["message"] for answer in refused)
    assert (await client.get(SESSIONS, status=200)).json["meta"]["total"] == 1


async def test_a_table_goes_or_its_guests_come(client: Api) -> None:
    """At once, never both."""
    for _ in range(5):
        table = await table_of(client)
        gone, seated = await asyncio.gather(client.delete(f"{TABLES}/{table}"), seat(client, table))
        assert (gone.status, seated.status) in {(200, 422), (400, 201)}
        if seated.status == 201:
            await client.post(f"{SESSIONS}/{seated.data['id']}/close", status=200)
            await client.delete(f"{TABLES}/{table}", status=200)


async def test_nobody_sits_at_a_table_that_is_none(client: Api, business: Business) -> None:
    """Out of use: 400; deleted, of the other book, unknown: 422 with every other wrong field."""
    unused = await table_of(client, is_active=False)
    assert (await seat(client, unused, status=400)).error == "request_failed"
    await client.patch(f"{TABLES}/{unused}", {"is_active": True}, status=200)
    await seat(client, unused, status=201)
    deleted = await table_of(client, label="T2")
    await client.delete(f"{TABLES}/{deleted}", status=200)
    for table_id in (deleted, (await business.table("live"))["id"]):
        answer = await client.post(SESSIONS, {"table_id": table_id, "covers": 0}, status=422)
        assert answer.wrong_fields == {"table_id", "covers"}
        answer = await seat(client, table_id, status=422)
        assert answer.wrong_fields == {"table_id"}


async def test_covers_change_while_guests_are_there(client: Api) -> None:
    """Null is unknown; after the session nothing changes, and closing again is no mistake."""
    table = await table_of(client)
    session = (await seat(client, table, status=201)).data
    path = f"{SESSIONS}/{session['id']}"
    assert (await client.patch(path, {}, status=200)).data == session
    assert (await client.patch(path, {"covers": 5}, status=200)).data["covers"] == 5
    assert (await client.patch(path, {"covers": None}, status=200)).data["covers"] is None
    closed = (await client.post(f"{path}/close", status=200)).data
    assert closed["status"] == "closed"
    assert closed["closedAt"] is not None
    assert (await client.post(f"{path}/close", {"force": True}, status=200)).data == closed
    assert (await client.patch(path, {"covers": 2}, status=400)).error == "request_failed"


async def test_sessions_are_filtered_and_counted(client: Api) -> None:
    """By status and by table; the last opened first."""
    one, two = await table_of(client), await table_of(client, label="T2")
    ids: list[str] = []
    for table in (one, two, one):
        ids.append((await seat(client, table, status=201)).data["id"])
        if len(ids) < 3:
            await client.post(f"{SESSIONS}/{ids[-1]}/close", status=200)
    for query, expected in (
        ("", ids[::-1]),
        ("?status=open", ids[2:]),
        ("?status=closed", ids[1::-1]),
        (f"?table_id={one}", [ids[2], ids[0]]),
        (f"?table_id={one}&status=open", [ids[2]]),
        (f"?table_id={one}&status=closed", [ids[0]]),
        (f"?table_id={two}&status=open", []),
        ("?table_id=0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e", []),
    ):
        answer = await client.get(SESSIONS + query, status=200)
        assert [session["id"] for session in answer.data] == expected, query
        assert answer.json["meta"]["total"] == len(expected), query


async def test_a_session_stays_open_until_it_is_paid(client: Api) -> None:
    """It tells what was ordered and what is unpaid; force closes it all the same."""
    table = await table_of(client)
    session = (await seat(client, table, status=201)).data
    assert (session["ordersCount"], session["totalAmount"], session["unpaidAmount"]) == (0, 0, 0)
    path = f"{SESSIONS}/{session['id']}"
    paid = await order(client, session["id"], 1000, amount_paid=1000)
    owed = await order(client, session["id"], 500, amount_paid=200)
    other = await order(client, session["id"], 70)
    shown = (await client.get(path, status=200)).data
    assert (shown["ordersCount"], shown["totalAmount"]) == (3, 1570)
    assert (shown["unpaidAmount"], shown["currency"]) == (370, paid["currency"])
    assert shown["tableLabel"] == "T1"
    answer = await client.post(f"{path}/close", {}, status=400)
    assert answer.error == "request_failed"
    assert "2 orders" in answer.json["message"]
    assert "370" in answer.json["message"]
    await client.patch(f"/v1/orders/{other['id']}", {"status": "cancelled"}, status=200)
    shown = (await client.get(path, status=200)).data
    assert (shown["ordersCount"], shown["totalAmount"], shown["unpaidAmount"]) == (2, 1500, 300)
    assert "1 order " in (await client.post(f"{path}/close", {}, status=400)).json["message"]
    await client.patch(f"/v1/orders/{owed['id']}", {"amount_paid": 500}, status=200)
    assert (await client.post(f"{path}/close", {}, status=200)).data["unpaidAmount"] == 0


async def test_an_order_for_later_keeps_its_session_open(client: Api) -> None:
    """It waits for money like one of now: in the sum, and when the guests want to go."""
    session = (await seat(client, await table_of(client), status=201)).data
    path = f"{SESSIONS}/{session['id']}"
    later = iso(now() + timedelta(days=1))
    made = await order(client, session["id"], 500, scheduled_for=later)
    assert made["status"] == "scheduled"
    shown = (await client.get(path, status=200)).data
    assert (shown["ordersCount"], shown["unpaidAmount"]) == (1, 500)
    answer = await client.post(f"{path}/close", {}, status=400)
    assert "1 order " in answer.json["message"]
    assert "500" in answer.json["message"]


async def test_a_deleted_order_keeps_no_session_open(client: Api) -> None:
    """It counts no more: nobody waits for its money."""
    session = (await seat(client, await table_of(client), status=201)).data
    path = f"{SESSIONS}/{session['id']}"
    made = await order(client, session["id"], 500)
    await client.delete(f"/v1/orders/{made['id']}", status=200)
    shown = (await client.get(path, status=200)).data
    assert (shown["ordersCount"], shown["totalAmount"], shown["unpaidAmount"]) == (0, 0, 0)
    assert (await client.post(f"{path}/close", {}, status=200)).data["status"] == "closed"


async def test_force_closes_an_unpaid_session(client: Api) -> None:
    """A debt stays."""
    table = await table_of(client)
    session = (await seat(client, table, status=201)).data
    await order(client, session["id"], 500)
    path = f"{SESSIONS}/{session['id']}/close"
    closed = (await client.post(path, {"force": True}, status=200)).data
    assert (closed["status"], closed["unpaidAmount"]) == ("closed", 500)
    await seat(client, table, status=201)


async def test_an_order_lives_on_after_its_session(client: Api) -> None:
    """It is paid or taken up again as ever, and counts where it belongs; nobody sits down again."""
    table = await table_of(client)
    session = (await seat(client, table, status=201)).data
    owed = await order(client, session["id"], 500)
    called_off = await order(client, session["id"], 70)
    await client.patch(f"/v1/orders/{called_off['id']}", {"status": "cancelled"}, status=200)
    path = f"{SESSIONS}/{session['id']}"
    await client.post(f"{path}/close", {"force": True}, status=200)
    again = await client.patch(f"/v1/orders/{called_off['id']}", {"status": "pending"}, status=200)
    assert (again.data["status"], again.data["tableSessionId"]) == ("pending", session["id"])
    shown = (await client.get(path, status=200)).data
    assert (shown["status"], shown["ordersCount"], shown["unpaidAmount"]) == ("closed", 2, 570)
    assert (await client.get(f"{TABLES}/{table}", status=200)).data["openSession"] is None
    await client.patch(f"/v1/orders/{owed['id']}", {"amount_paid": 500}, status=200)
    shown = (await client.get(path, status=200)).data
    assert (shown["status"], shown["ordersCount"], shown["unpaidAmount"]) == ("closed", 2, 70)
