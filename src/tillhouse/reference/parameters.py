"""The parameters of an operation: names of the path, the query, and headers that say something."""

from collections.abc import Mapping
from typing import Any, get_args

from tillhouse.http.caller import READS
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Scope
from tillhouse.http.signature import NoQuery
from tillhouse.reference.parameter_glossary import PARAMETERS, PATH
from tillhouse.reference.recorded import RecordedWire
from tillhouse.reference.schemas import Schema, Schemas

_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A key of this one request, such as a fresh UUID: a repetition replays the "
    "first answer. Another request with a used key is refused, so no example is given.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 257,
        "pattern": '^(?:[!#-~](?:[ -~]{0,253}[!-~])?|"[ !#-~]{1,255}")$',
        # Without an example, tools make a value of their own; this tells its kind, each time.
        "x-fresh": "uuid",
    },
}


def parameters(endpoint: RouteHandler, schemas: Schemas, recording: RecordedWire) -> list[Schema]:
    """All parameters of an operation."""
    route = endpoint.route
    operation = f"{route.method} {route.path}"
    found = _path_parameters(endpoint, schemas, recording.names(operation))
    if endpoint.query_type is not NoQuery:
        found += _query_parameters(endpoint, schemas, recording.queries(operation))
    if route.idempotent:
        found.append({**_IDEMPOTENCY_KEY, "required": route.needs_key})
    if isinstance(route.guard, Scope) and not route.guard.keys_only:
        found.append(_environment(schemas, is_read=route.method in READS))
    return found


def _environment(schemas: Schemas, *, is_read: bool) -> Schema:
    absent = ": `live` when left out" if is_read else ", which has to name it"
    return {
        "name": "Service-Environment",
        "in": "header",
        "required": False,
        "description": f"The book that a login acts in{absent}. An API key brings its own: "
        "naming another is refused.",
        "schema": schemas.tidied({"enum": ["live", "test"]}),
    }


def _path_parameters(
    endpoint: RouteHandler, schemas: Schemas, examples: Mapping[str, str]
) -> list[Schema]:
    found: list[Schema] = []
    for name, type_ in endpoint.path_types.items():
        words = sorted(get_args(type_))
        schema: Schema = {"type": "string", "format": "uuid"}
        # A new operation is described before its first request is recorded.
        if name in examples:
            schema["examples"] = [examples[name]]
        if words:
            schema = schemas.tidied({"enum": words})
        found.append(
            _parameter(name, "path", schema, PATH.get(name) or PARAMETERS[name], required=True)
        )
    return found


def _query_parameters(
    endpoint: RouteHandler, schemas: Schemas, examples: Mapping[str, Any]
) -> list[Schema]:
    struct = schemas.of_query(endpoint.query_type)
    found: list[Schema] = []
    for name, inner in struct["properties"].items():
        schema = _without_null(inner)
        sentence = schemas.sentences.of_parameter(endpoint.query_type, name)
        parameter = _parameter(
            name, "query", schema, sentence, required=name in struct.get("required", ())
        )
        if schema.get("type") == "array":
            parameter |= {"style": "form", "explode": False}
        elif name in examples and "$ref" not in schema:
            schema["examples"] = [_typed(examples[name], schema)]
        found.append(parameter)
    return found


def _without_null(schema: Schema) -> Schema:
    """A parameter is absent or has a value: there is no way to send null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if kinds:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds}
    if isinstance(schema.get("type"), list):
        return {**schema, "type": schema["type"][0]}
    return dict(schema)


def _typed(text: Any, schema: Schema) -> Any:
    """The value of a query as its schema's type."""
    match schema.get("type"):
        case "boolean":
            return text == "true"
        case "integer":
            return int(text)
        case _:
            return str(text)


def _parameter(name: str, source: str, schema: Schema, sentence: str, *, required: bool) -> Schema:
    plain = {key: value for key, value in schema.items() if key not in ("description", "title")}
    return {
        "name": name,
        "in": source,
        "required": required,
        "description": sentence,
        "schema": plain,
    }
