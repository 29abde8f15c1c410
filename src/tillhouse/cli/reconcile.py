"""`tillhouse reconcile`: do providers, orders, links and the ledger say the same?"""

from datetime import datetime, timedelta
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from tillhouse.access.process import Services
from tillhouse.cli import given
from tillhouse.cli.output import AsJson, Data, print_result, stderr_console, table
from tillhouse.cli.running import run
from tillhouse.finance.reconciling.actions import Reconciliation
from tillhouse.finance.reconciling.types import REMEDIES, Difference, Report, Scope
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.values import DateOrTimestamp

_USUAL = timedelta(days=7)
_UTC = "UTC"


def reconcile(  # noqa: PLR0913 - one argument an option
    *,
    since: Annotated[
        str | None, typer.Option("--from", help="From this day (UTC) or moment; 7 days ago.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", help="Up to this day, all of it, or moment; now.")
    ] = None,
    business: Annotated[str | None, typer.Option(help="Id of one business.")] = None,
    book: Annotated[str | None, typer.Option(help="Id of one environment of a business.")] = None,
    provider: Annotated[str | None, typer.Option(help="Name of one payment provider.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what a repair would do.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what adding to the books can mend.")
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Hold the books against providers, orders and links; exit code 1 when something differs."""
    scope = Scope(
        since=_moment("--from", since, now() - _USUAL, is_end=False),
        until=_moment("--to", until, now(), is_end=True),
        business_id=BusinessId(given.id_of("--business", business)) if business else None,
        book=given.id_of("--book", book) if book else None,
        provider=provider,
    )

    async def work(services: Services) -> Report:
        # Its rooms load the libraries of servers.
        from tillhouse.app import PRODUCT  # noqa: PLC0415

        with stderr_console().status("Reconciling …") as status:
            reconciliation = Reconciliation(
                services,
                scope,
                PRODUCT.sources,
                lambda number, of: status.update(f"Reconciling book {number + 1} of {of} …"),
            )
            return await (reconciliation.repair() if repair else reconciliation.look())

    report = run(work, data)
    shown = Group(*_parts(report, with_plan=plan or repair))
    print_result(report, as_json=as_json, shown=shown)
    if report.differences:
        raise typer.Exit(1)


def _moment(name: str, text: str | None, usual: datetime, *, is_end: bool) -> datetime:
    if text is None:
        return usual
    value = given.value(DateOrTimestamp, name, text)
    return value.ends_at(_UTC) if is_end else value.starts_at(_UTC)


def _parts(report: Report, *, with_plan: bool) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if report.repaired:
        parts += ["Mended:", _table(report.repaired, with_plan=False), ""]
    if report.differences:
        parts.append(_table(report.differences, with_plan=with_plan))
    parts.append(_sentence(report))
    return parts


def _table(differences: list[Difference], *, with_plan: bool) -> RenderableType:
    columns = ["Business", "Environment", "Provider", "Kind", "Id", "What differs"]
    rows = [
        [
            str(one.business_id),
            one.environment,
            one.provider or "",
            one.kind,
            one.id,
            one.what,
            *([_remedy(one)] if with_plan else []),
        ]
        for one in differences
    ]
    return table([*columns, "Repair"] if with_plan else columns, rows)


def _remedy(difference: Difference) -> str:
    return "look at it" if difference.repair is None else REMEDIES[difference.repair]


def _sentence(report: Report) -> str:
    looked = (
        f"{report.books} books, {report.payments} payments, {report.payouts} payouts and "
        f"{report.refunds} refunds "
        f"from {report.since:%Y-%m-%d %H:%M} to {report.until:%Y-%m-%d %H:%M} UTC"
    )
    if not report.differences:
        return f"Nothing differs in {looked}."
    mendable = sum(one.repair is not None for one in report.differences)
    told = f"{len(report.differences)} differences in {looked}."
    return f"{told} {mendable} can be mended: `tillhouse reconcile --repair`." if mendable else told
