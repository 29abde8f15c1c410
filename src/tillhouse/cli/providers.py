"""`tillhouse providers`: who collects for a business in its live environment."""

import sys
from collections.abc import Sequence
from typing import Annotated, cast, get_args

import typer

from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, SystemCaller
from tillhouse.access.process import Services
from tillhouse.cli import given
from tillhouse.cli.books import books_of
from tillhouse.cli.output import (
    AsJson,
    Data,
    print_result,
    stderr_console,
    table,
)
from tillhouse.cli.running import run
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId
from tillhouse.messaging.types import Credential
from tillhouse.payins.connecting import actions
from tillhouse.payins.connecting.types import ProviderChange, ProviderShown
from tillhouse.providers.payments import providers as vendors
from tillhouse.providers.payments.provider import ProviderName

Business = Annotated[str, typer.Argument(help="Id of the business.")]
Provider = Annotated[str, typer.Argument(help="Name of the provider, such as paystack.")]


def commands() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(no_args_is_help=True, help="The payment providers of a business.")
    group.command("list")(list_all)
    group.command()(connect)
    group.command()(check)
    group.command()(select)
    group.command()(disconnect)
    return group


def list_all(business: Business, *, data: Data = None, as_json: AsJson = False) -> None:
    """List the payment providers that a business has, or could have, in its live environment."""
    business_id = BusinessId(given.id_of("BUSINESS", business))

    async def work(services: Services) -> list[ProviderShown]:
        book = await _live(services, business_id)
        async with services.pool.reading() as db:
            return await actions.list_all(_call(services, db, business_id, book))

    found = run(work, data)
    rows = [(p.provider, p.status, p.selected, p.hint, p.hook_url) for p in found]
    shown = table(("Provider", "Status", "Selected", "Ends in", "Hook"), rows)
    print_result({"providers": found}, as_json=as_json, shown=shown)


def connect(
    business: Business,
    provider: Provider,
    *,
    check: Annotated[bool, typer.Option(help="Ask the provider whether they are good.")] = True,
    selected: Annotated[bool, typer.Option(help="Collect new payments by it.")] = True,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Connect a payment provider, with secrets from a pipe (`name=value` lines) or a prompt."""
    business_id, name = BusinessId(given.id_of("BUSINESS", business)), _name(provider)
    secrets = _secrets(vendors.provider(name).secret_names if name in vendors.VENDORS else ())
    change = ProviderChange(provider=name, secrets=secrets, selected=selected, check=check)
    found = _changed(business_id, change, data)
    shown = f"{name} is connected. Let it call {found.hook_url}"
    print_result({"provider": found}, as_json=as_json, shown=shown)


def check(
    business: Business, provider: Provider, *, data: Data = None, as_json: AsJson = False
) -> None:
    """Ask a connected payment provider whether its secrets are still good."""
    change = ProviderChange(provider=_name(provider), check=True)
    _tell_changed(business, change, data=data, as_json=as_json)


def select(
    business: Business,
    provider: Provider,
    *,
    off: Annotated[bool, typer.Option("--off", help="Collect nothing new by it.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Collect new payments by a provider that is connected, or with --off no longer."""
    change = ProviderChange(provider=_name(provider), selected=not off)
    _tell_changed(business, change, data=data, as_json=as_json)


def disconnect(
    business: Business, provider: Provider, *, data: Data = None, as_json: AsJson = False
) -> None:
    """Forget the secrets of a payment provider; what it tells from then on is refused."""
    change = ProviderChange(provider=_name(provider), secrets=None, selected=False)
    _tell_changed(business, change, data=data, as_json=as_json)


def _tell_changed(business: str, change: ProviderChange, *, data: Data, as_json: bool) -> None:
    found = _changed(BusinessId(given.id_of("BUSINESS", business)), change, data)
    selected = "selected" if found.selected else "not selected"
    shown = f"{change.provider} is {found.status}, and {selected}."
    print_result({"provider": found}, as_json=as_json, shown=shown)


def _changed(business_id: BusinessId, change: ProviderChange, data: Data) -> ProviderShown:
    async def work(services: Services) -> ProviderShown:
        book = await _live(services, business_id)
        async with services.pool.transaction() as db:
            return await actions.change(_call(services, db, business_id, book), change)

    return run(work, data)


def _call(services: Services, db: Db, business_id: BusinessId, book: Book) -> Call:
    return Call(
        db=db,
        services=services,
        now=now(),
        request_id="",
        ip=COMMAND_LINE.ip,
        business_id=business_id,
        book=book,
        caller=SystemCaller(COMMAND_LINE.name),
    )


async def _live(services: Services, business_id: BusinessId) -> Book:
    async with services.pool.reading() as db:
        return Book((await books_of(db, business_id)).live, "live")


def _name(provider: str) -> ProviderName:
    if provider not in get_args(ProviderName):
        known = ", ".join(get_args(ProviderName))
        raise typer.BadParameter(f"PROVIDER must be one of {known}")
    return cast("ProviderName", provider)


def _secrets(names: Sequence[str]) -> dict[str, Credential]:
    """Those of a pipe, or asked for; never from the command line itself."""
    if sys.stdin.isatty():
        console = stderr_console()
        texts = {name: console.input(f"{name}: ", password=True) for name in names}
    else:
        lines = (line.strip() for line in sys.stdin if line.strip())
        texts = {name: value for name, _, value in (line.partition("=") for line in lines)}
    return {name: given.value(Credential, name, text) for name, text in texts.items()}
