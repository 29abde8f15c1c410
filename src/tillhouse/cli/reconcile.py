"""`tillhouse reconcile`: do providers, orders, links and the ledger say the same?"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, get_args

import msgspec
import typer
from rich.console import Group, RenderableType

from tillhouse.access.process import Services
from tillhouse.cli import given
from tillhouse.cli.output import AsJson, Data, NoBusiness, print_result, stderr_console, table
from tillhouse.cli.running import run
from tillhouse.finance.reconciling.actions import Reconciliation, find_gap
from tillhouse.finance.reconciling.days import total
from tillhouse.finance.reconciling.types import (
    REMEDIES,
    BalanceBeside,
    Difference,
    MoneyDay,
    ProviderDays,
    ReconciledPart,
    ReconcilingReport,
)
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.values import DateOrTimestamp
from tillhouse.providers.payments.provider import ProviderName

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
    scope = ReconciledPart(
        since=_moment("--from", since, now() - _USUAL, is_end=False),
        until=_moment("--to", until, now(), is_end=True),
        business_id=BusinessId(given.id_of("--business", business)) if business else None,
        book=given.id_of("--book", book) if book else None,
        provider=provider,
    )
    _check_options(scope)

    async def work(services: Services) -> ReconcilingReport:
        # Its rooms load the libraries of servers.
        from tillhouse.app import PRODUCT  # noqa: PLC0415

        await _check_scope(services, scope)
        with stderr_console().status("Reconciling …") as status:
            reconciliation = Reconciliation(
                services,
                scope,
                PRODUCT.sources,
                lambda number, of: status.update(f"Reconciling book {number + 1} of {of} …"),
            )
            if not repair:
                return await reconciliation.look()
            return await reconciliation.repair(_show_plan)

    report = run(work, data)
    shown = Group(*_parts(report, with_plan=plan or repair))
    print_result(report, as_json=as_json, shown=shown)
    if report.differences:
        raise typer.Exit(1)


def _check_options(scope: ReconciledPart) -> None:
    names = get_args(ProviderName)
    if scope.provider is not None and scope.provider not in names:
        raise typer.BadParameter(f"--provider must be one of {', '.join(names)}")
    if scope.since >= scope.until:
        raise typer.BadParameter("--from must be before --to, which is now unless it is given")


async def _check_scope(services: Services, scope: ReconciledPart) -> None:
    gap = await find_gap(services, scope)
    if gap == "books" and scope.book is None:
        assert scope.business_id is not None, "else every book is meant"  # noqa: S101
        raise typer.BadParameter(str(NoBusiness(scope.business_id)))
    if gap == "books":
        raise typer.BadParameter(
            f"--book {scope.book} is no environment of a business, or not of that one: the hook of "
            "`tillhouse providers list BUSINESS` ends with the id of the live one."
        )
    if gap == "provider":
        raise typer.BadParameter(
            f"{scope.provider} isn't connected in any of these books, and no money moved by it in "
            "this time: `tillhouse providers list BUSINESS` tells what is."
        )


def _show_plan(planned: ReconcilingReport) -> None:
    """Show the plan of a repair before it acts: each step, and each difference left to people."""
    if planned.differences:
        console = stderr_console()
        console.print("Plan:", _table(planned.differences, with_plan=True))


def _moment(name: str, text: str | None, usual: datetime, *, is_end: bool) -> datetime:
    if text is None:
        return usual
    value = given.value(DateOrTimestamp, name, text)
    return value.ends_at(_UTC) if is_end else value.starts_at(_UTC)


def _parts(report: ReconcilingReport, *, with_plan: bool) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if report.repaired:
        parts += ["Mended:", _table(report.repaired, with_plan=False), ""]
    if report.differences:
        parts.append(_table(report.differences, with_plan=with_plan))
    parts.append(_sentence(report))
    for of in report.days:
        parts += ["", _heading(of), _days(of)]
    if report.balances:
        parts += ["", "At the providers now, beside the books:", _balances(report.balances)]
    return parts


def _balances(balances: list[BalanceBeside]) -> RenderableType:
    """The money that lies at each provider, or why it isn't known."""
    columns = ["Business", "Environment", "Provider", "Currency"]
    columns += ["Available", "Pending", "Booked", "Wallet"]
    rows = [
        [
            str(one.business_id),
            one.environment,
            one.provider,
            one.currency,
            one.unread or _amount(one.available),
            _amount(one.pending),
            _amount(one.booked),
            _amount(one.wallet),
        ]
        for one in balances
    ]
    return table(columns, rows)


def _amount(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount:,f}"


def _heading(of: ProviderDays) -> str:
    told = f"{of.provider} of {of.business_id} ({of.environment}), {of.currency}"
    if of.first_difference is None:
        return f"{told}: every day agrees."
    if all(_yet_to_book(one) == _differing(one) for one in of.days):
        return f"{told}: every day agrees, but for what is yet to be booked."
    return f"{told}: the first day that differs is {of.first_difference}."


def _days(of: ProviderDays) -> RenderableType:
    """The money that moved on each day, net of fees, and the sums of it since the first."""
    columns = ["Day (UTC)", "Provider", "Booked", "Sum there", "Sum here", "Differs"]
    rows = [
        [
            one.day.isoformat(),
            f"{total(one.at_provider):,f}",
            f"{total(one.booked):,f}",
            f"{one.provider_balance:,f}",
            f"{one.booked_balance:,f}",
            _parts_that_differ(one),
        ]
        for one in of.days
    ]
    return table(columns, rows)


def _parts_that_differ(one: MoneyDay) -> str:
    """Each part, with its recorded and booked amounts once it has ended."""
    later = _yet_to_book(one)
    words = {name: f" ({later[name]:+,f} yet to be booked)" for name in later}
    return ", ".join(
        f"{name} {by:+,f}{words.get(name, '')}" for name, by in _differing(one).items()
    )


def _differing(one: MoneyDay) -> dict[str, Decimal]:
    there, here = msgspec.structs.asdict(one.at_provider), msgspec.structs.asdict(one.booked)
    return {name: there[name] - here[name] for name in there if there[name] != here[name]}


def _yet_to_book(one: MoneyDay) -> dict[str, Decimal]:
    return {name: by for name, by in msgspec.structs.asdict(one.to_book).items() if by}


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
    return "none: look at it" if difference.repair is None else REMEDIES[difference.repair]


def _sentence(report: ReconcilingReport) -> str:
    looked = (
        f"{report.books} books, {report.payments} payments, {report.payouts} payouts and "
        f"{report.refunds} refunds "
        f"from {report.since:%Y-%m-%d %H:%M} to {report.until:%Y-%m-%d %H:%M} UTC"
    )
    if report.foreign:
        looked += f" ({report.foreign} more are other books' on the same accounts)"
    if not report.differences:
        return f"Nothing differs in {looked}."
    mendable = sum(one.repair is not None for one in report.differences)
    told = f"{len(report.differences)} differences in {looked}."
    return f"{told} {mendable} can be mended: `tillhouse reconcile --repair`." if mendable else told
