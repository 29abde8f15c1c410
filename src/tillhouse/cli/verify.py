"""`tillhouse verify`: is what must always hold still so?"""

from typing import Any

import typer
from rich.progress import track

from tillhouse.access.house import House
from tillhouse.access.store.audit import find_broken_links
from tillhouse.accounts.store import list_businesses
from tillhouse.cli.output import AsJson, Data, people, table, tell
from tillhouse.cli.running import run

_LINKS_SHOWN = 20


def verify(*, data: Data = None, as_json: AsJson = False) -> None:
    """Check the audit chain of every business; exit code 1 when one is broken."""

    async def work(house: House) -> tuple[int, list[dict[str, Any]]]:
        broken: list[dict[str, Any]] = []
        async with house.pool.reading() as db:
            businesses = await list_businesses(db)
            console = people()
            for business in track(
                businesses, "Audit chains", console=console, disable=not console.is_terminal
            ):
                links = await find_broken_links(db, business["id"], _LINKS_SHOWN)
                if links:
                    at = [link["sequence"] for link in links]
                    broken.append({"businessId": business["id"], "auditSequences": at})
        return len(businesses), broken

    count, broken = run(work, data)
    rows = [(each["businessId"], ", ".join(map(str, each["auditSequences"]))) for each in broken]
    shown = (
        table(("Business", "Broken audit links"), rows)
        if broken
        else f"The audit chains of {count} businesses are whole."
    )
    tell({"businesses": count, "broken": broken}, as_json=as_json, shown=shown)
    if broken:
        raise typer.Exit(1)
