"""Register, log in, go on, prove the password, change business, log out."""

from datetime import datetime, timedelta

import msgspec
from asyncpg import Record

from tillhouse.access import attempts, audit
from tillhouse.access.attempt_rules import network_of
from tillhouse.access.call import AnonymousCall, Call
from tillhouse.access.process import Services
from tillhouse.access.rules import STEP_UP_LASTS
from tillhouse.access.store import audit as audit_store
from tillhouse.access.store import sessions
from tillhouse.access.tokens import LIFETIME, Claims
from tillhouse.accounts import store
from tillhouse.accounts.types import (
    AccessToken,
    BusinessChoice,
    Credentials,
    Ended,
    Me,
    NewAccount,
    PasswordProof,
    RefreshToken,
    Tokens,
    Verified,
)
from tillhouse.db.pool import Db
from tillhouse.developer.actions.apps import open_default_apps
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Forbidden, Missing, Unauthenticated
from tillhouse.kit.ids import BookId, BusinessId, UserId, new_id
from tillhouse.kit.secrets import digest, new_token, same
from tillhouse.messaging.actions.numbers import open_sandbox

TRIAL = timedelta(days=14)
SESSION_LASTS = timedelta(days=30)
# A client whose refresh was answered but lost may use the old token once more, briefly.
REFRESH_GRACE = timedelta(seconds=30)

DEFAULT_CURRENCY = "USD"
DEFAULT_TIME_ZONE = "UTC"
DEFAULT_COUNTRY = "US"

_WRONG = "The e-mail address or the password is wrong."


class Opened(msgspec.Struct, frozen=True):
    """The ids of what a registration made."""

    user_id: UserId
    business_id: BusinessId
    test_book_id: BookId
    live_book_id: BookId


async def register(call: AnonymousCall, new: NewAccount) -> Tokens:
    """Open a business with its owner, and log the owner in."""
    registration = await attempts.let_register(call.services, call.ip, new.email)
    hashed = await call.services.passwords.hash(new.password, registration.asker)
    await attempts.count_registration(call.services, registration)
    opened = await open_business(call.services, call.db, new, hashed, call.now)
    who = audit.Actor(new.name, call.ip, user_id=opened.user_id)
    await audit.append(
        call.db, opened.business_id, who, ("business.registered", f"Opened {new.business_name}"),
        {"type": new.business_type, "name": new.business_name}, call.now,
    )  # fmt: skip
    return await _open_session(call, opened.user_id, opened.business_id)


async def open_business(
    services: Services, db: Db, new: NewAccount, password_hash: str, now: datetime
) -> Opened:
    """Write the owner, the business, both books and their default apps."""
    opened = Opened(UserId(new_id()), BusinessId(new_id()), BookId(new_id()), BookId(new_id()))
    await store.insert_user(db, opened.user_id, new.email, new.name, password_hash, now)
    await store.insert_business(
        db,
        store.BusinessRow(
            id=opened.business_id,
            test_book_id=opened.test_book_id,
            live_book_id=opened.live_book_id,
            owner_id=opened.user_id,
            name=new.business_name,
            type=new.business_type,
            currency=new.currency or DEFAULT_CURRENCY,
            time_zone=new.time_zone or DEFAULT_TIME_ZONE,
            country=new.country or DEFAULT_COUNTRY,
            master_version=services.vault.master_version,
            wrapped_data_key=services.vault.new_data_key(opened.business_id),
            created_at=now,
            trial_ends_at=now + TRIAL,
        ),
    )
    await audit_store.open_chain(db, opened.business_id)
    books = [opened.test_book_id, opened.live_book_id]
    await open_default_apps(services, db, opened.business_id, books, now)
    await open_sandbox(db, opened.test_book_id, now)
    return opened


async def log_in(call: AnonymousCall, given: Credentials) -> Tokens:
    """Open a session for the right password; a wrong one and no account read alike."""
    # Hashing takes long: no connection is held meanwhile.
    async with call.services.pool.reading() as db:
        user = await sessions.find_user_by_email(db, given.email)
    user_id, hashed = (user["id"], user["password_hash"]) if user else (None, None)
    attempt = await attempts.let_in(call.services, call.ip, given.email, user_id)
    is_right = await attempts.is_right(call.services, attempt, hashed, given.password)
    if user is None or not is_right:
        raise Unauthenticated(_WRONG)
    await attempts.clear(call.db, attempt)
    if user["business_id"] is None:
        raise Forbidden("You belong to no business any more: ask its owner to add you.")
    return await _open_session(call, user["id"], user["business_id"])


