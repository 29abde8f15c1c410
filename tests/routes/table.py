"""The facts about a route besides its row: a body that passes, ids that exist."""

import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple
from uuid import uuid4

import jsonschema_rs
import pytest

from tests.api import Api, Response
from tests.make import PASSWORD, Business
from tests.payouts.wallets import book_of, currency_of
from tests.routes import rooms
from tillhouse.app import PRODUCT, ROUTES
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Open, Portal, Route, Scope, Session
from tillhouse.reference.pages import document

DOCUMENT: dict[str, Any] = json.loads(document("http://testserver"))

SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
_REFERENCE = re.compile(r'"\$ref": "#/components/schemas/([^"/]+)"')

BEHIND_A_CREDENTIAL = [r for r in ROUTES if not isinstance(r.guard, Open)]
OF_PEOPLE = [r for r in BEHIND_A_CREDENTIAL if not isinstance(r.guard, Scope)]
OF_THE_PORTAL = [r for r in ROUTES if isinstance(r.guard, Portal)]
OF_KEYS = [r for r in ROUTES if isinstance(r.guard, Scope)]
WRITES = [r for r in ROUTES if r.method != "GET"]
WITH_NAMES = [r for r in ROUTES if "{" in r.path]
WITH_IDS = [r for r in WITH_NAMES if "_id}" in r.path]
WITH_A_QUERY = [r for r in ROUTES if RouteHandler(r).query_type.__struct_fields__]
ONCE = [r for r in ROUTES if r.idempotent]


def every(routes: Iterable[Route]) -> pytest.MarkDecorator:
    """One test per route."""
    return pytest.mark.parametrize("route", routes, ids=name_of)


def name_of(route: Route) -> str:
    """How tests and their tables call a route."""
    return f"{route.method} {route.path}"


async def _make_key(business: Business, environment: str) -> str:
    return (await business.key(environment=environment))["id"]


async def _make_session(business: Business, _environment: str) -> str:
    """Another session of the owner."""
    body = {"email": business.email, "password": PASSWORD}
    await business.anybody.post("/api/auth/login", body, status=200)
    listed = (await business.owner.get("/api/auth/sessions", status=200)).data
    return next(one["id"] for one in listed if not one["isCurrent"])


async def _end_session(business: Business, session_id: str) -> None:
    await business.owner.delete(f"/api/auth/sessions/{session_id}", status=200)


async def _delete_key(business: Business, key_id: str) -> None:
    await business.owner.delete(f"/api/developer/api-keys/{key_id}", status=200)


async def _make_endpoint(business: Business, environment: str) -> str:
    return (await business.endpoint(environment))["id"]


async def _delete_endpoint(business: Business, endpoint_id: str) -> None:
    await business.owner.delete(f"{_ENDPOINTS}/{endpoint_id}", status=200)


async def _make_delivery(business: Business, environment: str) -> str:
    endpoint_id = await _make_endpoint(business, environment)
    return (await business.owner.post(f"{_ENDPOINTS}/{endpoint_id}/test", status=202)).data["id"]


async def _make_event(business: Business, environment: str) -> str:
    endpoint_id = await _make_endpoint(business, environment)
    path = f"{_ENDPOINTS}/{endpoint_id}/test"
    return (await business.owner.post(path, status=202)).data["eventId"]


_ENDPOINTS = "/api/developer/webhook-endpoints"

# Names in paths that are one of a few words.
FIXED = {"environment": "test"}
# Bodies that differ from the one that passes, where another `name` would be no field.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    "POST /api/developer/webhook-endpoints/{endpoint_id}/recover": {
        "since": "2026-01-01",
        "preview": True,
    },
}
# How to make, and to remove, what a name in a path stands for.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "key_id": _make_key,
    "login_session_id": _make_session,
    "endpoint_id": _make_endpoint,
    "delivery_id": _make_delivery,
    "event_id": _make_event,
}
# A delivery and an event stay in the log for ever, so they have no remover.
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {
    "key_id": _delete_key,
    "login_session_id": _end_session,
    "endpoint_id": _delete_endpoint,
}

# Bodies that pass where the document's example can't: it knows no account and no id of a test.
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "POST /api/auth/register": lambda _: {
        "name": "Ada Owner",
        "email": f"{secrets.token_hex(8)}@example.com",
        "password": PASSWORD,
        "business_name": "Ada's",
    },
    "POST /api/auth/login": lambda b: {"email": b.email, "password": PASSWORD},
    "POST /api/auth/refresh": lambda b: {"refresh_token": b.tokens["refreshToken"]},
    "POST /api/auth/verify-password": lambda _: {"password": PASSWORD},
    "POST /api/auth/change-password": lambda _: {
        "current_password": PASSWORD,
        "new_password": PASSWORD,
    },
    "POST /api/auth/switch": lambda b: {"business_id": b.id},
    "POST /api/developer/api-keys": lambda _: {
        "name": "Till",
        "environment": "test",
        "scopes": ["voice:read"],
    },
    "PATCH /api/developer/api-keys/{key_id}": lambda _: {"name": "Renamed"},
    "POST /api/developer/webhook-endpoints": lambda _: {
        "name": "Shop hook",
        "url": "https://shop.example.com/hook",
        "environment": "test",
        "events": ["order.created"],
    },
    "PATCH /api/developer/webhook-endpoints/{endpoint_id}": lambda _: {"name": "Renamed"},
    "POST /api/developer/webhook-settings/{environment}/rotate-secret": lambda _: {},
    "POST /api/developer/webhook-settings/{environment}/view-secret": lambda _: {},
}


