"""An example for every schema: from its own examples, else from its type and name."""

from typing import Any

_BY_FORMAT = {
    "uuid": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    "date-time": "2026-01-31T09:30:00.000Z",
    "date": "2026-01-31",
    "email": "ada@example.com",
}
_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1500.5, "boolean": True, "null": None}


def example_of(schema: dict[str, Any], components: dict[str, Any], name: str = "text") -> Any:
    """A value that fits the schema."""
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components, name)
    if schema.get("examples"):
        return schema["examples"][0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], components, name)
    return _by_type(schema, components, name)


def _by_type(schema: dict[str, Any], components: dict[str, Any], name: str) -> Any:
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {n: example_of(s, components, n) for n, s in properties.items()}
    if kind == "array":
        return [example_of(schema.get("items", {}), components, name)]
    if kind in _BY_TYPE:
        return schema.get("minimum", _BY_TYPE[kind]) if kind == "integer" else _BY_TYPE[kind]
    return _BY_FORMAT.get(schema.get("format", ""), name)
