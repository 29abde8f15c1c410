"""Sends the story's requests to a server, one after the other, and keeps the answers."""

import http.client
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from story.normal import ROUNDED, Clock, Normal

Json = dict[str, Any]

# Headers of an answer that a caller acts upon.
_HEADERS = ("allow", "cache-control", "content-type", "idempotent-replayed", "retry-after",
            "www-authenticate")  # fmt: skip
# The server trusts the address that its proxy names.
_CALLER_ADDRESS = "203.0.113.7"
_STEP = timedelta(minutes=1)
_STREAM = "text/event-stream"


class StoryError(Exception):
    """An answer was not the one that the story goes on with."""


class Recorder:
    """The exchanges of a story, each as a record that is the same whenever it is played."""

    def __init__(self, address: str, aliases: dict[str, str]) -> None:
        self._host = urlsplit(address).netloc
        self._connection = http.client.HTTPConnection(self._host, timeout=30)
        # Addresses of this run → those of the story.
        self._aliases = aliases
        self._clock = Clock(_now())
        self._normal = Normal(self._clock)
        self._moment = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
        self._last = _now()
        self.exchanges: list[Json] = []

    def close(self) -> None:
        """No more requests."""
        self._connection.close()

    def turn_to(self, moment: str) -> None:
        """The next exchanges happen from this moment of the story on."""
        self._moment = datetime.fromisoformat(moment)

    def note_happening(self) -> None:
        """Something happened beside the exchanges: it belongs to the one before."""
        self._last = _now()

    def exchange(self, request: "Request") -> Any:
        """Send a request, keep the exchange, and answer what came."""
        self._begin()
        answer = self._send(request)
        self._last = _now()
        status, body = answer.status, _decoded(answer)
        if not request.expects(status):
            raise StoryError(f"{request.operation} answered {status}: {body}")
        self.exchanges.append(self._record(request, answer, body))
        return body

    def wait(self, request: "Request", is_so: Callable[[Any], bool], within_s: float = 30) -> None:
        """Ask until the answer is as wanted; these requests are not recorded."""
        deadline = time.monotonic() + within_s
        while not is_so(_decoded(self._send(request))):
            if time.monotonic() > deadline:
                raise StoryError(f"{request.operation} never came to what the story waits for")
            time.sleep(0.05)
        self.note_happening()

    def _begin(self) -> None:
        """Begin later than every moment of the last answer, so that a time names its exchange."""
        while (moment := _now()) <= self._last + 2 * ROUNDED:
            time.sleep(0.001)
        self._clock.exchange(moment, self._moment)
        self._moment += _STEP

    def _send(self, request: "Request") -> "_Answer":
        headers = request.sent_headers()
        if headers.get("accept") == _STREAM:
            return self._first_event(request, headers)
        self._connection.request(request.method, request.target, request.content, headers)
        got = self._connection.getresponse()
        return _Answer(got.status, dict(_lower(got.getheaders())), got.read())

    def _first_event(self, request: "Request", headers: dict[str, str]) -> "_Answer":
        """A stream goes on for ever: its first event is kept."""
        connection = http.client.HTTPConnection(self._host, timeout=30)
        try:
            connection.request(request.method, request.target, headers=headers)
            got = connection.getresponse()
            text = b""
            while b"data:" not in text or not text.endswith(b"\n\n"):
                line = got.readline()
                if not line:
                    break
                # An empty comment is only a sign of life.
                text = b"" if text + line == b":\n\n" else text + line
            return _Answer(got.status, dict(_lower(got.getheaders())), text)
        finally:
            connection.close()

    def _record(self, request: "Request", answer: "_Answer", body: Any) -> Json:
        where = request.operation
        record: Json = {"operation": where, "by": request.by}
        sent = {"path": request.names, "query": request.query, "headers": request.headers,
                "body": request.body if request.raw is None else request.raw.decode()}  # fmt: skip
        for name, value in sent.items():
            if value is not None and value != {}:
                record[name] = self._normalised(value, f"{where} {name}")
        record["status"] = answer.status
        kept = {name: answer.headers[name] for name in _HEADERS if name in answer.headers}
        record["answerHeaders"] = self._normalised(kept, f"{where} header")
        record["answer"] = self._normalised(body, f"{where} answer")
        return record

    def _normalised(self, value: Any, where: str) -> Any:
        text = json.dumps(value)
        for real, told in self._aliases.items():
            text = text.replace(real, told)
        return self._normal.body(json.loads(text), where)


class Request(msgspec.Struct, kw_only=True):
    """One request of the story: an operation, what fills its path, and what it carries."""

    operation: str
    names: Json
    by: str
    token: str = ""
    query: Json = {}
    body: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = {}
    # The status of a refusal that belongs to the story; None expects a success.
    status: int | None = None

    @property
    def method(self) -> str:
        """The method of the operation."""
        return self.operation.split()[0]

    @property
    def target(self) -> str:
        """The path with its names filled in, and the query."""
        path = self.operation.split()[1]
        for name, value in self.names.items():
            path = path.replace(f"{{{name}}}", quote(str(value)))
        return path + (f"?{urlencode(self.query)}" if self.query else "")

    @property
    def content(self) -> bytes | None:
        """The bytes to send."""
        if self.raw is not None or self.body is None:
            return self.raw
        return json.dumps(self.body).encode()

    def sent_headers(self) -> dict[str, str]:
        """The headers to send: the caller's address and credential, and the story's own."""
        found = {"x-forwarded-for": _CALLER_ADDRESS}
        if self.token:
            found["authorization"] = f"Bearer {self.token}"
        if self.content is not None:
            found["content-type"] = "application/json"
        return {**found, **self.headers}

    def expects(self, status: int) -> bool:
        """Whether this status is the one that the story goes on with."""
        return status == self.status if self.status else 200 <= status < 300


class _Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


def _decoded(answer: _Answer) -> Any:
    if answer.headers.get("content-type", "").startswith("application/json"):
        return json.loads(answer.body)
    return answer.body.decode()


def _lower(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers]


def _now() -> datetime:
    """This moment, as exact as the API tells moments."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
