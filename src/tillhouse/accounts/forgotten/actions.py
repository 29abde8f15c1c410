"""Ask for a link that sets another password, and use it."""

import os
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from tillhouse.access import attempts, audit
from tillhouse.access.attempt_rules import Budget, network_of
from tillhouse.access.call import AnonymousCall
from tillhouse.access.hash_queue import Asker
from tillhouse.access.process import Services
from tillhouse.access.store import attempts as attempt_store
from tillhouse.access.store import sessions
from tillhouse.accounts.forgotten import rules, store
from tillhouse.accounts.forgotten.mailing import digest_of, queue_link
from tillhouse.accounts.forgotten.types import (
    ForgottenPassword,
    LinkRequested,
    PasswordByLink,
    PasswordLink,
    PasswordLinkPreview,
)
from tillhouse.accounts.notices import note_of_person, queue_notice
from tillhouse.accounts.rules import password_faults
from tillhouse.accounts.types import PasswordChanged
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Limited, check
from tillhouse.kit.ids import UserId
from tillhouse.kit.secrets import digest
from tillhouse.payouts.freezing.store import Freeze, upsert_frozen_of
from tillhouse.providers.mail.jobs import is_set

_FREEZE = Freeze("the owner's password was set by a link", "Tillhouse")
# Moments are kept to a millisecond.
_NEXT = timedelta(milliseconds=1)


class LinkFound(msgspec.Struct, frozen=True):
    """The person of a link that stands."""

    user_id: UserId
    email: str
    name: str
    digest: bytes


async def request_link(call: AnonymousCall, given: ForgottenPassword) -> LinkRequested:
    """Let a link be mailed, if the address has an account: which a worker looks for afterwards.

    So the answer and its time are those of any address.
    """
    services = call.services
    from_network = f"password links from {network_of(call.ip)}"
    await _count(services, call.db, from_network, rules.LINKS_FROM_NETWORK, rules.TOO_MANY_LINKS)
    of_address = f"password links for {given.email}"
    await _count(services, call.db, of_address, rules.LINKS_FOR_ADDRESS, rules.TOO_MANY_LINKS)
    is_mailed = is_set(services)
    if is_mailed:
        await queue_link(call.db, given.email, call.now)
    return LinkRequested(is_mailed)


async def preview(call: AnonymousCall, given: PasswordLink) -> PasswordLinkPreview:
    """Tell whose password a link sets, while it stands; it is not used up."""
    link = await _find_link(call, given.token)
    return PasswordLinkPreview(link.email)


async def _find_link(call: AnonymousCall, token: str) -> LinkFound:
    """The person of a link that stands; a wrong one is counted for good, then refused."""
    services, ip, now = call.services, call.ip, call.now
    counted, budget = f"wrong password links from {network_of(ip)}", rules.WRONG_LINKS
    subject = digest(services.vault.pepper, counted)
    async with services.pool.reading() as db:
        cells = await attempt_store.list_cells(db, [subject])
        budget.check(cells[0]["full_at"] if cells else None, now, rules.TOO_MANY_WRONG)
        digested = digest_of(services, token)
        row = await store.find_link(db, digested, now) if rules.is_token(token) else None
    if row is None:
        async with services.pool.transaction() as db:
            await _count(services, db, counted, budget, rules.TOO_MANY_WRONG)
        raise rules.LinkOver
    return LinkFound(row["id"], row["email"], row["name"], digested)


async def reset(call: AnonymousCall, given: PasswordByLink) -> PasswordChanged:
    """Set another password by a link, once; every session of the person ends, and none begins."""
    services = call.services
    link = await _find_link(call, given.token)
    check(password_faults("new_password", given.new_password, (link.email, link.name)))
    account = digest(services.vault.pepper, f"login {link.email}")
    asker = Asker(network_of(call.ip), account)
    hashed = await services.passwords.hash(given.new_password, asker)
    # Of two requests with one link, the other waits here, and finds it used.
    await sessions.lock_password(call.db, link.user_id)
    if await store.take_link(call.db, link.digest, call.now) is None:
        raise rules.LinkOver
    await sessions.update_password(call.db, link.user_id, hashed, call.now)
    count = await sessions.end_other_sessions(call.db, link.user_id, None, call.now)
    # The wrong ones from here were tries of somebody who forgot it.
    await attempt_store.forget_failures(call.db, account, asker.network)
    # A thief of the mailbox may be the one who sets it: money stays until the owner says so.
    await upsert_frozen_of(call.db, link.user_id, _FREEZE, call.now)
    actor = audit.Actor(link.name, call.ip, user_id=link.user_id)
    what = ("user.password_reset", f"Set the password of {link.email} by a link")
    await note_of_person(call.db, link.user_id, actor, what, call.now)
    await queue_notice(call.db, link.user_id, call.now)
    return PasswordChanged(iso(call.now), count)


async def make_link(
    services: Services, db: Db, email: str, now: datetime
) -> tuple[UUID, str] | None:
    """Make a link for the operator to hand over: whose, and its token; None without an account."""
    person = await store.find_for_address(db, email)
    if person is None:
        return None
    token = rules.token_text(os.urandom(32))
    # The clock of the server that took a request before may be ahead of this one.
    before = person["requested_at"]
    at = max(now, before + _NEXT) if before else now
    row = store.PasswordLinkRow(
        user_id=person["id"],
        token_digest=digest_of(services, token),
        requested_at=at,
        expires_at=now + rules.LINK_LASTS,
        password_changed_at=person["password_changed_at"],
    )
    await store.upsert_link(db, row)
    what = ("user.password_link_made", f"Printed a link that sets the password of {email}")
    await note_of_person(db, person["id"], audit.COMMAND_LINE, what, now)
    return person["id"], token


async def _count(services: Services, db: Db, what: str, budget: Budget, refusal: str) -> None:
    if not await attempts.take(services, db, what, budget):
        raise Limited(budget.every.total_seconds(), refusal)
