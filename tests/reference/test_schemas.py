"""Schemas in words: whatever JSON Schema a document uses is shown."""

from typing import Any

from tests.reference.pages import Element, pages_of
from tests.tidy.tree import ROOT
from tillhouse.reference.viewer.document import Document
from tillhouse.reference.viewer.fields import Field, SchemaReader
from tillhouse.reference.viewer.guides import Guide, Library
from tillhouse.reference.viewer.site import site

SCHEMAS: dict[str, Any] = {
    "Colour": {"type": "string", "enum": ["red", "green"], "description": "What it is painted."},
    "Node": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
        },
    },
    "Cat": {"type": "object", "properties": {"lives": {"type": "integer"}}},
    "Dog": {"type": "object", "properties": {"barks": {"type": "boolean"}}},
    "Puppy": {
        "allOf": [
            {"$ref": "#/components/schemas/Dog"},
            {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}},
        ]
    },
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Zoo", "version": "1", "description": "Animals."},
    "servers": [{"url": "https://zoo.example.com"}],
    "paths": {
        "/v1/cats/{cat_id}": {
            "parameters": [{"$ref": "#/components/parameters/cat"}],
            "put": {
                "tags": ["Cats"],
                "summary": "Feed <b>a</b> cat",
                "description": "It's <script>alert(1)</script> fed.",
                "security": [{"apiKey": ["cats:feed"]}],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"$ref": "#/components/schemas/Cat"},
                            "examples": {
                                "one": {"summary": "One", "value": {"name": "it's"}},
                                "two": {"summary": "Two", "value": {"name": "</pre>"}},
                            },
                        }
                    }
                },
                "responses": {
                    "204": {"description": "Fed"},
                    "409": {
                        "description": "Asleep",
                        "content": {"application/json": {"example": {"error": "cat_asleep"}}},
                    },
                    "default": {"description": "Not fed"},
                },
            },
        }
    },
    "webhooks": {
        "cat.fed": {
            "post": {
                "summary": "A cat was fed",
                "parameters": [{"name": "Signed", "in": "header", "schema": {"type": "string"}}],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"data": {"$ref": "#/components/schemas/Cat"}},
                            },
                            "examples": {"sample": {"value": {"data": {"lives": 7}}}},
                        }
                    }
                },
            }
        }
    },
    "components": {
        "schemas": SCHEMAS,
        "parameters": {
            "cat": {"name": "cat_id", "in": "path", "required": True, "schema": {"type": "string"}}
        },
    },
}
PAGES = pages_of(site(DOCUMENT, ROOT / "tests/reference"))


def read(schema: dict[str, Any], *, links: bool = False) -> Field:
    """One schema as a field."""
    return SchemaReader(Document(DOCUMENT), links=links).field("it", schema, required=True)


def words(schema: dict[str, Any]) -> str:
    """Its type."""
    return "".join(word.text for word in read(schema).type)


