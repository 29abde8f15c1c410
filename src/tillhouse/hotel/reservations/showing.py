"""Reservations as they are shown, from their rows."""

from typing import Any

import msgspec
from asyncpg import Record

from tillhouse.hotel.rates.rules import read_taxes
from tillhouse.hotel.reservations.types import Night, Reservation

_NIGHTS = msgspec.json.Decoder(list[Night])


def shown(row: Record) -> Reservation:
    """A reservation from its row."""
    fields: dict[str, Any] = dict(row)
    fields["nights"] = _NIGHTS.decode(row["nights"])
    fields["taxes"] = read_taxes(row["taxes"])
    return Reservation(**fields)
