"""Scopes and their children, for keys and for people; one set of routes for both."""

from collections.abc import AsyncIterator, Iterable

import asyncpg
import pytest

from tests.api import Api
from tests.conftest import SETTINGS
from tests.make import Business
from tillhouse.access.call import Call
from tillhouse.app import PRODUCT, App, compose
from tillhouse.http.route import Route, Scope
from tillhouse.room import Room

NAMES = [scope.name for scope in PRODUCT.declared.scopes]
ROLES = PRODUCT.declared.roles
# The summary and the message of the routes below.
SAYS = ("Read the book", "Book")


async def show_book(call: Call) -> dict[str, str]:
    """Tell which book the caller acts in."""
    return {"environment": call.book.environment, "businessId": str(call.business_id)}


def path_of(scope: str) -> str:
    """A route that needs this scope and nothing else."""
    return f"/v1/voice/needs/{scope}"


@pytest.fixture(scope="module")
async def scoped(database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application with one route per scope of the catalogue."""
    routes = [Route("GET", path_of(name), show_book, Scope(name), *SAYS) for name in NAMES]
    of_keys = Scope("voice:read", keys_only=True)
    routes.append(Route("GET", "/v1/voice/key", show_book, of_keys, *SAYS))
    product = compose(Room(name="needs", routes=tuple(routes)))
    app = App(SETTINGS, database_url, master_key, product)
    await app.start()
    yield app
    await app.stop()


async def opened(api: Api, among: Iterable[str] = NAMES) -> set[str]:
    """The scopes whose route lets this caller in; the others must be 403."""
    answers = {name: await api.get(path_of(name)) for name in among}
    assert {answer.status for answer in answers.values()} <= {200, 403}
    return {name for name, answer in answers.items() if answer.status == 200}


async def test_a_scope_opens_itself_and_its_children(business: Business, scoped: App) -> None:
    """And nothing else, parents included."""
    policy = {"max_per_transaction": 1, "max_per_day": 1, "currency": "USD"}
    key = await business.key("voice:read", withdrawal_policy=policy)
    client = Api(scoped).as_bearer(key["secret"])
    for scope in PRODUCT.declared.scopes:
        path = f"/api/developer/api-keys/{key['id']}"
        await business.owner.patch(path, {"scopes": [scope.name]}, status=200)
        others = [other.name for other in PRODUCT.declared.scopes if other.group == scope.group]
        among = NAMES if scope.grants else others
        assert await opened(client, among) == {scope.name, *scope.grants}


async def test_children_are_shown_as_given(business: Business) -> None:
    """The record tells what was asked for, not what follows from it."""
    key = await business.key("finance:read", "payment_links:write")
    assert key["scopes"] == ["finance:read", "payment_links:write"]


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_opens_what_its_scopes_say(
    business: Business, scoped: App, sql: asyncpg.Connection, role: str
) -> None:
    """The dashboard calls the same routes with its JWT."""
    await sql.execute(
        "UPDATE members SET role = $2 WHERE business_id = $1::text::uuid", business.id, role
    )
    assert await opened(Api(scoped, business.owner.headers)) == ROLES[role]


async def test_a_login_names_its_environment(business: Business, scoped: App) -> None:
    """Live unless the header says test; anything else is 422."""
    owner, path = Api(scoped, business.owner.headers), path_of("orders:read")
    for headers, environment in (
        ({}, "live"),
        ({"service-environment": "live"}, "live"),
        ({"service-environment": "test"}, "test"),
    ):
        answer = await owner.get(path, headers=headers, status=200)
        assert answer.data == {"environment": environment, "businessId": business.id}
    answer = await owner.get(path, headers={"service-environment": "Test"}, status=422)
    assert answer.wrong_fields == {"Service-Environment"}


async def test_a_key_brings_its_own_environment(business: Business, scoped: App) -> None:
    """A header that names another one is refused: the caller means another book."""
    path = path_of("orders:read")
    for environment, other in (("test", "live"), ("live", "test")):
        key = await business.key("orders:read", environment=environment)
        client = Api(scoped).as_bearer(key["secret"])
        for headers in ({}, {"service-environment": environment}):
            answer = await client.get(path, headers=headers, status=200)
            assert answer.data["environment"] == environment
        for wrong, reason in (
            (other, f"is not that of this key: it acts in {environment}"),
            ("Test", "must be test or live"),
        ):
            answer = await client.get(path, headers={"service-environment": wrong}, status=422)
            assert answer.json["details"] == [{"field": "Service-Environment", "message": reason}]


async def test_a_login_is_refused_where_only_keys_make_sense(
    business: Business, scoped: App
) -> None:
    """403, on such routes alone."""
    answer = await Api(scoped, business.owner.headers).get("/v1/voice/key", status=403)
    assert "API key" in answer.json["message"]
    await business.owner.get("/v1/voice/health", status=403)
    key = await business.key("voice:read")
    await Api(scoped).as_bearer(key["secret"]).get("/v1/voice/key", status=200)
