"""JSON Schema of the types on the wire, by msgspec and by the types' own schemas."""

from collections.abc import Callable
from typing import Any

import msgspec

from tillhouse.kit.values import ListedName, Lists

_DEFS = "#/$defs/{name}"


def custom(type_: type) -> dict[str, Any]:
    """The schema of a type with a rule of its own: it describes itself."""
    schema: dict[str, Any] | None = getattr(type_, "SCHEMA", None)
    if schema is None:
        raise NotImplementedError(f"{type_} has no SCHEMA")
    return {"type": "string", **schema}


def hook(lists: Lists) -> Callable[[type], dict[str, Any]]:
    """The same for a whole product: a type of declared names knows the words of its rooms."""

    def listed(type_: type) -> dict[str, Any]:
        if issubclass(type_, ListedName):
            return {"type": "string", "enum": type_.names(lists), **type_.SCHEMA}
        return custom(type_)

    return listed


def mend(schema: Any, components: dict[str, Any], ref: str) -> Any:
    """Complete msgspec's schema: decimals are numbers, words are strings, null is no default."""
    if isinstance(schema, list):
        return [mend(item, components, ref) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "number"}
    mended = {key: mend(value, components, ref) for key, value in schema.items()}
    if "default" in mended and mended["default"] is None:
        del mended["default"]
    values = mended.get("enum")
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        mended = {"type": "string", **mended}
        if "title" in mended:
            # A list with a name, such as the currencies, is a component of its own.
            components[mended["title"]] = mended
            return {"$ref": ref.format(name=mended["title"])}
    return mended


def schema_of(type_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of one type, with those it refers to, outside of any document."""
    (schema,), structs = msgspec.json.schema_components(
        [type_], schema_hook=custom, ref_template=_DEFS
    )
    defs: dict[str, Any] = {}
    for name, inner in structs.items():
        defs[name] = mend(inner, defs, _DEFS)
    mended = mend(schema, defs, _DEFS)
    if "$ref" in mended:
        mended = defs.pop(mended["$ref"].rpartition("/")[2])
    return mended, defs
