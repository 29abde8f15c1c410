"""`tillhouse verify`: do the invariants of the books still hold?"""

from typing import Any

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.progress import track

from tillhouse.access.process import Services
from tillhouse.access.store.audit import find_broken_links
from tillhouse.accounts.store import list_businesses
from tillhouse.cli.output import AsJson, Data, print_result, stderr_console, table
from tillhouse.cli.running import run
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId
from tillhouse.ledger.proof import prove
from tillhouse.ledger.store.proof import list_books

_LINKS_SHOWN = 20
_FAULTS_SHOWN = 20


class VerifyResult(msgspec.Struct, frozen=True):
    """The faults that were found, and how many businesses were looked at."""

    businesses: int
    broken: list[dict[str, Any]]

    @property
    def shown(self) -> RenderableType:
        """The same for people."""
        if self.broken:
            return Group(*_tables(self.broken))
        if self.businesses == 0:
            return "There is no business in this database, so nothing was verified."
        return f"The audit chains and ledgers of {self.businesses} businesses are whole."


def verify(*, data: Data = None, as_json: AsJson = False) -> None:
    """Check every business's audit chain and ledger; exit code 1 when something is wrong."""
    verdict = run(look_at_all, data)
    print_result(verdict, as_json=as_json, shown=verdict.shown)
    if verdict.broken or verdict.businesses == 0:
        raise typer.Exit(1)


async def look_at_all(services: Services) -> VerifyResult:
    """Look at every business, showing how far it is."""
    broken: list[dict[str, Any]] = []
    async with services.pool.reading() as db:
        businesses = await list_businesses(db)
        console = stderr_console()
        for business in track(
            businesses, "Businesses", console=console, disable=not console.is_terminal
        ):
            wrong = await _chain(db, business["id"]) | await _ledger(db, business["id"])
            if wrong:
                broken.append({"businessId": business["id"], **wrong})
    return VerifyResult(len(businesses), broken)


async def _chain(db: Db, business_id: BusinessId) -> dict[str, Any]:
    links = await find_broken_links(db, business_id, _LINKS_SHOWN)
    return {"auditSequences": [link["sequence"] for link in links]} if links else {}


async def _ledger(db: Db, business_id: BusinessId) -> dict[str, Any]:
    """The first faults of a business's books: the operator mends them and runs it again."""
    # Its rooms load the libraries of servers.
    from tillhouse.app import PRODUCT  # noqa: PLC0415

    faults: list[dict[str, str]] = []
    for book in await list_books(db, business_id):
        async for fault in prove(db, book["book_id"], PRODUCT.sources):
            faults.append(
                {
                    "environment": book["environment"],
                    "subject": fault.subject,
                    "id": fault.id,
                    "what": fault.what,
                }
            )
            if len(faults) == _FAULTS_SHOWN:
                return {"ledgerFaults": faults}
    return {"ledgerFaults": faults} if faults else {}


def _tables(broken: list[dict[str, Any]]) -> list[Any]:
    links = [
        (each["businessId"], ", ".join(map(str, each["auditSequences"])))
        for each in broken
        if "auditSequences" in each
    ]
    faults = [
        (each["businessId"], fault["environment"], *_told(fault))
        for each in broken
        for fault in each.get("ledgerFaults", ())
    ]
    shown = [table(("Business", "Broken audit links"), links)] if links else []
    if faults:
        shown.append(table(("Business", "Environment", "Where", "What is wrong"), faults))
    return shown


def _told(fault: dict[str, str]) -> tuple[str, str]:
    return f"{fault['subject']} {fault['id']}", fault["what"]
