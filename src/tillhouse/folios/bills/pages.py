"""The pages of bills of stays, for each reader who has the address."""

from tillhouse.folios.bills.actions import ADDRESSES, find
from tillhouse.http.raw import RawRoute
from tillhouse.kit.errors import Missing
from tillhouse.orders.receipts import page
from tillhouse.orders.receipts.pages import Receipts


class NoBill(
    Missing,
    message="There is no bill at this address, or the address has expired. "
    "Ask the hotel for a new one.",
):
    """Expired, tampered with or never given out: all look alike."""


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of bills."""
    bills = Receipts(find, NoBill)
    return (
        RawRoute(
            method="GET",
            path=f"/{ADDRESSES.folder}/{{receipt_id}}",
            handler=bills.show,
            refusal=page.refusal,
            missing=NoBill,
            is_printed=True,
        ),
    )
