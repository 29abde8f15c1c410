"""How a function of a room becomes an operation: the meaning of each parameter and of its result.

All of it is read once, when the route is made; a request pays for none of it.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from tillhouse.http.route import Reply, Route
from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import PageOf

Faults = Callable[..., Awaitable[list[FieldError]]]
Replying = Callable[..., Awaitable[Reply[Any]]]


class NoBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of an operation that takes none: nothing, or an empty object."""


class NoQuery(msgspec.Struct):
    """The query of an operation that takes none."""


class Signature(msgspec.Struct, frozen=True):
    """The parameters and the result of a handler, in terms of a request and its answer."""

    # Type by name.
    path: dict[str, Any]
    # The struct after the names of the path: the query of a GET, else the body.
    payload: Any | None
    # The type of the envelope's `data`.
    data: Any
    # The handler, with whatever it returns made a reply.
    reply: Replying
    # The faults of the route, with the handler's arguments.
    faults: Faults | None


def signature_of(route: Route) -> Signature:
    """Read the handler of a route, or raise with the parameters that it should take."""
    hints = get_type_hints(route.handler)
    path = re.findall(r"\{(\w+)\}", route.path)
    names = _needed(route.handler)[1:]
    rest = [hints[name] for name in names[len(path) :]]
    if names[: len(path)] != path or len(rest) > 1 or not all(map(_is_struct, rest)):
        raise TypeError(f"{route.method} {route.path}: its handler takes {names}")
    returned = hints["return"]
    return Signature(
        path={name: hints[name] for name in path},
        payload=rest[0] if rest else None,
        data=_data_of(returned),
        reply=_replying(route.handler, returned),
        faults=_with_all(route.faults, path) if route.faults else None,
    )


def _needed(function: Callable[..., Any]) -> list[str]:
    """The parameters that have no default."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.default is inspect.Parameter.empty]


def _is_struct(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def _data_of(returned: Any) -> Any:
    origin = get_origin(returned)
    if origin is Reply:
        return get_args(returned)[0]
    if origin is PageOf:
        return list[get_args(returned)[0]]
    return returned


def _replying(handler: Callable[..., Awaitable[Any]], returned: Any) -> Replying:
    origin = get_origin(returned)
    if origin is Reply:
        return handler

    async def reply(*args: Any) -> Reply[Any]:
        return Reply(await handler(*args))

    async def reply_page(*args: Any) -> Reply[Any]:
        page = await handler(*args)
        return Reply(page.rows, page.meta)

    return reply_page if origin is PageOf else reply


def _with_all(faults: Faults, path: Sequence[str]) -> Faults:
    """The same for all arguments of the handler: it is given those that it takes."""
    names = _needed(faults)[1:]
    chosen = [path.index(name) for name in names[:-1] if name in path]
    if len(chosen) != len(names) - 1:
        raise TypeError(f"{faults.__qualname__} takes {names}, of {list(path)} and a body")

    async def with_all(call: Any, *args: Any) -> list[FieldError]:
        return await faults(call, *(args[index] for index in chosen), args[-1])

    return with_all
