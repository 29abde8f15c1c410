"""`tillhouse user`: the people of a business, and their passwords."""

from typing import Annotated, Any
from uuid import UUID

import typer

from tillhouse.access import audit
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.process import Services
from tillhouse.access.scopes import Role
from tillhouse.access.store import sessions
from tillhouse.accounts import store
from tillhouse.accounts.forgotten.actions import make_link
from tillhouse.accounts.forgotten.rules import LINK_LASTS
from tillhouse.accounts.members.actions import end_what_stands
from tillhouse.accounts.members.rules import is_last_owner_lost, is_lowered
from tillhouse.accounts.notices import note_of_person, queue_notice
from tillhouse.accounts.second_factor.actions import turn_off_for
from tillhouse.cli import given
from tillhouse.cli.output import AsJson, CommandError, Data, NoBusiness, print_result, table
from tillhouse.cli.running import run
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import BusinessId, UserId, new_id
from tillhouse.kit.values import Email, Name, NewPassword
from tillhouse.stores.store import show_staff

Business = Annotated[str, typer.Argument(help="Id of the business.")]
Address = Annotated[str, typer.Argument(help="The person's e-mail address.")]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read it from a pipe.")]
AsRole = Annotated[Role, typer.Option(help="What the person may do.")]


def commands() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(no_args_is_help=True, help="The people of a business.")
    group.command("list")(list_all)
    group.command()(add)
    group.command()(role)
    group.command()(password)
    group.command("password-link")(password_link)
    group.command("second-factor-off")(second_factor_off)
    return group


def list_all(business: Business, *, data: Data = None, as_json: AsJson = False) -> None:
    """List the people of a business."""
    business_id = BusinessId(given.id_of("BUSINESS", business))

    async def work(services: Services) -> list[dict[str, Any]]:
        async with services.pool.reading() as db:
            return [dict(row) for row in await store.list_members(db, business_id)]

    found = run(work, data)
    if not found:
        raise NoBusiness(business_id)
    rows = [(u["email"], u["name"], u["role"], u["joined_at"]) for u in found]
    shown = table(("E-mail", "Name", "Role", "Joined"), rows)
    print_result({"users": found}, as_json=as_json, shown=shown)


