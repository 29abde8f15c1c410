"""Twilio's callbacks: their signature, and their content.

A callback can be repeated at any time, since its signature holds no time. Its news
are therefore only ever taken as progress: `Update.sequence` and the rank of its status never go
back.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import parse_qs, parse_qsl, urlsplit

import msgspec

from tillhouse.providers.telephony.twilio.answers import STATUSES, Status

SIGNATURE = "x-twilio-signature"
# Honest callbacks have about 2 KiB.
BODY_BYTES_MAX = 64 * 1024
_FIELDS_MAX = 200
_BODY_HASH = "bodySHA256"
_PORTS = {"https": 443, "http": 80}
_SID = re.compile(r"CA[0-9a-f]{32}")
_WORDS_LENGTH_MAX = 200
_DIGITS_MAX = 9


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """The news of a call that a callback brings."""

    sid: str
    status: Status
    # Later callbacks of a call have higher numbers, however they arrive.
    sequence: int
    answered_by: str | None = None
    sip_status: int | None = None
    error_code: int | None = None
    words: str = ""


def verify(url: str, headers: Mapping[str, str], raw: bytes, auth_token: str) -> bool:
    """Whether Twilio sent this to this address: the public one, with its query.

    The names of headers are in lower case. Twilio signs with or without the usual port.
    """
    given = headers.get(SIGNATURE, "").encode("latin-1", "replace")
    if not given or len(raw) > BODY_BYTES_MAX:
        return False
    signed = ""
    if (expected := _body_hash(url)) is not None:
        found = hashlib.sha256(raw).hexdigest()
        if not hmac.compare_digest(expected.encode(), found.encode()):
            return False
    else:
        fields = _fields(raw)
        if fields is None:
            return False
        signed = "".join(name + value for name in sorted(fields) for value in fields[name])
    # All are computed, so that the time tells nothing.
    matches = [
        hmac.compare_digest(given, sign(one + signed, auth_token)) for one in _spellings(url)
    ]
    return any(matches)


def sign(text: str, auth_token: str) -> bytes:
    """The signature over an address and the fields that follow it."""
    digest = hmac.new(auth_token.encode(), text.encode(), hashlib.sha1).digest()
    return base64.b64encode(digest)


def _body_hash(url: str) -> str | None:
    """The hash that an address names for a body that is no form."""
    try:
        values = parse_qs(urlsplit(url).query, max_num_fields=_FIELDS_MAX).get(_BODY_HASH)
    except ValueError:
        return None
    return values[0] if values else None


def _fields(raw: bytes) -> dict[str, list[str]] | None:
    """The fields of a form, each with its different values in order."""
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, max_num_fields=_FIELDS_MAX, errors="strict"
        )
    except ValueError:
        return None
    fields: dict[str, set[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in fields.items()}


def _spellings(url: str) -> Iterator[str]:
    """An address as it stands, without its port, and with the usual one."""
    parts = urlsplit(url)
    host = parts.netloc.rsplit("@", 1)[-1]
    bare = re.sub(r":\d+$", "", host)
    yield url
    if bare != host:
        yield parts._replace(netloc=bare).geturl()
    elif parts.scheme in _PORTS:
        yield parts._replace(netloc=f"{host}:{_PORTS[parts.scheme]}").geturl()


def parse(raw: bytes) -> Update | None:
    """Read a callback; None where it tells nothing of a call."""
    fields = _fields(raw)
    if fields is None:
        return None
    told = {name: values[0] for name, values in fields.items()}
    sid, status = told.get("CallSid", ""), told.get("CallStatus", "")
    sequence = _number(told.get("SequenceNumber", "0"))
    if not _SID.fullmatch(sid) or status not in STATUSES or sequence is None:
        return None
    return Update(
        sid=sid,
        status=cast("Status", status),
        sequence=sequence,
        answered_by=told.get("AnsweredBy"),
        sip_status=_number(told.get("SipResponseCode", "")),
        error_code=_number(told.get("ErrorCode", "")),
        words=told.get("ErrorMessage", "")[:_WORDS_LENGTH_MAX],
    )


def _number(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return int(text) if is_number else None
