"""Rows of the route table: method, path, handler, who may call it, and its two sentences.

Routing, authorisation, OpenAPI and the generated tests all read this one table.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Generic, Literal, TypeVar

import msgspec

from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import Meta

T = TypeVar("T")

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]


class Open(msgspec.Struct, frozen=True, tag=True):
    """Anybody may call."""


class Session(msgspec.Struct, frozen=True, tag=True):
    """Anybody who is logged in may call; perhaps with a permission, and after a step-up."""

    permission: str | None = None
    step_up: bool = False
    # Whether it is open before a second factor is on that the person's role needs.
    before_factor: bool = False


class Portal(msgspec.Struct, frozen=True, tag=True):
    """A developer of a business with API access may call, perhaps after a step-up."""

    step_up: bool = False


class Scope(msgspec.Struct, frozen=True, tag=True):
    """An API key with this scope may call, or a person whose role includes it."""

    name: str
    # Such a route answers about the key itself, so a person can't call it.
    keys_only: bool = False
    # Roles that may call though they lack the scope.
    roles: tuple[str, ...] = ()


Guard = Open | Session | Portal | Scope


class Group(msgspec.Struct, frozen=True):
    """Operations that belong together in the documentation: those whose path begins so."""

    prefix: str
    name: str
    about: str
    # The guide that tells of them.
    guide: str = "quickstart"


class CsvAnswer(msgspec.Struct, frozen=True):
    """An answer as a table (CSV) in the place of the envelope."""

    text: str
    # The query that leads to the next page; None on the last one.
    next: str | None = None


class Reply(msgspec.Struct, Generic[T]):
    """An answer that is more than its data: members beside them, and work after the commit."""

    data: T
    meta: Meta | None = None
    # Replaces the message of the route.
    message: str | None = None
    # The data that an idempotency key keeps and replays instead, when it holds a secret.
    stored: Any = None
    # Work left for after the commit, outside of any transaction: asking another system. It
    # gives the final reply, which takes this one's place, also for repetitions of the request.
    after: "Callable[[], Awaitable[Reply[T]]] | None" = None
    # Whether this repeats the answer of an earlier request.
    is_replay: bool = False
    # The body, where the handler has kept it with the idempotency key itself.
    kept: bytes | None = None
    # Further members of the envelope, as the contract names them.
    extra: dict[str, Any] | None = None
    # The table that was asked for in the place of all this; of reads alone.
    sheet: CsvAnswer | None = None


class EventStream(msgspec.Struct, frozen=True):
    """Server-sent events as they come, until the caller leaves or may no longer listen.

    The pieces hold no connection while they wait. When there is nothing to tell they give an
    empty one, every second at the latest: only between two pieces is an end noticed.
    """

    pieces: AsyncGenerator[bytes]
    # How often there is a sign of life, and a look at whether the caller still may listen.
    heartbeat_s: float = 15.0


class Route(msgspec.Struct, frozen=True):
    """One operation of the API.

    The handler is an action of the room: it takes the call, then the names in the path, then the
    one struct of the query (GET) or of the body; parameters with a default are not for the wire.
    It returns the data or a `PageOf` them; `Reply` is for answers with more.
    """

    method: Method
    path: str
    handler: Callable[..., Awaitable[Any]]
    guard: Guard
    # For the documentation: one order, without a full stop.
    summary: str
    # The `message` of a success.
    message: str
    status: int = 200
    # Whether an Idempotency-Key makes a repetition replay the first answer.
    idempotent: bool = False
    # Whether it is refused without that key: where a repetition would cost money.
    needs_key: bool = False
    # Whether it waits elsewhere, in fair shares, and so without a turn of its business.
    has_own_queue: bool = False
    # The members of the envelope beside message, data and meta, as fields of a struct.
    extra: type[msgspec.Struct] | None = None
    # The status of a replay, where it differs from the first answer's.
    replay_status: int | None = None
    # The code of a refusal by a constraint as a rule of the business, if it has its own.
    refused_code: str | None = None
    # The rules' faults of the body, also of one whose form is only partly right; it reads only.
    # It takes the call, those names of the path that it needs, and the body.
    faults: Callable[..., Awaitable[list[FieldError]]] | None = None
    # The handler, with the same arguments, of requests that accept text/event-stream.
    stream: Callable[..., Awaitable[EventStream]] | None = None
    # Whether a parameter of its query (`format=csv`) asks for a table instead.
    has_sheet: bool = False
