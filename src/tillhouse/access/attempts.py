"""Attempts at passwords: let in, judged, and only then counted.

Nothing is counted before it is judged, so an attempt that a full queue refuses, or that ends with
its process, costs its owner nothing. And nothing is answered before it is counted: of many
guesses at once no more are answered than there may be.
"""

from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access import attempt_rules as rules
from tillhouse.access.hash_queue import Asker
from tillhouse.access.process import Services
from tillhouse.access.store import attempts as store
from tillhouse.access.store import sessions
from tillhouse.db.pool import Db
from tillhouse.kit import passwords
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Limited
from tillhouse.kit.ids import UserId
from tillhouse.kit.secrets import digest

# Asked for in place of a missing account, so that its absence takes as long.
_NO_USER = UUID(int=0)


class Attempt(msgspec.Struct, frozen=True):
    """An attempt at a password, let in."""

    user_id: UserId | None
    asker: Asker
    from_network: bytes
    in_all: bytes


class CodeAttempt(msgspec.Struct, frozen=True):
    """An attempt at the code of a second factor, let in."""

    account: bytes
    network: str
    is_known: bool


class Registration(msgspec.Struct, frozen=True):
    """An attempt to register, let in; the (subject, budget) pairs that count it."""

    asker: Asker
    counted: tuple[tuple[bytes, rules.Budget], ...]


async def let_in(services: Services, ip: str, email: str, user_id: UserId | None) -> Attempt:
    """Refuse or delay an attempt at the password of an account, as far as it deserves."""
    pepper, network = services.vault.pepper, rules.network_of(ip)
    account = digest(pepper, f"login {email}")
    from_network = digest(pepper, f"wrong passwords from {network}")
    in_all = digest(pepper, "wrong passwords")
    async with services.pool.reading() as db:
        is_known = await store.is_known_network(db, user_id or _NO_USER, network)
        failures = await store.find_failures(db, account, network)
        cells = await store.list_cells(db, [account, from_network, in_all])
    moment = now()
    _check_lock(failures, moment)
    asker = Asker(network, account, is_known)
    if not is_known:
        full_at = {row["subject"]: row["full_at"] for row in cells}
        rules.WRONG_FROM_NETWORK.check(full_at.get(from_network), moment, rules.TOO_MANY_WRONG)
        delay_s = max(
            rules.WRONG_FOR_ACCOUNT.delay_s(full_at.get(account), moment),
            rules.WRONG_IN_ALL.delay_s(full_at.get(in_all), moment),
        )
        if delay_s:
            await services.passwords.queue.delay(asker, delay_s)
    return Attempt(user_id, asker, from_network, in_all)


async def is_right(services: Services, attempt: Attempt, hashed: str | None, password: str) -> bool:
    """Judge the password; a wrong one is counted for good before this returns."""
    normal = passwords.normal(password)
    if await services.passwords.verify(hashed, normal, attempt.asker):
        return True
    # A password from before spellings were made one was hashed as it was typed.
    is_as_typed = normal != password and await services.passwords.verify(
        hashed, password, attempt.asker
    )
    if is_as_typed and hashed is not None:
        await _keep_normal(services, attempt, hashed, normal)
        return True
    async with services.pool.transaction() as db:
        await _count_wrong(db, attempt, now())
    return False


async def _keep_normal(services: Services, attempt: Attempt, hashed: str, normal: str) -> None:
    assert attempt.user_id is not None, "a hash is somebody's"  # noqa: S101
    new = await services.passwords.hash(normal, attempt.asker)
    async with services.pool.transaction() as db:
        await sessions.update_hash(db, attempt.user_id, hashed, new)


async def _count_wrong(db: Db, attempt: Attempt, moment: datetime) -> None:
    """Count in one order everywhere: two that count at once never wait for each other."""
    asker = attempt.asker
    limits = (rules.FAILURES_MAX, rules.LOCKED_FOR)
    if not await store.add_failure(db, asker.account, asker.network, moment, limits):
        raise rules.locked(moment, moment)
    for subject, budget in (
        (asker.account, rules.WRONG_FOR_ACCOUNT),
        (attempt.from_network, rules.WRONG_FROM_NETWORK),
        (attempt.in_all, rules.WRONG_IN_ALL),
    ):
        is_counted = await store.take_attempt(db, subject, budget.every, budget.most, moment)
        if not is_counted and not budget.late and not asker.is_known:
            raise Limited(budget.every.total_seconds(), rules.TOO_MANY_WRONG)


