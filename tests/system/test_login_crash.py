"""A server that is killed while people log in, change passwords and refresh their sessions."""

import asyncio

import aiohttp
import asyncpg

from tests.api import Response
from tests.make import PASSWORD, Business
from tests.system.client import Client, register
from tests.system.conftest import Start

LOGIN = "/api/auth/login"


async def test_attempts_that_a_killed_server_never_judged_are_not_counted(
    start: Start,
    session: aiohttp.ClientSession,
    database_url: str,
    master_key: str,
    sql: asyncpg.Connection,
) -> None:
    """Three kills under thirty right logins: no failure stands, and the next login gets in."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    server = await start("--no-work", **settings)
    business = await register(Client(session, server.address))
    right = {"email": business.email, "password": PASSWORD}
    await sql.execute("DELETE FROM login_failures")
    cut_off = 0
    for _ in range(3):
        here = Client(session, server.address)
        running = [asyncio.create_task(here.post(LOGIN, right)) for _ in range(30)]
        await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        server.kill()
        results = await asyncio.gather(*running, return_exceptions=True)
        answers = [one for one in results if isinstance(one, Response)]
        assert {one.status for one in answers} == {200}, answers
        cut_off += len(running) - len(answers)
        server = await start("--no-work", **settings)
    assert cut_off
    assert await sql.fetchval("SELECT count(*) FROM login_failures") == 0
    await Client(session, server.address).post(LOGIN, right, status=200)


async def test_a_killed_change_of_password_is_whole_or_not_at_all(
    start: Start, session: aiohttp.ClientSession, database_url: str, master_key: str
) -> None:
    """Either the old password and the other session stand, or the new one and this session."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    server = await start("--no-work", **settings)
    business = await register(Client(session, server.address))
    old = PASSWORD
    for pings in (0, 2, 5, 10, 20, 40):
        here, new = Client(session, server.address), f"{PASSWORD} {pings}"
        other = (await here.post(LOGIN, _credentials(business, old), status=200)).data
        mine = (await here.post(LOGIN, _credentials(business, old), status=200)).data
        body = {"current_password": old, "new_password": new}
        me = here.as_bearer(mine["accessToken"])
        change = asyncio.create_task(me.post("/api/auth/change-password", body))
        for _ in range(pings):
            await here.get("/livez", status=200)
        server.kill()
        [answer] = await asyncio.gather(change, return_exceptions=True)
        server = await start("--no-work", **settings)
        here = Client(session, server.address)
        is_changed = (await here.post(LOGIN, _credentials(business, new))).status == 200
        status = (await here.as_bearer(other["accessToken"]).get("/api/auth/me")).status
        assert status == (401 if is_changed else 200)
        await here.as_bearer(mine["accessToken"]).get("/api/auth/me", status=200)
        if isinstance(answer, Response):
            assert is_changed
        old = new if is_changed else old
        await here.post(LOGIN, _credentials(business, old), status=200)


async def test_a_killed_refresh_is_asked_for_again(
    start: Start,
    session: aiohttp.ClientSession,
    database_url: str,
    master_key: str,
    sql: asyncpg.Connection,
) -> None:
    """The answer was lost or never made: the same token goes on, in the one session."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    server = await start("--no-work", **settings)
    business = await register(Client(session, server.address))
    token = business.tokens["refreshToken"]
    for pings in (0, 1, 2, 4):
        here, body = Client(session, server.address), {"refresh_token": token}
        running = [asyncio.create_task(here.post("/api/auth/refresh", body)) for _ in range(4)]
        for _ in range(pings):
            await here.get("/livez", status=200)
        server.kill()
        results = await asyncio.gather(*running, return_exceptions=True)
        server = await start("--no-work", **settings)
        # A start may take longer than the time of grace on a busy machine.
        await sql.execute("UPDATE sessions SET refreshed_at = date_trunc('milliseconds', now())")
        here = Client(session, server.address)
        answer = await here.post("/api/auth/refresh", body, status=200)
        heard = {one.data["refreshToken"] for one in results if isinstance(one, Response)}
        assert heard <= {answer.data["refreshToken"]}
        token = answer.data["refreshToken"]
    owner = here.as_bearer(answer.data["accessToken"])
    assert len((await owner.get("/api/auth/sessions", status=200)).data) == 1


def _credentials(business: Business, password: str) -> dict[str, str]:
    return {"email": business.email, "password": password}
