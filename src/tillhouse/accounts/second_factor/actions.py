"""A second factor: set up, judged, recovered, turned off; and the roles that need one."""

import os
from datetime import datetime

import msgspec

from tillhouse.access import attempts, audit
from tillhouse.access.call import AnonymousCall, Call
from tillhouse.access.process import Services
from tillhouse.access.scopes import ROLES
from tillhouse.access.store import sessions
from tillhouse.accounts.notices import note_of_person
from tillhouse.accounts.second_factor import rules, store
from tillhouse.accounts.second_factor.types import (
    FactorBegun,
    FactorOff,
    FactorRequirement,
    FactorRoles,
    FactorShown,
    FirstCode,
    RecoveryCodes,
    RoleFactor,
)
from tillhouse.db.pool import Db
from tillhouse.kit.ids import UserId, random_text
from tillhouse.kit.secrets import digest

_KIND = "second factor"


class GivenCode(msgspec.Struct, frozen=True):
    """A right code, to be used up in the transaction that it opens something in."""

    attempt: attempts.CodeAttempt
    user_id: UserId
    sealed: bytes
    # Of the application, its step; of a recovery code, its digest.
    step: int | None
    recovery: bytes | None


async def show(call: Call) -> FactorShown:
    """Whether a second factor is on, and how many recovery codes are left."""
    found = await store.show_factor(call.db, call.user.user_id)
    confirmed_at = found["confirmed_at"]
    return FactorShown(
        is_on=confirmed_at is not None,
        is_begun=found["is_there"] and confirmed_at is None,
        confirmed_at=confirmed_at,
        recovery_codes_left=found["codes_left"] or 0,
        is_required=found["is_required"],
    )


async def begin(call: Call) -> FactorBegun:
    """Make a secret for an application; logging in asks for codes once its first was given."""
    user, secret = call.user, os.urandom(rules.SECRET_BYTES)
    sealed = call.services.vault.seal_of_person(user.user_id, _KIND, secret)
    if not await store.upsert_secret(call.db, user.user_id, sealed, call.now):
        raise rules.AlreadyOn
    return FactorBegun(secret=rules.secret_text(secret), uri=rules.address_of(secret, user.email))


async def confirm(call: Call, given: FirstCode) -> RecoveryCodes:
    """Turn the factor on by its first code, end all other sessions, tell the recovery codes.

    The other sessions gave no code, one of a thief of the password among them, perhaps.
    """
    user, services = call.user, call.services
    async with services.pool.reading() as db:
        found = await store.find_factor(db, user.user_id)
    if found is None or found["confirmed_at"] is not None:
        raise rules.NothingBegun
    attempt = await attempts.let_code_in(services, call.ip, user.user_id)
    sealed = found["sealed_secret"]
    secret = services.vault.open_of_person(user.user_id, _KIND, sealed)
    step = rules.step_of(secret, rules.compact(given.code), call.now)
    if step is None:
        await attempts.count_wrong_code(services, attempt)
        raise rules.WrongCode
    await attempts.clear_codes(call.db, attempt)
    codes, digests = _new_codes(services, user.user_id)
    # A login under way has opened its session by now, or looks again afterwards.
    await sessions.lock_password(call.db, user.user_id)
    if not await store.update_confirmed(call.db, user.user_id, sealed, step, digests, call.now):
        raise rules.NothingBegun
    await sessions.end_other_sessions(call.db, user.user_id, user.session_id, call.now)
    await _note(call, "second_factor_on", "Turned on the second factor")
    return RecoveryCodes(recovery_codes=codes)


async def make_recovery_codes(call: Call) -> RecoveryCodes:
    """Make recovery codes anew; those before are over."""
    codes, digests = _new_codes(call.services, call.user.user_id)
    if not await store.update_recovery_codes(call.db, call.user.user_id, digests):
        raise rules.NotOn
    await _note(call, "recovery_codes_made", "Made recovery codes")
    return RecoveryCodes(recovery_codes=codes)


async def turn_off(call: Call) -> FactorOff:
    """Turn the factor off: the password alone logs in from here on."""
    found = await store.show_factor(call.db, call.user.user_id)
    rules.check_off(is_required=found["is_required"])
    if await store.delete_factor(call.db, call.user.user_id):
        await _note(call, "second_factor_off", "Turned off the second factor")
    return FactorOff(is_on=False)


