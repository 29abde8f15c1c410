"""The only place with the status numbers of refusals."""

from collections.abc import Sequence
from http import HTTPStatus

from tillhouse.kit.errors import (
    Limited,
    Malformed,
    OutOfRange,
    Problem,
    Unavailable,
    WrongEncoding,
    WrongMethod,
)
from tillhouse.kit.ids import new_id
from tillhouse.kit.json import encode

STATUS = {
    "refused": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "missing": 404,
    "wrong_method": 405,
    "conflict": 409,
    "too_large": 413,
    "wrong_media_type": 415,
    "out_of_range": 416,
    "invalid": 422,
    "limited": 429,
    "unavailable": 503,
}

Headers = list[tuple[bytes, bytes]]


def status_of(problem: Problem) -> int:
    """The HTTP status of a refusal."""
    return STATUS[problem.kind]


def headers_of(problem: Problem) -> Headers:
    """The headers that go with a refusal."""
    if isinstance(problem, Limited | Unavailable):
        return [(b"retry-after", b"%d" % max(1, -int(-problem.retry_after_s // 1)))]
    if isinstance(problem, WrongMethod):
        return [(b"allow", ", ".join(problem.allowed).encode())]
    if isinstance(problem, OutOfRange):
        return [(b"content-range", b"bytes */%d" % problem.size)]
    if isinstance(problem, WrongEncoding):
        return [(b"accept-encoding", b"identity")]
    if problem.kind == "unauthenticated":
        return [(b"www-authenticate", b'Bearer realm="tillhouse"')]
    return []


def envelope(problem: Problem, request_id: str) -> bytes:
    """The error body: {error, message, details?, requestId}."""
    body: dict[str, object] = {"error": problem.code, "message": problem.message}
    if problem.details:
        body["details"] = [{"field": d.field, "message": d.message} for d in problem.details]
    body["requestId"] = request_id
    return encode(body)


def early_answer(status: int, message: str) -> bytes:
    """The last answer of a connection, to a request that wasn't read."""
    problem = (
        Unavailable(message) if status == HTTPStatus.SERVICE_UNAVAILABLE else Malformed(message)
    )
    request_id = str(new_id())
    body = envelope(problem, request_id)
    headers = [
        *headers_of(problem),
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", request_id.encode()),
        (b"connection", b"close"),
    ]
    lines = [b"%s: %s" % header for header in headers]
    first = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()
    return b"\r\n".join([first, *lines, b"", body])


def internal_error(request_id: str) -> bytes:
    """The answer to an internal error: only the id under which the log says more."""
    return encode(
        {
            "error": "internal_error",
            "message": "Something failed on our side; nothing was changed. "
            "Try again, and name the requestId if it happens again.",
            "requestId": request_id,
        }
    )


def known_codes() -> Sequence[tuple[int, str]]:
    """Every (status, code) that a refusal can have: for the documentation."""
    found: set[tuple[int, str]] = {(500, "internal_error")}
    pending = list(Problem.__subclasses__())
    while pending:
        cls = pending.pop()
        pending.extend(cls.__subclasses__())
        found.add((STATUS[cls.kind], cls.code))
    return sorted(found)
