"""Attachments: uploaded, sent, fetched, served; judged by their content, within their limits."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import msgspec
import pytest

from tests.api import Api, Response
from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Business, Make
from tests.messaging import files
from tests.messaging.inbox_desk import TALKS, Inbox
from tests.messaging.whatsapp_business import Line, later, said
from tests.providers.whatsapp_server import Meta
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, stored_kinds
from tillhouse.messaging.attachments.rules import BYTES_MAX

ATTACHMENTS = "/v1/messaging/attachments"
INBOUND = "/v1/messaging/sandbox/inbound"
NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
async def inbox(services: Services, business: Business) -> Inbox:
    """Customers may write to it."""
    return await Inbox.open(services, business)


def path_of(url: str) -> str:
    """An address as the application in this process is asked for it."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


async def announce(api: Api, filename: str | None = None) -> dict[str, Any]:
    """A file that is about to come."""
    return (await api.post(ATTACHMENTS, {"filename": filename}, status=201)).data


async def send_bytes(api: Api, announced: dict[str, Any], content: bytes) -> Response:
    """Upload it, with nothing but its address."""
    anybody = Api(api.app)
    return await anybody.request("POST", path_of(announced["uploadUrl"]), raw=content)


async def upload(api: Api, content: bytes, filename: str | None = None) -> str:
    """A file that is there; its id."""
    announced = await announce(api, filename)
    answer = await send_bytes(api, announced, content)
    assert answer.status == 200, answer
    return announced["id"]


async def fetch(api: Api, attachment_id: str) -> Response:
    """The file, by an address that was given out."""
    shown = (await api.get(f"{ATTACHMENTS}/{attachment_id}", status=200)).data
    return await Api(api.app).get(path_of(shown["url"]))


@pytest.mark.parametrize(("content", "kind", "content_type"), files.KINDS)
async def test_the_content_decides(
    inbox: Inbox, content: bytes, kind: str, content_type: str
) -> None:
    """The name doesn't; and the file is served to be saved, never to be shown."""
    attachment_id = await upload(inbox.api, content, "innocent.html")
    shown = (await inbox.api.get(f"{ATTACHMENTS}/{attachment_id}", status=200)).data
    assert (shown["status"], shown["kind"], shown["contentType"]) == ("ready", kind, content_type)
    assert (shown["sizeBytes"], shown["uploadUrl"]) == (len(content), None)
    got = await fetch(inbox.api, attachment_id)
    assert (got.status, got.body, got.headers["content-type"]) == (200, content, content_type)
    assert got.headers["content-disposition"].startswith("attachment; ")
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"].startswith("sandbox")


@pytest.mark.parametrize(
    ("filename", "content", "kept", "saved"),
    [
        ("../../etc/passwd", files.TEXT, "passwd", "passwd.txt"),
        ("C:\\menu.pdf", files.PDF, "menu.pdf", "menu.pdf"),
        ("page.html", files.HTML, "page.html", "page.html.txt"),
        ("prices.CSV", files.TEXT, "prices.CSV", "prices.CSV"),
        (".bashrc", files.TEXT, "bashrc", "bashrc.txt"),
    ],
)
async def test_a_name_is_a_name(
    inbox: Inbox, filename: str, content: bytes, kept: str, saved: str
) -> None:
    """No folder, no letter that can't be seen; what is saved ends as its content says."""
    attachment_id = await upload(inbox.api, content, filename)
    shown = (await inbox.api.get(f"{ATTACHMENTS}/{attachment_id}", status=200)).data
    assert shown["filename"] == kept
    got = await fetch(inbox.api, attachment_id)
    assert f'filename="{saved}"' in got.headers["content-disposition"]


async def test_a_name_that_turns_the_direction_of_writing_is_refused(inbox: Inbox) -> None:
    """Its end would be read as another one: `exe.pdf` as `fdp.exe`."""
    body = {"filename": "menu\u202efdp.exe"}
    refused = await inbox.api.post(ATTACHMENTS, body, status=422)
    assert [fault["field"] for fault in refused.json["details"]] == ["filename"]


@pytest.mark.parametrize(
    "content", [b"", files.ZIP, files.PROGRAM, files.VORBIS, files.OLD, b"\x00" * 100]
)
async def test_what_whatsapp_does_not_take_is_refused(inbox: Inbox, content: bytes) -> None:
    """400 that names what it takes; the address leads nowhere from then on."""
    announced = await announce(inbox.api, "menu.pdf")
    answer = await send_bytes(inbox.api, announced, content)
    assert answer.status == 400
    assert "PDF" in answer.json["message"]
    assert (await send_bytes(inbox.api, announced, files.PDF)).status == 404
    await inbox.api.get(f"{ATTACHMENTS}/{announced['id']}", status=404)


