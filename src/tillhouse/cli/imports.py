"""`tillhouse import`: existing data of a business, from files."""

from pathlib import Path
from typing import Annotated

import typer

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.accounts.store import list_books
from tillhouse.cli import customers, given, import_orders
from tillhouse.cli.output import AsJson, Data, NoBusiness, print_result, stderr_console
from tillhouse.cli.rows import Bar, FileRows, RowError, errors_at, read_rows, refuse
from tillhouse.cli.running import run
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.secrets import Environment
from tillhouse.products.actions.imports import ImportedProducts, import_products
from tillhouse.products.sheet import ProductRow
from tillhouse.webhooks.emit import Source

_ON_HAND = "The column on_hand was left alone: stock is set through the stock routes."


class _Wrong(Exception):
    """Rows are wrong: the transaction goes back, and this tells of them."""

    def __init__(self, errors: list[RowError]) -> None:
        super().__init__()
        self.errors = errors


def commands() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Bring what you have, from files.")
    group.command()(products)
    group.command()(customers.customers)
    group.command()(import_orders.orders)
    return group


def products(
    file: Annotated[Path, typer.Argument(help="CSV file; its first line names the columns.")],
    *,
    business: Annotated[str, typer.Option(help="Id of the business.")],
    environment: Annotated[Environment, typer.Option(help="Which of its books.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make or change products from a CSV file, by their skus; all of them, or none.

    Columns: name, sku, and perhaps type, base_price, category, unit, tax_rate, variant, price,
    tracks_stock. Rows that name a variant are one product by its name.
    """
    business_id = BusinessId(given.id_of("--business", business))
    sheet = read_rows(file, ProductRow)

    async def work(services: Services) -> ImportedProducts:
        async with services.pool.transaction() as db:
            books = {row["environment"]: row["id"] for row in await list_books(db, business_id)}
            if not books:
                raise NoBusiness(business_id)
            origin = Source(business_id, Book(books[environment], environment))
            with Bar("Importing products", len(sheet.rows)) as done:
                made = await import_products(db, origin, sheet.rows, now(), done)
            if errors := _errors(sheet, made):
                raise _Wrong(errors)
        # The senders are other processes: a command has no worker that hears its notifier.
        await services.pool.notify()
        return made

    try:
        made = run(work, data)
    except _Wrong as wrong:
        raise refuse(file, sheet.columns, wrong.errors, as_json=as_json) from None
    notes = [_ON_HAND] if any(row.on_hand is not None for row in sheet.rows) else []
    for note in notes:
        stderr_console().print(note, markup=False)
    counts = {"created": made.created, "updated": made.updated, "unchanged": made.unchanged}
    shown = f"Products: {made.created} made, {made.updated} changed, {made.unchanged} as they were."
    result = {"environment": environment, "rows": len(sheet.rows), **counts, "notes": notes}
    print_result(result, as_json=as_json, shown=shown)


def _errors(sheet: FileRows[ProductRow], made: ImportedProducts) -> list[RowError]:
    faults = ((fault.row_no, fault.error.field, fault.error.message) for fault in made.faults)
    return [*sheet.errors, *errors_at(sheet.lines, faults)]
