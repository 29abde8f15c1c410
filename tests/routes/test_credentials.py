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
from tillhouse.access.scopes import MANAGE_DEVELOPER_KEYS, PERMISSIONS
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
    "GET /v1/business",
    "GET /v1/counts",
    "GET /v1/kitchen/tickets",
    "GET /v1/kitchen/tickets/{ticket_id}",
    "GET /v1/kitchen/stage-messages",
    "GET /v1/orders",
    "GET /v1/orders/{order_id}",
    "GET /v1/search",
    "POST /v1/orders/{order_id}/send-to-kitchen",
    "POST /v1/orders/{order_id}/kitchen-status",
}
# Rooms and what guests ask for; no guest's documents, no money.
OF_HOUSEKEEPING = {
    "GET /v1/business",
    "GET /v1/counts",
    "GET /v1/hotel/rooms",
    "GET /v1/hotel/rooms/{room_id}",
    "POST /v1/hotel/rooms/{room_id}/status",
    "GET /v1/hotel/service-requests",
    "GET /v1/hotel/service-requests/{service_request_id}",
    "POST /v1/hotel/service-requests",
    "PATCH /v1/hotel/service-requests/{service_request_id}",
}
# All that needs these scopes, and of rooms, stays, guests and conversations all but what others
# set up: rooms and what they cost, settings, numbers, quick replies.
SCOPES_OF_THE_DESK = {
    "orders:read", "orders:write", "customers:read", "customers:write", "payment_links:read",
    "payment_links:write", "tables:read", "tables:write", "products:read", "promotions:read",
    "stores:read", "hotel:read", "messaging:read",
}  # fmt: skip
SET_UP_FOR_THE_DESK = {
    "POST /v1/hotel/room-types",
    "PATCH /v1/hotel/room-types/{room_type_id}",
    "DELETE /v1/hotel/room-types/{room_type_id}",
    "POST /v1/hotel/rooms",
    "PATCH /v1/hotel/rooms/{room_id}",
    "DELETE /v1/hotel/rooms/{room_id}",
    "POST /v1/hotel/rate-plans",
    "PATCH /v1/hotel/rate-plans/{rate_plan_id}",
    "DELETE /v1/hotel/rate-plans/{rate_plan_id}",
    "PATCH /v1/hotel/settings",
    "POST /v1/messaging/numbers",
    "DELETE /v1/messaging/numbers/{number_id}",
    "POST /v1/messaging/sandbox/inbound",
    "POST /v1/messaging/quick-replies",
    "PATCH /v1/messaging/quick-replies/{quick_reply_id}",
    "DELETE /v1/messaging/quick-replies/{quick_reply_id}",
    "PATCH /v1/messaging/inbox",
}
OF_THE_DESK = {
    name_of(route) for route in OF_KEYS
    if route.guard.name in SCOPES_OF_THE_DESK
    or (route.guard.name in {"hotel:write", "messaging:write"}
        and name_of(route) not in SET_UP_FOR_THE_DESK)
}  # fmt: skip
NARROW_ROLES = {
    "kitchen": OF_THE_KITCHEN,
    "housekeeping": OF_HOUSEKEEPING,
    "front_desk": OF_THE_DESK,
}


def test_the_routes_of_narrow_roles_exist() -> None:
    """A route that was renamed would be closed or open to them unseen."""
    named = OF_THE_KITCHEN | OF_HOUSEKEEPING | SET_UP_FOR_THE_DESK
    assert {name_of(route) for route in OF_KEYS} >= named


@every(OF_KEYS)
async def test_a_narrow_role_opens_its_own_work_alone(
    route: Route, staffed: Business, sql: asyncpg.Connection
) -> None:
    """Cooks see no receipt, housekeeping no money, and the desk sets up no prices."""
    headers = {"service-environment": "test"}
    for role, opens in NARROW_ROLES.items():
        await sql.execute(
            "UPDATE members SET role = $2 WHERE business_id = $1::text::uuid", staffed.id, role
        )
        answer = await staffed.owner.request(
            route.method, random_path(route), {"zz": 1}, headers=headers
        )
        assert (answer.status != 403) == (name_of(route) in opens), (role, answer)
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
