"""The requests of `tillhouse listen`: the login, the signing secret, and the stream itself."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import aiohttp
import msgspec

from tillhouse.cli.output import CommandError
from tillhouse.kit.secrets import Environment

AGAIN_AFTER_S = 1.0
ANSWERED_WITHIN_S = 15
# The server sends a sign of life every 15 s; a stream without one is dead.
SILENT_S = 40
# After a break the server begins a little earlier: so many ids are known not to be new.
_KNOWN = 10_000
_UNREACHABLE = (aiohttp.ClientError, TimeoutError, OSError)
_LATER = (429, 500, 502, 503, 504)


class Login(msgspec.Struct, frozen=True):
    """A person who logs in."""

    email: str
    password: str


class ReceivedEvent(msgspec.Struct, frozen=True):
    """An event as it came."""

    id: UUID
    type: str
    payload: bytes


class ListenClient:
    """One caller at one server, in one environment."""

    def __init__(self, session: aiohttp.ClientSession, url: str, environment: Environment) -> None:
        self._session = session
        self._url = url
        self._environment = environment
        self._bearer = ""
        self._refresh: str | None = None

    async def enter(self, who: Login | str) -> None:
        """Log in, or take the key as it is."""
        if isinstance(who, str):
            self._bearer = who
            return
        body = {"email": who.email, "password": who.password}
        self._take(await self._post("/api/auth/login", body))

    async def signing_secret(self, who: Login) -> str:
        """The secret of the default app, told after the password was given again."""
        await self._post("/api/auth/verify-password", {"password": who.password})
        path = f"/api/developer/webhook-settings/{self._environment}/view-secret"
        return (await self._post(path, {}))["secret"]

    async def events(
        self, types: str | None, print_result: Callable[[str], None]
    ) -> AsyncIterator[ReceivedEvent]:
        """Every event, each once, over as many streams as it takes."""
        known: deque[UUID] = deque(maxlen=_KNOWN)
        since: dict[str, str] = {}
        wanted = {"events": types} if types else {}
        has_heard = False
        while True:
            try:
                async for event in self._stream({**wanted, **since}, print_result):
                    has_heard = True
                    if event is not None and event.id not in known:
                        known.append(event.id)
                        since = {"since": str(event.id)}
                        yield event
            except _UNREACHABLE as error:
                if not has_heard:
                    raise self._no_server(error) from error
            print_result("The stream has ended; trying again.")
            await asyncio.sleep(AGAIN_AFTER_S)

    async def _stream(
        self, query: dict[str, str], print_result: Callable[[str], None]
    ) -> AsyncIterator[ReceivedEvent | None]:
        """One stream to its end; None is a sign of life."""
        headers = {**self._headers(), "Accept": "text/event-stream"}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=SILENT_S)
        address = f"{self._url}/v1/events/stream"
        async with self._session.get(
            address, params=query, headers=headers, timeout=timeout
        ) as answer:
            if answer.status == 401 and self._refresh is not None:
                self._take(await self._post("/api/auth/refresh", {"refresh_token": self._refresh}))
                return
            if answer.status in _LATER:
                print_result(f"The server answers {answer.status}.")
                return
            if answer.status != 200:
                raise CommandError(_refusal(answer.status, await answer.read()))
            print_result("Listening.")
            rest = b""
            async for chunk in answer.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n\n")
                for text in whole:
                    yield _parsed(text)

    def _no_server(self, error: Exception) -> CommandError:
        return CommandError(
            f"There is no server at {self._url} ({error}): name its address with --url, "
            "or its port on this machine with TILLHOUSE_PORT."
        )

    def _headers(self) -> dict[str, str]:
        own = {"Authorization": f"Bearer {self._bearer}"} if self._bearer else {}
        return {**own, "Service-Environment": self._environment}

    def _take(self, tokens: dict[str, Any]) -> None:
        self._bearer, self._refresh = tokens["accessToken"], tokens["refreshToken"]

    async def _post(self, path: str, body: dict[str, str]) -> dict[str, Any]:
        timeout = aiohttp.ClientTimeout(total=ANSWERED_WITHIN_S)
        try:
            async with self._session.post(
                self._url + path, json=body, headers=self._headers(), timeout=timeout
            ) as answer:
                content = await answer.read()
        except _UNREACHABLE as error:
            raise self._no_server(error) from error
        if answer.status >= 300:
            raise CommandError(_refusal(answer.status, content))
        return msgspec.json.decode(content)["data"]


def _parsed(text: bytes) -> ReceivedEvent | None:
    fields = dict(line.split(b": ", 1) for line in text.split(b"\n") if b": " in line)
    if b"data" not in fields:
        return None
    return ReceivedEvent(UUID(fields[b"id"].decode()), fields[b"event"].decode(), fields[b"data"])


def _refusal(status: int, content: bytes) -> str:
    """The server's own sentence, when it is one of ours."""
    try:
        told = msgspec.json.decode(content)
        more = "; ".join(f"{d['field']} {d['message']}" for d in told.get("details") or ())
        return f"{told['message']} {more}".strip()
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError):
        return f"The server answers {status}: is it Tillhouse's address?"