def ref(name: str) -> dict[str, Any]:
    """A named schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def test_types_are_told_in_words() -> None:
    """However the document writes them."""
    assert words({"type": "string", "format": "uuid"}) == "UUID"
    assert words({"type": ["string", "null"]}) == "string or null"
    assert words({"anyOf": [{"type": "number"}, {"type": "null"}]}) == "number or null"
    assert words({"type": "array", "items": {"type": "string"}}) == "list of strings"
    assert words({"type": ["array", "null"], "items": ref("Cat")}) == "list of Cat or null"
    assert words({"oneOf": [ref("Cat"), ref("Dog")]}) == "Cat or Dog"
    assert words({"type": "object", "additionalProperties": ref("Cat")}) == "map of Cat"
    assert words({"allOf": [ref("Cat")], "description": "A cat."}) == "Cat"
    assert words({"enum": ["a", "b"]}) == "string"
    assert words({"const": "a"}) == "string"
    assert words({}) == "any JSON"


def test_values_and_bounds_are_told() -> None:
    """Of the field itself, of what a list holds, and beside null."""
    assert read(ref("Colour")).values == ["red", "green"]
    assert read({"anyOf": [ref("Colour"), {"type": "null"}]}).values == ["red", "green"]
    assert read({"type": "array", "items": ref("Colour")}).values == ["red", "green"]
    assert read({"enum": ["a", None], "type": ["string", "null"]}).values == ["a"]
    bounded = {"type": "string", "minLength": 1, "maxLength": 5, "default": "x"}
    assert read(bounded).facts == ["1 to 5 characters", "x when left out"]
    assert read({"type": "number", "exclusiveMinimum": 0}).facts == ["more than 0"]
    assert read({"type": "array", "items": {"type": "integer"}, "minItems": 1}).facts == [
        "at least 1 item"
    ]
    assert read({"type": "string", "examples": ["Ada"]}).facts == ["such as Ada"]
    assert read({"type": "boolean", "default": False}).facts == ["false when left out"]


def test_the_sentence_of_a_field_wins_over_that_of_its_type() -> None:
    """Words beside a reference tell of the field."""
    assert read(ref("Colour")).about == "What it is painted."
    assert read({**ref("Colour"), "description": "The door."}).about == "The door."
    assert read({**ref("Cat"), "description": "Its cat."}, links=True).about == "Its cat."


def test_objects_are_opened_in_place_or_linked() -> None:
    """In a request fields stand inside fields, to where one would contain itself."""
    whole = read(ref("Node"))
    children = whole.parts[0].fields[1]
    assert [one.name for one in whole.parts[0].fields] == ["name", "children"]
    assert [word.schema for word in children.type] == ["", "Node"]
    assert children.parts == []
    assert read(ref("Node"), links=True).parts == []


def test_one_of_several_objects_shows_each() -> None:
    """With its name."""
    both = read({"oneOf": [ref("Cat"), ref("Dog")]})
    assert [(part.title, [one.name for one in part.fields]) for part in both.parts] == [
        ("Cat", ["lives"]),
        ("Dog", ["barks"]),
    ]
    (merged,) = read(ref("Puppy")).parts
    assert [(one.name, one.is_required) for one in merged.fields] == [
        ("barks", False),
        ("age", True),
    ]


def shown(path: str, anchor: str) -> Element:
    """An element of a page."""
    found = PAGES[path].by_id(anchor)
    assert found is not None
    return found


def test_a_document_with_less_is_shown_too() -> None:
    """No tags, no guides, parameters of the path, an answer without a body."""
    put = shown("/docs/api/cats", "put-v1-cats-cat-id")
    assert "cat_id" in {one.text for one in put.all("dt")}
    assert "cats:feed" in put.text
    assert "an API key" in put.text
    assert '"error": "cat_asleep"' in put.text
    assert 'curl -sS -X PUT "https://zoo.example.com/v1/cats/$CAT_ID"' in put.text


def test_the_guide_that_a_tag_names_comes_first() -> None:
    """Before those that only speak of its operations."""
    document = {
        **DOCUMENT,
        "tags": [{"name": "Cats", "externalDocs": {"url": "/docs/guides/feeding#cats"}}],
    }
    guides = [
        Guide(name="keeping", text="# Keeping\n\n`PUT /v1/cats/{id}`, `PUT /v1/cats/{cat_id}`"),
        Guide(name="feeding", text="# Feeding\n\nNo operation."),
    ]
    library = Library(Document(document), guides)
    (cats,) = Document(document).groups
    assert [guide.name for guide in library.on_group(cats)] == ["feeding", "keeping"]


def test_text_stays_text() -> None:
    """No tag of the document becomes one of the page."""
    put = shown("/docs/api/cats", "put-v1-cats-cat-id")
    assert "Feed <b>a</b> cat" in put.text
    assert "<script>alert(1)</script>" in put.text
    assert not list(put.all("script"))
    assert "it'\\''s" in put.text
    assert "</pre>" in put.text


def test_events_are_shown() -> None:
    """A webhook with its fields, its example and the object that it carries."""
    event = shown("/docs/events", "cat-fed")
    assert "A cat was fed" in event.text
    assert '"lives": 7' in event.text
    assert "Signed" in event.text
    assert [one.attributes["href"] for one in event.all("a")][1:] == ["#object-Cat"]
    assert "lives" in shown("/docs/events", "object-Cat").text