async def refresh(call: AnonymousCall, given: RefreshToken) -> Tokens:
    """Exchange a refresh token; one that was exchanged before ends the session."""
    used = digest(call.services.vault.pepper, given.refresh_token)
    row = await sessions.lock_session_by_refresh(call.db, used)
    if row is None or row["ended_at"] is not None or row["expires_at"] <= call.now:
        raise Unauthenticated("This session has ended: log in again.")
    if not same(row["refresh_digest"], used):
        return await _refresh_again(call, row)
    new = new_token("thrt_")
    digests = (digest(call.services.vault.pepper, new), used)
    await sessions.update_refresh(call.db, row["id"], digests, call.now, call.now + SESSION_LASTS)
    return _tokens(call, Claims(row["user_id"], row["id"], row["business_id"]), new)


async def _refresh_again(call: AnonymousCall, row: Record) -> Tokens:
    """An exchanged token came back: soon after, its answer was lost; later, it was stolen."""
    if call.now - row["refreshed_at"] <= REFRESH_GRACE:
        return await _open_session(call, row["user_id"], row["business_id"])
    # The refusal rolls this request back, so the end of the session is a transaction of its own.
    await call.db.rollback()
    async with call.services.pool.transaction() as db:
        await sessions.end_session(db, row["id"], call.now)
    raise Unauthenticated("This refresh token was used before: log in again.")


async def log_out(call: Call) -> Ended:
    """End this session at once."""
    await sessions.end_session(call.db, call.user.session_id, call.now)
    return Ended(call.user.session_id)


async def verify_password(call: Call, given: PasswordProof) -> Verified:
    """Step up: the password, given again, opens what needs it for a quarter of an hour."""
    user = call.user
    async with call.services.pool.reading() as db:
        hashed = await sessions.find_password_hash(db, user.user_id)
    attempt = await attempts.let_in(call.services, call.ip, user.email, user.user_id)
    if not await attempts.is_right(call.services, attempt, hashed, given.password):
        raise Forbidden("The password is wrong.")
    await attempts.clear(call.db, attempt)
    await sessions.update_password_verified(call.db, user.session_id, call.now)
    return Verified(iso(call.now + STEP_UP_LASTS))


async def switch(call: Call, choice: BusinessChoice) -> AccessToken:
    """Go on in another business of the same person."""
    if not await store.is_member(call.db, choice.business_id, call.user.user_id):
        raise Missing("You belong to no such business.")
    user = call.user
    await sessions.update_session_business(call.db, user.session_id, choice.business_id)
    claims = Claims(user.user_id, user.session_id, choice.business_id)
    token = call.services.tokens.sign(claims, call.now)
    return AccessToken(token, int(LIFETIME.total_seconds()), choice.business_id)


async def me(call: Call) -> Me:
    """The person who is logged in, and the business."""
    user = call.user
    return Me(
        user.user_id,
        user.name,
        user.email,
        user.business_id,
        user.role,
        sorted(user.permissions),
        await store.list_memberships(call.db, user.user_id),
    )


async def _open_session(call: AnonymousCall, user_id: UserId, business_id: BusinessId) -> Tokens:
    token = new_token("thrt_")
    claims = Claims(user_id, new_id(), business_id)
    await sessions.insert_session(
        call.db,
        claims.session_id,
        (user_id, business_id),
        digest(call.services.vault.pepper, token),
        (call.now, call.now + SESSION_LASTS),
        (call.ip, network_of(call.ip)),
    )
    return _tokens(call, claims, token)


def _tokens(call: AnonymousCall, claims: Claims, refresh_token: str) -> Tokens:
    return Tokens(
        call.services.tokens.sign(claims, call.now),
        refresh_token,
        int(LIFETIME.total_seconds()),
        claims.business_id,
        claims.user_id,
    )
