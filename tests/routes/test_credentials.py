"""Every route refuses whoever may not call it. Generated from the route table."""

from datetime import timedelta

import asyncpg
import pytest

from tests.api import Api
from tests.make import Business, Make
from tests.routes.conftest import Bygone, Narrow, Visitor
from tests.routes.table import (
    BEHIND_A_CREDENTIAL,
    OF_KEYS,
    OF_PEOPLE,
    OF_THE_PORTAL,
    body_for,
    every,
    name_of,
    random_path,
    ready,
)
from tillhouse.access.process import Services
from tillhouse.access.roles import MANAGE_DEVELOPER_KEYS, PERMISSIONS
from tillhouse.accounts.store import update_subscription
from tillhouse.http.route import Portal, Route
from tillhouse.kit.clock import now
from tillhouse.kit.secrets import new_api_key

GARBAGE = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer null",
    "Bearer x.y.z",
    "Basic YWRhOmFkYQ==",
    "Token abc",
    f"Bearer {new_api_key('live').secret}",
    f"Bearer {new_api_key('test').secret[:-1]}!",
    "Bearer \xff\xfe",
]


async def refuses(route: Route, api: Api) -> None:
    """Check that the route doesn't know this caller."""
    answer = await api.request(route.method, random_path(route), {}, status=401)
    assert answer.error == "unauthorized"
    assert answer.headers["www-authenticate"].startswith("Bearer")


@every(BEHIND_A_CREDENTIAL)
async def test_a_route_needs_a_credential(route: Route, make: Make) -> None:
    """Without the Authorization header, or with rubbish in it, there is 401."""
    await refuses(route, make.anybody)
    for value in GARBAGE:
        await refuses(route, Api(make.app, {"authorization": value}))


@every(BEHIND_A_CREDENTIAL)
async def test_a_route_refuses_a_revoked_key_and_an_ended_session(
    route: Route, bygone: Bygone
) -> None:
    """A credential that was good a moment ago is 401 once it has ended."""
    await refuses(route, await bygone.key(getattr(route.guard, "name", "voice:read")))
    await refuses(route, bygone.session)


@every(OF_PEOPLE)
async def test_a_route_of_people_refuses_an_api_key(route: Route, visitor: Visitor) -> None:
    """A key with every scope there is, is no login."""
    await refuses(route, visitor.client)


@every(OF_KEYS)
async def test_a_route_of_keys_needs_its_scope(route: Route, narrow: Narrow) -> None:
    """A key with another scope is known and may not: 403."""
    other = "stores:read" if route.guard.name != "stores:read" else "voice:read"
    client = await narrow.client(other)
    answer = await client.request(route.method, random_path(route), {}, status=403)
    assert answer.error == "forbidden"
    assert route.guard.name in answer.json["message"]


@every(OF_THE_PORTAL)
async def test_the_portal_is_for_roles_that_manage_keys(
    route: Route, staffed: Business, sql: asyncpg.Connection
) -> None:
    """Each role without MANAGE_DEVELOPER_KEYS gets 403, each with it gets further."""
    for role, permissions in PERMISSIONS.items():
        await sql.execute(
            "UPDATE members SET role = $2 WHERE business_id = $1::text::uuid", staffed.id, role
        )
        answer = await staffed.owner.request(route.method, random_path(route), {"zz": 1})
        assert (answer.status == 403) == (MANAGE_DEVELOPER_KEYS not in permissions), role
        assert answer.status != 403 or answer.error == "forbidden"


# The work of cooks; nothing of it concerns money.
OF_THE_KITCHEN = {
    "GET /v1/kitchen/tickets",
    "GET /v1/kitchen/tickets/{ticket_id}",
    "GET /v1/kitchen/stage-messages",
    "GET /v1/orders",
    "GET /v1/orders/{order_id}",
    "POST /v1/orders/{order_id}/send-to-kitchen",
    "POST /v1/orders/{order_id}/kitchen-status",
}


def test_the_routes_of_the_kitchen_exist() -> None:
    """A route that was renamed would be closed to it unseen."""
    assert {name_of(route) for route in OF_KEYS} >= OF_THE_KITCHEN


@every(OF_KEYS)
async def test_the_kitchen_role_opens_the_kitchen_alone(
    route: Route, staffed: Business, sql: asyncpg.Connection
) -> None:
    """Tickets, and reading orders: no receipt, no message to customers, no other resource."""
    await sql.execute(
        "UPDATE members SET role = 'kitchen' WHERE business_id = $1::text::uuid", staffed.id
    )
    headers = {"service-environment": "test"}
    answer = await staffed.owner.request(
        route.method, random_path(route), {"zz": 1}, headers=headers
    )
    assert (answer.status != 403) == (name_of(route) in OF_THE_KITCHEN), answer
    assert answer.status != 403 or answer.error == "forbidden"


@every(OF_THE_PORTAL)
async def test_the_portal_needs_a_subscription(
    route: Route, subscribed: Business, services: Services
) -> None:
    """Trial over, past due, cancelled, no API access: 403 subscription_required."""
    past, later = now() - timedelta(seconds=1), now() + timedelta(days=1)
    states = [
        ("trial", past, True),
        ("past_due", later, True),
        ("cancelled", later, True),
        ("active", later, False),
        ("trial", later, False),
    ]
    for status, trial_ends_at, api_access in states:
        async with services.pool.transaction() as db:
            await update_subscription(
                db, subscribed.id, status, trial_ends_at, now(), api_access=api_access
            )
        answer = await subscribed.owner.request(route.method, random_path(route), {}, status=403)
        assert answer.error == "subscription_required", status
    async with services.pool.transaction() as db:
        await update_subscription(db, subscribed.id, "active", past, now(), api_access=True)
    answer = await subscribed.owner.request(route.method, random_path(route), {"zz": 1})
    assert answer.status != 403


@every([r for r in OF_THE_PORTAL if isinstance(r.guard, Portal) and r.guard.step_up])
async def test_a_route_with_step_up_needs_the_password_again(
    route: Route, business: Business
) -> None:
    """A login alone does not open it; the verified password does."""
    body = await body_for(route, business)
    path = random_path(route)
    answer = await business.owner.request(route.method, path, body, status=403)
    assert answer.error == "password_verification_required"
    good = await ready(route, business)
    await good.send(route, status=route.status)


STEP_UP = {
    "POST /api/developer/api-keys",
    "POST /api/developer/api-keys/{key_id}/rotate",
    "POST /api/developer/api-keys/{key_id}/view-secret",
}


@pytest.mark.parametrize("name", sorted(STEP_UP))
def test_what_makes_or_shows_a_secret_needs_step_up(name: str) -> None:
    """The contract names these routes, so the table must mark them."""
    marked = {name_of(r) for r in OF_THE_PORTAL if isinstance(r.guard, Portal) and r.guard.step_up}
    assert name in marked
