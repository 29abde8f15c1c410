"""Routes beside the API: found, limited, refused and logged like the API's own."""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, cast

import msgspec
import pytest

from tests.api import Api
from tests.waiting import ended, within
from tillhouse.access.process import Services
from tillhouse.access.shares import Shares
from tillhouse.app import App
from tillhouse.http.api import Api as Server
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute, html_page
from tillhouse.kit.errors import Limited, Refused

TEXT = "text/plain; charset=utf-8"


async def echo(_services: Services, asked: RawRequest) -> RawAnswer:
    """Say what came."""
    seen = {
        "path": dict(asked.path),
        "query": dict(asked.query),
        "body": asked.body.decode("latin-1"),
        "signature": asked.header("X-Signature"),
        "ip": asked.ip,
    }
    return RawAnswer(TEXT, json.dumps(seen).encode(), status=202, headers=[(b"x-own", b"1")])


async def refuse(_services: Services, _asked: RawRequest) -> RawAnswer:
    """Refuse, with a time to wait."""
    raise Limited(3.2, "Slower, <b>please</b>.")


async def fail(_services: Services, _asked: RawRequest) -> RawAnswer:
    """Break."""
    raise ValueError("a secret detail")


async def hang(_services: Services, _asked: RawRequest) -> RawAnswer:
    """Wait for what never comes."""
    await asyncio.Event().wait()
    raise AssertionError


async def read(services: Services, _asked: RawRequest) -> RawAnswer:
    """Ask the database."""
    async with services.pool.reading() as db:
        return RawAnswer(TEXT, str(await db.fetchval("SELECT 40 + 2")).encode())


async def say_no(_services: Services, _asked: RawRequest) -> RawAnswer:
    """Refuse plainly."""
    raise Refused("Not today.")


def shown(message: str, request_id: str) -> RawAnswer:
    """How refusals look here."""
    return html_page(
        f"<p>{message.replace('<', '&lt;')}</p><i>{request_id}</i>", "p { color: red }"
    )


def page(
    method: Any, path: str, handler: Callable[..., Awaitable[RawAnswer]], **more: Any
) -> RawRoute:
    """A route of this file."""
    return RawRoute(method=method, path=path, handler=handler, **more)


ROUTES = (
    page("POST", "/hooks/{name}", echo, body_bytes_max=64),
    page("GET", "/hooks/{name}", echo),
    page("POST", "/no", say_no),
    page("GET", "/pages/no", refuse, refusal=shown),
    page("GET", "/pages/broken", fail, refusal=shown),
    page("GET", "/broken", fail),
    page("GET", "/hangs", hang, answered_within_s=0.01),
    page("GET", "/reads", read),
)


@pytest.fixture
def api(services: Services) -> Api:
    """A server of nothing but these."""
    return Api(cast("App", Server(services, (), {}, ROUTES)))


async def test_a_handler_gets_the_request_as_it_came(api: Api) -> None:
    """Path, query, headers and the very bytes, of whatever type they claim to be."""
    sent = {"content-type": "text/weird", "x-signature": "s"}
    answer = await api.post("/hooks/a%20b?x=1&x=2&y=", raw=b"\x00\xff{", headers=sent, status=202)
    assert answer.json == {
        "path": {"name": "a%20b"},
        "query": {"x": "2", "y": ""},
        "body": "\x00\xff{",
        "signature": "s",
        "ip": "127.0.0.1",
    }


async def test_an_answer_is_as_the_handler_made_it(api: Api) -> None:
    """Its status, its type, its headers, and those that every answer has."""
    answer = await api.get("/hooks/a", headers={"x-request-id": "mine"}, status=202)
    assert answer.headers["content-type"] == TEXT
    assert answer.headers["x-own"] == "1"
    assert answer.headers["x-request-id"] == "mine"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["content-length"] == str(len(answer.body))


async def test_head_is_get_without_a_body(api: Api) -> None:
    """The same headers, no bytes."""
    got = await api.get("/hooks/a", status=202)
    head = await api.request("HEAD", "/hooks/a", status=202)
    assert head.body == b""
    assert head.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/hooks/a", "GET, HEAD, POST"),
        ("DELETE", "/pages/no", "GET, HEAD"),
        ("POST", "/pages/no", "GET, HEAD"),
        ("OPTIONS", "/hooks/a", "GET, HEAD, POST"),
        ("HEAD", "/no", "POST"),
    ],
)
async def test_another_method_is_refused(api: Api, method: str, path: str, allowed: str) -> None:
    """405, naming those that there are."""
    answer = await api.request(method, path, status=405)
    assert answer.headers["allow"] == allowed
    # A HEAD request gets no body.
    assert method == "HEAD" or answer.error == "method_not_allowed"


@pytest.mark.parametrize(
    "path", ["/hooks", "/hooks/", "/hooks/a/b", "/hooks//", "/HOOKS/a", "/page"]
)
async def test_another_path_is_missing(api: Api, path: str) -> None:
    """No slash is added, no case guessed."""
    assert (await api.get(path, status=404)).error == "not_found"


async def test_a_body_has_its_routes_limit(api: Api) -> None:
    """As many bytes as it says, whatever the header claims; the API's limit is another."""
    await api.post("/hooks/a", raw=b"x" * 64, status=202)
    assert (await api.post("/hooks/a", raw=b"x" * 65, status=413)).error == "payload_too_large"
    declared = {"content-length": "65"}
    await api.post("/hooks/a", raw=b"", headers=declared, status=413)
    await api.post("/hooks/a", raw=b"", headers={"content-length": "-1"}, status=400)


