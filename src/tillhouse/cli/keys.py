"""`tillhouse keys`: API keys, and the master key that wraps their data keys."""

from typing import Annotated

import typer

from tillhouse.access import audit
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.process import Services
from tillhouse.cli import given
from tillhouse.cli.books import books_of
from tillhouse.cli.output import (
    AsJson,
    CommandError,
    Data,
    print_result,
    stderr_console,
    table,
)
from tillhouse.cli.running import run
from tillhouse.db.pool import Db
from tillhouse.developer.store import keys as store
from tillhouse.developer.types import Key
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey, BusinessId, KeyId

Business = Annotated[str, typer.Argument(help="Id of the business.")]


def commands() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(no_args_is_help=True, help="API keys and the master key.")
    group.command("list")(list_all)
    group.command()(revoke)
    group.command()(rewrap)
    return group


def list_all(business: Business, *, data: Data = None, as_json: AsJson = False) -> None:
    """List the API keys of a business."""
    business_id = BusinessId(given.id_of("BUSINESS", business))

    async def work(services: Services) -> list[Key]:
        async with services.pool.reading() as db:
            books = await books_of(db, business_id)
            return await store.list_keys(db, books.all(), None, now())

    found = run(work, data)
    rows = [(k.id, k.name, k.environment, k.status, k.secret_prefix, k.last_used_at) for k in found]
    shown = table(("Id", "Name", "Environment", "Status", "Begins with", "Last used"), rows)
    print_result({"keys": found}, as_json=as_json, shown=shown)


def revoke(
    business: Business,
    key: Annotated[str, typer.Argument(help="Id of the API key.")],
    *,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Revoke an API key at once."""
    business_id = BusinessId(given.id_of("BUSINESS", business))
    key_id = KeyId(given.id_of("KEY", key))

    async def work(services: Services) -> None:
        async with services.pool.transaction() as db:
            books = await books_of(db, business_id)
            row = await store.lock_key(db, books.all(), key_id)
            if row is None:
                raise CommandError(f"The business has no API key {key_id}: see `keys list`.")
            if row["revoked_at"] is not None:
                return
            moment = now()
            await store.revoke_key(db, BookKey(row["book_id"], key_id), moment)
            what = ("api_key.revoked", f"API key {row['name']}: revoked")
            metadata = {"environment": row["environment"], "name": row["name"]}
            await audit.append(
                db, business_id, COMMAND_LINE, what, metadata, moment, about_key=key_id
            )

    run(work, data)
    result = {"businessId": business_id, "keyId": key_id, "status": "revoked"}
    print_result(result, as_json=as_json, shown="The API key is revoked.")


def rewrap(*, data: Data = None, as_json: AsJson = False) -> None:
    """Wrap every data key under the newest master key; older ones are then needed no more."""

    async def work(services: Services) -> tuple[int, int]:
        version = services.vault.master_version

        async def note(db: Db, business_id: BusinessId) -> None:
            what = ("business.data_key_rewrapped", f"Data key under master key {version}")
            metadata = {"masterVersion": version}
            await audit.append(db, business_id, COMMAND_LINE, what, metadata, now())

        with stderr_console().status("Wrapping data keys …"):
            return version, await services.vault.rewrap(services.pool, note)

    version, count = run(work, data)
    shown = f"{count} data keys are under master key {version} now; older ones can go."
    print_result({"masterVersion": version, "rewrapped": count}, as_json=as_json, shown=shown)