async def test_a_file_that_is_too_large_leaves_no_address(inbox: Inbox) -> None:
    """Whether its kind or the route refuses it; an address that was used stays used."""
    for content in (files.WEBP + bytes(BYTES_MAX["sticker"]), bytes(max(BYTES_MAX.values()) + 1)):
        announced = await announce(inbox.api)
        assert (await send_bytes(inbox.api, announced, content)).status == 413
        assert (await send_bytes(inbox.api, announced, files.PDF)).status == 404
    announced = await announce(inbox.api)
    assert (await send_bytes(inbox.api, announced, files.PDF)).status == 200
    assert (await send_bytes(inbox.api, announced, files.ZIP)).status == 409
    assert (await fetch(inbox.api, announced["id"])).body == files.PDF


async def test_an_old_document_is_told_by_its_name(inbox: Inbox) -> None:
    """Word, Excel and PowerPoint begin alike."""
    attachment_id = await upload(inbox.api, files.OLD, "letter.DOC")
    shown = (await inbox.api.get(f"{ATTACHMENTS}/{attachment_id}", status=200)).data
    assert shown["contentType"] == "application/msword"


async def test_a_kind_has_its_size(inbox: Inbox) -> None:
    """One byte more than WhatsApp takes is refused, and what is too long for all kinds at once."""
    for start, kind in ((files.JPEG, "image"), (files.WEBP, "sticker")):
        most = BYTES_MAX[kind]  # type: ignore[index]
        assert await upload(inbox.api, start.ljust(most, b"x"))
        announced = await announce(inbox.api)
        answer = await send_bytes(inbox.api, announced, start.ljust(most + 1, b"x"))
        assert (answer.status, str(most) in answer.json["message"]) == (413, True)
    answer = await send_bytes(inbox.api, await announce(inbox.api), bytes(16 * 1024 * 1024 + 1))
    assert answer.status == 413


async def test_a_file_is_uploaded_once(inbox: Inbox, sql: asyncpg.Connection) -> None:
    """At once or after another: one is kept, and counted."""
    announced = await announce(inbox.api)
    sent = [send_bytes(inbox.api, announced, files.PDF + bytes([n])) for n in range(32, 38)]
    answers = await asyncio.gather(*sent)
    assert sorted(answer.status for answer in answers) == [200] + [409] * 5
    assert (await send_bytes(inbox.api, announced, files.PDF)).status == 409
    row = await sql.fetchrow(
        "SELECT attachments, bytes FROM messaging_storage WHERE book_id = "
        "(SELECT book_id FROM messaging_attachments WHERE id = $1::text::uuid)",
        announced["id"],
    )
    assert row is not None
    assert tuple(row) == (1, len(files.PDF) + 1)


async def test_an_address_is_for_one_purpose_and_one_file(inbox: Inbox) -> None:
    """Changed in any part, used for something else, or for another file: 404."""
    announced, other = await announce(inbox.api), await announce(inbox.api)
    path = path_of(announced["uploadUrl"])
    anybody = Api(inbox.api.app)
    for wrong in (
        path.replace(announced["id"], other["id"]),
        path.replace("until=", "until=9"),
        path.split("&")[0],
        path.split("?")[0],
        path + "x",
        f"/attachments/nowhere/{announced['id']}?{path.split('?')[1]}",
    ):
        assert (await anybody.request("POST", wrong, raw=files.PDF)).status == 404
    await anybody.get(path, status=404)
    assert (await send_bytes(inbox.api, announced, files.PDF)).status == 200
    shown = (await inbox.api.get(f"{ATTACHMENTS}/{announced['id']}", status=200)).data
    fetching = path_of(shown["url"])
    await anybody.get(fetching, status=200)
    await anybody.get(fetching.replace("mark=", "mark=x"), status=404)
    assert (await anybody.request("POST", fetching, raw=files.PDF)).status == 404


async def test_a_part_of_a_file_is_served(inbox: Inbox) -> None:
    """A player asks for a range; behind the end is none."""
    content = files.PDF + bytes(range(256)) * 1_000
    attachment_id = await upload(inbox.api, content, "long.pdf")
    shown = (await inbox.api.get(f"{ATTACHMENTS}/{attachment_id}", status=200)).data
    anybody, path = Api(inbox.api.app), path_of(shown["url"])
    size = len(content)
    for told, start, end in (
        ("bytes=0-", 0, size), ("bytes=1000-1999", 1000, 2000), ("bytes=-7", size - 7, size),
    ):  # fmt: skip
        part = await anybody.get(path, headers={"range": told}, status=206)
        assert part.body == content[start:end]
        assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
        assert part.headers["content-disposition"].startswith("attachment; ")
    await anybody.get(path, headers={"range": f"bytes={size}-"}, status=416)
    assert (await anybody.get(path, status=200)).body == content
    await anybody.get(path[:-1], headers={"range": "bytes=0-"}, status=404)