async def judge(
    call: AnonymousCall, user_id: UserId, sealed: bytes | None, given: str | None
) -> GivenCode | None:
    """The right code of a person whose password was right; None where none is asked for.

    A wrong one is counted for good before this is refused.
    """
    if sealed is None:
        return None
    if given is None:
        raise rules.SecondFactorRequired
    attempt = await attempts.let_code_in(call.services, call.ip, user_id)
    code, step, recovery = rules.compact(given), None, None
    if rules.is_of_application(code):
        secret = call.services.vault.open_of_person(user_id, _KIND, sealed)
        step = rules.step_of(secret, code, call.now)
    async with call.services.pool.reading() as db:
        if step is None:
            digested = _digest(call.services, user_id, code)
            recovery = digested if await store.has_recovery_code(db, user_id, digested) else None
        else:
            found = await store.find_factor(db, user_id)
            step = step if found and found["last_step"] < step else None
    if step is None and recovery is None:
        await attempts.count_wrong_code(call.services, attempt)
        raise rules.SecondFactorRequired(rules.WRONG)
    return GivenCode(attempt, user_id, sealed, step, recovery)


async def use_up(call: AnonymousCall, code: GivenCode | None, name: str) -> None:
    """Use the code up, once: of two requests with the same one, the other is refused."""
    if code is None:
        return
    await attempts.clear_codes(call.db, code.attempt)
    if code.step is not None:
        if not await store.take_step(call.db, code.user_id, code.sealed, code.step):
            raise rules.SecondFactorRequired(rules.WRONG)
        return
    assert code.recovery is not None, "a right code is one of the two"  # noqa: S101
    if not await store.take_recovery_code(call.db, code.user_id, code.recovery):
        raise rules.SecondFactorRequired(rules.WRONG)
    actor = audit.Actor(name, call.ip, user_id=code.user_id)
    what = ("user.recovery_code_used", f"{name} logged in by a recovery code")
    await note_of_person(call.db, code.user_id, actor, what, call.now)


async def check_still_none(call: AnonymousCall, user_id: UserId, code: GivenCode | None) -> None:
    """Refuse a session, once it is opened, without the code of a factor turned on meanwhile."""
    if code is None and await store.is_on(call.db, user_id):
        raise rules.SecondFactorRequired


async def turn_off_for(
    db: Db, user_id: UserId, email: str, actor: audit.Actor, now: datetime
) -> bool:
    """Turn off a factor that was lost, by the operator; whether one was on."""
    is_off = await store.delete_factor(db, user_id)
    if is_off:
        what = ("user.second_factor_off", f"Turned off the second factor of {email}")
        await note_of_person(db, user_id, actor, what, now)
    return is_off


def _new_codes(services: Services, user_id: UserId) -> tuple[list[str], list[bytes]]:
    codes = [
        random_text(rules.RECOVERY_LETTERS, rules.RECOVERY_LENGTH)
        for _ in range(rules.RECOVERY_CODES)
    ]
    return [rules.grouped(code) for code in codes], [
        _digest(services, user_id, code) for code in codes
    ]


def _digest(services: Services, user_id: UserId, code: str) -> bytes:
    return digest(services.vault.pepper, f"recovery code {user_id} {code}")


async def _note(call: Call, verb: str, title: str) -> None:
    user = call.user
    actor = audit.Actor(user.name, call.ip, user_id=user.user_id)
    what = (f"user.{verb}", f"{title} of {user.email}")
    await note_of_person(call.db, user.user_id, actor, what, call.now)


async def show_requirement(call: Call) -> FactorRequirement:
    """Each role, whether it needs a second factor, and how many of its members have none."""
    rows = await store.list_roles(call.db, call.business_id, ROLES)
    return FactorRequirement(roles=[RoleFactor(**row) for row in rows])


async def change_requirement(call: Call, given: FactorRoles) -> FactorRequirement:
    """Say which roles need one; it holds on the next request of each of their sessions."""
    found = await store.lock_roles(call.db, call.business_id, call.user.user_id)
    rules.check_owner(found["callers_role"])
    before = [role for role in ROLES if role in found["second_factor_roles"]]
    wanted = [role for role in ROLES if role in given.roles]
    if wanted != before:
        await store.update_roles(call.db, call.business_id, wanted)
        title = f"Second factor needed by: {', '.join(wanted) or 'no role'}"
        what = ("business.second_factor_required", title)
        await audit.note(call, what, {"roles": wanted, "before": before})
    return await show_requirement(call)
