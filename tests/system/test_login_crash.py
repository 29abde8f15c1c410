"""A server that is killed while it judges passwords: nothing counts that wasn't judged."""

import asyncio

import aiohttp
import asyncpg

from tests.api import Response
from tests.make import PASSWORD
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
