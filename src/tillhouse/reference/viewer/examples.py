"""Examples as people read them: a request as a command, JSON with its names set off."""

import json
import re
from typing import Any

import msgspec
from markupsafe import Markup, escape

from tillhouse.reference.viewer.document import Document, Node, Operation

# A line of formatted JSON that begins with a name, after it was escaped.
_NAME = re.compile(r"^( *)(&#34;(?:(?!&#34;).|\\&#34;)*&#34;)(?=: )", re.MULTILINE)
_FRESH_KEY = "$(uuidgen)"


class Example(msgspec.Struct, frozen=True):
    """A value of the document, under its title."""

    title: str
    value: Any

    @property
    def html(self) -> Markup:
        """The value as JSON."""
        return json_html(self.value)


def examples_of(media: Node) -> list[Example]:
    """The examples of a body."""
    if "examples" in media:
        return [
            Example(one.get("summary", ""), one["value"])
            for one in media["examples"].values()
            if "value" in one
        ]
    if "example" in media:
        return [Example("", media["example"])]
    return [Example("", value) for value in media.get("schema", {}).get("examples", [])]


def json_html(value: Any) -> Markup:
    """A value as formatted JSON."""
    text = str(escape(json.dumps(value, indent=2, ensure_ascii=False)))
    return Markup(_NAME.sub(r"\1<b>\2</b>", text))  # noqa: S704


class Command(msgspec.Struct, frozen=True):
    """A request for curl: the lines before the body, and the body as JSON."""

    head: str
    body: str | None

    @property
    def text(self) -> str:
        """The whole command."""
        if self.body is None:
            return self.head
        return f"{self.head} \\\n  -d '{self.quoted}'"

    @property
    def quoted(self) -> str:
        """The body as it stands between the shell's quotes."""
        return (self.body or "").replace("'", "'\\''")


def command(document: Document, operation: Operation, body: Example | None) -> Command:
    """The request as a command; ids are the reader's own, and a key for repetition is fresh."""
    node = operation.node
    parameters = [document.resolve(one) for one in node.get("parameters", [])]
    lines = [f"curl -sS{_method(operation, body)} {_address(document, operation, parameters)}"]
    if credential := _credential(document, operation):
        lines.append(f'-H "Authorization: Bearer ${credential}"')
    if any(one["name"] == "Idempotency-Key" for one in parameters):
        lines.append(f'-H "Idempotency-Key: {_FRESH_KEY}"')
    if body is None:
        return Command(" \\\n  ".join(lines), None)
    lines.append('-H "Content-Type: application/json"')
    return Command(" \\\n  ".join(lines), json.dumps(body.value, indent=2, ensure_ascii=False))


def _method(operation: Operation, body: Example | None) -> str:
    usual = "GET" if body is None else "POST"
    return "" if operation.method == usual else f" -X {operation.method}"


def _address(document: Document, operation: Operation, parameters: list[Node]) -> str:
    in_path = {one["name"]: one for one in parameters if one["in"] == "path"}

    def stands_for(match: re.Match[str]) -> str:
        schema = document.resolve(in_path.get(match[1], {}).get("schema", {}))
        return str(schema["enum"][0]) if schema.get("enum") else f"${match[1].upper()}"

    path = re.sub(r"\{(\w+)\}", stands_for, operation.path)
    needed = [one for one in parameters if one["in"] == "query" and one.get("required")]
    query = "&".join(f"{one['name']}=${one['name'].upper()}" for one in needed)
    address = f"{document.server}{path}{'?' if query else ''}{query}"
    return f'"{address}"' if "$" in address else address


def _credential(document: Document, operation: Operation) -> str:
    security = operation.node.get("security", document.node.get("security", []))
    names = [name for one in security for name in one]
    if not names:
        return ""
    return "KEY" if "apiKey" in names else "TOKEN"
