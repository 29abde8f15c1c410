"""The API's description: current, complete, and with examples that are true."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from story.__main__ import RECORDED, text_of
from story.recording import read

from tests.tidy.tree import tidy
from tillhouse import __version__
from tillhouse.app import PRODUCT
from tillhouse.reference.openapi import URL, describe
from tillhouse.reference.pages import document

DOCUMENT: dict[str, Any] = describe(PRODUCT, read(RECORDED), __version__)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]

_DOCUMENT_KEYS = {"openapi", "info", "servers", "tags", "paths", "webhooks", "components"}
_OPERATION_KEYS = {"operationId", "tags", "summary", "description", "parameters", "requestBody",
                   "responses", "security"}  # fmt: skip
_PLACES = {"path", "query", "header"}
_REFERENCE = re.compile(r'"\$ref": "#/components/schemas/([^"/]+)"')


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every operation, with what it is called in a failure."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every body that is sent or answered, refusals included."""
    for name, operation in operations():
        if "requestBody" in operation:
            yield f"{name} body", operation["requestBody"]["content"]["application/json"]
        for status, response in operation["responses"].items():
            if "$ref" not in response:
                yield f"{name} {status}", response["content"]["application/json"]
    for status, response in DOCUMENT["components"]["responses"].items():
        yield f"refusal {status}", response["content"]["application/json"]


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the document."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nodes(inner)


def test_the_kept_description_is_current() -> None:
    """The shipped document is what the routes, their types and the recording say."""
    is_current = document(URL).decode() == text_of(DOCUMENT)
    assert is_current, "Run `make docs`: src/tillhouse/reference/openapi.json is out of date."


def test_only_the_address_of_the_server_is_set_at_the_start() -> None:
    """The document that is served names the installation's own address."""
    served = json.loads(document("https://till.example.com"))
    assert served == {**DOCUMENT, "servers": [{"url": "https://till.example.com"}]}


def test_the_document_has_the_form_of_openapi() -> None:
    """The members that OpenAPI 3.1 knows, where it knows them."""
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT.keys() == _DOCUMENT_KEYS
    assert {"title", "version", "license", "description"} <= DOCUMENT["info"].keys()
    tags = [tag["name"] for tag in DOCUMENT["tags"]]
    assert len(tags) == len(set(tags))
    found = [
        f"{name}: {sorted(operation.keys() - _OPERATION_KEYS)}"
        for name, operation in operations()
        if not operation.keys() <= _OPERATION_KEYS
    ]
    found += [
        f"{name}: parameter {parameter.get('name')}"
        for name, operation in operations()
        for parameter in operation["parameters"]
        if parameter["in"] not in _PLACES
        or not parameter["description"]
        or (parameter["in"] == "path") != (f"{{{parameter['name']}}}" in name)
    ]
    tidy("The description has the form of OpenAPI 3.1.", found)


def test_every_reference_leads_somewhere() -> None:
    """No `$ref` points to nothing, and no `$defs` is left from making the schemas."""
    found: list[str] = []
    for node in nodes(DOCUMENT):
        if "$defs" in node:
            found.append("$defs is left")
        if "$ref" in node:
            place: Any = DOCUMENT
            for part in node["$ref"].removeprefix("#/").split("/"):
                place = place.get(part) if isinstance(place, dict) else None
            found += [node["$ref"]] if place is None else []
    tidy("Each $ref leads to a component of the document.", found)


def test_every_schema_is_json_schema() -> None:
    """Each schema is valid, patterns included, by the rules of its own language."""
    found: list[str] = []
    for name, schema in SCHEMAS.items():
        try:
            jsonschema_rs.meta.validate(schema)
            jsonschema_rs.Draft202012Validator(_whole(schema))
        except (jsonschema_rs.ValidationError, ValueError) as error:
            found.append(f"{name}: {error}")
    tidy("A schema is valid JSON Schema 2020-12.", found)


