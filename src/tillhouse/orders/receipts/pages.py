"""The pages of receipts, for each reader who has the address."""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.errors import Missing
from tillhouse.orders.receipts import page
from tillhouse.orders.receipts.actions import Found, find
from tillhouse.orders.receipts.addresses import RECEIPTS, Address, Addresses
from tillhouse.orders.receipts.files import ReceiptFiles
from tillhouse.orders.receipts.page import PAPERS
from tillhouse.orders.receipts.printer import ToPrint

_NAME = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(\.pdf)?")


class NoReceipt(
    Missing,
    message="There is no receipt at this address, or the address has expired. "
    "Ask the shop for a new one.",
):
    """Expired, tampered with or never given out: all look alike."""


# Finds the receipt of an address; one that isn't good reads as missing.
Find = Callable[[Services, Db, Address, datetime], Awaitable[Found]]


class Receipts:
    """Shows receipts as pages and as files."""

    def __init__(self, find: Find, missing: type[Missing] = NoReceipt) -> None:
        self._find = find
        self._missing = missing
        self._files = ReceiptFiles()

    def route(self, addresses: Addresses) -> RawRoute:
        """The raw route of their addresses."""
        return RawRoute(
            method="GET",
            path=f"/{addresses.folder}/{{receipt_id}}",
            handler=self.show,
            refusal=page.refusal,
            missing=self._missing,
            is_printed=True,
        )

    async def show(self, services: Services, asked: RawRequest) -> RawAnswer:
        """The receipt at a marked address, as a page or as a file."""
        name = _NAME.fullmatch(asked.path["receipt_id"])
        if name is None:
            raise self._missing
        given = asked.query
        address = Address(
            receipt_id=UUID(name[1]), until=given.get("until", ""), mark=given.get("mark", "")
        )
        paper = PAPERS.get(given.get("paper", ""), "a4")
        try:
            async with services.pool.reading() as db:
                found = await self._find(services, db, address, asked.now)
        except Missing:
            raise self._missing from None
        if name[2] is None:
            return page.receipt(found.sheet, address, paper)
        receipt = ToPrint(
            id=found.id,
            business_id=found.business_id,
            sheet=found.sheet,
            paper=paper,
            made_at=found.made_at,
        )
        file = await self._files.file(services.shares.files, receipt)
        return _file(file, f"{found.sheet.document}-{found.sheet.code}")


def _file(body: bytes, name: str) -> RawAnswer:
    shown = f'inline; filename="{name}.pdf"'.encode()
    headers = [(b"content-disposition", shown), (b"x-robots-tag", b"noindex")]
    return RawAnswer("application/pdf", body, headers=headers)


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of this room."""
    return (Receipts(find).route(RECEIPTS),)
