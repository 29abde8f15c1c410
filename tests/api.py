"""A client of the application in this process: real requests, without a socket."""

import json
from collections.abc import Mapping
from typing import Any

from tillhouse.app import App

Headers = Mapping[str, str]


class Response:
    """An answer as a test wants to read it."""

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.headers = {name.decode(): value.decode() for name, value in headers}
        self.cookies = [value.decode() for name, value in headers if name == b"set-cookie"]
        self.body = body

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        """The data of the envelope."""
        return self.json["data"]

    @property
    def error(self) -> str:
        """The code of a refusal."""
        return self.json["error"]

    @property
    def wrong_fields(self) -> set[str]:
        """The fields that a refusal names."""
        return {detail["field"] for detail in self.json.get("details", [])}

    def __repr__(self) -> str:
        return f"<{self.status} {self.body[:500].decode(errors='replace')}>"


class Api:
    """Sends requests, as whoever the headers say."""

    def __init__(self, app: App, headers: Headers | None = None, peer: str = "127.0.0.1") -> None:
        self.app = app
        self.headers = dict(headers or {})
        self.peer = peer

    def as_bearer(self, token: str, **headers: str) -> "Api":
        """The same client with a credential."""
        return Api(self.app, {"authorization": f"Bearer {token}", **headers}, self.peer)

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: Headers | None = None,
        status: int | None = None,
    ) -> Response:
        """Send one request; `status` is what the test expects of it."""
        content = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
        sent = {"content-type": "application/json", **self.headers, **(headers or {})}
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in sent.items()],
            "client": (self.peer, 1234),
        }
        messages: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            messages.append(message)

        await self.app(scope, receive, send)
        content = b"".join(message["body"] for message in messages[1:])
        answer = Response(messages[0]["status"], messages[0]["headers"], content)
        if status is not None:
            assert answer.status == status, answer
        return answer

    async def get(self, path: str, **options: Any) -> Response:
        """GET."""
        return await self.request("GET", path, **options)

    async def post(self, path: str, body: object = None, **options: Any) -> Response:
        """POST."""
        return await self.request("POST", path, body, **options)

    async def patch(self, path: str, body: object = None, **options: Any) -> Response:
        """PATCH."""
        return await self.request("PATCH", path, body, **options)

    async def put(self, path: str, body: object = None, **options: Any) -> Response:
        """PUT."""
        return await self.request("PUT", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Response:
        """DELETE."""
        return await self.request("DELETE", path, **options)
