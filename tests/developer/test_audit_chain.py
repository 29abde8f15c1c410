"""The audit log as a chain: append-only for everybody, and tampering shows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import pytest

from tests.make import Business, Make
from tillhouse.access.process import Services
from tillhouse.access.store.audit import find_broken_links

ID = "'{business}'::uuid"
# Each changes the log behind the product's back, and names the links that then don't fit.
TAMPERING: dict[str, tuple[str, list[int]]] = {
    "an actor": ("UPDATE audit_events SET actor_name = 'Eve' WHERE {at} = 2", [2]),
    "a title": ("UPDATE audit_events SET title = 'x' WHERE {at} = 3", [3]),
    "a type": ("UPDATE audit_events SET event_type = 'x' WHERE {at} = 1", [1]),
    "an address": ("UPDATE audit_events SET ip_address = '::1' WHERE {at} = 2", [2]),
    "a moment": (
        "UPDATE audit_events SET created_at = created_at + interval '1 ms' WHERE {at} = 4",
        [4],
    ),
    "a key": ("UPDATE audit_events SET developer_api_key_id = NULL WHERE {at} = 2", [2]),
    "a user": ("UPDATE audit_events SET actor_user_id = NULL WHERE {at} = 2", [2]),
    "an id": ("UPDATE audit_events SET id = gen_random_uuid() WHERE {at} = 2", [2]),
    "metadata": (
        """UPDATE audit_events SET metadata = metadata || '{{"x": 1}}' WHERE {at} = 2""",
        [2],
    ),
    "a hash": ("UPDATE audit_events SET hash = sha256('x') WHERE {at} = 2", [2, 3]),
    "one removed": ("DELETE FROM audit_events WHERE {at} = 2", [3]),
    "the first removed": ("DELETE FROM audit_events WHERE {at} = 1", [2]),
    "the last removed": ("DELETE FROM audit_events WHERE {at} = 4", [4]),
    "all removed": ("DELETE FROM audit_events WHERE business_id = {id}", [4]),
    "a change with its own hash made to fit": (
        """
        UPDATE audit_events SET title = 'x' WHERE {at} = 2;
        UPDATE audit_events e SET hash = audit_hash(p.hash, e) FROM audit_events p
        WHERE e.business_id = {id} AND e.sequence = 2
            AND p.business_id = {id} AND p.sequence = 1
        """,
        [3],
    ),
    "two swapped": (
        """
        UPDATE audit_events e SET (id, event_type, title, metadata) = (
            SELECT o.id, o.event_type, o.title, o.metadata FROM audit_events o
            WHERE o.business_id = {id} AND o.sequence = 5 - e.sequence)
        WHERE e.business_id = {id} AND e.sequence IN (2, 3)
        """,
        [2, 3],
    ),
    "one inserted before the first": (
        """
        INSERT INTO audit_events
        SELECT business_id, 0, id, developer_api_key_id, actor_user_id, actor_name, event_type,
            title, ip_address, metadata, created_at, hash FROM audit_events WHERE {at} = 1
        """,
        [0, 1],
    ),
    "one appended, with a hash that fits": (
        """
        WITH forged AS (
            SELECT ROW(business_id, 5, gen_random_uuid(), developer_api_key_id, actor_user_id,
                'Eve', event_type, title, ip_address, metadata, created_at, NULL)::audit_events
                AS event, hash AS previous
            FROM audit_events WHERE {at} = 4)
        INSERT INTO audit_events
        SELECT (event).business_id, (event).sequence, (event).id, (event).developer_api_key_id,
            (event).actor_user_id, (event).actor_name, (event).event_type, (event).title,
            (event).ip_address, (event).metadata, (event).created_at, audit_hash(previous, event)
        FROM forged
        """,
        [5],
    ),
    "the head set back": (
        "UPDATE audit_heads SET sequence = 3 WHERE business_id = {id}",
        [3, 4],
    ),
    "the head removed": ("DELETE FROM audit_heads WHERE business_id = {id}", [1, 2, 3, 4]),
}


@asynccontextmanager
async def without_triggers(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """As a superuser who switches the append-only trigger off, for this connection."""
    await connection.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        await connection.execute("RESET session_replication_role")


async def broken(services: Services, business: Business) -> list[int]:
    """The places where the chain doesn't fit."""
    async with services.pool.reading() as db:
        rows = await find_broken_links(db, UUID(business.id), 100)
    return [row["sequence"] for row in rows]


async def with_four_events(business: Business) -> Business:
    """Registered, and three keys."""
    for n in range(3):
        await business.key(name=f"key {n}")
    return business


async def test_an_untouched_chain_verifies(business: Business, services: Services) -> None:
    """Nothing is broken, from the first event on."""
    assert await broken(services, business) == []
    await with_four_events(business)
    assert await broken(services, business) == []


async def test_a_chain_written_in_parallel_verifies(business: Business, services: Services) -> None:
    """Writers of one business wait for each other, so that no link is taken twice."""
    body = {"name": "Shop", "environment": "test"}
    await asyncio.gather(
        *(business.owner.post("/api/developer/apps", body, status=201) for _ in range(20))
    )
    assert await broken(services, business) == []


@pytest.mark.parametrize("kind", TAMPERING)
async def test_tampering_is_found(
    business: Business, services: Services, sql: asyncpg.Connection, kind: str
) -> None:
    """The chain names the position of anything that a superuser changes."""
    await with_four_events(business)
    statement, places = TAMPERING[kind]
    owner = ID.format(business=business.id)
    where = f"business_id = {owner} AND sequence"
    async with without_triggers(sql):
        await sql.execute(statement.format(at=where, id=owner))
    assert await broken(services, business) == places


async def test_tampering_with_one_chain_leaves_the_others_alone(
    business: Business, services: Services, make: Make, sql: asyncpg.Connection
) -> None:
    """Each business has its own."""
    other = await make.business()
    async with without_triggers(sql):
        await sql.execute(
            "UPDATE audit_events SET title = 'x' WHERE business_id = $1::text::uuid", other.id
        )
    assert await broken(services, other) == [1]
    assert await broken(services, business) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET title = 'x'",
        "UPDATE audit_events SET title = 'x' WHERE false",
        "DELETE FROM audit_events",
        "DELETE FROM audit_events WHERE false",
        "TRUNCATE audit_events",
        "TRUNCATE businesses CASCADE",
        "DELETE FROM audit_events USING businesses WHERE false",
    ],
)
async def test_the_database_refuses_to_change_the_log(
    sql: asyncpg.Connection, statement: str
) -> None:
    """Also to a superuser, as long as the trigger is there."""
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await sql.execute(statement)