# Makers for a route that needs the thing of a path in a state of its own.
OWN_MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {}
# Members of an answer that are filled in after the commit, so that a replay may come before.
FILLED_LATER: dict[str, set[str]] = {}
# Bodies that name something that has to be made first.
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}

# The additions of each room: the files of `rooms`, each with those of these names that it needs.
for _file in iter_modules(rooms.__path__):
    _room = vars(import_module(f"{rooms.__name__}.{_file.name}"))
    MAKERS.update(_room.get("MAKERS", {}))
    REMOVERS.update(_room.get("REMOVERS", {}))
    BODIES.update(_room.get("BODIES", {}))
    OWN_MAKERS.update(_room.get("OWN_MAKERS", {}))
    NEEDY_BODIES.update(_room.get("NEEDY_BODIES", {}))
    OTHER_BODIES.update(_room.get("OTHER_BODIES", {}))
    FILLED_LATER.update(_room.get("FILLED_LATER", {}))


def operation(route: Route) -> dict[str, Any]:
    """The document's entry of a route."""
    return DOCUMENT["paths"][route.path][route.method.lower()]


async def body_for(route: Route, business: Business) -> dict[str, Any]:
    """A body that the route accepts."""
    if name_of(route) in NEEDY_BODIES:
        return await NEEDY_BODIES[name_of(route)](business)
    if name_of(route) in BODIES:
        return BODIES[name_of(route)](business)
    described = operation(route).get("requestBody")
    return examples(described["content"]["application/json"])[0] if described else {}


def examples(content: dict[str, Any]) -> list[Any]:
    """The examples beside a schema, at least one."""
    return [example["value"] for example in content["examples"].values()]


async def every_scope(business: Business, currency: str = "USD") -> Api:
    """A client whose key has all scopes; the currency is the business's."""
    names = [scope.name for scope in PRODUCT.declared.scopes]
    policy = {"max_per_transaction": 1, "max_per_day": 1, "currency": currency}
    return await business.client(*names, withdrawal_policy=policy)


async def scoped(business: Business, name: str) -> Api:
    """A client whose key has this scope alone."""
    return business.anybody.as_bearer((await scoped_key(business, name))["secret"])


async def scoped_key(business: Business, name: str) -> dict[str, Any]:
    """A key with this scope alone, and the policy that it may need."""
    if not PRODUCT.declared.scopes.withdrawals([name]):
        return await business.key(name)
    services = business.anybody.app.services
    currency = await currency_of(services, await book_of(services, business))
    policy = {"max_per_transaction": 10, "max_per_day": 100, "currency": currency}
    return await business.key(name, withdrawal_policy=policy)


class Ready(NamedTuple):
    """A request that will be answered with success."""

    api: Api
    path: str
    body: dict[str, Any]

    async def send(self, route: Route, **options: Any) -> Response:
        """Send it."""
        body = None if route.method == "GET" else self.body
        options["headers"] = {**key_for(route), **options.get("headers", {})}
        return await self.api.request(route.method, self.path, body, **options)


def key_for(route: Route) -> dict[str, str]:
    """A new Idempotency-Key where the route needs one."""
    return {"idempotency-key": str(uuid4())} if route.needs_key else {}


def random_path(route: Route) -> str:
    """The path with ids that nothing has."""
    return fill(route, lambda name: FIXED.get(name) or str(uuid4()))


def fill(route: Route, id_of: Callable[[str], str]) -> str:
    """The path with each of its names replaced."""
    segments = (id_of(s[1:-1]) if s.startswith("{") else s for s in route.path.split("/"))
    return "/".join(segments)


async def path_for(route: Route, business: Business, environment: str = "test") -> str:
    """The path with ids of this business."""
    names = [s[1:-1] for s in route.path.split("/") if s.startswith("{")]
    maker = OWN_MAKERS.get(name_of(route))
    made = {n: await (maker or MAKERS[n])(business, environment) for n in names if n not in FIXED}
    fixed = FIXED | ({"environment": environment} if "environment" in names else {})
    return fill(route, (fixed | made).__getitem__)


async def caller_for(route: Route, business: Business) -> Api:
    """Somebody who may call the route."""
    match route.guard:
        case Open():
            return business.anybody
        case Scope(name=scope):
            return await scoped(business, scope)
        case Portal(step_up=True) | Session(step_up=True):
            return (await business.step_up()).owner
        case _:
            return business.owner


async def ready(route: Route, business: Business) -> Ready:
    """Everything that a good request needs."""
    path = await path_for(route, business)
    return Ready(await caller_for(route, business), path, await body_for(route, business))


def misfits(schema: dict[str, Any], value: object) -> list[str]:
    """The faults of a value, by its schema in the document."""
    named = {name: SCHEMAS[name] for name in _named_by(schema)}
    whole = {**schema, "components": {"schemas": named}}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]


def _named_by(schema: dict[str, Any]) -> set[str]:
    """The schemas that one leads to: a validator of all of them would take a while to make."""
    found: set[str] = set()
    left = [schema]
    while left:
        named = set(_REFERENCE.findall(json.dumps(left.pop()))) - found
        found |= named
        left += [SCHEMAS[name] for name in named]
    return found


def without_request_id(answer: Response) -> dict[str, Any]:
    """A refusal as far as two equal ones must agree."""
    return {name: value for name, value in answer.json.items() if name != "requestId"}
