"""The OpenAPI 3.1 document, made from the route table and the structs that it names."""

import json
import re
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

import msgspec

from tillhouse.http.endpoint import Endpoint, NoBody, NoQuery
from tillhouse.http.examples import example_of
from tillhouse.http.problems import STATUS
from tillhouse.http.route import Open, Portal, Route, Scope, Session
from tillhouse.kit.page import Meta

_REF = "#/components/schemas/{name}"

_TAGS = {
    "/v1/voice": "Voice",
    "/api/auth": "Account",
    "/api/developer": "Developer portal",
}

_ERRORS = {
    400: "A rule of the business refuses it, or the body is no JSON",
    401: "The credential is missing, unknown, revoked or expired",
    403: "The credential may not do this",
    404: "There is no such thing in this business and environment",
    409: "It collides with what is there: a limit, or a request that still runs",
    413: "The body is too large",
    415: "The body is of another type than application/json",
    422: "Fields are wrong; details names every one of them",
    429: "Too many requests; Retry-After tells when to go on",
    500: "A defect on our side; nothing was changed",
    503: "The database does not answer; try again shortly",
}


class ErrorDetail(msgspec.Struct):
    """What is wrong with one field."""

    field: str
    message: str


class Error(msgspec.Struct, rename="camel", omit_defaults=True):
    """The body of every refusal."""

    error: str
    message: str
    request_id: str
    details: list[ErrorDetail] = []


def describe(routes: Sequence[Route], version: str, url: str) -> bytes:
    """The document as JSON."""
    endpoints = [Endpoint(route) for route in routes]
    schemas, components = _schemas(endpoints)
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        route = endpoint.route
        operation = _operation(endpoint, schemas, components)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Tillhouse",
            "version": version,
            "summary": "The business platform that a business hosts itself",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": url}],
        "tags": [{"name": name} for name in _TAGS.values()],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": _error_responses(components),
            "securitySchemes": _SECURITY,
        },
    }
    return json.dumps(document, indent=1).encode()


_SECURITY = {
    "apiKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, `thsk_test_…` or `thsk_live_…`",
    },
    "dashboard": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An access token from POST /api/auth/login",
    },
}


def _schemas(endpoints: list[Endpoint]) -> tuple[dict[Any, Any], dict[str, Any]]:
    types: list[Any] = [Error, Meta]
    for endpoint in endpoints:
        types += [endpoint.data_type, endpoint.body_type, endpoint.query_type]
    unique = list({repr(type_): type_ for type_ in types}.values())
    schemas, components = msgspec.json.schema_components(
        unique, schema_hook=_custom, ref_template=_REF
    )
    by_type = dict(zip((repr(type_) for type_ in unique), map(_mend, schemas), strict=True))
    return by_type, {name: _mend(schema) for name, schema in components.items()}


def _custom(type_: type) -> dict[str, Any]:
    """Types with a rule of their own describe themselves."""
    schema: dict[str, Any] | None = getattr(type_, "SCHEMA", None)
    if schema is None:
        raise NotImplementedError(f"{type_} has no SCHEMA")
    return {"type": "string", **schema}


