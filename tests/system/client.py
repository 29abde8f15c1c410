"""A client on real sockets, with the interface of `tests.api.Api`."""

import json
import secrets
from typing import Any

import aiohttp

from tests.api import Headers, Response
from tests.make import PASSWORD, Business


class Client:
    """Sends requests to one address, as whoever the headers say."""

    def __init__(
        self, session: aiohttp.ClientSession, address: str, headers: Headers | None = None
    ) -> None:
        self.session = session
        self.address = address
        self.headers = dict(headers or {})

    def as_bearer(self, token: str, **headers: str) -> "Client":
        """The same client with a credential."""
        return Client(self.session, self.address, {"authorization": f"Bearer {token}", **headers})

    def at(self, address: str) -> "Client":
        """The same caller at another process."""
        return Client(self.session, address, self.headers)

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
        content = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        sent = {**self.headers, **(headers or {})}
        if content is not None:
            sent = {"content-type": "application/json", **sent}
        url = self.address + path
        async with self.session.request(method, url, data=content, headers=sent) as got:
            fields = [(k.lower().encode(), v.encode()) for k, v in got.headers.items()]
            answer = Response(got.status, fields, await got.read())
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

    async def delete(self, path: str, **options: Any) -> Response:
        """DELETE."""
        return await self.request("DELETE", path, **options)


async def register(client: Client, **fields: str) -> Business:
    """A business of one's own, its owner logged in and stepped up."""
    email = f"{secrets.token_hex(8)}@example.com"
    body = {
        "name": "Ada Owner",
        "email": email,
        "password": PASSWORD,
        "business_name": "Ada's",
        **fields,
    }
    answer = await client.post("/api/auth/register", body, status=201)
    return await Business(client, answer.data, email).step_up()
