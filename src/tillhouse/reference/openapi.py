"""The OpenAPI 3.1 document: from the route table, the types that it names, and the recording."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Route
from tillhouse.http.signature import NoBody
from tillhouse.kit.page import ChangesMeta, Meta, PagedByChange
from tillhouse.reference.events import webhooks
from tillhouse.reference.guards import SECURITY, description, security
from tillhouse.reference.introduction import INTRODUCTION, tags
from tillhouse.reference.operation_ids import operation_id
from tillhouse.reference.parameters import parameters
from tillhouse.reference.recorded import Exchange, RecordedWire
from tillhouse.reference.refusals import (
    HEADERS,
    Error,
    header,
    name_codes,
    refusals,
    shared_refusals,
)
from tillhouse.reference.schemas import REF, Schema, Schemas
from tillhouse.room import Composition

# The server puts its own address in this one's place.
URL = "http://127.0.0.1:8000"


def describe(product: Composition, exchanges: Sequence[Exchange], version: str) -> Schema:
    """The document."""
    recording = RecordedWire(exchanges)
    endpoints = [RouteHandler(route) for route in product.routes]
    schemas = _schemas(endpoints, product)
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        route = endpoint.route
        group = product.group_of(route.path).name
        operation = _operation(endpoint, group, schemas, recording)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    name_codes(schemas)
    hooks = webhooks(product.declared.events, schemas, recording)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tillhouse",
            "version": version,
            "summary": "The business platform that a business hosts itself",
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": URL}],
        "tags": tags(product),
        "paths": paths,
        "webhooks": hooks,
        "components": {
            "schemas": dict(sorted(schemas.components.items())),
            "responses": shared_refusals(recording),
            "headers": HEADERS,
            "securitySchemes": SECURITY,
        },
    }


def _schemas(endpoints: Sequence[RouteHandler], product: Composition) -> Schemas:
    answers: list[Any] = [
        Error,
        Meta,
        ChangesMeta,
        *(event.data for event in product.declared.events),
    ]
    for endpoint in endpoints:
        answers += [endpoint.data_type, *filter(None, [endpoint.route.extra])]
    bodies = [e.body_type for e in endpoints if e.body_type is not NoBody]
    return Schemas(answers, bodies, product.declared.lists)


def content(schema: Schema, example: Any) -> Schema:
    """JSON of this schema with an example."""
    return {"application/json": {"schema": schema, "examples": {"example": {"value": example}}}}


def _operation(
    endpoint: RouteHandler, group: str, schemas: Schemas, recording: RecordedWire
) -> Schema:
    route = endpoint.route
    operation: Schema = {
        "operationId": operation_id(route),
        "tags": [group],
        "summary": route.summary,
        "description": description(route),
        "parameters": parameters(endpoint, schemas, recording),
        "responses": _responses(endpoint, schemas, recording),
        "security": security(route),
    }
    if endpoint.body_type is not NoBody:
        fields = msgspec.structs.fields(endpoint.body_type)
        example = recording.body(f"{route.method} {route.path}")
        operation["requestBody"] = {
            "required": any(field.required for field in fields),
            "content": content(schemas.of(endpoint.body_type), example),
        }
    return operation


def _responses(endpoint: RouteHandler, schemas: Schemas, recording: RecordedWire) -> Schema:
    route = endpoint.route
    operation = f"{route.method} {route.path}"
    names = ["X-Request-Id", *(["Idempotent-Replayed"] if route.idempotent else [])]
    schema = _envelope(endpoint, schemas)
    found: Schema = {}
    for status in {route.status, route.replay_status or route.status}:
        told = content(schema, recording.answer(operation, status))
        if route.stream is not None:
            told["text/event-stream"] = _stream(route, recording)
        if route.has_sheet:
            told["text/csv"] = _sheet(operation, recording)
        found[str(status)] = {
            "description": route.summary,
            "headers": {name: header(name) for name in names},
            "content": told,
        }
    found |= refusals(route, recording)
    return dict(sorted(found.items()))


def _envelope(endpoint: RouteHandler, schemas: Schemas) -> Schema:
    """{message, data, meta?}, and further members beside the data."""
    properties: Schema = {
        "message": {"type": "string", "description": "What happened, for people."},
        "data": schemas.of(endpoint.data_type),
    }
    if "page" in getattr(endpoint.query_type, "__struct_fields__", ()):
        is_by_change = issubclass(endpoint.query_type or object, PagedByChange)
        name = "ChangesMeta" if is_by_change else "Meta"
        properties["meta"] = {"$ref": REF.format(name=name)}
    if endpoint.route.extra is not None:
        extra = schemas.named(schemas.of(endpoint.route.extra))
        properties |= extra["properties"]
    return {"type": "object", "required": list(properties), "properties": properties}


def _stream(route: Route, recording: RecordedWire) -> Schema:
    about = (route.stream.__doc__ or "").partition("\n")[0]
    text = recording.stream(f"{route.method} {route.path}")
    return {
        "schema": {"type": "string", "description": about},
        "examples": {"example": {"value": text}},
    }


def _sheet(operation: str, recording: RecordedWire) -> Schema:
    about = (
        "The rows as CSV, with `format=csv`: the first line names the columns, and the header "
        "`Link` leads to the next page."
    )
    return {
        "schema": {"type": "string", "description": about},
        "examples": {"example": {"value": recording.stream(operation)}},
    }