async def clear(db: Db, attempt: Attempt) -> None:
    """A right password clears the count, unless too many wrong ones were judged before it."""
    asker, moment = attempt.asker, now()
    failures = await store.lock_failures(db, asker.account, asker.network)
    if not asker.is_known:
        full_at = await store.lock_cell(db, attempt.from_network)
        rules.WRONG_FROM_NETWORK.check(full_at, moment, rules.TOO_MANY_WRONG)
    if failures is None:
        return
    _check_lock(failures, moment)
    await store.forget_failures(db, asker.account, asker.network)


async def let_code_in(services: Services, ip: str, user_id: UserId) -> CodeAttempt:
    """Refuse an attempt at the code of a second factor after too many wrong ones.

    They are counted apart from passwords: a right password doesn't clear them.
    """
    network = rules.network_of(ip)
    account = digest(services.vault.pepper, f"codes of {user_id}")
    async with services.pool.reading() as db:
        is_known = await store.is_known_network(db, user_id, network)
        failures = await store.find_failures(db, account, network)
        cells = await store.list_cells(db, [account])
    moment = now()
    _check_lock(failures, moment, rules.TOO_MANY_CODES)
    if not is_known:
        full_at = cells[0]["full_at"] if cells else None
        rules.WRONG_CODES.check(full_at, moment, rules.TOO_MANY_CODES)
    return CodeAttempt(account, network, is_known)


async def count_wrong_code(services: Services, attempt: CodeAttempt) -> None:
    """Count a wrong code for good, before it is answered."""
    moment, budget = now(), rules.WRONG_CODES
    limits = (rules.FAILURES_MAX, rules.LOCKED_FOR)
    async with services.pool.transaction() as db:
        if not await store.add_failure(db, attempt.account, attempt.network, moment, limits):
            raise rules.locked(moment, moment, rules.TOO_MANY_CODES)
        is_counted = await store.take_attempt(
            db, attempt.account, budget.every, budget.most, moment
        )
    if not is_counted and not attempt.is_known:
        raise Limited(budget.every.total_seconds(), rules.TOO_MANY_CODES)


async def clear_codes(db: Db, attempt: CodeAttempt) -> None:
    """A right code clears the count, unless too many wrong ones were judged before it."""
    moment = now()
    failures = await store.lock_failures(db, attempt.account, attempt.network)
    if not attempt.is_known:
        full_at = await store.lock_cell(db, attempt.account)
        rules.WRONG_CODES.check(full_at, moment, rules.TOO_MANY_CODES)
    _check_lock(failures, moment, rules.TOO_MANY_CODES)
    if failures is not None:
        await store.forget_failures(db, attempt.account, attempt.network)


def _check_lock(failures: Record | None, moment: datetime, message: str = rules.LOCKED) -> None:
    if failures and rules.is_locked(failures["failures"], failures["last_failed_at"], moment):
        raise rules.locked(failures["last_failed_at"], moment, message)


async def take(services: Services, db: Db, what: str, budget: rules.Budget) -> bool:
    """Count one event of a bounded number; False when there were too many."""
    subject = digest(services.vault.pepper, what)
    return await store.take_attempt(db, subject, budget.every, budget.most, now())


async def let_register(services: Services, ip: str, email: str) -> Registration:
    """Refuse or delay a registration, as far as those before it ask for."""
    pepper, network = services.vault.pepper, rules.network_of(ip)
    asker = Asker(network, digest(pepper, f"login {email}"))
    per_hour = services.settings.registration_limit
    if not per_hour:
        return Registration(asker, ())
    from_network = digest(pepper, f"registrations from {network}")
    in_all = digest(pepper, "registrations")
    for_network = rules.registrations_from_network(per_hour)
    for_all = rules.registrations_in_all(per_hour)
    async with services.pool.reading() as db:
        cells = await store.list_cells(db, [from_network, in_all])
    full_at, moment = {row["subject"]: row["full_at"] for row in cells}, now()
    for_network.check(full_at.get(from_network), moment, rules.TOO_MANY_NEW)
    if delay_s := for_all.delay_s(full_at.get(in_all), moment):
        await services.passwords.queue.delay(asker, delay_s)
    return Registration(asker, ((from_network, for_network), (in_all, for_all)))


async def count_registration(services: Services, registration: Registration) -> None:
    """Count a registration for good, before it tells whether the address is taken."""
    if not registration.counted:
        return
    async with services.pool.transaction() as db:
        for subject, budget in registration.counted:
            is_counted = await store.take_attempt(db, subject, budget.every, budget.most, now())
            if not is_counted and not budget.late:
                raise Limited(budget.every.total_seconds(), rules.TOO_MANY_NEW)
