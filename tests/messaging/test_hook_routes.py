"""The address that WhatsApp calls: anybody may, and only WhatsApp is heard."""

from typing import Any
from urllib.parse import quote

import asyncpg
import pytest

from tests.api import Api
from tests.messaging.whatsapp_business import Line, said, signed, update

SIGNATURE = "x-hub-signature-256"
HANDSHAKE = "?hub.mode=subscribe&hub.challenge=42&hub.verify_token="


@pytest.fixture
def anybody(line: Line) -> Api:
    """A caller without any credential."""
    return Api(line.api.app)


async def _inbox(sql: asyncpg.Connection, line: Line) -> list[bytes]:
    rows = await sql.fetch("SELECT payload FROM jobs WHERE book_id = $1", line.kitchen.book.id)
    return [row["payload"] for row in rows]


async def test_the_handshake_is_plain_text(line: Line, anybody: Api) -> None:
    """The challenge as it came, for who knows the token; 403 for others."""
    path = line.number["hookPath"] + HANDSHAKE
    answer = await anybody.get(path + "verify-token", status=200)
    assert answer.body == b"42"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert (await anybody.get(path + "guess", status=403)).error == "forbidden"
    await anybody.get(line.number["hookPath"], status=403)


async def test_a_challenge_is_no_page(line: Line, anybody: Api) -> None:
    """Markup in the answer is text, which no browser reads as anything else."""
    challenge = quote("<script>alert(1)</script>")
    path = f"{line.number['hookPath']}?hub.mode=subscribe&hub.challenge={challenge}"
    answer = await anybody.get(path + "&hub.verify_token=verify-token", status=200)
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_signed_update_is_stored_as_it_came(
    line: Line, anybody: Api, sql: asyncpg.Connection
) -> None:
    """Before it is answered, byte by byte, and then told of."""
    body = update(messages=[said("Is it ready?")])
    answer = await anybody.post(
        line.number["hookPath"], raw=body, headers={SIGNATURE: signed(body)}, status=200
    )
    assert answer.body == b""
    assert await _inbox(sql, line) == [body]
    await line.work()
    assert [one["text"] for one in await line.read(await line.talk())] == ["Is it ready?"]


async def test_what_is_not_signed_is_refused(
    line: Line, anybody: Api, sql: asyncpg.Connection
) -> None:
    """Nothing of it is stored."""
    body = update(messages=[said("Hi")])
    for raw, headers in [
        (body, {}),
        (body, {SIGNATURE: ""}),
        (body, {SIGNATURE: signed(body, "another")}),
        (body + b" ", {SIGNATURE: signed(body)}),
        (b"", {SIGNATURE: signed(body)}),
        (b"\x00\xff", {SIGNATURE: "sha256=\xe9"}),
    ]:
        answer = await anybody.post(line.number["hookPath"], raw=raw, headers=headers, status=403)
        assert answer.error == "forbidden"
    assert await _inbox(sql, line) == []


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "%00",
        "1" * 4000,
        "{number_id}",
        "0198c2f07b1e7d3a9c4e2f5a1b6c8d9e",
        "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    ],
)
async def test_a_number_that_is_none_is_missing(anybody: Api, name: str) -> None:
    """The answer is the API's 404, with either method."""
    path = f"/hooks/whatsapp/{name}"
    assert (await anybody.get(path, status=404)).error == "not_found"
    assert (await anybody.post(path, raw=b"{}", status=404)).error == "not_found"


async def test_a_body_that_is_too_large_is_not_read(line: Line, anybody: Api) -> None:
    """More than WhatsApp ever sends; what it may send at once is taken."""
    path, most = line.number["hookPath"], 4 * 1024 * 1024
    large = b"x" * (most + 1)
    await anybody.post(path, raw=large, headers={SIGNATURE: signed(large)}, status=413)
    body = b" " * most
    await anybody.post(path, raw=body, headers={SIGNATURE: signed(body)}, status=200)


@pytest.mark.parametrize("signature", [None, "", "sha256=", "sha1=" + "0" * 64, "0" * 64])
async def test_a_body_without_a_signature_is_not_read(
    line: Line, anybody: Api, signature: str | None
) -> None:
    """The head alone is refused: a stranger's megabytes are never taken in."""
    sent = {"content-length": "1000000"} | ({SIGNATURE: signature} if signature else {})
    scope = {
        "type": "http", "method": "POST", "path": line.number["hookPath"], "query_string": b"",
        "headers": [(k.encode(), v.encode()) for k, v in sent.items()],
        "client": ("127.0.0.1", 1234),
    }  # fmt: skip
    messages: list[Any] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was asked for")

    async def send(message: Any) -> None:
        messages.append(message)

    await anybody.app(scope, receive, send)
    assert messages[0]["status"] == 403


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_other_methods_are_refused(line: Line, anybody: Api, method: str) -> None:
    """405, naming those that there are."""
    answer = await anybody.request(method, line.number["hookPath"], status=405)
    assert answer.headers["allow"] == "GET, HEAD, POST"
