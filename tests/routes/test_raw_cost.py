"""No body of a raw route holds the event loop, be it as large as it may and signed."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.api import Api, Response
from tests.held_loop import HELD_S, TRIES, held_s, longest_stretch, note
from tests.make import Business, Make
from tests.payins.collecting import Collecting
from tests.payins.vendor_books import connected
from tests.providers.payments.vendors import VENDORS, Vendor
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, App
from tillhouse.messaging.attachments.rules import MOST
from tillhouse.payins import hooks, routes
from tillhouse.providers.telephony import telephones
from tillhouse.providers.telephony.provider import NumberAccount
from tillhouse.providers.telephony.telephones import BODY_BYTES_MAX

# Those that are measured here; WhatsApp's, which are worked off as well, are measured in
# `tests/messaging/test_portions.py`, and forms of the desk in `tests/desk/test_cost.py`. Those of
# the checkout take a kibibyte.
MEASURED = {
    "/attachments/{book_id}/{attachment_id}",
    "/hooks/{provider}/{book_id}",
    "/hooks/whatsapp/{number_id}",
    "/hooks/{provider}/{book_id}/{attempt_id}",
}

FILES: dict[str, Callable[[], bytes]] = {
    "text": lambda: b"a" * MOST,
    "text of other scripts": lambda: "\u5e97".encode() * (MOST // 3),
    "a letter of four bytes in it": lambda: "\U0001f600".encode() + b"a" * (MOST - 4),
    "a control character at its end": lambda: b"a" * (MOST - 1) + b"\x00",
    "no UTF-8 at its end": lambda: b"a" * (MOST - 1) + b"\xff",
    "an archive that is no document": lambda: b"PK\x03\x04" + b"w" * (MOST - 4),
    "an archive of nearly a document": lambda: b"PK\x03\x04" + b"word/document.xm" * (MOST // 17),
}
_FULL = routes.BODY_BYTES_MAX - 100
HOOKS: dict[str, bytes] = {
    "empty lists": b"[" + b"[]," * (_FULL // 3) + b"1]",
    "deep lists": b'{"event": "x", "data": ' + b"[" * (_FULL // 2) + b"]" * (_FULL // 2) + b"}",
    "numbers": b"[" + b"1," * (_FULL // 2) + b"1]",
    "as many lists as may be": b"[" + b"[]," * (hooks.CONTAINERS_MAX - 20) + b"1]",
    "one text": b'{"event": "' + b"a" * _FULL + b'"}',
    "blanks": b" " * _FULL,
}


def test_every_route_with_large_bodies_is_measured() -> None:
    """A new one is added to those here."""
    large = {route.path for route in PRODUCT.pages() if route.method == "POST"}
    assert {path for path in large if not path.startswith(("/pay/", "/desk/"))} == MEASURED


@pytest.mark.parametrize("kind", FILES)
async def test_no_file_holds_the_loop(kind: str, app: App) -> None:
    """An attachment of sixteen mebibytes: looked at, kept or refused."""
    business = await Make(app, app.services).business()
    api = await business.client("messaging:write", "messaging:read")
    content = FILES[kind]()
    addresses: list[str] = []
    for _ in range(TRIES):
        made = await api.post("/v1/messaging/attachments", {}, status=201)
        addresses.append(made.data["uploadUrl"])

    async def upload() -> Response:
        parts = urlsplit(addresses.pop())
        return await Api(app).request("POST", f"{parts.path}?{parts.query}", raw=content)

    seconds = await held_s(upload)
    note("POST /attachments/{book_id}/{attachment_id}", kind, seconds)
    assert seconds <= HELD_S


@pytest.mark.parametrize("kind", HOOKS)
async def test_no_hook_of_a_provider_holds_the_loop(
    kind: str, services: Services, sql: asyncpg.Connection, app: App, business: Business
) -> None:
    """Signed: it is counted before it is kept, and taken apart by its types."""
    till = await Collecting.of(services, sql, business)
    body = HOOKS[kind]
    path, headers = f"/hooks/sandbox/{till.book.id}", {"x-sandbox-signature": till.sign(body)}

    async def tell() -> Response:
        answer = await Api(app).request("POST", path, raw=body, headers=headers)
        await asyncio.create_task(till.work())
        return answer

    seconds = await held_s(tell)
    note("POST /hooks/sandbox/{book_id}", kind, seconds)
    assert seconds <= HELD_S


def wide(event: str) -> dict[str, bytes]:
    """Bodies of half a mebibyte, one of which says the event of a vendor."""
    text = "a" * (_FULL // 2)
    field = {f"field{n}": {"reference": "r", "id": n} for n in range(_FULL // 60)}
    named = event.replace("DATA", "%s")
    bodies = {
        "a long reference": named % json.dumps({"reference": text, "tx_ref": text, "id": text}),
        "many fields": named % json.dumps(field),
        "as many values as may be": named
        % json.dumps({"reference": "r", "items": [1] * (hooks.VALUES_MAX - 100)}),
        "as many objects as may be": named
        % json.dumps({"reference": "r", "items": [{}] * (hooks.CONTAINERS_MAX - 100)}),
    }
    return HOOKS | {kind: body.encode() for kind, body in bodies.items()}


# The form of an event that is followed.
EVENTS = {
    "paystack": '{"event": "charge.success", "data": DATA}',
    "flutterwave": '{"event": "charge.completed", "data": DATA}',
    "monnify": '{"eventType": "SUCCESSFUL_TRANSACTION", "eventData": DATA}',
    "stripe": '{"type": "checkout.session.completed", "data": {"object": DATA}}',
}


def test_every_vendor_has_an_event() -> None:
    """A new one is added to those here."""
    assert set(EVENTS) == {vendor.name for vendor in VENDORS}


@pytest.mark.parametrize("vendor", VENDORS, ids=str)
async def test_no_hook_of_a_vendor_holds_the_loop(
    vendor: Vendor, services: Services, sql: asyncpg.Connection, app: App, business: Business
) -> None:
    """Signed by its own secret: stored, and taken apart as the job does."""
    simulator = vendor.simulator()
    origin = await connected(services, sql, business, (vendor, simulator))
    path = f"/hooks/{vendor.name}/{origin.book.id}"
    adapter, slow = vendor.adapter(), dict[str, float]()

    async def heard(body: bytes) -> None:
        with contextlib.suppress(RecursionError):
            adapter.heard(body)

    for kind, body in wide(EVENTS[vendor.name]).items():
        headers = simulator.sign(body)

        async def tell(body: bytes = body, headers: dict[str, str] = headers) -> Response:
            answer = await Api(app).request("POST", path, raw=body, headers=headers)
            assert answer.status in (200, 413, 422), answer
            if answer.status == 200:
                await asyncio.create_task(heard(body))
            return answer

        seconds = await held_s(tell)
        note(f"POST /hooks/{vendor.name}/{{book_id}}", kind, seconds)
        if seconds > HELD_S:
            slow[kind] = seconds
    assert not slow


FORMS: dict[str, bytes] = {
    "fields": b"a=1&" * (BODY_BYTES_MAX // 4),
    "as many fields as may be": b"&".join(b"f%d=%s" % (n, b"%41" * 100) for n in range(200)),
    "escapes": b"a=" + b"%41" * ((BODY_BYTES_MAX - 2) // 3),
    "bytes that are no UTF-8": b"a=" + b"%FF" * ((BODY_BYTES_MAX - 2) // 3),
    "separators": b"&" * BODY_BYTES_MAX,
    "one long name": b"a" * BODY_BYTES_MAX,
}


@pytest.mark.parametrize("kind", FORMS)
async def test_no_callback_of_a_call_holds_the_loop(kind: str) -> None:
    """Its form is read for the signature, before anybody is believed, and once more after."""
    callback = telephones.Callback(
        provider="twilio", url="https://till.example.com/hooks/twilio/1/2",
        headers={"x-twilio-signature": "x"}, body=FORMS[kind],
    )  # fmt: skip
    account = NumberAccount({"auth_token": "token"})

    async def read() -> None:
        telephones.is_genuine(callback, account)
        telephones.number_of(callback.body)

    best_s = 1.0
    for _ in range(TRIES):
        with longest_stretch() as longest:
            await asyncio.create_task(read())
        best_s = min(best_s, longest.seconds)
        if best_s <= HELD_S:
            break
    note("POST /hooks/twilio/{book_id}/{attempt_id}", kind, best_s)
    assert best_s <= HELD_S
