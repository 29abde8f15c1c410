"""`tillhouse import`: existing data of a business, from files."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.cli import given, import_orders
from tillhouse.cli.books import books_of
from tillhouse.cli.output import AsJson, Data, print_result, stderr_console
from tillhouse.cli.rows import Bar, FileRows, RowError, Steps, errors_at, read_rows, refuse
from tillhouse.cli.running import run
from tillhouse.customers.imports import CustomerRow, import_customers
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.imported import Imported
from tillhouse.kit.secrets import Environment
from tillhouse.products.actions.imports import import_products
from tillhouse.products.sheet import ProductRow
from tillhouse.webhooks.emit import Source

T = TypeVar("T")
_Imports = Callable[[Db, Source, list[T], datetime, Steps], Awaitable[Imported]]
_File = Annotated[Path, typer.Argument(help="CSV file; its first line names the columns.")]
_Business = Annotated[str, typer.Option(help="Id of the business.")]
_Environment = Annotated[Environment, typer.Option(help="Which of its books.")]

_ON_HAND = "The column on_hand was left alone: stock is set through the stock routes."


class _Wrong(Exception):
    """Rows are wrong: the transaction goes back, and this tells of them."""

    def __init__(self, errors: list[RowError]) -> None:
        super().__init__()
        self.errors = errors


class _Command(msgspec.Struct, frozen=True):
    """The parameters of every import."""

    things: str
    file: Path
    business: str
    environment: Environment
    data: Data
    as_json: bool


def commands() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Bring what you have, from files.")
    group.command()(products)
    group.command()(customers)
    group.command()(import_orders.orders)
    return group


def products(
    file: _File,
    *,
    business: _Business,
    environment: _Environment,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make or change products from a CSV file, by their skus; all of them, or none.

    Columns: name, sku, and perhaps type, base_price, category, unit, tax_rate, variant, price,
    tracks_stock. Rows that name a variant are one product by its name.
    """
    command = _Command("products", file, business, environment, data, as_json)
    sheet, made = _import(command, ProductRow, import_products)
    notes = [_ON_HAND] if any(row.on_hand is not None for row in sheet.rows) else []
    for note in notes:
        stderr_console().print(note, markup=False)
    _tell(command, len(sheet.rows), made, notes=notes)


def customers(
    file: _File,
    *,
    business: _Business,
    environment: _Environment,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make or change customers from a CSV file, by phone and e-mail; all of them, or none.

    Columns: name, and perhaps email, phone, whatsapp, notes. A row with neither phone nor email
    makes a customer when there is none of its name.
    """
    command = _Command("customers", file, business, environment, data, as_json)
    sheet, made = _import(command, CustomerRow, import_customers)
    _tell(command, len(sheet.rows), made)


def _import(
    command: _Command, kind: type[T], import_rows: _Imports[T]
) -> tuple[FileRows[T], Imported]:
    """The rows of the file, and what became of them."""
    business_id = BusinessId(given.id_of("--business", command.business))
    sheet = read_rows(command.file, kind)

    async def work(services: Services) -> Imported:
        async with services.pool.transaction() as db:
            books = await books_of(db, business_id)
            book = Book(books.of(command.environment), command.environment)
            with Bar(f"Importing {command.things}", len(sheet.rows)) as done:
                made = await import_rows(db, Source(business_id, book), sheet.rows, now(), done)
            faults = (
                (fault.row_no, fault.error.field, fault.error.message) for fault in made.faults
            )
            if errors := [*sheet.errors, *errors_at(sheet.lines, faults)]:
                raise _Wrong(errors)
        # The senders are other processes: a command has no worker that hears its notifier.
        await services.pool.notify()
        return made

    try:
        return sheet, run(work, command.data)
    except _Wrong as wrong:
        raise refuse(command.file, sheet.columns, wrong.errors, as_json=command.as_json) from None


def _tell(command: _Command, rows: int, made: Imported, **more: object) -> None:
    counts = {"created": made.created, "updated": made.updated, "unchanged": made.unchanged}
    shown = (
        f"{command.things.capitalize()}: {made.created} made, {made.updated} changed, "
        f"{made.unchanged} as they were."
    )
    result = {"environment": command.environment, "rows": rows, **counts, **more}
    print_result(result, as_json=command.as_json, shown=shown)
