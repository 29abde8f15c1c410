"""One call of the API, to be tried: its values in a form, its command, and a read's answer."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec

from tillhouse.desk.developers.payloads import bounded
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.operations import (
    Acting,
    Arguments,
    Operation,
    SentAnswer,
    answer_of,
    scope_of,
)
from tillhouse.desk.page import PageRequest, PageRoute, Shown
from tillhouse.desk.rooms import ROOMS
from tillhouse.http import problems
from tillhouse.http.answer import JSON
from tillhouse.http.caller import READS
from tillhouse.kit.errors import Missing, Problem

PATH = "/desk/commands/try"
_VALUE_MAX, _BODY_MAX = 500, 4_000
_NAME = re.compile(r"\{(\w+)\}")
# Fields of the form that stand for a value in the path, or in the query, of the call.
_OF_PATH, _OF_QUERY = "path.", "query."
# The headers that are shown, in this order, of those that the answer has.
_HEADERS = (b"content-type", b"x-request-id", b"link", b"retry-after")
Values = Mapping[str, str]


class Answer(msgspec.Struct, frozen=True):
    """The answer of a call: its status, its beginning, and how many characters are left out."""

    status: int
    headers: list[str]
    text: str
    left_out: int


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """An operation with the values that were given for it."""

    operation: Operation
    path: Values
    query: Values
    body: str

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing, so that the page may send it."""
        return self.operation.route.method in READS

    @property
    def address(self) -> str:
        """Its address; a value that isn't given stays a name in braces."""
        names = self.operation.handler.path_types
        values = [self.path.get(name) or f"{{{name}}}" for name in names]
        address = self.operation.address(values, self.query)
        return address.replace("%7B", "{").replace("%7D", "}")

    def command(self, base: str) -> str:
        """The call from a shell; all of the address is quoted, and so is the body."""
        method = self.operation.route.method
        lines = [f'curl -sS{"" if method == "GET" else f" -X {method}"} "{base}{self.address}"',
                 '-H "Authorization: Bearer $KEY"']  # fmt: skip
        if self.operation.route.idempotent:
            lines.append('-H "Idempotency-Key: $(uuidgen)"')
        if self.body:
            quoted = self.body.replace("'", "'\\''")
            lines += ['-H "Content-Type: application/json"', f"-d '{quoted}'"]
        return " \\\n  ".join(lines)


async def show(page: PageRequest) -> Shown:
    """The form of a call, its command, and the answer once a read was sent."""
    # A body may hold secrets: it is taken from no address, which browsers and logs keep.
    given = {name: text for name, text in page.request.query.items() if name != "body"}
    return await _shown(page, given)


async def write(page: PageRequest) -> Shown:
    """The command of a call with the body that was typed; nothing is sent."""
    given = {name: text for name, text in page.form.items() if name != "send"}
    shown = await _shown(page, given)
    return msgspec.structs.replace(shown, is_secret=True)


async def _shown(page: PageRequest, given: Values) -> Shown:
    if not given.get("path"):
        return Shown("commands/try.html", {"trial": None})
    trial = trial_of(given)
    if trial is None:
        raise Missing(sentence("trying.unknown"))
    route = trial.operation.route
    scope = scope_of(route)
    facts: dict[str, Any] = {
        "trial": trial,
        "summary": route.summary,
        "fields": list(_fields(trial)),
        "command": trial.command(page.services.settings.public_url),
        "scope": scope,
        "with_key": f"{scope or ''} {trial.address}" if trial.is_read else None,
        "answer": await _answer(page, trial) if trial.is_read and given.get("send") else None,
    }
    return Shown("commands/try.html", facts)


def trial_of(given: Values) -> Trial | None:
    """The operation that an address stands for, with the values in it and in the form's fields."""
    path, _, query = given["path"].partition("?")
    method = given.get("method", "GET")
    for operation in _operations():
        if operation.route.method != method:
            continue
        if found := _pattern(operation.route.path).fullmatch(path):
            written = {name: unquote(text) for name, text in found.groupdict().items()
                       if not _NAME.fullmatch(text)}  # fmt: skip
            return Trial(
                operation=operation,
                path=written | _named(given, _OF_PATH, operation.handler.path_types),
                query=_known(dict(parse_qsl(query)), operation)
                | _named(given, _OF_QUERY, dict.fromkeys(_query_names(operation))),
                body=given.get("body", "")[:_BODY_MAX] if method not in READS else "",
            )
    return None


def _fields(trial: Trial) -> Iterator[tuple[str, str, str, bool]]:
    """The fields of the form: name, label, value, and whether the call needs it."""
    for name in trial.operation.handler.path_types:
        yield _OF_PATH + name, name, trial.path.get(name, ""), True
    for name in _query_names(trial.operation):
        yield _OF_QUERY + name, name, trial.query.get(name, ""), False


async def _answer(page: PageRequest, trial: Trial) -> Answer:
    """Send it as the person, in the test book, whatever book is shown."""
    values = tuple(trial.path.get(name, "") for name in trial.operation.handler.path_types)
    acting, given = Acting(page.person, "test"), Arguments(values, trial.query)
    request_id = page.request.request_id
    try:
        sent = await answer_of(page.services, page.request, acting, trial.operation, given)
    except Problem as problem:
        own = [(b"content-type", JSON), *problems.headers_of(problem)]
        body = problems.envelope(problem, request_id)
        sent = SentAnswer(problems.status_of(problem), body, own)
    own = dict(sent.headers)
    is_table = own[b"content-type"] != JSON
    text = (sent.body if is_table else msgspec.json.format(sent.body, indent=2)).decode()
    beginning = bounded(text)
    headers = {b"x-request-id": request_id.encode(), **own}
    lines = [f"{name.decode().title()}: {headers[name].decode()}" for name in _HEADERS
             if name in headers]  # fmt: skip
    return Answer(sent.status, lines, beginning, len(text) - len(beginning))


@cache
def _operations() -> tuple[Operation, ...]:
    """Every operation; of two that an address fits, the one with fewer names in it goes first."""
    found = [Operation(room, route.method, route.path) for room in ROOMS for route in room.routes]
    return tuple(sorted(found, key=lambda one: one.route.path.count("{")))


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_NAME.sub(r"(?P<\1>[^/]+)", path))


def _query_names(operation: Operation) -> list[str]:
    query: Any = operation.handler.query_type
    return [field.encode_name for field in msgspec.structs.fields(query)]


def _known(query: Values, operation: Operation) -> dict[str, str]:
    names = _query_names(operation)
    return {name: value[:_VALUE_MAX] for name, value in query.items() if name in names}


def _named(given: Values, prefix: str, names: Mapping[str, Any]) -> dict[str, str]:
    """The filled fields of the form, by the names that they stand for."""
    typed = {name: given.get(prefix + name, "").strip() for name in names}
    return {name: value[:_VALUE_MAX] for name, value in typed.items() if value}


ROUTES = (PageRoute("GET", PATH, show), PageRoute("POST", PATH, write, is_of_book=False))
