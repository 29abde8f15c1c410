"""Values as JSON bytes: amounts as exact numbers, checked texts as the texts that they are."""

from collections.abc import Callable
from decimal import Decimal

import msgspec


def _plain(value: object) -> object:
    """Subclasses of the plain types, which the encoder doesn't know."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Decimal):
        return Decimal(value)
    raise NotImplementedError(f"{type(value)} has no JSON form")


encode: Callable[[object], bytes] = msgspec.json.Encoder(
    decimal_format="number", enc_hook=_plain
).encode
