"""`tillhouse import customers`: people whom a business knows already, from a file."""

from pathlib import Path
from typing import Annotated

import typer

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.accounts.store import list_books
from tillhouse.cli import given
from tillhouse.cli.output import AsJson, Data, NoBusiness, print_result
from tillhouse.cli.rows import Bar, RowError, errors_at, read_rows, refuse
from tillhouse.cli.running import run
from tillhouse.customers.imports import CustomerRow, ImportedCustomers, import_customers
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.secrets import Environment
from tillhouse.webhooks.emit import Source


class _Wrong(Exception):
    """Rows are wrong: the transaction goes back, and this tells of them."""

    def __init__(self, errors: list[RowError]) -> None:
        super().__init__()
        self.errors = errors


def customers(
    file: Annotated[Path, typer.Argument(help="CSV file; its first line names the columns.")],
    *,
    business: Annotated[str, typer.Option(help="Id of the business.")],
    environment: Annotated[Environment, typer.Option(help="Which of its books.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make or change customers from a CSV file, by phone and e-mail; all of them, or none.

    Columns: name, and perhaps email, phone, whatsapp, notes. A row with neither phone nor email
    makes a customer when there is none of its name.
    """
    business_id = BusinessId(given.id_of("--business", business))
    sheet = read_rows(file, CustomerRow)

    async def work(services: Services) -> ImportedCustomers:
        async with services.pool.transaction() as db:
            books = {row["environment"]: row["id"] for row in await list_books(db, business_id)}
            if not books:
                raise NoBusiness(business_id)
            origin = Source(business_id, Book(books[environment], environment))
            with Bar("Importing customers", len(sheet.rows)) as done:
                made = await import_customers(db, origin, sheet.rows, now(), done)
            faults = (
                (fault.row_no, fault.error.field, fault.error.message) for fault in made.faults
            )
            if errors := [*sheet.errors, *errors_at(sheet.lines, faults)]:
                raise _Wrong(errors)
        # The senders are other processes: a command has no worker that hears its notifier.
        await services.pool.notify()
        return made

    try:
        made = run(work, data)
    except _Wrong as wrong:
        raise refuse(file, sheet.columns, wrong.errors, as_json=as_json) from None
    counts = {"created": made.created, "updated": made.updated, "unchanged": made.unchanged}
    shown = (
        f"Customers: {made.created} made, {made.updated} changed, {made.unchanged} as they were."
    )
    result = {"environment": environment, "rows": len(sheet.rows), **counts}
    print_result(result, as_json=as_json, shown=shown)
