"""`tillhouse demo`: a business to try things with, and the keys to it, told again at will."""

import base64
from datetime import datetime
from typing import Annotated, Any, cast
from uuid import UUID

import msgspec
import typer

from tillhouse.access import audit
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, UserCaller
from tillhouse.access.people import give_opening
from tillhouse.access.process import Services
from tillhouse.access.scopes import PERMISSIONS
from tillhouse.access.store import sessions
from tillhouse.accounts import actions, store
from tillhouse.accounts.types import NewAccount
from tillhouse.cli import installation as grounds
from tillhouse.cli.books import books_of
from tillhouse.cli.demo_orders import ORDERS_MAX, Filled, record_orders
from tillhouse.cli.kept_backups import keep_before_migration
from tillhouse.cli.output import AsJson, CommandError, Data, print_result, stderr_console
from tillhouse.cli.running import ended_by_signals
from tillhouse.cli.servers import address_of, tell_database
from tillhouse.cli.stopping import run_until_told
from tillhouse.db.pool import Db
from tillhouse.developer.actions import keys
from tillhouse.developer.types import (
    Environment,
    Key,
    NewKey,
    NewWithdrawalPolicy,
    ScopeName,
)
from tillhouse.kit.clock import now
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BusinessId, KeyId, UserId, new_id
from tillhouse.kit.money import Amount
from tillhouse.kit.values import (
    CidrRange,
    CountryCode,
    CurrencyCode,
    Email,
    Name,
    NewPassword,
    ZoneName,
)
from tillhouse.webhooks.emit import Source
from tillhouse.webhooks.types import AppFilter

EMAIL = Email("demo@tillhouse.example")
KEY_NAME = Name("Demo key")
_PASSWORD_LENGTH = 20
# A live key that moves money needs addresses: this machine's and those of private networks.
_RANGES = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1", "fc00::/7")
_MOST_PER_DAY = Amount(1_000_000)
_MOST_AT_ONCE = Amount(100_000)