def test_every_operation_tells_what_a_caller_needs() -> None:
    """A unique id, a group, a summary, a description, a success, and every refusal."""
    found: list[str] = []
    ids = [operation["operationId"] for _, operation in operations()]
    found += [f"{id_}: twice" for id_ in ids if ids.count(id_) > 1]
    groups = {tag["name"] for tag in DOCUMENT["tags"]}
    for name, operation in operations():
        if not re.fullmatch(r"[a-z_]+", operation["operationId"]):
            found.append(f"{name}: the id {operation['operationId']}")
        if len(operation["tags"]) != 1 or not set(operation["tags"]) <= groups:
            found.append(f"{name}: in no group")
        if len(operation["summary"]) > 80 or not operation["summary"][:1].isupper():
            found.append(f"{name}: summary {operation['summary']!r}")
        if not operation["description"].endswith("."):
            found.append(f"{name}: description {operation['description']!r}")
        statuses = operation["responses"].keys()
        if not {"422", "500", "503"} <= statuses or not any(s[0] == "2" for s in statuses):
            found.append(f"{name}: only answers {sorted(statuses)}")
        if operation["security"] and not {"401", "403"} <= statuses:
            found.append(f"{name}: needs a credential and refuses none")
    tidy("Each operation tells what a caller needs to know: its row says it.", found)


def test_every_body_has_an_example_that_is_true() -> None:
    """Every example would be accepted, or could be answered."""
    found: list[str] = []
    for name, content in contents():
        values = [example["value"] for example in content.get("examples", {}).values()]
        validator = jsonschema_rs.Draft202012Validator(
            _whole(content["schema"]), validate_formats=True
        )
        found += [f"{name}: no example"] if not values else []
        found += [
            f"{name}: {'/'.join(map(str, error.instance_path))} {error.message}"
            for value in values
            for error in validator.iter_errors(value)
        ]
    tidy(
        "Each body has an example that fits its schema: run `make docs`.",
        found,
    )


def test_examples_read_like_real_data() -> None:
    """No example is merely the name of its own field."""
    tidy(
        "An example reads like real data: let the story send one.",
        (
            f"{name}: {key}"
            for name, content in contents()
            for example in content["examples"].values()
            for node in nodes(example["value"])
            for key, value in node.items()
            if isinstance(value, str)
            and value == re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", key)
        ),
    )


def test_what_may_be_left_out_says_so() -> None:
    """A struct of a request refuses unknown fields; a PATCH requires none."""
    found: list[str] = []
    for name, operation in operations():
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            struct = SCHEMAS[schema["$ref"].rpartition("/")[2]]
            if struct.get("additionalProperties") is not False:
                found.append(f"{name}: takes unknown fields, so a typo passes")
            if name.startswith("PATCH") and struct.get("required"):
                found.append(f"{name}: requires {struct['required']}")
    tidy("A body names its fields: forbid_unknown_fields=True, and UNSET in a patch.", found)


