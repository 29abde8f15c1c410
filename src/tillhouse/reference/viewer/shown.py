"""The parts of an operation, an event and an object that pages show, in their order."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from markupsafe import Markup

from tillhouse.reference.viewer.document import (
    Document,
    DocumentWebhook,
    Node,
    Operation,
    TagPage,
    name_of,
)
from tillhouse.reference.viewer.examples import Command, Example, command, examples_of
from tillhouse.reference.viewer.fields import Field, FieldPart, SchemaReader, Word
from tillhouse.reference.viewer.guides import Library, Passage

_PLACES = {"path": "Path", "query": "Query", "header": "Headers", "cookie": "Cookies"}
_CALLERS = {"apiKey": "an API key", "dashboard": "a login"}


class Parameters(msgspec.Struct, frozen=True):
    """The parameters in one part of a request."""

    name: str
    title: str
    fields: list[Field]


class ShownSuccess(msgspec.Struct, frozen=True, kw_only=True):
    """A success: its statuses, its fields, its examples."""

    statuses: list[str]
    about: str
    type: list[Word]
    parts: list[FieldPart]
    headers: list[Field]
    other_types: list[str]
    examples: list[Example]


class ShownRefusal(msgspec.Struct, frozen=True):
    """A status of refusal, and its meaning; examples where it has some of its own."""

    status: str
    about: str
    examples: list[Example]


class ShownOperation(msgspec.Struct, frozen=True, kw_only=True):
    """One operation."""

    operation: Operation
    about: Markup
    callers: list[str]
    scopes: list[str]
    passages: list[Passage]
    parameters: list[Parameters]
    body: list[FieldPart]
    body_is_required: bool
    bodies: list[Example]
    command: Command
    answers: list[ShownSuccess]
    refusals: list[ShownRefusal]


class ShownEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One webhook."""

    event: DocumentWebhook
    about: Markup
    headers: list[Field]
    parts: list[FieldPart]
    examples: list[Example]


class ShownObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object that answers are made of."""

    name: str
    title: str
    about: Markup
    parts: list[FieldPart]


class Showing:
    """Reads the content of the pages of one document."""

    def __init__(self, document: Document, library: Library) -> None:
        self._document = document
        self._library = library
        self._whole = SchemaReader(document, links=False)
        self._linked = SchemaReader(document, links=True)

    def operation(self, operation: Operation) -> ShownOperation:
        """Everything about an operation."""
        node = operation.node
        body = self._document.resolve(node.get("requestBody", {}))
        media: Node = body.get("content", {}).get("application/json", {})
        bodies = examples_of(media)
        security = node.get("security", self._document.node.get("security", []))
        about: str = node.get("description", "")
        return ShownOperation(
            operation=operation,
            about=self._library.html(about, 4),
            callers=_callers(security),
            scopes=_scopes(security, about),
            passages=self._library.on_operation(operation),
            parameters=list(self._parameters(node.get("parameters", []))),
            body=self._whole.parts(media["schema"]) if media else [],
            body_is_required=body.get("required", False),
            bodies=bodies,
            command=command(self._document, operation, bodies[0] if bodies else None),
            answers=list(self._answers(node.get("responses", {}))),
            refusals=list(self._refusals(node.get("responses", {}))),
        )

    def event(self, event: DocumentWebhook) -> ShownEvent:
        """Everything about an event."""
        body = self._document.resolve(event.node.get("requestBody", {}))
        media: Node = body.get("content", {}).get("application/json", {})
        words = [event.node.get("summary", ""), event.node.get("description", "")]
        about = "\n\n".join(dict.fromkeys(word for word in words if word))
        return ShownEvent(
            event=event,
            about=self._library.html(about, 3),
            headers=[
                self._header(one["name"], one)
                for one in map(self._document.resolve, event.node.get("parameters", []))
                if one["in"] == "header"
            ],
            parts=self._linked.parts(media["schema"]) if media else [],
            examples=examples_of(media),
        )

    def objects_of(self, group: TagPage) -> list[ShownObject]:
        """The objects that the answers of a group are made of."""
        responses = [
            response
            for operation in group.operations
            for _, response in _successes(operation.node.get("responses", {}))
        ]
        return self._objects([self._document.resolve(one).get("content", {}) for one in responses])

    def objects_of_events(self) -> list[ShownObject]:
        """The objects that events are made of."""
        bodies = [one.node.get("requestBody", {}) for one in self._document.events]
        return self._objects([self._document.resolve(one).get("content", {}) for one in bodies])

    def _objects(self, nodes: list[Node]) -> list[ShownObject]:
        names: set[str] = set()
        self._collect(nodes, names)
        return [
            ShownObject(
                name=name,
                title=name.replace("_", " "),
                about=self._library.html(schema.get("description", ""), 4),
                parts=self._linked.parts(schema),
            )
            for name in sorted(names)
            for schema in [self._document.schema(name)]
        ]

    def _collect(self, node: Any, names: set[str]) -> None:
        """Note the names of all objects that a node refers to, by whatever way."""
        if isinstance(node, list):
            for one in node:
                self._collect(one, names)
        elif isinstance(node, dict):
            name = name_of(node)
            if name and name not in names:
                schema = self._document.schema(name)
                if self._linked.is_object(schema):
                    names.add(name)
                self._collect(schema, names)
            for key, one in node.items():
                if key not in ("example", "examples"):
                    self._collect(one, names)

    def _parameters(self, parameters: list[Node]) -> Iterator[Parameters]:
        resolved = [self._document.resolve(one) for one in parameters]
        for name, title in _PLACES.items():
            fields = [self._parameter(one) for one in resolved if one["in"] == name]
            if fields:
                yield Parameters(name, title, fields)

    def _parameter(self, node: Node) -> Field:
        required = node.get("required", False)
        field = self._whole.field(node["name"], node.get("schema", {}), required=required)
        about = node.get("description") or field.about
        facts = field.facts
        if any(word.text == "list of " for word in field.type):
            facts = [*facts, "separated by commas"]
        return msgspec.structs.replace(field, about=about, facts=facts)

    def _answers(self, responses: Node) -> Iterator[ShownSuccess]:
        """Successes; statuses that say the same stand together."""
        same: list[tuple[list[str], Node]] = []
        for status, response in _successes(responses):
            resolved = self._document.resolve(response)
            for statuses, other in same:
                if other == resolved:
                    statuses.append(status)
                    break
            else:
                same.append(([status], resolved))
        for statuses, response in same:
            content: Node = response.get("content", {})
            media: Node = content.get("application/json", {})
            schema: Node = media.get("schema", {})
            yield ShownSuccess(
                statuses=statuses,
                about=response.get("description", ""),
                type=self._linked.type_of(schema) if schema else [],
                parts=self._linked.parts(schema) if schema else [],
                headers=[
                    self._header(name, node) for name, node in response.get("headers", {}).items()
                ],
                other_types=[name for name in content if name != "application/json"],
                examples=examples_of(media),
            )

    def _header(self, name: str, node: Node) -> Field:
        node = self._document.resolve(node)
        field = self._linked.field(name, node.get("schema", {}), required=None)
        return msgspec.structs.replace(field, about=node.get("description", ""))

    def _refusals(self, responses: Node) -> Iterator[ShownRefusal]:
        for status, response in responses.items():
            if not status.startswith("2"):
                resolved = self._document.resolve(response)
                media: Node = resolved.get("content", {}).get("application/json", {})
                # One that operations have in common is told in the guide on errors.
                own = [] if "$ref" in response else examples_of(media)
                yield ShownRefusal(status, resolved.get("description", ""), own)


def _successes(responses: Node) -> list[tuple[str, Node]]:
    return [(status, one) for status, one in responses.items() if status.startswith("2")]


def _callers(security: list[dict[str, list[str]]]) -> list[str]:
    names = dict.fromkeys(name for one in security for name in one)
    return [_CALLERS.get(name, name) for name in names]


def _scopes(security: list[dict[str, list[str]]], about: str) -> list[str]:
    """The scopes that a caller needs: named by the security, or by the description."""
    named = [scope for one in security for scopes in one.values() for scope in scopes]
    return list(dict.fromkeys(named or re.findall(r"scope `([a-z_]+:[a-z_]+)`", about)))
