"""The board: what is to be done, the oldest first; and every ticket there was."""

from datetime import timedelta

import asyncpg
import pytest

from tests.api import Api
from tests.kitchen.sale_rows import Kitchen
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.kitchen import actions

TICKETS = "/v1/kitchen/tickets"


@pytest.fixture
async def kitchen(services: Services, business: Business) -> Kitchen:
    """A kitchen of this test's own."""
    return await Kitchen.of(services, business)


@pytest.fixture
async def board(business: Business) -> Api:
    """Somebody who reads the board."""
    return await business.client("orders:read")


async def ids(board: Api, query: str = "") -> list[str]:
    """The tickets of an answer."""
    return [ticket["id"] for ticket in (await board.get(TICKETS + query, status=200)).data]


async def test_a_ticket_shows_what_the_cook_needs(kitchen: Kitchen, board: Api) -> None:
    """The order's code, table, mode and lines; the list shows the same as one."""
    sale, ticket = await kitchen.ticket()
    (shown,) = (await board.get(TICKETS, status=200)).data
    assert shown == (await board.get(f"{TICKETS}/{ticket.id}", status=200)).data
    assert shown["orderId"] == str(sale.order_id)
    assert shown["shortCode"] == sale.short_code
    assert (shown["station"], shown["status"]) == ("kitchen", "queued")
    assert (shown["tableLabel"], shown["serviceMode"]) == ("T4", "dine_in")
    assert shown["items"] == [
        {
            "productName": "Jollof rice",
            "variantName": None,
            "quantity": 2,
            "modifiers": ["Extra pepper"],
        }
    ]
    assert shown["preparingAt"] is shown["readyAt"] is shown["servedAt"] is None


async def test_each_stage_has_its_time(
    kitchen: Kitchen, board: Api, sql: asyncpg.Connection
) -> None:
    """The seconds are those at the present stage; they stand still once it is served."""
    _, ticket = await kitchen.ticket()
    await kitchen.act(actions.move, ticket.id, "preparing")
    await sql.execute(
        """
        UPDATE kitchen_tickets SET queued_at = queued_at - interval '9 min',
            preparing_at = preparing_at - interval '5 min' WHERE id = $1
        """,
        ticket.id,
    )
    shown = (await board.get(f"{TICKETS}/{ticket.id}", status=200)).data
    assert 300 <= shown["secondsInStage"] < 330
    assert shown["preparingAt"] > shown["queuedAt"]
    await kitchen.act(actions.move, ticket.id, "served")
    await sql.execute(
        "UPDATE kitchen_tickets SET served_at = served_at - $2::interval WHERE id = $1",
        ticket.id,
        timedelta(hours=1),
    )
    shown = (await board.get(f"{TICKETS}/{ticket.id}", status=200)).data
    assert shown["secondsInStage"] == 0
    assert shown["servedAt"] is not None
    assert shown["readyAt"] is None


async def test_the_time_of_a_closed_ticket_stands_still(
    kitchen: Kitchen, board: Api, sql: asyncpg.Connection
) -> None:
    """It was at its stage until the order was cancelled, however long ago that is."""
    sale, ticket = await kitchen.ticket()
    await kitchen.act(actions.close, sale.order_id)
    await sql.execute(
        """
        UPDATE kitchen_tickets SET queued_at = closed_at - interval '9 min',
            closed_at = closed_at - interval '5 min' WHERE id = $1
        """,
        ticket.id,
    )
    shown = (await board.get(f"{TICKETS}/{ticket.id}", status=200)).data
    assert shown["secondsInStage"] == 240


async def test_the_cook_sees_what_is_cooked_alone(
    kitchen: Kitchen, board: Api, sql: asyncpg.Connection
) -> None:
    """A fee on the bill is no line of the ticket."""
    sale, _ = await kitchen.ticket()
    await sql.execute(
        """
        INSERT INTO order_items (book_id, id, order_id, position, line_type, product_name,
            quantity, unit_price, original_unit_price, subtotal_amount, discount_amount,
            tax_amount, total_price, modifiers)
        VALUES ($1, gen_random_uuid(), $2, 1, 'fee', 'Delivery', 1, 5, 5, 5, 0, 0, 5, '[]')
        """,
        kitchen.book.id,
        sale.order_id,
    )
    (shown,) = (await board.get(TICKETS, status=200)).data
    assert [item["productName"] for item in shown["items"]] == ["Jollof rice"]


async def test_the_board_has_what_is_open_the_oldest_first(kitchen: Kitchen, board: Api) -> None:
    """Served and closed ones leave it; all=true has them as well, the newest first."""
    made = [await kitchen.ticket() for _ in range(5)]
    tickets = [str(ticket.id) for _, ticket in made]
    await kitchen.act(actions.move, made[1][1].id, "served")
    await kitchen.act(actions.close, made[3][0].order_id)
    assert await ids(board) == [tickets[0], tickets[2], tickets[4]]
    assert await ids(board, "?all=true") == tickets[::-1]
    first = await board.get(TICKETS + "?limit=2", status=200)
    assert first.json["meta"] == {
        "total": 3,
        "page": 1,
        "perPage": 2,
        "totalPages": 2,
        "hasMore": True,
    }
    assert await ids(board, "?limit=2&page=2") == [tickets[4]]
    assert await ids(board, "?all=true&status=served") == [tickets[1]]
    assert await ids(board, "?status=served") == []


async def test_filters_narrow_the_board(
    kitchen: Kitchen, board: Api, business: Business, sql: asyncpg.Connection
) -> None:
    """By stages, station and store; the total follows them."""
    store_id = await sql.fetchval(
        """
        INSERT INTO stores (book_id, id, name, created_at, updated_at)
        VALUES ($1, gen_random_uuid(), 'North', now(), now()) RETURNING id
        """,
        kitchen.book.id,
    )
    _, here = await kitchen.ticket(store_id=store_id)
    sale, there = await kitchen.ticket()
    bar = await kitchen.act(actions.open_ticket, sale, "bar")
    await kitchen.act(actions.move, there.id, "ready")
    assert await ids(board, f"?store_id={store_id}") == [str(here.id)]
    assert await ids(board, "?station=bar") == [str(bar.id)]
    assert await ids(board, "?status=ready") == [str(there.id)]
    assert await ids(board, "?status=ready,queued&station=kitchen") == [str(here.id), str(there.id)]
    answer = await board.get(TICKETS + "?status=ready", status=200)
    assert answer.json["meta"]["total"] == 1
    assert (await board.get(TICKETS + "?status=burnt", status=422)).wrong_fields == {"status"}
    moved = (await kitchen.events("kitchen_ticket.created"))[0]
    assert moved["storeId"] == str(store_id)


async def test_books_have_boards_of_their_own(kitchen: Kitchen, business: Business) -> None:
    """A test order is on no live board."""
    await kitchen.ticket()
    live = await business.client("orders:read", environment="live")
    assert await ids(live) == []


async def test_a_kitchen_hand_reads_the_board(
    kitchen: Kitchen, business: Business, sql: asyncpg.Connection
) -> None:
    """The role `kitchen` may, in the dashboard's own way."""
    _, ticket = await kitchen.ticket()
    await sql.execute(
        "UPDATE members SET role = 'kitchen' WHERE business_id = $1::text::uuid", business.id
    )
    headers = {"service-environment": "test"}
    answer = await business.owner.get(TICKETS, headers=headers, status=200)
    assert [shown["id"] for shown in answer.data] == [str(ticket.id)]
