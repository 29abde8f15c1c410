"""The look of events: schema and sample of their data, by their types."""

import hashlib
from functools import cache
from typing import Any

from tillhouse.http.schema import schema_of
from tillhouse.kit.events import EventType
from tillhouse.webhooks.types import EventShown

# Values by the names of fields, where the type alone says too little.
_NAMED: dict[str, Any] = {
    "currency": "NGN",
    "email": "ada@example.com",
    "metadata": {"environment": "test", "scopes": ["orders:read"]},
    "name": "Main shop",
    "phoneNumber": "+2348030000000",
    "unit": "plate",
}
_BY_FORMAT = {"date-time": "2026-01-31T09:30:00.000Z"}
_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1500.5, "boolean": True}


@cache
def shown(event: EventType) -> EventShown:
    """An event with the schema of its data and a sample, which tells of nothing that there is."""
    schema, components = schema_of(event.data)
    sample = _object(schema, components)
    if "eventType" in sample:
        sample["eventType"] = event.code
    whole = {**schema, "$defs": components} if components else schema
    return EventShown(event.name, event.label, event.group, whole, sample)


def _object(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _NAMED.get(name)
        or _sample(inner, components, name if name != "id" else schema["title"])
        for name, inner in schema["properties"].items()
    }


def _sample(schema: dict[str, Any], components: dict[str, Any], name: str) -> Any:
    """A value that fits the schema."""
    if "$ref" in schema:
        return _object(components[schema["$ref"].rpartition("/")[2]], components)
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [_sample(schema["items"], components, name)]
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0], components, name)
    if schema.get("format") == "uuid":
        return _id(name)
    return _BY_TYPE.get(schema["type"]) or _BY_FORMAT.get(schema.get("format", ""), _snake(name))


def _id(name: str) -> str:
    """An id that stays the same: that of the first moment of 2026, and of its field's name."""
    digits = hashlib.sha256(name.encode()).hexdigest()
    return f"019b76da-a800-7{digits[:3]}-9{digits[3:6]}-{digits[6:18]}"


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