def _mend(schema: Any) -> Any:
    """Decimals leave as JSON numbers, which msgspec's schema doesn't know."""
    if isinstance(schema, dict):
        if schema.get("format") == "decimal":
            return {"type": "number"}
        return {key: _mend(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_mend(item) for item in schema]
    return schema


def _operation(
    endpoint: Endpoint, schemas: dict[Any, Any], components: dict[str, Any]
) -> dict[str, Any]:
    route = endpoint.route
    tag = next(tag for prefix, tag in _TAGS.items() if route.path.startswith(prefix))
    operation: dict[str, Any] = {
        "operationId": f"{tag.split()[0].lower()}_{route.handler.__name__}",
        "tags": [tag],
        "summary": route.summary,
        "description": _description(route),
        "parameters": _parameters(endpoint, components, schemas),
        "responses": _responses(endpoint, schemas, components),
        "security": _security(route),
    }
    if endpoint.body_type is not NoBody:
        schema = schemas[repr(endpoint.body_type)]
        example = example_of(schema, components)
        content = {"application/json": {"schema": schema, "example": example}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _description(route: Route) -> str:
    match route.guard:
        case Open():
            return "Needs no credential."
        case Session():
            return "Needs a login."
        case Portal(step_up=True):
            return (
                "Needs a login with MANAGE_DEVELOPER_KEYS, API access, and the password verified "
                "within 15 minutes (POST /api/auth/verify-password)."
            )
        case Portal():
            return "Needs a login with MANAGE_DEVELOPER_KEYS and API access."
        case Scope(name=name, keys_only=True):
            return f"Needs an API key with the scope `{name}`."
        case Scope(name=name):
            return f"Needs an API key with the scope `{name}`, or a login whose role includes it."


def _security(route: Route) -> list[dict[str, list[str]]]:
    match route.guard:
        case Open():
            return []
        case Scope(keys_only=True):
            return [{"apiKey": []}]
        case Scope():
            return [{"apiKey": []}, {"dashboard": []}]
        case _:
            return [{"dashboard": []}]


def _parameters(
    endpoint: Endpoint, components: dict[str, Any], schemas: dict[Any, Any]
) -> list[dict[str, Any]]:
    hints = get_type_hints(endpoint.route.handler)
    found: list[dict[str, Any]] = []
    for name in re.findall(r"\{(\w+)\}", endpoint.route.path):
        values = get_args(hints[name])
        schema = {"enum": list(values)} if values else {"type": "string", "format": "uuid"}
        found.append({"name": name, "in": "path", "required": True, "schema": schema})
    if endpoint.query_type is not NoQuery:
        found += _query_parameters(schemas[repr(endpoint.query_type)], components)
    if endpoint.route.once:
        found.append(_IDEMPOTENCY_KEY)
    if isinstance(endpoint.route.guard, Scope) and not endpoint.route.guard.keys_only:
        found.append(_ENVIRONMENT)
    return found


def _query_parameters(schema: dict[str, Any], components: dict[str, Any]) -> list[dict[str, Any]]:
    struct = components[schema["$ref"].rpartition("/")[2]]
    found: list[dict[str, Any]] = []
    for name, inner in struct["properties"].items():
        kinds = [kind for kind in inner.get("anyOf", [inner]) if kind.get("type") != "null"]
        parameter: dict[str, Any] = {
            "name": name,
            "in": "query",
            "required": name in struct.get("required", ()),
            "schema": kinds[0] if len(kinds) == 1 else {"anyOf": kinds},
        }
        if kinds[0].get("type") == "array":
            parameter |= {"style": "form", "explode": False}
        found.append(parameter)
    return found


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A unique key (a UUID is good): a repetition replays the first answer",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]{1,255}$"},
}
_ENVIRONMENT = {
    "name": "Service-Environment",
    "in": "header",
    "required": False,
    "description": "The book to act in, for a login; an API key brings its own",
    "schema": {"enum": ["test", "live"], "default": "live"},
}


def _responses(
    endpoint: Endpoint, schemas: dict[Any, Any], components: dict[str, Any]
) -> dict[str, Any]:
    route = endpoint.route
    data = schemas[repr(endpoint.data_type)]
    schema: dict[str, Any] = {
        "type": "object",
        "required": ["message", "data"],
        "properties": {"message": {"type": "string"}, "data": data},
    }
    example: dict[str, Any] = {"message": route.summary, "data": example_of(data, components)}
    if route.method == "GET" and data.get("type") == "array":
        schema["properties"]["meta"] = schemas[repr(Meta)]
    content = {"application/json": {"schema": schema, "example": example}}
    found: dict[str, Any] = {}
    for status in {route.status, route.replay_status or route.status}:
        found[str(status)] = {"description": route.summary, "content": content}
    for status in _possible_errors(route):
        found[str(status)] = {"$ref": f"#/components/responses/{status}"}
    return dict(sorted(found.items()))


def _possible_errors(route: Route) -> list[int]:
    statuses = {422, 500, 503}
    if route.method != "GET":
        statuses |= {400, 409, 413, 415}
    if "{" in route.path:
        statuses.add(404)
    if not isinstance(route.guard, Open):
        statuses |= {401, 403}
    if isinstance(route.guard, Scope) or route.path.startswith("/api/auth"):
        statuses |= {401, 403, 404, 429}
    return sorted(statuses)


def _error_responses(components: dict[str, Any]) -> dict[str, Any]:
    codes = {status: kind for kind, status in STATUS.items()}
    found: dict[str, Any] = {}
    for status, description in _ERRORS.items():
        example = example_of({"$ref": _REF.format(name="Error")}, components)
        example |= {"error": codes.get(status, "internal_error"), "message": description}
        if status != 422:
            example.pop("details", None)
        content = {
            "application/json": {
                "schema": {"$ref": _REF.format(name="Error")},
                "example": example,
            }
        }
        found[str(status)] = {"description": description, "content": content}
    return found