class Demo(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The demo business and its credentials."""

    base_url: str
    business_id: BusinessId
    email: str
    password: str
    test_key: str
    live_key: str
    # The address that opens the business in a browser of this machine: once, within ten minutes.
    desk_url: str
    is_password_reset: bool = False


class FilledDemo(Demo, frozen=True, kw_only=True):
    """The demo business with the orders that were asked for."""

    filled: Filled


def demo(
    *,
    orders: Annotated[
        int,
        typer.Option(
            min=0, help=f"Record so many demo orders in the test book, at most {ORDERS_MAX:,}."
        ),
    ] = 0,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make the demo business, or find it again, and tell its password and keys."""
    if orders > ORDERS_MAX:
        raise CommandError(
            f"--orders takes at most {ORDERS_MAX:,}: fill a larger book from a checkout, with "
            f"`python -m bench fill --orders {orders}`."
        )
    settings = grounds.settings_with(data=data)

    async def make(installation: grounds.Installation) -> Demo:
        async def keep() -> None:
            await keep_before_migration(installation)

        async with grounds.open_services(installation, lambda _: None, keep) as services:
            made = await ensure(services)
            status.stop()
            return await _filled(services, made, orders) if orders else made

    opening = stderr_console().status("Opening the demo business …")
    with (
        ended_by_signals() as stop,
        opening as status,
        grounds.running_database(settings, stop) as installation,
    ):
        tell_database(installation)
        made = run_until_told(make(installation), stop)
        if (address := address_of(installation)) is not None:
            made = msgspec.structs.replace(made, base_url=address)
    print_result(made, as_json=as_json, shown=card(made))


async def _filled(services: Services, made: Demo, orders: int) -> FilledDemo:
    """The demo business with so many orders in its test book."""
    async with services.pool.reading() as db:
        found = await store.list_books(db, made.business_id)
    books = {row["environment"]: row["id"] for row in found}
    origin = Source(made.business_id, Book(books["test"], "test"))
    filled = await record_orders(services, origin, orders)
    return FilledDemo(**msgspec.structs.asdict(made), filled=filled)


def card(made: Demo) -> str:
    """The demo business as people read it, and copy from it: nothing is cut to fit."""
    again = " (set again)" if made.is_password_reset else ""
    filled = ""
    if isinstance(made, FilledDemo):
        orders, added = made.filled.orders, made.filled.added
        filled = f"\nTest book: {orders:,} demo orders, {added:,} of them recorded just now"
    return (
        f"Open it in a browser: {made.desk_url}\n"
        f"Login: {made.email} with the password {made.password}{again}\n"
        f"Test key: {made.test_key}\n"
        f"Live key: {made.live_key}"
        f"{filled}"
    )


async def ensure(services: Services) -> Demo:
    """Find the demo business or make it, in one transaction: two at once make one."""
    password = base64.b32encode(services.vault.derive("demo password")).decode().lower()
    password = password[:_PASSWORD_LENGTH]
    moment = now()
    async with services.pool.transaction() as db:
        await store.lock_email(db, EMAIL)
        user = await sessions.find_user_by_email(db, EMAIL)
        is_reset = False
        if user is None:
            user_id, business_id = await _open(services, db, password, moment)
        elif user["business_id"] is None:
            raise CommandError(f"{EMAIL} belongs to no business: add it to one as owner.")
        else:
            user_id, business_id = user["id"], user["business_id"]
            is_reset = not await services.passwords.verify(user["password_hash"], password)
            if is_reset:
                await _reset_password(services, db, (user_id, business_id), password, moment)
        owner = UserId(user_id), BusinessId(business_id)
        call = await owner_call(services, db, owner[1], moment)
        return Demo(
            base_url=services.settings.public_url,
            business_id=BusinessId(business_id),
            email=EMAIL,
            password=password,
            test_key=await _secret(call, "test"),
            live_key=await _secret(call, "live"),
            desk_url=await _desk_url(call, owner),
            is_password_reset=is_reset,
        )


async def _open(services: Services, db: Db, password: str, moment: datetime) -> tuple[UUID, UUID]:
    new = NewAccount(
        name=Name("Demo Owner"),
        email=EMAIL,
        password=NewPassword(password),
        business_name=Name("Tillhouse Demo"),
        business_type="restaurant",
        currency=CurrencyCode("NGN"),
        time_zone=ZoneName("Africa/Lagos"),
        country=CountryCode("NG"),
    )
    hashed = await services.passwords.hash(new.password)
    opened = await actions.open_business(services, db, new, hashed, moment)
    # A trial would end; a demo is for as long as the installation is.
    await store.update_subscription(db, opened.business_id, "active", None, moment, api_access=True)
    what = ("business.registered", f"Opened {new.business_name}")
    metadata = {"type": new.business_type, "name": new.business_name}
    await audit.append(db, opened.business_id, COMMAND_LINE, what, metadata, moment)
    return opened.user_id, opened.business_id


async def _reset_password(
    services: Services, db: Db, whose: tuple[UUID, UUID], password: str, moment: datetime
) -> None:
    user_id, business_id = whose
    hashed = await services.passwords.hash(password)
    await sessions.update_password(db, UserId(user_id), hashed, moment)
    await sessions.end_other_sessions(db, UserId(user_id), None, moment)
    what = ("user.password_changed", f"Reset the password of {EMAIL}")
    await audit.append(
        db, BusinessId(business_id), COMMAND_LINE, what, {"userId": str(user_id)}, moment
    )


async def owner_call(services: Services, db: Db, business_id: BusinessId, moment: datetime) -> Call:
    """An owner as a caller who has just given the password."""
    books = await books_of(db, business_id)
    members = await store.list_members(db, business_id)
    owner = next(member for member in members if member["role"] == "owner")
    caller = UserCaller(
        user_id=owner["id"],
        session_id=new_id(),
        business_id=business_id,
        books=books,
        name=COMMAND_LINE.name,
        email=owner["email"],
        role="owner",
        permissions=PERMISSIONS["owner"],
        scopes=services.declared.roles["owner"],
        password_verified_at=moment,
        subscription_fault=None,
    )
    return Call(
        db=db,
        services=services,
        now=moment,
        request_id=str(new_id()),
        ip=COMMAND_LINE.ip,
        business_id=business_id,
        book=Book(books.live, "live"),
        caller=caller,
    )


async def _desk_url(call: Call, owner: tuple[UserId, BusinessId]) -> str:
    """The address of a new session of the owner, for one browser."""
    found = existing(await sessions.find_user_by_email(call.db, EMAIL))
    tokens = await actions.open_session(call, owner, found["password_changed_at"])
    session_id = call.services.tokens.read(tokens.access_token).session_id
    secret = existing(await give_opening(call.services, call.db, session_id, call.now))
    return f"{call.services.settings.public_url}/desk/open/{secret}"


async def _secret(call: Call, environment: Environment) -> str:
    """The secret of the environment's demo key; one that was revoked or is poor is replaced."""
    every = {scope.name for scope in call.services.declared.scopes}

    def fits(key: Key) -> bool:
        return (key.name, key.environment, key.status) == (
            KEY_NAME,
            environment,
            "active",
        ) and every <= set(key.scopes)

    key = next(filter(fits, await keys.list_all(call, AppFilter())), None)
    if key is not None:
        return (await keys.view_secret(call, KeyId(key.id))).secret
    business = next(b for b in await store.list_memberships(call.db, call.user.user_id)
                    if b.id == call.business_id)  # fmt: skip
    new = NewKey(
        name=KEY_NAME,
        environment=environment,
        scopes=[ScopeName(name) for name in sorted(every)],
        withdrawal_policy=NewWithdrawalPolicy(
            max_per_transaction=_MOST_AT_ONCE,
            max_per_day=_MOST_PER_DAY,
            currency=CurrencyCode(business.currency),
        ),
        **_only_from(environment),
    )
    return cast(str, (await keys.create(call, new)).secret)


def _only_from(environment: Environment) -> dict[str, Any]:
    if environment == "test":
        return {}
    return {"allowed_ip_ranges": [CidrRange.from_wire(text) for text in _RANGES]}
