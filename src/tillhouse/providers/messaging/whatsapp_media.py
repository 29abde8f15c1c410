"""Files at WhatsApp's Cloud API: uploaded before a message names them, fetched by their ids.

`POST {base}/{phone number id}/media` answers an id. `GET {base}/{media id}` answers an address,
which takes the same token; so it is asked of hosts of WhatsApp's alone, at public addresses.
"""

import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec
from aiohttp.abc import ResolveResult

from tillhouse.kit.network import parse_address
from tillhouse.kit.targets import is_forbidden
from tillhouse.providers.messaging.provider import Fetched, MediaFile, MessagingAccount, SendOutcome

UPLOAD_TIMEOUT_S = 30.0
FETCH_TIMEOUT_S = 30.0
# The hosts to which the token is shown.
HOSTS = (".fbsbx.com", ".facebook.com", ".whatsapp.net", ".fbcdn.net")
_ANSWER_BYTES_MAX = 64 * 1024
_CHUNK = 64 * 1024
_GONE = (400, 401, 403, 404, 410)
_FOREIGN = Fetched("failed", error="the file lies at a foreign address")


class _Named(msgspec.Struct):
    id: str


class _Located(msgspec.Struct):
    url: str
    file_size: int | None = None


class _LeadsInwards(Exception):
    """A name of WhatsApp's has an address that isn't public."""


class _PublicResolver(aiohttp.ThreadedResolver):
    """Checks the addresses that are dialled: an answer that changes later gains nothing."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        if any(is_forbidden(parse_address(one["host"].partition("%")[0])) for one in found):
            raise _LeadsInwards
        return found


async def start_of(response: aiohttp.ClientResponse) -> bytes:
    """An answer, which is a few hundred bytes; of a longer one nothing is believed."""
    body = bytearray()
    while len(body) < _ANSWER_BYTES_MAX:
        part = await response.content.read(_ANSWER_BYTES_MAX - len(body))
        if not part:
            break
        body += part
    return bytes(body)


def _headers(account: MessagingAccount) -> dict[str, str]:
    return {"authorization": f"Bearer {account.access_token}"}


async def upload(
    session: aiohttp.ClientSession, base_url: str, account: MessagingAccount, media: MediaFile
) -> str | tuple[int, bytes]:
    """Hand a file over; its id there, or the answer (status, body) that names none."""
    form = aiohttp.FormData()
    form.add_field("messaging_product", "whatsapp")
    form.add_field("type", media.content_type)
    form.add_field("file", media.content, filename=media.filename, content_type=media.content_type)
    url = f"{base_url}/{quote(account.provider_number_id, safe='')}/media"
    timeout = aiohttp.ClientTimeout(total=UPLOAD_TIMEOUT_S)
    async with session.post(
        url, data=form, headers=_headers(account), allow_redirects=False, timeout=timeout
    ) as response:
        body = await start_of(response)
        if response.status in range(200, 300):
            try:
                return msgspec.json.decode(body, type=_Named).id
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
        return response.status, body


def part(media: MediaFile, media_id: str, text: str) -> dict[str, Any]:
    """The object of a message that names an uploaded file."""
    body: dict[str, Any] = {"id": media_id}
    if text and media.kind != "audio":
        body["caption"] = text
    if media.kind == "document":
        body["filename"] = media.filename
    return {"type": media.kind, media.kind: body}


async def fetch(
    base_url: str,
    account: MessagingAccount,
    media_id: str,
    bytes_max: int,
    hosts: Sequence[str] = HOSTS,
) -> Fetched:
    """A file that a customer sent: asked where it is, and fetched from there."""
    timeout, headers = aiohttp.ClientTimeout(total=FETCH_TIMEOUT_S), _headers(account)
    try:
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as session:
            located = await _locate(session, f"{base_url}/{quote(media_id, safe='')}")
            if isinstance(located, Fetched):
                return located
            if located.file_size is not None and located.file_size > bytes_max:
                return Fetched("failed", error="the file is too large")
            if _is_beside(located.url, base_url):
                return await _download(session, located.url, bytes_max)
        if not _is_at(located.url, hosts):
            return _FOREIGN
        outwards = aiohttp.TCPConnector(resolver=_PublicResolver())
        async with aiohttp.ClientSession(
            connector=outwards, timeout=timeout, headers=headers
        ) as session:
            return await _download(session, located.url, bytes_max)
    except _LeadsInwards:
        return _FOREIGN
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        return Fetched("later", error=type(error).__name__)


async def _locate(session: aiohttp.ClientSession, url: str) -> _Located | Fetched:
    async with session.get(url, allow_redirects=False) as response:
        body = await start_of(response)
        if response.status not in range(200, 300):
            return _refused(response.status)
    try:
        return msgspec.json.decode(body, type=_Located)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Fetched("later", error="an answer without an address")


async def _download(session: aiohttp.ClientSession, url: str, bytes_max: int) -> Fetched:
    async with session.get(url, allow_redirects=False) as response:
        if response.status not in range(200, 300):
            return _refused(response.status)
        content = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            content += chunk
            if len(content) > bytes_max:
                return Fetched("failed", error="the file is too large")
        return Fetched("fetched", bytes(content))


def _refused(status: int) -> Fetched:
    return Fetched("failed" if status in _GONE else "later", error=f"http_{status}")


def _is_beside(url: str, base_url: str) -> bool:
    """Whether an address is at the server of the API."""
    found, base = urlsplit(url), urlsplit(base_url)
    return (found.scheme, found.netloc) == (base.scheme, base.netloc)


def _is_at(url: str, hosts: Sequence[str]) -> bool:
    """Whether an address is WhatsApp's: over TLS at one of its hosts."""
    found = urlsplit(url)
    host = f".{found.hostname or ''}"
    return found.scheme == "https" and found.port in (None, 443) and host.endswith(tuple(hosts))


def later_or_failed(outcome: SendOutcome) -> SendOutcome:
    """The outcome of a message whose file was not taken: nothing was sent."""
    if outcome.result in ("failed", "later"):
        return outcome
    return SendOutcome("later", error=outcome.error or "the file was not taken")
