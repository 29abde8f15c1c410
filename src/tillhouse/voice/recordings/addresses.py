"""The addresses of recordings: signed, and good for a day."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlencode

from tillhouse.access.process import Services
from tillhouse.kit.ids import BookKey
from tillhouse.kit.secrets import is_signed, sign

VALID_FOR = timedelta(days=1)
PATH = "/recordings/{book_id}/{call_id}"
_UNTIL = re.compile("[0-9]{1,11}")


def url(services: Services, key: BookKey, given_at: datetime) -> str:
    """The address of a recording, good for a day from then."""
    until = str(int((given_at + VALID_FOR).timestamp()))
    given = {"until": until, "mark": sign(_key(services), str(key.book_id), str(key.id), until)}
    base = services.settings.public_url
    return f"{base}/recordings/{key.book_id}/{key.id}?{urlencode(given)}"


def is_good(services: Services, key: BookKey, query: Mapping[str, str], now: datetime) -> bool:
    """Whether an address was given out, and isn't over."""
    until, mark = query.get("until", ""), query.get("mark", "")
    is_ours = is_signed(_key(services), mark, str(key.book_id), str(key.id), until)
    return bool(is_ours and _UNTIL.fullmatch(until) and int(until) > now.timestamp())


def _key(services: Services) -> bytes:
    return services.vault.derive("recording addresses")