def add(  # noqa: PLR0913 - one argument an option
    business: Business,
    email: Address,
    *,
    role: AsRole,
    name: Annotated[str | None, typer.Option(help="Name of a new person.")] = None,
    password_stdin: FromStdin = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Add a person to a business; with --name a new one, who gets a password."""
    business_id = BusinessId(given.id_of("BUSINESS", business))
    address = given.value(Email, "The e-mail address", email)
    new_name = given.value(Name, "The name", name) if name is not None else None
    secret = None
    if new_name is not None:
        secret = given.new_password((address, new_name), from_stdin=password_stdin)

    async def work(services: Services) -> UUID:
        async with services.pool.transaction() as db:
            if not await store.lock_business(db, business_id):
                raise NoBusiness(business_id)
            user_id = await _person(services, db, address, new_name, secret)
            if await show_staff(db, business_id, UserId(user_id)):
                raise CommandError(f"{address} belongs to the business: use `user role`.")
            await store.upsert_member(db, business_id, UserId(user_id), role, moment := now())
            metadata = {"userId": str(user_id), "role": role}
            what = ("member.added", f"Added {address} as {role}")
            await audit.append(db, business_id, COMMAND_LINE, what, metadata, moment)
        return user_id

    user_id = run(work, data)
    result = {"businessId": business_id, "userId": user_id, "role": role}
    print_result(result, as_json=as_json, shown=f"{address} is {role} now.")


def role(
    business: Business,
    email: Address,
    role: AsRole,
    *,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Change what a person may do in a business; with a lower role their sessions end."""
    business_id = BusinessId(given.id_of("BUSINESS", business))
    address = given.value(Email, "The e-mail address", email)

    async def work(services: Services) -> tuple[UUID, int]:
        declared = services.declared
        async with services.pool.transaction() as db:
            await store.lock_business(db, business_id)
            member = await store.lock_member(db, business_id, address)
            if member is None:
                raise CommandError(f"{address} is not in this business: use `user add`.")
            if is_last_owner_lost(member["role"], role, member["owners"]):
                raise CommandError("A business needs an owner: make another one first.")
            before = member["role"]
            await store.upsert_member(db, business_id, member["id"], role, moment := now())
            ended = 0
            if is_lowered(before, role, declared.roles, declared.scopes):
                ended = await end_what_stands(db, business_id, member["id"], moment)
            more = {"role": role, "before": before, "endedSessions": ended}
            what = ("member.role_changed", f"Made {address} {role}")
            metadata = {"userId": str(member["id"]), **more}
            await audit.append(db, business_id, COMMAND_LINE, what, metadata, moment)
        return member["id"], ended

    user_id, ended = run(work, data)
    result = {"businessId": business_id, "userId": user_id, "role": role, "endedSessions": ended}
    shown = f"{address} is {role} now." + (f" Sessions ended: {ended}." if ended else "")
    print_result(result, as_json=as_json, shown=shown)


def password(
    email: Address,
    *,
    password_stdin: FromStdin = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Set a person's password and end all of their sessions."""
    address = given.value(Email, "The e-mail address", email)
    secret = given.new_password((address,), from_stdin=password_stdin)

    async def work(services: Services) -> UUID:
        hashed = await services.passwords.hash(secret)
        async with services.pool.transaction() as db:
            user_id = await store.find_user_id(db, address)
            if user_id is None:
                raise CommandError(f"Nobody is registered as {address}: use `user add`.")
            moment = now()
            await sessions.update_password(db, UserId(user_id), hashed, moment)
            await sessions.end_other_sessions(db, UserId(user_id), None, moment)
            what = ("user.password_changed", f"Set the password of {address}")
            await note_of_person(db, UserId(user_id), COMMAND_LINE, what, moment)
            await queue_notice(db, user_id, moment)
        return user_id

    user_id = run(work, data)
    shown = f"The password of {address} is set; its sessions have ended."
    print_result({"userId": user_id}, as_json=as_json, shown=shown)


def password_link(email: Address, *, data: Data = None, as_json: AsJson = False) -> None:
    """Print a link by which a person sets a new password: good for 30 minutes, and once."""
    address = given.value(Email, "The e-mail address", email)

    async def work(services: Services) -> dict[str, Any]:
        moment = now()
        async with services.pool.transaction() as db:
            made = await make_link(services, db, address, moment)
            if made is None:
                raise CommandError(f"Nobody is registered as {address}: use `user add`.")
        user_id, token = made
        url = f"{services.settings.public_url}/desk/reset/{token}"
        return {"userId": user_id, "url": url, "expiresAt": iso(moment + LINK_LASTS)}

    result = run(work, data)
    shown = f"For {address}, once, until {result['expiresAt']}:\n{result['url']}"
    print_result(result, as_json=as_json, shown=shown)


def second_factor_off(email: Address, *, data: Data = None, as_json: AsJson = False) -> None:
    """Turn off the second factor of a person who lost it; the password alone logs in then."""
    address = given.value(Email, "The e-mail address", email)

    async def work(services: Services) -> tuple[UUID, bool]:
        async with services.pool.transaction() as db:
            user_id = await store.find_user_id(db, address)
            if user_id is None:
                raise CommandError(f"Nobody is registered as {address}: use `user add`.")
            whose = UserId(user_id)
            return user_id, await turn_off_for(db, whose, address, COMMAND_LINE, now())

    user_id, was_on = run(work, data)
    shown = f"The second factor of {address} is off." if was_on else f"{address} has none on."
    print_result({"userId": user_id, "wasOn": was_on}, as_json=as_json, shown=shown)


async def _person(
    services: Services, db: Db, address: Email, name: Name | None, secret: NewPassword | None
) -> UUID:
    """The person with this address, or a new one of this name."""
    await store.lock_email(db, address)
    known = await store.find_user_id(db, address)
    if known is not None and name is not None:
        raise CommandError(f"{address} is registered already: add them without --name.")
    if known is not None:
        return known
    if name is None or secret is None:
        raise CommandError(f"Nobody is registered as {address}: give a --name to add them.")
    user_id = UserId(new_id())
    hashed = await services.passwords.hash(secret)
    await store.insert_user(db, user_id, address, name, hashed, now())
    return user_id
