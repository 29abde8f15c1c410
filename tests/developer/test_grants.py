"""A key moves no money out, and closes no books, where its maker may not."""

import asyncio
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.make import Business, Make
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.developer.beyond import note_keys_beyond
from tillhouse.kit.clock import now

KEYS = "/api/developer/api-keys"
OUT, ACCOUNTS, PROVIDERS = "wallet:withdrawals:create", "payouts:write", "payment_providers:write"
CLOSINGS = "finance:closings:write"
POLICY = {"max_per_transaction": 10, "max_per_day": 50, "currency": "USD"}
MAY_NOT = [
    ("developer", OUT),
    ("developer", ACCOUNTS),
    ("developer", PROVIDERS),
    ("developer", CLOSINGS),
    ("admin", OUT),
]
MAY = [("admin", ACCOUNTS), ("admin", PROVIDERS), ("admin", CLOSINGS)]


def body(*scopes: str, environment: str = "live") -> dict[str, Any]:
    """A key to be made, with what its scopes ask for."""
    policy = {"withdrawal_policy": POLICY} if OUT in scopes else {}
    return {
        "name": "Mover",
        "environment": environment,
        "scopes": list(scopes),
        "allowed_ip_ranges": ["203.0.113.0/24"],
        **policy,
    }


async def made(business: Business, *scopes: str) -> str:
    """The path of a key that the owner made."""
    await business.step_up()
    key = (await business.owner.post(KEYS, body(*scopes), status=201)).data
    return f"{KEYS}/{key['id']}"


@pytest.mark.parametrize("environment", ["test", "live"])
@pytest.mark.parametrize(("role", "scope"), MAY_NOT)
async def test_nobody_grants_what_the_role_may_not(
    business: Business, make: Make, role: str, scope: str, environment: str
) -> None:
    """Made, widened, made anew or shown: 403 that names the scope."""
    member = (await make.member(business, role)).owner
    wanted = body("orders:read", scope, environment=environment)
    answer = await member.post(KEYS, wanted, status=403)
    assert (answer.error, scope in answer.json["message"]) == ("forbidden", True)
    assert "orders:read" not in answer.json["message"]
    plain = (await member.post(KEYS, body("orders:read"), status=201)).data
    wider = {name: wanted[name] for name in ("scopes", "withdrawal_policy") if name in wanted}
    answer = await member.patch(f"{KEYS}/{plain['id']}", wider, status=403)
    assert scope in answer.json["message"]
    path = await made(business, "orders:read", scope)
    for verb in ("rotate", "view-secret"):
        answer = await member.post(f"{path}/{verb}", status=403)
        assert (answer.error, scope in answer.json["message"]) == ("forbidden", True)
    more: list[dict[str, Any]] = [{"allowed_ip_ranges": []}, {"name": "Other"}]
    for change in more:
        answer = await member.patch(path, change, status=403)
        assert answer.error == "forbidden"
    await business.owner.post(f"{path}/view-secret", status=200)
    await business.owner.post(f"{path}/rotate", status=200)


@pytest.mark.parametrize(("role", "scope"), MAY_NOT)
async def test_rights_are_taken_away_by_every_role(
    business: Business, make: Make, role: str, scope: str
) -> None:
    """Somebody who sees a key misused narrows, revokes and deletes it."""
    member = (await make.member(business, role)).owner
    path = await made(business, "orders:read", scope)
    narrower: list[dict[str, Any]] = [
        {"allowed_ip_ranges": ["203.0.113.7"]},
        {"expires_at": "2100-01-31"},
        {"scopes": ["orders:read"]},
    ]
    await member.patch(path, narrower[0], status=200)
    await member.patch(path, narrower[1], status=200)
    await member.patch(path, {"expires_at": "2100-02-28"}, status=403)
    await member.patch(path, narrower[2], status=200)
    await member.patch(path, {"name": "Reader", "expires_at": None}, status=200)
    path = await made(business, scope)
    await member.post(f"{path}/revoke", status=200)
    await member.delete(path, status=200)


@pytest.mark.parametrize(("role", "scope"), MAY)
async def test_an_admin_grants_all_but_withdrawals(
    business: Business, make: Make, role: str, scope: str
) -> None:
    """An admin changes payout accounts and providers and closes books, so a key of theirs may."""
    member = (await make.member(business, role)).owner
    await member.post(KEYS, body(scope), status=201)


async def test_a_developer_grants_every_other_scope(business: Business, make: Make) -> None:
    """Those that move no money out and close no books."""
    member = (await make.member(business, "developer")).owner
    guarded = {OUT, ACCOUNTS, PROVIDERS, CLOSINGS}
    names = [scope.name for scope in PRODUCT.declared.scopes if scope.name not in guarded]
    await member.post(KEYS, body(*names), status=201)


async def test_a_role_that_is_lowered_meanwhile_grants_nothing(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """A request under way either ends before the change of the role, or is refused."""
    member = await make.member(business, "owner")
    lower = "UPDATE members SET role = 'developer' WHERE user_id = $1"
    async with sql.transaction():
        await sql.execute(lower, UUID(member.user_id))
        asked = asyncio.create_task(member.owner.post(KEYS, body(OUT)))
        done, _ = await asyncio.wait({asked}, timeout=0.5)
        assert not done, "the key waits for the change of its maker's role"
    assert (await asked).status == 403


NOTED = """
    SELECT metadata->>'makersRole' AS role, metadata->'scopes'->>0 AS scope FROM audit_events
    WHERE business_id = $1 AND developer_api_key_id = $2 AND event_type = 'api_key.beyond_role'
"""


async def test_a_key_that_was_made_wider_is_noted_once_and_goes_on(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """Each start looks; an owner who rotates it has made it, and nothing is told of that."""
    member = await make.member(business, "owner")
    made_here = (await member.owner.post(KEYS, body(ACCOUNTS, environment="test"), status=201)).data
    kept = (await business.owner.get(f"{KEYS}/{made_here['id']}", status=200)).data
    lower = "UPDATE members SET role = $2 WHERE user_id = $1"
    await sql.execute(lower, UUID(member.user_id), "developer")
    about = (UUID(business.id), UUID(made_here["id"]))
    await asyncio.gather(*(note_keys_beyond(services, now()) for _ in range(3)))
    await note_keys_beyond(services, now())
    assert [tuple(row) for row in await sql.fetch(NOTED, *about)] == [("developer", ACCOUNTS)]
    key = business.anybody.as_bearer(made_here["secret"])
    await key.get("/v1/payout-accounts/banks", status=403)
    await business.step_up()
    await business.owner.post(f"{KEYS}/{kept['id']}/rotate", status=200)
    await note_keys_beyond(services, now())
    assert len(await sql.fetch(NOTED, *about)) == 1
    await sql.execute("DELETE FROM members WHERE user_id = $1", UUID(business.user_id))
    await note_keys_beyond(services, now())
    assert [row["role"] for row in await sql.fetch(NOTED, *about)] == ["developer", None]
