"""The addresses of receipts: signed, and good for a week."""

import re
from datetime import datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.kit.secrets import is_signed, sign

VALID_FOR = timedelta(days=7)
_UNTIL = re.compile("[0-9]{1,11}")


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a receipt's address."""

    receipt_id: UUID
    until: str
    mark: str


class Addresses(msgspec.Struct, frozen=True):
    """The addresses of one type of receipts: an address of one type is none of another."""

    # The key that signs them is derived for this purpose alone.
    purpose: str
    folder: str

    def url(self, services: Services, receipt_id: UUID, given_at: datetime) -> str:
        """The address of a receipt, good for a week from then."""
        end = str(until(given_at))
        given = {"until": end, "mark": sign(self._key(services), str(receipt_id), end)}
        return f"{services.settings.public_url}/{self.folder}/{receipt_id}?{urlencode(given)}"

    def is_good(self, services: Services, address: Address, now: datetime) -> bool:
        """Whether an address was given out, and isn't over."""
        parts = str(address.receipt_id), address.until
        is_ours = is_signed(self._key(services), address.mark, *parts)
        return bool(
            is_ours and _UNTIL.fullmatch(address.until) and int(address.until) > now.timestamp()
        )

    def _key(self, services: Services) -> bytes:
        return services.vault.derive(self.purpose)


def until(now: datetime) -> int:
    """When an address that is given out now ends, in Unix seconds."""
    return int((now + VALID_FOR).timestamp())


RECEIPTS = Addresses("receipt addresses", "receipts")
"""The addresses of receipts of orders."""
