"""The OpenAPI 3.1 document, made from the route table and the structs that it names."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from tillhouse.http.endpoint import Endpoint
from tillhouse.http.examples import example_of
from tillhouse.http.problems import known_codes
from tillhouse.http.reference import ERRORS, INTRODUCTION, PARAMETERS, group_of
from tillhouse.http.route import Open, Portal, Route, Scope, Session
from tillhouse.http.signature import NoBody, NoQuery
from tillhouse.http.story.parts import answer
from tillhouse.http.story.world import example_id
from tillhouse.kit.page import Meta
from tillhouse.kit.values import Listed, Lists

_REF = "#/components/schemas/{name}"
_DEFS = "#/$defs/{name}"


class ErrorDetail(msgspec.Struct):
    """The faults of one field."""

    field: str
    message: str


class Error(msgspec.Struct, rename="camel", omit_defaults=True):
    """The body of every refusal."""

    error: str
    message: str
    request_id: str
    details: list[ErrorDetail] = []


def describe(routes: Sequence[Route], lists: Lists, version: str, url: str) -> bytes:
    """The document as JSON."""
    endpoints = [Endpoint(route) for route in routes]
    schemas, components = _schemas(endpoints, lists)
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        route = endpoint.route
        operation = _operation(endpoint, schemas, components)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    groups = dict(group_of(route.path) for route in routes)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Tillhouse",
            "version": version,
            "summary": "The business platform that a business hosts itself",
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": url}],
        "tags": [{"name": name, "description": about} for name, about in groups.items()],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": _error_responses(components),
            "headers": _HEADERS,
            "securitySchemes": _SECURITY,
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


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


def _schemas(endpoints: list[Endpoint], lists: Lists) -> tuple[dict[Any, Any], dict[str, Any]]:
    types: list[Any] = [Error, Meta]
    for endpoint in endpoints:
        types += [endpoint.data_type, endpoint.body_type, endpoint.query_type]
    unique = list({repr(type_): type_ for type_ in types}.values())
    schemas, structs = _components(unique, lists)
    components: dict[str, Any] = {}
    for name, schema in structs.items():
        components[name] = _mend(schema, components)
    by_type = [_mend(schema, components) for schema in schemas]
    return dict(zip(map(repr, unique), by_type, strict=True)), dict(sorted(components.items()))


def _components(
    types: Sequence[Any], lists: Lists
) -> tuple[Sequence[dict[str, Any]], dict[str, Any]]:
    def listed(type_: type) -> dict[str, Any]:
        if issubclass(type_, Listed):
            return {"type": "string", "enum": type_.names(lists), **type_.SCHEMA}
        return _custom(type_)

    return msgspec.json.schema_components(types, schema_hook=listed, ref_template=_REF)


def _custom(type_: type) -> dict[str, Any]:
    """Types with a rule of their own describe themselves."""
    schema: dict[str, Any] | None = getattr(type_, "SCHEMA", None)
    if schema is None:
        raise NotImplementedError(f"{type_} has no SCHEMA")
    return {"type": "string", **schema}


def _mend(schema: Any, components: dict[str, Any], ref: str = _REF) -> Any:
    """What msgspec leaves out: decimals are numbers, words are strings, null is no default."""
    if isinstance(schema, list):
        return [_mend(item, components, ref) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "number"}
    mended = {key: _mend(value, components, ref) for key, value in schema.items()}
    if "default" in mended and mended["default"] is None:
        del mended["default"]
    values = mended.get("enum")
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        mended = {"type": "string", **mended}
        if "title" in mended:
            # A list with a name, such as the currencies, is told once.
            components[mended["title"]] = mended
            return {"$ref": ref.format(name=mended["title"])}
    return mended


def _content(schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """JSON of this schema. The viewer reads `examples`; a single `example` it would overlook."""
    return {"application/json": {"schema": schema, "examples": {"example": {"value": example}}}}


def _operation(
    endpoint: Endpoint, schemas: dict[Any, Any], components: dict[str, Any]
) -> dict[str, Any]:
    route = endpoint.route
    tag = group_of(route.path)[0]
    operation: dict[str, Any] = {
        "operationId": f"{tag.split()[0].lower()}_{route.operation}",
        "tags": [tag],
        "summary": route.summary,
        "description": _description(route),
        "parameters": _parameters(endpoint, components, schemas),
        "responses": _responses(endpoint, schemas, components),
        "security": _security(route),
    }
    if endpoint.body_type is not NoBody:
        schema = schemas[repr(endpoint.body_type)]
        content = _content(schema, example_of(schema, components))
        fields = msgspec.structs.fields(endpoint.body_type)
        is_required = any(field.required for field in fields)
        operation["requestBody"] = {"required": is_required, "content": content}
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
    found: list[dict[str, Any]] = []
    for name, type_ in endpoint.path_types.items():
        values = get_args(type_)
        schema: dict[str, Any] = {
            "type": "string",
            "format": "uuid",
            "examples": [example_id(name)],
        }
        if values:
            schema = {"type": "string", "enum": list(values)}
        found.append(_parameter(name, "path", schema, required=True))
    if endpoint.query_type is not NoQuery:
        found += _query_parameters(schemas[repr(endpoint.query_type)], components)
    if endpoint.route.idempotent:
        found.append(_IDEMPOTENCY_KEY)
    if isinstance(endpoint.route.guard, Scope) and not endpoint.route.guard.keys_only:
        found.append(_ENVIRONMENT)
    return found


def _parameter(name: str, place: str, schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    about = PARAMETERS.get(name) or schema.get("description")
    about = about or name.replace("_", " ").capitalize()
    return {"name": name, "in": place, "required": required, "description": about, "schema": schema}


def _query_parameters(schema: dict[str, Any], components: dict[str, Any]) -> list[dict[str, Any]]:
    struct = components[schema["$ref"].rpartition("/")[2]]
    found: list[dict[str, Any]] = []
    for name, inner in struct["properties"].items():
        # A parameter is absent or has a value: there is no way to send null.
        kinds = [kind for kind in inner.get("anyOf", [inner]) if kind.get("type") != "null"]
        plain = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        required = name in struct.get("required", ())
        parameter = _parameter(name, "query", plain, required=required)
        if kinds[0].get("type") == "array":
            parameter |= {"style": "form", "explode": False}
        found.append(parameter)
    return found


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A unique key (a UUID is good): a repetition replays the first answer",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 257,
        "pattern": '^(?:[!#-~][!-~]{0,254}|"[ !#-~]{1,255}")$',
        "examples": [example_id("idempotency_key")],
    },
}
_ENVIRONMENT = {
    "name": "Service-Environment",
    "in": "header",
    "required": False,
    "description": "The book to act in, for a login; an API key brings its own",
    "schema": {"type": "string", "enum": ["test", "live"], "default": "live"},
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
    is_page = "page" in getattr(endpoint.query_type, "__struct_fields__", ())
    example = answer(route, example_of(data, components), is_page=is_page)
    if is_page:
        schema["properties"]["meta"] = schemas[repr(Meta)]
        schema["required"].append("meta")
    content = _content(schema, example)
    if route.stream is not None:
        about = {"type": "string", "description": (route.stream.__doc__ or "").partition("\n")[0]}
        content["text/event-stream"] = {"schema": about}
    names = ["X-Request-Id", *(["Idempotent-Replayed"] if route.idempotent else [])]
    headers = {name: _header(name) for name in names}
    found: dict[str, Any] = {}
    for status in {route.status, route.replay_status or route.status}:
        found[str(status)] = {"description": route.summary, "headers": headers, "content": content}
    for status in _possible_errors(route):
        found[str(status)] = {"$ref": f"#/components/responses/{status}"}
    return dict(sorted(found.items()))


def _header(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/headers/{name}"}


_HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": "Names this request in the logs; one that you send is kept",
        "required": True,
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "Present when the answer is a kept one",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Retry-After": {
        "description": "Seconds to wait before the next attempt",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
}


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
    found: dict[str, Any] = {}
    codes: defaultdict[int, list[str]] = defaultdict(list)
    for status, code in known_codes():
        codes[status].append(code)
    schema = {"$ref": _REF.format(name="Error")}
    for status, (code, description) in ERRORS.items():
        example = example_of(schema, components)
        example |= {"error": code, "message": f"{description}."}
        if status != 422:
            del example["details"]
        names = ["X-Request-Id", *(["Retry-After"] if status in (429, 503) else [])]
        found[str(status)] = {
            "description": f"{description}. Codes: {', '.join(codes[status])}",
            "headers": {name: _header(name) for name in names},
            "content": _content(schema, example),
        }
    return found


def schema_of(type_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of one type, with what it refers to, outside of any document."""
    (schema,), structs = msgspec.json.schema_components(
        [type_], schema_hook=_custom, ref_template=_DEFS
    )
    defs: dict[str, Any] = {}
    for name, inner in structs.items():
        defs[name] = _mend(inner, defs, _DEFS)
    mended = _mend(schema, defs, _DEFS)
    if "$ref" in mended:
        mended = defs.pop(mended["$ref"].rpartition("/")[2])
    return mended, defs
