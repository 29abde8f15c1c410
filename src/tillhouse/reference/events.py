"""The webhooks of the document: each type of event with its envelope and its data."""

from collections.abc import Iterable
from typing import Any

from tillhouse.kit.events import EventType
from tillhouse.reference.recorded import RecordedWire
from tillhouse.reference.schemas import REF, Schema, Schemas
from tillhouse.webhooks.events import API_VERSION
from tillhouse.webhooks.samples import shown

_ID = "019c13e4-b3c0-7c1e-9a52-6b1f0d2e4a77"
_BUSINESS = "019b8d2b-8c00-76f5-9819-3000a2a23c4c"
_HEADERS = {
    "Service-Signature": "`t=` unix seconds of this attempt, `v1=` the HMAC-SHA256 of "
    "`<t>.<body>` in hexadecimal: see the guide on webhooks.",
    "Service-Webhook-Id": "The event's id, the same at every attempt.",
    "Service-Webhook-Event": "The type of the event.",
    "webhook-id": "The event's id, as Standard Webhooks names it.",
    "webhook-timestamp": "Unix seconds of this attempt, as Standard Webhooks names them.",
    "webhook-signature": "The signature as Standard Webhooks has it.",
}


def webhooks(events: Iterable[EventType], schemas: Schemas, recording: RecordedWire) -> Schema:
    """A webhook for each event that rooms declare; its schema becomes a component."""
    happened = recording.events()
    found: Schema = {}
    for event in events:
        name = "".join(map(str.capitalize, event.name.replace("_", ".").split("."))) + "Event"
        schemas.components[name] = _envelope(event, name, schemas)
        found[event.name] = {"post": _received(event, name, happened.get(event.name))}
    return found


def _envelope(event: EventType, name: str, schemas: Schemas) -> Schema:
    of = "The business that the event happened in."
    properties: Schema = {
        "id": _text("The event's id, the same at every attempt and endpoint.", format="uuid"),
        "type": {"const": event.name, "type": "string", "description": "The type of the event."},
        "apiVersion": {
            "const": API_VERSION,
            "type": "string",
            "description": "The version of the payload's form.",
        },
        "businessId": _text(of, format="uuid"),
        "created": _text("When the event happened.", format="date-time"),
        "environment": {
            **schemas.tidied({"enum": ["live", "test"]}),
            "description": "The book that the event happened in.",
        },
        "data": {**schemas.of(event.data), "description": "What the event tells."},
    }
    return {
        "title": name,
        "type": "object",
        "description": f"{event.label}.",
        "required": list(properties),
        "properties": properties,
    }


def _text(sentence: str, **more: str) -> Schema:
    return {"type": "string", **more, "description": sentence}


def _received(event: EventType, name: str, recorded: Any) -> Schema:
    example = recorded or {
        "id": _ID,
        "type": event.name,
        "apiVersion": API_VERSION,
        "businessId": _BUSINESS,
        "created": "2026-01-31T09:30:00.000Z",
        "environment": "test",
        "data": shown(event).sample,
    }
    body = {"schema": {"$ref": REF.format(name=name)}, "examples": {"example": {"value": example}}}
    return {
        "operationId": f"on_{event.name.replace('.', '_')}",
        "tags": ["Webhooks"],
        "summary": event.label,
        "description": "Tillhouse sends this to the endpoints that subscribe to it.",
        "parameters": [
            {
                "name": header,
                "in": "header",
                "required": True,
                "description": sentence,
                "schema": {"type": "string"},
            }
            for header, sentence in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {"2XX": {"description": "Taken. Any other answer is tried again later."}},
    }
