"""The ways in which the stream of a live page ends by itself."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import asyncpg
import pytest

from tests.conftest import SETTINGS
from tests.desk.browser import Browser
from tests.desk.test_live import person_at, stream_of, told
from tests.listening import listening
from tests.make import PASSWORD, Business, Make
from tillhouse.app import ROOMS, App
from tillhouse.desk.pages import pages
from tillhouse.room import Room, join


@pytest.fixture
async def quick(database_url: str, master_key: str) -> AsyncIterator[Make]:
    """An application that asks for sessions again at once."""
    rooms = [room for room in ROOMS if room.name != "desk"]
    desk = Room(name="desk", pages=partial(pages, 0.05))
    app = App(SETTINGS, database_url, master_key, join((*rooms, desk)))
    await app.start()
    yield Make(app, app.services)
    await app.stop()


async def at_orders(make: Make, person: Business) -> Browser:
    """A browser on the orders of a person's business."""
    browser = Browser(make.elsewhere())
    await browser.sign_in(person.email, PASSWORD)
    await browser.open("/desk/account")
    for form in browser.page.forms:
        if form.action == "/desk/business":
            await browser.send("/desk/business", {**form.fields, "business_id": person.id})
    await browser.open("/desk/orders")
    return browser


async def test_a_stream_ends_with_its_session(quick: Make) -> None:
    """Signed out in another place, it says so and is over; until then it gives signs of life."""
    business = await quick.business()
    browser = await at_orders(quick, business)
    async with listening(person_at(browser), stream_of(browser)) as opened:
        await opened.heartbeats(3)
        await business.owner.post("/api/auth/sessions/end-others", status=200)
        assert await told(opened, 1) == [("over", "signed_out")]
        await asyncio.wait({opened.task})


async def test_a_stream_ends_before_its_first_look(quick: Make, sql: asyncpg.Connection) -> None:
    """Events may not be seen for long, as without a database: an end is told all the same."""
    business = await quick.business()
    browser = await at_orders(quick, business)
    async with sql.transaction():
        await sql.execute("LOCK TABLE webhook_events")
        async with listening(person_at(browser), stream_of(browser)) as opened:
            await opened.heartbeats(1)
            await business.owner.post("/api/auth/sessions/end-others", status=200)
            assert await told(opened, 1) == [("over", "signed_out")]
            await asyncio.wait({opened.task})


@pytest.mark.parametrize("role", ["developer", "admin"])
async def test_a_stream_ends_when_the_role_changes(role: str, quick: Make) -> None:
    """Raised or lowered: the page may show less, or more, than the role does by now."""
    owner = await quick.business()
    person = await quick.member(owner, "manager")
    browser = await at_orders(quick, person)
    async with listening(person_at(browser), stream_of(browser)) as opened:
        await opened.heartbeats(2)
        path = f"/v1/members/{person.user_id}"
        await owner.step_up()
        await owner.owner.patch(path, {"role": role}, status=200)
        [(event, reason)] = await told(opened, 1)
        assert event == "over"
        assert reason in ("changed", "signed_out")
        await asyncio.wait({opened.task})


async def test_a_stream_ends_when_the_role_needs_a_second_factor(quick: Make) -> None:
    """The session stands, and opens nothing but the page that sets one up."""
    owner = await quick.business()
    person = await quick.member(owner, "manager")
    browser = await at_orders(quick, person)
    async with listening(person_at(browser), stream_of(browser)) as opened:
        await opened.heartbeats(2)
        await owner.step_up()
        body = {"roles": ["manager"]}
        await owner.owner.request("PUT", "/v1/business/second-factor", body, status=200)
        assert await told(opened, 1) == [("over", "changed")]
