"""The addresses of receipts: signed, and good for a week."""

from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.kit.signed import is_signed, sign
from tillhouse.orders.receipts.rules import until

PURPOSE = "receipt addresses"


def url(services: Services, receipt_id: UUID, given_at: datetime) -> str:
    """The address of a receipt, good for a week from then."""
    end = str(until(given_at))
    given = {"until": end, "mark": sign(_key(services), str(receipt_id), end)}
    return f"{services.settings.public_url}/receipts/{receipt_id}?{urlencode(given)}"


def is_ours(services: Services, receipt_id: UUID, end: str, proof: str) -> bool:
    """Whether an address with this end and this signature was given out."""
    return is_signed(_key(services), proof, str(receipt_id), end)


def _key(services: Services) -> bytes:
    return services.vault.derive(PURPOSE)
