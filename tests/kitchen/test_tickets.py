"""Tickets: opened once, moved once, closed with their order."""

import asyncio
from typing import Any

import pytest

from tests.kitchen.sale_rows import Kitchen
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.kit.errors import Missing
from tillhouse.kit.ids import new_id
from tillhouse.kitchen import actions
from tillhouse.kitchen.rules import AlreadyInKitchen, TicketClosed

CREATED = "kitchen_ticket.created"
MOVED = "kitchen_ticket.status_updated"


@pytest.fixture
async def kitchen(services: Services, business: Business) -> Kitchen:
    """A kitchen of this test's own."""
    return await Kitchen.of(services, business)


async def gathered(*tries: Any) -> list[Any]:
    """The result of each attempt, refusals included."""
    return await asyncio.gather(*tries, return_exceptions=True)


async def test_an_order_goes_to_the_kitchen_once(kitchen: Kitchen) -> None:
    """Of ten at once one makes the ticket and tells of it, nine hear that it is there: 409."""
    sale = await kitchen.sale()
    found = await gathered(*(kitchen.act(actions.open_ticket, sale) for _ in range(10)))
    tickets = [one for one in found if not isinstance(one, Exception)]
    assert len(tickets) == 1
    assert sum(isinstance(one, AlreadyInKitchen) for one in found) == 9
    (data,) = await kitchen.events(CREATED)
    assert data["eventType"] == "KITCHEN_TICKET_CREATED"
    assert (data["entityType"], data["entityId"]) == ("kitchen_ticket", str(tickets[0].id))
    assert (data["businessId"], data["storeId"]) == (kitchen.business.id, None)
    expected = {"status": "queued", "orderId": str(sale.order_id), "station": "kitchen"}
    assert data["metadata"] == expected
    assert await kitchen.act(actions.find, sale.order_id) == tickets[0]


async def test_each_station_has_a_ticket_of_its_own(kitchen: Kitchen) -> None:
    """The bar's is another, and moving one moves that one alone."""
    sale, ticket = await kitchen.ticket()
    bar = await kitchen.act(actions.open_ticket, sale, "bar")
    await kitchen.act(actions.move, bar.id, "ready")
    assert (await kitchen.act(actions.find, sale.order_id)).status == "queued"
    assert (await kitchen.act(actions.find, sale.order_id, "bar")).status == "ready"
    assert ticket.id != bar.id


async def test_a_ticket_moves_in_any_direction(kitchen: Kitchen) -> None:
    """Each change is told with where it came from; the stage that it has is no change."""
    sale, ticket = await kitchen.ticket()
    steps = ["ready", "ready", "queued", "served", "preparing", "preparing"]
    before = "queued"
    expected: list[tuple[str, str]] = []
    for step in steps:
        moved = await kitchen.act(actions.move, ticket.id, step)
        assert (moved.previous, moved.ticket.status) == (before, step)
        assert moved.is_changed == (before != step)
        expected += [(before, step)] if before != step else []
        before = step
    told = await kitchen.events(MOVED)
    pairs = [(data["metadata"]["previousStatus"], data["metadata"]["status"]) for data in told]
    assert pairs == expected
    assert {data["metadata"]["orderId"] for data in told} == {str(sale.order_id)}
    assert {data["eventType"] for data in told} == {"KITCHEN_TICKET_STATUS_UPDATED"}


async def test_of_many_boards_at_once_one_makes_the_change(kitchen: Kitchen) -> None:
    """Twenty press the same button: one change, one event."""
    _, ticket = await kitchen.ticket()
    found = await asyncio.gather(
        *(kitchen.act(actions.move, ticket.id, "ready") for _ in range(20))
    )
    assert sum(moved.is_changed for moved in found) == 1
    assert {moved.ticket.status for moved in found} == {"ready"}
    assert len(await kitchen.events(MOVED)) == 1


async def test_boards_that_disagree_are_put_in_line(kitchen: Kitchen) -> None:
    """Each change begins where the one before ended: no stage is left twice, none is made up."""
    _, ticket = await kitchen.ticket()
    stages = ["preparing", "ready", "served", "queued"] * 5
    found = await asyncio.gather(*(kitchen.act(actions.move, ticket.id, s) for s in stages))
    told = await kitchen.events(MOVED)
    steps = {(data["metadata"]["previousStatus"], data["metadata"]["status"]) for data in told}
    assert all(before != after for before, after in steps)
    assert len(told) == sum(moved.is_changed for moved in found)
    # Every change left a stage that was come to: the ins and outs of each stage differ by the
    # first and the last one alone.
    balance = dict.fromkeys(stages, 0)
    for data in told:
        balance[data["metadata"]["previousStatus"]] -= 1
        balance[data["metadata"]["status"]] += 1
    balance["queued"] += 1
    last = [stage for stage, count in balance.items() if count]
    api = await kitchen.business.client("orders:read")
    shown = (await api.get(f"/v1/kitchen/tickets/{ticket.id}", status=200)).data
    assert last == [shown["status"]]


async def test_a_closed_ticket_stays_where_it_is(kitchen: Kitchen) -> None:
    """Its order is over: 400, no event; brought back, it moves again."""
    sale, ticket = await kitchen.ticket()
    await kitchen.act(actions.move, ticket.id, "preparing")
    await kitchen.act(actions.close, sale.order_id)
    await kitchen.act(actions.close, sale.order_id)
    for stage in ("preparing", "ready"):
        with pytest.raises(TicketClosed):
            await kitchen.act(actions.move, ticket.id, stage)
    assert len(await kitchen.events(MOVED)) == 1
    await kitchen.act(actions.reopen, sale.order_id)
    assert (await kitchen.act(actions.move, ticket.id, "ready")).is_changed


async def test_closing_and_moving_at_once_agree(kitchen: Kitchen) -> None:
    """The second request sees the effect of the first: no move after the close."""
    for _ in range(5):
        sale, ticket = await kitchen.ticket()
        await gathered(
            *(kitchen.act(actions.move, ticket.id, s) for s in ("preparing", "ready", "served")),
            kitchen.act(actions.close, sale.order_id),
            *(kitchen.act(actions.move, ticket.id, s) for s in ("queued", "ready")),
        )
        api = await kitchen.business.client("orders:read")
        shown = (await api.get(f"/v1/kitchen/tickets/{ticket.id}", status=200)).data
        assert shown["closedAt"] is not None
        told = [d for d in await kitchen.events(MOVED) if d["entityId"] == str(ticket.id)]
        if told:
            assert told[-1]["metadata"]["status"] == shown["status"]


async def test_another_books_ticket_is_not_found(kitchen: Kitchen) -> None:
    """Nor is one that never was."""
    _, ticket = await kitchen.ticket()
    live = await Kitchen.of(kitchen.services, kitchen.business, "live")
    for where, ticket_id in ((live, ticket.id), (kitchen, new_id())):
        with pytest.raises(Missing):
            await where.act(actions.move, ticket_id, "ready")
