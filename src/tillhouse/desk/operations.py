"""Operations of the API, called in process by their rows of the route table.

There is no HTTP to itself and no second set of rules: scopes, step-up, limits, quotas, replays
and the audit log are those of `http.endpoint`.
"""

import time
from collections.abc import Iterable, Mapping
from copy import copy
from decimal import Decimal
from typing import Any, Self
from urllib.parse import quote, urlencode

import msgspec

from tillhouse.access.callers import UserCaller
from tillhouse.access.process import Services
from tillhouse.http.answer import JSON, sheet_headers
from tillhouse.http.caller import check_person
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.exchange import Exchange
from tillhouse.http.problems import Headers
from tillhouse.http.raw import RawRequest
from tillhouse.http.route import Route, Scope
from tillhouse.kit.errors import Forbidden
from tillhouse.kit.json import encode
from tillhouse.kit.secrets import Environment
from tillhouse.room import Room

Query = Mapping[str, str | int | None]
# The members of an envelope, as they are written.
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _reader(type_: Any) -> msgspec.json.Decoder[Any]:
    """Reads JSON as a type; amounts stay exact."""
    return msgspec.json.Decoder(type_, float_hook=Decimal)


_READ_ALL = _reader(Any)


class Operation:
    """A row of the route table, ready to be called."""

    def __init__(self, room: Room, method: str, path: str) -> None:
        found = [route for route in room.routes if (route.method, route.path) == (method, path)]
        if not found:
            raise LookupError(f"{room.name} has no {method} {path}")
        self.route = found[0]
        self.handler = RouteHandler(self.route)
        self.reader = _READ_ALL

    def reading(self, data: Any) -> Self:
        """The same, of whose data a type tells how much is read: the rest of a long list isn't."""
        narrow = copy(self)
        narrow.reader = _reader(data)
        return narrow

    def is_open_to(self, person: UserCaller) -> bool:
        """Whether the role of a person allows it, a step-up aside."""
        try:
            check_person(person, self.route.guard)
        except Forbidden:
            return False
        return True

    def address(self, values: Iterable[str], query: Query) -> str:
        """Its path with these values in it, and the query behind it."""
        path = self.route.path
        for value in values:
            before, _, after = path.partition("{")
            path = before + quote(value, safe="") + after.partition("}")[2]
        written = _written(query)
        return f"{path}?{written}" if written else path


class OperationCall(msgspec.Struct, frozen=True):
    """A call that a page made, for the list of calls that the page shows."""

    method: str
    address: str
    # The scope that a key needs for it; None where a login is needed.
    scope: str | None

    @property
    def command(self) -> str:
        """The same call from a shell."""
        return f'curl -sS "$BASE{self.address}" -H "Authorization: Bearer $KEY"'


def listed(calls: Iterable[OperationCall]) -> str:
    """The query of the page of commands, with each call and its scope."""
    return urlencode({f"call.{number}": f"{call.scope or ''} {call.address}"
                      for number, call in enumerate(calls, 1)})  # fmt: skip


class OperationAnswer(msgspec.Struct, frozen=True):
    """The answer of an operation: its data, and the members of the envelope beside them."""

    data: Any
    message: str
    # `meta`, and what the contract names for this operation.
    extra: Mapping[str, Any]


class SentAnswer(msgspec.Struct, frozen=True):
    """The answer of an operation as a client would get it, with the headers of its own."""

    status: int
    body: bytes
    headers: Headers


class Acting(msgspec.Struct, frozen=True):
    """The person who calls, and the book: None where no session is needed."""

    person: UserCaller | None
    environment: Environment


class Arguments(msgspec.Struct, frozen=True):
    """The values in the path of a call, its query, its body and its idempotency key."""

    values: tuple[str, ...] = ()
    query: Query = msgspec.field(default_factory=dict[str, str | int | None])
    body: Any = None
    key: str | None = None


async def call(
    services: Services,
    request: RawRequest,
    acting: Acting,
    operation: Operation,
    given: Arguments,
) -> OperationAnswer:
    """Call an operation as a person in one of the person's books, or raise its refusal."""
    answer = await answer_of(services, request, acting, operation, given)
    members = _MEMBERS.decode(answer.body)
    data = operation.reader.decode(members.pop("data"))
    extra = {name: _READ_ALL.decode(text) for name, text in members.items()}
    return OperationAnswer(data, extra.pop("message"), extra)


async def answer_of(
    services: Services,
    request: RawRequest,
    acting: Acting,
    operation: Operation,
    given: Arguments,
) -> SentAnswer:
    """The same, as a client would get it."""
    headers = {b"service-environment": acting.environment.encode()}
    if given.key is not None:
        headers[b"idempotency-key"] = given.key.encode()
    exchange = Exchange(
        method=operation.route.method,
        path=operation.address(given.values, {}),
        query=_written(given.query).encode(),
        headers=headers,
        repeated=set(),
        request_id=request.request_id,
        address=None,
        ip=request.ip,
        started=time.perf_counter(),
        now=request.now,
        has_left=bool,
        template=operation.route.path,
        signed_in=acting.person,
    )
    path = dict(zip(operation.handler.path_types, given.values, strict=True))
    raw = b"" if given.body is None else encode(given.body)
    answer = await operation.handler.perform(services, exchange, path, raw)
    assert isinstance(answer.body, bytes), "only a request that accepts events gets a stream"  # noqa: S101
    table = answer.sheet
    own = sheet_headers(exchange, table.next) if table else [(b"content-type", JSON)]
    return SentAnswer(answer.status, answer.body, own)


def scope_of(route: Route) -> str | None:
    """The scope that a key needs; None where no key will do."""
    guard = route.guard
    return guard.name if isinstance(guard, Scope) else None


def _written(query: Query) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return urlencode(given) if given else ""
