"""The pages of receipts of transactions, for each reader who has the address."""

from tillhouse.finance.transactions.receipts.actions import ADDRESSES, find
from tillhouse.http.raw import RawRoute
from tillhouse.orders.receipts import page
from tillhouse.orders.receipts.pages import NoReceipt, Receipts


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of receipts of transactions."""
    receipts = Receipts(find)
    return (
        RawRoute(
            method="GET",
            path=f"/{ADDRESSES.folder}/{{receipt_id}}",
            handler=receipts.show,
            refusal=page.refusal,
            missing=NoReceipt,
            is_printed=True,
        ),
    )