async def test_a_file_is_sent(inbox: Inbox) -> None:
    """With its caption; the message tells its kind and what it is."""
    talk = await inbox.hear(1)
    path = f"{TALKS}/{talk}/messages"
    attachment_id = await upload(inbox.api, files.PDF, "menu.pdf")
    body = {"attachment_id": attachment_id, "text": "Our menu"}
    message = (await inbox.api.post(path, body, status=201)).data
    assert (message["type"], message["text"]) == ("document", "Our menu")
    assert message["attachment"] == {
        "id": attachment_id, "kind": "document", "status": "ready", "filename": "menu.pdf",
        "contentType": "application/pdf", "sizeBytes": len(files.PDF), "error": None,
    }  # fmt: skip
    assert (await inbox.talk(talk))["lastMessage"] == message
    again = (await inbox.api.post(path, {"attachment_id": attachment_id}, status=201)).data
    assert (again["text"], again["attachment"]["id"]) == ("", attachment_id)


async def test_what_can_not_be_sent(inbox: Inbox, make: Make) -> None:
    """Another's file, one that isn't there, a sticker, a text where none goes: 422."""
    talk = await inbox.hear(1)
    path = f"{TALKS}/{talk}/messages"
    other = await Inbox.open(inbox.services, await make.business())
    image = await upload(inbox.api, files.JPEG)
    template = {"name": "order_ready", "language": "en"}
    for body, fields in (
        ({"attachment_id": await upload(other.api, files.PDF)}, {"attachment_id"}),
        ({"attachment_id": (await announce(inbox.api))["id"]}, {"attachment_id"}),
        ({"attachment_id": await upload(inbox.api, files.WEBP)}, {"attachment_id"}),
        ({"attachment_id": NOBODY}, {"attachment_id"}),
        ({"attachment_id": "menu.pdf"}, {"attachment_id"}),
        ({"attachment_id": await upload(inbox.api, files.MP3), "text": "Listen"}, {"text"}),
        ({"attachment_id": image, "text": "x" * 1025}, {"text"}),
        ({"attachment_id": image, "template": template}, {"attachment_id"}),
    ):
        answer = await inbox.api.post(path, body, status=422)
        assert answer.wrong_fields == fields, body
    for name in ("", "a\nb", "x" * 241, 5, "../", "..", "\u202e"):
        answer = await inbox.api.post(ATTACHMENTS, {"filename": name}, status=422)
        assert answer.wrong_fields == {"filename"}


async def test_a_simulated_customer_sends_a_file(inbox: Inbox) -> None:
    """One that was uploaded, with or without a text."""
    attachment_id = await upload(inbox.api, files.JPEG)
    body = {"from": "+2348030000001", "attachment_id": attachment_id}
    message = (await inbox.api.post(INBOUND, body, status=201)).data
    assert (message["type"], message["text"]) == ("image", "")
    assert message["attachment"]["id"] == attachment_id
    answer = await inbox.api.post(INBOUND, {"from": "+2348030000001"}, status=422)
    assert answer.wrong_fields == {"text"}
    answer = await inbox.api.post(INBOUND, {**body, "attachment_id": NOBODY}, status=422)
    assert answer.wrong_fields == {"attachment_id"}


def media(kind: str, media_id: str, content: bytes, **more: Any) -> dict[str, Any]:
    """A message of WhatsApp with a file."""
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    inner = {"id": media_id, "sha256": digest, "mime_type": "image/jpeg", **more}
    return said("", type=kind, **{kind: inner})


async def received(line: Line, message: dict[str, Any]) -> dict[str, Any]:
    """The attachment of a message that WhatsApp tells of."""
    await line.post(messages=[message])
    await line.work(later(seconds=5))
    [shown] = await line.read(await line.talk())
    return shown["attachment"]


async def test_a_file_of_a_customer_is_fetched(line: Line, whatsapp: Meta) -> None:
    """By its id, then by its address, both with the token; once, and never in the hook."""
    whatsapp.files["media.1"] = files.JPEG
    found = await received(line, media("image", "media.1", files.JPEG, caption="My table"))
    assert (found["status"], found["kind"], found["contentType"]) == (
        "ready", "image", "image/jpeg",
    )  # fmt: skip
    assert (await fetch(line.api, found["id"])).body == files.JPEG
    assert whatsapp.fetched["media.1"] == 1
    await line.work(later(hours=1))
    assert whatsapp.fetched["media.1"] == 1


