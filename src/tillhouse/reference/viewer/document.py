"""An OpenAPI 3.1 document as the viewer reads it: operations in groups, events, schemas."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

Node = dict[str, Any]

METHODS = ("get", "post", "put", "patch", "delete")
_SCHEMAS = "#/components/schemas/"


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One method of one path; `node` is its part of the document."""

    method: str
    path: str
    group: str
    anchor: str
    node: Node

    @property
    def summary(self) -> str:
        """Its title."""
        return self.node.get("summary") or self.name

    @property
    def name(self) -> str:
        """Method and path, as guides name it."""
        return f"{self.method} {self.path}"

    @property
    def url(self) -> str:
        """Where the viewer shows it."""
        return f"{group_url(self.group)}#{self.anchor}"


class DocumentWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook of the document: a request to other servers."""

    name: str
    anchor: str
    node: Node

    @property
    def url(self) -> str:
        """Where the viewer shows it."""
        return f"/docs/events#{self.anchor}"


class TagPage(msgspec.Struct, frozen=True, kw_only=True):
    """A tag with its operations: one page."""

    name: str
    about: str
    # The page that its tag names for reading on; empty without one.
    docs: str
    operations: list[Operation]

    @property
    def url(self) -> str:
        """Where the viewer shows it."""
        return group_url(self.name)


class Document:
    """The whole document, with the schemas that its parts refer to."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.info: Node = node["info"]
        self.server: str = node["servers"][0]["url"] if node.get("servers") else ""
        self.operations = list(_operations(node))
        self.events = list(_events(node))
        self.groups = self._groups()
        self._by_call = {(one.method, one.path): one for one in self.operations}

    def resolve(self, node: Node) -> Node:
        """A node itself, or the one that it refers to; words beside a reference win."""
        while "$ref" in node:
            beside = {key: value for key, value in node.items() if key != "$ref"}
            node = {**self._at(node["$ref"]), **beside}
        return node

    def schema(self, name: str) -> Node:
        """A named schema."""
        return self.resolve({"$ref": _SCHEMAS + name})

    def _at(self, pointer: str) -> Node:
        found: Any = self.node
        for part in pointer.removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        return found

    def _groups(self) -> list[TagPage]:
        tags: dict[str, Node] = {tag["name"]: tag for tag in self.node.get("tags", [])}
        names = dict.fromkeys([*tags, *(one.group for one in self.operations)])
        groups = [
            TagPage(
                name=name,
                about=tags.get(name, {}).get("description", ""),
                docs=tags.get(name, {}).get("externalDocs", {}).get("url", ""),
                operations=[one for one in self.operations if one.group == name],
            )
            for name in names
        ]
        return [group for group in groups if group.operations]

    def named(self, text: str) -> Operation | None:
        """The operation that a text such as `POST /v1/orders/{id}/confirm` or `GET …/me` means."""
        match = re.fullmatch(r"([A-Z]+) (…?)(/[^\s?]*)(?:\?\S*)?", text)
        if match is None:
            return None
        method, shortened, path = match.groups()
        if not shortened and (method, path) in self._by_call:
            return self._by_call[method, path]
        for form in (str, _without_names):
            wanted = form(path)
            found = [
                one
                for one in self.operations
                if one.method == method
                and (form(one.path).endswith(wanted) if shortened else form(one.path) == wanted)
            ]
            if len(found) == 1:
                return found[0]
        return None

    def under(self, path: str) -> TagPage | None:
        """The group that a path without a method, such as `/v1/stores`, belongs to."""
        for group in self.groups:
            if any(one.path == path for one in group.operations):
                return group
        return None


def name_of(node: Node) -> str:
    """The name of the schema that a node refers to; empty for one that is written out."""
    parts: list[Node] = node.get("allOf") or []
    reference: str = node.get("$ref") or (parts[0].get("$ref", "") if len(parts) == 1 else "")
    return reference.removeprefix(_SCHEMAS) if reference.startswith(_SCHEMAS) else ""


def slug(text: str) -> str:
    """A text as part of an address: `POST /v1/orders/{id}` is `post-v1-orders-id`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def group_url(name: str) -> str:
    """The page of a group."""
    return f"/docs/api/{slug(name)}"


def _without_names(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def _operations(node: Node) -> Iterator[Operation]:
    for path, item in node["paths"].items():
        for method in METHODS:
            if method in item:
                operation: Node = dict(item[method])
                both = [*item.get("parameters", []), *operation.get("parameters", [])]
                operation["parameters"] = both
                yield Operation(
                    method=method.upper(),
                    path=path,
                    group=(operation.get("tags") or ["Other"])[0],
                    anchor=slug(f"{method} {path}"),
                    node=operation,
                )


def _events(node: Node) -> Iterator[DocumentWebhook]:
    for name, item in node.get("webhooks", {}).items():
        for method in METHODS:
            if method in item:
                yield DocumentWebhook(name=name, anchor=slug(name), node=item[method])
