"""Register, log in, go on, prove the password, change business, log out."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from tillhouse.access import attempts, audit
from tillhouse.access.attempt_rules import network_of
from tillhouse.access.call import AnonymousCall, Call
from tillhouse.access.process import Services
from tillhouse.access.rules import STEP_UP_LASTS
from tillhouse.access.store import audit as audit_store
from tillhouse.access.store import sessions
from tillhouse.access.tokens import LIFETIME, Claims
from tillhouse.accounts import rules, store
from tillhouse.accounts.notices import note_of_person, queue_notice
from tillhouse.accounts.second_factor import actions as second_factor
from tillhouse.accounts.types import (
    AccessToken,
    BusinessChoice,
    Credentials,
    Ended,
    Me,
    NewAccount,
    OthersEnded,
    PasswordChange,
    PasswordChanged,
    PasswordProof,
    RefreshToken,
    SessionShown,
    Tokens,
    Verified,
)
from tillhouse.db.pool import Db
from tillhouse.developer.actions.apps import open_default_apps
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Forbidden, Missing, Unauthenticated, check
from tillhouse.kit.ids import BookId, BusinessId, UserId, new_id
from tillhouse.kit.secrets import digest
from tillhouse.kit.values import GivenPassword
from tillhouse.messaging.actions.numbers import open_sandbox
from tillhouse.payouts.freezing.store import Freeze, upsert_frozen_of
from tillhouse.stores.store import show_staff
from tillhouse.voice.opening import open_sandbox as open_voice

SESSION_LASTS = timedelta(days=30)
# Of one person; the session that was refreshed longest ago makes room for the next.
SESSIONS_MAX = 200
_OLD_TOKEN_LENGTH_MAX = 64

DEFAULT_CURRENCY = "USD"
DEFAULT_TIME_ZONE = "UTC"
DEFAULT_COUNTRY = "US"

_WRONG_PASSWORD = "The password is wrong."  # noqa: S105 - what is said of one
_FREEZE = Freeze("the owner's password was changed", "Tillhouse")
_WRONG = "The e-mail address or the password is wrong."


class Opened(msgspec.Struct, frozen=True):
    """The ids of the rows that a registration made."""

    user_id: UserId
    business_id: BusinessId
    test_book_id: BookId
    live_book_id: BookId


async def register(call: AnonymousCall, new: NewAccount) -> Tokens:
    """Open a business with its owner, and log the owner in."""
    check(rules.password_faults("password", new.password, (new.email, new.name, new.business_name)))
    registration = await attempts.let_register(call.services, call.ip, new.email)
    hashed = await call.services.passwords.hash(new.password, registration.asker)
    await attempts.count_registration(call.services, registration)
    opened = await open_business(call.services, call.db, new, hashed, call.now)
    who = audit.Actor(new.name, call.ip, user_id=opened.user_id)
    await audit.append(
        call.db, opened.business_id, who, ("business.registered", f"Opened {new.business_name}"),
        {"type": new.business_type, "name": new.business_name}, call.now,
    )  # fmt: skip
    return await open_session(call, (opened.user_id, opened.business_id), call.now)


async def open_business(
    services: Services, db: Db, new: NewAccount, password_hash: str, now: datetime
) -> Opened:
    """Write the owner, the business, both books and their default apps."""
    trial = timedelta(days=services.settings.trial_days)
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
            subscription_status="trial" if trial else "active",
            trial_ends_at=now + trial if trial else None,
        ),
    )
    await audit_store.open_chain(db, opened.business_id)
    books = [opened.test_book_id, opened.live_book_id]
    await open_default_apps(services, db, opened.business_id, books, now)
    await open_sandbox(db, opened.test_book_id, now)
    await open_voice(db, opened.test_book_id, now)
    return opened


async def log_in(call: AnonymousCall, given: Credentials) -> Tokens:
    """Open a session for the right password; a wrong one and no account read alike.

    A code is looked at after a right password alone, so it tells nothing to a guesser.
    """
    # Hashing takes long: no connection is held meanwhile.
    async with call.services.pool.reading() as db:
        user = await sessions.find_user_by_email(db, given.email)
    user_id, hashed = (user["id"], user["password_hash"]) if user else (None, None)
    attempt = await attempts.let_in(call.services, call.ip, given.email, user_id)
    is_right = await attempts.is_right(call.services, attempt, hashed, given.password)
    if user is None or not is_right:
        raise Unauthenticated(_WRONG)
    code = await second_factor.judge(call, user["id"], user["factor"], given.code)
    await attempts.clear(call.db, attempt)
    await second_factor.use_up(call, code, user["name"])
    if user["business_id"] is None:
        raise Forbidden("You belong to no business any more: ask its owner to add you.")
    owner = (user["id"], user["business_id"])
    tokens = await open_session(call, owner, user["password_changed_at"])
    await second_factor.check_still_none(call, user["id"], code)
    return tokens


async def refresh(call: AnonymousCall, given: RefreshToken) -> Tokens:
    """Exchange a refresh token; one that was exchanged before ends the session."""
    used = await _used(call, given.refresh_token)
    row = used and await sessions.lock_session(call.db, used[0])
    if not used or row is None or row["ended_at"] is not None or row["expires_at"] <= call.now:
        raise Unauthenticated("This session has ended: log in again.")
    generation = rules.next_generation(
        used[1], row["refresh_generation"], call.now - row["refreshed_at"]
    )
    if generation is None:
        # The refusal rolls this request back, so the end is a transaction of its own.
        await call.db.rollback()
        async with call.services.pool.transaction() as db:
            await sessions.end_session(db, row["id"], call.now)
        raise Unauthenticated("This refresh token was used before: log in again.")
    if generation > row["refresh_generation"]:
        expires_at = call.now + SESSION_LASTS
        await sessions.update_refresh(call.db, row["id"], generation, call.now, expires_at)
    return _tokens(call, Claims(row["user_id"], row["id"], row["business_id"]), generation)


async def _used(call: AnonymousCall, token: str) -> tuple[UUID, int] | None:
    """The session and the generation of a refresh token."""
    if used := call.services.tokens.read_refresh(token):
        return used
    if len(token) > _OLD_TOKEN_LENGTH_MAX:
        return None
    old = await sessions.find_refresh_digest(call.db, digest(call.services.vault.pepper, token))
    return (old["id"], old["generation"]) if old else None


async def log_out(call: Call) -> Ended:
    """End this session at once."""
    await sessions.end_session(call.db, call.user.session_id, call.now)
    return Ended(call.user.session_id)


async def list_sessions(call: Call) -> list[SessionShown]:
    """The sessions of the person that stand, this one among them."""
    user = call.user
    rows = await sessions.list_sessions(call.db, user.user_id, call.now, SESSIONS_MAX)
    return [SessionShown(**row, is_current=row["id"] == user.session_id) for row in rows]


async def end_session(call: Call, login_session_id: UUID) -> Ended:
    """End one session of the person, this one perhaps."""
    if not await sessions.end_own_session(call.db, call.user.user_id, login_session_id, call.now):
        raise Missing
    return Ended(login_session_id)


async def end_other_sessions(call: Call) -> OthersEnded:
    """End all sessions of the person but this one."""
    user = call.user
    return OthersEnded(
        await sessions.end_other_sessions(call.db, user.user_id, user.session_id, call.now)
    )


async def verify_password(call: Call, given: PasswordProof) -> Verified:
    """Step up: the password, given again, opens the guarded operations for a quarter of an hour."""
    attempt, changed_at = await _judged(call, given.password)
    await attempts.clear(call.db, attempt)
    if await sessions.lock_password(call.db, call.user.user_id) != changed_at:
        raise Forbidden(_WRONG_PASSWORD)
    await sessions.update_password_verified(call.db, call.user.session_id, call.now)
    return Verified(iso(call.now + STEP_UP_LASTS))


async def change_password(call: Call, given: PasswordChange) -> PasswordChanged:
    """Replace the password, end all other sessions, and the step-up of this one."""
    user = call.user
    check(rules.password_faults("new_password", given.new_password, (user.email, user.name)))
    attempt, changed_at = await _judged(call, given.current_password)
    hashed = await call.services.passwords.hash(given.new_password, attempt.asker)
    await attempts.clear(call.db, attempt)
    if await sessions.lock_password(call.db, user.user_id) != changed_at:
        raise Forbidden(_WRONG_PASSWORD)
    await sessions.update_password(call.db, user.user_id, hashed, call.now)
    count = await sessions.end_other_sessions(call.db, user.user_id, user.session_id, call.now)
    await sessions.update_password_verified(call.db, user.session_id, None)
    actor = audit.Actor(user.name, call.ip, user_id=user.user_id)
    what = ("user.password_changed", f"Changed the password of {user.email}")
    # The thief of a session may be the one who changes it: money stays until the owner says so.
    await upsert_frozen_of(call.db, user.user_id, _FREEZE, call.now)
    await note_of_person(call.db, user.user_id, actor, what, call.now)
    await queue_notice(call.db, user.user_id, call.now)
    return PasswordChanged(iso(call.now), count)


async def _judged(call: Call, password: GivenPassword) -> tuple[attempts.Attempt, datetime]:
    """An attempt with the caller's right password, and since when that is the password."""
    user = call.user
    async with call.services.pool.reading() as db:
        found = await sessions.find_password(db, user.user_id)
    attempt = await attempts.let_in(call.services, call.ip, user.email, user.user_id)
    if not await attempts.is_right(call.services, attempt, found["password_hash"], password):
        raise Forbidden(_WRONG_PASSWORD)
    return attempt, found["password_changed_at"]


