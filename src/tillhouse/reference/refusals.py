"""The refusals of the document: one schema, its codes, and recorded examples of each status."""

from collections import defaultdict
from typing import Any

import msgspec

from tillhouse.http.problems import known_codes
from tillhouse.http.route import Open, Route, Scope
from tillhouse.reference.introduction import ERRORS
from tillhouse.reference.recorded import RecordedWire
from tillhouse.reference.schemas import REF, Schema, Schemas

_ID = "019c13e4-b3c0-7c1e-9a52-6b1f0d2e4a77"


class ErrorDetail(msgspec.Struct):
    """The faults of one field."""

    field: str
    """The field, such as `items[0].quantity`; a query parameter or a header by its name."""
    message: str
    """The fault of the field, in a sentence without its subject."""


class Error(msgspec.Struct, rename="camel"):
    """The body of every refusal."""

    error: str
    """The kind of refusal, as a word for programs."""
    message: str
    """The refusal and what to do next, for people; it may change."""
    request_id: str
    """The request in the server's log; also in the header `X-Request-Id`."""
    details: list[ErrorDetail] | msgspec.UnsetType = msgspec.UNSET
    """Every wrong field, when fields are wrong."""


HEADERS: Schema = {
    "X-Request-Id": {
        "description": "Names this request in the logs; one that you send is kept.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "Present when the answer is a kept one.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Retry-After": {
        "description": "Seconds to wait before the next attempt.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
}


def header(name: str) -> Schema:
    """A header of the document's components."""
    return {"$ref": f"#/components/headers/{name}"}


def error_codes() -> list[str]:
    """Every code that a refusal may have."""
    return sorted({code for _, code in known_codes()})


def name_codes(schemas: Schemas) -> None:
    """Make the codes a component of their own, which every refusal refers to."""
    schemas.components["ErrorCode"] = {
        "type": "string",
        "enum": error_codes(),
        "description": "What happened, for programs: the guide on errors tells what to do.",
    }
    field = schemas.components["Error"]["properties"]["error"]
    del field["type"]
    field["$ref"] = REF.format(name="ErrorCode")


def refusals(route: Route, recording: RecordedWire) -> Schema:
    """The refusals of an operation: as it was recorded of this one, else as of any."""
    found: Schema = {}
    for status in _possible(route):
        answer = recording.answer(f"{route.method} {route.path}", status)
        shared: Schema = {"$ref": f"#/components/responses/{status}"}
        found[str(status)] = shared if answer is None else _response(status, answer)
    return found


def shared_refusals(recording: RecordedWire) -> Schema:
    """A response for each status of a refusal."""
    found: Schema = {}
    for status, (code, sentence) in ERRORS.items():
        written = {"error": code, "message": f"{sentence}.", "requestId": _ID}
        found[str(status)] = _response(status, recording.refusal(status, code) or written)
    return found


def _response(status: int, example: Any) -> Schema:
    codes: defaultdict[int, list[str]] = defaultdict(list)
    for known, code in known_codes():
        codes[known].append(code)
    names = ["X-Request-Id", *(["Retry-After"] if status in (429, 503) else [])]
    schema = {"$ref": REF.format(name="Error")}
    return {
        "description": f"{ERRORS[status][1]}. Codes: {', '.join(codes[status])}.",
        "headers": {name: header(name) for name in names},
        "content": {
            "application/json": {"schema": schema, "examples": {"example": {"value": example}}}
        },
    }


def _possible(route: Route) -> list[int]:
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
