"""The addresses of attachments: signed, to upload for an hour, to fetch for a day."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import urlencode

from tillhouse.access.process import Services
from tillhouse.kit.ids import BookKey
from tillhouse.kit.signed import is_signed, sign

Purpose = Literal["upload", "fetch"]
VALID_FOR: dict[Purpose, timedelta] = {"upload": timedelta(hours=1), "fetch": timedelta(days=1)}
PATH = "/attachments/{book_id}/{attachment_id}"
_UNTIL = re.compile("[0-9]{1,11}")


def url(services: Services, key: BookKey, purpose: Purpose, given_at: datetime) -> str:
    """The address of an attachment, for one purpose."""
    until = str(int((given_at + VALID_FOR[purpose]).timestamp()))
    mark = sign(_key(services), purpose, str(key.book_id), str(key.id), until)
    query = urlencode({"until": until, "mark": mark})
    return f"{services.settings.public_url}/attachments/{key.book_id}/{key.id}?{query}"


def is_good(
    services: Services, key: BookKey, purpose: Purpose, query: Mapping[str, str], now: datetime
) -> bool:
    """Whether an address was given out for this purpose, and isn't over."""
    until, mark = query.get("until", ""), query.get("mark", "")
    is_ours = is_signed(_key(services), mark, purpose, str(key.book_id), str(key.id), until)
    return bool(is_ours and _UNTIL.fullmatch(until) and int(until) > now.timestamp())


def _key(services: Services) -> bytes:
    return services.vault.derive("attachment addresses")