@pytest.mark.parametrize("query", ["x=%ff", "x=%00", "&".join(["a=1"] * 101), "x=\xe9"])
async def test_a_query_that_is_no_text_is_refused(api: Api, query: str) -> None:
    """Before a handler sees it."""
    assert (await api.get(f"/hooks/a?{query}", status=422)).error == "validation_error"


async def test_refusals_are_json_unless_the_route_shows_them(api: Api) -> None:
    """Programs get the envelope of the API, people a page, with the same status and headers."""
    refused = await api.post("/no", status=400)
    assert refused.json["message"] == "Not today."
    assert refused.headers["content-type"] == "application/json"
    shown = await api.get("/pages/no", headers={"x-request-id": "mine"}, status=429)
    assert shown.body == b"<p>Slower, &lt;b>please&lt;/b>.</p><i>mine</i>"
    assert shown.headers["retry-after"] == "4"
    assert shown.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/broken", "/pages/broken"])
async def test_a_defect_tells_nothing(api: Api, path: str) -> None:
    """The cause is in the log; the answer names the request."""
    answer = await api.get(path, headers={"x-request-id": "mine"}, status=500)
    assert b"mine" in answer.body
    assert b"secret" not in answer.body


async def test_an_answer_has_its_time(api: Api) -> None:
    """A handler that hangs is cut off, and the caller told to come back."""
    answer = await api.get("/hangs", status=503)
    assert answer.error == "unavailable"
    assert answer.headers["retry-after"] == "1"


async def test_a_handler_reads_by_itself(api: Api) -> None:
    """The services are at hand, a connection is taken when it is needed."""
    assert (await api.get("/reads", status=200)).body == b"42"


async def test_what_a_page_may_load_is_its_own_style(api: Api) -> None:
    """No script, no picture, no form, no frame; the style by its hash."""
    policy = (await api.get("/pages/no", status=429)).headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(b"p { color: red }").digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


async def test_they_are_counted_by_their_template(services: Services, api: Api) -> None:
    """No id, no query in a metric's name."""
    server = cast("Server", api.app)
    server.add_metrics_page()
    await api.get("/hooks/a-secret?mark=another", status=202)
    counted = (await api.get("/metrics", status=200)).body
    assert b'route="/hooks/{name}",status="202"' in counted
    assert b"secret" not in counted


def test_a_path_stands_in_the_table_once(services: Services) -> None:
    """An operation and a page on one path and method are a mistake of ours."""
    with pytest.raises(ValueError, match="twice"):
        Server(services, (), {}, (*ROUTES, ROUTES[0]))


class Slow:
    """Pages and hooks that last as long as a test wants, and some that end at once."""

    def __init__(self, services: Services) -> None:
        self._go_on = asyncio.Event()
        self._waiting: list[asyncio.Task[Any]] = []
        self._under_way = asyncio.Semaphore(0)
        self._server = Server(services, (), {}, (
            page("GET", "/pages/slow", self._wait), page("GET", "/pages/quick", echo),
            page("POST", "/hooks/slow", self._wait, is_hook=True),
            page("POST", "/hooks/quick", echo, is_hook=True),
        ))  # fmt: skip

    async def _wait(self, _services: Services, _asked: RawRequest) -> RawAnswer:
        self._under_way.release()
        await self._go_on.wait()
        return RawAnswer(TEXT, b"")

    async def ask(self, way: tuple[str, str], ip: str) -> None:
        """One request that is answered."""
        await Api(cast("App", self._server), peer=ip).request(*way, status=202)

    async def flood(self, way: tuple[str, str], ips: Iterable[str], held: int) -> None:
        """Requests from these addresses, until so many are under way at once."""
        for ip in ips:
            asked = Api(cast("App", self._server), peer=ip).request(*way)
            self._waiting.append(asyncio.create_task(asked))
        async with within():
            for _ in range(held):
                await self._under_way.acquire()

    async def end(self) -> None:
        """Let all of them go."""
        self._go_on.set()
        await asyncio.gather(*self._waiting)


@pytest.fixture
async def slow(services: Services) -> AsyncIterator[Slow]:
    """Nothing waits yet."""
    slow = Slow(msgspec.structs.replace(services, shares=Shares()))
    yield slow
    await slow.end()


@pytest.mark.parametrize(
    ("flooded", "asked"),
    [
        (("GET", "/pages/slow"), ("POST", "/hooks/quick")),
        (("POST", "/hooks/slow"), ("GET", "/pages/quick")),
    ],
)
async def test_pages_and_hooks_hold_back_only_their_like(
    slow: Slow, flooded: tuple[str, str], asked: tuple[str, str]
) -> None:
    """However many networks ask for the one, the other is answered."""
    await slow.flood(flooded, (f"192.0.{number}.1" for number in range(60)), held=16)
    await ended(slow.ask(asked, "198.51.100.1"))


async def test_a_network_holds_back_no_other(slow: Slow) -> None:
    """Its many addresses are one owner of turns."""
    await slow.flood(("GET", "/pages/slow"), (f"192.0.2.{number}" for number in range(60)), held=12)
    await ended(slow.ask(("GET", "/pages/quick"), "198.51.100.1"))