async def test_a_document_keeps_its_name_and_is_some_bytes_when_unknown(
    line: Line, whatsapp: Meta
) -> None:
    """It is served all the same, as nothing that a browser would run."""
    whatsapp.files["media.2"] = files.ZIP
    found = await received(
        line, media("document", "media.2", files.ZIP, filename='a\r\n"/päge.zip')
    )
    assert found["contentType"] == "application/octet-stream"
    got = await fetch(line.api, found["id"])
    disposition = got.headers["content-disposition"]
    assert disposition == ("attachment; filename=\"p_ge.zip\"; filename*=UTF-8''p%C3%A4ge%2Ezip")


async def test_a_file_that_can_not_be_had(line: Line, whatsapp: Meta) -> None:
    """Gone, too large, or elsewhere: the message is there, and the file says why not."""
    whatsapp.files["media.large"] = files.JPEG.ljust(BYTES_MAX["image"] + 1, b"x")
    whatsapp.elsewhere["media.away"] = "https://files.example.com/media.away"
    for media_id, error in (
        ("media.gone", "http_404"),
        ("media.large", "the file is too large"),
        ("media.away", "the file lies at a foreign address"),
    ):
        await line.post(messages=[media("image", media_id, b"", sha256="")])
        await line.work(later(seconds=5))
        shown = (await line.read(await line.talk()))[-1]["attachment"]
        assert (shown["status"], shown["error"]) == ("failed", error)
        shown = (await line.api.get(f"{ATTACHMENTS}/{shown['id']}", status=200)).data
        assert shown["url"] is shown["uploadUrl"] is None


async def test_another_file_than_was_announced_is_not_kept(line: Line, whatsapp: Meta) -> None:
    """It is asked for again, and given up in the end."""
    whatsapp.files["media.3"] = files.PNG
    found = await received(line, media("image", "media.3", files.JPEG))
    assert found["status"] == "fetching"
    for hours in range(1, 30):
        await line.work(later(hours=hours))
    [shown] = await line.read(await line.talk())
    assert shown["attachment"]["status"] == "failed"
    assert "announced" in shown["attachment"]["error"]
    assert whatsapp.fetched["media.3"] == 8


async def test_whatsapp_is_sent_a_file(line: Line, whatsapp: Meta) -> None:
    """Uploaded with its type and name, then named by the message."""
    talk = await line.hear("Hello")
    attachment_id = await upload(line.api, files.PDF, "menu.pdf")
    body = {"attachment_id": attachment_id, "text": "Our menu"}
    message = (await line.write(talk, body, status=201)).data
    assert message["deliveryStatus"] == "sent"
    [sent] = await line.sent_to(message["id"])
    assert sent["type"] == "document"
    given = sent["document"]
    assert (given["caption"], given["filename"]) == ("Our menu", "menu.pdf")
    assert whatsapp.uploads[given["id"]] == ("menu.pdf", "application/pdf", files.PDF)


async def test_a_file_that_is_not_taken_sends_nothing(line: Line, whatsapp: Meta) -> None:
    """Refused for good: the message has failed. No answer: it is tried again."""
    talk = await line.hear("Hello")
    attachment_id = await upload(line.api, files.PDF)
    whatsapp.upload_status = 400
    message = (await line.write(talk, {"attachment_id": attachment_id}, status=201)).data
    assert message["deliveryStatus"] == "failed"
    whatsapp.upload_status = 503
    message = (await line.write(talk, {"attachment_id": attachment_id}, status=201)).data
    assert message["deliveryStatus"] == "queued"
    assert await line.sent_to(message["id"]) == []
    whatsapp.upload_status = 200
    await line.work(later(hours=1))
    assert len(await line.sent_to(message["id"])) == 1


@pytest.fixture
async def full(server_url: str, master_key: str, whatsapp: Meta) -> AsyncIterator[Line]:
    """A number in a book that may hold one attachment."""
    settings = msgspec.structs.replace(SETTINGS, attachment_limit=1, whatsapp_url=whatsapp.url)
    async with (
        fresh_database(server_url, "tillhouse_files") as url,
        running(settings, url, master_key) as app,
    ):
        business = await Make(app, app.services).business()
        yield await Line.open(app.services, business, whatsapp)


async def test_a_full_book_takes_no_more(full: Line, whatsapp: Meta) -> None:
    """Refused before the bytes come, and a customer's file says why it isn't there."""
    announced = await announce(full.api)
    await upload(full.api, files.PDF)
    services = full.services
    await services.storage.measure(services.pool, stored_kinds(PRODUCT))
    refused = await full.api.post(ATTACHMENTS, {}, status=409)
    assert refused.error == "limit_reached"
    assert "TILLHOUSE_ATTACHMENT_LIMIT " in refused.json["message"]
    assert (await send_bytes(full.api, announced, files.PDF)).status == 409
    whatsapp.files["media.full"] = files.JPEG
    found = await received(full, media("image", "media.full", files.JPEG))
    assert (found["status"], found["error"]) == ("failed", "attachment_limit")
