"""`tillhouse business`: the businesses of this installation."""

from datetime import datetime
from typing import Annotated, Any, Literal

import typer
from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.process import Services
from tillhouse.accounts import actions, store
from tillhouse.accounts.business.actions import change_business
from tillhouse.accounts.business.types import BusinessPatch
from tillhouse.accounts.types import BusinessType, NewAccount
from tillhouse.cli import given
from tillhouse.cli.business_delete import delete
from tillhouse.cli.output import AsJson, CommandError, Data, NoBusiness, print_result, table
from tillhouse.cli.running import run
from tillhouse.db.pool import Db
from tillhouse.kit.clock import end_of_day, iso, now, parse_date
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.values import CountryCode, CurrencyCode, Email, Name, ZoneName

Status = Literal["trial", "active", "past_due", "cancelled"]


def commands() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(no_args_is_help=True, help="The businesses of this installation.")
    group.command("list")(list_all)
    group.command()(create)
    group.command()(subscription)
    group.command()(trade)
    group.command()(delete)
    return group


def list_all(*, data: Data = None, as_json: AsJson = False) -> None:
    """List the businesses."""

    async def work(services: Services) -> list[dict[str, Any]]:
        async with services.pool.reading() as db:
            return [dict(row) for row in await store.list_businesses(db)]

    found = run(work, data)
    rows = [
        (b["id"], b["name"], b["type"], b["currency"], b["subscription"], b["created_at"])
        for b in found
    ]
    shown = table(("Id", "Name", "Type", "Currency", "Subscription", "Created"), rows)
    print_result({"businesses": found}, as_json=as_json, shown=shown)


def create(  # noqa: PLR0913 - one argument an option
    *,
    name: Annotated[str, typer.Option(help="Name of the business.")],
    owner_name: Annotated[str, typer.Option(help="Name of its owner.")],
    email: Annotated[str, typer.Option(help="E-mail address that the owner logs in with.")],
    password_stdin: Annotated[bool, typer.Option("--password-stdin")] = False,
    kind: Annotated[BusinessType, typer.Option("--type")] = "retail",
    currency: Annotated[str, typer.Option(help="ISO 4217 code.")] = actions.DEFAULT_CURRENCY,
    time_zone: Annotated[str, typer.Option(help="IANA name.")] = actions.DEFAULT_TIME_ZONE,
    country: Annotated[str, typer.Option(help="ISO 3166 code.")] = actions.DEFAULT_COUNTRY,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Open a business with its owner."""
    new = NewAccount(
        name=given.value(Name, "The owner's name", owner_name),
        email=given.value(Email, "The e-mail address", email),
        password=given.new_password((email, owner_name, name), from_stdin=password_stdin),
        business_name=given.value(Name, "The name", name),
        business_type=kind,
        currency=given.value(CurrencyCode, "The currency", currency),
        time_zone=given.value(ZoneName, "The time zone", time_zone),
        country=given.value(CountryCode, "The country", country),
    )

    async def work(services: Services) -> actions.Opened:
        hashed = await services.passwords.hash(new.password)
        async with services.pool.transaction() as db:
            await store.lock_email(db, new.email)
            if await store.find_user_id(db, new.email) is not None:
                raise CommandError(f"{new.email} is registered already: choose another address.")
            opened = await actions.open_business(services, db, new, hashed, moment := now())
            what = ("business.registered", f"Opened {new.business_name}")
            metadata = {"type": new.business_type, "name": new.business_name}
            await audit.append(db, opened.business_id, COMMAND_LINE, what, metadata, moment)
        return opened

    opened = run(work, data)
    shown = f"Opened {new.business_name}: {opened.business_id}"
    result = {"businessId": opened.business_id, "userId": opened.user_id}
    print_result(result, as_json=as_json, shown=shown)


def subscription(
    business: Annotated[str, typer.Argument(help="Id of the business.")],
    *,
    status: Annotated[Status | None, typer.Option(help="What it is from now on.")] = None,
    api_access: Annotated[bool, typer.Option(help="Whether it opens the portal.")] = True,
    trial_ends: Annotated[str | None, typer.Option(help="Last day of a trial (a date).")] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show a business's subscription, or set it: --status active, or --trial-ends DATE."""
    business_id = BusinessId(given.id_of("BUSINESS", business))
    ends_at = _last_moment(trial_ends)
    wanted = status or ("trial" if ends_at else None)
    if wanted == "trial" and ends_at is None:
        raise typer.BadParameter("A trial needs its last day: --trial-ends 2031-01-31.")
    if wanted is None and not api_access:
        raise typer.BadParameter("Say with --status what the subscription is.")

    async def work(services: Services) -> dict[str, Any]:
        async with services.pool.transaction() as db:
            if wanted is not None:
                await _set_subscription(db, business_id, wanted, ends_at, api_access=api_access)
            row = await store.find_subscription(db, business_id)
        if row is None:
            raise NoBusiness(business_id)
        status, api, ends = row
        return {"status": status, "apiAccess": api, "trialEndsAt": ends}

    result = run(work, data)
    access = "with" if result["apiAccess"] else "without"
    until = f" until {result['trialEndsAt']}" if result["status"] == "trial" else ""
    shown = f"The subscription is {result['status']}{until}, {access} API access."
    print_result({"businessId": business_id, **result}, as_json=as_json, shown=shown)


async def _set_subscription(
    db: Db, business_id: BusinessId, status: str, ends_at: datetime | None, *, api_access: bool
) -> None:
    moment = now()
    if await store.update_subscription(
        db, business_id, status, ends_at, moment, api_access=api_access
    ):
        what = ("business.subscription_changed", f"Set the subscription to {status}")
        ends = iso(ends_at) if ends_at else None
        metadata = {"status": status, "apiAccess": api_access, "trialEndsAt": ends}
        await audit.append(db, business_id, COMMAND_LINE, what, metadata, moment)


def trade(
    business: Annotated[str, typer.Argument(help="Id of the business.")],
    *,
    tax_inclusive: Annotated[
        bool | None, typer.Option("--tax-inclusive/--tax-exclusive", help="Of prices.")
    ] = None,
    stock_policy: Annotated[
        Literal["deny", "allow"] | None, typer.Option(help="To sell more than there is.")
    ] = None,
    restocks_cancelled: Annotated[
        bool | None, typer.Option("--restock/--no-restock", help="What is cancelled.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Set how a business trades; what isn't given stays. It holds for orders from now on."""
    business_id = BusinessId(given.id_of("BUSINESS", business))
    patch = BusinessPatch(
        tax_inclusive=UNSET if tax_inclusive is None else tax_inclusive,
        stock_policy=UNSET if stock_policy is None else stock_policy,
        restocks_cancelled=UNSET if restocks_cancelled is None else restocks_cancelled,
    )

    async def work(services: Services) -> dict[str, Any]:
        async with services.pool.transaction() as db:
            trades = await change_business(db, business_id, patch, COMMAND_LINE, now())
        if trades is None:
            raise NoBusiness(business_id)
        return {
            "taxInclusive": trades.tax_inclusive,
            "stockPolicy": trades.stock_policy,
            "restocksCancelled": trades.restocks_cancelled,
        }

    result = run(work, data)
    shown = ", ".join(f"{name}: {value}" for name, value in result.items())
    print_result({"businessId": business_id, **result}, as_json=as_json, shown=shown)


def _last_moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return end_of_day(parse_date(text), "UTC")
    except ValueError as error:
        raise typer.BadParameter(f"--trial-ends {error}") from None
