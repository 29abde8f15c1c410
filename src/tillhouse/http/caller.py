"""The caller: an API key or a logged-in person, checked against the route's guard."""

from typing import assert_never

from tillhouse.access import rules
from tillhouse.access.callers import Book, UserCaller
from tillhouse.access.people import person_by_claims
from tillhouse.access.process import Services
from tillhouse.access.scopes import MANAGE_DEVELOPER_KEYS
from tillhouse.http.exchange import Exchange
from tillhouse.http.route import Guard, Open, Portal, Scope, Session
from tillhouse.kit.errors import Forbidden, Invalid, Unauthenticated
from tillhouse.kit.secrets import Environment, digest, parse_api_key

# Methods that change nothing.
READS = ("GET", "HEAD")
_BEARER = "bearer "
_KEY_MARK = "thsk_"
_ENVIRONMENT = "Service-Environment"


async def admit(services: Services, guard: Guard, exchange: Exchange) -> Book | None:
    """Let the caller in or refuse; the book it acts in, None on open routes."""
    match guard:
        case Open():
            return None
        case Scope():
            return await _admit_to_scope(services, guard, exchange)
        case Portal() | Session():
            user = await _user(services, exchange)
            check_person(user, guard)
            if guard.step_up:
                rules.check_step_up(user, exchange.now)
            return Book(user.books.live, "live")
        case _:
            assert_never(guard)


def check_person(person: UserCaller, guard: Guard) -> None:
    """Refuse a person without the right to this operation, a step-up aside."""
    if not (isinstance(guard, Open) or (isinstance(guard, Session) and guard.before_factor)):
        rules.check_factor(person)
    match guard:
        case Open():
            pass
        case Scope():
            if guard.keys_only:
                raise Forbidden("This answers about an API key: call it with one.")
            if person.role not in guard.roles:
                rules.check_scope(person.scopes, guard.name)
        case Portal():
            rules.check_permission(person, MANAGE_DEVELOPER_KEYS)
            rules.check_subscription(person)
        case Session():
            if guard.permission is not None:
                rules.check_permission(person, guard.permission)
        case _:
            assert_never(guard)


async def _admit_to_scope(services: Services, guard: Scope, exchange: Exchange) -> Book:
    if exchange.signed_in is None and (token := _token(exchange)).startswith(_KEY_MARK):
        return await _admit_key(services, guard, exchange, token)
    user = await _user(services, exchange)
    check_person(user, guard)
    environment = _named_environment(exchange)
    if environment is None:
        if exchange.method not in READS:
            # A sale that was meant as a test would count, and the other way round.
            raise Invalid.field(_ENVIRONMENT, "is required: test or live")
        environment = "live"
    return Book(user.books.of(environment), environment)


async def _admit_key(services: Services, guard: Scope, exchange: Exchange, secret: str) -> Book:
    if parse_api_key(secret) is None:
        raise Unauthenticated("This API key is incomplete or mistyped: copy all of it again.")
    check = await services.key_checker.check(digest(services.vault.pepper, secret))
    caller = check.caller
    if caller is None:
        raise Unauthenticated("This API key is unknown, revoked or expired.")
    exchange.caller = caller
    exchange.allowance = check.allowance
    rules.check_address(caller, exchange.address)
    rules.check_origin(caller, exchange.header(b"origin"))
    rules.check_rate(check.allowance)
    rules.check_scope(caller.scopes, guard.name)
    own = caller.book.environment
    if _named_environment(exchange) not in (None, own):
        # A caller that means a test must not sell in the live book.
        raise Invalid.field(_ENVIRONMENT, f"is not that of this key: it acts in {own}")
    return caller.book


def _named_environment(exchange: Exchange) -> Environment | None:
    """The environment that the header names."""
    if b"service-environment" in exchange.repeated:
        raise Invalid.field(_ENVIRONMENT, "is given twice; send one")
    match exchange.header(b"service-environment"):
        case None | "":
            return None
        case "test" | "live" as environment:
            return environment
        case _:
            raise Invalid.field(_ENVIRONMENT, "must be test or live")


async def _user(services: Services, exchange: Exchange) -> UserCaller:
    person = exchange.signed_in
    if person is None:
        token = _token(exchange)
        if token.startswith(_KEY_MARK):
            raise Unauthenticated(
                "This path takes the access token of a login, not an API key: POST /api/auth/login."
            )
        person = await person_by_claims(services, services.tokens.read(token), exchange.now)
        if person is None:
            raise Unauthenticated("This session has ended: log in again.")
    exchange.caller = person
    return person


def _token(exchange: Exchange) -> str:
    if b"authorization" in exchange.repeated:
        raise Unauthenticated("The Authorization header is given twice: send one credential.")
    value = exchange.header(b"authorization") or ""
    if value[: len(_BEARER)].lower() != _BEARER:
        raise Unauthenticated
    return value[len(_BEARER) :].strip()