def _whole(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the components that it leads to: a validator of all takes a while to make."""
    named: dict[str, Any] = {}
    left = [schema]
    while left:
        fresh = set(_REFERENCE.findall(json.dumps(left.pop()))) - named.keys()
        named |= {name: SCHEMAS[name] for name in fresh}
        left += [SCHEMAS[name] for name in fresh]
    text = json.dumps({**schema, "$defs": named})
    return json.loads(text.replace("#/components/schemas/", "#/$defs/"))


def test_every_field_has_a_sentence() -> None:
    """Schemas, their fields and all parameters say what they mean."""
    found = [name for name, schema in SCHEMAS.items() if not _is_sentence(schema)]
    for name, schema in SCHEMAS.items():
        fields = schema.get("properties", {})
        found += [f"{name}.{key}" for key, field in fields.items() if not _is_sentence(field)]
    for name, operation in [*operations(), *events()]:
        found += [f"{name} {p['name']}" for p in operation["parameters"] if not _is_sentence(p)]
    tidy(
        "Each field has a sentence: a string below it in the source, or an entry by its name in "
        "reference/glossary.py (parameters: reference/parameter_glossary.py).",
        found,
    )


def test_only_what_can_be_null_speaks_of_null() -> None:
    """A sentence of the glossary that doesn't fit a field is replaced beside that field."""
    found = [
        f"{name}.{key}: {field['description']}"
        for name, schema in SCHEMAS.items()
        for key, field in schema.get("properties", {}).items()
        if re.search(r"\bnull\b", field.get("description", "")) and not _can_be_null(field)
    ]
    tidy("A field that is never null says nothing of null: give it a sentence of its own.", found)


def _can_be_null(field: dict[str, Any]) -> bool:
    return any("null" in one.get("type", ()) for one in (field, *field.get("anyOf", ())))


def _is_sentence(described: dict[str, Any]) -> bool:
    text = described.get("description", "")
    return len(text) > 8 and (text[0].isupper() or text[0] in "`{") and text.endswith((".", ":"))


def events() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every webhook."""
    for name, methods in DOCUMENT["webhooks"].items():
        yield name, methods["post"]


def test_every_list_of_words_has_a_name() -> None:
    """An enum is a component: a client gets one type of it, not one per field."""
    inline = [
        f"{name}.{key}: {inner['enum']}"
        for name, schema in SCHEMAS.items()
        for key, field in schema.get("properties", {}).items()
        for inner in nodes(field)
        if len(inner.get("enum", ())) > 1
    ]
    tidy("Each list of words has a name: give it one in reference/enums.py.", inline)


def test_clients_can_be_generated() -> None:
    """Names without Python's paths, null as a type, no default that makes a field required."""
    found = [f"the name {name}" for name in SCHEMAS if not re.fullmatch("[A-Z][A-Za-z]+", name)]
    for name, schema in SCHEMAS.items():
        for key, field in schema.get("properties", {}).items():
            found += [f"{name}.{key}: a default"] if "default" in field else []
            kinds = field.get("anyOf", [])
            if {"type": "null"} in kinds and all("$ref" not in kind for kind in kinds):
                found.append(f"{name}.{key}: null beside a plain type")
    tidy("Generators take the document as it is.", found)


def test_every_event_is_told_with_a_true_example() -> None:
    """Each event of the catalogue is a webhook; its example fits its schema."""
    told = dict(events())
    assert told.keys() == {event.name for event in PRODUCT.declared.events}
    found: list[str] = []
    for name, operation in told.items():
        content = operation["requestBody"]["content"]["application/json"]
        validator = jsonschema_rs.Draft202012Validator(
            _whole(content["schema"]), validate_formats=True
        )
        for example in content["examples"].values():
            found += [
                f"{name}: {error.message}" for error in validator.iter_errors(example["value"])
            ]
    tidy("An event's example is one.", found)


def test_every_order_of_an_example_adds_up() -> None:
    """Lines sum up to the order, and what was paid and what remains to the total."""
    orders = [
        node
        for name, content in contents()
        if name.startswith("GET /v1/orders") and " 200" in name
        for node in nodes(content["examples"])
        if "items" in node and "remainingAmount" in node
    ]
    assert len(orders) >= 4
    for order in orders:
        lines = order["items"]
        for line in lines:
            assert line["subtotalAmount"] == pytest.approx(line["unitPrice"] * line["quantity"])
            net = line["subtotalAmount"] - line["discountAmount"]
            assert line["totalPrice"] == pytest.approx(net + line["taxAmount"])
        for name in ("subtotalAmount", "discountAmount", "taxAmount"):
            assert order[name] == pytest.approx(sum(line[name] for line in lines)), name
        total = sum(line["totalPrice"] for line in lines)
        total += order["serviceChargeAmount"] + order["adjustmentAmount"]
        assert order["totalAmount"] == pytest.approx(total)
        assert order["remainingAmount"] == pytest.approx(max(total - order["amountPaid"], 0))