async def switch(call: Call, choice: BusinessChoice) -> AccessToken:
    """Go on in another business of the same person."""
    if not await show_staff(call.db, choice.business_id, call.user.user_id):
        raise Missing("You belong to no such business.")
    user = call.user
    if not await sessions.update_session_business(
        call.db, user.session_id, user.user_id, choice.business_id
    ):
        raise Unauthenticated("Your sessions in this business were ended: log in again.")
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
        user.needs_factor,
    )


async def open_session(
    call: AnonymousCall, owner: tuple[UserId, BusinessId], password_changed_at: datetime
) -> Tokens:
    """Log a person in to a business; refused when the password was changed meanwhile."""
    user_id, business_id = owner
    new = sessions.SessionToOpen(
        id=new_id(),
        user_id=user_id,
        business_id=business_id,
        created_at=call.now,
        expires_at=call.now + SESSION_LASTS,
        ip=call.ip,
        network=network_of(call.ip),
    )
    if not await sessions.insert_session(call.db, new, password_changed_at, SESSIONS_MAX):
        # Changed between the look at it and now: the given text is no longer the password.
        raise Unauthenticated(_WRONG)
    return _tokens(call, Claims(user_id, new.id, business_id), 1)


def _tokens(call: AnonymousCall, claims: Claims, generation: int) -> Tokens:
    return Tokens(
        call.services.tokens.sign(claims, call.now),
        call.services.tokens.refresh_token(claims.session_id, generation),
        int(LIFETIME.total_seconds()),
        claims.business_id,
        claims.user_id,
    )
